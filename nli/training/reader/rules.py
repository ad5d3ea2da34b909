"""Short texts made by rule: polarity supervision at a scale that no labelled set offers.

There are three sources, none of them labelled by hand for this purpose:

* a finding of a PubMed abstract, shortened and reworded, paired with its sentence (support); the same with a direction, a
  negation or a number reversed on either side (contradict), or on both (support);
* a title that states a finding, as it is and reversed, paired with the sentence of its abstract that matches it best;
* evidence_inference's prompts: claims of every direction, written from (intervention, comparator, outcome).

Both labels use the same words in equal numbers, so that no word alone gives the label away. Abstracts that are gold for SciFact
dev claims are left out (by title).

Beside them stand rewordings whose effect on the label is known: our own frames around a claim (denials, assertions, aims, open
questions), changed numbers; and outcome families: sentences that call one outcome better, worse or unchanged, filled with drugs,
genes, exposures or a pair.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nli.text.sentences import sentence_spans
from nli.training.flips import Flips, capitalise
from nli.training.reader.lesson import CONTRADICT, NEUTRAL, SUPPORT, Lesson, make_short
from retrieval.training.bm25 import TextIndex
from retrieval.training.data import read_rows
from retrieval.words.terms import split_terms

_LEAD_IN = re.compile(
    r"^(?:[A-Z][A-Z /&]+:\s*)?(?:(?:in (?:conclusion|summary|addition|contrast)|conclusions?|results?|findings|interpretation|"
    r"thus|therefore|however|moreover|furthermore|additionally|taken together|overall|finally|here|also|interestingly|"
    r"together),?:?\s+)*"
    r"(?:(?:we|these|our|the present|the|this)(?: \w+){0,3}? (?:suggest|indicate|show|demonstrate|conclude|find|found|reveal|"
    r"provide evidence|confirm|report|observed)\w*(?: here)? that )?",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"\s*[\[(][^()\[\]]*[\])]")
_TAIL = re.compile(r"(?:;|, (?:and|but|which|while|whereas|suggesting|indicating|with)\b| whereas | although | but ).*$")
_PLACE = re.compile(r" (?:in|with|by|from|after|during|among|compared) (?:[^,]*)$")
_ADVERB = re.compile(r"\b(?:significantly|markedly|strongly|greatly|substantially|clearly|also|however|therefore) ")
NOMINAL = re.compile(
    r"^(?:the )?(?:effects?|an?|influence|impact|role|comparison|evaluation|assessment|analysis|randomi[sz]ed|use|study)\b"
    r"|\b(?:trial|study|review|design|protocol|report)\b",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"\s+")


def shorten(sentence: str, rng: random.Random, brackets: bool = False) -> str:
    """The finding as somebody else would state it: no lead-in, no `brackets`, often no side clause, adverb or setting."""
    text = _LEAD_IN.sub("", sentence, count=1)
    if not brackets:
        text = _BRACKETS.sub("", text)
    if rng.random() < 0.8:
        text = _TAIL.sub("", text)
    if rng.random() < 0.6:
        text = _ADVERB.sub("", text)
    if rng.random() < 0.35 and len(text.split()) > 10:
        text = _PLACE.sub("", text)
    text = _MARKUP.sub(" ", text).strip(" ,.;:")
    return f"{capitalise(text)}."


def measure_overlap(claim: str, text: str) -> float:
    """The share of the claim's terms that the text contains."""
    terms = set(split_terms(claim))
    return len(terms & set(split_terms(text))) / max(len(terms), 1)


def read_abstracts(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """(title, sentences) of every PubMed abstract that is not gold for a SciFact dev claim."""
    gold = {int(doc) for claim in read_rows(folder, "scifact/claims_dev.jsonl.gz") for doc in claim["evidence"]}
    gold_titles = {
        " ".join(split_terms(document["title"]))
        for document in read_rows(folder, "scifact/corpus.jsonl.gz")
        if int(document["doc_id"]) in gold
    }
    for record in read_rows(folder, "pubmed/abstracts.jsonl.gz"):
        title = record["title"] or ""
        if title and " ".join(split_terms(title)) in gold_titles:
            continue
        sentences = [section[start:end] for section in record["abstract"] for start, end in sentence_spans(section)]
        if len(sentences) >= 4:
            yield title, sentences


def _turn(text: str, flips: Flips, rng: random.Random) -> str | None:
    """Reverse the text by one rule: mostly its direction, else a negation, now and then a number."""
    draw = rng.random()
    order = [flips.make_opposite, flips.negate, flips.change_number]
    if draw > 0.62:
        order = [flips.negate, flips.make_opposite, flips.change_number]
    if draw > 0.93:
        order = [flips.change_number, flips.make_opposite, flips.negate]
    for rule in order:
        reversal = rule(text, rng)
        if reversal and reversal != text:
            return reversal
    return None


def _make_variants(claim: str, text: str, title: str, flips: Flips, rng: random.Random, source: str) -> Iterator[Lesson]:
    """One support and one contradiction from a claim and the sentence that states it."""
    other_words = flips.replace_synonym(claim, rng) if rng.random() < 0.5 else claim
    turned_claim, turned_text = _turn(claim, flips, rng), _turn(text, flips, rng)
    if turned_claim is None:
        return
    if turned_text is None or rng.random() < 0.6:
        yield make_short(turned_claim, text, title, CONTRADICT, source)
        yield make_short(other_words, text, title, SUPPORT, source)
        return
    opposite = flips.make_opposite(claim, rng)
    opposite_text = flips.make_opposite(text, rng)
    yield make_short(other_words, opposite_text or turned_text, title, CONTRADICT, source)
    both_sides_turn = (
        opposite is not None
        and opposite_text is not None
        and len(flips.find_directions(claim)) == 1 == len(flips.find_directions(text))
    )
    if both_sides_turn and opposite is not None and opposite_text is not None:
        yield make_short(opposite, opposite_text, title, SUPPORT, source)
    else:
        yield make_short(other_words, text, title, SUPPORT, source)


def make_finding_pairs(folder: Path, count: int, flips: Flips, rng: random.Random) -> list[Lesson]:
    """About `count` pairs from findings of PubMed abstracts, two fifths neutral."""
    findings: list[tuple[str, str, str, list[str]]] = []
    for title, sentences in read_abstracts(folder):
        candidates = [
            sentence
            for sentence in sentences[len(sentences) // 2 :]
            if 9 <= len(sentence.split()) <= 38 and flips.find_directions(sentence) and sentence[-1] == "."
        ]
        for sentence in rng.sample(candidates, min(2, len(candidates))):
            claim = shorten(sentence, rng)
            if 5 <= len(claim.split()) <= 28 and flips.find_directions(claim):
                findings.append((claim, sentence, title if rng.random() < 0.3 else "", sentences))
    rng.shuffle(findings)
    findings = findings[: count * 2 // 5]
    index = TextIndex([sentence for _, sentence, _, _ in findings])
    pairs: list[Lesson] = []
    for number, (claim, text, title, sentences) in enumerate(findings):
        variants = list(_make_variants(claim, text, title, flips, rng, "rule_findings"))
        pairs.extend(variants if rng.random() < 0.5 else variants[:1] if rng.random() < 0.5 else variants[1:])
        other_claim = variants[rng.randrange(len(variants))].claim if variants else claim
        if rng.random() < 0.5:
            stranger = next((i for i in index.top(claim, 3) if i != number), None)
            if stranger is not None and measure_overlap(claim, findings[stranger][1]) < 0.7:
                pairs.append(make_short(other_claim, findings[stranger][1], findings[stranger][2], NEUTRAL, "rule_findings"))
        else:
            rest = [sentence for sentence in sentences[:-1] if sentence != text and measure_overlap(claim, sentence) < 0.6]
            if rest:
                neighbour = max(rng.sample(rest, min(3, len(rest))), key=lambda sentence: measure_overlap(claim, sentence))
                pairs.append(make_short(other_claim, neighbour, title, NEUTRAL, "rule_findings"))
    return pairs


_MORE = (
    "{i} increases {o} compared with {c}.",
    "{i} increases {o}.",
    "{o} was higher with {i} than with {c}.",
    "{i} leads to greater {o} than {c}.",
    "Treatment with {i} raised {o}.",
)
_LESS = (
    "{i} reduces {o} compared with {c}.",
    "{i} decreases {o}.",
    "{o} was lower with {i} than with {c}.",
    "{i} leads to less {o} than {c}.",
    "Treatment with {i} lowered {o}.",
)
_SAME = (
    "{i} has no effect on {o}.",
    "{o} did not differ between {i} and {c}.",
    "{i} and {c} have similar effects on {o}.",
    "There was no significant difference in {o} between {i} and {c}.",
)
_DIFFERENT = ("{i} affects {o}.", "{o} differed significantly between {i} and {c}.")
_WAY = {"significantly increased": 1, "significantly increase": 1, "significantly decreased": -1, "no significant difference": 0}


def make_prompt_pairs(folder: Path, count: int, rng: random.Random) -> list[Lesson]:
    """Pairs with claims of every direction about the outcomes that evidence_inference's annotators judged."""
    prompts: list[dict[str, Any]] = [
        row
        for row in read_rows(folder, "stance/pairs.jsonl.gz")
        if row["dataset"] == "evidence_inference" and row["split"] == "train" and row["direction"] in _WAY
    ]
    by_paper: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in prompts:
        by_paper[row["pmcid"]].append(row)
    pairs: list[Lesson] = []
    for row in prompts:
        text, way = row["sentences"][row["evidence"][0] if row["evidence"] else 0], _WAY[row["direction"]]
        if not 5 <= len(text.split()) <= 70:
            continue
        slots = {"i": row["intervention"], "c": row["comparator"], "o": row["outcome"]}
        if max(map(len, slots.values())) > 90:
            continue
        swap = {"i": slots["c"], "c": slots["i"], "o": slots["o"]}

        def claim(way: int, slots: dict[str, str] = slots, swap: dict[str, str] = swap) -> str:
            if way == 0:
                return rng.choice(_SAME).format(**slots)
            if rng.random() < 0.15:
                return rng.choice((_LESS if way > 0 else _MORE)[2:4]).format(**swap)
            return rng.choice(_MORE if way > 0 else _LESS).format(**slots)

        true, false = claim(way), claim(rng.choice([other for other in (-1, 0, 1) if other != way]))
        if way == 0 and rng.random() < 0.3:
            false = rng.choice(_DIFFERENT).format(**slots)
        elif way != 0 and rng.random() < 0.15:
            true = rng.choice(_DIFFERENT).format(**slots)
        pairs.append(make_short(capitalise(true), text, "", SUPPORT, "evidence_inference"))
        pairs.append(make_short(capitalise(false), text, "", CONTRADICT, "evidence_inference"))
        others = [
            r for r in by_paper[row["pmcid"]] if measure_overlap(row["outcome"], r["outcome"] + " " + r["sentences"][0]) < 0.3
        ]
        if others and rng.random() < 0.6:
            other = rng.choice(others)
            pairs.append(
                make_short(capitalise(rng.choice((true, false))), other["sentences"][0], "", NEUTRAL, "evidence_inference")
            )
    rng.shuffle(pairs)
    return pairs[:count]


_DENIALS = (
    "It is not true that {}.",
    "It is not the case that {}.",
    "Our data rule out that {}.",
    "The results refute the idea that {}.",
    "We found no evidence that {}.",
    "There was no indication that {}.",
    "The hypothesis that {} was not confirmed.",
    "These findings contradict the view that {}.",
)
_ASSERTIONS = (
    "We show that {}.",
    "The data suggest that {}.",
    "There is strong evidence that {}.",
    "It cannot be denied that {}.",
    "No study failed to find that {}.",
    "There is no doubt that {}.",
    "The results confirm that {}.",
)
_DOUBTS = (
    "Whether {} is unknown.",
    "Whether {} remains to be determined.",
    "We investigated whether {}.",
    "The aim of this study was to test whether {}.",
    "It has been debated whether {}.",
    "Further studies are needed to establish whether {}.",
    "This trial will examine whether {}.",
    "Few studies have asked whether {}.",
)


def _make_clause(claim: str) -> str:
    """The claim as it reads after "that": no full stop, its first word in lower case unless it is a name or an abbreviation."""
    text = claim.rstrip(" .")
    first = text.split(" ", 1)[0]
    return text[:1].lower() + text[1:] if first[1:].islower() else text


def frame_claims(claims: Sequence[str], flips: Flips, rng: random.Random) -> Iterator[Lesson]:
    """Denials, assertions and open questions about each claim, and about its opposite."""
    for claim in claims:
        if len(claim.split()) > 18:
            continue
        opposite = flips.make_opposite(claim, rng) if rng.random() < 0.6 else flips.negate(claim, rng)
        if not opposite or opposite == claim:
            continue
        first, second = (claim, opposite) if rng.random() < 0.5 else (opposite, claim)
        kind = rng.random()
        if kind < 0.4:
            text = rng.choice(_DENIALS).format(_make_clause(second))
            yield make_short(first, text, "", SUPPORT, "rule_frames")
            yield make_short(second, text, "", CONTRADICT, "rule_frames")
        elif kind < 0.65:
            text = rng.choice(_ASSERTIONS).format(_make_clause(first))
            yield make_short(first, text, "", SUPPORT, "rule_frames")
            yield make_short(second, text, "", CONTRADICT, "rule_frames")
        else:
            yield make_short(
                first, rng.choice(_DOUBTS).format(_make_clause(rng.choice((first, second)))), "", NEUTRAL, "rule_frames"
            )


def make_number_pairs(folder: Path, count: int, flips: Flips, rng: random.Random) -> list[Lesson]:
    """Findings with a number, kept or changed on either side, and with the number of another sentence (neutral)."""
    pairs: list[Lesson] = []
    documents = list(read_abstracts(folder))
    rng.shuffle(documents)
    for title, sentences in documents:
        findings = [s for s in sentences[1:] if 8 <= len(s.split()) <= 36 and re.search(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-])", s)]
        for sentence in rng.sample(findings, min(1, len(findings))):
            plain = shorten(sentence, rng, brackets=rng.random() < 0.5)
            other = flips.change_number(plain, rng)
            if other is None or not 5 <= len(plain.split()) <= 26:
                continue
            text, variant = sentence, flips.change_number(sentence, rng)
            if rng.random() < 0.3 and variant and len(re.findall(r"\d+(?:\.\d+)?", sentence)) == 1:
                pairs.append(make_short(plain, variant, title, CONTRADICT, "rule_numbers"))
            else:
                pairs.append(make_short(other, text, title, CONTRADICT, "rule_numbers"))
            pairs.append(make_short(plain, text, title, SUPPORT, "rule_numbers"))
            strangers = [s for s in findings if s != sentence and measure_overlap(plain, s) < 0.5]
            if strangers and rng.random() < 0.5:
                pairs.append(make_short(plain, rng.choice(strangers), title, NEUTRAL, "rule_numbers"))
        if len(pairs) >= count:
            break
    return pairs[:count]


_DRUGS = (
    "metformin", "aspirin", "the vaccine", "exercise training", "a low-salt diet", "vitamin D", "the drug",
    "the new programme", "acupuncture", "the device", "stem cell therapy", "cognitive behavioural therapy", "fish oil",
    "the probiotic", "early surgery", "high-dose prednisone", "the herbal extract", "interleukin-6", "the mutation",
    "cigarette smoke", "green tea", "yoga", "the antibody", "radiotherapy", "lithium", "magnesium", "the nurse-led clinic",
    "zinc", "insulin", "the app", "losartan", "music", "oxygen", "garlic", "estradiol", "the inhibitor", "melatonin",
    "breastfeeding", "air pollution", "night work",
)  # fmt: skip
_FACTORS = {
    "drug": _DRUGS,
    "gene": (
        "PTEN", "TRPV1", "miR-21", "interleukin-10", "Nrf2", "SIRT1", "caveolin-1", "BRCA1", "HIF-1α", "TLR4", "STAT3", "p21",
        "the ubiquitin ligase Parkin", "KLF4", "AMPK", "galectin-3", "Notch1", "CD47", "FOXO3", "PPARγ", "miR-155", "cyclin D1",
        "the histone deacetylase HDAC3", "LKB1", "Sox2", "PKCδ", "TGF-β1", "connexin 43", "Bcl-xL", "the receptor CXCR4",
    ),
    "exposure": (
        "night work", "air pollution", "obesity", "a high C-reactive protein", "childhood neglect", "coffee", "smoking",
        "vitamin D deficiency", "blood group O", "type 2 diabetes", "living alone", "a raised troponin", "poor sleep", "marriage",
        "SARS-CoV-2 infection", "heavy drinking", "regular exercise", "red meat", "old age", "male sex", "low income", "anaemia",
        "asthma", "statin use", "high altitude", "previous infection", "mask wearing", "BCG vaccination",
    ),
    "pair": (
        "metformin", "glipizide", "surgery", "watchful waiting", "warfarin", "apixaban", "the new method", "the standard method",
        "ultrasound", "MRI", "computed tomography", "the rapid test", "PCR", "aspirin", "clopidogrel", "ketamine", "propofol",
        "drug A", "drug B", "group therapy", "individual therapy", "the daily schedule", "the weekly schedule", "the oral route",
        "infusion", "the open operation", "laparoscopy", "laser treatment", "the generic brand", "citalopram", "bupropion",
    ),
}  # fmt: skip
"""What fills {X}, and {Y} where two are compared, by the kind of factor that an outcome family names."""


def make_family_lessons(outcomes: Sequence[dict[str, Any]], count: int, rng: random.Random) -> Iterator[Lesson]:
    """A claim and a sentence about one outcome in different words; now and then with another factor or outcome (neutral)."""
    sides = ("better", "worse", "null")
    outcomes_by_factor: dict[str, list[dict[str, Any]]] = {}
    for outcome in outcomes:
        outcomes_by_factor.setdefault(outcome.get("factor", "drug"), []).append(outcome)

    def fill(phrase: str, first: str, second: str) -> str:
        text = phrase.replace("{X}", first).replace("{Y}", second)
        return f"{text[:1].upper()}{text[1:]}."

    for _ in range(count):
        outcome = rng.choice(outcomes)
        kind = outcome.get("factor", "drug")
        factor, rival, stranger = rng.sample(_FACTORS[kind], 3)
        mine = rng.choice(sides)
        claim_side = rng.choices(sides, (0.4, 0.4, 0.2))[0]
        first = rng.choice(outcome[claim_side])
        draw = rng.random()
        if draw < 0.13:
            other = rng.choice([one for one in outcomes_by_factor[kind] if one is not outcome])
            second, label = fill(rng.choice(other[mine]), factor, rival), NEUTRAL
        elif draw < 0.2:
            second, label = fill(rng.choice(outcome[mine]), stranger, rival), NEUTRAL
        else:
            if draw < 0.4:
                # About a third of the other draws agree by chance, so support and contradiction are equally frequent.
                mine = claim_side
            rest = [phrase for phrase in outcome[mine] if phrase != first]
            second, label = fill(rng.choice(rest), factor, rival), SUPPORT if mine == claim_side else CONTRADICT
        yield make_short(fill(first, factor, rival), second, "", label, "families")

"""Short texts made by rule of what people have labelled or written: evidence_inference's prompts, and outcome families.

Prompts (intervention, comparator, outcome) become claims of every direction. Outcome families are sentences that call one outcome
better, worse or unchanged, filled with drugs, genes, exposures or a pair. Both labels use the same words in equal numbers: none
gives the label away.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nli.training.reader.lesson import CONTRADICT, NEUTRAL, SUPPORT, Lesson, make_short
from nli.training.turning import capitalise
from retrieval.training.data import read_rows
from retrieval.words.terms import split_terms


def measure_overlap(claim: str, text: str) -> float:
    """The share of the claim's terms that the text contains."""
    terms = set(split_terms(claim))
    return len(terms & set(split_terms(text))) / max(len(terms), 1)


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

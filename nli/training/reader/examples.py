"""What the document reader learns from: claims with whole abstracts, and short texts where only the sign of a word matters.

Every source yields `Lesson`s. Papers of `pubmed/reserved_pmids.txt`, papers of the fold reserved for measuring, SciFact dev's
papers and the held-out claims of SciFact and HealthVer are left out.
"""

from __future__ import annotations

import random
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nli.text.sentences import sentence_spans
from nli.training.flips import Flips
from nli.training.labelled import NAMES, clean_claim, find_scifact_rivals, read_labelled
from nli.training.pairs import CONTRADICT, LABELS, NEUTRAL, SUPPORT, Pair
from nli.training.reader.lesson import Lesson
from nli.training.reader.outcome_families import make_family_lessons, read_families
from nli.training.rules import _NOMINAL, frame_claims, make_finding_pairs, make_number_pairs, make_prompt_pairs, shorten
from retrieval.training.bm25 import TextIndex
from retrieval.training.data import read_lines, read_reserved_pmids, read_rows
from retrieval.training.folds import is_held_out, is_held_out_of
from retrieval.words.terms import split_terms

_FOLDER = Path(__file__).parent
FAMILIES, CLAIMS, CONTRASTS, SEARCHES = _FOLDER / "families", _FOLDER / "claims", _FOLDER / "contrasts", _FOLDER / "searches"
"""Outcome families, claims about papers, contrast sets and labelled searches, all written for this training."""
OPEN_CLAIMS = 0.8
"""The share of the claims that a paper leaves open that are read with it: another drug, outcome, population or comparison."""


def make_lesson(pair: Pair) -> Lesson:
    """A short text as a document of one sentence."""
    evidence = () if pair.label == NEUTRAL else (0,)
    return Lesson(pair.claim, pair.title, (pair.text,), pair.label, evidence, pair.source)


def read_ordinary(folder: Path, split: str) -> list[dict[str, Any]]:
    """The papers of one split of `stance/ordinary.jsonl.gz`."""
    return [row for row in read_rows(folder, "stance/ordinary.jsonl.gz") if row["split"] == split]


def make_ordinary_lessons(papers: Sequence[dict[str, Any]], leans: dict[str, float], rng: random.Random) -> Iterator[Lesson]:
    """The claims of each paper, and sometimes one of them paired with another paper on the subject that takes no side on it."""
    index = TextIndex([f"{paper['title']} {' '.join(paper['sentences'])}" for paper in papers])
    for number, paper in enumerate(papers):
        sentences, group = tuple(paper["sentences"]), f"ordinary {paper['pmid']}"
        title = paper["title"] if rng.random() < 0.75 else ""
        for name, label in (("true", SUPPORT), ("false", CONTRADICT), ("neutral", NEUTRAL)):
            if label == NEUTRAL and (rng.random() > OPEN_CLAIMS or not paper.get("neutral")):
                continue
            places = None if paper["evidence"] is None else tuple(paper["evidence"])
            evidence = places if label != NEUTRAL else ()
            claim = paper[name]
            yield Lesson(claim, title, sentences, label, evidence, "ordinary", group, leans.get(claim, 0.0))
        claim = paper[rng.choice(("true", "false"))]
        other = next((papers[i] for i in index.top(claim, 4) if i != number), None)
        if other and rng.random() < 0.45:
            yield Lesson(claim, other["title"], tuple(other["sentences"]), NEUTRAL, (), "ordinary_stranger", group)


def make_evidence_lessons(papers: Sequence[dict[str, Any]], leans: dict[str, float], rng: random.Random) -> Iterator[Lesson]:
    """The claims of each paper paired with only its evidence sentences, where these are known: the sign without the search."""
    for paper in papers:
        if not paper["evidence"] or max(paper["evidence"]) >= len(paper["sentences"]):
            continue
        sentences, group = tuple(paper["sentences"][place] for place in paper["evidence"]), f"evidence {paper['pmid']}"
        title = paper["title"] if rng.random() < 0.3 else ""
        for name, label in (("true", SUPPORT), ("false", CONTRADICT), ("neutral", NEUTRAL)):
            claim = paper.get(name)
            if not claim or (label == NEUTRAL and rng.random() < 0.6):
                continue
            evidence = () if label == NEUTRAL else tuple(range(len(sentences)))
            yield Lesson(claim, title, sentences, label, evidence, "evidence", group, leans.get(claim, 0.0))


def make_search_lessons(rows: Sequence[Mapping[str, Any]], leans: Mapping[str, float]) -> Iterator[Lesson]:
    """Claims paired with the hits of a search for them, the right paper among them; the papers of a claim are in one batch.

    `rows` are those of `searches/*.jsonl` as completed by `read_written`; claims of the held-out fold are left out. Besides the
    right paper, a search returns papers about another drug, outcome or comparison, and most wrongly listed papers are of this
    sort (docs/research/experiments.md).
    """
    for row in rows:
        if is_held_out(row["claim"]):
            continue
        claim, label = row["claim"], LABELS.index(row["label"])
        evidence = None if row["evidence"] is None else tuple(row["evidence"])
        lean = 0.0 if label == NEUTRAL else leans.get(claim, 0.0)
        yield Lesson(claim, row["title"], tuple(row["sentences"]), label, evidence, "searches", f"search {claim}", lean)


def read_written(claims: Path, folder: Path) -> list[dict[str, Any]]:
    """The lines of `claims/*.jsonl` or `searches/*.jsonl`, each with its paper's title and sentences from the data folder.

    A line states how many sentences its author counted; where they are split differently now, its evidence is unknown. A paper
    may have several lines; "neutral" may be missing. A line with a doc_id is about a paper of SciFact's corpus, not of PubMed.
    """
    rows_by_paper: dict[str, list[dict[str, Any]]] = {}
    for row in read_lines(claims):
        rows_by_paper.setdefault(row.get("pmid") or name_scifact_paper(row["doc_id"]), []).append(row)
    papers = []
    for name, title, sentences in read_papers(folder, rows_by_paper):
        for row in rows_by_paper[name]:
            evidence = row["evidence"] if row["sentences"] == len(sentences) else None
            papers.append({**row, "pmid": name, "title": title, "sentences": sentences, "evidence": evidence})
    return papers


def name_scifact_paper(doc_id: object) -> str:
    """How a paper of SciFact's corpus is told from one of PubMed: its ids are not PMIDs."""
    return f"scifact {doc_id}"


def read_papers(folder: Path, names: Container[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Name, title and sentences of the papers with these names, from PubMed and from SciFact's corpus."""
    for record in read_rows(folder, "pubmed/abstracts.jsonl.gz"):
        if (name := str(record["pmid"])) in names:
            sentences = [part[start:end] for part in record["abstract"] for start, end in sentence_spans(part)]
            yield name, record["title"] or "", sentences
    for record in read_rows(folder, "scifact/corpus.jsonl.gz"):
        if (name := name_scifact_paper(record["doc_id"])) in names:
            yield name, record["title"], record["abstract"]


def make_labelled_lessons(folder: Path, dataset: str, rng: random.Random) -> Iterator[Lesson]:
    """The rows of one labelled set as whole documents, without the held-out fold."""
    for row in read_rows(folder, "stance/pairs.jsonl.gz"):
        if row["dataset"] != dataset or row["split"] != "train" or row["label"] not in NAMES:
            continue
        if is_held_out_of(dataset, row["claim"]):
            continue
        sentences = tuple(" ".join(sentence.split()) for sentence in row["sentences"] if sentence.strip())
        if not sentences:
            continue
        label = NAMES[row["label"]]
        places = tuple(place for place in row["evidence"] or () if place < len(sentences))
        evidence = () if label == NEUTRAL else places or None
        yield Lesson(clean_claim(row["claim"]), row.get("title") or "", sentences, label, evidence, dataset)


def make_rival_lessons(folder: Path, per_claim: int, rng: random.Random) -> Iterator[Lesson]:
    """SciFact train claims paired with papers that match their words but are not evidence."""
    for claim, documents in find_scifact_rivals(folder):
        for document in rng.sample(documents, min(per_claim, len(documents))):
            yield Lesson(claim, document["title"], tuple(document["abstract"]), NEUTRAL, (), "scifact_bm25")


def turn_lessons(lessons: Iterable[Lesson], flips: Flips, rng: random.Random, share: float) -> Iterator[Lesson]:
    """A `share` of the supported lessons, and of the refuted ones of SciFact (mostly negations), with their claims reversed."""
    for lesson in lessons:
        if lesson.label == NEUTRAL or (lesson.label == CONTRADICT and lesson.source != "scifact") or rng.random() > share:
            continue
        rules = [flips.make_opposite, flips.negate] if rng.random() < 0.5 else [flips.negate, flips.make_opposite]
        claim = next((reversal for rule in rules if (reversal := rule(lesson.claim, rng)) and reversal != lesson.claim), None)
        if claim:
            yield replace(lesson, claim=claim, label=SUPPORT + CONTRADICT - lesson.label, source=f"{lesson.source}_turned")


def read_literature(folder: Path) -> Iterator[tuple[str, str, list[str]]]:
    """(name, title, sentences) of PubMed's and SciFact's papers that may be used for training, named as `read_papers` does."""
    reserved_pmids = read_reserved_pmids(folder)
    claims = list(read_rows(folder, "scifact/claims_dev.jsonl.gz"))
    gold = {int(doc) for claim in claims for doc in [*claim["evidence"], *claim["cited_doc_ids"]]}
    gold_titles = set()
    for document in read_rows(folder, "scifact/corpus.jsonl.gz"):
        if int(document["doc_id"]) in gold:
            gold_titles.add(" ".join(split_terms(document["title"])))
        else:
            yield name_scifact_paper(document["doc_id"]), document["title"], document["abstract"]
    for record in read_rows(folder, "pubmed/abstracts.jsonl.gz"):
        pmid, title = str(record["pmid"]), record["title"] or ""
        if pmid in reserved_pmids or is_held_out(pmid) or (title and " ".join(split_terms(title)) in gold_titles):
            continue
        yield pmid, title, [section[start:end] for section in record["abstract"] for start, end in sentence_spans(section)]


def make_title_lessons(papers: Sequence[tuple[str, list[str]]], most: int, flips: Flips, rng: random.Random) -> Iterator[Lesson]:
    """Titles that state a finding, as they are and reversed, paired with their own abstract, half the time without its title."""
    count = 0
    for title, sentences in papers:
        claim = title.strip("[]. ")
        if count >= most or len(sentences) < 4 or not 6 <= len(claim.split()) <= 25 or "?" in claim or _NOMINAL.search(claim):
            continue
        claim = claim.split(": ")[0] if ": " in claim and flips.has_finite_verb(claim.split(": ")[0]) else claim
        if ":" in claim or not flips.has_finite_verb(claim):
            continue
        rules = [flips.make_opposite, flips.negate] if rng.random() < 0.4 else [flips.negate, flips.make_opposite]
        other = next((reversal for rule in rules if (reversal := rule(claim, rng)) and reversal != claim), None)
        if other is None or (rules[0] == flips.make_opposite and len(flips.find_directions(claim)) > 1):
            other = flips.negate(claim, rng)
        if other is None:
            continue
        count += 1
        shown_title, group = title if rng.random() < 0.5 else "", f"title {claim}"
        yield Lesson(f"{claim}.", shown_title, tuple(sentences), SUPPORT, None, "titles", group)
        yield Lesson(f"{other}.", shown_title, tuple(sentences), CONTRADICT, None, "titles", group)


def make_conclusion_lessons(
    papers: Sequence[tuple[str, list[str]]], most: int, flips: Flips, rng: random.Random
) -> Iterator[Lesson]:
    """The last sentence of an abstract as a claim about the rest, as it is or reversed."""
    count = 0
    for title, sentences in papers:
        if count >= most:
            return
        if len(sentences) < 6 or not 9 <= len(sentences[-1].split()) <= 34:
            continue
        claim = shorten(sentences[-1], rng)
        if not 6 <= len(claim.split()) <= 26 or len(flips.find_directions(claim)) != 1 or not flips.has_finite_verb(claim):
            continue
        count += 1
        other = flips.make_opposite(claim, rng) if rng.random() < 0.6 else flips.negate(claim, rng)
        rest = tuple(sentences[:-1])
        if other and other != claim and rng.random() < 0.5:
            yield Lesson(other, title, rest, CONTRADICT, None, "conclusions")
        else:
            yield Lesson(claim, title, rest, SUPPORT, None, "conclusions")


GENERAL = {"negation_nli": 1500, "breaking_nli": 700, "conjnli": 1200, "fever_symmetric": 400}


def make_short_lessons(folder: Path, families: Path, flips: Flips, rng: random.Random) -> list[Lesson]:
    """Short texts: outcome families, general language, prompts, findings, frames, numbers, sentences that others cite."""
    lessons: list[Lesson] = []
    for dataset, most in GENERAL.items():
        pairs = read_labelled(folder, dataset, 0, rng)
        lessons += [make_lesson(pair) for pair in rng.sample(pairs, min(most, len(pairs)))]
    findings = make_finding_pairs(folder, 2500, flips, rng)
    lessons += [make_lesson(pair) for pair in findings]
    lessons += [make_lesson(pair) for pair in make_prompt_pairs(folder, 2500, rng)]
    lessons += [make_lesson(pair) for pair in make_number_pairs(folder, 400, flips, rng)]
    lessons += [make_lesson(pair) for pair in frame_claims(sorted({pair.claim for pair in findings})[:400], flips, rng)]
    lessons += list(make_labelled_lessons(folder, "citint", rng))
    lessons += list(make_family_lessons(read_families(families), 10000, rng))
    return lessons


def make_document_lessons(folder: Path, leans: dict[str, float], flips: Flips, rng: random.Random) -> list[Lesson]:
    """Whole abstracts: ordinary claims, SciFact, HealthVer, CHECK-COVID, and papers' own titles and conclusions."""
    scifact, covid = list(make_labelled_lessons(folder, "scifact", rng)), list(make_labelled_lessons(folder, "check_covid", rng))
    healthver = list(make_labelled_lessons(folder, "healthver", rng))
    papers = [(title, sentences) for _, title, sentences in read_literature(folder)]
    rng.shuffle(papers)
    return [
        *make_ordinary_lessons(read_ordinary(folder, "train"), leans, rng),
        *scifact, *turn_lessons(scifact, flips, rng, 0.7), *make_rival_lessons(folder, 2, rng),
        *rng.sample(healthver, min(4000, len(healthver))), *covid, *turn_lessons(covid, flips, rng, 0.4),
        *make_title_lessons(papers, 900, flips, rng), *make_conclusion_lessons(papers, 1500, flips, rng),
    ]  # fmt: skip


VERIFIED = {"fever_train": 6000, "snli_counterfactual": 5000, "evidence_inference_v2": 3000}
"""How many rows of each set are read, drawn at random."""
_TITLE = "TITLE: "


def make_verified_lessons(folder: Path, rng: random.Random) -> Iterator[Lesson]:
    """Claims that others verified (`verification/`, whose README names licences): the train splits of `VERIFIED`.

    They show what the biomedical sets have little of: which way a sentence turns when one word changes. The claims on one premise
    are in one batch.
    """
    for name, most in VERIFIED.items():
        rows = [row for row in read_rows(folder, f"verification/{name}.jsonl.gz") if row["split"] == "train"]
        for row in sorted(rng.sample(rows, min(most, len(rows))), key=lambda row: row["sentences"]):
            first = int(row["sentences"][0].startswith(_TITLE))
            sentences, label = tuple(row["sentences"][first:]), NAMES[row["label"]]
            if not sentences:
                continue
            places = tuple(place - first for place in row["evidence"] or () if first <= place < len(sentences) + first)
            evidence = () if label == NEUTRAL else places or (None if len(sentences) > 1 else (0,))
            group = f"{name} {row['title']} {sentences[0]}"
            yield Lesson(row["claim"], row["title"], sentences, label, evidence, name, group)

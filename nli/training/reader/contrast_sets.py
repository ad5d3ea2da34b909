"""Contrast sets of our own: a finding as a paper would report it, with claims that it supports, contradicts and leaves open.

Each line of `contrasts/*.jsonl` has `text` (sentences), `evidence` (the places of those that settle the claims), the claims
`support`, `contradict` and `neutral`, the `kind` of wording it tests, and sometimes a `title`. Subjects and figures are invented.

Claims about real abstracts lie in `kinds/*.jsonl`, by the kind of mistake that a reader makes. A line names a paper by PMID, the
`kind`, how many sentences its author counted, and claims: label, text, and the places of the sentences that settle it. The three
claims of a paper share its words, so that only their sense tells them apart:

* harmless: a negation that belongs to the good news ("no further attacks");
* subgroup: a main result beside a subgroup or secondary outcome that differs;
* pvalue: numbers that differ, but not significantly;
* sign: a direction that has to be worked out ("required less morphine");
* title: a title that denies;
* neighbour: a surrogate or neighbouring outcome, or other people;
* mention: an aim, a hypothesis or background in the words of a finding;
* null: no effect, or another thing that works;
* arms: outcomes compared between two arms.

Beside them, sets by rule: comparisons of papers and of our claims, turned round (`nli.training.turning`).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from nli.training.reader.lesson import CONTRADICT, NEUTRAL, SUPPORT, Lesson
from nli.training.turning import turn_comparison

WITH_ABSTRACT = 0.5
"""The share of the comparing sentences that are also read within their abstract."""
SIDES = (("support", SUPPORT), ("contradict", CONTRADICT), ("neutral", NEUTRAL))


def make_contrast_lessons(sets: Sequence[Mapping[str, Any]], leans: Mapping[str, float]) -> Iterator[Lesson]:
    """Every claim of each set paired with the set's text; the claims of a set are in one batch."""
    for number, one in enumerate(sets):
        for side, label in SIDES:
            for claim in one[side]:
                evidence = () if label == NEUTRAL else tuple(one["evidence"])
                yield Lesson(
                    claim, "", tuple(one["text"]), label, evidence, "contrasts", f"contrast {number}", leans.get(claim, 0.0)
                )


def make_sentence_lessons(papers: Iterable[tuple[str, Sequence[str]]], rng: random.Random) -> Iterator[Lesson]:
    """Each comparison of these papers (title, sentences) as a text of its own, and half of them with their abstract."""
    for title, sentences in papers:
        for place, sentence in enumerate(sentences):
            turned = turn_comparison(sentence)
            if turned is None:
                continue
            group = f"comparison {title} {place}"
            claims = (
                (turned.exchanged, CONTRADICT),
                (turned.opposite, CONTRADICT),
                (turned.converse, SUPPORT),
                (sentence, SUPPORT),
            )
            yield from (Lesson(claim, "", (sentence,), label, (0,), "comparisons", group) for claim, label in claims)
            if rng.random() < WITH_ABSTRACT:
                for claim, label in (rng.choice(claims[:2]), claims[2]):
                    yield Lesson(claim, title, tuple(sentences), label, (place,), "comparisons_abstract", group)


def make_claim_lessons(papers: Iterable[Mapping[str, Any]]) -> Iterator[Lesson]:
    """The true claims of papers (as `examples.read_written` gives them) that compare, each beside its exchanged form."""
    for paper in papers:
        turned = turn_comparison(paper["true"])
        if turned is not None:
            evidence = None if paper["evidence"] is None else tuple(paper["evidence"])
            for claim, label in ((paper["true"], SUPPORT), (turned.exchanged, CONTRADICT), (turned.converse, SUPPORT)):
                group = f"comparison {paper['pmid']}"
                yield Lesson(claim, paper["title"], tuple(paper["sentences"]), label, evidence, "comparisons_claim", group)


def make_kind_lessons(rows: Sequence[Mapping[str, Any]], repeats: int = 1) -> Iterator[Lesson]:
    """Every claim with its paper, `repeats` times, every second time without the title; a paper's claims are in one batch."""
    for time in range(repeats):
        for row in rows:
            title = row["title"] if time % 2 == 0 else ""
            for label, claim, places in row["claims"]:
                evidence = () if label == NEUTRAL else None if places is None else tuple(places)
                group = f"kind {row['kind']} {row['pmid']} {time}"
                yield Lesson(claim, title, tuple(row["sentences"]), label, evidence, f"kind_{row['kind']}", group)

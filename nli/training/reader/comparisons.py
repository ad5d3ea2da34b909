"""Comparisons of papers and of our claims, turned round by rule (`nli.training.turning`): the reader must see who does better."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from counterpoint.nli.training.reader.lesson import CONTRADICT, SUPPORT, Lesson
from counterpoint.nli.training.turning import turn_comparison

WITH_ABSTRACT = 0.5
"""The share of the comparing sentences that are also read within their abstract."""


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
            # The first and the last are opposites, and so are the two between.
            pairs = [f"{group} {number}" for number in (0, 1, 1, 0)]
            yield from (
                Lesson(claim, "", (sentence,), label, (0,), "comparisons", group, pair=pair)
                for (claim, label), pair in zip(claims, pairs, strict=True)
            )
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

"""Partial evidence: words that limit a sentence to less than the claim says.

A trial in mice, a benefit "only in women", a finding that "may" hold: each bears on the claim and none settles it. A qualifier
is a word of the sentence that narrows it and has no counterpart in the claim. It is found by rule (qualifiers.yaml), so that it
can be shown in place. It says nothing about the stance, and its absence does not prove that the sentence holds without
conditions.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from counterpoint.retrieval.core.characters import align_characters
from counterpoint.retrieval.core.values import Qualifier, QualifierKind, Sentence
from counterpoint.retrieval.core.word_list import read_shipped_yaml

_QUALIFIERS = Path(__file__).with_name("qualifiers.yaml")


class _Rule(NamedTuple):
    """How a kind of limit is found, and what a claim holds that states it itself."""

    kind: QualifierKind
    found: re.Pattern[str]
    answered: re.Pattern[str]


@cache
def _load_rules() -> tuple[_Rule, ...]:
    def compile_words(forms: list[str]) -> re.Pattern[str]:
        return re.compile(rf"\b(?:{'|'.join(forms)})\b", re.IGNORECASE)

    return tuple(
        _Rule(row["kind"], compile_words(row["found"]), compile_words(row["found"] + row.get("answered", [])))
        for row in read_shipped_yaml(_QUALIFIERS)
    )


def find_qualifiers(claim: str, sentence: Sentence) -> tuple[Qualifier, ...]:
    """The qualifiers of the sentence that the claim does not have, in text order; offsets are into the abstract."""
    qualifiers: dict[tuple[int, int], Qualifier] = {}
    aligned = align_characters(sentence.text)
    for rule in _load_rules():
        if rule.answered.search(claim):
            continue
        for match in rule.found.finditer(aligned.text):
            start, end = (sentence.start + place for place in aligned.locate(*match.span()))
            qualifiers.setdefault((start, end), Qualifier(rule.kind, start, end))
    return tuple(qualifiers[place] for place in sorted(qualifiers))

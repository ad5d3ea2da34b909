"""Queries that look for the denial of a claim: the claim is put into negation-heavy templates, as in the paper's V4.

A dense encoder places a sentence and its negation close together; asking in the words of a denial is V4's answer to that (it
did not pay: the paper's V4 has the lowest MRR of contradictions of its five variants).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from retrieval.core.word_list import read_word_list

PLACE = "{claim}"
_TEMPLATES = Path(__file__).with_name("adversarial.txt")


@cache
def read_templates() -> tuple[str, ...]:
    """The templates of adversarial.txt, each with one place for the claim."""
    return tuple(read_word_list(_TEMPLATES))


def make_adversarial_queries(claim: str) -> list[str]:
    """The claim, without its full stop, in each of the templates."""
    bare = claim.strip().rstrip(".").rstrip()
    return [template.replace(PLACE, bare) for template in read_templates()]

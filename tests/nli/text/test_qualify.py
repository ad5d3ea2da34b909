"""Qualifiers: reservations that a sentence makes and the claim does not."""

from __future__ import annotations

import pytest

from counterpoint.nli.text.qualify import find_qualifiers
from counterpoint.retrieval.core.values import Document, Evidence, Sentence


def found(claim: str, text: str) -> list[tuple[str, str]]:
    sentence = Sentence("1", 0, 7, 7 + len(text), text)
    return [(one.kind, text[one.start - 7 : one.end - 7]) for one in find_qualifiers(claim, sentence)]


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("Aspirin prevents stroke.", "Aspirin may prevent stroke.", [("hedge", "may")]),
        ("Aspirin may prevent stroke.", "Aspirin might prevent stroke.", []),
        ("Aspirin prevents stroke.", "Aspirin prevented stroke only in women.", [("subgroup", "only in")]),
        ("Zinc shortens colds.", "In mice, zinc shortened colds.", [("population", "mice")]),
        ("Zinc shortens colds in mice.", "In mice, zinc shortened colds.", []),
        (
            "Zinc shortens colds.",
            "Zinc at high doses shortened colds in children.",
            [("dose", "at high doses"), ("population", "children")],
        ),
        ("Zinc in the presence of iron works.", "Zinc works in the absence of iron.", []),
        ("Zinc works.", "Zinc works in the absence of iron.", [("condition", "in the absence of")]),
        ("Zinc shortens colds.", "Zinc shortened colds by two days.", []),
    ],
)  # fmt: skip
def test_what_a_sentence_reserves(claim: str, text: str, expected: list[tuple[str, str]]) -> None:
    assert sorted(found(claim, text)) == sorted(expected)


def test_a_retracted_paper_is_never_plain_and_a_reserved_sentence_partial() -> None:
    plain = Document("1", "T", "A. B.")
    sentence = Sentence("1", 0, 0, 2, "A.")
    assert Evidence(plain, "support", sentence, 1, 0.9, "x").standing == "plain"
    reserved = find_qualifiers("A", Sentence("1", 0, 0, 6, "A may."))
    assert Evidence(plain, "support", sentence, 1, 0.9, "x", qualifiers=reserved).standing == "partial"
    assert Evidence(Document("1", "T", "A.", retracted=True), "support", sentence, 1, 0.9, "x").standing == "retracted"

"""Acronyms stand for what a text introduces them for."""

from __future__ import annotations

import pytest

from retrieval.words.abbreviations import find_acronyms, spell_out


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Women with zetoid ovary syndrome (ZOS) were seen.", [("ZOS", "zetoid ovary syndrome")]),
        ("Use of aleph-associated dullness (AAD).", [("AAD", "aleph-associated dullness")]),
        ("Wives at war (WAW) and trained (WAT) were seen.", [("WAW", "Wives at war")]),
        ("Zeta converting enzyme inhibitors (ZCEIs) and zetarolol (ZTL)",
         [("ZCEIs", "Zeta converting enzyme inhibitors"), ("ZTL", "zetarolol")]),
        ("Adults (N) and controls (Group C) took 5 mg (P < 0.05).", []),
        ("Nothing here begins like it (XYZ).", []),
    ],
)  # fmt: skip
def test_an_acronym_has_the_words_before_it(text: str, found: list[tuple[str, str]]) -> None:
    assert list(find_acronyms(text)) == found


def test_a_sentence_is_spelt_out_with_its_papers_acronyms() -> None:
    assert spell_out("ZOS was rare.", "zetoid ovary syndrome (ZOS)") == "ZOS zetoid ovary syndrome was rare."
    assert spell_out("ZOSA was rare.", "zetoid ovary syndrome (ZOS)") == "ZOSA was rare."


def test_a_backslash_in_a_long_form_is_text() -> None:
    passage = r"Tumor \under necrosis \1 factor (TUNF) was measured."
    assert spell_out("TUNF fell.", passage).endswith("factor fell.")

"""Abbreviations written out, and the shipped table of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.core.errors import BadConfig
from retrieval.words.abbreviations import expand, load_abbreviations, read_abbreviations


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("High BP and BPs in the ICU", " blood pressure intensive care unit"),
        ("A who's who, bp", ""),
        ("UTIs", " urinary tract infection"),
    ],
)
def test_abbreviations_are_written_out_behind_the_text_once_each(text: str, added: str) -> None:
    assert expand(text) == text + added


def test_the_shipped_abbreviations_name_their_source() -> None:
    text = (Path(__file__).parents[2] / "retrieval" / "words" / "abbreviations.tsv").read_text("utf-8")
    assert "Source of every line" in text.splitlines()[1]
    assert load_abbreviations()["BP"] == "blood pressure"
    assert "MS" not in load_abbreviations()


@pytest.mark.parametrize("table", ["BP blood pressure", "BP\t", "BP\ta\nBP\tb"])
def test_a_wrong_table_of_abbreviations_is_refused(table: str) -> None:
    with pytest.raises(BadConfig, match="of the abbreviations should be"):
        read_abbreviations(table)

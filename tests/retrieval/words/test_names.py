"""Acronyms and abbreviations stand for what a text or the table says; what a claim names must be mentioned by a paper on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.core.errors import BadConfig
from retrieval.words.names import expand, find_acronyms, find_unnamed, load_abbreviations, read_abbreviations


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
        ("Falls fell after treatment. The data were reported in monthly analyses (ARIMA).", []),
        ("It is metabolised to mezetic acid (MZA) in the toe.", [("MZA", "mezetic acid")]),
        ("Change of the total zetoid score (TZS).", [("TZS", "total zetoid score")]),
        ("Serum total thetasterone (TT) rose.", [("TT", "total thetasterone")]),
        ("Mean zetoid blood pressure (MZP) fell.", [("MZP", "Mean zetoid blood pressure")]),
        ("Quality of sea life (QSL), and zetas.", [("QSL", "Quality of sea life")]),
        ("Sailors were given pure zeta extract (ZE).", [("ZE", "zeta extract")]),
        ("Assessed were running, eating and moving around (AREMA).", []),
    ],
)  # fmt: skip
def test_an_acronym_has_the_words_before_it(text: str, found: list[tuple[str, str]]) -> None:
    assert list(find_acronyms(text)) == found


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
    text = (Path(__file__).parents[3] / "retrieval" / "words" / "abbreviations.tsv").read_text("utf-8")
    assert "Source of every line" in text.splitlines()[1]
    assert load_abbreviations()["BP"] == "blood pressure"
    assert "MS" not in load_abbreviations()


@pytest.mark.parametrize("table", ["BP blood pressure", "BP\t", "BP\ta\nBP\tb"])
def test_a_wrong_table_of_abbreviations_is_refused(table: str) -> None:
    with pytest.raises(BadConfig, match="of the abbreviations should be"):
        read_abbreviations(table)


@pytest.mark.parametrize(
    ("claim", "text", "unnamed"),
    [
        ("Ginkgo improves memory", "Ginger improves memory", ("Ginkgo",)),
        ("Losartan helps children with asthma", "Losartan in adults", ("children", "asthma")),
        ("Aspirin prevents strokes", "Acetylsalicylic acid and cerebrovascular accidents", ()),
        ("Statins prevent falls", "Ezetimibe: a statistically significant result", ("Statins",)),
        ("Sjögren's syndrome is eased by ginkgo", "Ginkgo in Sjogren's syndrome", ()),
        ("Losartan helps in cirrhosis", "Losartan in cirrhotic patients", ()),
        ("Omeprazole calms reflux", "Omeprazole in GERD", ()),
        ("Painkillers help after a slip", "Ibuprofen was studied in falls", ()),
    ],
)
def test_names_are_met_in_any_form_and_by_nothing_else(claim: str, text: str, unnamed: tuple[str, ...]) -> None:
    assert find_unnamed(claim, text) == unnamed

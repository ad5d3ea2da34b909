"""An acronym stands for what the text says."""

from __future__ import annotations

import pytest

from counterpoint.retrieval.words.acronyms import find_acronyms


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

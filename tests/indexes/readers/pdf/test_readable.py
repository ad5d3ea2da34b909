"""Characters that are no text are told from text in any language, formulas and lists."""

from __future__ import annotations

import random
import string

import pytest

from counterpoint.indexes.readers.pdf.readable import is_readable

TEXT = """Background: Zetapril is given to adults with high blood pressure, but whether it causes cough is not known. Earlier
studies were small and followed their patients for a few weeks only. We enrolled 412 adults at eleven hospitals and assigned
them to zetapril once daily or to placebo. Cough occurred in 38 of 206 participants who took zetapril and in 15 of 206 who
took placebo. Blood pressure fell further with zetapril than with placebo, and there was no difference in falls, fractures or
hospital admissions between the two groups. In a subgroup of women over 65 years the effect was smaller."""


def _move(text: str, distance: int, kept: str = " \n") -> str:
    return "".join(letter if letter in kept else chr(ord(letter) + distance) for letter in text)


def _exchange(text: str, letters: str, seed: int) -> str:
    others = list(letters)
    random.Random(seed).shuffle(others)
    return text.translate(str.maketrans(letters, "".join(others)))


@pytest.mark.parametrize(
    "text",
    [
        *(_move(TEXT, distance) for distance in (-29, -1, 1, 3, 29, 0xF000)),
        _move(TEXT, -29, "\n"),
        _move(TEXT[:100], -29),
        _exchange(TEXT, string.ascii_letters, 1),
        _exchange(TEXT, string.ascii_letters, 3),
        _exchange(TEXT, "".join(map(chr, range(33, 127))), 2),
        "".join(letter if letter.isspace() else "\ufffd" for letter in TEXT),
    ],
)
def test_garbled_text_is_no_text(text: str) -> None:
    assert not is_readable(text)


def test_a_text_of_which_half_is_garbled_is_not_readable() -> None:
    assert not is_readable(TEXT * 3 + _move(TEXT, -29) * 4)
    assert is_readable(TEXT * 9 + _move(TEXT, -29))


@pytest.mark.parametrize(
    "text",
    [
        TEXT, TEXT.upper(), "Zetapril.", "Fig. 1", "", "12 34",
        ", ".join(f"{a}{b}{i}" for i, a in enumerate(("KRAS", "TGFB", "PTPN", "CXCL", "BRCA", "CDKN")) for b in "ABDRLMSX"),
        " ".join("".join(random.Random(i).choices("ACDEFGHIKLMNPQRSTVWY", k=12)) for i in range(80)),
        "BRCA1 TP53 EGFR KRAS BRAF PIK3CA PTEN CDKN2A RB1 NF1 APC SMAD4 VHL MLH1 MSH2 ATM CHEK2 STK11 CDH1 TSC1 RET MET " * 8,
        "ATGGCGTACCTGAAATTTCCCGGG" * 40,
        "∫_0^∞ f(x) dx = Σ_{i=1}^{n} (x_i − μ)²/σ² ; ∂L/∂θ = −E[∇ log p(x|θ)] ; y = β0 + β1 x1 + ε ; " * 8,
        "y = a*x + b; z_1 = (x_1 - m)/s; f(x) = exp(-x^2/2)/sqrt(2*pi); P(X<x) = 1 - F(t); " * 10,
        "38 (18%) 15 (7%) 2.6 (1.4-4.7) <0.001 0.84\n" * 20,
        "CTRL TRT PBO TRT BMI SBP DBP HR SD CI " * 40,
        "CC(=O)OC1=CC=CC=C1C(=O)O CN1C=NC2=C1C(=O)N(C(=O)N2C)C " * 10,
        "Η ζεταπρίλη μείωσε την αρτηριακή πίεση στους ενήλικες, αλλά όχι στα παιδιά. " * 4,
        "Препарат снизил давление у взрослых, но не у детей. " * 5, "药物降低了成人的血压，但没有降低儿童的血压。" * 9,
        "הניסוי הראה ירידה בלחץ הדם אצל מבוגרים. " * 5, "दवा ने वयस्कों में रक्तचाप कम किया। " * 8,
        "Lääke alensi verenpainetta aikuisilla, mutta ei lapsilla eikä vanhuksilla. " * 5,
        "Lek obniżył ciśnienie krwi u dorosłych, lecz nie u dzieci; wszystkie próby wykazały to samo. " * 5,
        "Mae'r cyffur yn gostwng pwysedd gwaed mewn oedolion, ond nid yw'n glir a yw'n achosi peswch neu gwsg gwael. " * 4,
    ],
)  # fmt: skip
def test_text_of_any_kind_is_readable(text: str) -> None:
    assert is_readable(text)

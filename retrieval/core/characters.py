"""One form of characters for Lucene, the models and word lists: Unicode's NFKC, without format characters.

"ﬁbrosis" with a ligature, full-width "ＣＯＶＩＤ", "H₂O₂", an accent apart from its letter and a word with soft hyphens are found
as what they say. What is stored, shown and quoted stays as it was written; `align_characters` leads from one to the other.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from counterpoint.retrieval.core.values import Span

_DROPPED = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb"
"""Unicode's format characters (soft hyphen, zero-width, direction, byte order mark) and variation selectors."""
_FORMAT = re.compile(f"[{_DROPPED}]")
_RAISED = re.compile(r"(?=[⁺⁻]?[⁰¹²³⁴-⁹])(?:(?<=\d)|(?<=[^\W\d_]{3}))")
"""Before a power ("10⁹") or the number of a reference ("adults³"): joined, it would be another number or word."""
_FRACTION = re.compile(r"(?=[¼-¾⅐-⅞])(?<=\d)")
_SURROGATES = range(0xD800, 0xE000)
_LONE_SURROGATE = re.compile(f"[{chr(_SURROGATES.start)}-{chr(_SURROGATES[-1])}]")
_PLAIN = str.maketrans(
    {"’": "'", "ʼ": "'", "\u2010": "-", "\u2011": "-", "İ": "I", "№": "No."} | {chr(code): "\ufffd" for code in _SURROGATES}
)
"""What NFKC leaves apart, typographic apostrophes and hyphens, or makes another word of: "№ 5" is no negation. "İ" grows when it
is lower-cased; a lone surrogate (JSON can encode one) cannot be passed on."""
_UNUSUAL = re.compile(f"[{_DROPPED}{''.join(map(chr, _PLAIN))}]")
_PIECE = re.compile(r"([\x00-\x7f]+)(?![\u0300-\u036f\u20d0-\u20f0])|.[\u0300-\u036f\u20d0-\u20f0]*", re.DOTALL)
"""A run of ASCII, which stays as it is, or a character with the accents behind it."""


def unify_characters(text: str) -> str:
    """The text in NFKC without format characters, with plain apostrophes and hyphens; ASCII is returned as it is."""
    if text.isascii():
        return text
    # To look for them costs a tenth of replacing them.
    plain = _FORMAT.sub("", text).translate(_PLAIN) if _UNUSUAL.search(text) else text
    if unicodedata.is_normalized("NFKC", plain):
        return plain
    return unicodedata.normalize("NFKC", _FRACTION.sub(" ", _RAISED.sub("^", plain))).replace("\u2044", "/")


def fold_accents(text: str) -> str:
    """The text in one form of characters, without accents: "Sjögren" as "Sjogren"."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFD", unify_characters(text))
    return unicodedata.normalize("NFC", "".join(letter for letter in parts if not unicodedata.combining(letter)))


def replace_surrogates(text: str) -> str:
    """The text with U+FFFD for each half of a surrogate pair: JSON can spell them, but no file and no UTF-8 can hold one."""
    return _LONE_SURROGATE.sub("\ufffd", text)


@dataclass(frozen=True, slots=True)
class AlignedText:
    """A text as `unify_characters` gives it, and where each of its characters stands in the original; None if nothing moved."""

    text: str
    places: tuple[Span, ...] | None = None

    def locate(self, start: int, end: int) -> Span:
        """The offsets, in the original, of `text[start:end]`, which is not empty."""
        return (start, end) if self.places is None else (self.places[start][0], self.places[end - 1][1])


def align_characters(text: str) -> AlignedText:
    """The text for comparing, with the way back to the original."""
    plain = unify_characters(text)
    if plain == text:
        return AlignedText(text)
    parts: list[str] = []
    places: list[Span] = []
    for piece in _PIECE.finditer(text):
        start, end = piece.span()
        if piece[1]:
            parts.append(piece[1])
            places += zip(range(start, end), range(start + 1, end + 1), strict=True)
            continue
        # A sign between a number and its power belongs to the power.
        sign = "^" if _RAISED.match(text, start) else " " if _FRACTION.match(text, start) else ""
        part = sign + unify_characters(piece[0])
        parts.append(part)
        places += [(start, end)] * len(part)
    return AlignedText("".join(parts), tuple(places))

"""Superscripts in plain characters."""

from __future__ import annotations

import re

_BASE = re.compile(r"(?<![\d.,])(?:10|\d)$")
_EXPONENT = re.compile(r"[+−–-]?\d+")
_REFERENCES = re.compile(r"\d{1,3}(?:\s*[,;–—-]\s*\d{1,3})*")
# What a reference follows: a word, a longer number, the end of a clause; "m²", "Ca²⁺" and "¹⁸F" have none of these.
_BEFORE_REFERENCE = re.compile(r"(?:[^\W\d_]{3}|\d|[.,;:!?)\]\"'”’%])$")
_WORD = re.compile(r"[^\W\d_]{3}$")


def write_raised(before: str, raised: str) -> str:
    """The characters for a superscript after `before`: "10⁹" is "10^9", "adults.³" is "adults.[3]", and "m²" is "m2"."""
    bare = raised.strip()
    behind = raised[len(raised.rstrip()) :]
    if _BASE.search(before) and _EXPONENT.fullmatch(bare):
        return f"^{bare}{behind}"
    if _REFERENCES.fullmatch(bare) and _BEFORE_REFERENCE.search(before):
        return f"[{bare}]{behind}"
    return f"^{raised}" if bare[:1].isalpha() and _WORD.search(before) else raised

"""Superscripts in marked-up text: "10<sup>9</sup>/L" is read as "10^9/L", since "109/L" would be another number."""

from __future__ import annotations

import re

_EXPONENT = re.compile(r"\s*[+\-−–]?\s*[0-9]")
_MARKED = re.compile(r"(?<=[0-9])<(?:jats:)?sup(?:\s[^<>]*)?>(?=(?:<[^<>]{1,40}>|\s)*[+\-−–]?\s*[0-9])", re.IGNORECASE)


def write_raised(before: str, raised: str) -> str:
    """What to write for a superscript after `before`: an exponent after "^", anything else as it is ("m2", "CD4+")."""
    return f"^{raised.lstrip()}" if before[-1:].isdecimal() and _EXPONENT.match(raised) else raised


def mark_raised(text: str) -> str:
    """The same in text with HTML's or JATS's tags, which are left to be removed."""
    return _MARKED.sub("^", text)

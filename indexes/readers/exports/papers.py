"""Whether two records of exports are one paper: by the DOI, and by the title or the abstract."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from indexes.readers.base.marks import strip_mark

_SUBTITLE = re.compile(r"[:.?!(\[–—]|\s-\s")
_BEGINNING = 200


@dataclass(frozen=True, slots=True)
class Paper:
    """What a record says of which paper it is."""

    pmid: str
    doi: str
    title: str
    abstract: str


def is_same(one: Paper, other: Paper) -> bool:
    """Whether two records with one DOI are the same paper: by their titles, one of which may lack the subtitle, or abstracts."""
    first, second = strip_mark(one.title), strip_mark(other.title)
    whole = {_letters(first), _letters(second)}
    if len(whole) == 1 or "" in whole or _letters(_main(first)) == _letters(second) or _letters(_main(second)) == _letters(first):
        return True
    return _letters(one.abstract)[:_BEGINNING] == _letters(other.abstract)[:_BEGINNING]


def _main(title: str) -> str:
    """The title without its subtitle."""
    found = _SUBTITLE.search(title.lstrip("[( "))
    return title.lstrip("[( ")[: found.start()] if found else title


def _letters(text: str) -> str:
    return "".join(one for one in unicodedata.normalize("NFKD", text).casefold() if one.isalnum())

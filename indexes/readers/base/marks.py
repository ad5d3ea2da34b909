"""What a record says of its paper in passing: that it was retracted, or, where the abstract should be, that there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NAMED = r"(?:retracted|withdrawn)(?:[ -](?:article|paper|publication|chapter|review|manuscript|preprint|study))?"
_SAID = rf"(?:this (?:\w+ )?(?:article|paper|manuscript|preprint) (?:has been|was|is) )?{_NAMED}"
# A mark stands before the title ("RETRACTED ARTICLE: …", "[Withdrawn] …") or behind it ("… (Retracted article. See vol. 12)",
# "… – Retracted"). Words of the title itself ("Retracted nipples …", "drugs withdrawn from the market") are none.
_MARKED = re.compile(
    rf"^\W*(?:{_SAID}(?: and (?:replaced|republished))?\s*(?:[:.\])—–]|-\s)|(?:temporary )?(?:removed|removal)\s*:)"
    rf"|[(\[]\s*{_SAID}\s*(?:[\])]|(?:[.,;:]|\bsee\b|\bin\b|\bby\b|\bon\b)[^\])]{{0,200}}[\])])\W*$"
    r"|(?:[:.—–]\s*|\s-\s*)(?-i:RETRACTED|Retracted|WITHDRAWN|Withdrawn)(?: (?:article|paper|publication))?\W*$",
    re.IGNORECASE,
)
_PERHAPS = re.compile("retracted|withdrawn|removed|removal", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,40}>")
_RETRACTED_TYPE = re.compile(r"\b(?:retracted|withdrawn)\b", re.IGNORECASE)
_NOTE = re.compile(rf"(?:^|[;\n])\s*{_NAMED}\s*(?:$|[.;\n])", re.IGNORECASE)

_WORD = re.compile(r"\w+")
_NOT_APPLICABLE = re.compile(r"\bn\.?\s?[/.]\s?a\b", re.IGNORECASE)
_DENYING = frozenset("no not without unavailable missing none na null nil nan never".split())
_ABOUT_ABSTRACTS = _DENYING | frozenset(
    "abstract abstracts summary text a an the there this it is was were are has have had been be for of in at from to or and any "
    "article paper record publication document item entry reference citation study journal source database pubmed medline "
    "english language available accessible applicable provided supplied given found listed included indexed recorded submitted "
    "published written present exist exists yet here online currently time author authors publisher by".split()
)


def is_retracted(title: str, types: Iterable[str] = (), notes: Iterable[str] = ()) -> bool:
    """Whether a paper's title, types or notes mark it as retracted or withdrawn.

    A notice of a retraction, an erratum and an expression of concern are about another paper, or retract nothing.
    """
    if _PERHAPS.search(title) and _MARKED.search(_TAG.sub("", title)):
        return True
    return any(map(_RETRACTED_TYPE.search, types)) or any(map(_NOTE.search, notes))


def strip_mark(title: str) -> str:
    """The title without a mark of its retraction."""
    return _MARKED.sub("", title) if _PERHAPS.search(title) else title


def is_placeholder(abstract: str) -> bool:
    """Whether a text only says that there is no abstract: "NA", "[No abstract available]", a dash; also for an empty one."""
    if len(abstract) > 200:
        return False
    words = _WORD.findall(_NOT_APPLICABLE.sub("na", abstract.casefold()))
    return not words or (_ABOUT_ABSTRACTS.issuperset(words) and not _DENYING.isdisjoint(words))

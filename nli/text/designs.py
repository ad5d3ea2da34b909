"""The study design of a paper (systematic review, trial, cohort, case …), by its publication types or by its own words.

The designs are data (designs.yaml): each has its weight relative to the others and the words that name it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import yaml

from retrieval.core.errors import ModelUnusable
from retrieval.core.values import Document
from retrieval.core.word_list import read_word_list

_DESIGNS, _PEOPLE, _POPULATIONS = (Path(__file__).with_name(name) for name in ("designs.yaml", "people.txt", "populations.yaml"))
Subjects = Literal["humans", "animals", "unknown"]
ANIMAL = "animal"
"""The design of studies in animals, in cells and in vitro."""
_STRONG = frozenset({"review", "trial"})
"""The groups that count most, and whose papers may disagree with each other's: systematic reviews and randomised trials."""


@dataclass(frozen=True, slots=True)
class Design:
    """A study design: the weight of its papers (0 to 1), the `group` it can disagree with, and the words that name it."""

    name: str
    weight: float
    group: str
    says: str

    @property
    def strong(self) -> bool:
        """Whether it is one of the strongest: a systematic review or a randomised trial."""
        return self.group in _STRONG


def find_design(document: Document) -> Design:
    """The study design of a paper: publication types take precedence over words, and the order of designs decides among words.

    Words of the abstract may describe other people's studies; for some designs, certain words of the title take precedence.
    """
    kinds = _load_kinds()
    if is_notice(document):
        return kinds[0].design
    types = _fold(document.types)
    for kind in kinds:
        if types & kind.types:
            return kind.design
    titled = frozenset(
        kind.design.name for kind in kinds if _holds(kind.title, document.title) and not _holds(kind.unless, document.title)
    )
    for kind in kinds:
        if kind.design.name in titled:
            return kind.design
        if titled.isdisjoint(kind.yields) and _holds(kind.text, f"{document.title} {document.abstract}"):
            return kind.design
    return kinds[-1].design


def has_findings(document: Document) -> bool:
    """Whether a paper can have findings: a notice about another paper cannot, nor can the protocol of a future study."""
    return find_design(document).weight > 0


def is_notice(document: Document) -> bool:
    """Whether it only says that another paper was retracted or corrected, or that there is concern about it.

    This is decided by its types, its links to that paper, or its title, whatever it quotes of that paper's findings.
    """
    notice = _load_kinds()[0]
    by_record = not notice.types.isdisjoint(_fold(document.types)) or any(one.kind in notice.links for one in document.notices)
    return by_record or (notice.marks is not None and notice.marks.search(document.title) is not None)


def names_animals(text: str) -> bool:
    """Whether a text mentions animals or cells."""
    return any(kind.design.name == ANIMAL and (_holds(kind.title, text) or _holds(kind.text, text)) for kind in _load_kinds())


def are_comparable(one: Design, other: Design) -> bool:
    """Whether papers of these designs can disagree: trials and reviews with each other, observational studies with their like."""
    return one.group != "none" and (one.group == other.group or (one.strong and other.strong))


@dataclass(frozen=True, slots=True)
class _Kind:
    design: Design
    types: frozenset[str]
    links: frozenset[str]
    marks: re.Pattern[str] | None
    title: re.Pattern[str] | None
    unless: re.Pattern[str] | None
    yields: frozenset[str]
    text: re.Pattern[str] | None


def _fold(types: Sequence[str]) -> frozenset[str]:
    """Publication types as they are compared: databases and spreadsheets write them in any case."""
    return frozenset(map(str.casefold, types))


def _holds(pattern: re.Pattern[str] | None, text: str) -> bool:
    return pattern is not None and pattern.search(text) is not None


@cache
def _load_kinds() -> tuple[_Kind, ...]:
    try:
        data = yaml.safe_load(_DESIGNS.read_text("utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise ModelUnusable(f"The designs {_DESIGNS} cannot be read ({error}); reinstall the package.") from error
    return tuple(
        _Kind(
            Design(name, float(kind["weight"]), kind["group"], kind["says"]),
            _fold(kind["types"]),
            frozenset(kind.get("links", ())),
            re.compile("|".join(kind["marks"]), re.IGNORECASE) if "marks" in kind else None,
            _compile(kind["title"]),
            _compile(kind.get("unless", ())),
            frozenset(kind.get("yields", ())),
            _compile(kind["text"]),
        )
        for name, kind in data.items()
    )


def _compile(forms: Sequence[str]) -> re.Pattern[str] | None:
    return re.compile(rf"\b(?:{'|'.join(forms)})\b", re.IGNORECASE) if forms else None


def find_subjects(document: Document) -> Subjects:
    """Whom a paper studied; "unknown" where neither its design nor its words say."""
    if find_design(document).name == ANIMAL:
        return "animals"
    return "humans" if _load_people().search(f"{document.title} {document.abstract}") else "unknown"


@cache
def _load_people() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(read_word_list(_PEOPLE))})\b", re.IGNORECASE)


def differ_in_people(one: str, other: str) -> bool:
    """Whether two titles name groups that do not overlap on some axis; a title that names no group differs from nothing."""
    for groups in _load_axes().values():
        name_sets = [{name for name, words in groups.items() if words.search(text)} for text in (one, other)]
        if all(name_sets) and not name_sets[0] & name_sets[1]:
            return True
    return False


_BEHIND = "after|against|among|at|before|during|for|if|in|on|to|when|with"
_THAN = re.compile(rf"\bthan\s+(.+?)(?=\s+(?:{_BEHIND})\b|[,;]|$)", re.IGNORECASE)


def studied_others(claim: str, title: str) -> bool:
    """Whether a title names other people than those whom a claim or question is about, apart from those whom it compares."""
    return differ_in_people(_THAN.sub("", claim), title)


@cache
def _load_axes() -> dict[str, dict[str, re.Pattern[str]]]:
    try:
        data = yaml.safe_load(_POPULATIONS.read_text("utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise ModelUnusable(f"The populations {_POPULATIONS} cannot be read ({error}); reinstall the package.") from error
    return {
        axis: {name: re.compile(rf"\b(?:{'|'.join(forms)})\b", re.IGNORECASE) for name, forms in groups.items()}
        for axis, groups in data.items()
    }

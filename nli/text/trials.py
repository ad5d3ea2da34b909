"""Which papers report the same trial: by its registration number, its name in their titles, or the same figures.

One trial may be reported in ten papers, which agree because they share their patients. Precision comes before recall: papers that
are only probably of one trial stay apart. A review, which may name many trials, reports none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from counterpoint.nli.text.designs import ANIMAL, NOTICE, find_design, has_findings
from counterpoint.retrieval.core.values import Document

_REGISTERED = re.compile(
    r"\b(?:NCT ?\d{8}|ISRCTN ?\d{8}|ACTRN ?\d{14}|ChiCTR[-A-Z]*\d{8,10}|UMIN ?\d{9}|DRKS ?\d{8}|KCT ?\d{7}|PACTR ?\d{12,15}"
    r"|IRCT ?\d{8,}N?\d*|CTRI/\d{4}/\d{2,3}/\d{6}|JPRN-\w+|RBR-\w+|TCTR ?\d+|NTR ?\d{3,4}|20\d\d-\d{6}-\d{2})\b",
    re.IGNORECASE,
)
_NAME = r"[A-Z][A-Za-z]*[A-Z][A-Za-z]*(?:[- ](?:\d+|[IV]+))?(?:-[A-Z]+\d*)*"
_NAMED = re.compile(
    rf"\b({_NAME})\)?,? (?:[Rr]andomi[sz]ed )?(?:[Ss]ub-?)?(?:[Tt]rial|[Ss]tudy|[Ii]nvestigators|[Cc]ollaborati)"
    rf"|(?:[Tt]rial|[Ss]tudy|[Pp]roject|[Ii]nitiative|[Pp]rogram(?:me)?) \(({_NAME})\)"
)
_PLAIN = re.compile(r"[IVX]+[AB]?|RCT|CLINICAL|PILOT|OPEN|COHORT|F?MRI|PET|SPECT|SPET|EEG|HRT", re.IGNORECASE)
"""What looks like a trial's name and is a phase, a design, a method or a heading in capitals."""
_SHORTEST = 3
_DOI = re.compile(r"\b10\.\d{4,9}/\S+")
_FIGURE = re.compile(r"(?<![\d.,/-])\d{1,3}(?:[, ]\d{3})+(?![\d.,]*\d)|(?<![\d.,/-])\d{3,6}(?![\d.,]*\d)")
_LARGE = 1000
_WORD, _PHRASE, _FEWEST_PHRASES, _ALIKE = re.compile(r"\w+"), 4, 30, 0.6
"""Words of a phrase; the fewest that two abstracts share, and of all their phrases the share, if they are one."""
_YEARS = range(1900, 2100)


@dataclass(frozen=True, slots=True)
class TrialMarks:
    """What tells which trial a paper reports: registration numbers; the trials it names, and those of them in its title; figures
    that are neither round nor a year; and its abstract's `phrases` of four words, which tell that it was published twice."""

    registered: frozenset[str]
    named: frozenset[str]
    entitled: frozenset[str]
    figures: frozenset[int]
    phrases: frozenset[str] = frozenset()


def name_trials(documents: Sequence[Document]) -> list[str]:
    """For each document the trial that it shares with others of them, "" if with none.

    A trial is called by its name or its registration number; without either by the id of its first paper.
    """
    marks = [find_marks(one) for one in documents]
    groups: list[list[int]] = []
    for place, mark in enumerate(marks):
        same = [group for group in groups if any(_report_same(mark, marks[at]) for at in group)]
        groups = [group for group in groups if group not in same] + [[*(at for group in same for at in group), place]]
    names = [""] * len(documents)
    for group in groups:
        if len(group) > 1:
            name = _name([marks[at] for at in sorted(group)]) or f"the trial of {documents[min(group)].pmid}"
            for at in group:
                names[at] = name
    return names


def find_marks(document: Document) -> TrialMarks:
    """What tells which trial a paper reports; of one that reports none, such as a review, its phrases alone."""
    words = _WORD.findall(document.abstract.lower())
    phrases = frozenset(map(" ".join, zip(*(words[at:] for at in range(_PHRASE)), strict=False)))
    if not _reports_one_study(document):
        return TrialMarks(frozenset(), frozenset(), frozenset(), frozenset(), phrases)
    text = _DOI.sub(" ", f"{document.title}\n{document.abstract}")
    # "a PET study" names a method.
    named = frozenset(
        name
        for found in _NAMED.finditer(text)
        if (name := found[1] or found[2])
        and sum(map(str.isalpha, name)) >= _SHORTEST
        and not (_PLAIN.fullmatch(name) or re.search(r"\b[Aa]n? $", text[: found.start()]))
    )
    figures = {int(re.sub(r"\D", "", found)) for found in _FIGURE.findall(text.partition("\n")[2])}
    return TrialMarks(
        frozenset(re.sub(r"\s", "", found).upper() for found in _REGISTERED.findall(text)),
        named,
        frozenset(name for name in named if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", document.title)),
        frozenset(figure for figure in figures if figure % 50 and figure not in _YEARS),
        phrases,
    )


def _reports_one_study(document: Document) -> bool:
    design = find_design(document)
    return design.group != "review" and design.name not in (ANIMAL, NOTICE) and has_findings(document)


def _report_same(one: TrialMarks, other: TrialMarks) -> bool:
    """Whether two papers report one trial, or are one paper published twice.

    A paper with several registration numbers pools trials, and is none's report.
    """
    if len(one.phrases & other.phrases) >= max(_FEWEST_PHRASES, _ALIKE * len(one.phrases | other.phrases)):
        return True
    if max(len(one.registered), len(other.registered)) > 1:
        return False
    if one.registered and other.registered:
        return one.registered == other.registered
    shared = one.figures & other.figures
    large = sum(figure >= _LARGE for figure in shared)
    return bool(one.entitled & other.entitled) or bool(one.named & other.named and shared) or (large > 0 and len(shared) > 1)


def _name(marks: Sequence[TrialMarks]) -> str:
    """The name that most of these papers give their trial, or its number; "" without one."""
    named = [name for mark in marks for name in sorted(mark.entitled or mark.named)]
    registered = [number for mark in marks for number in mark.registered]
    return max(named, key=named.count) if named else registered[0] if registered else ""

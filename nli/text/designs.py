"""The study design of a paper (systematic review, trial, cohort, case …), by its publication types or by its own words.

The designs are data (designs.yaml): each has its weight relative to the others. A linear model over the words of title and
abstract tells them where no publication type does (nli.training.designs).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from counterpoint.nli.text.model_file import read_model
from counterpoint.retrieval.core.probabilities import softmax
from counterpoint.retrieval.core.values import Document
from counterpoint.retrieval.core.word_list import read_shipped_yaml, read_word_list
from counterpoint.retrieval.words.forms import americanise

_DESIGNS, _PEOPLE, _POPULATIONS = (Path(__file__).with_name(name) for name in ("designs.yaml", "people.txt", "populations.yaml"))
Subjects = Literal["humans", "animals", "unknown"]
DESIGNS_MODEL = Path(__file__).parent.parent / "models" / "designs" / "designs.npz"
NOTICE, ANIMAL, OTHER = "notice", "animal", "other"
"""The designs of notices about other papers, of studies in animals and cells, and of those whose design is unknown."""
LEAST = 0.5
"""The least probability of a design at which a paper that does not name it is said to have it."""
_WORD, _NUMBER = re.compile(r"[a-z]+|0"), re.compile(r"\d[\d.,]*")
_METHODS = (
    *("analys", "assign", "association", "blind", "case", "cell", "cohort", "compar", "control", "cross", "design", "follow"),
    *("included", "label", "mice", "placebo", "prospect", "protocol", "question", "random", "rat", "regist", "report", "retro"),
    *("review", "search", "stud", "survey", "trial"),
)
"""How the words begin that tell of a study's methods."""
_STRONG = frozenset({"review", "trial"})
"""The groups that count most, and whose papers may disagree with each other's: systematic reviews and randomised trials."""


@dataclass(frozen=True, slots=True)
class Design:
    """A study design: the weight of its papers (0 to 1), the `group` it can disagree with, and how it is named."""

    name: str
    weight: float
    group: str
    text: str

    @property
    def strong(self) -> bool:
        """Whether it is one of the strongest: a systematic review or a randomised trial."""
        return self.group in _STRONG


def find_design(document: Document) -> Design:
    """The study design of a paper: publication types take precedence over words."""
    kinds = _load_kinds()
    if is_notice(document):
        return kinds[NOTICE].design
    types = _fold(document.types)
    name = next((name for name, kind in kinds.items() if types & kind.types), None)
    return kinds[name or read_design(document, load_design_model())].design


def read_design(document: Document, model: DesignModel) -> str:
    """The design that a model finds; one that it thinks less probable than `LEAST` stands if the paper names it itself."""
    kinds, text = _load_kinds(), f"{document.title}. {document.abstract}"
    name, probability = model.choose(find_design_words(document))
    if name == "nonrandomised" and kinds["trial"].names(text):
        return "trial"
    return name if probability >= LEAST or kinds[name].names(text) else OTHER


def find_design_words(document: Document) -> frozenset[str]:
    """The words of title and abstract and their pairs, in American spelling; all numbers are alike.

    Of the abstract, only those pairs count that have a word which tells of methods.
    """
    title, abstract = (
        [americanise(word) for word in _WORD.findall(_NUMBER.sub("0", text.lower()))]
        for text in (document.title, document.abstract)
    )
    pairs = (f"{one} {other}" for one, other in pairwise(abstract) if one.startswith(_METHODS) or other.startswith(_METHODS))
    return frozenset([*abstract, *pairs, *(f"^{word}" for word in title), *(f"^{one} {other}" for one, other in pairwise(title))])


@dataclass(frozen=True, slots=True)
class DesignModel:
    """A linear model of designs: the place of each word, `weights` [words, designs] and `bias` [designs]."""

    designs: tuple[str, ...]
    words: Mapping[str, int]
    weights: NDArray[np.float32]
    bias: NDArray[np.float32]

    def choose(self, words: Collection[str]) -> tuple[str, float]:
        """The most probable design and its probability."""
        places = sorted(self.words[word] for word in words if word in self.words)
        shares = softmax(self.bias + self.weights[places].sum(axis=0))
        return self.designs[int(np.argmax(shares))], float(shares.max())


@cache
def load_design_model() -> DesignModel:
    """The shipped model, read once; raises `ModelUnusable` where the file is missing or damaged."""
    names, words, weights, bias = read_model(DESIGNS_MODEL, "designs", "words", "weights", "bias")
    return DesignModel(tuple(names), {word: place for place, word in enumerate(words)}, weights, bias)


def has_findings(document: Document) -> bool:
    """Whether a paper can have findings: a notice about another paper cannot, nor can the protocol of a future study."""
    return find_design(document).weight > 0


def is_notice(document: Document) -> bool:
    """Whether it only says that another paper was retracted or corrected, or that there is concern about it.

    This is decided by its types, its links to that paper, or its title, whatever it quotes of that paper's findings.
    """
    notice = _load_kinds()[NOTICE]
    by_record = not notice.types.isdisjoint(_fold(document.types)) or any(one.kind in notice.links for one in document.notices)
    return by_record or notice.names(document.title)


def are_comparable(one: Design, other: Design) -> bool:
    """Whether papers of these designs can disagree: trials and reviews with each other, observational studies with their like."""
    return one.group != "none" and (one.group == other.group or (one.strong and other.strong))


@dataclass(frozen=True, slots=True)
class _Kind:
    design: Design
    types: frozenset[str]
    links: frozenset[str]
    marks: re.Pattern[str] | None

    def names(self, text: str) -> bool:
        return self.marks is not None and self.marks.search(text) is not None


def _fold(types: Sequence[str]) -> frozenset[str]:
    """Publication types as they are compared: databases and spreadsheets write them in any case."""
    return frozenset(map(str.casefold, types))


@cache
def _load_kinds() -> Mapping[str, _Kind]:
    return {
        name: _Kind(
            Design(name, float(kind["weight"]), kind["group"], kind["text"]),
            _fold(kind["types"]),
            frozenset(kind.get("links", ())),
            re.compile("|".join(kind["marks"]), re.IGNORECASE) if "marks" in kind else None,
        )
        for name, kind in read_shipped_yaml(_DESIGNS).items()
    }


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


@cache
def _load_axes() -> dict[str, dict[str, re.Pattern[str]]]:
    return {
        axis: {name: re.compile(rf"\b(?:{'|'.join(forms)})\b", re.IGNORECASE) for name, forms in groups.items()}
        for axis, groups in read_shipped_yaml(_POPULATIONS).items()
    }

"""Find negation cues fast in text, when an index is built.

The list is data (cues.yaml). An Aho-Corasick automaton finds every form in one pass, at some 300,000 sentences per second. What
a cue negates is determined separately by `nli.text.scope`, and only for sentences that are judged or shown.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import ahocorasick
import yaml

from retrieval.core.characters import align_characters
from retrieval.core.values import Cue, Span


@dataclass(frozen=True, slots=True)
class CueEntry:
    """One of the 23 cues: its forms, the side on which it negates, and the source of the entry."""

    name: str
    source: str
    direction: Literal["after", "before"]
    forms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CueList:
    """The cues, the phrases and acronyms that only look like one, and the words that end a scope."""

    cues: tuple[CueEntry, ...]
    pseudo: tuple[str, ...]
    acronyms: frozenset[str]
    termination: tuple[str, ...]


@cache
def load_cue_list() -> CueList:
    """The cue list that ships with the package."""
    data = yaml.safe_load(files("nli.text").joinpath("cues.yaml").read_text("utf-8"))
    cues = tuple(CueEntry(c["name"], c["source"], c["direction"], tuple(c["forms"])) for c in data["cues"])
    return CueList(cues, tuple(data["pseudo"]), frozenset(data["acronyms"]), tuple(data["termination"]))


@cache
def _build_automaton() -> Any:
    """Every form and every pseudo-negation, each with its cue's name (None for a pseudo-negation) and its length."""
    automaton = ahocorasick.Automaton()
    for entry in load_cue_list().cues:
        for form in entry.forms:
            automaton.add_word(form, (entry.name, len(form)))
    for phrase in load_cue_list().pseudo:
        automaton.add_word(phrase, (None, len(phrase)))
    automaton.make_automaton()
    return automaton


# "registration no. NCT0123", "no.: 5": a number, not a negation.
_NUMBER = re.compile(r"\.:?\s*[A-Z]*\d")


def _joins(character: str) -> bool:
    """Whether a character forms one word with the letters beside it: another letter, a digit, a hyphen or a combining accent."""
    if character.isalnum() or character in "-_":
        return True
    return not character.isascii() and unicodedata.category(character).startswith("M")


def find_cues(text: str) -> list[Cue]:
    """All cues in `text`, in order, as offsets into it: whole words only, the longest match first, none overlapping.

    A hyphen joins a word: "no-reflow" and "non-smoker" contain no cue. The acronyms of the list ("NO" is nitric oxide) are not
    cues either, unless the whole text is in capitals.
    """
    aligned = align_characters(text)
    plain = aligned.text
    matches: list[tuple[int, int, str | None]] = []
    for last, (name, length) in _build_automaton().iter(plain.lower()):
        start, end = last - length + 1, last + 1
        if (start and _joins(plain[start - 1])) or (end < len(plain) and _joins(plain[end])):
            continue
        matches.append((start, end, name))
    # The earliest first; of those that begin at the same place, the longest first.
    matches.sort(key=lambda match: (match[0], -match[1]))
    acronyms = load_cue_list().acronyms
    cues: list[Cue] = []
    limit = 0
    for start, end, name in matches:
        if start < limit:
            continue
        limit = end
        if name is None or (plain[start:end] in acronyms and not plain.isupper()):
            continue
        if name == "no" and _NUMBER.match(plain, end):
            continue
        cues.append(Cue(name, *aligned.locate(start, end)))
    return cues


def find_cues_by_sentence(text: str, spans: Sequence[Span]) -> list[tuple[int, Cue]]:
    """The cues of `text`, each with the index of its sentence; a cue that crosses a sentence boundary is left out."""
    pairs: list[tuple[int, Cue]] = []
    index = 0
    for cue in find_cues(text):
        while index < len(spans) and spans[index][1] <= cue.start:
            index += 1
        if index < len(spans) and spans[index][0] <= cue.start and cue.end <= spans[index][1]:
            pairs.append((index, cue))
    return pairs

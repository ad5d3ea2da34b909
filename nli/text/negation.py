"""Negation: its cues, found fast in text when an index is built, and what a cue negates, by NegEx's rules.

The list of cues is data (cues.yaml). An Aho-Corasick automaton finds every form in one pass, at some 300,000 sentences a second.

NegEx (Chapman et al. 2001): a cue negates what follows it (or, for a few, what precedes it) up to a termination term or the
sentence's end. negspacy on a blank spaCy pipeline (no model to download) finds and cleans the cues and cuts the sentence; the
spans between are the scopes. This costs some 0.2 ms per sentence, so it runs only for sentences that are shown.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import ahocorasick

from counterpoint.retrieval.core.characters import align_characters
from counterpoint.retrieval.core.values import Cue, NegationScope, Sentence, Span
from counterpoint.retrieval.core.word_list import read_shipped_yaml
from counterpoint.retrieval.runtime.without_torch import without_torch

if TYPE_CHECKING:
    from negspacy.negation import Negex


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
    data = read_shipped_yaml(Path(__file__).with_name("cues.yaml"))
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


# spaCy's vocabulary grows as it reads, so only one thread may read at a time.
_lock = threading.Lock()
# A "sentence" as long as this is a table or a list that lost its full stops: marking a scope in it helps no one.
_LONGEST = 10_000
_PUNCTUATION = " .,;:!?…"


def make_termset() -> dict[str, list[str]]:
    """The cue list in the form that negspacy expects."""
    cue_list = load_cue_list()
    return {
        "pseudo_negations": list(cue_list.pseudo),
        "preceding_negations": [form for cue in cue_list.cues if cue.direction == "after" for form in cue.forms],
        "following_negations": [form for cue in cue_list.cues if cue.direction == "before" for form in cue.forms],
        "termination": list(cue_list.termination),
    }


@cache
def _load_negex() -> Negex:
    with without_torch():
        import spacy
        from negspacy.negation import Negex

    return Negex(spacy.blank("en"), "negex", neg_termset=make_termset())


def negation_scopes(sentence: Sentence) -> tuple[NegationScope, ...]:
    """The scope of each stored cue of a sentence, as offsets into the abstract; a cue that NegEx discards has none.

    A scope ends before any punctuation that follows it, and is never empty.
    """
    if not sentence.cues or len(sentence.text) > _LONGEST:
        return ()
    aligned = align_characters(sentence.text)
    with _lock:
        negex = _load_negex()
        doc = negex.nlp(aligned.text)
        if not len(doc):
            return ()
        doc[0].is_sent_start = True
        for token in doc[1:]:
            token.is_sent_start = False
        preceding_cues, following_cues, terminations = negex.process_negations(doc)
        boundaries = negex.termination_boundaries(doc, terminations)
    stretches: list[tuple[int, int, int, int]] = []
    for matches, negates_after in ((preceding_cues, True), (following_cues, False)):
        for _, first, last in matches:
            left, right = next((b for b in boundaries if b[0] <= first < b[1]), (0, len(doc)))
            tokens = doc[last:right] if negates_after else doc[left:first]
            scope_text = tokens.text.rstrip(_PUNCTUATION)
            if scope_text:
                cue_span = doc[first:last]
                scope = aligned.locate(tokens.start_char, tokens.start_char + len(scope_text))
                stretches.append((*aligned.locate(cue_span.start_char, cue_span.end_char), *scope))
    scopes: list[NegationScope] = []
    for cue in sentence.cues:
        start, end = cue.start - sentence.start, cue.end - sentence.start
        # spaCy splits "didn't" into two tokens and matches both; overlap, not equality, decides which match is this cue's.
        own = [s for s in stretches if s[0] < end and start < s[1]]
        if own:
            best = max(own, key=lambda s: (min(s[1], end) - max(s[0], start), s[1] - s[0]))
            scopes.append(NegationScope(cue, sentence.start + best[2], sentence.start + best[3]))
    return tuple(scopes)

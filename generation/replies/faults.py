"""Faults of a language model's sentence that show by its words alone: it repeats itself, or copies what it should not.

A small model that loses its way says the same thing again and again, answers the worked example in its prompt instead of the
question, recites its instructions, or copies a document's title or background. Such a sentence may well be true and cited, so no
check of citations would find it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from generation.draft import Source
from generation.replies.copying import BACKGROUND, TITLE, Copies, are_same, split_words

_WORD = re.compile(r"\w+")
_RUN = 5
"""Words in a row: this many the same are no accident."""
_COPY_SHARE = 0.5
_LOOPS = 3
_REFERS = re.compile(
    r"(?:(?:also|however|thus|therefore|in addition|moreover|furthermore),? )?"
    r"(?:(?:they|this|these|those|such|both|its|their|he|she|his|her)\b|it\b(?! (?:is|was|has been) (?:\w+ ){1,2}that\b))",
    re.IGNORECASE,
)
_PMID = re.compile(r"\bPMIDs?\s*:?\s*(\d{5,9})", re.IGNORECASE)

_COPIED = {
    TITLE: "it copies the title of a document, which states no finding",
    BACKGROUND: "it copies the background or aim of a document, not what it found",
}


class Faults:
    """Checks the sentences of one answer in order; call `remember` for each one that is kept."""

    def __init__(self, prompt: str, sources: Sequence[Source]) -> None:
        """`prompt` is the part of the prompt that is the same for every task."""
        self._prompt = _runs(_split(prompt))
        self._pmids = {source.document.pmid for source in sources}
        self._copies = Copies(sources)
        self._word_sets: list[frozenset[str]] = []

    def find(self, sentence: str) -> str:
        """Why the sentence may not stand, as the reason shown to the reader; "" if nothing is wrong with it."""
        words = _split(sentence)
        if _loops(words):
            return "it says the same words again and again"
        if unknown := [one for one in _PMID.findall(sentence) if one not in self._pmids]:
            return f"it names PMID {unknown[0]}, which is not one of the documents"
        runs = _runs(words)
        if runs and len(runs & self._prompt) >= _COPY_SHARE * len(runs):
            return "it copies the instructions or their example"
        if any(are_same(split_words(sentence), other) for other in self._word_sets):
            return "it repeats an earlier sentence"
        return _COPIED.get(self._copies.find(sentence), "")

    def remember(self, sentence: str) -> None:
        """Remember a sentence that is kept, so that no later one repeats it."""
        self._word_sets.append(split_words(sentence))


def refers_elsewhere(sentence: str) -> bool:
    """Whether a sentence begins with a word that stands for something in another one, so that it cannot be checked alone."""
    return bool(_REFERS.match(sentence))


def _split(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1)}


def _loops(words: Sequence[str]) -> bool:
    """Whether a word occurs five times in a row, or a run of two to five words three times."""
    for length in range(1, _RUN + 1):
        need = length * _LOOPS if length > 1 else _RUN
        for at in range(len(words) - need + 1):
            part = words[at : at + need]
            if all(part[i] == part[i % length] for i in range(need)):
                return True
    return False

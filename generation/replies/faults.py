"""Faults of a language model's sentence that show by its words alone: it repeats itself, or copies what it should not.

A small model that loses its way says the same thing again and again, answers the worked example in its prompt instead of the
question, recites its instructions, or copies a document's title or background. Such a sentence may well be true and cited, so no
check of citations would find it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from generation.draft import Source
from generation.grammar import load_words, make_third_person

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
_SAME = 0.9
"""The share of words in common (Jaccard) from which two sentences are the same."""
_TITLE = "it copies the title of a document, which states no finding"
_BACKGROUND = "it copies the background or aim of a document, not what it found"
_TOKEN = re.compile(r"[\w'-]+|[:;.,?]")
_FINITE = frozenset("is are was were can cannot could may might will should does do did has have".split())
_NO_OBJECT = frozenset("of in for on and or after with from to between at by among during following : ; . , ?".split())
"""What follows "changes" or "benefits" where it is a noun."""
_NOT_PLURAL = ("ss", "us", "is")


class Faults:
    """Checks the sentences of one answer in order; call `remember` for each one that is kept."""

    def __init__(self, prompt: str, sources: Sequence[Source]) -> None:
        """`prompt` is the part of the prompt that is the same for every task."""
        self._prompt = _runs(_split(prompt))
        self._pmids = {source.document.pmid for source in sources}
        self._findings: list[frozenset[str]] = []
        self._others: list[tuple[frozenset[str], str]] = []
        self._kept: list[frozenset[str]] = []
        for source in sources:
            # Without known findings, only the titles are compared.
            for sentence in source.sentences if source.own_findings is not None else ():
                if sentence.index in (source.own_findings or ()):
                    self._findings.append(_find_words(sentence.text))
                else:
                    self._others.append((_find_words(sentence.text), _BACKGROUND))
            if not makes_statement(source.document.title):
                self._others.append((_find_words(source.document.title), _TITLE))

    def find(self, sentence: str) -> str:
        """Why the sentence may not stand, as the reason shown to the reader; "" if nothing is wrong with it."""
        words, different = _split(sentence), _find_words(sentence)
        if _loops(words):
            return "it says the same words again and again"
        if unknown := [pmid for pmid in _PMID.findall(sentence) if pmid not in self._pmids]:
            return f"it names PMID {unknown[0]}, which is not one of the documents"
        runs = _runs(words)
        if runs and len(runs & self._prompt) >= _COPY_SHARE * len(runs):
            return "it copies the instructions or their example"
        if any(_are_same(different, other) for other in self._kept):
            return "it repeats an earlier sentence"
        copied = next((fault for other, fault in self._others if _are_same(different, other)), "")
        return "" if copied and any(_are_same(different, other) for other in self._findings) else copied

    def remember(self, sentence: str) -> None:
        """Remember a sentence that is kept, so that no later one repeats it."""
        self._kept.append(_find_words(sentence))


def refers_elsewhere(sentence: str) -> bool:
    """Whether a sentence begins with a word that stands for something in another one, so that it cannot be checked alone."""
    return bool(_REFERS.match(sentence))


def makes_statement(title: str) -> bool:
    """Whether a title has a finite verb: "Statins reduce mortality" states something, "Statins and mortality" names a subject.

    Past forms do not count, since they are nearly always participles ("patients treated with"). Of 130 titles of PubMed that were
    read, six were taken for the wrong kind.
    """
    words = [token.lower() for token in _TOKEN.findall(title)]
    verbs, nouns = load_words("verbs"), load_words("also nouns")
    third = {make_third_person(base): base for base in verbs}
    for (before, word), after in zip(pairwise(words), [*words[2:], "."], strict=False):
        if word in _FINITE:
            return True
        if word in third and (third[word] not in nouns or after not in _NO_OBJECT):
            return True
        if word in verbs - nouns and before.endswith("s") and not before.endswith(_NOT_PLURAL):
            return True
    return False


def _split(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _find_words(text: str) -> frozenset[str]:
    return frozenset(_split(text))


def _are_same(words: frozenset[str], others: frozenset[str]) -> bool:
    """Whether two sentences have nearly all their words in common."""
    return len(words & others) >= _SAME * len(words | others) > 0


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

"""Sentences copied from a document that say nothing it found: its title, unless that is a statement, and its background."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from generation.draft import Source
from generation.leads.grammar import load_words, make_third_person
from retrieval.core.values import Sentence

SAME = 0.9
"""The share of words in common (Jaccard) from which two sentences are the same."""
TITLE, BACKGROUND = "title", "background"
_TOKEN = re.compile(r"[\w'-]+|[:;.,?]")
_WORD = re.compile(r"\w+")
_FINITE = frozenset("is are was were can cannot could may might will should does do did has have".split())
_NO_OBJECT = frozenset("of in for on and or after with from to between at by among during following : ; . , ?".split())
"""What follows "changes" or "benefits" where it is a noun."""
_NOT_PLURAL = ("ss", "us", "is")


class Copies:
    """The texts of an answer's documents that state no finding, to compare sentences with.

    Which sentences do is what the sources say (`Source.tells`); of those that say nothing only the titles are compared.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self._findings: list[frozenset[str]] = []
        self._others: list[tuple[frozenset[str], str]] = []
        for source in sources:
            if source.tells is not None:
                self._add_sentences(source.sentences, source.tells)
            if not makes_statement(source.document.title):
                self._others.append((split_words(source.document.title), TITLE))

    def _add_sentences(self, sentences: Sequence[Sentence], findings: frozenset[int]) -> None:
        for sentence in sentences:
            words = split_words(sentence.text)
            if sentence.index in findings:
                self._findings.append(words)
            else:
                self._others.append((words, BACKGROUND))

    def find(self, sentence: str) -> str:
        """What the sentence copies, `TITLE` or `BACKGROUND`; "" if it copies neither, or a finding too."""
        words = split_words(sentence)
        copied = next((kind for other, kind in self._others if are_same(words, other)), "")
        return "" if copied and any(are_same(words, other) for other in self._findings) else copied


def split_words(text: str) -> frozenset[str]:
    """The different words of a text, in lower case."""
    return frozenset(word.lower() for word in _WORD.findall(text))


def are_same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sentences have nearly all their words in common."""
    return len(one & other) >= SAME * len(one | other) > 0


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

"""Reading a lay claim (a headline, a patient's question) as the words that the abstract of its study would hold.

Each step works on single words, so that its effect can be measured: expansions are added to abbreviations, words that phrase a
question but do not name its subject are dropped, and the rest is lower-cased and stemmed by Lucene's English analyzer, the same
one as for the documents. "no", "not" and the like stay as long as the analyzer of the documents keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

from retrieval.bm25.java import load_java_class
from retrieval.bm25.lucene import load_pyserini, run_on_lucene_thread
from retrieval.core.characters import unify_characters
from retrieval.runtime.without_torch import without_torch
from retrieval.words.abbreviations import WORD, expand

Tokens = Callable[[Sequence[str]], list[list[str]]]
"""Texts to their index terms, in order."""
NEGATIONS = frozenset("no not nor neither never none nobody nothing without cannot".split())
"""Stop words in spaCy's list that reverse a claim: these are kept."""
_PLAIN = re.compile(r"\w+")


@cache
def _load_stop_words() -> frozenset[str]:
    with without_torch():
        from spacy.lang.en.stop_words import STOP_WORDS

    return frozenset(STOP_WORDS) - NEGATIONS


def drop_stop_words(text: str) -> str:
    """The text without spaCy's English stop words (question words and auxiliaries among them), negations kept.

    Where nothing would be left, the text as it is.
    """
    left = [word for word in WORD.findall(text) if word.lower() not in _load_stop_words() or word.isupper()]
    return " ".join(left) or text


def make_lay_query(text: str) -> str:
    """A lay claim ready for a search that stems: abbreviations written out, stop words dropped."""
    return drop_stop_words(expand(text))


def split_lower_case(texts: Sequence[str]) -> list[list[str]]:
    """Every word as it stands, lower-cased: no preprocessing, to compare with."""
    return [_PLAIN.findall(text.lower()) for text in texts]


def stem_texts(texts: Sequence[str]) -> list[list[str]]:
    """The terms that Lucene's English analyzer makes: lower-cased, its 33 stop words dropped, stemmed by Porter."""

    def analysed() -> list[list[str]]:
        analyzer = load_pyserini().analyzer(stopwords=True)
        utility = load_java_class("io.anserini.analysis.AnalyzerUtils")
        # One call into Java per text: the list as Java prints it, whose terms contain neither ", " nor brackets.
        lists = (utility.analyze(analyzer, unify_characters(text)).toString() for text in texts)
        return [found[1:-1].split(", ") if len(found) > 2 else [] for found in lists]

    return run_on_lucene_thread(analysed)

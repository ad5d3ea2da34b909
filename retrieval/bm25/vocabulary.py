"""The words of a Lucene index: which it contains, and which are spelled much like one that it does not contain.

Lucene finds the latter in its own term dictionary with an automaton. So nothing is stored beside the index, and a dictionary of
millions of terms is no slower to search.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from retrieval.bm25.java import load_java_class
from retrieval.bm25.lucene import load_pyserini, run_on_lucene_thread
from retrieval.core.characters import unify_characters
from retrieval.core.errors import IndexUnusable

_FIELD = "contents"
_ONE_AT_A_TIME = threading.Lock()
"""Pyjnius binds an overloaded method to its object for all threads: if two call it at once, one may reach the other's object."""
_SAME_BEGINNING = 1
"""Letters at the beginning of a word that are assumed to be right."""


@dataclass(frozen=True, slots=True)
class SimilarTerm:
    """A term of an index (stemmed, as stored) that is similar to a word: `edits` letters apart, in so many documents."""

    term: str
    edits: int
    documents: int


_Result = TypeVar("_Result")


def _run(work: Callable[[], _Result]) -> _Result:
    def alone() -> _Result:
        with _ONE_AT_A_TIME:
            return work()

    return run_on_lucene_thread(alone)


class Vocabulary:
    """The terms of the Lucene index in a folder; opened at the first use, safe to use from several threads at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._reader: Any = None
        self._analyzer: Any = None
        self._lock = threading.Lock()

    def stem(self, words: Sequence[str]) -> list[str]:
        """Each word as the index would store it: lower-cased and stemmed; "" if it would be no term or several."""
        return _run(lambda: [self._stem(word) for word in words])

    def count_documents(self, terms: Sequence[str]) -> list[int]:
        """How many documents contain each term (a stem)."""
        self._open()
        return _run(lambda: [self._count(term) if term else 0 for term in terms])

    def find_similar(self, term: str, edits: int) -> list[SimilarTerm]:
        """The terms at most `edits` (1 or 2) letters apart, the nearest first, then the most frequent; two transposed letters
        count as one edit."""
        self._open()
        return sorted(
            _run(lambda: self._find_similar(term, edits)),
            key=lambda one: (one.edits, -one.documents, one.term),
        )

    def find_documents(self, term: str, most: int) -> list[str]:
        """The ids of at most `most` documents that contain a term."""
        self._open()
        return _run(lambda: self._find_documents(term, most))

    def close(self) -> None:
        """Release the index's files."""
        if self._reader is not None:
            run_on_lucene_thread(self._reader.close)
            self._reader = None

    def _open(self) -> None:
        with self._lock:
            if self._reader is None:
                try:
                    self._reader = run_on_lucene_thread(self._read)
                except Exception as error:
                    raise IndexUnusable(
                        f"The words of the Lucene index in {self.folder} cannot be read; it is damaged: build it again."
                    ) from error

    def _read(self) -> Any:
        load_pyserini()
        return load_java_class("io.anserini.index.IndexReaderUtils").getReader(str(self.folder))

    def _count(self, term: str) -> int:
        return int(self._reader.docFreq(load_java_class("org.apache.lucene.index.Term")(_FIELD, term)))

    def _stem(self, word: str) -> str:
        # One analyzer for all words: with one per word, Java may collect what it holds while it is being read.
        if self._analyzer is None:
            self._analyzer = load_pyserini().analyzer(stopwords=False)
        utility = load_java_class("io.anserini.analysis.AnalyzerUtils")
        terms = utility.analyze(self._analyzer, unify_characters(word))
        return str(terms.get(0)) if terms.size() == 1 else ""

    def _find_documents(self, term: str, most: int) -> list[str]:
        name = load_java_class("org.apache.lucene.index.Term")(_FIELD, term).bytes()
        postings = load_java_class("org.apache.lucene.index.MultiTerms").getTermPostingsEnum(self._reader, _FIELD, name)
        utility, pmids = load_java_class("io.anserini.index.IndexReaderUtils"), list[str]()
        last = load_java_class("org.apache.lucene.search.DocIdSetIterator").NO_MORE_DOCS
        # Replaced and deleted documents stay in the postings until Lucene merges them away.
        live = load_java_class("org.apache.lucene.index.MultiBits").getLiveDocs(self._reader)
        while postings is not None and len(pmids) < most and (place := postings.nextDoc()) != last:
            if live is None or live.get(place):
                pmids.append(str(utility.convertLuceneDocidToDocid(self._reader, place)))
        return pmids

    def _find_similar(self, term: str, edits: int) -> list[SimilarTerm]:
        terms = load_java_class("org.apache.lucene.index.MultiTerms").getTerms(self._reader, _FIELD)
        if terms is None:
            return []
        target = load_java_class("org.apache.lucene.index.Term")(_FIELD, term)
        within = load_java_class("org.apache.lucene.search.FuzzyTermsEnum")(terms, target, edits, _SAME_BEGINNING, True)
        similar_terms = []
        while (one := within.next()) is not None:
            other = str(one.utf8ToString())
            # The boost is 1 minus edits / letters of the shorter word.
            distance = round((1 - float(within.getBoost())) * min(len(term), len(other)))
            similar_terms.append(SimilarTerm(other, distance, int(within.docFreq())))
        return similar_terms

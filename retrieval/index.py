"""An open index: BM25 over it, its vectors, the fusion of their rankings, and the documents, sentences and cues behind the hits.

An index is a folder, or is on an OpenSearch cluster and named by its address (retrieval.cluster.client). Both have the same
parts, and only this module distinguishes them.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, repeat
from pathlib import Path
from typing import TypeVar

from counterpoint.retrieval.bm25.lucene import Lucene, LucenePassages, Vocabulary
from counterpoint.retrieval.cluster.client import is_address, read_address
from counterpoint.retrieval.cluster.mapping import name_texts, read_state
from counterpoint.retrieval.cluster.search import ClusterDocuments, ClusterSearch, ClusterVectors, ClusterVocabulary
from counterpoint.retrieval.core.errors import CounterpointError
from counterpoint.retrieval.core.values import Hit, Passage
from counterpoint.retrieval.dense.encoder import Vectors
from counterpoint.retrieval.dense.search import DenseIndex, check_files, find_usable_part
from counterpoint.retrieval.store.corpus import Corpus
from counterpoint.retrieval.store.documents import Entry, Store
from counterpoint.retrieval.store.manifest import LUCENE, NAME, PASSAGES, STORE, Manifest, read_manifest
from counterpoint.retrieval.store.texts import name_passage, read_passage_name
from counterpoint.retrieval.words.forms import add_spellings

DEEPER = 10
"""If only some documents may be found, a ranking is searched this many times deeper."""


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A passage found: the `number`-th of a document's full text (`Index.passages`), with its score."""

    pmid: str
    number: int
    score: float


_Found = TypeVar("_Found", Hit, PassageHit)
Documents = Store | ClusterDocuments
"""Read access to the documents of an index, wherever they lie; safe to use from several threads at once."""


class Index:
    """The one shared index that every branch searches; safe to use from several threads at once."""

    manifest: Manifest
    store: Documents
    vocabulary: Vocabulary | ClusterVocabulary
    _searcher: Lucene | ClusterSearch
    _passages: LucenePassages | ClusterSearch | None = None
    _left_out: Collection[str] = frozenset()
    within: Corpus | None = None
    """If set, only documents of this corpus are found."""

    def __init__(self, folder: Path) -> None:
        """Open the index in `folder`, or at an address.

        Raises `IndexUnusable` if it is missing, damaged or of another version.
        """
        self.folder = folder
        self._dense: DenseIndex | ClusterVectors | None = None
        self._lock = threading.Lock()
        if is_address(folder):
            self._open_on_cluster()
        else:
            self._open_in_folder()

    def _open_in_folder(self) -> None:
        self.manifest = read_manifest(self.folder)
        data = self.folder / self.manifest.data
        self.store = Store(data / STORE)
        if self.manifest.texts:
            self._passages = LucenePassages(data / PASSAGES, self.manifest.analyzer)
        self._searcher = Lucene(data / LUCENE, self.manifest.analyzer)
        self.vocabulary = Vocabulary(data / LUCENE, self.manifest.analyzer)

    def _open_on_cluster(self) -> None:
        address = read_address(self.folder)
        state = read_state(address)
        self.manifest = state.manifest
        self.store = ClusterDocuments(address, state)
        self._searcher = ClusterSearch(address, state)
        if self.manifest.texts:
            self._passages = ClusterSearch(address, state, name_texts(state.name))
        self.vocabulary = ClusterVocabulary(address, state)

    def search(self, query: str, k: int, spellings: bool = False) -> list[Hit]:
        """The `k` best documents by BM25 (k1 0.9, b 0.4) over title and abstract, best first.

        With `spellings`, words are also searched for in their British and American spellings.
        """
        return self._take_within(self._searcher.search(add_spellings(query) if spellings else query, self._find_depth(k)), k)

    def search_fields(self, words: Sequence[str], k: int, misspelt: bool) -> list[Hit]:
        """The `k` best documents by what a paper is called: title, authors, journal and year, and the text for the other words.

        With `misspelt`, names and words of titles are also found where they are spelt almost so.
        """
        return self._take_within(self._searcher.search_fields(words, self._find_depth(k), misspelt), k) if words else []

    @property
    def has_texts(self) -> bool:
        """Whether some documents have a full text."""
        return self._passages is not None

    def search_passages(self, query: str, papers: int, spellings: bool = False) -> list[PassageHit]:
        """The best passages of full texts by BM25, best first, until they are of so many papers; none without full texts.

        `within` and `spellings` mean what they do for `search`.
        """
        if self._passages is None:
            return []
        hits, seen = list[PassageHit](), set[str]()

        def take(found: Hit) -> bool:
            hit = _read_hit(found)
            if self._keep_allowed([hit]):
                if hit.pmid not in seen and len(seen) == papers:
                    return False
                seen.add(hit.pmid)
                hits.append(hit)
            return True

        self._passages.search_until(add_spellings(query) if spellings else query, take)
        return hits

    def find_passages(self, query: str, pmids: Sequence[str], most: int) -> list[list[PassageHit]]:
        """The best passages of each of these documents by BM25, at most so many, best first; none where one has no full text."""
        if self._passages is None:
            return [[] for _ in pmids]
        beginnings = [name_passage(pmid) for pmid in pmids]
        rankings = self._passages.search_within(query, beginnings, most)
        return [[_read_hit(hit) for hit in ranking] for ranking in rankings]

    def passages(self, pmid: str) -> tuple[Passage, ...]:
        """The passages of a document's full text in order, with their sentences and where these stand; none if it has no text."""
        text = self.store.full_texts([pmid]).get(pmid)
        return text.passages if text else ()

    def search_vectors(self, encoder: str, queries: Vectors, k: int) -> list[list[Hit]]:
        """The `k` documents nearest to each query by the encoder's vectors, best first; raises as `dense` does."""
        return [self._take_within(ranking, k) for ranking in self.dense(encoder).search(queries, self._find_depth(k))]

    def _find_depth(self, k: int) -> int:
        return k if self.within is None and not self._left_out else k * DEEPER

    def _take_within(self, ranking: list[Hit], k: int) -> list[Hit]:
        return self._keep_allowed(ranking)[:k]

    def _keep_allowed(self, ranking: list[_Found]) -> list[_Found]:
        if self.within is not None:
            pmids = self.within.holds([hit.pmid for hit in ranking])
            ranking = [hit for hit in ranking if hit.pmid in pmids]
        return [hit for hit in ranking if hit.pmid not in self._left_out] if self._left_out else ranking

    def has_vectors(self, encoder: str) -> bool:
        """Whether the encoder of this name made vectors of the documents as they are now."""
        part = self.manifest.dense
        return part is not None and part.encoder == encoder and self.manifest.vectors_fit

    def dense(self, encoder: str) -> DenseIndex | ClusterVectors:
        """The vectors that the encoder of this name made of the documents; raises `IndexUnusable` if there are none."""
        on_cluster = is_address(self.folder)
        place = str(read_address(self.folder) if on_cluster else self.folder)
        part = find_usable_part(place, self.manifest, encoder)
        with self._lock:
            if self._dense is None and on_cluster:
                self._dense = ClusterVectors(read_address(self.folder), self.manifest.data, part)
            elif self._dense is None:
                check_files(self.folder / self.manifest.data, self.manifest)
                self._dense = DenseIndex(self.folder / self.manifest.data, part)
            return self._dense

    def leave_out_own_records(self) -> None:
        """From now on find no record that a full text made of itself."""
        self._left_out = self.store.list_own_records()

    def leave_out_texts(self) -> None:
        """From now on use no full text; the records that texts made of themselves stay."""
        if self._passages is not None:
            self._passages.close()
        self._passages = None
        self.store.leave_out_texts()
        self.manifest = replace(self.manifest, texts=None)

    def entries(self, pmids: Sequence[str]) -> Iterator[Entry]:
        """The documents with these ids, in order, with their sentences and cues."""
        return self.store.entries(pmids)

    def close(self) -> None:
        """Release the index's files."""
        self._dense = None
        self._searcher.close()
        if self._passages is not None:
            self._passages.close()
        self.vocabulary.close()
        self.store.close()


def _read_hit(hit: Hit) -> PassageHit:
    return PassageHit(*read_passage_name(hit.pmid), hit.score)


def lead_to_papers(hits: Iterable[PassageHit]) -> list[Hit]:
    """The papers of a ranking of passages, each by its best one."""
    best: dict[str, Hit] = {}
    for hit in hits:
        best.setdefault(hit.pmid, Hit(hit.pmid, hit.score))
    return list(best.values())


def reciprocal_rank_fusion(
    rankings: Iterable[Sequence[Hit]],
    k: int = 60,
    weights: Iterable[float] = repeat(1.0),
    votes: Iterable[int] | None = None,
) -> list[Hit]:
    """Every document of `rankings`, best first, scored by the sum of weight / (k + rank) over the rankings that contain it.

    Ranks count from 1; scores within the rankings play no part. `weights` holds one for each ranking. Of the rankings that have
    one number in `votes` only the largest part of a document's sum counts; without it each counts for itself. Ties go to the
    document met first when reading the rankings in their order, each from its top. Cormack, Clarke and Büttcher 2009
    (https://doi.org/10.1145/1571941.1572114), where k is 60 and there are no weights.
    """
    shares: dict[str, dict[int, float]] = {}
    for ranking, weight, vote in zip(rankings, weights, count() if votes is None else votes, strict=False):
        for rank, hit in enumerate(ranking, 1):
            own = shares.setdefault(hit.pmid, {})
            own[vote] = max(own.get(vote, 0.0), weight / (k + rank))
    # fsum rounds once: equal ranks give exactly the same sum, whatever the order of the rankings.
    hits = [Hit(pmid, math.fsum(own.values())) for pmid, own in shares.items()]
    return sorted(hits, key=lambda hit: -hit.score)


def read_index_manifest(place: Path) -> Manifest:
    """The manifest of an index in a folder or at an address; raises `IndexUnusable` if it is not a usable index."""
    return read_state(read_address(place)).manifest if is_address(place) else read_manifest(place)


def open_documents(place: Path) -> tuple[Documents, Manifest]:
    """The documents of an index, and its manifest, without opening the search: for callers that need no search."""
    if is_address(place):
        address = read_address(place)
        state = read_state(address)
        return ClusterDocuments(address, state), state.manifest
    manifest = read_manifest(place)
    return Store(place / manifest.data / STORE), manifest


def look_at_index(place: Path) -> Hashable | None:
    """A value that changes when an index is replaced or updated, cheap to read; None while the index is not visible."""
    try:
        if is_address(place):
            manifest = read_state(read_address(place)).manifest
            return manifest.data, manifest.version, manifest.created, manifest.dense
        status = (place / NAME).stat()
        return status.st_ino, status.st_mtime_ns, status.st_size
    except (OSError, CounterpointError):
        return None

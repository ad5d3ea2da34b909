"""Reading an index on a cluster: its rankings, its words, its documents, and its vectors.

Rankings are complete or there are none. Term statistics come from all shards together (dfs_query_then_fetch). Equal scores are
ordered by id, as in the embedded index. A search that a shard does not answer in time, or at all, is an error instead of a
shorter ranking.

Vectors are in OpenSearch's field for k-NN with a byte a dimension, searched by Lucene, whose graph is HNSW (Malkov and Yashunin,
arXiv 1603.09320). The cluster needs the plugin opensearch-knn.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA

from counterpoint.retrieval.bm25.analysis import (
    BIOMEDICAL,
    CONTENTS,
    FIELD_WEIGHTS,
    PARTS,
    SAME_BEGINNING,
    WHOLE_WEIGHT,
    find_edits,
)
from counterpoint.retrieval.bm25.lucene import SimilarTerm
from counterpoint.retrieval.cluster.client import Address, ClusterBusy, connect, read_access, translate_faults
from counterpoint.retrieval.cluster.mapping import ENCODED, TEXT_ROW, VECTOR, State, name_texts, read_row, read_text
from counterpoint.retrieval.core.characters import unify_characters
from counterpoint.retrieval.core.errors import BadInput, IndexUnusable
from counterpoint.retrieval.core.values import Hit
from counterpoint.retrieval.dense.encoder import Vectors
from counterpoint.retrieval.store.documents import Entry
from counterpoint.retrieval.store.manifest import DensePart
from counterpoint.retrieval.store.texts import StoredText

_DEPTHS = (600, 2400, 9600)
"""How deep a ranking is searched that is asked for step by step."""
_CHUNK = 1000
"""Documents read in one request."""
MOST = 100_000
"""The most documents in a ranking (`max_result_window` of the mapping)."""


def run_search(address: Address, name: str, body: dict[str, Any], preference: str = "") -> dict[str, Any]:
    """A cluster's complete answer to a search of the index with this real name, from every shard and in time.

    Raises `ClusterBusy` if some shard did not answer.
    """
    seconds = read_access().seconds
    params: dict[str, Any] = {
        "search_type": "dfs_query_then_fetch",
        "allow_partial_search_results": "false",
        "cancel_after_time_interval": f"{max(1, round(seconds * 1000))}ms",
        "request_timeout": seconds + 2.0,
    }
    if preference:
        params["preference"] = preference
    with translate_faults(address, opened=True):
        reply: dict[str, Any] = connect(address).search(
            index=name, body=body | {"timeout": f"{max(1, round(seconds * 1000))}ms"}, params=params
        )
    check_complete(reply, address)
    return reply


def check_complete(reply: dict[str, Any], address: Address) -> None:
    """Raise `ClusterBusy` unless every shard answered in time."""
    shards = reply["_shards"]
    if reply.get("timed_out") or shards["failed"] or shards["successful"] < shards["total"]:
        what = "in time" if reply.get("timed_out") else f"on {shards['total'] - shards['successful']} of {shards['total']} shards"
        raise ClusterBusy(f"The index {address} could not be searched {what}, so there is no ranking; try again in seconds.")


def run_searches(address: Address, name: str, bodies: Sequence[dict[str, Any]], opened: bool = True) -> list[dict[str, Any]]:
    """Complete answers to several searches at once; raises as `run_search` does."""
    lines = [line for body in bodies for line in ({"allow_partial_search_results": False}, body)]
    with translate_faults(address, opened):
        replies: list[dict[str, Any]] = connect(address).msearch(index=name, body=lines)["responses"]
    for reply in replies:
        check_complete(reply if "_shards" in reply else {"_shards": {"failed": 1, "successful": 0, "total": 1}}, address)
    return replies


def rank(address: Address, name: str, query: dict[str, Any], k: int, preference: str = "") -> list[Hit]:
    """The `k` best documents for a query, best first, ties by id."""
    body = {
        "query": query,
        "size": k,
        # Ids come from columns, as sort values; no stored field is read.
        "sort": [{"_score": "desc"}, {"pmid": "asc"}],
        "stored_fields": "_none_",
        "track_total_hits": False,
    }
    hits = run_search(address, name, body, preference)["hits"]["hits"]
    return [Hit(str(hit["sort"][1]), float(hit["sort"][0])) for hit in hits]


def read_sources(
    address: Address, name: str, ids: Sequence[str], fields: Sequence[str] = (), now: bool = False
) -> dict[str, dict[str, Any]]:
    """The sources (or these fields of them) of those documents that the index of this real name holds, by id: as searches see
    them or, with `now`, even if just written."""
    usable = [id for id in dict.fromkeys(ids) if 0 < len(id.encode("utf-8", "replace")) <= 512 and not id.startswith("__")]
    params: dict[str, Any] = {"realtime": "true" if now else "false"} | ({"_source_includes": ",".join(fields)} if fields else {})
    sources: dict[str, dict[str, Any]] = {}
    for at in range(0, len(usable), _CHUNK):
        body = {"ids": [id.encode("utf-8", "replace").decode() for id in usable[at : at + _CHUNK]]}
        with translate_faults(address, opened=not now):
            found = connect(address).mget(index=name, body=body, params=params | ({"request_timeout": 60} if now else {}))["docs"]
        for document in found:
            if "error" in document:
                raise ClusterBusy(f"Documents of {address} could not be read ({document['error'].get('type')}); try again.")
        sources |= {document["_id"]: document["_source"] for document in found if document["found"]}
    return sources


def page_sources(
    address: Address, name: str, query: dict[str, Any], fields: Sequence[str] | bool, batch: int, order: str = "pmid"
) -> Iterator[list[dict[str, Any]]]:
    """The sources of all documents that a query finds, restricted to `fields`, in order of PMID, in batches."""
    body: dict[str, Any] = {"query": query, "size": batch, "sort": [order], "_source": fields, "track_total_hits": False}
    while hits := run_search(address, name, body)["hits"]["hits"]:
        yield [hit["_source"] for hit in hits]
        body["search_after"] = hits[-1]["sort"]


class ClusterSearch:
    """The rankings of an index on a cluster; safe to use from several threads at once."""

    def __init__(self, address: Address, state: State, name: str = "") -> None:
        """For the index of this state, or for that of this real name, which is analysed alike."""
        self.address, self.name, self._analyzer = address, name or state.name, state.manifest.analyzer

    def search(self, query: str, k: int, beginning: str = "") -> list[Hit]:
        """The `k` best documents for a bag-of-words query, best first, ties by id; only those whose id begins so.

        Raises `BadInput` for a query of too many words and `ClusterBusy` if no complete ranking is available now.
        """
        query = unify_characters(query).strip()
        if not query or k < 1:
            return []
        if k > MOST:
            raise BadInput(f"A ranking on a cluster has at most {MOST:,} documents, not {k:,}; ask for fewer.")
        asked = self._make_query(query)
        if beginning:
            asked = {"bool": {"must": asked, "filter": {"prefix": {"pmid": beginning}}}}
        return self._rank(asked, query, k)

    def _rank(self, asked: dict[str, Any], query: str, k: int) -> list[Hit]:
        # The same shard copies for the same query: copies may differ in the deleted documents that they still count.
        return rank(self.address, self.name, asked, k, preference=hashlib.sha256(query.encode()).hexdigest()[:16])

    def search_fields(self, words: Sequence[str], k: int, misspelt: bool) -> list[Hit]:
        """The `k` best documents by title, authors, journal, year and text, as `Lucene.search_fields` finds them."""
        shoulds = []
        for word in words:
            edits, matches = find_edits(word) if misspelt else 0, []
            for field, (weight, near_weight) in FIELD_WEIGHTS.items():
                name = field if field == CONTENTS else f"fields.{field}"
                matches.append({"match": {name: {"query": word, "boost": weight}}})
                if edits and near_weight:
                    near = {"query": word, "boost": near_weight, "fuzziness": edits, "prefix_length": SAME_BEGINNING}
                    matches.append({"match": {name: near}})
            shoulds.append({"dis_max": {"queries": matches}})
        return self._rank({"bool": {"should": shoulds}}, " ".join(words), k)

    def search_until(self, query: str, take: Callable[[Hit], bool]) -> None:
        """Give `take` the best documents, best first, until it returns False or there are no more."""
        given = 0
        for depth in _DEPTHS:
            ranking = self.search(query, depth)
            if not all(map(take, ranking[given:])) or len(ranking) < depth:
                return
            given = depth

    def search_within(self, query: str, beginnings: Sequence[str], k: int) -> list[list[Hit]]:
        """The same for each of these beginnings of ids, among the documents whose id begins so."""
        return [self.search(query, k, beginning) for beginning in beginnings]

    def _make_query(self, query: str) -> dict[str, Any]:
        if self._analyzer != BIOMEDICAL:
            return {"match": {CONTENTS: {"query": query}}}
        # What both analyzers find counts in full; the wholes of words with hyphens, which one finds, count as that one does.
        weights = {PARTS: 1 - WHOLE_WEIGHT, BIOMEDICAL: WHOLE_WEIGHT}
        matches = [
            {"match": {CONTENTS: {"query": query, "analyzer": analyzer, "boost": boost}}} for analyzer, boost in weights.items()
        ]
        return {"bool": {"should": matches}}

    def close(self) -> None:
        """Do nothing: only the process's one client is open."""


_MOST_SIMILAR = 50


class ClusterVocabulary:
    """The terms of an index on a cluster; safe to use from several threads at once."""

    def __init__(self, address: Address, state: State) -> None:
        self.address, self._name, self._analyzer = address, state.name, state.manifest.analyzer

    def stem(self, words: Sequence[str]) -> list[str]:
        """Each word as the index would store it: lower-cased and stemmed; "" if it would be no term or several.

        Of a word with a hyphen this is the whole, where there is one.
        """
        if not words:
            return []
        clean, stems = [unify_characters(word) for word in words], [Counter[str]() for _ in words]
        for terms, found in zip(stems, self._analyse(self._analyzer, clean), strict=True):
            terms.update(found)
        if self._analyzer == BIOMEDICAL and any(terms.total() > 1 for terms in stems):
            for terms, parts in zip(stems, self._analyse(PARTS, clean), strict=True):
                if terms.total() > 1:
                    terms.subtract(parts)
        return [next(iter(+terms)) if (+terms).total() == 1 else "" for terms in stems]

    def _analyse(self, analyzer: str, words: Sequence[str]) -> list[list[str]]:
        """The terms of each word."""
        with translate_faults(self.address, opened=True):
            body = {"analyzer": analyzer, "text": "\n".join(words)}
            tokens = connect(self.address).indices.analyze(index=self._name, body=body)["tokens"]
        # Offsets count UTF-16 code units, as in Java.
        lengths = [len(word.encode("utf-16-le")) // 2 + 1 for word in words]
        starts = list(accumulate(lengths[:-1], initial=0))
        terms: list[list[str]] = [[] for _ in words]
        for token in tokens:
            terms[bisect_right(starts, token["start_offset"]) - 1].append(str(token["token"]))
        return terms

    def count_documents(self, terms: Sequence[str]) -> list[int]:
        """How many documents contain each term (a stem)."""
        stems = [term for term in dict.fromkeys(terms) if term]
        bodies = [{"size": 0, "track_total_hits": True, "query": _hold(term)} for term in stems]
        replies = run_searches(self.address, self._name, bodies) if bodies else []
        counts = {term: int(reply["hits"]["total"]["value"]) for term, reply in zip(stems, replies, strict=True)}
        return [counts.get(term, 0) for term in terms]

    def find_similar(self, term: str, edits: int) -> list[SimilarTerm]:
        """The terms at most `edits` (1 or 2) letters apart, the nearest first, then the most frequent; two transposed letters
        count as one edit."""
        options = {
            "field": CONTENTS, "analyzer": "keyword", "suggest_mode": "always", "max_edits": edits, "size": _MOST_SIMILAR,
            "prefix_length": SAME_BEGINNING, "min_word_length": 1, "string_distance": "damerau_levenshtein", "accuracy": 0.0,
        }  # fmt: skip
        reply = run_search(self.address, self._name, {"size": 0, "suggest": {"near": {"text": term, "term": options}}})
        similar_terms = [
            SimilarTerm(str(option["text"]), OSA.distance(term, option["text"]), int(option["freq"]))
            for option in reply["suggest"]["near"][0]["options"]
        ]
        near = [similar for similar in similar_terms if similar.edits <= edits]
        return sorted(near, key=lambda similar: (similar.edits, -similar.documents, similar.term))

    def find_documents(self, term: str, most: int) -> list[str]:
        """The ids of at most `most` documents that contain a term."""
        body = {"query": _hold(term), "size": most, "sort": ["pmid"], "stored_fields": "_none_"}
        return [str(hit["sort"][0]) for hit in run_search(self.address, self._name, body)["hits"]["hits"]]

    def close(self) -> None:
        """Do nothing: only the process's one client is open."""


def _hold(term: str) -> dict[str, object]:
    return {"constant_score": {"filter": {"term": {CONTENTS: term}}}}


class ClusterDocuments:
    """Read access to the documents; safe to use from several threads at once."""

    def __init__(self, address: Address, state: State) -> None:
        self.address, self._name, self._cue_names = address, state.name, state.cue_names
        self._texts = name_texts(state.name) if state.manifest.texts else ""

    def entries(self, pmids: Sequence[str]) -> Iterator[Entry]:
        """The stored documents of `pmids`, in their order.

        Raises `ClusterBusy` if one has been deleted since it was found.
        """
        for at in range(0, len(pmids), _CHUNK):
            chunk = pmids[at : at + _CHUNK]
            sources = read_sources(self.address, self._name, chunk)
            for pmid in chunk:
                if pmid not in sources:
                    raise ClusterBusy(f"Document {pmid} was deleted from {self.address} while it was read; try again.")
                yield self._make_entry(sources[pmid])

    def get(self, pmid: str) -> Entry | None:
        """One document, or None if the index does not contain it."""
        source = read_sources(self.address, self._name, [pmid]).get(pmid)
        return self._make_entry(source) if source else None

    def get_by_doi(self, doi: str) -> Entry | None:
        """The document with a DOI (in lower case), or None if the index has none."""
        return self._get_by("doi", doi)

    def get_by_pmcid(self, pmcid: str) -> Entry | None:
        """The document with a PMCID ("PMC123"); None if there is none."""
        return self._get_by("pmcid", pmcid)

    def _get_by(self, field: str, value: str) -> Entry | None:
        hits = self._find({"query": {"term": {field: value}}, "size": 1, "sort": ["pmid"]}) if value else []
        return self._make_entry(hits[0]["_source"]) if hits else None

    def texts(self, batch: int) -> Iterator[list[tuple[str, str, str]]]:
        """Every document's PMID, title and abstract, in order of PMID, in batches."""
        for hits in self.pages(batch, ["pmid", "title", "abstract"]):
            yield [(hit["pmid"], hit["title"], hit["abstract"]) for hit in hits]

    def pages(self, batch: int, fields: Sequence[str] | bool = True) -> Iterator[list[dict[str, Any]]]:
        """The sources of all documents, restricted to `fields`, in order of PMID, in batches."""
        return page_sources(self.address, self._name, {"exists": {"field": "pmid"}}, fields, batch)

    def sample(self, most: int) -> list[Entry]:
        """At most `most` documents, the first by a hash of their texts: the same ones each time."""
        body = {"query": {"exists": {"field": "pmid"}}, "size": most, "sort": [{"limbs.l0": "asc"}, {"pmid": "asc"}]}
        return [self._make_entry(hit["_source"]) for hit in self._find(body)]

    def holds(self, pmids: Sequence[str]) -> set[str]:
        """Those of `pmids` that the index contains."""
        return set(read_sources(self.address, self._name, pmids, ["pmid"]))

    def read_versions(self, pmids: Sequence[str]) -> dict[str, int]:
        """The index version that added the stored text of each of `pmids`; those not in the index are left out."""
        sources = read_sources(self.address, self._name, pmids, ["written"])
        versions = {pmid: int(source["written"]) for pmid, source in sources.items()}
        for pmid, source in self._fetch_texts(list(versions), ["written"]).items():
            versions[pmid] = max(versions[pmid], int(source["written"]))
        return versions

    def full_texts(self, pmids: Sequence[str]) -> dict[str, StoredText]:
        """The full texts of those of `pmids` that have one."""
        return {pmid: read_text(source, self._cue_names) for pmid, source in self._fetch_texts(pmids).items()}

    def hash_texts(self, pmids: Sequence[str]) -> dict[str, str]:
        """The SHA-256 of the full text of each of `pmids` that has one."""
        return {pmid: str(source[TEXT_ROW][8]) for pmid, source in self._fetch_texts(pmids, [TEXT_ROW]).items()}

    def list_own_records(self) -> frozenset[str]:
        """The ids of the documents that a full text made of itself."""
        return frozenset(source[TEXT_ROW][0] for page in self.text_pages([TEXT_ROW]) for source in page if source[TEXT_ROW][1])

    def text_pages(self, fields: Sequence[str] | bool = True) -> Iterator[list[dict[str, Any]]]:
        """The sources of all full texts, restricted to `fields`, in batches."""
        if self._texts:
            yield from page_sources(self.address, self._texts, {"exists": {"field": "text_of"}}, fields, 100, "text_of")

    def leave_out_texts(self) -> None:
        """From now on be as if there were no full texts."""
        self._texts = ""

    def _fetch_texts(self, pmids: Sequence[str], fields: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
        return read_sources(self.address, self._texts, pmids, fields) if self._texts else {}

    def _find(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        hits: list[dict[str, Any]] = run_search(self.address, self._name, body)["hits"]["hits"]
        return hits

    def _make_entry(self, source: dict[str, Any]) -> Entry:
        return Entry(read_row(source), self._cue_names)

    def close(self) -> None:
        """Do nothing: only the process's one client is open."""


FACTORY = "byte "
"""How the part of a manifest on a cluster names its kind, before the largest value that a byte stands for."""
_MOST_BY_VECTORS = 10_000
"""The most documents that a search by vectors returns; the plugin's limit."""
_BREADTH = 200
"""The fewest candidates that Lucene keeps while it walks the graph."""


def make_field(width: int) -> dict[str, Any]:
    """The field of the vectors and, beside it, that of what encoded them."""
    graph = {"name": "hnsw", "engine": "lucene", "space_type": "innerproduct", "parameters": {"m": 16, "ef_construction": 128}}
    vector = {"type": "knn_vector", "dimension": width, "data_type": "byte", "method": graph}
    return {"properties": {VECTOR: vector, ENCODED: {"type": "keyword"}}}


def quantise(vectors: Vectors, top: float) -> NDArray[np.int8]:
    """[texts, width] as bytes: `top` becomes 127, and what is larger does too."""
    numbers: NDArray[np.int8] = np.clip(np.rint(vectors * (127 / top)), -128, 127).astype(np.int8)
    return numbers


class ClusterVectors:
    """The vectors of an index on a cluster, for search; safe to use from several threads at once."""

    def __init__(self, address: Address, name: str, part: DensePart) -> None:
        self._address, self._name, self._part = address, name, part

    def search(self, queries: Vectors, k: int) -> list[list[Hit]]:
        """The `k` documents with the highest inner product for each of `queries` [queries, width], best first, ties by PMID.

        They are found approximately, and no more than 10,000. Raises `IndexUnusable` for queries of another width.
        """
        if queries.shape[1] != self._part.width:
            raise IndexUnusable(
                f"The vectors of {self._address} have {self._part.width} dimensions and the query's {queries.shape[1]}; the "
                "encoder is not the one that made them."
            )
        return [self._search_one(query, min(k, _MOST_BY_VECTORS)) for query in queries]

    def _search_one(self, query: Vectors, k: int) -> list[Hit]:
        # The scale of a query changes no ranking.
        (numbers,) = quantise(query[None], float(np.abs(query).max()) or 1.0).tolist()
        near = {"vector": numbers, "k": k, "method_parameters": {"ef_search": max(k, _BREADTH)}}
        return rank(self._address, self._name, {"knn": {VECTOR: near}}, k)

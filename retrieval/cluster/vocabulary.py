"""The words of an index on a cluster: which it contains, and which are spelled much like one that it does not contain."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from rapidfuzz.distance import OSA

from retrieval.bm25.vocabulary import SimilarTerm
from retrieval.cluster.address import Address
from retrieval.cluster.client import connect
from retrieval.cluster.faults import translate_faults
from retrieval.cluster.mapping import ANALYZER, CONTENTS
from retrieval.cluster.search import check_complete, run_search
from retrieval.core.characters import unify_characters

_SAME_BEGINNING = 1
"""Letters at the beginning of a word that are assumed to be right."""
_MOST_SIMILAR = 50


class ClusterVocabulary:
    """The terms of an index on a cluster; safe to use from several threads at once."""

    def __init__(self, address: Address, name: str) -> None:
        self.address, self._name = address, name

    def stem(self, words: Sequence[str]) -> list[str]:
        """Each word as the index would store it: lower-cased and stemmed; "" if it would be no term or several."""
        if not words:
            return []
        clean = [unify_characters(word) for word in words]
        with translate_faults(self.address, opened=True):
            body = {"analyzer": ANALYZER, "text": "\n".join(clean)}
            tokens = connect(self.address).indices.analyze(index=self._name, body=body)["tokens"]
        # Offsets count UTF-16 code units, as in Java.
        lengths = [len(word.encode("utf-16-le")) // 2 + 1 for word in clean]
        starts = list(accumulate(lengths[:-1], initial=0))
        stems: list[list[str]] = [[] for _ in words]
        for token in tokens:
            stems[bisect_right(starts, token["start_offset"]) - 1].append(str(token["token"]))
        return [terms[0] if len(terms) == 1 else "" for terms in stems]

    def count_documents(self, terms: Sequence[str]) -> list[int]:
        """How many documents contain each term (a stem)."""
        stems = [term for term in dict.fromkeys(terms) if term]
        if not stems:
            return [0 for _ in terms]
        lines: list[dict[str, object]] = []
        for term in stems:
            lines += [{"allow_partial_search_results": False}, {"size": 0, "track_total_hits": True, "query": _hold(term)}]
        with translate_faults(self.address, opened=True):
            responses = connect(self.address).msearch(index=self._name, body=lines)["responses"]
        counts: dict[str, int] = {}
        for term, one in zip(stems, responses, strict=True):
            check_complete(one if "_shards" in one else {"_shards": {"failed": 1, "successful": 0, "total": 1}}, self.address)
            counts[term] = int(one["hits"]["total"]["value"])
        return [counts.get(term, 0) for term in terms]

    def find_similar(self, term: str, edits: int) -> list[SimilarTerm]:
        """The terms at most `edits` (1 or 2) letters apart, the nearest first, then the most frequent; two transposed letters
        count as one edit."""
        options = {
            "field": CONTENTS, "analyzer": "keyword", "suggest_mode": "always", "max_edits": edits, "size": _MOST_SIMILAR,
            "prefix_length": _SAME_BEGINNING, "min_word_length": 1, "string_distance": "damerau_levenshtein", "accuracy": 0.0,
        }  # fmt: skip
        reply = run_search(self.address, self._name, {"size": 0, "suggest": {"near": {"text": term, "term": options}}})
        similar_terms = [
            SimilarTerm(str(one["text"]), OSA.distance(term, one["text"]), int(one["freq"]))
            for one in reply["suggest"]["near"][0]["options"]
        ]
        return sorted((one for one in similar_terms if one.edits <= edits), key=lambda one: (one.edits, -one.documents, one.term))

    def find_documents(self, term: str, most: int) -> list[str]:
        """The ids of at most `most` documents that contain a term."""
        body = {"query": _hold(term), "size": most, "sort": ["pmid"], "stored_fields": "_none_"}
        return [str(hit["sort"][0]) for hit in run_search(self.address, self._name, body)["hits"]["hits"]]

    def close(self) -> None:
        """Do nothing: only the process's one client is open."""


def _hold(term: str) -> dict[str, object]:
    return {"constant_score": {"filter": {"term": {CONTENTS: term}}}}

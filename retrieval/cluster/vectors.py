"""The vectors of an index on a cluster: OpenSearch's field for k-NN with a byte a dimension, searched by Lucene.

Lucene's graph is HNSW (Malkov and Yashunin, arXiv 1603.09320). The cluster needs the plugin opensearch-knn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterpoint.retrieval.cluster.client import Address
from counterpoint.retrieval.cluster.mapping import ENCODED, VECTOR
from counterpoint.retrieval.cluster.search import run_search
from counterpoint.retrieval.core.errors import IndexUnusable
from counterpoint.retrieval.core.values import Hit
from counterpoint.retrieval.dense.encoder import Vectors
from counterpoint.retrieval.store.manifest import DensePart

FACTORY = "byte "
"""How the part of a manifest on a cluster names its kind, before the largest value that a byte stands for."""
_MOST = 10_000
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
        return [self._search_one(query, min(k, _MOST)) for query in queries]

    def _search_one(self, query: Vectors, k: int) -> list[Hit]:
        # The scale of a query changes no ranking.
        (numbers,) = quantise(query[None], float(np.abs(query).max()) or 1.0).tolist()
        near = {"vector": numbers, "k": k, "method_parameters": {"ef_search": max(k, _BREADTH)}}
        body = {
            "query": {"knn": {VECTOR: near}},
            "size": k,
            "sort": [{"_score": "desc"}, {"pmid": "asc"}],
            "stored_fields": "_none_",
            "track_total_hits": False,
        }
        hits = run_search(self._address, self._name, body)["hits"]["hits"]
        return [Hit(str(hit["sort"][1]), float(hit["sort"][0])) for hit in hits]

"""BM25 on a cluster: complete rankings or none.

Term statistics come from all shards together (dfs_query_then_fetch). Equal scores are ordered by id, as in the embedded index.
A search that a shard does not answer in time, or at all, is an error instead of a shorter ranking.
"""

from __future__ import annotations

import hashlib
from typing import Any

from retrieval.cluster.address import Address
from retrieval.cluster.client import connect, read_access
from retrieval.cluster.faults import ClusterBusy, translate_faults
from retrieval.cluster.mapping import CONTENTS
from retrieval.core.characters import unify_characters
from retrieval.core.errors import BadInput
from retrieval.core.values import Hit

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


class ClusterSearch:
    """The rankings of an index on a cluster; safe to use from several threads at once."""

    def __init__(self, address: Address, name: str) -> None:
        self.address, self.name = address, name

    def search(self, query: str, k: int) -> list[Hit]:
        """The `k` best documents for a bag-of-words query, best first, ties by id.

        Raises `BadInput` for a query of too many words and `ClusterBusy` if no complete ranking is available now.
        """
        query = unify_characters(query).strip()
        if not query or k < 1:
            return []
        if k > MOST:
            raise BadInput(f"A ranking on a cluster has at most {MOST:,} documents, not {k:,}; ask for fewer.")
        body = {
            "query": {"match": {CONTENTS: {"query": query}}},
            "size": k,
            # Ids come from columns, as sort values; no stored field is read.
            "sort": [{"_score": "desc"}, {"pmid": "asc"}],
            "stored_fields": "_none_",
            "track_total_hits": False,
        }
        # The same shard copies for the same query: copies may differ in the deleted documents that they still count.
        reply = run_search(self.address, self.name, body, preference=hashlib.sha256(query.encode()).hexdigest()[:16])
        return [Hit(str(hit["sort"][1]), float(hit["sort"][0])) for hit in reply["hits"]["hits"]]

    def close(self) -> None:
        """Do nothing: only the process's one client is open."""

"""The end of a build or update on a cluster: marking retractions, counting documents, writing the manifest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from indexes.cluster.bulk import BulkSender, index_action
from retrieval.cluster.address import Address
from retrieval.cluster.client import connect
from retrieval.cluster.faults import translate_faults
from retrieval.cluster.mapping import LIMBS
from retrieval.cluster.records import add_up, derive
from retrieval.cluster.search import run_search
from retrieval.cluster.state import MANIFEST
from retrieval.store.manifest import IndexCounts, Manifest

_PAGE = 1000
_LONG = 600


def refresh(address: Address, name: str) -> None:
    """Let searches see what was written."""
    with translate_faults(address):
        connect(address).indices.refresh(index=name, params={"request_timeout": _LONG})


def mark_retractions(address: Address, name: str) -> None:
    """Mark the documents that notices in the index point to, whichever came first, and unmark those that none points to.

    A document's own statement that it is retracted (1) stays. Needs a refresh before, and makes one after.
    """
    sources = _find(address, name, {"exists": {"field": "retracts"}}, ["notices", "pmid"])
    targets = {target for source in sources for target in derive_targets(source)}
    additions = [one for ids in _split(sorted(targets)) for one in _find(address, name, _among(ids, 0))]
    retractions = _find(address, name, {"term": {"retracted": 2}})
    sender = BulkSender(address, name)
    try:
        _rewrite(sender, additions, 2)
        _rewrite(sender, (one for one in retractions if one["pmid"] not in targets), 0)
    finally:
        sender.close()
    refresh(address, name)


def derive_targets(source: Mapping[str, Any]) -> list[str]:
    """The PMIDs that a document's notices retract."""
    blank = {"pmid": "", "title": "", "abstract": "", "boundaries": "", "cues": ""}
    targets: list[str] = derive({**blank, "notices": source["notices"]})["retracts"]
    return targets


def count(address: Address, name: str) -> tuple[IndexCounts, str]:
    """The counts of an index and the hash of its texts, added up by the cluster; unrefreshed writes do not count."""
    fields = ["sentence_count", "cue_count", "cue_sentence_count", *(f"limbs.l{place}" for place in range(LIMBS))]
    body = {
        "query": {"exists": {"field": "pmid"}},
        "size": 0,
        "track_total_hits": True,
        "aggs": {field: {"sum": {"field": field}} for field in fields}
        | {"retracted": {"filter": {"range": {"retracted": {"gt": 0}}}}},
    }
    reply = run_search(address, name, body)
    sums = {field: float(reply["aggregations"][field]["value"]) for field in fields}
    sentences, cues, cue_sentences = (round(sums[field]) for field in fields[:3])
    retractions = int(reply["aggregations"]["retracted"]["doc_count"])
    counts = IndexCounts(int(reply["hits"]["total"]["value"]), sentences, cues, cue_sentences, retractions)
    return counts, add_up([sums[field] for field in fields[3:]])


def write_manifest(address: Address, name: str, manifest: Manifest, cue_names: Mapping[int, str]) -> None:
    """Put the manifest in place: from now on it describes the index."""
    source = {"manifest": json.dumps(asdict(manifest)), "cue_names": {str(number): cue for number, cue in cue_names.items()}}
    with translate_faults(address):
        connect(address).index(index=name, id=MANIFEST, body=source, params={"request_timeout": 60})


def _find(address: Address, name: str, query: dict[str, Any], fields: list[str] | bool = True) -> list[dict[str, Any]]:
    """The sources of all documents that a query finds."""
    body: dict[str, Any] = {"query": query, "size": _PAGE, "sort": ["pmid"], "_source": fields, "track_total_hits": False}
    sources: list[dict[str, Any]] = []
    while hits := run_search(address, name, body)["hits"]["hits"]:
        sources += [hit["_source"] for hit in hits]
        body["search_after"] = hits[-1]["sort"]
    return sources


def _among(ids: list[str], mark: int) -> dict[str, Any]:
    return {"bool": {"filter": [{"terms": {"pmid": ids}}, {"term": {"retracted": mark}}]}}


def _split(ids: list[str]) -> Iterator[list[str]]:
    return (ids[at : at + _PAGE] for at in range(0, len(ids), _PAGE))


def _rewrite(sender: BulkSender, sources: Iterable[dict[str, Any]], mark: int) -> None:
    """Write documents again with another mark, at their own place in the order of writes."""
    revisions = [one | {"retracted": mark} | derive(one) for one in sources]
    sender.send([index_action(one["pmid"], one, one["order"], again=True) for one in revisions])
    sender.wait()

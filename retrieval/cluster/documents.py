"""The documents of an index on a cluster, with the sentences and cues found when each was written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from retrieval.cluster.address import Address
from retrieval.cluster.client import connect
from retrieval.cluster.faults import ClusterBusy, translate_faults
from retrieval.cluster.records import read_row
from retrieval.cluster.search import run_search
from retrieval.cluster.state import State
from retrieval.store.rows import Entry


class ClusterDocuments:
    """Read access to the documents; safe to use from several threads at once."""

    _CHUNK = 1000

    def __init__(self, address: Address, state: State) -> None:
        self.address, self._name, self._cue_names = address, state.name, state.cue_names

    def entries(self, pmids: Sequence[str]) -> Iterator[Entry]:
        """The stored documents of `pmids`, in their order.

        Raises `ClusterBusy` if one has been deleted since it was found.
        """
        for at in range(0, len(pmids), self._CHUNK):
            chunk = pmids[at : at + self._CHUNK]
            sources = self._fetch(chunk)
            for pmid in chunk:
                if pmid not in sources:
                    raise ClusterBusy(f"Document {pmid} was deleted from {self.address} while it was read; try again.")
                yield self._make_entry(sources[pmid])

    def get(self, pmid: str) -> Entry | None:
        """One document, or None if the index does not contain it."""
        source = self._fetch([pmid]).get(pmid)
        return self._make_entry(source) if source else None

    def get_by_doi(self, doi: str) -> Entry | None:
        """The document with a DOI (in lower case), or None if the index has none."""
        hits = self._find({"query": {"term": {"doi": doi}}, "size": 1, "sort": ["pmid"]}) if doi else []
        return self._make_entry(hits[0]["_source"]) if hits else None

    def texts(self, batch: int) -> Iterator[list[tuple[str, str, str]]]:
        """Every document's PMID, title and abstract, in order of PMID, in batches."""
        for hits in self.pages(batch, ["pmid", "title", "abstract"]):
            yield [(one["pmid"], one["title"], one["abstract"]) for one in hits]

    def pages(self, batch: int, fields: Sequence[str] | bool = True) -> Iterator[list[dict[str, Any]]]:
        """The sources of all documents, restricted to `fields`, in order of PMID, in batches."""
        body: dict[str, Any] = {"query": {"exists": {"field": "pmid"}}, "size": batch, "sort": ["pmid"], "_source": fields}
        body["track_total_hits"] = False
        while hits := self._find(body):
            yield [hit["_source"] for hit in hits]
            body["search_after"] = hits[-1]["sort"]

    def sample(self, most: int) -> list[Entry]:
        """At most `most` documents, the first by a hash of their texts: the same ones each time."""
        body = {"query": {"exists": {"field": "pmid"}}, "size": most, "sort": [{"limbs.l0": "asc"}, {"pmid": "asc"}]}
        return [self._make_entry(hit["_source"]) for hit in self._find(body)]

    def holds(self, pmids: Sequence[str]) -> set[str]:
        """Those of `pmids` that the index contains."""
        return set(self._fetch_all(pmids, ["pmid"]))

    def read_versions(self, pmids: Sequence[str]) -> dict[str, int]:
        """The index version that added the stored text of each of `pmids`; those not in the index are left out."""
        return {pmid: int(source["written"]) for pmid, source in self._fetch_all(pmids, ["written"]).items()}

    def _fetch_all(self, pmids: Sequence[str], fields: list[str]) -> dict[str, dict[str, Any]]:
        sources: dict[str, dict[str, Any]] = {}
        for at in range(0, len(pmids), self._CHUNK):
            sources |= self._fetch(pmids[at : at + self._CHUNK], fields)
        return sources

    def _fetch(self, pmids: Sequence[str], fields: list[str] | None = None) -> dict[str, dict[str, Any]]:
        ids = [pmid for pmid in dict.fromkeys(pmids) if 0 < len(pmid.encode("utf-8", "replace")) <= 512]
        if not ids:
            return {}
        # What searches see, without later writes.
        params: dict[str, Any] = {"realtime": "false"} | ({"_source_includes": ",".join(fields)} if fields else {})
        with translate_faults(self.address, opened=True):
            body = {"ids": [pmid.encode("utf-8", "replace").decode() for pmid in ids]}
            reply = connect(self.address).mget(index=self._name, body=body, params=params)
        for one in reply["docs"]:
            if "error" in one:
                raise ClusterBusy(f"Documents of {self.address} could not be read ({one['error'].get('type')}); try again.")
        return {one["_id"]: one["_source"] for one in reply["docs"] if one["found"] and not one["_id"].startswith("__")}

    def _find(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        hits: list[dict[str, Any]] = run_search(self.address, self._name, body)["hits"]["hits"]
        return hits

    def _make_entry(self, source: dict[str, Any]) -> Entry:
        return Entry(read_row(source), self._cue_names)

    def close(self) -> None:
        """Do nothing: only the process's one client is open."""

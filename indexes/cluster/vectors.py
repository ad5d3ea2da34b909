"""Adding vectors to an index on a cluster: each document is written again, in its own place of the order, with its vector."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from counterpoint.indexes.cluster.building import merge_segments, write_manifest
from counterpoint.indexes.cluster.writer import BulkSender, WriteLock, index_action, refresh
from counterpoint.indexes.plan import report_interrupt
from counterpoint.indexes.vectors import DenseReport, choose_part, make_view
from counterpoint.retrieval.cluster.client import Address, connect, translate_faults
from counterpoint.retrieval.cluster.mapping import ENCODED, VECTOR, State, derive, read_row, read_state
from counterpoint.retrieval.cluster.search import FACTORY, make_field, page_sources, quantise, run_search
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.progress import make_bar
from counterpoint.retrieval.dense.encoder import Encoder, Vectors
from counterpoint.retrieval.store.documents import Entry
from counterpoint.retrieval.store.journal import hash_json
from counterpoint.retrieval.store.manifest import DensePart, View

_PAGE = 512
_DOCUMENTS = {"exists": {"field": "pmid"}}


def add_vectors_on_cluster(address: Address, encoder: Encoder, overwrite: bool = False, view: View | None = None) -> DenseReport:
    """Give the index at an address the vectors that `encoder` makes, or bring those it has up to date (`indexes.vectors`).

    Each page of documents is in once it has been encoded, and the same call resumes after it; searches by BM25 go on meanwhile.
    Raises `BadInput` for an index that was built without OpenSearch's plugin for vectors, and for vectors of another encoder.
    """
    with report_interrupt("the vectors", "those encoded so far are saved, and the same command resumes from there"):
        name = read_state(address).name
        with WriteLock(address, name) as lock:
            state = read_state(address)
            manifest = state.manifest
            part, old = choose_part(address, manifest, encoder, overwrite, view)
            if old and manifest.vectors_fit:
                return DenseReport(old, 0)
            _make_room(address, state.name, encoder.queries(["width"]).shape[1])
            pages = _Pages(address, state, encoder, part.view)
            part = old or pages.plan()
            # Until all are in, searches use none of them.
            write_manifest(address, state.name, replace(manifest, dense=replace(part, corpus_sha256="")), state.cue_names)
            encoded = pages.write(part, manifest.counts.documents, lock)
            merge_segments(address, state.name)
            part = replace(part, documents=pages.count(part), corpus_sha256=manifest.corpus_sha256)
            write_manifest(address, state.name, replace(manifest, dense=part), state.cue_names)
            return DenseReport(part, encoded)


def _make_room(address: Address, name: str, width: int) -> None:
    """Add the field of the vectors to an index; raises `BadInput` if it cannot have vectors, or has some of another width."""
    with translate_faults(address):
        indices = connect(address).indices
        settings = indices.get_settings(index=name)[name]["settings"]["index"]
        if str(settings.get("knn")) != "true":
            raise BadInput(
                f"The index {address} can have no vectors, because the cluster lacked OpenSearch's plugin opensearch-knn when it "
                "was built, so claims are searched by BM25 alone; install it on every node and build the index again."
            )
        field = indices.get_mapping(index=name)[name]["mappings"]["properties"].get(VECTOR, {})
        if field.get("dimension", width) != width:
            raise BadInput(
                f"The index {address} has vectors of {field['dimension']} dimensions and this encoder's have {width}; build it "
                "again."
            )
        indices.put_mapping(index=name, body=make_field(width))


class _Pages:
    """The documents of an index that are still to be encoded, page by page."""

    def __init__(self, address: Address, state: State, encoder: Encoder, view: View) -> None:
        self._address, self._state, self._encoder, self._view = address, state, encoder, view

    def plan(self) -> DensePart:
        """The part to make; the largest value in the vectors of the first documents is the largest that a byte stands for."""
        vectors = self._encode(next(page_sources(self._address, self._state.name, _DOCUMENTS, True, _PAGE)))
        top = float(np.abs(vectors).max())
        return DensePart(self._encoder.name, vectors.shape[1], f"{FACTORY}{top:.3g}", 0, "", "", self._view)

    def write(self, part: DensePart, documents: int, lock: WriteLock) -> int:
        """Encode and write every document without a vector of this part; return how many there were."""
        refresh(self._address, self._state.name)
        missing = {"bool": {"filter": [_DOCUMENTS], "must_not": [{"term": {ENCODED: _name(part)}}]}}
        done = self.count(part)
        sending, bar = closing(BulkSender(self._address, self._state.name)), make_bar("vectors", "documents", documents, done)
        with sending as sender, bar:
            for sources in page_sources(self._address, self._state.name, missing, True, _PAGE):
                lock.renew()
                vectors = quantise(self._encode(sources), float(part.factory.removeprefix(FACTORY)))
                for source, vector in zip(sources, vectors.tolist(), strict=True):
                    source |= derive(source) | {VECTOR: vector, ENCODED: _name(part)}
                sender.send([index_action(one["pmid"], one, one["order"], again=True) for one in sources])
                sender.wait()
                bar.update(len(sources))
        return self.count(part) - done

    def count(self, part: DensePart) -> int:
        """How many documents have a vector of this part, as far as searches see them."""
        refresh(self._address, self._state.name)
        body = {"query": {"term": {ENCODED: _name(part)}}, "size": 0, "track_total_hits": True}
        return int(run_search(self._address, self._state.name, body)["hits"]["total"]["value"])

    def _encode(self, sources: Sequence[dict[str, Any]]) -> Vectors:
        documents = [Entry(read_row(source), self._state.cue_names).document for source in sources]
        return self._encoder.documents([make_view(document, self._view) for document in documents])


def _name(part: DensePart) -> str:
    """What each vector of a part is marked with, so that a stopped job resumes and none of another part stays."""
    return hash_json([part.encoder, part.view, part.factory])[:16]

"""A cluster without OpenSearch's plugin for vectors: an index is built as before, and says what its vectors lack."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest

from counterpoint.indexes.cluster import vectors
from counterpoint.indexes.cluster.building import open_or_restart
from counterpoint.indexes.cluster.vectors import add_vectors_on_cluster
from counterpoint.indexes.plan import make_manifest
from counterpoint.retrieval.cluster.client import read_address
from counterpoint.retrieval.cluster.mapping import State
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.store.manifest import IndexCounts
from tests.cluster.fake_server import Answer, serve_cluster
from tests.helpers.fake_encoder import WordEncoder


def answer(method: str, path: str, body: Any) -> Answer:
    if method == "HEAD":
        return 404, {}
    if path.endswith("/_settings"):
        return 200, {"pubmed-v0001": {"settings": {"index": {"number_of_shards": "1"}}}}
    if method == "PUT" and path == "/pubmed-v0001" and "knn" in body["settings"]["index"]:
        cause = {"type": "settings_exception", "reason": "unknown setting [index.knn] please check that any required plugins are"}
        return 400, {"error": cause | {"root_cause": [cause]}, "status": 400}
    return 200, {}


def test_without_the_plugin_there_is_an_index_and_no_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = make_manifest(1, "pubmed-v0001", (IndexCounts(1, 1, 0, 0, 0), "ab"), [])
    monkeypatch.setattr(vectors, "read_state", lambda _: State("pubmed-v0001", manifest, {}))
    monkeypatch.setattr(vectors, "WriteLock", lambda *_: nullcontext())
    with serve_cluster(answer) as cluster:
        address = read_address(cluster.place())
        open_or_restart(address, "pubmed-v0001", "fingerprint", 1, "biomedical")
        assert [path for method, path, *_ in cluster.asked if method == "PUT" and "_doc" not in path][-1].startswith(
            "/pubmed-v0001?"
        )
        with pytest.raises(BadInput, match="the cluster lacked OpenSearch's plugin opensearch-knn when it was built, so claims"):
            add_vectors_on_cluster(address, WordEncoder())
        assert not any("_mapping" in path for _, path, *_ in cluster.asked)

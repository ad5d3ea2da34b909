"""An index on a cluster without a cluster: addresses, what a stand-in server is asked, and every fault as one sentence."""

from __future__ import annotations

import hashlib
import json
import socket
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from counterpoint.indexes import plan
from counterpoint.retrieval.cluster import client
from counterpoint.retrieval.cluster.client import (
    Access,
    Address,
    ClusterBusy,
    EngineState,
    is_address,
    look_at_engine,
    name_place,
    read_address,
)
from counterpoint.retrieval.cluster.mapping import (
    ANALYSIS,
    LAYOUT,
    SIMILARITY,
    add_up,
    derive,
    make_mapping,
    make_source,
    read_row,
)
from counterpoint.retrieval.core.errors import BadConfig, BadInput, IndexUnusable
from counterpoint.retrieval.index import Index, read_index_manifest
from counterpoint.retrieval.store.documents import Row
from counterpoint.retrieval.store.manifest import FORMAT, IndexCounts, Manifest
from counterpoint.retrieval.store.packing import pack
from tests.cluster.fake_server import Answer, FakeCluster, serve_cluster

COMPLETE = {"total": 3, "successful": 3, "skipped": 0, "failed": 0}
ROW: Row = (
    "7", "A title", "No effect. It failed.", 2001, "J", "[]", "[]", "[]", 1, 0, pack([(0, 10), (11, 21)]), pack([(0, 1, 0, 2)]),
    "[]", "", "", "[]",
)  # fmt: skip
MANIFEST = Manifest(
    format=FORMAT, version=3, data="pubmed-v0001", created="now", counts=IndexCounts(1, 2, 1, 1, 0), corpus_sha256="ab" * 32,
    sources=(), settings=plan.list_settings(), versions={}, files={},
)  # fmt: skip


@pytest.fixture(autouse=True)
def _access() -> Iterator[None]:
    client.use_access(Access(seconds=0.5))
    yield
    client.use_access(Access())


def describe(layout: int = LAYOUT, k1: str = "0.9") -> dict[str, Any]:
    mapping = make_mapping("biomedical") | {"_meta": {"layout": layout}}
    similarity = {"bm25": SIMILARITY["bm25"] | {"k1": k1}}
    return {"pubmed-v0001": {"settings": {"index": {"analysis": ANALYSIS, "similarity": similarity}}, "mappings": mapping}}


class Scripted:
    """A cluster with one index of one document; a test changes what it answers."""

    def __init__(self) -> None:
        self.about: Answer = 200, describe()
        self.manifest: dict[str, Any] = asdict(MANIFEST)
        hits = [{"sort": [2.5, "7"]}, {"sort": [2.5, "8"]}]
        self.search: Answer = 200, {"_shards": COMPLETE, "timed_out": False, "hits": {"hits": hits}}
        self.mget: Answer = 200, {"docs": [{"_id": "7", "found": True, "_source": make_source(ROW, 1, 5)}]}

    def __call__(self, method: str, path: str, body: Any) -> Answer:
        if path == "/pubmed":
            return self.about
        if path.endswith("/_doc/__manifest__"):
            source = {"manifest": json.dumps(self.manifest), "cue_names": {"1": "no"}}
            return 200, {"found": True, "_source": source}
        return self.mget if path.endswith("_mget") else self.search


@pytest.fixture
def scripted() -> Scripted:
    return Scripted()


@pytest.fixture
def cluster(scripted: Scripted) -> Iterator[FakeCluster]:
    with serve_cluster(scripted) as fake:
        yield fake


def test_an_address_survives_being_a_path() -> None:
    place = Path("opensearch://a.example:9201,[::1],b/pubmed-2026")
    assert is_address(place) and not is_address(Path("opensearch"))
    assert read_address(place) == Address((("a.example", 9201), ("[::1]", 9200), ("b", 9200)), "pubmed-2026")
    assert name_place(place) == "opensearch://a.example:9201,[::1]:9200,b:9200/pubmed-2026"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("opensearch://host:9200/Pub Med", "should end in the name"),
        ("opensearch://host:99999/a", "names no usable host"),
        ("opensearch://me:secret@host/a", "COUNTERPOINT_OPENSEARCH_PASSWORD"),
        ("https://me:secret@host:9200/a", "^https://host:9200/a is not the address of an index on a cluster; expected one such"),
    ],
)
def test_a_wrong_address_is_one_sentence(wrong: str, says: str) -> None:
    with pytest.raises(BadInput, match=says) as told:
        read_address(wrong)
    assert is_address(wrong)
    assert "secret" not in str(told.value)


def test_a_ranking_is_asked_for_whole_and_ties_go_by_id(cluster: FakeCluster) -> None:
    index = Index(cluster.place())
    assert [(hit.pmid, hit.score) for hit in index.search("any words", 2)] == [("7", 2.5), ("8", 2.5)]
    method, path, body, _ = cluster.asked[-1]
    assert (method, path.partition("?")[0]) == ("POST", "/pubmed-v0001/_search")
    assert "search_type=dfs_query_then_fetch" in path and "allow_partial_search_results=false" in path
    assert '"_score": "desc"' in body.replace('":"', '": "') and "pmid" in body
    assert index.search("  ", 5) == [] and cluster.asked[-1][1] == path
    with pytest.raises(
        IndexUnusable, match="has no vectors, which this search needs; make them with `counterpoint index dense opensearch://"
    ):
        index.dense("any")


def test_a_stored_document_comes_back_as_it_went_in(cluster: FakeCluster) -> None:
    index = Index(cluster.place())
    (entry,) = index.entries(["7"])
    assert entry.document.abstract == "No effect. It failed." and [one.text for one in entry.sentences()] == [
        "No effect.",
        "It failed.",
    ]
    assert [cue.name for one in entry.cue_sentences() for cue in one.cues] == ["no"]
    assert read_row(make_source(ROW, 1, 5)) == ROW


def test_a_document_that_is_gone_by_now_is_no_damage(cluster: FakeCluster, scripted: Scripted) -> None:
    index = Index(cluster.place())
    scripted.mget = 200, {"docs": [{"_id": "8", "found": False}]}
    with pytest.raises(ClusterBusy, match="was deleted") as told:
        list(index.entries(["8"]))
    assert told.value.retry_after and told.value.status == 503
    assert index.store.get("8") is None


@pytest.mark.parametrize(
    "search",
    [
        (200, {"_shards": COMPLETE | {"successful": 2}, "timed_out": False, "hits": {"hits": []}}),
        (200, {"_shards": COMPLETE, "timed_out": True, "hits": {"hits": []}}),
        (503, {"error": {"type": "search_phase_execution_exception", "reason": "all shards failed"}, "status": 503}),
        (429, {"error": {"type": "rejected_execution_exception", "reason": "queue full"}, "status": 429}),
        # A node that has just started does not know the index for a moment.
        (404, {"error": {"type": "index_not_found_exception", "reason": "no such index"}, "status": 404}),
    ],
)
def test_a_search_that_some_shards_cannot_answer_gives_no_ranking(
    cluster: FakeCluster, scripted: Scripted, search: Answer
) -> None:
    index = Index(cluster.place())
    scripted.search = search
    with pytest.raises(ClusterBusy) as told:
        index.search("words", 5)
    assert told.value.status == 503 and told.value.retry_after


@pytest.mark.parametrize(
    ("about", "says"),
    [
        ((404, {"error": {"type": "index_not_found_exception", "reason": "no such index"}, "status": 404}), "There is no index"),
        ((401, {"error": "unauthorized"}), "refuses the user and password"),
        ((403, {"error": {"type": "security_exception", "reason": "no permissions for x"}, "status": 403}), "give it the rights"),
        ((200, describe(layout=9)), f"layout 9 and not {LAYOUT}"),
        ((200, describe(k1="1.2")), "other constants of BM25"),
        ((200, {}), "stands for 0 indexes"),
    ],
)
def test_an_index_that_cannot_be_used_is_one_sentence(cluster: FakeCluster, scripted: Scripted, about: Answer, says: str) -> None:
    scripted.about = about
    with pytest.raises(IndexUnusable, match=says):
        Index(cluster.place())


def test_a_manifest_of_another_format_is_named(cluster: FakeCluster, scripted: Scripted) -> None:
    assert read_index_manifest(cluster.place()).version == 3
    scripted.manifest["format"] = 99
    with pytest.raises(IndexUnusable, match="has format 99"):
        read_index_manifest(cluster.place())


def test_the_password_goes_in_a_header_and_nowhere_else(cluster: FakeCluster, scripted: Scripted) -> None:
    client.use_access(Access(user="reader", password="a secret of mine", seconds=0.5))
    scripted.about = 401, {"error": "unauthorized"}
    with pytest.raises(IndexUnusable) as told:
        Index(cluster.place())
    sent = {name.lower(): value for name, value in cluster.asked[-1][3].items()}
    assert sent["authorization"].startswith("Basic ")
    assert "secret" not in str(told.value) + repr(client.read_access())


def test_no_host_and_no_listener_are_told_apart() -> None:
    with pytest.raises(IndexUnusable, match="no host has this name"):
        Index(Path("opensearch://nowhere.invalid:9200/pubmed"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ClusterBusy, match="accepts no connection"):
        Index(Path(f"opensearch://127.0.0.1:{port}/pubmed"))


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for 127.0.0.1 that only it itself vouches for, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a test")])
    now, address = datetime.now(UTC), x509.IPAddress(ip_address("127.0.0.1"))
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
    made = made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    made = made.add_extension(x509.SubjectAlternativeName([address]), critical=False)
    signed = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True).sign(key, hashes.SHA256())
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(pem, serialization.PrivateFormat.TraditionalOpenSSL, plain)
    (tmp_path / "server.pem").write_bytes(private + signed.public_bytes(pem))
    (tmp_path / "authority.pem").write_bytes(signed.public_bytes(pem))
    return tmp_path / "server.pem"


def test_a_certificate_is_checked_against_the_authority_that_is_named(scripted: Scripted, certificate: Path) -> None:
    with serve_cluster(scripted, certificate) as fake:
        client.use_access(Access(tls=True, ca=str(certificate.with_name("missing.pem"))))
        with pytest.raises(BadConfig, match=r"missing\.pem .* cannot be read"):
            Index(fake.place())
        client.use_access(Access(tls=True, seconds=2.0))
        with pytest.raises(IndexUnusable, match=r"certificate that is not trusted .* COUNTERPOINT_OPENSEARCH_CA"):
            Index(fake.place())
        client.use_access(Access(tls=True, ca=str(certificate.with_name("authority.pem")), seconds=2.0))
        assert Index(fake.place()).manifest.version == 3


def test_health_tells_the_colour_or_why_there_is_none(cluster: FakeCluster, scripted: Scripted) -> None:
    scripted.search = 200, {"status": "yellow", "active_primary_shards": 3}
    assert look_at_engine(cluster.place()) == EngineState("yellow", True)
    scripted.search = 200, {"status": "red", "active_primary_shards": 2}
    assert not look_at_engine(cluster.place()).answers and "only 2 shards" in look_at_engine(cluster.place()).says
    scripted.search = 401, {"error": "unauthorized"}
    assert look_at_engine(cluster.place()).says.endswith("COUNTERPOINT_OPENSEARCH_PASSWORD.")
    assert look_at_engine(Path("a-folder")) == EngineState("embedded", True)


def test_the_hash_of_all_texts_is_the_sum_of_its_parts() -> None:
    other: Row = ("8", *ROW[1:])
    limbs = [derive(make_source(row, 1, 1))["limbs"] for row in (ROW, other)]
    sums = [float(sum(one[f"l{place}"] for one in limbs)) for place in range(len(limbs[0]))]
    wanted = sum(int(hashlib.sha256("\x1f".join(row[:3]).encode()).hexdigest(), 16) for row in (ROW, other)) % 2**256
    assert add_up(sums) == f"{wanted:064x}"

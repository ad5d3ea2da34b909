"""What an index on a cluster looks like: the analysis and BM25 of the embedded index, its fields, documents, texts and manifest.

A document's source holds what the embedded store keeps of it. What only the cluster needs (counts, parts of a hash to add up)
is derived from that and not kept in the source. The analyzers are made of the same description as the embedded index's
(retrieval.bm25.analysis).

Full texts have an index of their own beside it. A passage is a document with the field that is searched and its id as `pmid`, by
which equal scores are ordered; a text has the rows that the embedded store keeps, is never found, and is read by its paper's id.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from counterpoint.retrieval.bm25.analysis import (
    CHAINS,
    CONTENTS,
    FIELDS,
    describe_for_opensearch,
    make_contents,
    make_fields,
)
from counterpoint.retrieval.bm25.lucene import K1, B
from counterpoint.retrieval.cluster.client import Address, connect, translate_faults
from counterpoint.retrieval.core.english import list_words
from counterpoint.retrieval.core.errors import IndexUnusable
from counterpoint.retrieval.store.documents import COLUMNS, Row, find_targets
from counterpoint.retrieval.store.manifest import FORMATS, Manifest, parse_manifest
from counterpoint.retrieval.store.packing import unpack
from counterpoint.retrieval.store.texts import StoredText

LAYOUT = 4
"""Increased whenever the mapping or the source changes in a way that older code would misread."""
LIMBS = 11
"""Parts of a SHA-256, 24 bits each: a sum of 2^29 of them is still exact in the doubles that a cluster adds with."""
VECTOR, ENCODED = "vector", "encoded"
"""The fields of a document's vector and of what made it; an update drops both with the text that they were made from."""
DERIVED = (VECTOR, ENCODED, CONTENTS, "fields", "sentence_count", "cue_count", "cue_sentence_count", "retracts", "limbs")
ANALYSIS = describe_for_opensearch(tuple(CHAINS))
SIMILARITY: dict[str, Any] = {"bm25": {"type": "BM25", "k1": str(K1), "b": str(B)}}


VECTORS = {"knn": True, "knn.derived_source.enabled": False}
"""The settings of an index that can have vectors; only the plugin opensearch-knn knows them."""


def make_settings(shards: int) -> dict[str, Any]:
    """The settings of an index while it is built: no replicas and no refreshes until it is complete."""
    return {
        "number_of_shards": shards,
        "number_of_replicas": 0,
        "refresh_interval": "-1",
        "max_result_window": 100_000,
        # How long a deletion is remembered, so that late writes do not undo it.
        "gc_deletes": "1h",
        "analysis": ANALYSIS,
        "similarity": SIMILARITY,
    }


def make_mapping(analyzer: str) -> dict[str, Any]:
    """The fields that are searched, sorted or summed; everything else in a document is only in its source."""
    text_field = {"type": "keyword", "index": False, "doc_values": False}
    number = {"type": "integer", "index": False}
    return {
        "dynamic": False,
        "_meta": {"layout": LAYOUT},
        "_source": {"excludes": [*DERIVED, "limbs.*", "fields.*"]},
        "properties": {
            CONTENTS: make_text_field(analyzer),
            "fields": {"properties": {name: make_text_field(chain) for name, chain in FIELDS.items()}},
            "title": text_field,
            "abstract": text_field,
            "pmid": {"type": "keyword"},
            "doi": {"type": "keyword"},
            "pmcid": {"type": "keyword"},
            "retracts": {"type": "keyword"},
            "retracted": {"type": "byte"},
            "written": {"type": "integer"},
            "version": number,
            "sentence_count": number,
            "cue_count": number,
            "cue_sentence_count": number,
            "limbs": {"properties": {f"l{place}": number for place in range(LIMBS)}},
        },
    }


def make_text_field(analyzer: str) -> dict[str, str]:
    """The mapping of a field whose words are searched with this analyzer."""
    return {"type": "text", "analyzer": analyzer, "similarity": "bm25", "index_options": "freqs"}


def list_differences(settings: dict[str, Any], mapping: dict[str, Any]) -> list[str]:
    """How an index on a cluster differs from what this code would make; an empty list means that both can be used together."""
    layout, differences = (mapping.get("_meta") or {}).get("layout"), []
    if layout != LAYOUT:
        differences.append(f"layout {layout} and not {LAYOUT}")
    if _unify(settings.get("analysis") or {}) != _unify(ANALYSIS):
        differences.append("another analysis of texts")
    if _unify(settings.get("similarity") or {}) != _unify(SIMILARITY):
        differences.append("other constants of BM25")
    contents = (mapping.get("properties") or {}).get(CONTENTS) or {}
    if contents.get("analyzer") not in ANALYSIS["analyzer"] or contents.get("similarity") != "bm25":
        differences.append(f"another mapping of {CONTENTS}")
    return differences


def _unify(value: Any) -> Any:
    """Turn values into one form: a cluster returns numbers as text."""
    if isinstance(value, dict):
        return {key: _unify(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_unify(inner) for inner in value]
    return str(value)


_NAMES = COLUMNS.split(", ")
_PACKED = ("boundaries", "cues")
_BITS = 24


def make_source(row: Row, version: int, order: int) -> dict[str, Any]:
    """The source sent for a document: its row, the version that wrote it, its place in the write order, and derived fields."""
    source = dict[str, Any](zip(_NAMES, row, strict=True))
    source |= {name: _encode(source[name]) for name in _PACKED}
    return source | {"written": version, "order": order} | derive(source)


def derive(source: dict[str, Any]) -> dict[str, Any]:
    """The fields of a document that follow from the rest of its source."""
    cues = unpack(base64.b64decode(source["cues"]), 4)
    return {
        CONTENTS: make_contents(source["title"], source["abstract"]),
        "sentence_count": len(base64.b64decode(source["boundaries"])) // 8,
        "cue_count": len(cues),
        "cue_sentence_count": len({cue[0] for cue in cues}),
        "retracts": sorted(set(find_targets(source["notices"]))),
        "limbs": _split_hash(source["pmid"], source["title"], source["abstract"]),
        "fields": make_fields(*(source[name] for name in FIELDS)),
    }


def read_row(source: dict[str, Any]) -> Row:
    """The row of an embedded store that a document's source represents; raises `IndexUnusable` if it is damaged."""
    try:
        values = [base64.b64decode(source[name]) if name in _PACKED else source[name] for name in _NAMES]
        return cast(Row, tuple(values))
    except (KeyError, TypeError, binascii.Error) as error:
        raise IndexUnusable(f"Document {source.get('pmid')} is damaged on the cluster ({error}): build it again.") from error


def add_up(sums: list[float]) -> str:
    """The sum modulo 2^256 of all documents' hashes, from the sums of their parts (`Manifest.corpus_sha256`)."""
    total = sum(round(part) << (_BITS * place) for place, part in enumerate(sums))
    return f"{total % 2**256:064x}"


def _split_hash(pmid: str, title: str, abstract: str) -> dict[str, int]:
    number = int.from_bytes(hashlib.sha256("\x1f".join((pmid, title, abstract)).encode()).digest())
    return {f"l{place}": number >> (_BITS * place) & (2**_BITS - 1) for place in range(LIMBS)}


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


TEXT_ROW = "row"
"""The field that only texts have."""


def name_texts(name: str) -> str:
    """The name of the index of full texts beside the index of documents of this real name."""
    return f"{name}-texts"


def make_text_mapping(analyzer: str) -> dict[str, Any]:
    """The fields that are searched; everything else in a document is only in its source."""
    return {
        "dynamic": False,
        "_meta": {"layout": LAYOUT},
        "_source": {"excludes": [CONTENTS]},
        "properties": {CONTENTS: make_text_field(analyzer), "pmid": {"type": "keyword"}, "text_of": {"type": "keyword"}},
    }


def make_passage_source(name: str, title: str, words: str) -> dict[str, Any]:
    """The source sent for a passage."""
    return {"pmid": name, CONTENTS: make_contents(title, words)}


def make_text_source(stored: StoredText, title: str, order: int) -> dict[str, Any]:
    """The source sent for a text: its rows in the embedded store, the title that its passages have, and its place in the order of
    writes, which a record that it made of itself shares."""
    return {
        "text_of": stored.pmid,
        TEXT_ROW: list(stored.row),
        "blocks": [_encode(blob) for blob in stored.packed[1:]],
        "written": stored.written,
        "title": title,
        "order": order,
    }


def read_text(source: Mapping[str, Any], cue_names: Mapping[int, str]) -> StoredText:
    """The text that a source represents; raises `IndexUnusable` if it is damaged."""
    try:
        row: Sequence[Any] = source[TEXT_ROW]
        return StoredText(row, (row[0], *(base64.b64decode(blob) for blob in source["blocks"])), cue_names)
    except (KeyError, TypeError, IndexError, ValueError, binascii.Error) as error:
        raise IndexUnusable(
            f"The full text of {source.get('text_of')} is damaged on the cluster ({error}): copy it again."
        ) from error


MANIFEST = "__manifest__"
"""The id of that document; a paper's id never begins this way."""


@dataclass(frozen=True, slots=True)
class State:
    """The index that an address points to now: its real name on the cluster, its manifest, the names of its cues."""

    name: str
    manifest: Manifest
    cue_names: dict[int, str]


def read_state(address: Address) -> State:
    """The index at an address now; raises `IndexUnusable` if there is none, or one that this code cannot use."""
    with translate_faults(address):
        client = connect(address)
        name = _find_real_name(client.indices.get(index=address.name), address)
        reply = client.get(index=name, id=MANIFEST, ignore=[404])
    if not reply.get("found"):
        raise IndexUnusable(
            f"The index {address} is not finished: its build is still running or was stopped; the same "
            "`counterpoint index build` resumes where it stopped."
        )
    try:
        data = json.loads(reply["_source"]["manifest"])
        if data["format"] not in FORMATS:
            raise IndexUnusable(
                f"The index {address} has format {data['format']} and this Counterpoint reads formats {FORMATS[0]} and "
                f"{FORMATS[-1]}; build it again, or use the Counterpoint that made it."
            )
        cues = {int(number): str(cue) for number, cue in reply["_source"]["cue_names"].items()}
        return State(name, parse_manifest(data), cues)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise IndexUnusable(f"The manifest of {address} has missing or wrong entries: build the index again.") from None


def _find_real_name(indexes: dict[str, Any], address: Address) -> str:
    """The one index behind a name, checked to be analysed and scored as in this code."""
    if len(indexes) != 1:
        raise IndexUnusable(f"{address} stands for {len(indexes)} indexes ({', '.join(sorted(indexes))}); it should be one.")
    ((name, about),) = indexes.items()
    if differences := list_differences(about["settings"]["index"], about["mappings"]):
        raise IndexUnusable(
            f"The index {address} was not made by this version of Counterpoint: it has {list_words(differences)}; build it "
            "again with `counterpoint index build`."
        )
    return str(name)

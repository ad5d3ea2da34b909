"""Convert a row of the embedded store to a document on a cluster and back: the same values, with offsets packed the same way."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import Any

from retrieval.bm25.lucene import make_contents
from retrieval.cluster.mapping import CONTENTS, LIMBS
from retrieval.core.errors import IndexUnusable
from retrieval.store.rows import RETRACTING, Row, unpack

_TEXTS = ("pmid", "title", "abstract", "year", "journal", "types", "notices", "sections", "version", "retracted")
_LATER = ("authors", "doi", "pmcid", "mesh")
_BITS = 24


def make_source(row: Row, version: int, order: int) -> dict[str, Any]:
    """The source sent for a document: its row, the version that wrote it, its place in the write order, and derived fields."""
    source = dict(zip(_TEXTS, row[:10], strict=True)) | dict(zip(_LATER, row[12:], strict=True))
    source["boundaries"], source["cues"] = _encode(row[10]), _encode(row[11])
    return source | {"written": version, "order": order} | derive(source)


def derive(source: dict[str, Any]) -> dict[str, Any]:
    """The fields of a document that follow from the rest of its source."""
    cues = unpack(base64.b64decode(source["cues"]), 4)
    notices = json.loads(source["notices"]) if "Retract" in source["notices"] else []
    return {
        CONTENTS: make_contents(source["title"], source["abstract"]),
        "sentence_count": len(base64.b64decode(source["boundaries"])) // 8,
        "cue_count": len(cues),
        "cue_sentence_count": len({cue[0] for cue in cues}),
        "retracts": sorted({target for kind, target in notices if kind in RETRACTING}),
        "limbs": _split_hash(source["pmid"], source["title"], source["abstract"]),
    }


def read_row(source: dict[str, Any]) -> Row:
    """The row of an embedded store that a document's source represents; raises `IndexUnusable` if it is damaged."""
    try:
        texts = tuple(source[name] for name in _TEXTS)
        blobs = (base64.b64decode(source["boundaries"]), base64.b64decode(source["cues"]))
        return (*texts, *blobs, *(source[name] for name in _LATER))
    except (KeyError, TypeError, binascii.Error) as error:
        raise IndexUnusable(f"Document {source.get('pmid')} is damaged on the cluster ({error}): build it again.") from error


def add_up(sums: list[float]) -> str:
    """The sum modulo 2^256 of all documents' hashes, from the sums of their parts (`Manifest.corpus_sha256`)."""
    total = sum(round(one) << (_BITS * place) for place, one in enumerate(sums))
    return f"{total % 2**256:064x}"


def _split_hash(pmid: str, title: str, abstract: str) -> dict[str, int]:
    number = int.from_bytes(hashlib.sha256("\x1f".join((pmid, title, abstract)).encode()).digest())
    return {f"l{place}": number >> (_BITS * place) & (2**_BITS - 1) for place in range(LIMBS)}


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")

"""The layout of an index on a cluster: the analysis and BM25 of the embedded index, and the other searchable fields.

A document's source holds what the embedded store keeps of it. What only the cluster needs (counts, parts of a hash to add up)
is derived from that and not kept in the source. Anserini's English analyzer without stop words consists of the standard
tokenizer, the English possessive filter, the lower-case filter and the Porter stemmer.
"""

from __future__ import annotations

from typing import Any

from retrieval.bm25.lucene import K1, B

LAYOUT = 2
"""Increased whenever the mapping or the source changes in a way that older code would misread."""
ANALYZER, CONTENTS = "english_no_stop", "contents"
LIMBS = 11
"""Parts of a SHA-256, 24 bits each: a sum of 2^29 of them is still exact in the doubles that a cluster adds with."""
DERIVED = (CONTENTS, "sentence_count", "cue_count", "cue_sentence_count", "retracts", "limbs")
ANALYSIS: dict[str, Any] = {
    "filter": {"possessive": {"type": "stemmer", "language": "possessive_english"}},
    "analyzer": {
        ANALYZER: {"type": "custom", "tokenizer": "standard", "filter": ["possessive", "lowercase", "porter_stem"]},
    },
}
SIMILARITY: dict[str, Any] = {"bm25": {"type": "BM25", "k1": str(K1), "b": str(B)}}


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


def make_mapping() -> dict[str, Any]:
    """The fields that are searched, sorted or summed; everything else in a document is only in its source."""
    text_field = {"type": "keyword", "index": False, "doc_values": False}
    number = {"type": "integer", "index": False}
    return {
        "dynamic": False,
        "_meta": {"layout": LAYOUT},
        "_source": {"excludes": [*DERIVED, "limbs.*"]},
        "properties": {
            CONTENTS: {"type": "text", "analyzer": ANALYZER, "similarity": "bm25", "index_options": "freqs"},
            "title": text_field,
            "abstract": text_field,
            "pmid": {"type": "keyword"},
            "doi": {"type": "keyword"},
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


def list_differences(settings: dict[str, Any], mapping: dict[str, Any]) -> list[str]:
    """How an index on a cluster differs from what this code would make; an empty list means that both can be used together."""
    differences = []
    if (mapping.get("_meta") or {}).get("layout") != LAYOUT:
        differences.append(f"layout {(mapping.get('_meta') or {}).get('layout')} and not {LAYOUT}")
    analysis, own_analysis = settings.get("analysis") or {}, ANALYSIS
    if _unify(analysis) != _unify(own_analysis):
        differences.append("another analysis of texts")
    if _unify(settings.get("similarity") or {}) != _unify(SIMILARITY):
        differences.append("other constants of BM25")
    contents = (mapping.get("properties") or {}).get(CONTENTS) or {}
    if contents.get("analyzer") != ANALYZER or contents.get("similarity") != "bm25":
        differences.append(f"another mapping of {CONTENTS}")
    return differences


def _unify(value: Any) -> Any:
    """Turn values into one form: a cluster returns numbers as text."""
    if isinstance(value, dict):
        return {key: _unify(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_unify(inner) for inner in value]
    return str(value)

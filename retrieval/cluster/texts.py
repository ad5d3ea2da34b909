"""Full texts on a cluster: an index beside that of the documents, with their passages and the rows that the embedded store keeps.

Its name is that of the documents' index, which the manifest gives, and `-texts`. A passage is a document with the field that is
searched and its id as `pmid`, by which equal scores are ordered; a text is one that is never found, only read by its paper's id.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

from counterpoint.retrieval.bm25.analysis import CONTENTS, make_contents
from counterpoint.retrieval.cluster.mapping import LAYOUT, make_text_field
from counterpoint.retrieval.core.errors import IndexUnusable
from counterpoint.retrieval.store.texts import StoredText

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
    blobs = [base64.b64encode(blob).decode("ascii") for blob in stored.packed[1:]]
    return {
        "text_of": stored.pmid,
        TEXT_ROW: list(stored.row),
        "blocks": blobs,
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

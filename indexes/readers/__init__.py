"""Reading documents from any of thirteen formats, plain or gzipped: `for record in read(path): …`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from counterpoint.indexes.readers import json_formats, pubmed
from counterpoint.indexes.readers.base import jsonl, source
from counterpoint.indexes.readers.base.fields import (
    WHOLE,
    Deletion,
    Note,
    Omission,
    OnBad,
    Record,
    RecordError,
    SkipBad,
    describe_keys,
    describe_value,
    is_placeholder,
    is_retracted,
    raise_bad,
)
from counterpoint.indexes.readers.base.source import sources
from counterpoint.indexes.readers.exports import bibtex, table, tagged
from counterpoint.indexes.readers.exports.table import Columns, check_columns
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Document

__all__ = [
    "FORMATS", "WHOLE", "Columns", "Deletion", "Format", "Note", "Omission", "OnBad", "Record", "SkipBad", "check_columns",
    "detect_format", "raise_bad", "read", "sources",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of source: what it is and what reads it.

    JSON is recognised by the `keys` of its objects, an export by its beginning (`begins`). `repeats` says what happens to a
    record whose id came before: it replaces the earlier one, is refused as a mistake, or is counted and left out.
    """

    what: str
    read: Callable[[Path, OnBad], Iterator[Record]]
    keys: frozenset[str] = frozenset()
    begins: Callable[[str], bool] | None = None
    repeats: Literal["replace", "refuse", "skip"] = "refuse"


def _json(
    what: str, make: Callable[[dict[str, Any]], Record], keys: str = "", repeats: Literal["refuse", "skip"] = "refuse"
) -> Format:
    return Format(what, lambda path, on_bad: jsonl.read_documents(path, make, on_bad), frozenset(keys.split()), repeats=repeats)


FORMATS: dict[str, Format] = {
    "pyserini": _json("Pyserini or TREC BioGen JSON lines", json_formats.make_pyserini, "id contents"),
    "counterpoint": _json("Counterpoint's JSON lines", json_formats.make_counterpoint, "pmid title abstract"),
    "scifact": _json("SciFact's corpus", json_formats.make_scifact, "doc_id title abstract"),
    "openalex": _json("OpenAlex's JSON", json_formats.make_openalex, "id title abstract_inverted_index", "skip"),
    "semanticscholar": _json("Semantic Scholar's JSON", json_formats.make_semantic_scholar, "paperId title", "skip"),
    "lens": _json("Lens's JSON", json_formats.make_lens, "lens_id title", "skip"),
    "pubmed": Format("PubMed XML", pubmed.read, repeats="replace"),
    "nbib": Format("PubMed's export (.nbib)", tagged.read_nbib, begins=tagged.is_nbib, repeats="skip"),
    "ris": Format("RIS", tagged.read_ris, begins=tagged.is_ris, repeats="skip"),
    "csl": _json("CSL-JSON", json_formats.make_csl, repeats="skip"),
    "bibtex": Format("BibTeX", bibtex.read, begins=bibtex.is_bibtex, repeats="skip"),
    "europepmc": _json("Europe PMC's JSON lines", json_formats.make_europepmc, "id source title", "skip"),
    "csv": Format("CSV", table.read, repeats="skip"),
}
CSL, CSV, XML = "csl", "csv", "pubmed"

# More than the first record, which may be a bad one that the user allows to be skipped.
_LOOKED_AT = 100


def check_format(name: str) -> None:
    """Raise `BadInput` for a name that is neither "auto" nor a format's."""
    if name not in ("auto", *FORMATS):
        raise BadInput(f"{name!r} is not a document format: expected auto, {', '.join(FORMATS)}.")


def read(path: Path, format: str = "auto", on_bad: OnBad = raise_bad, columns: Columns | None = None) -> Iterator[Record]:
    """The records of one file, in its order.

    A record that cannot be read goes to `on_bad`, which raises (the default) or returns to leave it out (`SkipBad`).
    A file that cannot be read to its end raises `BadInput` when that is found, whatever `on_bad` does; a wrong name or
    format is found at once, before the first record is requested. `columns` maps the columns of a CSV file.
    """
    check_format(format)
    name = detect_format(path, columns) if format == "auto" else format
    form = FORMATS[name]
    head = source.read_head(path)
    if _is_xml(head) != (name == XML):
        raise BadInput(f"{path} is {'' if _is_xml(head) else 'not '}XML: expected {form.what}; use the format auto.")
    if form.begins and not form.begins(head):
        raise BadInput(f"{path} does not begin as {form.what} does; use the format auto.")
    records = table.read(path, on_bad, columns) if name == CSV else form.read(path, on_bad)
    return (_note_marks(record, form) if isinstance(record, Document) else record for record in records)


def _note_marks(document: Document, form: Format) -> Record:
    """The document, marked as retracted if its title or types say so; without an abstract that only says that there is none."""
    if not document.retracted and is_retracted(document.title, document.types):
        document = replace(document, retracted=True)
    if not document.abstract or not is_placeholder(document.abstract):
        return document
    if form.repeats == "skip":
        return Omission(document.pmid)
    return replace(document, abstract="", sections=(), spans=document.spans and tuple((0, 0) for _ in document.spans))


def detect_format(path: Path, columns: Columns | None = None) -> str:
    """The name of the format of `path`, by its content: XML's root, an export's beginning, the keys of JSON lines."""
    head = source.read_head(path)
    if other := source.name_text(head):
        raise BadInput(f"{path} is {other}.")
    if _is_xml(head):
        pubmed.check_root(path)
        return XML
    for name, format in FORMATS.items():
        if format.begins and format.begins(head):
            return name
    if table.is_table(head, columns or {}):
        return CSV
    return _detect_json(path)


def _detect_json(path: Path) -> str:
    """The name of a format of JSON, by the keys of the first objects."""
    first = ""
    for _, found in islice(jsonl.read_objects(path), _LOOKED_AT):
        if not isinstance(found, dict):
            first = first or (str(found).partition(", ")[2] if isinstance(found, RecordError) else f"got {describe_value(found)}")
            continue
        keys = found.keys()
        if {"uid", "pubdate"} <= keys:
            raise BadInput(
                f"{path} is a summary of PubMed (ESummary), which has no abstracts; save the papers as PubMed or XML (EFetch)."
            )
        for name, format in FORMATS.items():
            if (format.keys and format.keys <= keys) or (name == CSL and json_formats.is_item(keys)):
                return name
        first = first or f"got {describe_keys(keys)}"
    formats = "; ".join(f"{', '.join(sorted(form.keys))} ({name})" for name, form in FORMATS.items() if form.keys)
    exports = ", ".join(form.what for form in FORMATS.values() if form.begins)
    raise BadInput(
        f"{path} is in no known format: expected PubMed XML, {exports}, CSL-JSON, CSV whose first row names a title or an "
        f"abstract, or JSON lines or a JSON list with the keys {formats}; {first or 'got an empty list'}."
    )


def _is_xml(head: str) -> bool:
    return head.lstrip().startswith("<")

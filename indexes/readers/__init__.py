"""Documents in, from any of four formats, plain or gzipped: `for record in read(path): …`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from indexes.readers import counterpoint, pubmed, pyserini, scifact
from indexes.readers.base import jsonl, source
from indexes.readers.base.fields import describe_keys
from indexes.readers.base.records import Deletion, OnBad, Record, RecordError, SkipBad, raise_bad
from indexes.readers.base.source import sources
from retrieval.core.errors import BadInput

__all__ = ["FORMATS", "Deletion", "Format", "OnBad", "Record", "SkipBad", "detect_format", "raise_bad", "read", "sources"]


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of source: what it is, what reads it, and the keys its JSON objects are known by (none: it is XML)."""

    what: str
    read: Callable[[Path, OnBad], Iterator[Record]]
    keys: frozenset[str] = frozenset()


FORMATS: dict[str, Format] = {
    "pyserini": Format("Pyserini or TREC BioGen JSON lines", pyserini.read, frozenset({"id", "contents"})),
    "counterpoint": Format("Counterpoint's JSON lines", counterpoint.read, frozenset({"pmid", "title", "abstract"})),
    "scifact": Format("SciFact's corpus", scifact.read, frozenset({"doc_id", "title", "abstract"})),
    "pubmed": Format("PubMed XML", pubmed.read),
}

# A file's first record may be the bad one that the user lets pass.
_LOOKED_AT = 100


def read(path: Path, format: str = "auto", on_bad: OnBad = raise_bad) -> Iterator[Record]:
    """The records of one file, in its order.

    A record that cannot be read goes to `on_bad`, which raises (the default) or returns to leave it out (`SkipBad`).
    A file that cannot be read to its end raises `BadInput` when that is found, whatever `on_bad` does; a wrong name or
    format is found at once, before the first record is asked for.
    """
    name = detect_format(path) if format == "auto" else format
    if name not in FORMATS:
        raise BadInput(f"{format!r} is not a document format: expected auto, {', '.join(FORMATS)}.")
    chosen = FORMATS[name]
    is_xml = _is_xml(source.read_head(path))
    if is_xml == bool(chosen.keys):
        raise BadInput(f"{path} is {'' if is_xml else 'not '}XML: expected {chosen.what}; use the format auto.")
    return chosen.read(path, on_bad)


def detect_format(path: Path) -> str:
    """The name of the format of `path`, by its content: XML's root element, the keys of the first JSON records."""
    start = source.read_head(path)
    if _is_xml(start):
        pubmed.check_root(path)
        return "pubmed"
    first = ""
    for _, line in islice(jsonl.read_lines(path), _LOOKED_AT):
        try:
            keys = jsonl.parse_line(line).keys()
        except RecordError as fault:
            first = first or str(fault).partition(", ")[2]
            continue
        for name, format in FORMATS.items():
            if format.keys and format.keys <= keys:
                return name
        first = first or f"got {describe_keys(keys)}"
    known = "; ".join(f"{', '.join(sorted(form.keys))} ({name})" for name, form in FORMATS.items() if form.keys)
    raise BadInput(f"{path} is in no known format: expected PubMed XML, or JSON lines with the keys {known}; {first}.")


def _is_xml(start: bytes) -> bool:
    return start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")

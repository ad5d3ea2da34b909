"""PubMed's baseline and update files (https://pubmed.ncbi.nlm.nih.gov/download/), streamed in constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import Literal

from lxml import etree

from indexes.readers import pubmed_article
from indexes.readers.base import source
from indexes.readers.base.fields import read_id
from indexes.readers.base.records import Deletion, OnBad, Record, RecordError, raise_bad
from retrieval.core.errors import BadInput, BadRecord

ROOTS = ("PubmedArticleSet", "PubmedBookArticleSet")
_RECORDS = ("PubmedArticle", "PubmedBookArticle", "DeleteCitation")
_CHUNK = 2**16


@dataclass(slots=True)
class _Place:
    """How far a file has been read, for its errors."""

    articles: int = 0
    pmid: str = ""

    def __str__(self) -> str:
        last = f" (PMID {self.pmid})" if self.pmid else ""
        return f"after article {self.articles}{last}" if self.articles else "before its first article"


def read(path: Path, on_bad: OnBad = raise_bad) -> Iterator[Record]:
    """The articles, book chapters and deletions of one file, in its order; XML of another kind is refused at once."""
    check_root(path)
    return _read_records(path, on_bad)


def _read_records(path: Path, on_bad: OnBad) -> Iterator[Record]:
    place = _Place()
    for element in _read_elements(path, place):
        if element.tag == "DeleteCitation":
            yield from _read_deletions(element, path, place, on_bad)
            continue
        try:
            document = pubmed_article.make_document(element)
        except RecordError as fault:
            pmid = pubmed_article.read_pmid(element)
            label = f"PMID {pmid}" if pmid else str(place)
            on_bad(BadRecord(path, f"article {place.articles + 1} ({label})", str(fault)))
            place.pmid = pmid or place.pmid
        else:
            place.pmid = document.pmid
            yield document
        place.articles += 1


def check_root(path: Path) -> None:
    """Raise `BadInput` unless the root element is PubMed's."""
    source.read_head(path)
    root = _read_root(path)
    if root not in ROOTS:
        raise BadInput(
            f"{path} is XML of another kind: expected the root element <{ROOTS[0]}>, got <{root}>; "
            f"fetch PubMed's baseline or update files, or efetch with retmode=xml."
        )


def _read_root(path: Path) -> str:
    """The name of the first element."""
    parser = _make_parser("start")
    place = _Place()
    with source.open_source(path) as stream:
        while True:
            flaw = _feed(parser, _read_chunk(stream, path, place))
            for element in _take_complete(parser):
                return str(element.tag)
            if flaw:
                raise _make_flaw_error(path, place, flaw) from flaw


def _read_elements(path: Path, place: _Place) -> Iterator[etree._Element]:
    """Every record element once it is complete; all that stands before it in the file has been freed."""
    parser = _make_parser("end", _RECORDS)
    with source.open_source(path) as stream:
        chunk = b"start"
        while chunk:
            chunk = _read_chunk(stream, path, place)
            flaw = _feed(parser, chunk)
            # Articles that were complete before the error are good.
            for element in _take_complete(parser):
                _forget_before(element)
                yield element
            if flaw:
                raise _make_flaw_error(path, place, flaw) from flaw


def _make_parser(event: Literal["start", "end"], tags: tuple[str, ...] | None = None) -> etree.XMLPullParser:
    """Files come from anywhere: no DTD is loaded, nothing is fetched, no entity is expanded.

    libxml2's limits on depth and size stay on (`huge_tree`): the longest field of a real article is far below them.
    """
    return etree.XMLPullParser(
        events=(event,),
        tag=tags,
        load_dtd=False,
        dtd_validation=False,
        attribute_defaults=False,
        no_network=True,
        resolve_entities=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )


def _take_complete(parser: etree.XMLPullParser) -> Iterator[etree._Element]:
    for _, element in parser.read_events():
        if isinstance(element, etree._Element):
            yield element


def _read_chunk(stream: BufferedIOBase, path: Path, place: _Place) -> bytes:
    try:
        # read1 returns what came before a fault; read would lose it.
        return stream.read1(_CHUNK)
    except source.READ_ERRORS as error:
        raise source.make_broken_error(path, str(place), error) from error


def _feed(parser: etree.XMLPullParser, chunk: bytes) -> etree.XMLSyntaxError | None:
    """Parse the next chunk, or finish if `chunk` is empty; an error is returned, not raised, as events remain to be read."""
    try:
        if chunk:
            parser.feed(chunk)
        else:
            parser.close()
    except etree.XMLSyntaxError as error:
        return error
    return None


def _forget_before(element: etree._Element) -> None:
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def _make_flaw_error(path: Path, place: _Place, flaw: etree.XMLSyntaxError) -> BadRecord:
    advice = "the file is cut off or damaged; fetch it again."
    return BadRecord(path, str(place), f"expected well-formed XML to the end, found an error ({flaw.msg}); {advice}")


def _read_deletions(element: etree._Element, path: Path, place: _Place, on_bad: OnBad) -> Iterator[Deletion]:
    for number, child in enumerate(element.findall("PMID"), 1):
        try:
            pmid = read_id(child.text, "DeleteCitation/PMID")
        except RecordError as fault:
            on_bad(BadRecord(path, f"deletion {number} ({place})", str(fault)))
        else:
            yield Deletion(pmid)

"""PubMed's baseline and update files (https://pubmed.ncbi.nlm.nih.gov/download/), streamed in constant memory.

The elements are described at https://www.nlm.nih.gov/bsd/licensee/elements_descriptions.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from lxml import etree

from counterpoint.indexes.readers.base import source
from counterpoint.indexes.readers.base.fields import (
    BOOK,
    CHAPTER,
    RETRACTING,
    Deletion,
    OnBad,
    Record,
    RecordError,
    clean_text,
    find_doi,
    find_pmcid,
    join_parts,
    make_records,
    raise_bad,
    read_id,
)
from counterpoint.indexes.readers.base.markup import add_text
from counterpoint.retrieval.core.errors import BadInput, BadRecord
from counterpoint.retrieval.core.values import Author, Document, Notice, Section

# Until 2018 an article's references, dozens of them, stood among its corrections: they say nothing about the article.
_NO_NOTICE = frozenset({"Cites"})
# What PubMed writes in ArticleTitle if a paper has a title only in its own language.
_NO_TITLE = frozenset({"", "[Not Available].", "[Not Available]"})
# Labels that NLM's mapping assigns if the publisher gave none.
_NO_LABEL = frozenset({"UNASSIGNED", "UNLABELLED"})
# TeX and content markup beside a formula's presentation markup: the same text again.
_ANNOTATION = ("}annotation", "}annotation-xml")

# XML's own white space, where it is not a single space already; other Unicode spaces are kept.
_BLANKS = re.compile("[ \t\r\n]{2,}|[\t\r\n]")
_YEAR = re.compile("[0-9]{4}")
_VERSION = re.compile("[0-9]{1,9}")


def make_document(element: etree._Element) -> Document:
    """The document of one element; raises RecordError if it has no usable PMID."""
    return _make_book(element) if element.tag == "PubmedBookArticle" else _make_article(element)


def _make_article(element: etree._Element) -> Document:
    citation = element.find("MedlineCitation")
    number, version = _read_identity(citation)
    assert citation is not None
    article = citation.find("Article")
    if article is None:
        raise RecordError("expected an <Article>, got a citation without one")
    # An English abstract may come from elsewhere (the publisher, a plain-language summary); English is the DTD's default.
    others = [other for other in citation.findall("OtherAbstract") if other.get("Language", "eng") == "eng"]
    abstract, sections = _read_abstract(article.findall("Abstract") + others)
    kinds, notices = _read_notices(citation.find("CommentsCorrectionsList"))
    journal = article.find("Journal")
    # The DOI as the publisher gave it with the article.
    places = article.findall('ELocationID[@EIdType="doi"]')
    location = next((flatten(place) for place in places if place.get("ValidYN") != "N"), "")
    title = flatten(article.find("ArticleTitle"))
    if title in _NO_TITLE:
        title = flatten(article.find("VernacularTitle")) or title
    return Document(
        pmid=number,
        title=title,
        abstract=abstract,
        year=_read_year(journal, "JournalIssue/PubDate") or _read_year(article, "ArticleDate"),
        journal=_find_first(journal, "Title", "ISOAbbreviation"),
        types=_list_texts(article, "PublicationTypeList/PublicationType"),
        notices=notices,
        sections=sections,
        version=version,
        retracted=not RETRACTING.isdisjoint(kinds),
        authors=_read_authors(article.find("AuthorList")),
        doi=find_doi(flatten(element.find('PubmedData/ArticleIdList/ArticleId[@IdType="doi"]')) or location),
        pmcid=find_pmcid(flatten(element.find('PubmedData/ArticleIdList/ArticleId[@IdType="pmc"]'))),
        mesh=_list_texts(citation, "MeshHeadingList/MeshHeading/DescriptorName"),
    )


def _make_book(element: etree._Element) -> Document:
    """The document of a chapter, with its own title, or of a whole book, with the book's."""
    chapter = element.find("BookDocument")
    number, version = _read_identity(chapter)
    assert chapter is not None
    book_title = _find_first(chapter, "Book/BookTitle")
    abstract, sections = _read_abstract(chapter.findall("Abstract"))
    title = _find_first(chapter, "ArticleTitle", "VernacularTitle")
    authors = chapter.find("AuthorList")
    return Document(
        pmid=number,
        title=title or book_title,
        abstract=abstract,
        year=_read_year(chapter, "Book/PubDate") or _read_year(chapter, "ContributionDate"),
        journal=book_title,
        types=(*_list_texts(chapter, "PublicationType"), CHAPTER if title and title != book_title else BOOK),
        sections=sections,
        version=version,
        authors=_read_authors(chapter.find("Book/AuthorList") if authors is None else authors),
        doi=find_doi(flatten(chapter.find('ArticleIdList/ArticleId[@IdType="doi"]'))),
    )


def _read_identity(citation: etree._Element | None) -> tuple[str, int]:
    element = None if citation is None else citation.find("PMID")
    if element is None:
        raise RecordError("expected a PMID, got a record without one")
    version = element.get("Version", "1")
    if not _VERSION.fullmatch(version):
        raise RecordError(f"expected a whole number as the PMID's Version, got {version!r}")
    return read_id(element.text, "PMID"), int(version)


def flatten(element: etree._Element | None) -> str:
    """An element's text on one line, inline markup (<i>, <sub>, MathML) flattened away; an exponent follows "^"."""
    if element is None:
        return ""
    text = element.text or ""
    if len(element):
        pieces = list[str]()
        add_text(element, pieces, _is_annotation)
        text = "".join(pieces)
    # Line breaks are not printable; this check spares most texts the search.
    if not text.isprintable() or "  " in text:
        text = _BLANKS.sub(" ", text)
    return clean_text(text)


def _is_annotation(element: etree._Element) -> bool:
    if not isinstance(element.tag, str):
        raise RecordError(f"expected text, got the entity {element.text}, which is not expanded")
    return element.tag.endswith(_ANNOTATION)


def _find_first(element: etree._Element | None, *paths: str) -> str:
    """The first of `paths` that leads to text."""
    if element is None:
        return ""
    return next(filter(None, (flatten(element.find(path)) for path in paths)), "")


def _list_texts(element: etree._Element, path: str) -> tuple[str, ...]:
    return tuple(filter(None, map(flatten, element.findall(path))))


def _read_abstract(elements: Iterable[etree._Element]) -> tuple[str, tuple[Section, ...]]:
    """The first of these abstracts that has text, and its sections."""
    for element in elements:
        abstract, sections = join_parts([(_read_label(part), flatten(part)) for part in element.findall("AbstractText")])
        if abstract:
            return abstract, sections
    return "", ()


def _read_label(part: etree._Element) -> str:
    """The publisher's heading, or else NLM's category for it."""
    for name in ("Label", "NlmCategory"):
        label = clean_text(part.get(name, ""))
        if label and label not in _NO_LABEL:
            return label
    return ""


def _read_year(element: etree._Element | None, date: str) -> int | None:
    """The year, from <Year> or from a <MedlineDate> such as "1998 Dec-1999 Jan"."""
    match = _YEAR.search(_find_first(element, f"{date}/Year", f"{date}/MedlineDate"))
    return int(match.group()) if match else None


def _read_authors(element: etree._Element | None) -> tuple[Author, ...]:
    """The authors in their order; NLM keeps a name that was corrected, marked as no longer valid."""
    if element is None:
        return ()
    valid = [_read_author(author) for author in element.findall("Author") if author.get("ValidYN") != "N"]
    return tuple(author for author in valid if author.family)


def _read_author(element: etree._Element) -> Author:
    family = _find_first(element, "LastName", "CollectiveName")
    return Author(family, _find_first(element, "ForeName", "Initials"), _find_first(element, "Suffix"))


def _read_notices(element: etree._Element | None) -> tuple[set[str], tuple[Notice, ...]]:
    """All the kinds of link, and the links themselves; a link to something without a PMID leads nowhere."""
    kinds: set[str] = set()
    notices: list[Notice] = []
    for link in [] if element is None else element.findall("CommentsCorrections"):
        kind, number = link.get("RefType", ""), clean_text(link.findtext("PMID") or "")
        kinds.add(kind)
        if number and kind and kind not in _NO_NOTICE:
            notices.append(Notice(kind, number))
    return kinds, tuple(notices)


ROOTS = ("PubmedArticleSet", "PubmedBookArticleSet")
_CHUNK = 2**20
_LONGEST_RECORD = 8 * 2**20
# A tag at which a document or a record begins or ends.
_MARK = re.compile(rb"<(/?)(Pubmed(?:Book)?Article(?:Set)?|DeleteCitation)(?:\s[^<>]*?)?(/?)>")
_NAME = re.compile(rb"<([A-Za-z][\w.:-]*)")
_PMID = re.compile(rb"<PMID[^>]*>\s*([0-9]{1,9})\s*</PMID>")
# What may stand between two documents, or behind the last one.
_NOTHING = re.compile(rb"(?:\s|\xef\xbb\xbf|<!--.*?-->|<\?.*?\?>)*", re.DOTALL)
_HARMLESS: dict[str, Any] = {
    **dict.fromkeys(("load_dtd", "dtd_validation", "attribute_defaults", "resolve_entities", "huge_tree"), False),
    **dict.fromkeys(("no_network", "remove_comments", "remove_pis"), True),
}
"""Files come from anywhere: no DTD is loaded, nothing is fetched, no entity is expanded.

libxml2's limits on depth and size stay on (`huge_tree`): the longest field of a real article is far below them.
"""


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


def check_root(path: Path) -> None:
    """Raise `BadInput` unless the root element is PubMed's."""
    source.read_head(path)
    with source.open_source(path) as stream:
        try:
            _, root = next(etree.iterparse(cast(IO[bytes], stream), events=("start",), **_HARMLESS))
        except etree.XMLSyntaxError as flaw:
            raise _make_flaw_error(path, _Place(), flaw) from flaw
        except source.READ_ERRORS as error:
            raise source.make_broken_error(path, str(_Place()), error) from error
    if root.tag in ("article", "pmc-articleset"):
        raise BadInput(f"{path} is a full text (JATS), not a record; give its file or folder as --full-text.")
    if root.tag not in ROOTS:
        raise BadInput(
            f"{path} is XML of another kind: expected the root element <{ROOTS[0]}>, got <{root.tag}>; "
            f"fetch PubMed's baseline or update files, or efetch with retmode=xml."
        )


def _read_records(path: Path, on_bad: OnBad) -> Iterator[Record]:
    place = _Place()
    for element in _read_elements(path, place, on_bad):
        if element.tag == "DeleteCitation":
            pmids = ((f"deletion {number} ({place})", one.text) for number, one in enumerate(element.findall("PMID"), 1))
            yield from make_records(path, pmids, lambda pmid: Deletion(read_id(pmid, "DeleteCitation/PMID")), on_bad)
            continue
        try:
            document = make_document(element)
        except RecordError as fault:
            _report(path, place, clean_text(element.findtext("*/PMID") or ""), str(fault), on_bad)
        else:
            place.pmid = document.pmid
            yield document
            place.articles += 1


def _read_elements(path: Path, place: _Place, on_bad: OnBad) -> Iterator[etree._Element]:
    """Every record, parsed by itself inside the beginning of its document (`opening`), which names its encoding.

    A file may hold several documents, as results of EFetch that were put together do. A record that is not well-formed is left
    out; what stands around records (`rest`) must be well-formed at the end of its document.
    """
    opening, closing, rest, record, kind = b"", b"", b"", b"", b""
    for text, mark in _split(path, place):
        ends, name, empty = mark.groups() if mark else (b"", b"", b"")
        tag = mark[0] if mark else b""
        if record:
            record += text + tag
            if not mark:
                break
            text, whole, record = b"", record, b""
            if ends and name == kind:
                yield from _parse_record(opening + whole + closing, whole, path, place, on_bad)
                continue
            # One that is cut off may have swallowed the beginning of the next document.
            _report_flaw(whole, "the record breaks off", path, place, on_bad)
            if name.endswith(b"Set") and not ends:
                continue
        if not opening and (found := _NAME.search(text + tag)) and found[1].decode() not in ROOTS:
            advice = f"expected another <{ROOTS[0]}>, got <{found[1].decode()[:40]}>; fetch the file again."
            raise BadRecord(path, str(place), advice)
        if name.endswith(b"Set"):
            if not opening:
                opening, closing, text, tag = _skip_nothing(text) + tag, b"</%b>" % name, b"", b""
                _check_whole(opening if empty else opening + closing, path, place)
            rest += text + tag
            if ends or empty:
                _check_whole(opening + rest, path, place)
                opening = rest = b""
        elif mark and not ends:
            rest += text
            if empty:
                yield from _parse_record(opening + tag + closing, tag, path, place, on_bad)
            else:
                record, kind = tag, name
        else:
            rest += text + tag
    if opening or not _NOTHING.fullmatch(rest):
        _check_whole(opening + rest + record, path, place)


def _split(path: Path, place: _Place) -> Iterator[tuple[bytes, re.Match[bytes] | None]]:
    """The content of a file up to each mark, with the mark, and what follows the last one."""
    rest = b""
    with source.open_source(path) as stream:
        while True:
            try:
                # read1 returns what came before a fault; read would lose it.
                chunk = stream.read1(_CHUNK)
            except source.READ_ERRORS as error:
                raise source.make_broken_error(path, str(place), error) from error
            if not chunk:
                break
            rest, at = rest + chunk, 0
            for mark in _MARK.finditer(rest):
                yield rest[at : mark.start()], mark
                at = mark.end()
            rest = rest[at:]
            if len(rest) > _LONGEST_RECORD:
                limit = f"expected records of at most {_LONGEST_RECORD // 2**20} MiB, found a longer one"
                raise BadRecord(path, str(place), f"{limit}; the file is damaged; fetch it again.")
    yield rest, None


def _skip_nothing(text: bytes) -> bytes:
    """The text before a document's first tag from its declaration on, or without a byte order mark and blanks."""
    start = text.find(b"<?xml")
    return text[start:] if start > 0 and _NOTHING.fullmatch(text[:start]) else text.lstrip(b"\xef\xbb\xbf \t\r\n")


def _parse_record(document: bytes, record: bytes, path: Path, place: _Place, on_bad: OnBad) -> Iterator[etree._Element]:
    """The one record in a document; one that is not well-formed is reported."""
    try:
        root = etree.fromstring(document, etree.XMLParser(**_HARMLESS))
    except etree.XMLSyntaxError as flaw:
        _report_flaw(record, str(flaw.msg), path, place, on_bad)
    else:
        yield root[0]


def _check_whole(document: bytes, path: Path, place: _Place) -> None:
    """Raise `BadRecord` for a document, without its records, that is not well-formed."""
    try:
        etree.fromstring(document, etree.XMLParser(**_HARMLESS))
    except etree.XMLSyntaxError as flaw:
        raise _make_flaw_error(path, place, flaw) from flaw


def _report_flaw(record: bytes, reason: str, path: Path, place: _Place, on_bad: OnBad) -> None:
    found = _PMID.search(record)
    fault = f"expected well-formed XML, found an error ({reason})"
    _report(path, place, found[1].decode() if found else "", fault, on_bad)


def _report(path: Path, place: _Place, pmid: str, fault: str, on_bad: OnBad) -> None:
    """Report a record that cannot be read, and count it."""
    on_bad(BadRecord(path, f"article {place.articles + 1} ({f'PMID {pmid}' if pmid else place})", fault))
    place.pmid = pmid or place.pmid
    place.articles += 1


def _make_flaw_error(path: Path, place: _Place, flaw: etree.XMLSyntaxError) -> BadRecord:
    advice = "the file is cut off or damaged; fetch it again."
    return BadRecord(path, str(place), f"expected well-formed XML to the end, found an error ({flaw.msg}); {advice}")

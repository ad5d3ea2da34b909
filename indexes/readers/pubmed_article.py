"""One <PubmedArticle> or <PubmedBookArticle> as a `Document`.

The elements are described at https://www.nlm.nih.gov/bsd/licensee/elements_descriptions.html.
"""

from __future__ import annotations

import re

from lxml import etree

from indexes.readers.base.fields import BOOK, CHAPTER, clean_text, find_doi, find_pmcid, join_parts, read_id
from indexes.readers.base.records import RecordError
from indexes.readers.markup import add_text
from retrieval.core.values import Author, Document, Notice, Section

# Until 2018 an article's references, dozens of them, stood among its corrections: they say nothing about the article.
_NO_NOTICE = frozenset({"Cites"})
_RETRACTING = frozenset({"RetractionIn", "RetractedandRepublishedIn"})
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


def read_pmid(element: etree._Element) -> str:
    """The record's PMID as written, "" if there is none: for errors about a record that is not a usable document."""
    return clean_text(element.findtext("*/PMID") or "")


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
    abstract, sections = _read_abstract(article.find("Abstract"))
    if not abstract:
        abstract, sections = _read_other_abstract(citation)
    types = _read_types(article.find("PublicationTypeList"))
    kinds, notices = _read_notices(citation.find("CommentsCorrectionsList"))
    journal = article.find("Journal")
    title = flatten(article.find("ArticleTitle"))
    if title in _NO_TITLE:
        title = flatten(article.find("VernacularTitle")) or title
    return Document(
        pmid=number,
        title=title,
        abstract=abstract,
        year=_read_year(journal, "JournalIssue/PubDate") or _read_year(article, "ArticleDate"),
        journal=_find_first(journal, "Title", "ISOAbbreviation"),
        types=types,
        notices=notices,
        sections=sections,
        version=version,
        retracted=not _RETRACTING.isdisjoint(kinds),
        authors=_read_authors(article.find("AuthorList")),
        doi=find_doi(_find_id(element, "PubmedData", "doi") or _find_location(article)),
        pmcid=find_pmcid(_find_id(element, "PubmedData", "pmc")),
        mesh=tuple(filter(None, map(flatten, citation.findall("MeshHeadingList/MeshHeading/DescriptorName")))),
    )


def _make_book(element: etree._Element) -> Document:
    """The document of a chapter, with its own title, or of a whole book, with the book's."""
    chapter = element.find("BookDocument")
    number, version = _read_identity(chapter)
    assert chapter is not None
    book_title = _find_first(chapter, "Book/BookTitle")
    abstract, sections = _read_abstract(chapter.find("Abstract"))
    types = tuple(filter(None, map(flatten, chapter.findall("PublicationType"))))
    title = _find_first(chapter, "ArticleTitle", "VernacularTitle")
    authors = chapter.find("AuthorList")
    return Document(
        pmid=number,
        title=title or book_title,
        abstract=abstract,
        year=_read_year(chapter, "Book/PubDate") or _read_year(chapter, "ContributionDate"),
        journal=book_title,
        types=(*types, CHAPTER if title and title != book_title else BOOK),
        sections=sections,
        version=version,
        authors=_read_authors(chapter.find("Book/AuthorList") if authors is None else authors),
        doi=find_doi(_find_id(chapter, "", "doi")),
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


def _read_abstract(element: etree._Element | None) -> tuple[str, tuple[Section, ...]]:
    if element is None:
        return "", ()
    return join_parts([(_read_label(part), flatten(part)) for part in element.findall("AbstractText")])


def _read_label(part: etree._Element) -> str:
    """The publisher's heading, or else NLM's category for it."""
    for name in ("Label", "NlmCategory"):
        label = clean_text(part.get(name, ""))
        if label and label not in _NO_LABEL:
            return label
    return ""


def _read_other_abstract(citation: etree._Element) -> tuple[str, tuple[Section, ...]]:
    """An English abstract from elsewhere (the publisher, a plain-language summary); English is the DTD's default."""
    for other in citation.findall("OtherAbstract"):
        if other.get("Language", "eng") == "eng":
            abstract, sections = _read_abstract(other)
            if abstract:
                return abstract, sections
    return "", ()


def _read_year(element: etree._Element | None, date: str) -> int | None:
    """The year, from <Year> or from a <MedlineDate> such as "1998 Dec-1999 Jan"."""
    match = _YEAR.search(_find_first(element, f"{date}/Year", f"{date}/MedlineDate"))
    return int(match.group()) if match else None


def _read_types(element: etree._Element | None) -> tuple[str, ...]:
    return () if element is None else tuple(filter(None, map(flatten, element.findall("PublicationType"))))


def _read_authors(element: etree._Element | None) -> tuple[Author, ...]:
    """The authors in their order; NLM keeps a name that was corrected, marked as no longer valid."""
    if element is None:
        return ()
    valid = [_read_author(author) for author in element.findall("Author") if author.get("ValidYN") != "N"]
    return tuple(author for author in valid if author.family)


def _read_author(element: etree._Element) -> Author:
    family = _find_first(element, "LastName", "CollectiveName")
    return Author(family, _find_first(element, "ForeName", "Initials"), _find_first(element, "Suffix"))


def _find_id(element: etree._Element, part: str, kind: str) -> str:
    """One of the ids beside the PMID, which stand in `part`."""
    path = f"{part}/ArticleIdList/ArticleId".removeprefix("/")
    return next((flatten(found) for found in element.findall(path) if found.get("IdType") == kind), "")


def _find_location(article: etree._Element) -> str:
    """The DOI as the publisher gave it with the article."""
    places = [place for place in article.findall("ELocationID") if place.get("EIdType") == "doi" and place.get("ValidYN") != "N"]
    return flatten(places[0]) if places else ""


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

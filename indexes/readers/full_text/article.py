"""A JATS article as a full text: its record, and its paragraphs, captions and rows of tables in their order; its licence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from counterpoint.indexes.readers.base.fields import (
    RecordError,
    clean_text,
    find_doi,
    find_pmcid,
    is_placeholder,
    is_retracted,
    join_parts,
    read_pmid,
)
from counterpoint.indexes.readers.base.markup import find_name
from counterpoint.indexes.readers.exports.entry import split_abstract
from counterpoint.indexes.readers.full_text.blocks import Blocks, find_mark
from counterpoint.indexes.readers.full_text.jats import find_abstract, find_first, find_meta, read_words, replace_marks, walk
from counterpoint.indexes.readers.full_text.tables import Row, read_rows
from counterpoint.retrieval.core.values import Author, Document, FullText, Notice, Section, SectionKind

MOST_BLOCKS = 20_000
"""A paper has fewer paragraphs and rows of tables."""


def read_article(article: etree._Element, source: str) -> FullText:
    """The full text of an article; raises `RecordError` for one without a body, or without a word in it."""
    replace_marks(article)
    body = find_first(article, "body")
    if body is None:
        raise RecordError("expected the text of a paper, got a file without a body; its publisher may only give the abstract")
    record = read_record(article)
    blocks = _Blocks()
    blocks.read(body, "introduction" if record.abstract else "other")
    for path in ("{*}back/{*}app-group/{*}app", "{*}floats-group", "{*}floats-wrap"):
        for part in article.iterfind(path):
            blocks.read(part, "other")
    # Some publishers have all tables and figures behind the text, among declarations that are no text of the paper.
    for section in article.iterfind("{*}back/{*}sec"):
        for element in section.iter("{*}table-wrap", "{*}fig"):
            blocks.read_float(element)
    if not blocks.found:
        raise RecordError("expected the text of a paper, got a body without a word")
    if len(blocks.found) > MOST_BLOCKS:
        raise RecordError(f"expected one paper, got {len(blocks.found):,} paragraphs and rows of tables")
    return FullText(record, tuple(blocks.found), "jats", source, read_licence(article), blocks.pictures)


class _Blocks(Blocks):
    """The blocks of an article."""

    pictures = 0

    def read(self, element: etree._Element, kind: SectionKind) -> None:
        """Append what stands below an element."""
        for piece in walk(element, kind):
            if piece.element is not None:
                self.read_float(piece.element)
            elif not piece.heading:
                self.add(piece.text, piece.kind, piece.section)

    def read_float(self, element: etree._Element) -> None:
        """A table or a figure: its caption, the table's rows, and its notes that say something."""
        is_table = find_name(element) == "table-wrap"
        label = self.name(_read_label(element) or ("Table" if is_table else "Figure"))
        title = find_first(element, "caption")
        caption = "" if title is None else " ".join(piece.text for piece in walk(title, "caption") if piece.text)
        self.add_caption(label, caption)
        if is_table:
            rows = list[tuple[Row, None]]()
            for table in element.iter("{*}table"):
                rows += [(row, None) for row in read_rows(table, rows[-1][0].number if rows else 0)]
            self.pictures += not rows and any(find_name(one).endswith("graphic") for one in element.iter())
            self.add_table(
                label, caption, rows, [(find_mark(mark) or find_mark(text), text, None) for mark, text in _read_notes(element)]
            )


def _read_label(element: etree._Element) -> str:
    label = find_first(element, "label")
    return "" if label is None else " ".join("".join(map(str, label.itertext())).split()).rstrip(" .:")


def _read_notes(wrap: etree._Element) -> Iterator[tuple[str, str]]:
    """The notes below a table, each with its label, "" if it has none."""
    for foot in wrap.iter("{*}table-wrap-foot"):
        for element in foot:
            label = _read_label(element)
            for place in [element] if find_name(element) == "p" else element.iter("{*}p"):
                if text := read_words(place):
                    yield label, text


_HREF = "{http://www.w3.org/1999/xlink}href"
_YEAR = re.compile("(?:1[5-9]|20)[0-9]{2}")
_LONGEST_LICENCE = 400
_TYPES = {
    "research-article": ("Journal Article",),
    "brief-report": ("Journal Article",),
    "methods-article": ("Journal Article",),
    "review-article": ("Journal Article", "Review"),
    "systematic-review": ("Journal Article", "Systematic Review"),
    "case-report": ("Case Reports",),
    "clinical-trial": ("Clinical Trial",),
    "letter": ("Letter",),
    "reply": ("Letter", "Comment"),
    "editorial": ("Editorial",),
    "article-commentary": ("Comment",),
    "correction": ("Published Erratum",),
    "addendum": ("Published Erratum",),
    "retraction": ("Retraction of Publication",),
    "partial-retraction": ("Retraction of Publication",),
    "expression-of-concern": ("Expression of Concern",),
    "retracted-article": ("Retracted Publication",),
    "protocol": ("Clinical Trial Protocol",),
    "news": ("News",),
    "preprint": ("Preprint",),
}
"""PubMed's types for JATS's."""
_PROTOCOL = re.compile(r"(?:study|trial|clinical|research|review)? ?protocols?", re.IGNORECASE)
_TRIAL = re.compile(r"randomi[sz]ed (?:controlled |clinical )*trials?", re.IGNORECASE)
_NOTICES = {
    "retracted-article": "RetractionOf",
    "retraction-of": "RetractionOf",
    "partial-retraction": "PartialRetractionOf",
    "retraction-forward": "RetractionIn",
    "retraction": "RetractionIn",
    "retracted-by": "RetractionIn",
    "corrected-article": "ErratumFor",
    "addended-article": "ErratumFor",
    "correction-forward": "ErratumIn",
    "correction": "ErratumIn",
    "object-of-concern": "ExpressionOfConcernFor",
    "concern-forward": "ExpressionOfConcernIn",
    "commentary-article": "CommentOn",
    "commentary": "CommentIn",
}
"""The RefTypes of PubMed for JATS's kinds of related article."""
_RETRACTING = frozenset({"retraction-forward", "retraction", "retracted-by"})
# Dates of something else than the publication.
_OTHER_DATES = frozenset("pmc-release nihms-submitted retracted corrected preprint received accepted rev-recd".split())
_DATES = ("ppub", "print", "collection", "epub-ppub", "pub", "epub", "electronic")
"""The dates of publication, as PubMed prefers them: the issue's, then that on the web."""


def read_record(article: etree._Element) -> Document:
    """The paper's record; `pmid` is "" where the file names none."""
    meta = find_meta(article)
    if meta is None:
        return Document("", "", "")
    title = _read_title(meta)
    types = _read_types(article, meta)
    links = list(meta.iter("{*}related-article", "{*}related-object"))
    abstract, sections = read_abstract(article)
    is_own = not {"Retraction of Publication", "Published Erratum"} & set(types)
    said = any(link.get("related-article-type") in _RETRACTING for link in links)
    return Document(
        pmid=read_pmid(_find_id(meta, "pmid")),
        title=title,
        abstract=abstract,
        year=_read_year(meta),
        journal=next(filter(None, (clean_text(read_words(one)) for one in article.iterfind("{*}front//{*}journal-title"))), ""),
        types=types,
        notices=tuple(_read_notices(links)),
        sections=sections,
        retracted=is_own and (said or is_retracted(title, types)),
        authors=tuple(_read_authors(meta)),
        doi=find_doi(_find_id(meta, "doi")),
        pmcid=find_pmcid_of(meta),
    )


def find_pmcid_of(meta: etree._Element | None) -> str:
    """The PMCID that an article's front names; "" where it names none."""
    if meta is None:
        return ""
    return find_pmcid(_find_id(meta, "pmcid")) or find_pmcid(f"PMC{_find_id(meta, 'pmc').upper().removeprefix('PMC')}")


def _find_id(meta: etree._Element, kind: str) -> str:
    found = (read_words(one) for one in meta if find_name(one) == "article-id" and one.get("pub-id-type") == kind)
    return next(filter(None, found), "")


def _read_title(meta: etree._Element) -> str:
    group = find_first(meta, "title-group")
    title, subtitle = (clean_text(read_words(find_first(group, name))) for name in ("article-title", "subtitle"))
    return f"{title.rstrip(' :')}: {subtitle}" if title and subtitle else title or subtitle


def _read_types(article: etree._Element, meta: etree._Element) -> tuple[str, ...]:
    types = list(_TYPES.get(article.get("article-type", ""), ()))
    categories = find_first(meta, "article-categories")
    for subject in [] if categories is None else categories.iter("{*}subject"):
        words = read_words(subject)
        types += ["Clinical Trial Protocol"] if _PROTOCOL.fullmatch(words) else []
        types += ["Randomized Controlled Trial"] if _TRIAL.fullmatch(words) else []
    return tuple(dict.fromkeys(types))


def _read_notices(links: list[etree._Element]) -> Iterator[Notice]:
    """The links to publications whose PMID is given; another leads nowhere."""
    for link in links:
        kind = _NOTICES.get(link.get("related-article-type", ""), "")
        target = link.get(_HREF, "") if link.get("ext-link-type") in ("pmid", "pubmed") else ""
        if kind and (pmid := read_pmid(target)):
            yield Notice(kind, pmid)


def _read_year(meta: etree._Element) -> int | None:
    years: dict[str, int] = {}
    for element in meta:
        if find_name(element) == "pub-date":
            year = _YEAR.search(read_words(find_first(element, "year")) or read_words(find_first(element, "string-date")))
            for kind in (element.get("pub-type"), element.get("date-type"), element.get("publication-format")):
                if year:
                    years.setdefault(kind or "", int(year[0]))
    kinds = (*_DATES, *(kind for kind in years if kind not in _OTHER_DATES))
    return next((years[kind] for kind in kinds if kind in years), None)


def _read_authors(meta: etree._Element) -> Iterator[Author]:
    """The authors in their order; the members of a group follow its name in a list of their own, which is left out."""
    for group in meta:
        for contributor in group if find_name(group) == "contrib-group" else ():
            if find_name(contributor) == "contrib" and contributor.get("contrib-type", "author") == "author":
                author = _read_author(contributor)
                if author.family:
                    yield author


def _read_author(contributor: etree._Element) -> Author:
    name = next((one for one in contributor.iter("{*}name") if one.get("content-type") != "index"), None)
    if name is None:
        name = find_first(contributor, "string-name", deep=True)
    collab = find_first(contributor, "collab", deep=True)
    if collab is not None or name is None:
        words = [collab.text or ""] if collab is not None and find_first(collab, "contrib-group") is not None else []
        return Author(clean_text(" ".join(words).strip() or read_words(collab)))
    family, given, suffix = (clean_text(read_words(find_first(name, part))) for part in ("surname", "given-names", "suffix"))
    return Author(family or clean_text(read_words(name)), given if family else "", suffix)


def read_abstract(article: etree._Element) -> tuple[str, tuple[Section, ...]]:
    """The abstract and its sections, by their titles, or by headings in the text where it has none."""
    element = find_abstract(article)
    pieces = [] if element is None else list(walk(element, "abstract", fixed=True))
    if not any(piece.section for piece in pieces):
        text = "\n".join(piece.text for piece in pieces if piece.text and not piece.heading)
        return ("", ()) if is_placeholder(text) else split_abstract(text)
    parts: list[tuple[str, str]] = []
    for piece in pieces:
        if not piece.text or piece.heading:
            continue
        label = piece.section.rstrip(" :.")
        if parts and parts[-1][0] == label:
            parts[-1] = (label, f"{parts[-1][1]} {piece.text}")
        else:
            parts.append((label, piece.text))
    return join_parts([(label, clean_text(text)) for label, text in parts])


def read_licence(article: etree._Element) -> str:
    """What the file says of its licence, shortened: its words and its address; else its statement of copyright."""
    meta = find_meta(article)
    permissions = find_first(meta, "permissions")
    place = meta if permissions is None else permissions
    if place is None:
        return ""
    licence = find_first(place, "license")
    words = "" if licence is None else clean_text(" ".join(piece.text for piece in walk(licence, "other")))
    addresses = [] if licence is None else [licence.get(_HREF, ""), *(one.get(_HREF, "") for one in licence.iter("{*}ext-link"))]
    addresses += [read_words(one) for one in place.iter("{*}license_ref")]
    address = next((one.strip() for one in addresses if one.strip().startswith("http")), "")
    if not words and not address:
        return _shorten(read_words(find_first(place, "copyright-statement")))
    return _shorten(words) if address in words else f"{_shorten(words)} ({address})" if words else address


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_LICENCE else f"{text[:_LONGEST_LICENCE].rpartition(' ')[0]} …"

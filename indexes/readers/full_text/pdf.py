"""A PDF as a full text: its record from the first page, and its paragraphs, captions and rows of tables with their pages.

The list of references, acknowledgements and the like are left out, and so are notes at the foot of a page and the marks that
point to them: a superscript 12 is not one of the study's numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from counterpoint.indexes.readers.base.fields import DOI, RecordError, clean_doi, clean_text, find_pmcid, find_pmid, is_retracted
from counterpoint.indexes.readers.exports.entry import list_letters, split_abstract
from counterpoint.indexes.readers.full_text.blocks import Blocks, find_mark
from counterpoint.indexes.readers.full_text.tables import Cell, name_rows
from counterpoint.indexes.readers.pdf.layout import CAPTION, Item
from counterpoint.indexes.readers.pdf.lines import CLOSE, OPEN
from counterpoint.indexes.readers.pdf.reading import Printed, read_printed_apart
from counterpoint.nli.text.headings import continue_section, find_heading_kind, looks_like_heading
from counterpoint.retrieval.core.values import Author, Document, FullText, SectionKind
from counterpoint.retrieval.words.forms import capitalise

_MARK = rf"{OPEN}[^{CLOSE}]*{CLOSE}"
_MARKS = re.compile(rf"\s*{_MARK}(?:\s*[,;–—-]?\s*{_MARK})*")
_REFERENCES = re.compile(
    r"(?:[\divx]+\.?\s+)?(?:references?|bibliography|literature cited|works cited|reference list|literature)\W*$", re.I
)
_MORE = re.compile(r"(?:supplementa\w*\s+)?(?:appendix|appendices|tables?|figures?|figure legends?|legends?)\b", re.I)
_KEYWORDS = re.compile(
    r"(?:key ?words?|index terms|mesh terms|abbreviations?|correspondence|citation|received|copyright|©)\b", re.I
)
_ABSTRACT = re.compile(r"(?P<name>abstract|summary|a b s t r a c t)\s*[:.—–-]*\s*", re.I)
_LABEL = re.compile(r"(?P<label>[A-Z][A-Za-z,/&() -]{2,40}?)\s*[:.—–]\s+")
_LONGEST_ABSTRACT = 700
_LONG = 50
"""Words of a paragraph that may be an abstract."""
_LATER = frozenset({"results", "discussion", "conclusion"})
_YEAR = re.compile(r"\b(?:19[5-9]|20[0-4])\d\b")
_DATED = re.compile(
    r"(?:published|publication|©|\(c\)|copyright)\D{0,40}?(?:\d{1,2}\D{1,12})?\b((?:19[5-9]|20[0-4])\d)\b",
    re.I,
)
_NAME = re.compile(r"(?:[^\W\d_][\w.'’-]*\s+){1,4}[^\W\d_][\w'’-]+(?:,? (?:Jr|Sr|II|III)\.?)?")
_PARTICLES = frozenset("van von de der den di da del della du la le ten ter dos das el al bin ibn zu zur af".split())
_DEGREES = re.compile(r",?\s*\b(?:M\.?D|Ph\.?D|MPH|MSc|BSc|FRCP|MBBS|RN|Dr|Prof|MBChB|DSc|MS|MA|PharmD|DDS|MRCP)\b\.?")
_LEAST_WORDS = 50
_LEAST_WORDS_OF_SLIDES = 150
_LONG_TITLE = 30
_LICENCE = re.compile(r"[^.]{0,300}\bcreative\s?commons\b[^.]{0,200}(?:\.\d[^.]*)?\.?", re.I)


def read_pdf_text(raw: bytes, name: str, source: str) -> FullText:
    """The full text of a PDF; raises `BadInput` or `RecordError` for one that cannot be read, or is no paper."""
    printed = read_printed_apart(raw, name)
    if printed.is_landscape and printed.words < _LEAST_WORDS_OF_SLIDES:
        raise RecordError(f"expected a paper, got slides: {printed.pages:,} wide pages of few words; give the paper itself")
    if sum(len(item.text.split()) for item in printed.items) < _LEAST_WORDS:
        raise RecordError(f"expected a paper, got a PDF of fewer than {_LEAST_WORDS} words; check that it is the whole paper")
    items = [item for item in printed.items if item.kind != "note"]
    front, abstract, body = _split_front(items)
    record = _read_record(printed, front, abstract)
    blocks = Blocks()
    _read_body(body, blocks, "introduction" if record.abstract else "other")
    if not blocks.found:
        raise RecordError("expected the text of a paper, got a PDF with an abstract at most; give the whole paper")
    licence = _LICENCE.search(clean_text(" ".join(item.text for item in printed.items[-400:])))
    return FullText(record, tuple(blocks.found), "pdf", source, licence[0].strip()[:400] if licence else "")


def clean(text: str) -> str:
    """The text without the marks of references and notes."""
    return " ".join(_MARKS.sub("", text).split())


def _split_front(items: Sequence[Item]) -> tuple[Sequence[Item], list[tuple[str, str]], Sequence[Item]]:
    """What stands before the abstract, the abstract's labelled parts, and the body."""
    start = next((place for place, item in enumerate(items) if item.page <= 3 and _begins_abstract(item)), None)
    if start is None:
        return _split_without_heading(items)
    first, place = items[start], start
    parts, kinds, labels, label = list[tuple[str, str]](), set[SectionKind | None](), set[str](), ""
    if first.kind == "paragraph" and (rest := clean(_ABSTRACT.sub("", first.text, count=1))):
        parts.append(("", rest))
    for item in items[start + 1 :]:
        place += 1
        if item.table or _KEYWORDS.match(item.text) or sum(len(text.split()) for _, text in parts) > _LONGEST_ABSTRACT:
            break
        if item.kind == "heading":
            label, kind = clean(item.text).strip(" :."), find_heading_kind(item.text)
            is_above = first.kind == "heading" and (item.level < first.level or (kind is None and item.level == first.level))
            again = label in labels or (kind in kinds and not kinds.isdisjoint(_LATER))
            if is_above or again or (kind == "introduction" and parts and (not labels or not kinds.isdisjoint(_LATER))):
                break
        else:
            named = _LABEL.match(item.text)
            kind = find_heading_kind(named["label"] if named else label)
            # Behind the conclusion, or a first paragraph without a label, the body begins.
            if not named and not label and (parts and (not labels or "conclusion" in kinds)):
                break
            parts.append((label, clean(item.text)))
            labels |= {label or (named["label"] if named else "")} - {""}
            label = ""
        kinds.add(kind)
    else:
        place += 1
    while place < len(items) and _KEYWORDS.match(items[place].text):
        place += 1
    return items[:start], parts, items[place:]


def _split_without_heading(items: Sequence[Item]) -> tuple[Sequence[Item], list[tuple[str, str]], Sequence[Item]]:
    """The same where no heading names the abstract: long paragraphs before a heading of the introduction are one."""
    known = [place for place, item in enumerate(items) if item.kind == "heading" and find_heading_kind(item.text)]
    first = known[0] if known else next((place + 1 for place, item in enumerate(items) if item.kind == "heading"), 0)
    long = [place for place, item in enumerate(items[:first]) if item.kind == "paragraph" and len(item.text.split()) >= _LONG]
    if not long:
        return items[:first], [], items[first:]
    if find_heading_kind(items[first].text) == "introduction":
        front = [item for place, item in enumerate(items[:first]) if place not in long]
        return front, [("", clean(items[place].text)) for place in long], items[first:]
    return items[: long[0]], [], items[long[0] :]


def _begins_abstract(item: Item) -> bool:
    """Whether this is the heading of an abstract, or a paragraph that begins with it: "Abstract: …"."""
    match = _ABSTRACT.match(item.text)
    if not match or item.kind not in ("heading", "paragraph"):
        return False
    rest, is_marked = item.text[match.end() :], match[0].strip() != match["name"] or match["name"].isupper()
    return not rest or (rest[0].isupper() and (is_marked if item.kind == "paragraph" else len(rest.split()) < 3))


def _read_body(items: Sequence[Item], blocks: Blocks, kind: SectionKind) -> None:
    """The sections of a paper, without its references; a heading less prominent than those of sections keeps their kind."""
    headings = [item for item in items if item.kind == "heading"]
    main = min((item.level for item in headings if _is_exact(clean(item.text))), default=0)
    section, above, skipped, tables = "", kind, False, set[int]()
    for item in items:
        if item.kind == "heading":
            text = clean(item.text)
            if skipped and item.level > main and not (find_heading_kind(text) or _MORE.match(text)):
                continue
            skipped, section = bool(_REFERENCES.match(text)), text
            if item.level > main:
                found = find_heading_kind(text)
                kind = found if found and found != "other" and _is_exact(text) else above
            else:
                kind = above = continue_section(text, above)
        elif item.table and item.table not in tables:
            tables.add(item.table)
            _read_table([one for one in items if one.table == item.table], blocks)
        elif item.kind == "paragraph" and not skipped:
            blocks.add(clean(item.text), kind, section, page=item.page)


def _is_exact(heading: str) -> bool:
    """Whether a heading is exactly one of those that name a section."""
    return looks_like_heading(f"{re.sub(r'^[0-9.]+ +', '', heading).rstrip('.: ')}.")


def _read_table(items: Sequence[Item], blocks: Blocks) -> None:
    """A table or a figure: its caption, its rows with the heads of their columns, and its notes."""
    caption = clean(next((item.text for item in items if item.kind == "caption"), ""))
    match = CAPTION.match(caption)
    label = " ".join(match["label"].split()) if match else "Table"
    text = caption[match.end() :] if match else caption
    label = blocks.name(capitalise(label))
    pages = {item.kind: item.page for item in reversed(items)}
    blocks.add_caption(label, text, pages.get("caption"))
    rows = [item for item in items if item.kind == "row"]
    laid = [([Cell(clean(text), column, 1, bold, bold) for text, column, bold in item.cells], False) for item in rows]
    named = list(name_rows(laid))
    notes = [(find_mark(item.text), clean(item.text), item.page) for item in items if item.kind == "legend"]
    blocks.add_table(label, text, [(row, rows[row.number - 1 + len(rows) - named[-1].number].page) for row in named], notes)


def _read_record(printed: Printed, front: Sequence[Item], abstract: Sequence[tuple[str, str]]) -> Document:
    """The paper's record, as far as its first page says it plainly; `pmid` is "" where it names none."""
    page = clean(" ".join((*printed.front, *printed.edges)))
    title, behind = _find_title(front, printed)
    labelled = "\n".join(f"{label}: {text}" if label else text for label, text in abstract)
    text, sections = split_abstract(clean_text(labelled) if len(abstract) < 2 else labelled)
    marked = any(re.fullmatch(r"\W*retracted(?: article)?\W*", line, re.I) for line in (*printed.front, *printed.edges))
    return Document(
        pmid=find_pmid(page),
        title=title,
        abstract=text,
        year=_find_year(clean(" ".join((*(one.text for one in front), *printed.edges))), page, printed.said),
        sections=sections,
        retracted=marked or is_retracted(title),
        authors=tuple(_find_authors(behind, printed.said, page)),
        doi=_find_doi(page, printed.said),
        pmcid=find_pmcid(page),
    )


def _find_title(front: Sequence[Item], printed: Printed) -> tuple[str, Sequence[Item]]:
    """The title, and what follows it: the file's own if the first page has it, else what is set largest before the abstract."""
    said = clean_text(printed.said.get("Title", ""))
    places = [
        place
        for place, item in enumerate(front)
        if item.kind in ("heading", "paragraph")
        and len(item.text.split()) > 2
        and not find_heading_kind(item.text)
        and len(item.text) < 400
    ]
    place = max(places, key=lambda at: (front[at].size, front[at].kind == "heading", -at), default=None)
    if len(list_letters(said)) >= _LONG_TITLE and list_letters(said) in list_letters(" ".join(printed.front)):
        own = next((at for at, item in enumerate(front) if list_letters(said)[:20] in list_letters(item.text)), place)
        return said, front[own + 1 :] if own is not None else front
    usual = Counter[float]()
    for item in printed.items:
        usual[item.size] += len(item.text)
    if place is None or (front[place].size <= usual.most_common(1)[0][0] and front[place].kind != "heading"):
        return "", front
    return clean(front[place].text), front[place + 1 :]


def _find_doi(page: str, said: dict[str, str]) -> str:
    """The DOI that the file names, if the first page has it too; else the first on that page."""
    found = [doi for match in DOI.finditer(page) if (doi := clean_doi(match[0]))]
    named = " ".join(said.values()).lower()
    return next((doi for doi in found if doi in named), found[0] if found else "")


def _find_year(mast: str, page: str, said: dict[str, str]) -> int | None:
    """The year of publication: as said, else the only or the most frequent one beside the title and on the edges of pages."""
    for years in (_DATED.findall(mast), _DATED.findall(page), _YEAR.findall(mast)):
        if years:
            return int(max(years, key=lambda year: (years.count(year), year)))
    made = said.get("CreationDate", "")[2:6]
    return int(made) if made in _YEAR.findall(page) else None


def _find_authors(behind: Sequence[Item], said: dict[str, str], page: str) -> Iterator[Author]:
    """The names behind the title, or those that the file names if the first page has them."""
    named = [_make_author(one) for one in re.split(r"\s*[,;]\s*", clean_text(said.get("Author", ""))) if _NAME.fullmatch(one)]
    if named and all(author.family in page for author in named):
        yield from named
        return
    for item in behind[:4]:
        text = _DEGREES.sub("", clean(item.text))
        parts = [
            part.strip(" *†‡§¶.")
            for part in re.split(r"\s*(?:[,;]|\band\b|&)\s*", re.sub(r"(?<=[a-z])[\d*†‡§¶]+(?:,\d+)*", "", text))
        ]
        parts = [part for part in parts if part]
        names = [part for part in parts if _NAME.fullmatch(part) and sum(word[:1].isupper() for word in part.split()) > 1]
        if names and len(names) >= 0.7 * len(parts):
            yield from map(_make_author, names)
            return


def _make_author(name: str) -> Author:
    words = name.split()
    start = len(words) - 1
    while start > 1 and words[start - 1].lower() in _PARTICLES:
        start -= 1
    return Author(" ".join(words[start:]), " ".join(words[:start]))

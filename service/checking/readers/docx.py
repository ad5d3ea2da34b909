"""Word's files (DOCX, DOCM, DOTX; Transitional and Strict): headings, paragraphs, list entries, cells, text boxes and notes.

Everything that Word shows in the running text is read, whatever it stands in; wordml.py reads the single paragraph.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from io import BytesIO
from zipfile import BadZipFile, ZipFile

from lxml import etree

from retrieval.core.errors import BadInput
from service.checking.readers.passage import BlockKind, Link, Passage, Writing
from service.checking.readers.wordml import (
    Context,
    Element,
    Line,
    Looks,
    attribute,
    contents,
    find,
    is_prompt,
    read_styles,
    tag_of,
)

MOST_UNPACKED = 200_000_000
"""Bytes of all parts of the file, unpacked; a large file is mostly pictures."""
MOST_WRITTEN = 30_000_000
"""Bytes of its XML parts, which are held in memory as trees of about twenty times their size."""
_MOST_PARTS = 5_000
_MOST_PARAGRAPHS = 50_000
"""The longest books have fewer, and a small file may contain a million empty ones."""
_OTHERS = {
    "xl/workbook.xml": "an Excel file; save the sheet as CSV",
    "ppt/presentation.xml": "a PowerPoint file; copy its text",
    "content.xml": "an OpenDocument file; save it as .docx",
    "META-INF/container.xml": "an EPUB; copy its text",
}
"""Other kinds of file that are ZIP archives too, by a part that each has."""
_GONE = ("w:del", "w:moveFrom")
_Block = tuple[str, BlockKind, tuple[Link, ...]]


def read_docx(raw: bytes, name: str) -> Passage:
    """The text of a Word file; raises `BadInput` for a damaged one, another kind of file, or a ZIP bomb."""
    try:
        with ZipFile(BytesIO(raw)) as archive:
            _check_parts(archive, name)
            main = _find_main(archive, name)
            document = _Document(archive, main)
            _check_paragraphs(document.root, name)
            writing = Writing()
            for text, kind, links in document.blocks():
                writing.add(text, kind, links)
            return writing.done()
    except BadInput:
        raise
    except (BadZipFile, OSError):
        raise BadInput(f"{name} is damaged: it cannot be unpacked as DOCX; save it again, or copy its text.") from None
    except RecursionError:
        raise BadInput(f"{name} is nested too deeply to be read; save it again, or copy its text.") from None
    except MemoryError:
        raise
    except Exception:
        # A damaged part may raise nearly anything: KeyError, an XML error, an error of the packing.
        raise BadInput(f"{name} is damaged: its parts cannot be read as DOCX; save it again, or copy its text.") from None


def _check_parts(archive: ZipFile, name: str) -> None:
    """Refuse a ZIP bomb before anything is unpacked; zipfile never unpacks more of a part than its declared size."""
    parts = archive.infolist()
    if any(part.flag_bits & 1 for part in parts):
        raise BadInput(f"{name} has a password; save it without one.")
    if len(parts) > _MOST_PARTS or sum(part.file_size for part in parts) > MOST_UNPACKED:
        raise BadInput(f"{name} unpacks to more than {MOST_UNPACKED // 1_000_000} MB or {_MOST_PARTS:,} parts; copy its text.")
    if sum(part.file_size for part in parts if part.filename.endswith((".xml", ".rels"))) > MOST_WRITTEN:
        raise BadInput(f"{name} unpacks to more than {MOST_WRITTEN // 1_000_000} MB of text and marks; check it in parts.")


def _find_main(archive: ZipFile, name: str) -> str:
    """The part with the document itself, which need not have its usual name."""
    parts = set(archive.namelist())
    named = next((target for kind, target in _relations(archive, "").values() if kind == "officeDocument"), "word/document.xml")
    if named in parts and named not in _OTHERS:
        return named
    what = next((what for part, what in _OTHERS.items() if part in parts), "")
    if what:
        raise BadInput(f"{name} is {what}.")
    raise BadInput(f"{name} is a ZIP file, not a DOCX; give plain text, Markdown, DOCX, PDF or CSV.")


def _check_paragraphs(root: Element, name: str) -> None:
    if any(place >= _MOST_PARAGRAPHS for place, _ in enumerate(one for one in root.iter() if tag_of(one) == "w:p")):
        raise BadInput(f"{name} has more than {_MOST_PARAGRAPHS:,} paragraphs; check it in parts.")


def _parse(archive: ZipFile, part: str) -> Element | None:
    """The root of a part, None if the file has no such part; entities are left alone and nothing is fetched."""
    if part not in archive.namelist():
        return None
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
    return etree.fromstring(archive.read(part), parser)


def _relations(archive: ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """The kind and the target of each relation of a part, by its id."""
    folder, file = posixpath.split(part)
    root = _parse(archive, posixpath.join(folder, "_rels", f"{file}.rels"))
    relations: dict[str, tuple[str, str]] = {}
    for one in root if root is not None else ():
        target = attribute(one, "Target")
        if attribute(one, "TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        relations[attribute(one, "Id")] = attribute(one, "Type").rpartition("/")[2], target
    return relations


class _Document:
    """One file: its main part, its notes, and what both need of the other parts."""

    def __init__(self, archive: ZipFile, main: str) -> None:
        relations = _relations(archive, main)
        parts = dict(reversed(relations.values()))
        root = _parse(archive, main)
        if root is None:
            raise KeyError(main)
        self.root = root
        self._names, looks = read_styles(_parse(archive, parts.get("styles", "")))
        addresses = {id: target for id, (kind, target) in relations.items() if kind == "hyperlink"}
        self._context = Context(looks, addresses)
        self._notes = {
            f"{kind} {attribute(one, 'id')}": list(self._blocks_of(one))
            for kind in ("footnote", "endnote")
            for one in _children(_parse(archive, parts.get(f"{kind}s", "")), f"w:{kind}")
            if not attribute(one, "type").endswith(("eparator", "Notice"))
        }
        notes = {id: " ".join(text for text, _, _ in blocks) for id, blocks in self._notes.items()}
        self._context = Context(looks, addresses, notes)

    def blocks(self) -> Iterator[_Block]:
        """The blocks of the document in reading order; its notes follow as entries of a list."""
        yield from self._blocks_of(self.root)
        for blocks in self._notes.values():
            yield from ((text, "item", links) for text, _, links in blocks)

    def _blocks_of(self, root: Element) -> Iterator[_Block]:
        """The blocks of one part or note, which its fields do not leave."""
        kinds = [attribute(one, "fldCharType") for one in root.iter() if tag_of(one) == "w:fldChar"]
        self._context.codes.clear()
        self._context.fields = kinds.count("begin") == kinds.count("end")
        lines: list[Line] = []
        yield from self._walk(root, in_table=False, lines=lines)
        yield from _finish(lines)

    def _walk(self, element: Element, in_table: bool, lines: list[Line]) -> Iterator[_Block]:
        """The blocks within an element; `lines` holds a paragraph that runs on, since the mark at its end was deleted."""
        for child in contents(element):
            name = tag_of(child)
            if name == "w:p":
                yield from self._read_paragraph(child, in_table, lines)
                continue
            if name == "w:tbl":
                yield from _finish(lines)
            if name not in _GONE and not _is_deleted_row(child, name) and not is_prompt(child):
                yield from self._walk(child, in_table or name == "w:tbl", lines)

    def _read_paragraph(self, paragraph: Element, in_table: bool, lines: list[Line]) -> Iterator[_Block]:
        properties = find(paragraph, "w:pPr")
        style = attribute(find(properties, "w:pStyle") if properties is not None else None, "val")
        line = lines.pop() if lines else Line(self._context)
        looks = self._context.styles.get(style, Looks())
        for child in contents(paragraph):
            line.read(child, looks)
        mark = find(properties, "w:rPr") if properties is not None else None
        if mark is not None and any(tag_of(one) in _GONE for one in mark):
            lines.append(line)
            return
        text, links = line.finish()
        if not self._names.get(style, "").startswith("toc "):
            yield text, "cell" if in_table else self._kind(properties, style), links
        for box in line.boxes:
            yield from self._walk(box, in_table, [])

    def _kind(self, properties: Element | None, style: str) -> BlockKind:
        """The kind of a paragraph, by the names of its style and of those that it is based on, or by its numbering."""
        names = self._names.get(style, "").split("\n")
        if any(name.startswith(("heading", "title", "subtitle")) for name in names):
            return "heading"
        numbered = properties is not None and find(properties, "w:numPr") is not None
        return "item" if numbered or any(name.startswith("list") for name in names) else "paragraph"


def _finish(lines: list[Line]) -> Iterator[_Block]:
    """The paragraph that ran on, if there is one, now that none follows it."""
    while lines:
        text, links = lines.pop().finish()
        yield text, "paragraph", links


def _children(root: Element | None, name: str) -> list[Element]:
    return [one for one in root if tag_of(one) == name] if root is not None else []


def _is_deleted_row(element: Element, name: str) -> bool:
    """Whether this is a table's row or cell whose deletion is tracked."""
    gone = {"w:tr": ("w:trPr", "w:del"), "w:tc": ("w:tcPr", "w:cellDel")}.get(name)
    return gone is not None and find(element, *gone) is not None

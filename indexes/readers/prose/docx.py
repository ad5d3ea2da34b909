"""Word's files (DOCX, DOCM, DOTX; Transitional and Strict): headings, paragraphs, list entries, cells, text boxes and notes.

Everything that Word shows in the running text is read, whatever it stands in: insertions, but no deletions, hidden text or field
codes.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from io import BytesIO
from zipfile import BadZipFile, ZipFile

from lxml import etree

from counterpoint.indexes.readers.prose.passage import BlockKind, Link, Passage, Pieces, Writing
from counterpoint.retrieval.core.errors import BadInput

Element = etree._Element
_WORD = ("http://schemas.openxmlformats.org/wordprocessingml/2006/main", "http://purl.oclc.org/ooxml/wordprocessingml/main")
_MATH = ("http://schemas.openxmlformats.org/officeDocument/2006/math", "http://purl.oclc.org/ooxml/officeDocument/math")
_PREFIXES = {**dict.fromkeys(_WORD, "w:"), **dict.fromkeys(_MATH, "m:")}

_NOT_READ = frozenset(
    "w:del w:moveFrom w:instrText w:delInstrText w:delText w:fldData w:pPr w:rPr w:sdtPr w:sdtEndPr w:tblPr w:trPr w:tcPr w:rt"
    " w:sectPr".split()
)
_CHARACTERS = {"w:tab": "\t", "w:ptab": "\t", "w:br": "\n", "w:cr": "\n", "w:noBreakHyphen": "-"}
_SYMBOL = dict(
    zip(
        range(0x41, 0x7B),
        "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ",
        strict=True,
    )
) | {
    0x22: "∀", 0x24: "∃", 0x27: "∋", 0x2D: "−", 0x40: "≅", 0x7E: "∼", 0xA2: "′", 0xA3: "≤", 0xA5: "∞", 0xAB: "↔", 0xAC: "←",
    0xAD: "↑", 0xAE: "→", 0xAF: "↓", 0xB0: "°", 0xB1: "±", 0xB2: "″", 0xB3: "≥", 0xB4: "×", 0xB5: "∝", 0xB6: "∂", 0xB7: "•",
    0xB8: "÷", 0xB9: "≠", 0xBA: "≡", 0xBB: "≈", 0xBC: "…", 0xD7: "⋅", 0xD6: "√", 0xDB: "⇔", 0xDE: "⇒", 0xE5: "∑", 0xF2: "∫",
}  # fmt: skip
"""The characters of the font Symbol that are not those of ASCII."""


def tag_of(element: Element) -> str:
    """The name of an element: "w:p" whether the file is Strict or Transitional, the bare name in any other namespace."""
    return _name(element.tag) if isinstance(element.tag, str) else ""


@lru_cache(4096)
def _name(tag: str) -> str:
    name = etree.QName(tag)
    return f"{_PREFIXES.get(name.namespace or '', '')}{name.localname}"


def find(element: Element, *path: str) -> Element | None:
    """The first descendant by the names of its ancestors and itself."""
    for name in path:
        following = next((child for child in element if tag_of(child) == name), None)
        if following is None:
            return None
        element = following
    return element


def attribute(element: Element | None, name: str) -> str:
    """An attribute by its name without namespace; "" if there is none."""
    if element is None:
        return ""
    return next((str(value) for key, value in element.attrib.items() if etree.QName(key).localname == name), "")


def is_on(element: Element | None) -> bool | None:
    """Whether a property such as w:vanish is set, and not to false; None where it is not named."""
    return None if element is None else attribute(element, "val").lower() not in ("0", "false", "off", "none")


@dataclass(frozen=True, slots=True)
class CharacterStyle:
    """How characters are shown, as far as it changes what they say."""

    hidden: bool = False
    raised: bool = False
    symbol: bool = False

    def with_properties(self, properties: Element | None, styles: Mapping[str, CharacterStyle]) -> CharacterStyle:
        """These looks, changed by what a w:rPr names, itself or by its style."""
        if properties is None:
            return self
        style = styles.get(attribute(find(properties, "w:rStyle"), "val"), self)
        hidden, align = is_on(find(properties, "w:vanish")), find(properties, "w:vertAlign")
        fonts = find(properties, "w:rFonts")
        return CharacterStyle(
            style.hidden if hidden is None else hidden,
            style.raised if align is None else attribute(align, "val") == "superscript",
            style.symbol if fonts is None else "Symbol" in (attribute(fonts, "ascii"), attribute(fonts, "hAnsi")),
        )


@dataclass(slots=True)
class Context:
    """What a paragraph's text depends on outside it; `codes` are the open fields, each with whether its code is being read."""

    styles: Mapping[str, CharacterStyle] = field(default_factory=dict)
    addresses: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    fields: bool = True
    codes: list[tuple[bool, str]] = field(default_factory=list)


class Line:
    """The text of one paragraph, or of several that became one, with its links and the text boxes anchored in it."""

    def __init__(self, context: Context) -> None:
        self.boxes: list[Element] = []
        self._context = context
        self._pieces = Pieces()
        self._starts: list[int] = []

    def read(self, element: Element, looks: CharacterStyle) -> None:
        """Add everything that is shown in an element."""
        name = tag_of(element)
        if name == "w:instrText" and self._context.codes:
            inside, code = self._context.codes[-1]
            self._context.codes[-1] = inside, code + (element.text or "")
        if name in _NOT_READ or is_prompt(element):
            return
        if name in ("w:t", "m:t"):
            self._add(element.text or "", looks)
        elif name in _CHARACTERS:
            self._add(_CHARACTERS[name], looks)
        elif name == "w:sym":
            self._add(_read_symbol(element), looks)
        elif name == "w:fldChar":
            self._turn(attribute(element, "fldCharType"))
        elif name == "w:txbxContent":
            self.boxes.append(element)
        elif name in ("w:footnoteReference", "w:endnoteReference"):
            self._pieces.link(len(self._pieces), self._context.notes.get(f"{name[2:-9]} {attribute(element, 'id')}", ""))
        elif name.startswith("m:"):
            self._calculate(element, name, looks)
        else:
            start = len(self._pieces)
            if name == "w:r":
                looks = looks.with_properties(find(element, "w:rPr"), self._context.styles)
            for child in contents(element):
                self.read(child, looks)
            if name in ("w:hyperlink", "w:fldSimple"):
                self._pieces.link(start, self._context.addresses.get(attribute(element, "id"), "") + attribute(element, "instr"))

    def finish(self) -> tuple[str, tuple[Link, ...]]:
        """The text and its links."""
        return self._pieces.finish()

    def _add(self, text: str, looks: CharacterStyle) -> None:
        if not text or looks.hidden or any(inside for inside, _ in self._context.codes):
            return
        shown = "".join(_of_symbol(ord(one)) if looks.symbol or "\uf020" <= one <= "\uf0ff" else one for one in text)
        self._pieces.add(shown, looks.raised)

    def _turn(self, kind: str) -> None:
        """A field begins, its code ends and its result follows, or it ends."""
        codes = self._context.codes
        if not self._context.fields:
            return
        if kind == "begin":
            codes.append((True, ""))
            self._starts.append(len(self._pieces))
        elif kind == "separate" and codes:
            codes[-1] = False, codes[-1][1]
        elif kind == "end" and codes:
            self._pieces.link(self._starts.pop() if self._starts else 0, codes.pop()[1])

    def _calculate(self, element: Element, name: str, looks: CharacterStyle) -> None:
        """An equation on one line: a power with "^", a fraction with "/", what is in brackets in brackets."""
        power = name == "m:sup" and tag_of(_parent(element)) in ("m:sSup", "m:sSubSup")
        signs = {"m:d": _sign(element, "m:begChr", "("), "m:den": "/", "m:rad": "√", "m:nary": _sign(element, "m:chr", "∫")}
        self._add("^" if power else signs.get(name, ""), looks)
        for child in contents(element):
            self.read(child, looks)
        if name == "m:d":
            self._add(_sign(element, "m:endChr", ")"), looks)


def contents(element: Element) -> Iterator[Element]:
    """The children of an element; of the alternatives that a program may choose from, the first that has text."""
    for child in element:
        if tag_of(child) != "AlternateContent":
            yield child
            continue
        for choice in child:
            if isinstance(choice.tag, str) and any(tag_of(one) in ("w:t", "m:t", "w:sym") for one in choice.iter()):
                yield from contents(choice)
                break


def is_prompt(element: Element) -> bool:
    """Whether this is a content control that nobody has filled, which shows its prompt."""
    return tag_of(element) == "w:sdt" and bool(is_on(find(element, "w:sdtPr", "w:showingPlcHdr")))


def read_styles(root: Element | None) -> tuple[dict[str, str], dict[str, CharacterStyle]]:
    """The name of each style, in lower case, with those that it is based on; and how its characters are shown."""
    found = {attribute(one, "styleId"): one for one in root if tag_of(one) == "w:style"} if root is not None else {}
    names: dict[str, str] = {}
    looks: dict[str, CharacterStyle] = {}

    def settle(id: str, above: Collection[str]) -> None:
        base = attribute(find(found[id], "w:basedOn"), "val")
        if base in found and base not in looks and base not in above and len(above) < 20:
            settle(base, (*above, id))
        names[id] = f"{attribute(find(found[id], 'w:name'), 'val').lower()}\n{names.get(base, '')}"
        looks[id] = looks.get(base, CharacterStyle()).with_properties(find(found[id], "w:rPr"), {})

    for id in found:
        if id not in looks:
            settle(id, (id,))
    return names, looks


def _parent(element: Element) -> Element:
    parent = element.getparent()
    return element if parent is None else parent


def _sign(element: Element, name: str, usual: str) -> str:
    """A sign that the properties of an equation's part name, such as its brackets."""
    named = find(element, f"{tag_of(element)}Pr", name)
    return usual if named is None else attribute(named, "val")


def _read_symbol(element: Element) -> str:
    """A character named by its font and its place in it; one of an unknown font is U+FFFD."""
    try:
        place = int(attribute(element, "char"), 16)
    except ValueError:
        return "\ufffd"
    if attribute(element, "font") == "Symbol":
        return _of_symbol(place)
    return "\ufffd" if 0xE000 <= place <= 0xF8FF or not 0x20 <= place < 0xD800 else chr(place)


def _of_symbol(place: int) -> str:
    """The character at a place of the font Symbol, which may be given in the private area of Unicode."""
    place = place - 0xF000 if 0xF020 <= place <= 0xF0FF else place
    return _SYMBOL.get(place) or (chr(place) if place < 0x7F else "\ufffd" if place <= 0xFF else chr(place))


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
            if sum(tag_of(one) == "w:p" for one in document.root.iter()) > _MOST_PARAGRAPHS:
                raise BadInput(f"{name} has more than {_MOST_PARAGRAPHS:,} paragraphs; check it in parts.")
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
    raise BadInput(f"{name} is a ZIP file, not a DOCX; give plain text, Markdown, HTML, DOCX, PDF, CSV or TSV.")


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
        looks = self._context.styles.get(style, CharacterStyle())
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

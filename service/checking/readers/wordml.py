"""The text of a paragraph in Word's XML as its reader sees it: insertions, but no deletions, hidden text or field codes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from lxml import etree

from service.checking.readers.passage import Link
from service.checking.readers.raised import Pieces

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
class Looks:
    """How characters are shown, as far as it changes what they say."""

    hidden: bool = False
    raised: bool = False
    symbol: bool = False

    def with_properties(self, properties: Element | None, styles: Mapping[str, Looks]) -> Looks:
        """These looks, changed by what a w:rPr names, itself or by its style."""
        if properties is None:
            return self
        style = styles.get(attribute(find(properties, "w:rStyle"), "val"), self)
        hidden, align = is_on(find(properties, "w:vanish")), find(properties, "w:vertAlign")
        fonts = find(properties, "w:rFonts")
        return Looks(
            style.hidden if hidden is None else hidden,
            style.raised if align is None else attribute(align, "val") == "superscript",
            style.symbol if fonts is None else "Symbol" in (attribute(fonts, "ascii"), attribute(fonts, "hAnsi")),
        )


@dataclass(slots=True)
class Context:
    """What a paragraph's text depends on outside it; `codes` are the open fields, each with whether its code is being read."""

    styles: Mapping[str, Looks] = field(default_factory=dict)
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

    def read(self, element: Element, looks: Looks) -> None:
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

    def _add(self, text: str, looks: Looks) -> None:
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

    def _calculate(self, element: Element, name: str, looks: Looks) -> None:
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
        choices = [one for one in child if isinstance(one.tag, str)]
        chosen = next((one for one in choices if _has_text(one)), None)
        yield from () if chosen is None else contents(chosen)


def is_prompt(element: Element) -> bool:
    """Whether this is a content control that nobody has filled, which shows its prompt."""
    return tag_of(element) == "w:sdt" and bool(is_on(find(element, "w:sdtPr", "w:showingPlcHdr")))


def read_styles(root: Element | None) -> tuple[dict[str, str], dict[str, Looks]]:
    """The name of each style, in lower case, with those that it is based on; and how its characters are shown."""
    found = {attribute(one, "styleId"): one for one in root if tag_of(one) == "w:style"} if root is not None else {}
    names: dict[str, str] = {}
    looks: dict[str, Looks] = {}

    def settle(id: str, above: Collection[str]) -> None:
        base = attribute(find(found[id], "w:basedOn"), "val")
        if base in found and base not in looks and base not in above and len(above) < 20:
            settle(base, (*above, id))
        names[id] = f"{attribute(find(found[id], 'w:name'), 'val').lower()}\n{names.get(base, '')}"
        looks[id] = looks.get(base, Looks()).with_properties(find(found[id], "w:rPr"), {})

    for id in found:
        if id not in looks:
            settle(id, (id,))
    return names, looks


def _has_text(element: Element) -> bool:
    return any(tag_of(one) in ("w:t", "m:t", "w:sym") for one in element.iter())


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

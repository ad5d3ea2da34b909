"""A small reader of JATS, until the whole one is here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from indexes.readers.base.fields import OnBad
from nli.text.sentences import sentence_spans
from retrieval.core.errors import BadRecord
from retrieval.core.values import Author, Block, Document, FullText, Location, SectionKind

_KINDS: dict[str, SectionKind] = {
    "intro": "introduction",
    "backg": "introduction",
    "metho": "methods",
    "resul": "results",
    "discu": "discussion",
    "concl": "conclusion",
}


def read_full_texts(path: Path, on_bad: OnBad) -> Iterator[FullText]:
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        try:
            root = etree.fromstring(file.read_bytes(), etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
        except (etree.XMLSyntaxError, OSError) as error:
            on_bad(BadRecord(file, "the file", str(error)))
            continue
        yield _read(root, file)


def _words(element: etree._Element | None) -> str:
    return " ".join("".join(map(str, element.itertext())).split()) if element is not None else ""


def _read(root: etree._Element, file: Path) -> FullText:
    article = root if root.tag == "article" else root.find(".//article")
    meta = article.find(".//article-meta")
    ids = {one.get("pub-id-type"): _words(one) for one in meta.findall("article-id")}
    pmc = (ids.get("pmc") or ids.get("pmcid") or "").removeprefix("PMC")
    authors = tuple(Author(_words(one.find("surname")), _words(one.find("given-names"))) for one in meta.findall(".//name"))
    year = meta.find(".//pub-date/year")
    record = Document(
        ids.get("pmid", ""),
        _words(meta.find(".//article-title")),
        " ".join(_words(p) for p in meta.findall("abstract//p")),
        int(_words(year)) if year is not None else None,
        authors=authors,
        doi=ids.get("doi", "").lower(),
        pmcid=f"PMC{pmc}" if pmc else "",
    )
    blocks: list[Block] = []
    body = article.find("body")
    if body is not None:
        _section(body, "", "other", blocks)
    return FullText(record, tuple(blocks), "jats", file.name, _words(meta.find(".//license")))


def _section(element: etree._Element, name: str, kind: SectionKind, blocks: list[Block]) -> None:
    number = 0
    for child in element:
        if child.tag == "sec":
            title = _words(child.find("title"))
            own = next((value for key, value in _KINDS.items() if title.lower().startswith(key)), kind)
            _section(child, title or name, own, blocks)
        elif child.tag == "p":
            text = _words(child)
            number += 1
            if text:
                blocks.append(Block(Location(kind, name, number), text, tuple(sentence_spans(text, 0, len(text)))))
        elif child.tag == "table-wrap":
            label, caption = _words(child.find("label")), _words(child.find("caption"))
            if caption:
                blocks.append(Block(Location("caption", label, 0), caption, tuple(sentence_spans(caption, 0, len(caption)))))
            heads = " | ".join(_words(one) for one in child.findall(".//thead//th"))
            for row, line in enumerate(child.findall(".//tbody//tr"), 1):
                text = " | ".join(_words(cell) for cell in line)
                if text.strip(" |"):
                    blocks.append(Block(Location("table", label, row), text, ((0, len(text)),), f"{caption} {heads}".strip()))

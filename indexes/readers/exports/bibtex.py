"""BibTeX and Better BibTeX, read by bibtexparser; LaTeX commands become the characters that they stand for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexes.readers.base.records import OnBad, Record, raise_bad
from indexes.readers.base.source import read_text
from indexes.readers.exports.entry import Fields, make_document
from retrieval.core.errors import BadRecord
from retrieval.core.values import Author

if TYPE_CHECKING:
    from bibtexparser.model import Entry
    from pylatexenc.latex2text import LatexNodes2Text

_BEGINS = re.compile(r"^\s*@[A-Za-z]+\s*[{(]", re.MULTILINE)
_MARKUP = re.compile(r"[\\{}~$]|--|``|''")
_PERCENT = re.compile(r"(?<!\\)%")
_DOLLAR = re.compile(r"(?<!\\)\$")


def is_bibtex(head: str) -> bool:
    """Whether a text holds the beginning of an entry."""
    return not head.lstrip().startswith(("{", "[", "<")) and bool(_BEGINS.search(head))


def read(path: Path, on_bad: OnBad = raise_bad) -> Iterator[Record]:
    """The entries of one file, in its order; comments, preambles and strings are not entries."""
    from bibtexparser.entrypoint import parse_string
    from bibtexparser.middlewares.names import SeparateCoAuthors, SplitNameParts
    from bibtexparser.model import DuplicateBlockKeyBlock, Entry, MiddlewareErrorBlock, ParsingFailedBlock

    library = parse_string(read_text(path), append_middleware=[SeparateCoAuthors(), SplitNameParts()])
    for one in library.blocks:
        # Two entries may share a key, and a name may be beyond BibTeX's rules: neither is a reason to lose a paper.
        block = one.ignore_error_block if isinstance(one, (DuplicateBlockKeyBlock, MiddlewareErrorBlock)) else one
        if isinstance(block, Entry):
            yield make_document(_read_fields(block))
        elif isinstance(block, ParsingFailedBlock):
            line = (block.start_line or 0) + 1
            on_bad(BadRecord(path, f"the entry in line {line}", f"expected a whole BibTeX entry, found a fault ({block.error})"))


def _read_fields(entry: Entry) -> Fields:
    values = {name.lower(): field.value for name, field in entry.fields_dict.items()}

    def text(*names: str) -> str:
        return next((plain_text for name in names if (plain_text := _decode(values.get(name, "")))), "")

    kind = entry.entry_type.lower()
    is_preprint = kind in ("misc", "online") and text("eprinttype", "archiveprefix").lower() in ("arxiv", "biorxiv", "medrxiv")
    return Fields(
        title=text("title"),
        abstract=text("abstract"),
        journal=text("journaltitle", "journal", "booktitle", "shortjournal"),
        date=text("year", "date"),
        authors=_read_authors(values.get("author", "")),
        types=["preprint" if is_preprint else kind] if is_preprint or kind not in ("misc", "online") else [],
        pmid=text("pmid") or (text("eprint") if text("eprinttype", "archiveprefix").lower() == "pubmed" else ""),
        doi=text("doi"),
        pmcid=text("pmcid", "pmc"),
        ids=[text("note"), text("url"), text("annotation"), text("annote")],
    )


def _read_authors(value: Any) -> list[Author]:
    """The authors, from the name parts that bibtexparser found; a name that it could not split stays whole."""
    if isinstance(value, str):
        return [Author(name) for part in value.split(" and ") if (name := _decode(part))]
    return [_read_author(one) for one in value]


def _read_author(name: Any) -> Author:
    if isinstance(name, str):
        return Author(_decode(name))
    family, given, suffix = (_decode(" ".join(parts)) for parts in ([*name.von, *name.last], name.first, name.jr))
    return Author(family, given, suffix)


def _decode(value: Any) -> str:
    """A field as plain text. A bare percent sign is kept, though LaTeX would drop what follows it; so is a lone dollar sign."""
    text = value if isinstance(value, str) else str(value)
    if not _MARKUP.search(text):
        return " ".join(text.split())
    text = _PERCENT.sub(r"\\%", text)
    if len(_DOLLAR.findall(text)) % 2:
        text = _DOLLAR.sub(r"\\$", text)
    plain_text: str = _converter().latex_to_text(text)
    return " ".join(plain_text.split())


@cache
def _converter() -> LatexNodes2Text:
    from pylatexenc.latex2text import LatexNodes2Text

    return LatexNodes2Text(math_mode="text", keep_comments=True, strict_latex_spaces=True)

"""BibTeX and Better BibTeX, read by bibtexparser; LaTeX commands become the characters that they stand for."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterpoint.indexes.readers.base.fields import Note, OnBad, Record, RecordError, make_records, raise_bad, write_raised
from counterpoint.indexes.readers.base.source import read_text
from counterpoint.indexes.readers.exports.entry import Fields, make_document
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Author

if TYPE_CHECKING:
    from bibtexparser.library import Library
    from bibtexparser.model import Block, Entry

# With parentheses, as BibTeX allows, the first field too: a cell of a table may begin with "@SUM(".
_BEGINS = re.compile(r"^[ \t]*@[ \t]*[A-Za-z]+\s*(?:\{|\([^(){},=\n]*,?\s*[A-Za-z]+\s*=)", re.MULTILINE)


def is_bibtex(head: str) -> bool:
    """Whether a text holds the beginning of an entry."""
    return not head.lstrip().startswith(("{", "[", "<")) and bool(_BEGINS.search(head))


def read(path: Path, on_bad: OnBad = raise_bad) -> Iterator[Record]:
    """The entries of one file, in its order; comments, preambles and strings are not entries."""
    return make_records(path, _split(path, on_bad), partial(_make_document, path, on_bad), on_bad)


def _split(path: Path, on_bad: OnBad) -> Iterator[tuple[str, tuple[str, Block]]]:
    """The entries and what may have been one, each with its place."""
    from bibtexparser.model import Entry, ImplicitComment, ParsingFailedBlock

    for block in _parse(path, read_text(path, on_bad)).blocks:
        place = f"the entry in line {(block.start_line or 0) + 1}"
        is_text = isinstance(block, ImplicitComment) and _BEGINS.search(block.comment)
        if is_text or isinstance(block, (Entry, ParsingFailedBlock)):
            yield place, (place, block)


def _parse(path: Path, text: str) -> Library:
    """The blocks of a text, with strings resolved and the braces around values removed."""
    from bibtexparser.library import Library
    from bibtexparser.middlewares.parsestack import default_parse_stack
    from bibtexparser.model import DuplicateBlockKeyBlock, DuplicateFieldKeyBlock, Entry
    from bibtexparser.splitter import Splitter

    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)  # we report what it could not read
    blocks: list[Block] = []
    try:
        for number, block in enumerate(Splitter(text).split().blocks):
            # Neither two entries with one key nor an entry with a field twice is a reason to lose a paper.
            while isinstance(block, (DuplicateBlockKeyBlock, DuplicateFieldKeyBlock)) and block.ignore_error_block:
                block = block.ignore_error_block
            if isinstance(block, Entry):
                block.key = f"{number} {block.key}"
            blocks.append(block)
        library = Library(blocks, fail_on_duplicate_key=False)
        for step in default_parse_stack():
            library = step.transform(library)
    except Exception as error:
        raise BadInput(f"{path} cannot be read as BibTeX ({type(error).__name__}: {error}); export it again.") from error
    return library


def _make_document(path: Path, on_bad: OnBad, found: tuple[str, Block]) -> Record:
    from bibtexparser.model import Entry, ParsingFailedBlock

    place, block = found
    if isinstance(block, ParsingFailedBlock):
        what = " ".join(str(getattr(block.error, "abort_reason", block.error)).split()).rstrip(".")
        raise RecordError(f"expected a whole BibTeX entry, with a closing brace for each opening one, found a fault ({what})")
    if not isinstance(block, Entry):
        raise RecordError("expected `@type{key,` at the beginning of an entry, found text that is none")
    fields, notes = _Values(block), list[str]()
    record = make_document(fields.read())
    if fields.repeated:
        notes.append(f"it has {', '.join(sorted(fields.repeated))} twice; the first was read")
    if fields.kept:
        notes.append(f"LaTeX in {', '.join(sorted(fields.kept))} could not be read as text; it was kept as it is")
    for note in notes:
        on_bad(Note(path, place, note))
    return record


class _Values:
    """The fields of an entry, by their names in lower case; `repeated` and `kept` name those about which a reader should know."""

    def __init__(self, entry: Entry) -> None:
        self.kind, self.repeated, self.kept = entry.entry_type.lower(), set[str](), set[str]()
        self._values: dict[str, Any] = {}
        for field in entry.fields:
            name = field.key.lower()
            if self._values.get(name) and field.value and self._values[name] != field.value:
                self.repeated.add(name)
            self._values[name] = self._values.get(name) or field.value

    def read(self) -> Fields:
        """The fields that a document has."""
        text = self._read_text
        archive = text("eprinttype", "archiveprefix").lower()
        is_preprint = self.kind in ("misc", "online") and archive in ("arxiv", "biorxiv", "medrxiv")
        kind = "preprint" if is_preprint else self.kind
        return Fields(
            title=text("title"),
            abstract=text("abstract"),
            journal=text("journaltitle", "journal", "booktitle", "shortjournal"),
            date=text("year", "date"),
            authors=self._read_authors(),
            types=[] if kind in ("misc", "online") else [kind],
            pmid=text("pmid") or (text("eprint") if archive == "pubmed" else ""),
            doi=text("doi"),
            pmcid=text("pmcid", "pmc"),
            ids=[self._decode(name, line) for name in ("note", "url", "annotation", "annote") for line in self._lines(name)],
        )

    def _read_text(self, *names: str) -> str:
        return next((text for name in names if (text := self._decode(name, self._values.get(name, "")))), "")

    def _lines(self, name: str) -> list[str]:
        return str(self._values.get(name, "")).splitlines()

    def _decode(self, name: str, value: Any) -> str:
        text, whole = decode_latex(str(value))
        if not whole:
            self.kept.add(name)
        return text

    def _read_authors(self) -> list[Author]:
        """The authors, by the name parts that bibtexparser finds; a name that it cannot split stays whole."""
        from bibtexparser.middlewares.names import parse_single_name_into_parts, split_multiple_persons_names

        authors = list[Author]()
        for name in split_multiple_persons_names(str(self._values.get("author", ""))):
            try:
                parts = parse_single_name_into_parts(name)
            except ValueError:
                authors.append(Author(self._decode("author", name)))
                continue
            family, given, suffix = (
                self._decode("author", " ".join(part)) for part in ([*parts.von, *parts.last], parts.first, parts.jr)
            )
            authors.append(Author(family, given, suffix))
        return authors


if TYPE_CHECKING:
    from pylatexenc.latex2text import LatexNodes2Text

SIGNS = {
    "textbackslash": "\\", "textbraceleft": "{", "textbraceright": "}", "textless": "<", "textgreater": ">",
    "textasciicircum": "^", "textasciitilde": "~", "textasciigrave": "`",
}  # fmt: skip
"""Characters with a meaning in LaTeX, by the commands that Zotero and our own export write for them."""
# Commands for signs that pylatexenc does not know either.
_OTHER_SIGNS = {"textbar": "|", "textquotesingle": "'", "textquotedbl": '"', "textdollar": "$", "lt": "<", "gt": ">"}
_MARKUP = re.compile(r"[\\{}~$]|--|``|''")
_PERCENT = re.compile(r"(?<!\\)((?:\\\\)*)%")
# Pandoc's rule: a formula has no blank inside its dollar signs, and no digit after them. Others are amounts of money.
_FORMULA_OR_DOLLAR = re.compile(r"(?<!\\)(?:(\$(?![\s$])(?:[^$\\]|\\.)*(?<!\s)\$(?![0-9]))|\$)", re.DOTALL)
_COMMAND = re.compile(r"\\(?:(?:begin|end)\s*\{[^{}]*\}|[A-Za-z]+\*?|.)", re.DOTALL)


def decode_latex(value: str) -> tuple[str, bool]:
    """`value` as plain text on one line, and whether that holds all its letters and digits; where it would not, `value` is kept.

    A bare percent sign is kept, though LaTeX would drop what follows it; so is a dollar sign that bounds no formula.
    """
    line = " ".join(value.split())
    if not _MARKUP.search(line):
        return line, True
    latex = _FORMULA_OR_DOLLAR.sub(lambda match: match[1] or r"\$", _PERCENT.sub(r"\1\\%", value))
    try:
        text = " ".join(_converter().latex_to_text(latex).split())
    except Exception:
        # pylatexenc raises errors of many types about a command without its arguments or groups nested too deeply.
        return line, False
    if _count(text) < _count(_COMMAND.sub("", latex)):
        return line, False
    return text, True


def _count(text: str) -> int:
    return sum(map(str.isalnum, text))


@cache
def _converter() -> LatexNodes2Text:
    from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db

    # It warns on its own of what `decode_latex` finds and reports.
    logging.getLogger("pylatexenc").setLevel(logging.CRITICAL)
    known = get_default_latex_context_db()
    signs = [MacroTextSpec(name, simplify_repl=sign) for name, sign in (SIGNS | _OTHER_SIGNS).items()]
    known.add_context_category("signs", macros=signs, prepend=True)
    known.set_unknown_macro_spec(MacroTextSpec("", simplify_repl=_keep_unknown))
    return LatexNodes2Text(latex_context=known, math_mode="text", keep_comments=True, strict_latex_spaces=True)


def _keep_unknown(node: Any) -> str:
    """An unknown command as it stands; before a group it is one of layout, as in `\\ce{H2O}`, and only the group is text."""
    text = node.parsing_state.s
    rest = text[node.pos + node.len :]
    if node.macroname == "textsuperscript" and write_raised(text[: node.pos], rest.lstrip("{ ")).startswith("^"):
        return "^"
    return "" if rest.startswith("{") and not rest.startswith("{}") else node.latex_verbatim()

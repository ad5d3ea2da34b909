"""Files as bytes and as text: finding them, opening them plain or gzipped, and reporting their faults in one sentence.

Files that no reader reads are told by their beginning: what each is, and what to do with it.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedIOBase, TextIOWrapper
from pathlib import Path
from typing import BinaryIO, cast

from counterpoint.indexes.readers.base.fields import Note, OnBad, raise_bad
from counterpoint.retrieval.core.english import choose_form
from counterpoint.retrieval.core.errors import BadInput, BadRecord

_UNPACK = "unpack it and name the files inside it"
_EXPORT = "export the papers as RIS or BibTeX, or from PubMed (Save, Format: PubMed)"
_BINARY: tuple[tuple[bytes, str, str], ...] = (
    (b"BZh", "a bzip2 archive", _UNPACK),
    (b"\xfd7zXZ\x00", "an xz archive", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", _UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (b"PK\x05\x06", "an empty zip archive", "zip it again"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Word file", "save it as CSV (UTF-8)"),
    (b"%PDF-", "a PDF", _EXPORT + "; to have it read itself, give it with --full-text"),
    (b"SQLite format 3\x00", "a database", _EXPORT),
)
# In an Office file, some of these names stand in the first few thousand bytes.
_ZIPPED = (
    (b"xl/", "an Excel workbook", "save the sheet as CSV (UTF-8)"),
    (b"opendocument.spreadsheet", "an OpenDocument spreadsheet", "save the sheet as CSV (UTF-8)"),
    (b"word/", "a Word document", _EXPORT),
    (b"", "a zip archive", _UNPACK),
)
_TEXTS = (
    (r"(?:<\?xml[^>]*>)?\s*<xml>\s*<records>", "EndNote's XML", "export the library as RIS (RefMan)"),
    (r"%[0AT] \S", "EndNote's import format (.enw)", "export the papers as RIS"),
    (r"(?:FN .*\n(?:VR .*\n)?)?PT [A-Z]\n", "Web of Science's plain text", "export the papers as RIS"),
    (r"(?:PMIDs?\n)?(?:(?:PMID:? ?)?[0-9]{1,9}[ ,;]*\n)*(?:PMID:? ?)?[0-9]{1,9}\s*\Z", "a list of PMIDs",
     "search PubMed for these numbers and save the papers (Save, Format: PubMed)"),
    (r"(?i)<!doctype html|<html", "a web page", _EXPORT),
    (r"\{\\rtf", "RTF", _EXPORT),
)  # fmt: skip


def name_binary(start: bytes) -> str:
    """What a binary file is and what to do, as the rest of a sentence; "" for none of these."""
    if start.startswith(b"PK\x03\x04"):
        return next(_describe(name, todo) for part, name, todo in _ZIPPED if part in start)
    if start[257:262] == b"ustar":
        return _describe("a tar archive", _UNPACK)
    return next((_describe(name, todo) for magic, name, todo in _BINARY if start.startswith(magic)), "")


def name_text(head: str) -> str:
    """The same for a text; a list of numbers must go to the end of `head`."""
    head = head.lstrip()
    return next((_describe(name, todo) for pattern, name, todo in _TEXTS if re.match(pattern, head)), "")


def _describe(name: str, todo: str) -> str:
    return f"{name}: expected a file of documents; {todo}"


SUFFIXES = (".jsonl", ".ndjson", ".json", ".xml", ".nbib", ".ris", ".bib", ".csv", ".tsv")
"""The suffixes of a folder's files that are sources, with or without ".gz": PubMed's folders hold .md5 files too."""

READ_ERRORS = (EOFError, zlib.error, OSError)
"""What reading may raise in the middle of a file: gzip that ends early, gzip that is damaged, a disk that fails."""

LONGEST = 64 * 2**20
"""Bytes in a line, at most: a file without line breaks must not be read into memory whole."""
LARGEST = 512 * 2**20
"""Bytes, unpacked, in a file that can only be read whole."""

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip
# What Python makes of a byte that is not UTF-8 (`surrogateescape`).
_ESCAPED = re.compile("[\udc80-\udcff]")
_GZIP = b"\x1f\x8b"
_HEAD = 4096


def sources(paths: Iterable[Path]) -> list[Path]:
    """The files behind `paths`, in their order: a file as itself, a directory as its sources sorted by name.

    PubMed's names sort by age, so the newer of two records with one PMID comes later. Subdirectories are not searched;
    hidden files and those with other suffixes are ignored.
    """
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            _check_file(path)
            files.append(path)
            continue
        try:
            children = sorted(child for child in path.iterdir() if _is_source(child))
        except OSError as error:
            raise _make_read_error(path, error) from error
        if not children:
            names = ", ".join(SUFFIXES)
            raise BadInput(
                f"{path} contains no source file: expected files ending in {names}, or one of these with .gz, directly in that "
                f"folder; name the folder or the files themselves."
            )
        files.extend(children)
    return files


def _is_source(path: Path) -> bool:
    name = path.name.lower()  # Windows ignores the case of names
    return not name.startswith(".") and name.removesuffix(".gz").endswith(SUFFIXES) and path.is_file()


@contextmanager
def open_source(path: Path) -> Iterator[BufferedIOBase]:
    """The content of `path` as bytes, unpacked if its first bytes, not its name, show that it is gzip."""
    _check_file(path)
    try:
        raw = path.open("rb")
    except OSError as error:
        raise _make_read_error(path, error) from error
    with raw:
        try:
            is_gzip = raw.peek(2).startswith(_GZIP)
        except OSError as error:
            raise _make_read_error(path, error) from error
        yield gzip.GzipFile(fileobj=raw) if is_gzip else raw


def read_head(path: Path) -> str:
    """The first few thousand characters of the content; raises `BadInput` if they show that no reader can use the file."""
    start = b""
    with open_source(path) as stream:
        try:
            while len(start) < _HEAD and (block := stream.read1(_HEAD)):
                start += block
        except READ_ERRORS as error:
            if not start:
                raise make_broken_error(path, "at its start", error) from error
    if not start.strip():
        raise BadInput(f"{path} is empty: expected a file of documents; check what wrote it.")
    if start.startswith(_GZIP):
        raise BadInput(f"{path} is gzipped twice: expected one layer; unpack it once (gunzip) and try again.")
    if name := name_binary(start):
        raise BadInput(f"{path} is {name}.")
    text = start.decode(find_encoding(start), errors="ignore")
    if "\x00" in text:
        raise BadInput(f"{path} is binary: expected text; export or convert it as such.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def find_encoding(start: bytes) -> str:
    """The encoding of a text by its first bytes: UTF-8 unless a byte order mark, or zeros among ASCII, tell otherwise."""
    for mark, name in _MARKS.items():
        if start.startswith(mark):
            return name
    zeros = [not byte for byte in start[:8]]
    if zeros == [False, True] * 4:
        return "utf-16-le"
    return "utf-16-be" if zeros == [True, False] * 4 else "utf-8-sig"


def read_lines(path: Path, expected: str = "shorter lines") -> Iterator[tuple[int, bytes]]:
    """All lines with their numbers from 1, as UTF-8 without a byte order mark; `expected` says what a line that is too long
    should be."""
    number = 0
    with open_source(path) as stream:
        if not _peek_encoding(path, stream).startswith("utf-8"):
            yield from ((number, line.encode()) for number, line in read_text_lines(path, raise_bad, expected))
            return
        while True:
            try:
                line = stream.readline(LONGEST)
            except READ_ERRORS as error:
                raise make_broken_error(path, f"after line {number}", error) from error
            if not line:
                return
            number += 1
            if len(line) == LONGEST and not line.endswith(b"\n"):
                raise _make_length_error(path, number, expected, LONGEST)
            yield number, line.removeprefix(codecs.BOM_UTF8) if number == 1 else line


def read_text(path: Path, on_bad: OnBad = raise_bad) -> str:
    """The whole file as text, for formats that cannot be read in parts; one that is too large is refused."""
    lines, size = list[str](), 0
    for _, line in read_text_lines(path, on_bad, "a smaller file", LARGEST):
        lines.append(line)
        size += len(line)
        if size > LARGEST:
            raise BadInput(f"{path} has over {LARGEST // 2**20} MiB: expected a smaller file; export your library in parts.")
    return "".join(lines)


def _peek_encoding(path: Path, stream: BufferedIOBase) -> str:
    try:
        return find_encoding(stream.peek(8))  # type: ignore[attr-defined]  # both kinds of stream have it
    except READ_ERRORS as error:
        raise make_broken_error(path, "after line 0", error) from error


def read_text_lines(
    path: Path, on_bad: OnBad = raise_bad, expected: str = "shorter lines", longest: int = 0
) -> Iterator[tuple[int, str]]:
    """The lines as text, whatever ends one (Unix, Windows, old Mac), with their numbers; line ends are single newlines.

    UTF-16 is read as such, and a byte that is not UTF-8 as Windows-1252, which is what EndNote writes on Windows; at the end
    `on_bad` gets a note of it.
    """
    number, other, longest = 0, list[int](), longest or LONGEST
    with open_source(path) as stream:
        encoding = _peek_encoding(path, stream)
        is_utf8 = encoding.startswith("utf-8")
        text = TextIOWrapper(cast(BinaryIO, stream), encoding, "surrogateescape" if is_utf8 else "strict")
        while True:
            try:
                line = text.readline(longest)
            except UnicodeDecodeError as error:
                hint = f"expected {encoding.upper()}, got {error.reason}; save or export the file as UTF-8."
                raise BadRecord(path, f"after line {number}", hint) from error
            except READ_ERRORS as error:
                raise make_broken_error(path, f"after line {number}", error) from error
            if not line:
                break
            number += 1
            if len(line) == longest and not line.endswith("\n"):
                raise _make_length_error(path, number, expected, longest)
            if not line.isascii():
                if _ESCAPED.search(line):
                    other.append(number)
                    line = _decode_rest(line, path, number)
                # Files that were put together have a byte order mark in the middle.
                line = line.lstrip("\ufeff")
            yield number, line
    if not is_utf8:
        on_bad(Note(path, "all lines", f"read as {encoding.upper()}"))
    elif other:
        lines = choose_form(len(other), "line that is", "lines that are")
        hint = f"the first of {len(other):,} {lines} not UTF-8, read as Windows-1252 instead; check names and signs there"
        on_bad(Note(path, f"line {other[0]}", hint))


def _decode_rest(line: str, path: Path, number: int) -> str:
    """A line with those bytes that are not UTF-8 read as Windows-1252: files that were put together may have both."""
    try:
        return _ESCAPED.sub(lambda match: bytes([ord(match[0]) - 0xDC00]).decode("cp1252"), line)
    except UnicodeDecodeError as error:
        hint = f"expected UTF-8 or Windows-1252, got the byte 0x{error.object[0]:02x}; save or export the file as UTF-8."
        raise BadRecord(path, f"line {number}", hint) from error


def _make_length_error(path: Path, number: int, expected: str, longest: int) -> BadRecord:
    hint = f"expected {expected}, got a line of over {longest // 2**20} MiB; write each object on its own line."
    return BadRecord(path, f"line {number}", hint)


def make_broken_error(path: Path, where: str, error: Exception) -> BadRecord:
    """The error for a file whose rest cannot be read: never skipped, since nobody knows what the rest holds."""
    if isinstance(error, EOFError):
        return BadRecord(path, where, "expected more gzip data, reached the end of the file; it is cut off, so fetch it again.")
    if isinstance(error, (zlib.error, gzip.BadGzipFile)):
        return BadRecord(path, where, f"expected valid gzip data, got damaged data ({error}); fetch the file again.")
    reason = error.strerror if isinstance(error, OSError) else None
    return BadRecord(path, where, f"expected to read more, got a disk error ({reason or error}); check the disk.")


def _check_file(path: Path) -> None:
    try:
        if path.is_file():
            return
        # stat tells missing from forbidden; is_file answers False to both.
        path.stat()
    except (OSError, ValueError) as error:
        raise _make_read_error(path, error) from error
    what = "a directory" if path.is_dir() else "not a regular file"
    raise BadInput(f"{path} is {what}: expected a file of documents; name the file.")


def _make_read_error(path: Path, error: Exception) -> BadInput:
    if isinstance(error, FileNotFoundError):
        return BadInput(f"{path} does not exist: expected a file or folder of documents; check its name.")
    reason = error.strerror if isinstance(error, OSError) else error
    return BadInput(f"{path} cannot be read ({reason}): expected a readable file; check its name and permissions.")

"""Files as bytes: finding them, opening them plain or gzipped, and reporting their faults in one sentence."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path

from retrieval.core.errors import BadInput, BadRecord

SUFFIXES = (".jsonl", ".ndjson", ".json", ".xml", ".nbib", ".ris", ".bib", ".csv", ".tsv")
"""The suffixes of a folder's files that are sources, with or without ".gz": PubMed's folders hold .md5 files too."""

READ_ERRORS = (EOFError, zlib.error, OSError)
"""What reading may raise in the middle of a file: gzip that ends early, gzip that is damaged, a disk that fails."""

LONGEST = 64 * 2**20
"""Bytes in a line, at most: a file without line breaks must not be read into memory whole."""
LARGEST = 512 * 2**20
"""Bytes, unpacked, in a file that can only be read whole."""

_BOM = b"\xef\xbb\xbf"
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
    return not path.name.startswith(".") and path.name.removesuffix(".gz").endswith(SUFFIXES) and path.is_file()


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


def read_head(path: Path) -> bytes:
    """The first few thousand bytes of the content; raises `BadInput` if they show that no reader can use the file."""
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
    if b"\x00" in start:
        raise BadInput(f"{path} is binary or UTF-16: expected text in UTF-8; export or convert it as such.")
    return start


def read_lines(path: Path, expected: str = "shorter lines") -> Iterator[tuple[int, bytes]]:
    """All lines with their numbers from 1, without a byte order mark; `expected` says what a line that is too long should be."""
    number = 0
    with open_source(path) as stream:
        while True:
            try:
                line = stream.readline(LONGEST)
            except READ_ERRORS as error:
                raise make_broken_error(path, f"after line {number}", error) from error
            if not line:
                return
            number += 1
            if len(line) == LONGEST and not line.endswith(b"\n"):
                size = f"a line of over {LONGEST // 2**20} MiB"
                hint = f"expected {expected}, got {size}; write each object on its own line."
                raise BadRecord(path, f"line {number}", hint)
            yield number, line.removeprefix(_BOM) if number == 1 else line


def read_text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The same as text; line ends are single newlines. A byte that is not UTF-8 is a fault of the whole file."""
    for number, line in read_lines(path):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise _make_coding_error(path, f"line {number}", error) from error
        yield number, text.replace("\r\n", "\n")


def read_text(path: Path) -> str:
    """The whole file as text, for formats that cannot be read in parts; one that is too large is refused."""
    with open_source(path) as stream:
        try:
            content = stream.read(LARGEST + 1)
        except READ_ERRORS as error:
            raise make_broken_error(path, "as a whole", error) from error
    if len(content) > LARGEST:
        raise BadInput(f"{path} has over {LARGEST // 2**20} MiB: expected a smaller file; export your library in parts.")
    try:
        return content.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _make_coding_error(path, f"line {line}", error) from error


def _make_coding_error(path: Path, where: str, error: UnicodeDecodeError) -> BadRecord:
    byte = error.object[error.start]
    return BadRecord(path, where, f"expected UTF-8, got the byte 0x{byte:02x}; save or export the file as UTF-8.")


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

"""Files as bytes: found, opened plain or gzipped, and their faults told in one sentence."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path

from retrieval.core.errors import BadInput, BadRecord

SUFFIXES = (".jsonl", ".ndjson", ".json", ".xml")
"""Names by which a file in a folder is taken for a source, with or without ".gz": PubMed's hold .md5 files too."""

READ_ERRORS = (EOFError, zlib.error, OSError)
"""What reading may raise in the middle of a file: gzip that ends early, gzip that is damaged, a disk that fails."""

_GZIP = b"\x1f\x8b"
_HEAD = 4096


def sources(paths: Iterable[Path]) -> list[Path]:
    """The files behind `paths`, in their order: a file as itself, a directory as its sources sorted by name.

    PubMed's names sort by age, so the later of two records with one PMID comes later. Directories are not searched
    deeper; hidden files and those with other suffixes are left aside.
    """
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            _check_file(path)
            found.append(path)
            continue
        try:
            inside = sorted(child for child in path.iterdir() if _is_source(child))
        except OSError as error:
            raise _make_read_error(path, error) from error
        if not inside:
            names = ", ".join(SUFFIXES)
            raise BadInput(
                f"{path} contains no source file: expected files ending in {names}, or one of these with .gz, directly in that "
                f"folder; name the folder or the files themselves."
            )
        found.extend(inside)
    return found


def _is_source(path: Path) -> bool:
    return not path.name.startswith(".") and path.name.removesuffix(".gz").endswith(SUFFIXES) and path.is_file()


@contextmanager
def open_source(path: Path) -> Iterator[BufferedIOBase]:
    """The content of `path` as bytes, unpacked where its first bytes, not its name, say that it is gzip."""
    _check_file(path)
    try:
        raw = path.open("rb")
    except OSError as error:
        raise _make_read_error(path, error) from error
    with raw:
        try:
            packed = raw.peek(2).startswith(_GZIP)
        except OSError as error:
            raise _make_read_error(path, error) from error
        yield gzip.GzipFile(fileobj=raw) if packed else raw


def read_head(path: Path) -> bytes:
    """The first few thousand bytes of the content, or `BadInput` where they show that no reader can use the file."""
    start = b""
    with open_source(path) as stream:
        try:
            while len(start) < _HEAD and (block := stream.read1(_HEAD)):
                start += block
        except READ_ERRORS as error:
            if not start:
                raise make_broken_error(path, "at its start", error) from error
    if not start.strip():
        raise BadInput(f"{path} is empty: expected JSON lines or PubMed XML; name a file of documents.")
    if start.startswith(_GZIP):
        raise BadInput(f"{path} is gzipped twice: expected one layer; unpack it once (gunzip) and try again.")
    if b"\x00" in start:
        raise BadInput(f"{path} is binary or UTF-16: expected JSON lines or PubMed XML in UTF-8; convert it first.")
    return start


def make_broken_error(path: Path, where: str, error: Exception) -> BadRecord:
    """A file whose rest cannot be read: never to be skipped, for nobody knows what the rest holds."""
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

"""The papers, as XML or PDF, in a folder, an archive (zip, tar, PMC's .tar.gz) or by themselves, as bytes; one in
memory at a time."""

from __future__ import annotations

import gzip
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from io import BufferedIOBase, BytesIO
from pathlib import Path
from typing import IO, cast

from counterpoint.indexes.readers.base import source
from counterpoint.indexes.readers.base.fields import OnBad
from counterpoint.retrieval.core.errors import BadInput, BadRecord

SUFFIXES = (".nxml", ".xml", ".pdf", ".tar", ".tgz", ".tar.gz", ".zip")
"""The suffixes, also with ".gz", of what may hold texts; pictures and supplements lie beside them in PMC's packages."""
LARGEST = 50_000_000
"""Bytes, unpacked, in a file: the longest papers have 5 MB of XML."""
MOST_ENTRIES = 1_000_000
DENSEST, ALLOWED = 200, 500_000_000
"""An archive that unpacks to more than `ALLOWED` bytes, and to `DENSEST` times its own size, was made to fill a disk."""
_PACKAGE = re.compile(r"(?:^|/)pmc\d+/[^/]+$")
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, OSError, NotImplementedError, RuntimeError, ValueError)

File = tuple[str, bytes]


def find_files(path: Path, on_bad: OnBad) -> Iterator[File]:
    """The name and content of each file of XML or PDF, archives unpacked; a name in an archive follows the archive's and "!/"."""
    if not path.is_dir():
        yield from _read_file(path, on_bad)
        return
    files = sorted(child for child in path.rglob("*") if _may_hold_text(child.name) and child.is_file())
    doubles = _find_doubles(map(str, files))
    if not files:
        raise BadInput(
            f"{path} contains no full text: expected files ending in {', '.join(SUFFIXES)}, or one of these with .gz; name the "
            "folder or the files themselves."
        )
    for file in files:
        if str(file) not in doubles:
            yield from _read_file(file, on_bad)


def _find_doubles(names: Iterable[str]) -> set[str]:
    """The PDFs beside the same paper's XML, and in PMC's packages the supplements beside it."""
    bare = [(name, name.lower().removesuffix(".gz")) for name in names]
    papers = {name.rpartition(".")[0] for _, name in bare if name.endswith((".nxml", ".xml"))}
    packages = {paper.rpartition("/")[0] for paper in papers if _PACKAGE.search(paper)}
    pdfs = [(name, low.removesuffix(".pdf")) for name, low in bare if low.endswith(".pdf")]
    return {name for name, low in pdfs if low in papers or low.rpartition("/")[0] in packages}


def holds_texts(path: Path) -> bool:
    """Whether a file is one of full texts, not of records: an archive, a PDF, or XML with articles whole."""
    if not _may_hold_text(path.name):
        return False
    if not path.name.lower().removesuffix(".gz").endswith(".xml"):
        return True
    with suppress(BadInput):  # told when it is read
        return re.search(r"<(article|pmc-articleset)[\s>]", source.read_head(path)) is not None
    return False


def _may_hold_text(name: str) -> bool:
    name = name.lower().rpartition("/")[2]
    return not name.startswith(".") and name.removesuffix(".gz").endswith(SUFFIXES)


def _read_file(path: Path, on_bad: OnBad) -> Iterator[File]:
    with source.open_source(path) as stream:
        try:
            head = stream.peek(512)  # type: ignore[attr-defined]  # both kinds of stream have it
        except source.READ_ERRORS as error:
            on_bad(source.make_broken_error(path, "at its start", error))
            return
        if head.startswith(b"PK"):
            yield from _read_zip(path, on_bad)
        elif head[257:262] == b"ustar" or path.name.lower().removesuffix(".gz").endswith((".tar", ".tgz")):
            yield from _read_tar(path, stream, on_bad)
        else:
            try:
                raw = stream.read(LARGEST + 1)
            except source.READ_ERRORS as error:
                on_bad(source.make_broken_error(path, "somewhere", error))
                return
            yield from _check_file(path, "the whole file", str(path), raw, on_bad)


def _check_file(path: Path, place: str, name: str, raw: bytes, on_bad: OnBad) -> Iterator[File]:
    if len(raw) > LARGEST:
        on_bad(BadRecord(path, place, f"expected papers, got a file of over {LARGEST // 10**6} MB; split it into papers"))
    elif not raw.strip():
        on_bad(BadRecord(path, place, "expected a paper, got an empty file; fetch it again"))
    else:
        yield name, raw


def _read_tar(path: Path, stream: BufferedIOBase, on_bad: OnBad) -> Iterator[File]:
    """The files of a tar archive as they come, so that none is unpacked twice and only one is in memory."""
    size, last, doubles = path.stat().st_size, "its start", None
    try:
        with tarfile.open(fileobj=cast(IO[bytes], stream), mode="r|") as archive:
            for count, member in enumerate(archive):
                if count >= MOST_ENTRIES or _is_bomb(member.offset + member.size, size):
                    on_bad(_make_bomb_error(path))
                    return
                last = member.name
                if member.name.lower().endswith(".pdf") and doubles is None:
                    with tarfile.open(path, "r|*") as names:
                        doubles = _find_doubles(one.name for one in names)
                if member.name in (doubles or ()):
                    continue
                if member.isfile() and _may_hold_text(member.name) and (content := archive.extractfile(member)):
                    yield from _unpack(path, member.name, content, on_bad)
    except _BROKEN as error:
        on_bad(_make_archive_error(path, last, error))


def _read_zip(path: Path, on_bad: OnBad) -> Iterator[File]:
    size, last = path.stat().st_size, "its start"
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if len(members) > MOST_ENTRIES or _is_bomb(sum(member.file_size for member in members), size):
                on_bad(_make_bomb_error(path))
                return
            doubles = _find_doubles(member.filename for member in members)
            for member in members:
                last = member.filename
                if not member.is_dir() and _may_hold_text(member.filename) and member.filename not in doubles:
                    if member.flag_bits & 1:
                        on_bad(BadRecord(path, last, "expected a file, got one with a password; unpack it first"))
                        continue
                    with archive.open(member) as content:
                        yield from _unpack(path, member.filename, content, on_bad)
    except _BROKEN as error:
        on_bad(_make_archive_error(path, last, error))


def _unpack(path: Path, name: str, content: IO[bytes], on_bad: OnBad) -> Iterator[File]:
    """A file of an archive; an archive in an archive is read too, if it is one of PMC's packages, but none within that."""
    raw = content.read(LARGEST + 1)
    where = f"{path}!/{name}"
    if raw[:2] == b"\x1f\x8b" and len(raw) <= LARGEST:
        try:
            raw = gzip.GzipFile(fileobj=BytesIO(raw)).read(LARGEST + 1)
        except source.READ_ERRORS as error:
            on_bad(source.make_broken_error(Path(where), "somewhere", error))
            return
    if raw[257:262] == b"ustar" and len(raw) <= LARGEST:
        try:
            with tarfile.open(fileobj=BytesIO(raw)) as archive:
                doubles = _find_doubles(archive.getnames())
                for member in archive:
                    is_text = member.isfile() and _may_hold_text(member.name) and member.name not in doubles
                    inner = archive.extractfile(member) if is_text else None
                    if inner:
                        yield from _check_file(path, member.name, f"{where}!/{member.name}", inner.read(LARGEST + 1), on_bad)
        except tarfile.TarError as error:
            on_bad(_make_archive_error(Path(where), "its start", error))
    elif raw.startswith(b"PK\x03\x04"):
        on_bad(BadRecord(path, name, "expected a paper, got a zip archive within the archive; unpack it first"))
    else:
        yield from _check_file(path, name, where, raw, on_bad)


def _is_bomb(unpacked: int, packed: int) -> bool:
    return unpacked > ALLOWED and unpacked > DENSEST * packed


def _make_bomb_error(path: Path) -> BadRecord:
    hint = f"expected papers, got an archive that unpacks to over {DENSEST} times its size; it is not read further"
    return BadRecord(path, "the archive", hint)


def _make_archive_error(path: Path, place: str, error: Exception) -> BadRecord:
    reason = "its end is missing" if isinstance(error, EOFError) else str(error) or type(error).__name__
    return BadRecord(path, place, f"expected a whole archive, got one that is cut off or damaged ({reason}); fetch it again")

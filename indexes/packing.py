"""A library as one file, to keep, to move and to restore: `write_pack` makes it piece by piece, `unpack` brings it back.

A pack is a plain tar archive: the manifest, the library's file, the files of the data that the manifest names, and the SHA-256
of all these, in that order. It holds no keys, no history and nothing of Zotero. Since the manifest says what follows, `unpack`
takes exactly these names and sizes: for a link, another path, or a file larger than it says there is no place.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sqlite3
import struct
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import IO

from counterpoint.indexes.build import choose_root
from counterpoint.indexes.plan import LOCK, make_folder, report_interrupt
from counterpoint.retrieval.core.errors import BadInput, IndexUnusable, translate_write_errors
from counterpoint.retrieval.core.progress import make_bar
from counterpoint.retrieval.dense.search import check_files
from counterpoint.retrieval.store.documents import TALLIED, Tally, open_read_only
from counterpoint.retrieval.store.library import (
    MOST_DESCRIPTION,
    LibraryFile,
    check_name,
    make_id,
    parse_library,
    read_library_file,
)
from counterpoint.retrieval.store.library import NAME as LIBRARY
from counterpoint.retrieval.store.manifest import FORMATS, STORE, Manifest, parse_manifest, read_manifest
from counterpoint.retrieval.store.manifest import NAME as MANIFEST
from counterpoint.retrieval.store.texts import TEXT_COLUMNS, TEXTS, make_part

SUFFIX = ".counterpoint"
_SUMS = "sha256sums"
_BLOCK, _PIECE = tarfile.BLOCKSIZE, 1 << 20
_MOST_HEAD = 50_000_000
"""Bytes of a manifest, which names every file that went into an index."""
_DATA, _FILE = re.compile(r"v\d{4,9}", re.ASCII), re.compile(r"(?:\w[\w.-]{0,80}/)?\w[\w.-]{0,80}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Pack:
    """What a pack says at its beginning: the index's manifest, and the library's id, name and description."""

    manifest: Manifest
    library: LibraryFile


class NoPack(BadInput):
    """A file is no pack of a library, or a damaged one."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path.name} is not a whole pack of a library: {why}; pack the library again, or send the file again.")


def is_pack(path: Path) -> bool:
    """Whether a file is a pack, by its name or its beginning."""
    with open(path, "rb") as file:
        return path.name.endswith(SUFFIX) or file.read(_BLOCK).startswith(MANIFEST.encode() + b"\0")


def write_pack(folder: Path) -> tuple[int, Iterator[bytes]]:
    """The bytes that the pack of the library in a folder has, and the pack in pieces; each file is read once.

    Raises `IndexUnusable` for an index that cannot be read, also while the pieces are made.
    """
    manifest = read_manifest(folder)
    # Where the sources lay says something of this machine, and nothing anywhere else.
    manifest = replace(manifest, sources=tuple(replace(one, path=Path(one.path).name) for one in manifest.sources))
    library = read_library_file(folder) or LibraryFile(make_id())
    library = LibraryFile(library.id, library.name or check_name(folder.resolve().name[:100]), library.description)
    heads = [(MANIFEST, json.dumps(manifest.to_json()).encode()), (LIBRARY, json.dumps(asdict(library)).encode())]
    data = [(f"{manifest.data}/{name}", size) for name, size in manifest.files.items()]
    check_files(folder / manifest.data, manifest)
    sizes = [(name, len(head)) for name, head in heads] + data
    sums = sum(len(f"{'0' * 64}  {name}\n") for name, _ in sizes)
    total = sum(_BLOCK + size + -size % _BLOCK for size in (*(size for _, size in sizes), sums)) + 2 * _BLOCK
    return total, _write(folder, heads, data)


def _write(folder: Path, heads: Sequence[tuple[str, bytes]], data: Sequence[tuple[str, int]]) -> Iterator[bytes]:
    sums = ""
    with ExitStack() as stack:
        # Opened before the first is read: an update may remove a version that is packed for long.
        files: list[tuple[str, int, IO[bytes]]] = [(name, len(head), BytesIO(head)) for name, head in heads]
        files += [(name, size, stack.enter_context(open(folder / name, "rb"))) for name, size in data]
        for name, size, file in files:
            yield _make_header(name, size)
            digest, left = hashlib.sha256(), size
            while piece := file.read(min(_PIECE, left)):
                digest.update(piece)
                left -= len(piece)
                yield piece
            if left:
                raise IndexUnusable(f"The index at {folder} is damaged: {name} is shorter than it should be.")
            yield b"\0" * (-size % _BLOCK)
            sums += f"{digest.hexdigest()}  {name}\n"
    content = sums.encode()
    yield _make_header(_SUMS, len(content)) + content + b"\0" * (-len(content) % _BLOCK + 2 * _BLOCK)


def _make_header(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT)


@dataclass(slots=True)
class _Reader:
    """Reads the files of a pack one after the other; `sums` are their checksums so far."""

    path: Path
    file: IO[bytes]
    sums: list[str] = field(default_factory=list)

    def next(self, name: str, size: int | None = None) -> Iterator[bytes]:
        """The content of the next file in pieces, which is to be a plain one of this name and size, or no longer than a head."""
        try:
            info = tarfile.TarInfo.frombuf(self.file.read(_BLOCK), "utf-8", "strict")
        except (tarfile.HeaderError, ValueError):
            raise NoPack(self.path, f"{name} is missing where it should begin") from None
        fits = 0 < info.size <= _MOST_HEAD if size is None else info.size == size
        if info.name != name or info.type != tarfile.REGTYPE or not fits:
            raise NoPack(self.path, f"something else stands where {name} should")
        digest, left = hashlib.sha256(), info.size
        while left:
            piece = self.file.read(min(_PIECE, left))
            if not piece:
                raise NoPack(self.path, "its end is missing")
            digest.update(piece)
            left -= len(piece)
            yield piece
        self.file.seek(-info.size % _BLOCK, os.SEEK_CUR)
        self.sums.append(f"{digest.hexdigest()}  {name}\n")

    def read_heads(self) -> Pack:
        """What the pack says at its beginning."""
        manifest, library = b"".join(self.next(MANIFEST)), b"".join(self.next(LIBRARY))
        try:
            content = json.loads(manifest)
            format = content["format"]
            pack = Pack(parse_manifest(content), parse_library(library.decode())) if format in FORMATS else None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise NoPack(self.path, "its first part cannot be read") from None
        if pack is None:
            reads = f"this Counterpoint reads formats {FORMATS[0]} and {FORMATS[-1]}"
            raise NoPack(self.path, f"it has format {str(format)[:20]}, and {reads}")
        check_name(pack.library.name)
        data, files = pack.manifest.data, pack.manifest.files
        is_plain = _DATA.fullmatch(data) and all(map(_FILE.fullmatch, files)) and STORE in files
        if not is_plain or len(pack.library.description) > MOST_DESCRIPTION:
            raise NoPack(self.path, "it names files that no index has, or says too much")
        return pack


def read_pack(path: Path) -> Pack:
    """What a pack says at its beginning; raises `NoPack` for another file."""
    with open(path, "rb") as file:
        return _Reader(path, file).read_heads()


def unpack(path: Path, out: Path, new_id: bool = False) -> Pack:
    """Restore the library of a pack at `out`, a new folder: whole and as its checksums and its manifest say, or not at all.

    It keeps its id unless it is to have a new one. Raises `NoPack`, `BadInput` if `out` exists, and `OutOfSpace`.
    """
    choose_root(out, overwrite=False)
    target = out.resolve()
    staging = target.with_name(f".{target.name}.unpacking")
    root = staging / "library"
    with (
        report_interrupt("the library", "nothing was saved"),
        translate_write_errors("the library", out.parent),
        make_folder(staging),
        open(path, "rb") as file,
    ):
        shutil.rmtree(root, ignore_errors=True)
        try:
            pack = _unpack(_Reader(path, file), root)
            replace(pack.library, id=make_id() if new_id else pack.library.id, address="", keys=()).write(root)
            pack.manifest.write(root)
            os.rename(root, target)
        except BaseException:
            shutil.rmtree(root, ignore_errors=True)
            raise
        (staging / LOCK).unlink()
        staging.rmdir()
    return pack


def _unpack(reader: _Reader, root: Path) -> Pack:
    """Write the files of a pack into a folder, and check them."""
    pack = reader.read_heads()
    manifest = pack.manifest
    with make_bar("files", "files", len(manifest.files)) as bar:
        for name, size in manifest.files.items():
            place = root / manifest.data / name
            place.parent.mkdir(parents=True, exist_ok=True)
            with open(place, "xb") as out:
                out.writelines(reader.next(f"{manifest.data}/{name}", size))
            bar.update()
    expected = "".join(reader.sums).encode()
    if b"".join(reader.next(_SUMS, len(expected))) != expected:
        raise NoPack(reader.path, "its checksums are those of other files")
    if not _fits(manifest, root / manifest.data / STORE):
        raise NoPack(reader.path, "its documents are not those that its manifest was written for")
    return pack


def _fits(manifest: Manifest, store: Path) -> bool:
    """Whether a store holds exactly the documents and the full texts whose counts and hashes a manifest has."""
    tally = Tally()
    try:
        with closing(open_read_only(store)) as db:
            for row in db.execute(f"SELECT {TALLIED} FROM documents"):
                tally.add(row)
            texts = make_part(db.execute(f"SELECT {TEXT_COLUMNS} FROM {TEXTS}")) if manifest.texts else None
    except (sqlite3.Error, struct.error, ValueError, TypeError):
        return False
    hashes = [texts and texts.sha256, tally.digest, tally.counts]
    return hashes == [manifest.texts and manifest.texts.sha256, manifest.corpus_sha256, manifest.counts]

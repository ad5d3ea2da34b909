"""Uploaded files of a library, in chunks onto the disk of the libraries: a connection that breaks loses one chunk at most."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from retrieval.core.counts import format_count
from retrieval.core.errors import BadInput, CounterpointError, translate_write_errors

FOLDER = ".work"
"""Beside the libraries; names with a dot are never listed."""
DELETED = ".deleted"
"""A library that is being deleted, beside the folder of what is made for it."""
MOST_CHUNK = 8_000_000
"""Bytes that are sent at once."""
MOST_FILES = 2000
"""Files of a library that wait to be read."""
_PARTIAL = ".part"


class OutOfStep(CounterpointError):
    """A chunk does not begin where the file ends; `received` is where it does."""

    status = 409

    def __init__(self, received: int) -> None:
        super().__init__(f"The file has {received:,} bytes so far; send on from there.")
        self.received = received


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as far as it has been received."""

    name: str
    received: int
    whole: bool


def name_draft(folder: Path, library: str) -> Path:
    """The folder of what is made for a library: uploaded files, and the library itself until it is built."""
    return folder / FOLDER / library


def list_uploads(draft: Path) -> list[Upload]:
    """The files that wait to be read, by name."""
    found = list[Upload]()
    for one in sorted(draft.glob("files/*")):
        with suppress(FileNotFoundError):  # read or removed just now
            found.append(Upload(_name_of(one), one.stat().st_size, one.suffix != _PARTIAL))
    return found


def _name_of(path: Path) -> str:
    """The name of a file that is whole or, as `NAME.TOTAL.part`, partial: files of two lengths never share a partial one."""
    return path.name.removesuffix(_PARTIAL).rpartition(".")[0] if path.suffix == _PARTIAL else path.name


def remove_upload(draft: Path, name: str) -> None:
    """Remove a file that waits to be read, whole or not."""
    check_file_name(name)
    if draft.exists():
        with hold_files(draft) as folder:
            for one in folder.iterdir():
                if _name_of(one) == name:
                    one.unlink()


@contextmanager
def hold_files(draft: Path) -> Iterator[Path]:
    """The folder of the files that wait, which nobody else changes meanwhile."""
    draft.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(draft / "files.lock", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = draft / "files"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        yield folder


def add_chunk(draft: Path, name: str, chunk: bytes, offset: int, total: int, most: int) -> Upload:
    """Append a chunk of a file of `total` bytes, which begins at `offset`; at 0 it begins the file anew.

    A chunk that is there already is not written again. Raises `OutOfStep`, `BadInput` for a name that is none, a file that is
    longer than it should be, or files of more than `most` bytes in all, and `OutOfSpace` if the disk is full; what was
    received before stays.
    """
    check_file_name(name)
    if offset + len(chunk) > total:
        raise BadInput(f"Expected a file of {total:,} bytes, got {offset + len(chunk):,}; send it anew.")
    hint = "what was received before is kept, so send this part again"
    with translate_write_errors("the file", draft.parent.parent, hint), hold_files(draft) as folder:
        return _append(folder, name, chunk, offset, total, most)


def _append(folder: Path, name: str, chunk: bytes, offset: int, total: int, most: int) -> Upload:
    whole, partial = folder / name, folder / f"{name}.{total}{_PARTIAL}"
    others = [one.stat().st_size for one in folder.iterdir() if one not in (whole, partial)]
    # A whole file is this one only if it is as long: another of its name is no beginning of it.
    done = offset and not partial.exists() and whole.exists() and whole.stat().st_size == total
    if len(others) >= MOST_FILES:
        raise BadInput(f"{format_count(len(others), 'file')} wait to be read; start reading them before you send more.")
    if sum(others) + total > most:
        raise BadInput(f"Files of {most:,} bytes may wait to be read, and these have {sum(others) + total:,}; send less.")
    if not offset:
        partial.unlink(missing_ok=True)
    received = partial.stat().st_size if partial.exists() else total if done else 0
    if received < offset:
        raise OutOfStep(received)
    if offset + len(chunk) > received:
        with open(partial, "ab") as file:
            try:
                file.write(chunk[received - offset :])
                file.flush()
            except OSError:
                os.truncate(partial, received)
                raise
        received = offset + len(chunk)
    if received == total and not done:
        os.replace(partial, whole)
        for one in folder.iterdir():
            if one != whole and _name_of(one) == name:
                one.unlink()
    return Upload(name, received, received == total)


def check_file_name(name: str) -> None:
    """Raise `BadInput` for what is not the plain name of a file."""
    if (
        not 0 < len(name) <= 150
        or len(name.encode()) > 230
        or not name.strip()
        or name != Path(name).name
        or name.startswith(".")
    ):
        raise BadInput("Expected the plain name of a file, of at most 150 characters, without slashes or a dot at its beginning.")
    if not name.isprintable() or "\\" in name or name.endswith(_PARTIAL):
        raise BadInput("Expected the plain name of a file, without backslashes and control characters; give it another name.")

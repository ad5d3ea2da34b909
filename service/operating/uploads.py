"""Uploaded files of a library, in chunks onto the disk of the libraries: a connection that breaks loses one chunk at most.

A ticket lets who has it download a library for a minute: a browser that saves a file sends no key.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import BaseModel, Field

from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadInput, CounterpointError, translate_write_errors
from counterpoint.retrieval.store.journal import hash_file
from counterpoint.retrieval.store.library import is_id, make_id

FOLDER = ".work"
"""Beside the libraries; names with a dot are never listed."""
DELETED = ".deleted"
"""A library that is being deleted, beside the folder of what is made for it."""
MOST_CHUNK = 8_000_000
"""Bytes that are sent at once."""
MOST_FILES = 2000
"""Files of a library that wait to be read."""
_PARTIAL = ".part"
_IDLE_SECONDS = 60.0
"""An upload that has got nothing for longer was given up, if the same file is begun anew."""
TICKET_SECONDS = 60.0


class OutOfStep(CounterpointError):
    """A chunk does not begin where the file ends; `received` is where it does."""

    status = 409

    def __init__(self, received: int) -> None:
        super().__init__(f"The file has {received:,} bytes so far; send on from there.")
        self.received = received


class UploadOut(BaseModel):
    """An uploaded file."""

    name: str
    received: int = Field(description="Bytes received so far.")
    whole: bool = Field(description="Whether all of it is there.")
    upload: str = Field(description="What tells this upload from others of the same name; send it with every later part.")


def name_draft(folder: Path, library: str) -> Path:
    """The folder of what is made for a library: uploaded files, and the library itself until it is built."""
    return folder / FOLDER / library


def name_linked(folder: Path, library: str) -> Path:
    """The folder of what came from Zotero for a library, with the link that a sync goes on from."""
    return folder / FOLDER / f"{library}.zotero"


def name_deleted(folder: Path, library: str) -> Path:
    """Where a library lies that is being deleted; what belongs to it goes first."""
    return folder / FOLDER / f"{library}{DELETED}"


def list_uploads(draft: Path) -> list[UploadOut]:
    """The files that wait to be read, by name."""
    found = list[UploadOut]()
    for one in sorted(draft.glob("files/*")):
        with suppress(FileNotFoundError):  # read or removed just now
            name, size, whole = _name_of(one), one.stat().st_size, one.suffix != _PARTIAL
            found.append(UploadOut(name=name, received=size, whole=whole, upload=_id_of(one)))
    return found


def _name_of(path: Path) -> str:
    """The name of a file that is whole or, as `NAME.TOTAL-ID.part`, partial: no two uploads share a partial one."""
    return path.name.removesuffix(_PARTIAL).rpartition(".")[0] if path.suffix == _PARTIAL else path.name


def _id_of(path: Path) -> str:
    return path.stem.rpartition("-")[2] if path.suffix == _PARTIAL else ""


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


def add_chunk(
    draft: Path, name: str, chunk: bytes, offset: int, total: int, most: int, id: str = "", sha256: str = ""
) -> UploadOut:
    """Append a chunk of a file of `total` bytes, which begins at `offset`, to the upload with this id; at 0 it begins anew, and
    without an id as an upload of its own. Later chunks may leave the id out if it is the only one of this name and length.

    A chunk that is there already is not written again. Raises `OutOfStep`, `BadInput` for a name that is none, a file that is
    longer than it should be or has another hash than `sha256`, or files of more than `most` bytes in all, and `OutOfSpace` if
    the disk is full; what was received before stays.
    """
    check_file_name(name)
    if id and not is_id(id):
        raise BadInput("Expected in `upload` what the first part of the file was answered with, got something else.")
    if offset + len(chunk) > total:
        raise BadInput(f"Expected a file of {total:,} bytes, got {offset + len(chunk):,}; send it anew.")
    hint = "what was received before is kept, so send this part again"
    with translate_write_errors("the file", draft.parent.parent, hint), hold_files(draft) as folder:
        return _append(folder, name, chunk, offset, total, most, id, sha256.lower())


def _append(folder: Path, name: str, chunk: bytes, offset: int, total: int, most: int, id: str, sha256: str) -> UploadOut:
    whole, files = folder / name, [*folder.iterdir()]
    begun = [one for one in files if _name_of(one) == name and one.name.startswith(f"{name}.{total}-")]
    if not offset and not id:
        for one in begun:
            if time.time() - one.stat().st_mtime > _IDLE_SECONDS:
                one.unlink()
        id = make_id()
    elif not id and len(begun) > 1:
        raise BadInput(f"{len(begun)} files of this name and length are being sent; give `upload`, as each first part was told.")
    id = id or "".join(map(_id_of, begun))
    partial = folder / f"{name}.{total}-{id}{_PARTIAL}"
    others = [one.stat().st_size for one in folder.iterdir() if one not in (whole, partial)]
    # A whole file is this one only if this upload made it: another of its name is no beginning of it.
    made_by = folder.with_name("ids") / name
    done = bool(id) and whole.exists() and made_by.exists() and made_by.read_text() == f"{total}-{id}"
    if len(others) >= MOST_FILES:
        raise BadInput(f"{format_count(len(others), 'file')} wait to be read; start reading them before you send more.")
    if sum(others) + total > most:
        raise BadInput(f"Files of {most:,} bytes may wait to be read, and these have {sum(others) + total:,}; send less.")
    if not offset and not done:
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
        if sha256 and (digest := hash_file(partial)) != sha256:
            partial.unlink()
            raise BadInput(f"Expected a file with the SHA-256 {sha256}, got one with {digest}; send it anew.")
        made_by.parent.mkdir(exist_ok=True)
        made_by.write_text(f"{total}-{id}")
        os.replace(partial, whole)
    return UploadOut(name=name, received=received, whole=received == total, upload=id)


def check_file_name(name: str) -> None:
    """Raise `BadInput` for what is not the plain name of a file."""
    if (
        not 0 < len(name) <= 150
        or len(name.encode()) > 220
        or not name.strip()
        or name != Path(name).name
        or name.startswith(".")
    ):
        raise BadInput("Expected the plain name of a file, of at most 150 characters, without slashes or a dot at its beginning.")
    if not name.isprintable() or "\\" in name or name.endswith(_PARTIAL):
        raise BadInput("Expected the plain name of a file, without backslashes and control characters; give it another name.")


def give_ticket(folder: Path, library: str) -> str:
    """A ticket to download a library, which every process of the service knows."""
    place, ticket = folder / FOLDER / "tickets", secrets.token_urlsafe(24)
    with translate_write_errors("the ticket", folder):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        for one in place.iterdir():
            if not _is_valid(one):
                one.unlink(missing_ok=True)
        (place / ticket).write_text(library)
    return ticket


def take_ticket(folder: Path, ticket: str) -> str:
    """The library that a ticket is for; "" if it is none, or was given more than a minute ago."""
    place = folder / FOLDER / "tickets" / ticket
    return place.read_text() if re.fullmatch(r"[\w-]{32}", ticket, re.ASCII) and _is_valid(place) else ""


def _is_valid(ticket: Path) -> bool:
    with suppress(FileNotFoundError):
        return 0 <= time.time() - ticket.stat().st_mtime < TICKET_SECONDS
    return False

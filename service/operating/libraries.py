"""The libraries of a service: an index named by itself (`--index`), and every folder in a folder that is a library.

The disk is the truth: lists and names are read from it, so that every process knows a new, renamed or moved library at once.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from counterpoint.indexes.plan import hold_lock
from counterpoint.retrieval.cluster.client import RETRY_SECONDS, ClusterBusy, is_address, name_place, read_address
from counterpoint.retrieval.core.errors import BadInput, CounterpointError, IndexUnusable
from counterpoint.retrieval.index import Index, look_at_index, read_index_manifest
from counterpoint.retrieval.store import library as files
from counterpoint.retrieval.store.library import LibraryFile, check_name, read_library_file
from counterpoint.retrieval.store.manifest import NAME, Manifest
from counterpoint.service.answering.answer import Answerer
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.operating.live_index import LiveIndex, Maker, NotReady, Serving
from counterpoint.service.operating.settings import load_settings
from counterpoint.service.operating.uploads import name_deleted, name_draft, name_linked
from counterpoint.service.schemas.faults import short

_log = logging.getLogger("counterpoint")
_WAIT_SECONDS = 30.0
LOADING = "The service is still loading; try again in a few seconds."


class NoSuchLibrary(CounterpointError):
    """There is no such library, or it is one that the sender may not see, which senders cannot distinguish."""

    status = 404


@dataclass(frozen=True, slots=True)
class Library:
    """A library as it is on disk: `place` is its index's folder or address, `folder` where its file lies, `damaged` says in a
    sentence why it cannot be used, `kept` whether the service keeps it: papers are added and removed, and it can be deleted;
    `linked` whether it has a collection of Zotero.

    The manifest of an index on a cluster is read only for lists.
    """

    id: str
    name: str
    place: Path
    folder: Path
    description: str = ""
    keys: tuple[str, ...] = ()
    manifest: Manifest | None = None
    damaged: str = ""
    kept: bool = False
    linked: bool = False

    def with_manifest(self) -> Library:
        """The same with its manifest or, if that cannot be read, the reason."""
        if self.manifest or self.damaged:
            return self
        try:
            return replace(self, manifest=read_index_manifest(self.place))
        except CounterpointError as error:
            return replace(self, damaged=str(error))

    def is_seen_by(self, holder: str | None) -> bool:
        """Whether the holder of a key may see it; None is the person at the machine, who sees everything."""
        return holder is None or not self.keys or holder in self.keys


class Libraries:
    """The libraries of the index at `index` and of the folders in `folder`, found by id or name; at most `most_open` are open.

    When `look_at_models` returns another value, the models are loaded anew. Without `load` the libraries can be listed and found,
    but not opened. `failure` says why nothing can be answered, `waiting` why the first index cannot be opened yet; `empty` is
    true if there was nothing to open.
    """

    def __init__(
        self,
        index: Path | None = None,
        folder: Path | None = None,
        load: Callable[[Index], Grounder] | None = None,
        load_answerer: Callable[[Grounder], Answerer] | None = None,
        most_open: int = 8,
        look_at_models: Callable[[], Hashable] = lambda: None,
    ) -> None:
        self.folder, self._index, self._most_open = folder, index, most_open
        self._maker = Maker(load, load_answerer, look_at_models) if load else None
        self._lives: dict[str, LiveIndex] = {}
        self._seen: dict[Path, tuple[Hashable, Library]] = {}
        self._lock = threading.Lock()
        self._tried: list[Library] = []
        self.failure = self.waiting = ""
        self.empty = False

    # On disk

    def list_all(self, holder: str | None = None) -> list[Library]:
        """All libraries that a holder may see, that of `index` first, then by name, each looked at anew."""
        self._seen.clear()
        return [one.with_manifest() for one in self.seen_by(holder)]

    def seen_by(self, holder: str | None) -> list[Library]:
        """The same libraries, without looking again at those whose files have the same stamps."""
        return [one for one in self._all() if one.is_seen_by(holder)]

    def find(self, asked: str = "", holder: str | None = None) -> Library:
        """The library of this id or name; without either that of `index`, or else the first that is not damaged.

        Raises `NoSuchLibrary`, and `BadInput` for a name that several have.
        """
        libraries = self.seen_by(holder)
        if not asked:
            found = [one for one in libraries if one.folder == self._index or not one.damaged] or libraries
            if not found:
                raise NoSuchLibrary("There is no library yet; make one first, or start the service with --index.")
            return found[0]
        found = [one for one in libraries if one.id == asked] or [one for one in libraries if one.name == asked]
        if not found:
            raise NoSuchLibrary(f"There is no library “{short(asked)}”; list the libraries and choose one by its id or name.")
        if len(found) > 1:
            ids = " and ".join(one.id for one in found)
            raise BadInput(f"There are {len(found)} libraries called “{short(asked)}”; give an id: {ids}.")
        return found[0]

    def at(self, place: Path) -> Library:
        """The library whose index is at this place, whether or not it is one of these."""
        name = name_place(place)
        return next((one for one in self._all() if name_place(one.place) == name), None) or _read_library(place)

    def change(
        self,
        library: Library,
        name: str | None = None,
        description: str | None = None,
        keys: Iterable[str] | None = None,
        holder: str | None = None,
    ) -> Library:
        """Change what a library is called, what is said of it and who may see it; return it as it is then.

        Raises `BadInput` for a name that is none or that another library has which this holder sees.
        """
        if is_address(library.folder):
            raise BadInput(f"{library.name} is named by its address; put the address into a {files.NAME} to name it otherwise.")
        file = read_library_file(library.folder) or LibraryFile(library.id)
        if name is not None:
            name = check_name(name)
            if any(one.name == name and one.id != library.id for one in self.list_all(holder)):
                raise BadInput(f"There is a library called “{name}” already; choose another name.")
        replace(
            file,
            name=file.name if name is None else name,
            description=file.description if description is None else description,
            keys=file.keys if keys is None else tuple(keys),
        ).write(library.folder)
        return next(one for one in self.list_all() if one.id == library.id)

    def find_place(self, id: str) -> Path | None:
        """The place of the library with this id; None if there is none."""
        return next((one.place for one in self._all() if one.id == id), None)

    def delete(self, id: str) -> None:
        """Move a library, or what is made of one that is only named, out of every list at once, to where it is removed.

        A job that was just stopped ends first: it would make the folder anew. Raises `BadInput` if another writer does not.
        """
        assert self.folder
        place, draft, deleted = self.find_place(id), name_draft(self.folder, id), name_deleted(self.folder, id)
        deleted.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.rmtree(deleted, ignore_errors=True)
        until = time.monotonic() + _WAIT_SECONDS
        while place:
            try:
                with hold_lock(place):
                    os.rename(place, deleted)
                break
            except BadInput:
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)
        if place is None and draft.exists():
            os.rename(draft, deleted)
        self.refresh()

    def _all(self) -> list[Library]:
        """Every library, without those hidden from a holder; what has not changed on disk since it was read is not read again."""
        first = [self._look(self._index)] if self._index else []
        folders: list[Path] = []
        if self.folder:
            with suppress(OSError), os.scandir(self.folder) as entries:
                folders = [Path(one) for one in entries if one.is_dir() and not one.name.startswith(".")]
        others = [self._look(one) for one in sorted(folders) if (one / NAME).is_file() or (one / files.NAME).is_file()]
        if first:
            own = name_place(first[0].place)
            others = [one for one in others if name_place(one.place) != own]
        return list(_mark_copies([*first, *sorted(others, key=lambda one: (one.name.casefold(), one.id))]))

    def _look(self, folder: Path) -> Library:
        fingerprint = None if is_address(folder) else (look_at_index(folder), _stamp(folder / files.NAME))
        seen = self._seen.get(folder)
        if seen is None or seen[0] != fingerprint:
            library = _read_library(folder)
            own = self.folder
            kept = own is not None and not is_address(library.place) and library.place.parent.resolve() == own.resolve()
            linked = own is not None and kept and name_linked(own, library.id).is_dir()
            seen = self._seen[folder] = fingerprint, replace(library, kept=kept, linked=linked)
        return seen[1]

    # Open

    def load(self) -> None:
        """Open the first library that can be, and with it the models; an error is kept in `failure`, or in `waiting` if a retry
        may succeed soon."""
        waiting = failure = ""
        self._tried = self._all()
        self.empty = not self._tried
        for library in self._tried:
            try:
                self.open(library)
            except ClusterBusy as error:
                if not self.waiting:
                    _log.warning("waiting for the index: %s", error)
                waiting = waiting or str(error)
            except CounterpointError as error:
                _log.warning("the library %s cannot be opened: %s", library.id, error)
                failure = failure or str(error)
            except Exception:
                _log.exception("loading failed")
                failure = failure or "The service could not be loaded; see its log."
            else:
                if self.waiting:
                    _log.info("the index is there")
                waiting = failure = ""
                break
        self.failure, self.waiting = failure, waiting

    def open(self, library: Library) -> LiveIndex:
        """The index of a library, open; the first also loads the models. Raises `CounterpointError` if it cannot be opened."""
        live = self._live(library)
        if library.damaged and not live.is_open:
            raise IndexUnusable(library.damaged)
        live.ready()
        _keep_id(library)
        with self._lock:
            others = [one for one in self._lives.values() if one.is_open and one is not live and one.place != self._index]
        for one in sorted(others, key=lambda one: one.used)[: max(0, len(others) + 1 - self._most_open)]:
            one.close()
        return live

    @contextmanager
    def lease(self, asked: str = "") -> Iterator[Serving]:
        """What serves the library of this id or name, kept open until the end of the block; it is opened if need be."""
        with self.open(self.find(asked)).lease() as serving:
            yield serving

    def check_ready(self) -> Serving:
        """What was made first, with the models that all share; raises `NotReady` as long as there is nothing, with the reason."""
        if self._maker is None or self._maker.first is None:
            error = NotReady(self.failure or self.waiting or LOADING)
            error.retry_after = None if self.failure else RETRY_SECONDS if self.waiting else 3
            raise error
        return self._maker.first

    def opened(self, id: str = "") -> Serving | None:
        """What serves the library of this id now, or without an id that of `index` if all may see it; None if it is not open."""
        if not id:
            id = next((one.id for one in self._all() if one.folder == self._index and not one.keys), "")
        live = self._lives.get(id)
        return live.now if live else None

    def _live(self, library: Library) -> LiveIndex:
        assert self._maker is not None
        with self._lock:
            live = self._lives.get(library.id)
            if live is None or name_place(live.place) != name_place(library.place):
                old, live = live, LiveIndex(library.id, library.place, self._maker)
                self._lives[library.id] = live
                if old:  # the library was moved
                    old.close()
        return live

    def refresh(self) -> None:
        """Let what changed on disk serve; close what is gone; load the models once there is an index to load them with."""
        libraries = self._all()
        if self._maker and self._maker.first is None:
            if libraries != self._tried:
                self.load()
            return
        ids = {one.id for one in libraries}
        with self._lock:
            gone = [self._lives.pop(id) for id in [*self._lives] if id not in ids]
            lives = [*self._lives.values()]
        for live in gone:
            live.close()
        for live in lives:
            live.refresh()

    def close(self) -> None:
        """Close everything; no request is in progress any more."""
        for live in self._lives.values():
            live.close()


def _read_library(folder: Path) -> Library:
    """The library in a folder, or the one that is at an address itself."""
    if is_address(folder):
        return Library(_hash_place(folder), read_address(folder).name, folder, folder)
    name = folder.resolve().name
    try:
        file = read_library_file(folder) or LibraryFile(_hash_place(folder))
        place = Path(file.address) if file.address else folder
        if file.address:
            read_address(place)
        library = Library(file.id, file.name or name, place, folder, file.description, file.keys)
    except CounterpointError as error:
        return Library(_hash_place(folder), name, folder, folder, damaged=str(error))
    return library if file.address else library.with_manifest()


def _hash_place(place: Path) -> str:
    """The id of an index that has no library's file: the same in every process as long as it stays where it is."""
    return hashlib.sha256(name_place(place).encode()).hexdigest()[:12]


def _keep_id(library: Library) -> None:
    """Write the id of an index that has no library's file into one, if its folder can be written: then it may be moved."""
    if not is_address(library.place) and not (library.place / files.NAME).exists():
        with suppress(CounterpointError, OSError):
            LibraryFile(library.id).write(library.place)


def _mark_copies(libraries: list[Library]) -> Iterator[Library]:
    """The libraries; one that has the id of an earlier one is a copy of its folder, and would share its history."""
    owners: dict[str, Library] = {}
    for one in libraries:
        first = owners.setdefault(one.id, one)
        if first is not one:
            said = f"The library at {one.place} is a copy of {first.place}; delete its {files.NAME} to make it one of its own."
            one = replace(one, id=_hash_place(one.place), damaged=said)
        yield one


def _stamp(path: Path) -> Hashable:
    try:
        status = path.stat()
        return status.st_ino, status.st_mtime_ns, status.st_size
    except OSError:
        return None


def find_index(place: Path) -> Path:
    """The place of an index: what is there as given, or else that of the library with this id or name, if there is one."""
    if is_address(place) or place.exists() or place.name != str(place):
        return place
    try:
        return Libraries(folder=load_settings().libraries_folder(alone=False)).find(str(place)).place
    except NoSuchLibrary:
        return place

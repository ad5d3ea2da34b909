"""Results that models once computed for a text, reused by the service, the command line and batch runs.

Each result's bytes are stored under a key that depends on everything the result does (model, code, texts). No text can be
recovered from the key, nor from numbers; a language model's reply (nli.reader.chat) holds its reason and words of the paper.
Caching is optional: where it fails, the work goes on without it.

On disk, the file is bounded, and the oldest results go first. It is SQLite: several processes may use it, and what is read stays
in the system's page cache. (The usual library, diskcache, has had no release since 2023 and unpickles what it finds; LMDB would
map the file into the service's memory.)
"""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, Protocol

from counterpoint.retrieval.core.errors import BadConfig
from counterpoint.retrieval.core.user_folders import find_user_folder

FOLDER_VARIABLE, SIZE_VARIABLE = "COUNTERPOINT_CACHE", "COUNTERPOINT_CACHE_MB"
OFF = "off"
DEFAULT_MB = 1024
Kind = Literal["verdicts", "vectors"]
SHARES: Mapping[Kind, float] = {"verdicts": 1 / 8, "vectors": 7 / 8}
"""Shares of the whole size: a verdict takes some 100 bytes, the vectors of an abstract some 90,000."""

_PAGE_BYTES = 4096
_KEYS_A_QUERY = 1000
_BUSY_SECONDS = 5.0
# WITHOUT ROWID would be smaller, but the row number shows which results are oldest.
_SCHEMA = "CREATE TABLE IF NOT EXISTS kept (key BLOB NOT NULL UNIQUE, value BLOB NOT NULL)"
_OLDEST_TENTH = "DELETE FROM kept WHERE rowid <= (SELECT min(rowid) + max(1, (max(rowid) - min(rowid)) / 10) FROM kept)"

observers: list[Callable[[str, int, int], None]] = []
"""Called on every look-up with the name of the file, the number of hits and the number of misses."""
_log = logging.getLogger("counterpoint")


def make_key(*parts: str) -> bytes:
    """A key of 16 bytes for these texts in this order; in practice, two different lists never share one."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        text = part.encode("utf-8", "surrogatepass")
        digest.update(len(text).to_bytes(8))
        digest.update(text)
    return digest.digest()


class Cache(Protocol):
    """Results under keys of 16 bytes; safe to use from several threads at once. Errors are cache misses."""

    def get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The result under each key, None if there is none."""

    def put(self, results: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep each result under its key."""


class DiskCache:
    """One bounded file of results; safe to use from several threads and processes at once. Errors are cache misses."""

    def __init__(self, path: Path, megabytes: float) -> None:
        self.path = path
        self._pages = max(16, int(megabytes * 1e6 / _PAGE_BYTES))
        self._local = threading.local()
        self._lock = threading.Lock()
        self._usable = True
        try:
            # Nobody else may write to the folder: its contents are trusted.
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._connect()
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)

    def get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The result under each key, None if there is none."""
        values: dict[bytes, bytes] = {}
        if self._usable:
            try:
                for at in range(0, len(keys), _KEYS_A_QUERY):
                    chunk = keys[at : at + _KEYS_A_QUERY]
                    marks = ",".join("?" * len(chunk))
                    values.update(self._connect().execute(f"SELECT key, value FROM kept WHERE key IN ({marks})", chunk))
            except (sqlite3.Error, OSError) as error:
                self._give_up(error)
        results = [values.get(one) for one in keys]
        misses = results.count(None)
        _tell(self.path.stem, len(results) - misses, misses)
        return results

    def put(self, results: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep each result under its key, all or none; the oldest results make room."""
        if not self._usable:
            return
        rows = list(results)
        try:
            connection = self._connect()
            for _ in range(10):
                try:
                    with self._lock, connection:
                        connection.executemany("INSERT OR IGNORE INTO kept VALUES (?, ?)", rows)
                    return
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode != sqlite3.SQLITE_FULL or not self._is_full(connection):
                        raise
                    with self._lock, connection:
                        connection.execute(_OLDEST_TENTH)
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)

    def _is_full(self, connection: sqlite3.Connection) -> bool:
        """Whether the file has reached its maximum size; if not, the disk is full, and deleting would not help."""
        pages = int(connection.execute("PRAGMA page_count").fetchone()[0])
        return pages >= 0.9 * self._pages

    def _connect(self) -> sqlite3.Connection:
        """This thread's own connection."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, check_same_thread=False)
            connection.execute(f"PRAGMA page_size={_PAGE_BYTES}")
            connection.execute("PRAGMA journal_mode=WAL")
            # What is lost in a power cut is computed again.
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute(f"PRAGMA max_page_count={self._pages}")
            connection.execute(_SCHEMA)
        return connection

    def _give_up(self, error: Exception) -> None:
        if self._usable:
            self._usable = False
            _log.warning(
                "results are no longer cached: %s cannot be used (%s); free some space, delete it, or name another with %s",
                self.path, error, FOLDER_VARIABLE,
            )  # fmt: skip


_chosen: tuple[str, float] | None = None


def set_cache_folder(folder: str, megabytes: float) -> None:
    """Cache the results of this process in a folder from now on, up to this many megabytes, whatever the environment says.

    "" stands for the user's own cache folder, "off" for no cache.
    """
    global _chosen
    _chosen = folder, megabytes


def get_cache_folder() -> Path | None:
    """The cache folder, None if there is none; `set_cache_folder` or COUNTERPOINT_CACHE names it or is "off"."""
    folder = _chosen[0] if _chosen else os.environ.get(FOLDER_VARIABLE, "")
    if folder.lower() == OFF:
        return None
    return Path(folder) if folder else find_user_folder("cache")


def get_cache_megabytes() -> float:
    """The limit for all results together, set by `set_cache_folder` or COUNTERPOINT_CACHE_MB; raises `BadConfig` below 1."""
    if _chosen:
        return _chosen[1]
    setting = os.environ.get(SIZE_VARIABLE) or str(DEFAULT_MB)
    try:
        size = float(setting)
    except ValueError:
        size = 0.0
    if not 1 <= size <= 1e9:
        raise BadConfig(f"{SIZE_VARIABLE} should be a number of megabytes, at least 1, not {setting!r}.")
    return size


def open_cache(kind: Kind) -> DiskCache | None:
    """The cache of results of this kind, which this process shares with all others of the user; None if caching is off."""
    where = get_cache_folder()
    return _open_file(where / f"{kind}.sqlite", SHARES[kind] * get_cache_megabytes()) if where else None


@cache
def _open_file(path: Path, size: float) -> DiskCache:
    return DiskCache(path, size)


def _tell(kind: str, hits: int, misses: int) -> None:
    for observer in observers:
        observer(kind, hits, misses)

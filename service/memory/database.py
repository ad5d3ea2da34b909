"""The file behind the memory: SQLite, readable only by its owner, opened anew for each operation.

Answering never depends on it: if it cannot be opened, the service goes on without it and says so.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from counterpoint.retrieval.core.errors import BadInput, CounterpointError, translate_write_errors

NAME = "memory.sqlite"
_VERSION = 3
_BUSY_SECONDS = 10.0
_SCHEMA = Path(__file__).with_name("schema.sql")
TABLES = ("history", "saved", "alerts", "feedback", "shared", "made")
"""The tables with a holder and a library; `feeds` has a holder alone."""


class MemoryUnusable(CounterpointError):
    """The file cannot be opened, read or written."""

    status = 503


def make_id() -> str:
    """Make a new id for a row."""
    return secrets.token_hex(6)


def make_timestamp() -> str:
    """The present time, written so that the texts sort by time."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


class NoSuch(BadInput):
    """There is no such row, or it is another holder's, which callers cannot distinguish."""

    status = 404


@dataclass(frozen=True, slots=True)
class Whose:
    """Which rows are meant: those of a holder, or of everyone, of these libraries or, without them, of every one."""

    holder: str = ""
    libraries: tuple[str, ...] | None = None
    everyone: bool = False

    @property
    def where(self) -> str:
        """The condition of a statement, which takes `values`."""
        holder = "(TRUE OR holder = ?)" if self.everyone else "holder = ?"
        return holder if self.libraries is None else f"{holder} AND library IN (SELECT value FROM json_each(?))"

    @property
    def values(self) -> tuple[str, ...]:
        """The values of the condition."""
        return (self.holder,) if self.libraries is None else (self.holder, json.dumps(self.libraries))


class Database:
    """The file in a folder, created if missing; safe to use from several threads and processes at once."""

    def __init__(self, folder: Path) -> None:
        """Raises `MemoryUnusable` if the file cannot be written, or was made by another version of Counterpoint."""
        self.path = folder / NAME
        try:
            # Nobody else may read what was asked.
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.touch(mode=0o600)
            with closing(self._open()) as connection:
                connection.execute("BEGIN IMMEDIATE")
                version = int(connection.execute("PRAGMA user_version").fetchone()[0])
                if version not in (0, _VERSION):
                    raise MemoryUnusable(f"{self.path} was made by another version of Counterpoint: rename it, or delete it.")
                for statement in _SCHEMA.read_text("utf-8").split(";\n"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version={_VERSION}")
                connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            raise self._unusable(error) from error

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """The rows that a SELECT finds."""
        try:
            with closing(self._open()) as connection:
                return connection.execute(statement, values).fetchall()
        except (sqlite3.Error, OSError) as error:
            raise self._unusable(error) from error

    @contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """A transaction: the changes in the block are kept when it ends, and none of them if it raises or the process dies."""
        try:
            with (
                translate_write_errors("what is remembered", self.path.parent, "free some space"),
                closing(self._open()) as connection,
            ):
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            raise self._unusable(error) from error

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)
        # Deleted data is overwritten, not only unlinked.
        connection.execute("PRAGMA secure_delete=ON")
        return connection

    def _unusable(self, error: Exception) -> MemoryUnusable:
        return MemoryUnusable(
            f"{self.path} cannot be used ({error}); make its folder writable, name another with COUNTERPOINT_STATE, or move a "
            "damaged file away."
        )


class Rows:
    """The rows of one table; `missing` is the sentence on an id that none of someone's rows has."""

    table: str
    missing: str

    def __init__(self, database: Database) -> None:
        self.database = database

    def select(self, columns: str, whose: Whose, more: str = "", values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Someone's rows; `more` of the statement follows the condition, with its own values."""
        return self.database.rows(f"SELECT {columns} FROM {self.table} WHERE {whose.where} {more}", (*whose.values, *values))

    def get_row(self, columns: str, whose: Whose, id: str) -> tuple[Any, ...]:
        """One of someone's rows; raises `NoSuch`."""
        for row in self.select(columns, whose, "AND id = ?", (id,)):
            return row
        raise NoSuch(self.missing)

    def delete(self, whose: Whose, id: str) -> None:
        """Delete one of someone's rows; raises `NoSuch`."""
        with self.database.change() as change:
            self.delete_in(change, whose, id)

    def delete_in(self, change: sqlite3.Connection, whose: Whose, id: str) -> None:
        """The same within a transaction."""
        if not change.execute(f"DELETE FROM {self.table} WHERE {whose.where} AND id = ?", (*whose.values, id)).rowcount:
            raise NoSuch(self.missing)

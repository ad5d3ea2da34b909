"""Saved claims, and the state of the index on which each was last grounded: a claim moves to the next state together with its
alerts in one transaction, so that every alert is given exactly once, whenever the process dies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Claim
from counterpoint.retrieval.store.journal import hash_json
from counterpoint.retrieval.store.manifest import Manifest
from counterpoint.service.grounding.schemas import GroundResponse
from counterpoint.service.memory.database import Rows, Whose, make_id, make_timestamp
from counterpoint.service.memory.history import Now, entry_of_claim, list_changes, make_link, nothing
from counterpoint.service.memory.schemas import AlertData, Kind, Saved, SavedList, SavedOut

MOST = 1000
"""The most claims that a holder may save."""
_COLUMNS = "id, holder, library, at, version, index_id, sources, data"


@dataclass(frozen=True, slots=True)
class IndexState:
    """The state of an index: its version, its id, and the sources that it was made from (their number and a hash)."""

    version: int
    index: str
    sources: str

    @classmethod
    def of(cls, manifest: Manifest) -> IndexState:
        """The state that a manifest describes."""
        return cls(manifest.version, manifest.id, hash_sources(manifest, len(manifest.sources)))


def hash_sources(manifest: Manifest, number: int) -> str:
    """The number and the hash of an index's first sources: an update adds to them, a new build starts afresh."""
    return f"{number}:{hash_json([[source.path, source.bytes, source.records] for source in manifest.sources[:number]])[:16]}"


@dataclass(frozen=True, slots=True)
class Watched:
    """A saved claim as the watch sees it."""

    id: str
    holder: str
    library: str
    seen: IndexState
    saved: Saved

    @property
    def claim(self) -> Claim:
        """The claim to ground again."""
        return Claim(self.saved.text, self.saved.question, tuple(self.saved.known_pmids))


@dataclass(frozen=True, slots=True)
class NewAlert:
    """Something that changed for a claim and is to become an alert."""

    kind: Kind
    data: AlertData


class SavedClaims(Rows):
    """The saved claims in the file; each belongs to the library in which it was grounded."""

    table, missing = "saved", "There is no saved claim with this id."

    def add(self, holder: str, library: str, manifest: Manifest, response: GroundResponse, note: str = "") -> SavedOut:
        """Save a claim with what was found for it; if it was saved before, it keeps its id and gets the new note and result.

        Raises `BadInput` beyond `MOST`.
        """
        entry = Saved(**dict(entry_of_claim(response)), note=note)
        key = json.dumps([entry.text, entry.question, entry.known_pmids])
        state = IndexState.of(manifest)
        with self.database.change() as change:
            same = (holder, library, key)
            row = change.execute("SELECT id FROM saved WHERE holder = ? AND library = ? AND asked = ?", same).fetchone()
            count = change.execute("SELECT count(*) FROM saved WHERE holder = ?", (holder,)).fetchone()[0]
            if not row and count >= MOST:
                raise BadInput(f"{MOST:,} claims are saved, which is the most; delete one first.")
            id = row[0] if row else make_id()
            change.execute(
                "INSERT INTO saved VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET at = excluded.at, version = "
                "excluded.version, index_id = excluded.index_id, sources = excluded.sources, data = excluded.data",
                (id, holder, library, make_timestamp(), key, state.version, state.index, state.sources, entry.model_dump_json()),
            )
        return self.get(Whose(holder), id)

    def find(self, whose: Whose, now: Now = nothing) -> SavedList:
        """Someone's saved claims, newest first."""
        return SavedList(saved=[_read_row(row, now) for row in self.select(_COLUMNS, whose, "ORDER BY at DESC, id")])

    def get(self, whose: Whose, id: str, now: Now = nothing) -> SavedOut:
        """One saved claim; raises `NoSuch`."""
        return _read_row(self.get_row(_COLUMNS, whose, id), now)

    def delete_in(self, change: Connection, whose: Whose, id: str) -> None:
        """Delete a saved claim with its alerts; raises `NoSuch`."""
        super().delete_in(change, whose, id)
        change.execute("DELETE FROM alerts WHERE saved = ?", (id,))

    def due(self, library: str, manifest: Manifest) -> list[Watched]:
        """The claims of every holder saved in a library and not yet grounded on the present state of its index."""
        statement = f"SELECT {_COLUMNS} FROM saved WHERE library = ? AND (version != ? OR index_id != ?) ORDER BY at, id"
        rows = self.database.rows(statement, (library, manifest.version, manifest.id))
        return [
            Watched(id, holder, library, IndexState(version, index, sources), Saved.model_validate_json(data))
            for id, holder, library, _at, version, index, sources, data in rows
        ]

    def libraries(self) -> set[str]:
        """The ids of the libraries in which claims are saved."""
        return {row[0] for row in self.database.rows("SELECT DISTINCT library FROM saved")}

    def count(self, library: str) -> tuple[int, int]:
        """How many claims were saved in this library, and how many in others."""
        [(ours, others)] = self.database.rows("SELECT sum(library = ?), sum(library != ?) FROM saved", (library,) * 2)
        return ours or 0, others or 0

    def advance(self, watched: Watched, to: IndexState, entry: Saved, alerts: Sequence[NewAlert]) -> int:
        """Store the alerts and the state on which the claim was grounded, both or neither; return how many alerts are new.

        If another process was faster, or the claim was deleted meanwhile, nothing is done.
        """
        count = 0
        with self.database.change() as change:
            row_count = change.execute(
                "UPDATE saved SET version = ?, index_id = ?, sources = ?, data = ? WHERE id = ? AND version = ? AND index_id = ?",
                (to.version, to.index, to.sources, entry.model_dump_json(), watched.id, watched.seen.version, watched.seen.index),
            ).rowcount
            for alert in alerts if row_count else ():
                paper, data = alert.data.paper.pmid, alert.data.model_dump_json()
                row = (make_id(), watched.holder, watched.library, make_timestamp(), watched.id, alert.kind, paper, data)
                count += change.execute("INSERT OR IGNORE INTO alerts VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row).rowcount
        return count


def _read_row(row: tuple[Any, ...], now: Now) -> SavedOut:
    id, _holder, library, at, version, _index, _sources, data = row
    entry = Saved.model_validate_json(data)
    changes = list_changes(entry.provenance, now(library).get("claim"))
    link = make_link(entry, library)
    return SavedOut(**dict(entry), id=id, library=library, at=at, index_version=version, link=link, changed=changes)

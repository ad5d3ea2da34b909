"""What was asked, newest first: a limited number of entries per holder; the oldest are dropped."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime

from retrieval.core.errors import BadInput
from service.answering.schemas import AnswerResponse
from service.grounding.schemas import GroundResponse
from service.memory.database import Database
from service.memory.links import list_changes, make_link
from service.memory.schemas import Entry, HistoryOut, HistoryPage, papers_of
from service.schemas import Provenance

MOST = 1000
"""The most entries that are kept for a holder."""
Now = Mapping[str, Provenance]
"""The present provenance of results, for claims and for questions."""
NOTHING: Now = {}


def make_id() -> str:
    """Make a new id for a row."""
    return secrets.token_hex(6)


def tell_time() -> str:
    """The present time, written so that the texts sort by time."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


class NoSuch(BadInput):
    """There is no such row, or it is another holder's, which callers cannot distinguish."""

    status = 404


def entry_of_claim(response: GroundResponse) -> Entry:
    """Make an entry of a claim and what was found for it."""
    claim = response.claim
    return Entry(
        mode="claim",
        text=claim.text,
        question=claim.question,
        known_pmids=claim.known_pmids,
        summary=response.summary,
        papers=papers_of(response),
        provenance=response.provenance,
    )


def entry_of_question(response: AnswerResponse) -> Entry:
    """Make an entry of a question and the answer's first sentence."""
    opening = response.sentences[0].text if response.sentences else response.note
    return Entry(
        mode="question",
        text=response.topic.question,
        narrative=response.topic.narrative,
        summary=opening,
        provenance=response.provenance,
    )


class History:
    """The history in the file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, holder: str, entry: Entry) -> None:
        """Keep an entry; if the same was asked before, it replaces the earlier one."""
        data = entry.model_dump_json()
        same = "json_extract(data, '$.mode', '$.text', '$.question', '$.known_pmids', '$.narrative')"
        of_new = "json_extract(?, '$.mode', '$.text', '$.question', '$.known_pmids', '$.narrative')"
        with self._database.change() as change:
            change.execute(f"DELETE FROM history WHERE holder = ? AND {same} = {of_new}", (holder, data))
            change.execute("INSERT INTO history VALUES (?, ?, ?, ?)", (make_id(), holder, tell_time(), data))
            oldest = "SELECT id FROM history WHERE holder = ? ORDER BY at DESC, id DESC LIMIT -1 OFFSET ?"
            change.execute(f"DELETE FROM history WHERE id IN ({oldest})", (holder, MOST))

    def find(self, holder: str, limit: int, before: str = "", now: Now = NOTHING) -> HistoryPage:
        """The newest entries, or the newest of those before a time; `now` is what they are compared with."""
        statement = "SELECT id, at, data FROM history WHERE holder = ? AND (? = '' OR at < ?) ORDER BY at DESC, id DESC LIMIT ?"
        rows = self._database.rows(statement, (holder, before, before, limit + 1))
        entries = [_read_row(row, now) for row in rows[:limit]]
        return HistoryPage(entries=entries, next_before=entries[-1].at if len(rows) > limit else None)

    def get(self, holder: str, id: str, now: Now = NOTHING) -> HistoryOut:
        """One entry; raises `NoSuch`."""
        rows = self._database.rows("SELECT id, at, data FROM history WHERE holder = ? AND id = ?", (holder, id))
        if not rows:
            raise NoSuch("The history has no entry with this id.")
        return _read_row(rows[0], now)

    def delete(self, holder: str, id: str) -> None:
        """Delete one entry; raises `NoSuch`."""
        with self._database.change() as change:
            if not change.execute("DELETE FROM history WHERE holder = ? AND id = ?", (holder, id)).rowcount:
                raise NoSuch("The history has no entry with this id.")

    def clear(self, holder: str) -> int:
        """Delete the whole history of a holder, and return how many entries it had."""
        with self._database.change() as change:
            return change.execute("DELETE FROM history WHERE holder = ?", (holder,)).rowcount


def _read_row(row: tuple[str, str, str], now: Now) -> HistoryOut:
    id, at, data = row
    entry = Entry.model_validate_json(data)
    return HistoryOut(
        **dict(entry), id=id, at=at, link=make_link(entry), changed=list_changes(entry.provenance, now.get(entry.mode))
    )

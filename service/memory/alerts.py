"""The alerts of saved claims, and the secret addresses of the feeds that carry them."""

from __future__ import annotations

import hashlib
import secrets
from datetime import UTC, date, datetime

from retrieval.core.errors import BadInput
from service.memory.database import Database
from service.memory.history import NoSuch
from service.memory.schemas import AlertData, AlertList, AlertOut

MOST_TOLD = 500
"""The most alerts in one list or feed."""


def read_since(text: str) -> str:
    """Convert a date (2026-11-22) or time (2026-11-22T10:00, UTC unless it says otherwise) to the file's format; "" stays "".

    Raises `BadInput` for anything else.
    """
    if not text:
        return ""
    try:
        instant = datetime.fromisoformat(text) if "T" in text or " " in text else None
        moment = instant or datetime.combine(date.fromisoformat(text), datetime.min.time())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="microseconds")
    except (ValueError, OverflowError):
        raise BadInput(f"{text[:40]!r} is no date; give one such as 2026-11-22 or 2026-11-22T10:00.") from None


class Alerts:
    """The alerts in the file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, holder: str, since: str = "") -> AlertList:
        """A holder's alerts, newest first, from a time on (`read_since`)."""
        statement = (
            "SELECT id, at, kind, saved, data FROM alerts WHERE holder = ? AND at >= ? ORDER BY at DESC, rowid DESC LIMIT ?"
        )
        rows = self._database.rows(statement, (holder, read_since(since), MOST_TOLD))
        return AlertList(
            alerts=[
                AlertOut(**dict(AlertData.model_validate_json(data)), id=id, at=at, kind=kind, saved=saved)
                for id, at, kind, saved, data in rows
            ]
        )

    def delete(self, holder: str, id: str) -> None:
        """Delete an alert; raises `NoSuch`. It does not come back, since its claim has moved on."""
        with self._database.change() as change:
            if not change.execute("DELETE FROM alerts WHERE holder = ? AND id = ?", (holder, id)).rowcount:
                raise NoSuch("There is no alert with this id.")

    def token(self, holder: str) -> str:
        """The token that opens a holder's feed without a key, for programs that cannot send one; created at the first call."""
        with self._database.change() as change:
            change.execute("INSERT OR IGNORE INTO feeds VALUES (?, ?)", (holder, secrets.token_urlsafe(24)))
            return str(change.execute("SELECT token FROM feeds WHERE holder = ?", (holder,)).fetchone()[0])

    def feed_id(self, holder: str) -> str:
        """A lasting name for a holder's feed that does not reveal the token."""
        return hashlib.sha256(self.token(holder).encode()).hexdigest()[:24]

    def holder_of(self, token: str) -> str | None:
        """The holder whose feed a token opens; None if it opens none."""
        rows = self._database.rows("SELECT holder FROM feeds WHERE token = ?", (token,))
        return str(rows[0][0]) if rows else None

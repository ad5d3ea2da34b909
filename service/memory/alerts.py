"""The alerts of saved claims, and the feeds (Atom, RFC 4287) that carry them, each at a secret address."""

from __future__ import annotations

import hashlib
import secrets
from datetime import UTC, date, datetime

from counterpoint.retrieval.core.errors import BadInput
from counterpoint.service.memory.database import Rows, Whose
from counterpoint.service.memory.schemas import AlertData, AlertList, AlertOut

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


class Alerts(Rows):
    """The alerts in the file; one that is deleted does not come back, since its claim has moved on."""

    table, missing = "alerts", "There is no alert with this id."

    def find(self, whose: Whose, since: str = "") -> AlertList:
        """Someone's alerts, newest first, from a time on (`read_since`)."""
        order = "AND at >= ? ORDER BY at DESC, rowid DESC LIMIT ?"
        rows = self.select("id, library, at, kind, saved, data", whose, order, (read_since(since), MOST_TOLD))
        return AlertList(
            alerts=[
                AlertOut(**dict(AlertData.model_validate_json(data)), id=id, library=library, at=at, kind=kind, saved=saved)
                for id, library, at, kind, saved, data in rows
            ]
        )

    def token(self, holder: str) -> str:
        """The token that opens a holder's feed without a key, for programs that cannot send one; created at the first call."""
        with self.database.change() as change:
            change.execute("INSERT OR IGNORE INTO feeds VALUES (?, ?)", (holder, secrets.token_urlsafe(24)))
            return str(change.execute("SELECT token FROM feeds WHERE holder = ?", (holder,)).fetchone()[0])

    def feed_id(self, holder: str) -> str:
        """A lasting name for a holder's feed that does not reveal the token."""
        return hashlib.sha256(self.token(holder).encode()).hexdigest()[:24]

    def holder_of(self, token: str) -> str | None:
        """The holder whose feed a token opens; None if it opens none."""
        rows = self.database.rows("SELECT holder FROM feeds WHERE token = ?", (token,))
        return str(rows[0][0]) if rows else None

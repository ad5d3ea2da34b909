"""The whole memory in one place, as the calls of the API and the commands use it."""

from __future__ import annotations

import logging
from pathlib import Path

from counterpoint.service.memory.alerts import Alerts
from counterpoint.service.memory.database import TABLES, Database, MemoryUnusable, Whose
from counterpoint.service.memory.feedback import Feedback
from counterpoint.service.memory.history import History
from counterpoint.service.memory.saved import SavedClaims
from counterpoint.service.memory.schemas import MemoryOut
from counterpoint.service.memory.shared import Shares

_log = logging.getLogger("counterpoint")


class Memory:
    """The file with its parts; `history_on` says whether what is asked is added to the history, `watching` whether the service
    grounds saved claims again by itself."""

    def __init__(self, database: Database, history_on: bool = True, watching: bool = True) -> None:
        self.database, self.history_on, self.watching = database, history_on, watching
        self.history, self.saved = History(database), SavedClaims(database)
        self.alerts, self.feedback, self.shared = Alerts(database), Feedback(database), Shares(database)

    def about(self, whose: Whose) -> MemoryOut:
        """Summarise what is remembered for someone."""
        counts = {
            table: self.database.rows(f"SELECT count(*) FROM {table} WHERE {whose.where}", whose.values)[0][0] for table in TABLES
        }
        return MemoryOut(
            on=True,
            history=self.history_on,
            watching=self.watching,
            holder=whose.holder,
            entries=counts["history"],
            **{name: counts[name] for name in ("saved", "alerts", "feedback", "shared")},
            feed=f"v1/alerts.atom?token={self.alerts.token(whose.holder)}",
        )

    def forget(self, holder: str) -> None:
        """Delete all that is remembered for a holder; the address of the feed stops working too."""
        with self.database.change() as change:
            for table in (*TABLES, "feeds"):
                change.execute(f"DELETE FROM {table} WHERE holder = ?", (holder,))

    def forget_library(self, library: str) -> None:
        """Delete all that is remembered of a library that is gone, whoever asked."""
        with self.database.change() as change:
            for table in TABLES:
                change.execute(f"DELETE FROM {table} WHERE library = ?", (library,))


def open_memory(folder: Path | None, history_on: bool = True, watching: bool = True) -> Memory | None:
    """Open the memory in a folder; None if nothing is to be remembered, or if nothing can be, which is logged."""
    try:
        return Memory(Database(folder), history_on, watching) if folder else None
    except MemoryUnusable as error:
        _log.warning("nothing is remembered: %s", error)
        return None

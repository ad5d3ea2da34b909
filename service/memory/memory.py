"""The whole memory in one place, as the calls of the API and the commands use it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from service.memory.alerts import Alerts
from service.memory.database import TABLES, Database, open_database
from service.memory.feedback import Feedback
from service.memory.history import History
from service.memory.saved import SavedClaims
from service.memory.schemas import MemoryOut


@dataclass(frozen=True)
class Memory:
    """The file with its parts; `history_on` says whether what is asked is added to the history, `watching` whether the service
    grounds saved claims again by itself."""

    database: Database
    history_on: bool = True
    watching: bool = True

    @cached_property
    def history(self) -> History:
        """The history of what was asked."""
        return History(self.database)

    @cached_property
    def saved(self) -> SavedClaims:
        """The saved claims."""
        return SavedClaims(self.database)

    @cached_property
    def alerts(self) -> Alerts:
        """The alerts of the saved claims."""
        return Alerts(self.database)

    @cached_property
    def feedback(self) -> Feedback:
        """The readers' feedback on verdicts."""
        return Feedback(self.database)

    def about(self, holder: str) -> MemoryOut:
        """Summarise what is remembered for a holder."""
        counts = {
            table: self.database.rows(f"SELECT count(*) FROM {table} WHERE holder = ?", (holder,))[0][0]
            for table in ("history", "saved", "alerts", "feedback")
        }
        return MemoryOut(
            on=True,
            history=self.history_on,
            watching=self.watching,
            holder=holder,
            entries=counts["history"],
            saved=counts["saved"],
            alerts=counts["alerts"],
            feedback=counts["feedback"],
            feed=f"v1/alerts.atom?token={self.alerts.token(holder)}",
        )

    def forget(self, holder: str) -> None:
        """Delete all that is remembered for a holder; the address of the feed stops working too."""
        with self.database.change() as change:
            for table in TABLES:
                change.execute(f"DELETE FROM {table} WHERE holder = ?", (holder,))


def open_memory(folder: Path | None, history_on: bool = True, watching: bool = True) -> Memory | None:
    """Open the memory in a folder; None if nothing is to be remembered, or if nothing can be, which is logged."""
    database = open_database(folder)
    return Memory(database, history_on, watching) if database else None

"""The journal of a run that the user stops."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from retrieval.core.errors import Interrupted
from service.runs.journal import Job, journal, work


def test_what_was_under_way_when_the_user_stopped_is_kept(tmp_path: Path) -> None:
    begun, stopped = threading.Event(), threading.Event()

    def slow() -> str:
        begun.set()
        assert stopped.wait(20)
        return "slow"

    def stop() -> str:
        assert begun.wait(20)
        # Once the main thread has left its wait, the slow job may end.
        threading.Timer(0.2, stopped.set).start()
        raise KeyboardInterrupt

    with journal(tmp_path / "out", {"task": "test"}) as kept:
        with pytest.raises(Interrupted, match="Stopped after 1 of 2 items; they are saved"):
            work(kept, [Job("slow", 1, slow), Job("stop", 1, stop)], "testing", "items")
        assert kept.records == {"slow": "slow"}
    with journal(tmp_path / "out", {"task": "test"}) as again:
        assert again.resumed == 1

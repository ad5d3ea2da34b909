"""Long runs: stopped and resumed, and in parts that one behind the other are the whole run."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from counterpoint.retrieval.core.errors import Interrupted
from counterpoint.retrieval.index import Index
from counterpoint.service.runs.journal import Job, journal, work
from counterpoint.service.trec.task_a import read_items, run
from tests.helpers.fakes import make_grounder, make_index
from tests.helpers.trec_fakes import DOCUMENTS


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(tmp_path_factory.mktemp("runs"), [*DOCUMENTS, {"pmid": "x14", "title": "", "abstract": "Omega sleeps."}])


def test_the_runs_of_parts_of_an_input_are_the_run_of_the_whole(index: Index, tmp_path: Path) -> None:
    items = [
        {"meta_data": {"qa_id": str(n), "question": "Zeta?"}, "answer": [{"text": f"Zeta\u2028lowers {n}."}] * (n % 4)}
        for n in range(7)
    ]

    def run_task_a(name: str, text: str) -> bytes:
        asked, out = tmp_path / name, tmp_path / f"{name}.run"
        asked.write_text(text)
        run(read_items(asked), asked, make_grounder(index, "v5")[0], out, "team", "run")
        return out.read_bytes()

    whole = run_task_a("whole", json.dumps(items))
    parts = [run_task_a(f"part-{at}", "".join(f"{json.dumps(one)}\n" for one in items[at : at + 3])) for at in (0, 3, 6)]
    assert b"".join(parts) == whole


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

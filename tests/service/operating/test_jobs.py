"""Jobs on libraries: what they run, how they are stopped, fail, die and resume; nothing half-made is ever a library."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from counterpoint.retrieval.core.errors import BadInput, OutOfSpace
from counterpoint.retrieval.store.library import LibraryFile
from counterpoint.service.operating import jobs as module
from counterpoint.service.operating.jobs import JobOut, Jobs, NoSuchJob, Runner, Search, Work, find_ids, make_readable
from counterpoint.service.operating.libraries import Libraries
from counterpoint.service.operating.uploads import name_deleted, name_draft, name_linked

ID = "0a1b2c3d4e5f"
RECORDS = [{"pmid": str(number), "title": f"Zeta {number}", "abstract": "Zeta lowers pressure."} for number in (1, 2, 3)]
# Stands in for `counterpoint index`: writes what it was given to a file, then does what a file tells it to.
COMMAND = """
import json, pathlib, signal, sys, time
def stop(*_):
    (here / "ending").touch(); time.sleep(1 if tell == "wait" else 0)
    print("Error: Interrupted; the same command resumes.", file=sys.stderr); sys.exit(2)
signal.signal(signal.SIGINT, stop)
here = pathlib.Path({here!r})
with open(here / "calls", "a") as file: file.write(json.dumps(sys.argv[1:]) + "\\n")
tell = (here / "tell").read_text() if (here / "tell").exists() else ""
print("\\x02vectors: \\x025\\x0210\\x02 documents", file=sys.stderr, flush=True)
print("a line of the report", file=sys.stderr, flush=True)
if tell == "wait": time.sleep(60)
if tell == "fail":
    print("Error: The file is damaged; export it again.", file=sys.stderr); sys.exit(2)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    draft = name_draft(tmp_path / "libraries", ID)
    (draft / "files").mkdir(parents=True)
    LibraryFile(ID, "Heart", "of ours").write(draft)
    (draft / "files" / "a.jsonl").write_text("".join(json.dumps(one) + "\n" for one in RECORDS))
    return tmp_path / "libraries"


@pytest.fixture
def jobs(folder: Path) -> Jobs:
    return Jobs(folder)


@pytest.fixture
def runner(jobs: Jobs) -> Runner:
    return Runner(jobs, Libraries(folder=jobs.folder).find_place, "embedded")


@pytest.fixture
def faked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which to tell the stand-in what to do, and to see what it was given."""
    script = tmp_path / "stand-in.py"
    script.write_text(COMMAND.format(here=str(tmp_path)))
    monkeypatch.setattr(module, "COMMAND", (sys.executable, str(script)))
    return tmp_path


def calls(place: Path) -> list[str]:
    path = place / "calls"
    return [json.loads(line)[0] for line in path.read_text().splitlines()] if path.exists() else []


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def begin(runner: Runner) -> threading.Thread:
    thread = threading.Thread(target=runner.run_waiting)
    thread.start()
    return thread


def test_files_become_a_library_that_is_listed_only_when_it_is_whole(jobs: Jobs, runner: Runner) -> None:
    job = jobs.add(ID, Work(files=("a.jsonl",), vectors=False))
    assert Libraries(folder=jobs.folder).list_all() == []
    runner.run_waiting()
    done = jobs.get(job.id)
    assert (done.state, done.stage) == ("done", "Done"), done.said
    assert any("3 documents" in line for line in done.said)
    (library,) = Libraries(folder=jobs.folder).list_all()
    assert (library.id, library.name, library.description, library.place.name) == (ID, "Heart", "of ours", "heart")
    assert not name_draft(jobs.folder, ID).exists()

    jobs.add(ID, Work(removed=("1", "3"), vectors=False))
    runner.run_waiting()
    (library,) = Libraries(folder=jobs.folder).list_all()
    assert library.manifest and library.manifest.counts.documents == 1 and library.manifest.version == 2


def test_a_failure_leaves_no_library_and_can_be_tried_again(jobs: Jobs, runner: Runner, faked: Path) -> None:
    (faked / "tell").write_text("fail")
    job = jobs.add(ID, Work(files=("a.jsonl",)))
    runner.run_waiting()
    failed = jobs.get(job.id)
    assert (failed.state, failed.stage) == ("failed", "The file is damaged; export it again.")
    assert failed.said == ["a line of the report"]
    assert (name_draft(jobs.folder, ID) / "files" / "a.jsonl").exists()
    assert Libraries(folder=jobs.folder).list_all() == []
    assert jobs.restart(job.id).state == "waiting"


def test_a_job_is_stopped_as_by_ctrl_c_and_goes_on_when_it_is_resumed(jobs: Jobs, runner: Runner, faked: Path) -> None:
    (faked / "tell").write_text("wait")
    job = jobs.add(ID, Work(files=("a.jsonl",)))
    thread = begin(runner)
    wait_for(lambda: jobs.get(job.id).done == 5)
    assert (jobs.get(job.id).stage, jobs.get(job.id).total) == ("Reading the files: vectors", 10)
    jobs.stop(job.id)
    thread.join(20)
    assert not thread.is_alive() and jobs.get(job.id).state == "stopped"
    jobs.restart(job.id)
    (faked / "tell").unlink()
    begin(runner).join(20)
    assert calls(faked) == ["build", "build"]


@pytest.mark.parametrize("noticed", [True, False])
def test_a_job_that_is_resumed_while_it_is_still_ending_goes_on(jobs: Jobs, runner: Runner, faked: Path, noticed: bool) -> None:
    (faked / "tell").write_text("wait")
    job = jobs.add(ID, Work(files=("a.jsonl",)))
    thread = begin(runner)
    wait_for(lambda: jobs.get(job.id).done == 5)
    jobs.stop(job.id)
    if noticed:
        wait_for((faked / "ending").exists)
    (faked / "tell").unlink()
    jobs.restart(job.id)
    thread.join(20)
    # The stand-in builds nothing, which fails the second attempt alone.
    assert calls(faked) == ["build", "build"]


def test_a_service_that_stops_leaves_its_job_to_the_next(jobs: Jobs, runner: Runner, faked: Path) -> None:
    (faked / "tell").write_text("wait")
    job = jobs.add(ID, Work(files=("a.jsonl",)))
    runner.start()
    wait_for(lambda: jobs.get(job.id).done == 5)
    runner.stop()
    assert jobs.get(job.id).state == "running"
    (faked / "tell").unlink()
    Runner(jobs, runner.find, "embedded").run_waiting()
    assert calls(faked)[:2] == ["build", "build"]


def test_only_one_process_runs_jobs_and_a_dead_one_leaves_none_beside_its_heir(jobs: Jobs, runner: Runner, faked: Path) -> None:
    (faked / "tell").write_text("wait")
    job = jobs.add(ID, Work(files=("a.jsonl",)))
    thread = begin(runner)
    wait_for(lambda: jobs.get(job.id).done == 5)
    Runner(jobs, runner.find, "embedded").run_waiting()
    assert calls(faked) == ["build"]
    jobs.stop(job.id)
    thread.join(20)


def test_what_a_search_finds_makes_a_library_or_is_added_to_one(jobs: Jobs, runner: Runner, faked: Path) -> None:
    searches = (Search(query="zeta", most=7, full_texts=True), Search(query="eta", source="europepmc"))
    jobs.add(ID, Work(searches=searches))
    runner.run_waiting()
    first = json.loads((faked / "calls").read_text().splitlines()[0])
    assert (
        first[0] == "fetch" and first[-2:] == ["--", "zeta"] and first[3:8] == ["--source", "pubmed", "--max", "7", "--full-text"]
    )


def test_a_job_that_does_nothing_or_is_one_too_many_is_refused(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="nothing to do"):
        jobs.add(ID, Work())
    with pytest.raises(NoSuchJob):
        jobs.get("none")
    monkeypatch.setattr(module, "MOST_WAITING", 1)
    jobs.add(ID, Work(removed=("1",)))
    with pytest.raises(BadInput, match="1 job wait already"):
        jobs.add(ID, Work(removed=("1",)))


def test_only_the_newest_jobs_are_remembered(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_KEPT", 2)
    ids = [jobs.add(ID, Work(removed=("1",))).id for _ in range(2)]
    for id in ids:
        jobs.stop(id)
    waiting = [jobs.add(ID, Work(removed=("1",))).id for _ in range(2)]
    assert [job.id for job in jobs.list()] == [*reversed(waiting), ids[1]]


def test_a_file_that_is_gone_is_named(jobs: Jobs, runner: Runner, faked: Path) -> None:
    job = jobs.add(ID, Work(files=("b.ris",)))
    runner.run_waiting()
    failed: JobOut = jobs.get(job.id)
    assert failed.state == "failed" and failed.stage.startswith("b.ris has not been uploaded") and calls(faked) == []


def test_ids_in_a_text_are_searched_for_and_what_is_none_is_named() -> None:
    searches, unknown = find_ids(
        "12345, PMID: 678\nhttps://pubmed.ncbi.nlm.nih.gov/91011/ PMC22 https://doi.org/10.1000/x.(1)5 hello 12345"
    )
    assert [(one.source, one.query) for one in searches] == [
        ("pubmed", "12345[uid] OR 678[uid] OR 91011[uid]"),
        ("europepmc", 'PMCID:PMC22 OR DOI:"10.1000/x.(1)5"'),
    ]
    assert unknown == ["hello"] and find_ids(" ") == ([], [])
    assert [one.most for one in find_ids(" ".join(map(str, range(1, 251))))[0]] == [100, 100, 50]


def test_a_job_resumed_while_it_still_stops_goes_on(
    jobs: Jobs, runner: Runner, faked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (faked / "tell").write_text("wait")
    job, end = jobs.add(ID, Work(files=("a.jsonl",))), module._end

    def end_slowly(process: Any) -> None:
        (faked / "tell").unlink()
        end(process)
        jobs.restart(job.id)

    monkeypatch.setattr(module, "_end", end_slowly)
    thread = begin(runner)
    wait_for(lambda: jobs.get(job.id).done == 5)
    jobs.stop(job.id)
    thread.join(20)
    assert calls(faked) == ["build", "build"] and "Interrupted" not in jobs.get(job.id).stage


def test_a_library_removed_by_hand_is_not_made_anew(jobs: Jobs, runner: Runner, folder: Path, faked: Path) -> None:
    (name_draft(folder, ID) / "library.json").unlink()
    job = jobs.add(ID, Work(files=("a.jsonl",)))
    runner.run_waiting()
    assert (jobs.get(job.id).state, jobs.get(job.id).stage) == ("failed", "The library is not there any more.")
    assert calls(faked) == []


def test_papers_are_not_removed_from_a_library_without_any(jobs: Jobs, runner: Runner, faked: Path) -> None:
    job = jobs.add(ID, Work(removed=("1",)))
    runner.run_waiting()
    assert jobs.get(job.id).stage == "The library has no papers yet, so none can be removed." and calls(faked) == []


def test_jobs_run_in_the_order_in_which_they_came_whatever_the_clock_says(jobs: Jobs) -> None:
    first, second = (jobs.add(ID, Work(removed=(one,))).id for one in "12")
    jobs.set(first, at="2099-01-01T00:00:00+00:00")
    assert [one.id for one in jobs.list()] == [second, first]


def test_a_file_that_a_job_reads_is_neither_replaced_nor_read_twice(jobs: Jobs) -> None:
    job = jobs.add(ID, Work(files=("a.jsonl",)))
    with pytest.raises(BadInput, match=r"“a\.jsonl” is about to be read"):
        jobs.check_unread(ID, "b.jsonl", "a.jsonl")
    jobs.check_unread("other", "a.jsonl")
    jobs.stop(job.id)
    jobs.check_unread(ID, "a.jsonl")


def test_what_writes_while_its_library_is_deleted_leaves_nothing(jobs: Jobs, runner: Runner, faked: Path) -> None:
    (faked / "tell").write_text("wait")
    job = jobs.add(ID, Work(files=("a.jsonl",)))
    thread = begin(runner)
    wait_for(lambda: jobs.get(job.id).done == 5)
    jobs.forget(ID)
    thread.join(20)
    assert not name_draft(jobs.folder, ID).exists()


def test_a_deletion_that_was_cut_short_is_ended_at_the_next_start(jobs: Jobs, runner: Runner) -> None:
    forgotten: list[str] = []
    runner.forget = forgotten.append
    left, other = name_deleted(jobs.folder, ID), name_draft(jobs.folder, "ffffffffffff")
    for place in (left / "lucene", other, name_linked(jobs.folder, ID)):
        place.mkdir(parents=True)
    jobs.add(ID, Work(files=("a.jsonl",)))
    runner.start()
    runner.stop()
    assert not left.exists() and not name_draft(jobs.folder, ID).exists() and not name_linked(jobs.folder, ID).exists()
    assert forgotten == [ID] and jobs.list() == [] and other.exists()


def test_a_process_is_read_to_its_end_although_the_disk_is_full(
    jobs: Jobs, runner: Runner, faked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, real = jobs.add(ID, Work(files=("a.jsonl",), vectors=False)), jobs.set

    def fill(self: Jobs, id: str, *unless: Any, **values: Any) -> bool:
        if threading.current_thread() is not threading.main_thread():
            raise OutOfSpace("The disk is full.")
        return real(id, *unless, **values)

    monkeypatch.setattr(Jobs, "set", fill)
    (faked / "tell").write_text("fail")
    runner.run_waiting()
    assert jobs.get(job.id).stage == "The file is damaged; export it again."


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("{0}/.work/ab/files/x.ris, line 3: bad; correct it, or skip up to N such records with --skip-bad N.",
         "x.ris, line 3: bad; correct it."),
        ("There is no index at {0}/.work/ab/index; build one with `counterpoint index build SOURCE`.",
         "There is no index at the library."),
        ("Building an index at {0}/.work/ab/index.", "Building an index."),
        ("12 papers are in {0}/.work/ab/cd-0.papers. Building an index at {0}/.work/ab/cd-0.",
         "12 papers are in the library. Building an index."),
        ("Claims find more papers with vectors: `counterpoint index dense {0}/.work/ab/index` encodes them.", ""),
        ("PubMed is silent; what came is saved: run the same command again to resume.",
         "PubMed is silent; what came is saved: resume it to go on."),
        ("x.ris, line 2: a title, its p--value; left out.", "x.ris, line 2: a title, its p--value; left out."),
    ],
)  # fmt: skip
def test_what_a_command_tells_is_readable_on_the_page(tmp_path: Path, line: str, read: str) -> None:
    assert make_readable(line.format(tmp_path), tmp_path) == read

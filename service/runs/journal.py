"""Runs that survive being killed: every finished item is kept at once, and the complete files appear at the end.

A journal beside the run file holds the facts that determine the run on its first line and a finished item on each further one,
so that a killed run resumes where it stopped and ends with the same bytes as an undisturbed one: an item's record depends only
on its own text, never on what ran beside it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

from tqdm import tqdm

from counterpoint.retrieval.core.code_hash import hash_code
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import GO_ON, BadInput, CounterpointError, Interrupted, translate_write_errors
from counterpoint.retrieval.store.journal import Journal
from counterpoint.retrieval.store.manifest import write_atomically
from counterpoint.service.schemas import Provenance, Service

# BM25 (Java) of one item overlaps with the models of another; more threads only wait for the same cores.
_WORKERS = 2
_IN_A_ROW = 5
"""After so many faults in a row a pass ends, so that a server that is down is not asked a thousand times."""
RUN, ANSWERS = "run", "answers.jsonl"
"""The files of a run by name: the run itself, and for Task B the full answers beside it."""


@dataclass(frozen=True, slots=True)
class Job:
    """An item still to be made: `make` returns its record, one line of JSON; `size` is what it counts on the progress bar."""

    key: str
    size: int
    make: Callable[[], str]


def check_target(out: Path, overwrite: bool) -> None:
    """Raise an error before hours of work if the file cannot or should not be written."""
    if out.is_dir():
        raise BadInput(f"{out} is a folder; give the path of the file to write.")
    if out.exists() and not overwrite:
        raise BadInput(f"{out} already exists; name another file, or add --overwrite to replace it when all is done.")
    if not out.parent.is_dir():
        state = "is a file" if out.parent.exists() else "does not exist"
        raise BadInput(f"The folder {out.parent} {state}; create it first.")


def beside(out: Path, name: str) -> Path:
    """The path of the file of this name that belongs to the run at `out`."""
    return out if name == RUN else out.with_name(f"{out.name}.{name}")


@cache
def code_of(*modules: str) -> str:
    """The hash of the code behind what these modules make, with any of the models; computed once per process."""
    from counterpoint.service.configuration.kinds import MODULES

    # Models are imported by these names, which appear in no import statement.
    return hash_code([*modules, *MODULES])


def shared_facts(task: str, input: Path, team: str, run_id: str, made_by: str) -> dict[str, Any]:
    """The facts that every task's run begins with; `made_by` is the module that makes its records."""
    return {
        "counterpoint": version("counterpoint"),
        # The version does not change between releases, and items finished before an edit must not be mixed with the rest.
        "code_sha256": code_of(made_by),
        "task": task,
        "team_id": team,
        "run_id": run_id,
        "input": input.name,
        "input_sha256": hashlib.sha256(input.read_bytes()).hexdigest(),
    }


def facts_of_service(service: Service) -> dict[str, Any]:
    """What the results of a service depend on besides the code and its input."""
    return {
        "provenance": Provenance.of(service).model_dump(),
        "corpus_sha256": service.index.manifest.corpus_sha256,
        "analyzer": service.index.manifest.analyzer,
        **({"full_texts_sha256": texts.sha256} if (texts := service.index.manifest.texts) else {}),
        "within_sha256": service.index.within and service.index.within.sha256,
        "config": service.config.model_dump(),
        "profile": service.models.profile.model_dump(),
    }


class RunJournal(Journal):
    """The finished items of the run that will be written to `out`, in a journal beside it."""

    def __init__(self, out: Path, facts: Mapping[str, Any]) -> None:
        super().__init__(out.with_name(f"{out.name}.partial"), facts, "name another --out")
        self._out = out

    def publish(self, lines: Mapping[str, Sequence[str]]) -> None:
        """Put the files of the finished run in place, by name, and remove the journal.

        The manifest, what made the run and the hashes of its files, comes first and the run itself last: if it is there, all is.
        """
        texts = {name: "".join(f"{line}\n" for line in several) for name, several in lines.items()}
        hashes = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
        manifest = self._out.with_name(f"{self._out.name}.manifest.json")
        write_atomically(manifest, json.dumps({**self._facts, "sha256": hashes}, indent=2) + "\n")
        for name in sorted(texts, key=lambda name: name == RUN):
            write_atomically(beside(self._out, name), texts[name])
        self.let_go()

    def let_go(self) -> None:
        """Remove the journal: the run that it was kept for is complete."""
        self.path.unlink()


@contextmanager
def journal(out: Path, facts: Mapping[str, Any]) -> Iterator[RunJournal]:
    """Open the journal of the run that will be written to `out`; raises `BadInput` if it holds a run with other settings."""
    with translate_write_errors("the run", out, GO_ON):
        yield RunJournal(out, facts)


def work(
    run_journal: RunJournal, jobs: Sequence[Job], label: str, unit: str, survived: tuple[type[CounterpointError], ...] = ()
) -> dict[str, CounterpointError]:
    """Do the jobs that are not done yet, a few at once, and keep each; return the `survived` errors by the key of the failed job.

    Any other error ends the work; what was finished is kept. Raises `Interrupted` if the user stops it.
    """
    queue = iter([job for job in jobs if job.key not in run_journal.records])
    tasks: dict[Future[str], Job] = {}
    errors: dict[str, CounterpointError] = {}
    in_a_row = 0
    pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="run")
    try:
        with tqdm(total=sum(job.size for job in jobs), desc=label, unit=f" {unit}", disable=None) as bar:
            bar.update(sum(job.size for job in jobs if job.key in run_journal.records))
            while True:
                room = 2 * _WORKERS - len(tasks) if in_a_row < _IN_A_ROW else 0
                tasks.update((pool.submit(job.make), job) for job in islice(queue, room))
                if not tasks:
                    break
                for future in wait(tasks, return_when=FIRST_COMPLETED).done:
                    job = tasks.pop(future)
                    try:
                        run_journal.add(job.key, future.result())
                    except survived as error:
                        errors[job.key] = error
                        in_a_row += 1
                    else:
                        in_a_row = 0
                        bar.update(job.size)
    except KeyboardInterrupt:
        pool.shutdown(wait=True, cancel_futures=True)
        _keep_finished(run_journal, tasks)
        raise Interrupted(
            f"Stopped after {len(run_journal.records):,} of {format_count(len(jobs), 'item')}; they are saved, "
            "and the same command resumes from there."
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return errors


def _keep_finished(run_journal: RunJournal, tasks: Mapping[Future[str], Job]) -> None:
    """Keep the jobs that were still running when the user stopped the work and have ended since."""
    for future, job in tasks.items():
        if job.key not in run_journal.records and not future.cancelled() and future.exception() is None:
            run_journal.add(job.key, future.result())

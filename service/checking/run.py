"""Checking a text from the command line: every finished claim is saved at once, so that a stopped run resumes where it was."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from retrieval.core.errors import Interrupted
from service.checking.check import Checker, Reading, key_of
from service.checking.schemas import CheckedText, ClaimResult
from service.grounding.ground import Grounder
from service.trec.journal import Job, RunJournal, code_of, facts_of_service, journal, work


def check_kept(reading: Reading, checker: Checker, run_journal: RunJournal) -> CheckedText:
    """Check a text, a few claims at once, with a progress bar; claims already in the journal are not checked again.

    Raises `Interrupted` if the user stops it; the journal then holds what was finished.
    """
    jobs = {key_of(one): Job(key_of(one), 1, lambda one=one: checker.result(one).model_dump_json()) for one in reading.claims}  # type: ignore[misc]
    try:
        work(run_journal, list(jobs.values()), "checking", "claims")
    except Interrupted:
        progress = f"{sum(key in run_journal.records for key in jobs):,} of {len(jobs):,} claims"
        raise Interrupted(f"Stopped after {progress}; they are saved, and the same command resumes from there.") from None
    results = {key: ClaimResult.model_validate_json(run_journal.records[key]) for key in jobs}
    return checker.join_results(reading, results)


def check_once(reading: Reading, checker: Checker, folder: Path) -> CheckedText:
    """The same if nothing should outlive the command: the journal is in a temporary `folder`.

    Raises `Interrupted` if the user stops it.
    """
    with journal(folder / "check", facts(checker.grounder)) as run_journal:
        try:
            return check_kept(reading, checker, run_journal)
        except Interrupted:
            raise Interrupted(
                f"Stopped after {len(run_journal.records):,} of {len(reading.claims):,} claims; "
                "with --out FILE they would be kept."
            ) from None


def facts(grounder: Grounder) -> Mapping[str, Any]:
    """Everything besides the claim that determines its result; not the text, which may change while its check is unfinished."""
    return {
        "counterpoint": version("counterpoint"),
        "code_sha256": code_of("service.checking.check"),
        "task": "check",
        **facts_of_service(grounder),
    }

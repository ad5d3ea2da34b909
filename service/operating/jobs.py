"""Jobs that make a library or change its papers: one at a time, each in processes of its own at low priority.

A job is a row in SQLite and a few commands of `counterpoint index`, run one after the other. It goes on when nobody looks, is
stopped with the service and resumes at its next start, where those commands resume. All lies in a hidden folder beside the
libraries: uploaded files and a library that is being built for the first time in a folder with the library's id. Nothing in there
is listed as a library; a finished one is moved out of it in one step.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import re
import secrets
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from xml.sax.saxutils import escape

from pydantic import BaseModel, Field, TypeAdapter

from counterpoint.indexes.fetch.fetching import TEXTS, name_papers_folder
from counterpoint.indexes.fetch.zotero_link import remove_records
from counterpoint.indexes.packing import is_pack
from counterpoint.indexes.plan import MOST_PAPERS
from counterpoint.indexes.readers.full_text.archives import holds_texts
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadInput, CounterpointError, translate_write_errors
from counterpoint.retrieval.core.progress import FOR_PROCESS, read_progress
from counterpoint.retrieval.core.user_folders import find_user_folder
from counterpoint.retrieval.store.library import NAME as LIBRARY
from counterpoint.retrieval.store.library import LibraryFile, read_library_file
from counterpoint.retrieval.store.manifest import NAME as MANIFEST
from counterpoint.retrieval.store.manifest import read_manifest
from counterpoint.service.operating.uploads import DELETED, FOLDER, hold_files, name_deleted, name_draft, name_linked
from counterpoint.service.schemas import Sent

_log = logging.getLogger("counterpoint")
State = Literal["waiting", "running", "done", "failed", "stopped"]
UNFINISHED: tuple[State, ...] = ("waiting", "running")
MOST_WAITING = 20
MOST_KEPT = 200
"""Jobs that are remembered when they are done."""
MOST_VECTORS = 50_000
"""A library of at most this many papers gets vectors without being asked."""
_MOST_SKIPPED = "all"
"""What cannot be read is left out and listed, however much it is."""
_LOOK_SECONDS, _GRACE_SECONDS, _WRITE_SECONDS, _PAUSE_SECONDS = 1.0, 20.0, 0.5, 30.0
_NICENESS = "15"
_ENDING = "Ending"
COMMAND = (sys.executable, "-m", "counterpoint.service.cli", "index")
"""What a step is given to."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY, library TEXT NOT NULL, at TEXT NOT NULL, state TEXT NOT NULL, what TEXT NOT NULL, stage TEXT NOT NULL,
    done INTEGER NOT NULL, total INTEGER NOT NULL, said TEXT NOT NULL
)
"""


class Search(Sent):
    """A search of PubMed or Europe PMC."""

    query: str
    source: Literal["pubmed", "europepmc"] = "pubmed"
    most: int = Field(default=1000, ge=1, le=100_000, description="Fetch at most this many papers.")
    full_texts: bool = Field(default=False, description="Also fetch the open-access full texts.")


ZOTERO_LIBRARY = r"^((users|groups)/[0-9]{1,12})?$"


class ZoteroIn(Sent):
    """A collection of Zotero; the same again takes what is new, changed or deleted."""

    collection: str = Field(pattern=r"^([A-Z0-9]{1,20}|all)$", description="Its key, or all.")
    pdfs: bool = Field(default=True, description="Also take the attached PDFs, as full texts.")
    library: str = Field(
        default="",
        pattern=ZOTERO_LIBRARY,
        description="users/ID or groups/ID at zotero.org; empty: of the Zotero on this machine.",
    )


class Zotero(ZoteroIn):
    """The same, with the file or the variable that holds the key for a library at zotero.org."""

    key_from: str = ""


@dataclass(frozen=True, slots=True)
class Work:
    """What a job does to a library: adds the uploaded `files`, what the searches find and a collection of Zotero, or removes
    papers; or it joins the one file to the paper with the id `joins`, as its full text."""

    files: tuple[str, ...] = ()
    searches: tuple[Search, ...] = ()
    removed: tuple[str, ...] = ()
    vectors: bool = True
    zotero: Zotero | None = None
    joins: str = ""


_WORK = TypeAdapter(Work)


class JobOut(BaseModel):
    """A job on a library."""

    id: str
    library: str = Field(description="The id of the library.")
    name: str = Field(description="What the library is called.")
    at: str = Field(description="When it was asked for.")
    state: State
    stage: str = Field(description="What it does now; how it ended or why it failed.")
    done: int = Field(description="Units done in this stage.")
    total: int = Field(description="Units of this stage; 0 if unknown.")
    said: list[str] = Field(description="The last lines of what was told: what came in, what was left out and why.")
    work: Work = Field(exclude=True)

    def show(self, name: str) -> JobOut:
        """The job as it is sent: with what its library is called, and the last of what was told."""
        return self.model_copy(update={"name": name, "said": self.said[-30:]})


class NoSuchJob(BadInput):
    """There is no such job, or none that the sender may see."""

    status = 404


class JobsUnusable(CounterpointError):
    """The jobs cannot be read or written: their file is damaged, locked for long, or on a disk that is read-only."""

    status = 503


class Jobs:
    """The jobs of a folder of libraries, the same in every process of a service."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file = folder / FOLDER / "jobs.sqlite"

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with translate_write_errors("the job", self.folder), closing(self._connect()) as db, db:
                yield db
        except sqlite3.DatabaseError as error:
            raise JobsUnusable(
                f"The list of jobs of {self.folder} cannot be used ({error}); check the disk and permissions."
            ) from error

    def _connect(self) -> sqlite3.Connection:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        db = sqlite3.connect(self._file, timeout=10)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute(_SCHEMA)
        return db

    def add(self, library: str, work: Work, said: Sequence[str] = ()) -> JobOut:
        """Queue work on a library, of which this was told; raises `BadInput` if it does nothing, or too many jobs wait."""
        if not (work.files or work.searches or work.removed or work.zotero):
            raise BadInput("There is nothing to do: name uploaded files, a search, ids, a collection, or papers to remove.")
        id, at = secrets.token_hex(6), datetime.now(UTC).isoformat(timespec="microseconds")
        with self._open() as db:
            (waiting,) = db.execute("SELECT count(*) FROM jobs WHERE state IN (?, ?)", UNFINISHED).fetchone()
            if waiting >= MOST_WAITING:
                raise BadInput(f"{format_count(waiting, 'job')} wait already; try again when some are done.")
            newest = "SELECT rowid FROM jobs ORDER BY rowid DESC LIMIT ?"
            kept = (*UNFINISHED, MOST_KEPT)
            db.execute(f"DELETE FROM jobs WHERE state NOT IN (?, ?) AND rowid NOT IN ({newest})", kept)
            db.execute(
                "INSERT INTO jobs VALUES (?, ?, ?, 'waiting', ?, '', 0, 0, ?)",
                (id, library, at, _WORK.dump_json(work).decode(), json.dumps(said)),
            )
        return self.get(id)

    def list(self, libraries: Iterable[str] | None = None) -> list[JobOut]:
        """The jobs of these libraries, or of all, newest first."""
        wanted = None if libraries is None else {*libraries}
        rows = self._select("SELECT * FROM jobs ORDER BY rowid DESC")
        return [_read_row(row) for row in rows if wanted is None or row[1] in wanted]

    def get(self, id: str) -> JobOut:
        """One job; raises `NoSuchJob`."""
        for row in self._select("SELECT * FROM jobs WHERE id = ?", id):
            return _read_row(row)
        raise NoSuchJob("There is no such job.")

    def state(self, id: str) -> State | None:
        """The state of a job; None if there is no such job."""
        return next((state for (state,) in self._select("SELECT state FROM jobs WHERE id = ?", id)), None)

    def next(self) -> JobOut | None:
        """The job that has waited longest or was running when its process died; None if there is none."""
        rows = self._select("SELECT * FROM jobs WHERE state IN (?, ?) ORDER BY rowid LIMIT 1", *UNFINISHED)
        return _read_row(rows[0]) if rows else None

    def _select(self, statement: str, *values: str) -> Sequence[tuple[Any, ...]]:
        if not self._file.exists():
            return ()
        with self._open() as db:
            return db.execute(statement, values).fetchall()

    def check_unread(self, library: str, *names: str) -> None:
        """Raise `BadInput` if an uploaded file is to be read by a job: it would be lost when that is done."""
        for job in self.list([library]):
            if job.state in UNFINISHED and (read := {*names} & {*job.work.files}):
                raise BadInput(f"“{min(read)}” is about to be read; wait until that is done, or stop the job first.")

    def set(self, id: str, *unless: State, **values: str | int) -> bool:
        """Change columns of a job that is not in one of these states; return whether there was one."""
        names = ", ".join(f"{name} = ?" for name in values)
        marks = ", ".join("?" * len(unless))
        with self._open() as db:
            changed = db.execute(
                f"UPDATE jobs SET {names} WHERE id = ? AND state NOT IN ({marks})", (*values.values(), id, *unless)
            )
            return changed.rowcount > 0

    def stop(self, id: str) -> JobOut:
        """Stop a job that waits or runs; what it has read so far is kept for when it is started again."""
        self.get(id)
        self.set(id, "done", "failed", "stopped", state="stopped")
        return self.get(id)

    def restart(self, id: str) -> JobOut:
        """Let a job that was stopped or failed wait again; it goes on where it was."""
        self.get(id)
        self.set(id, "done", "running", "waiting", state="waiting", stage="", done=0, total=0)
        return self.get(id)

    def forget(self, library: str) -> None:
        """Stop and delete the jobs of a library that is deleted."""
        for job in self.list([library]):
            self.stop(job.id)
        with self._open() as db:
            db.execute("DELETE FROM jobs WHERE library = ?", (library,))


def _read_row(row: Sequence[Any]) -> JobOut:
    id, library, at, state, work, stage, done, total, said = row
    return JobOut(
        id=id, library=library, name="", at=at, state=state, stage=stage, done=done, total=total, said=json.loads(said),
        work=_WORK.validate_json(work),
    )  # fmt: skip


_Arguments = Sequence[str | Path]


@dataclass(frozen=True, slots=True)
class Step:
    """A command of `counterpoint index`, unless `is_done` says that an earlier attempt did it; `stage` says what it does."""

    stage: str
    arguments: _Arguments
    is_done: Callable[[], bool] = bool


@dataclass(slots=True)
class Runner:
    """Runs the jobs of a folder in a thread, while no other process does.

    `find` gives the place of a library; `when_changed` is called when one was made or changed, `forget` with the id of one that
    was deleted. No library may come to hold more than `most_papers`.
    """

    jobs: Jobs
    find: Callable[[str], Path | None]
    profile: str
    when_changed: Callable[[], object] = bool
    most_papers: int = sys.maxsize
    forget: Callable[[str], object] = bool
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to look for jobs; deletions that were cut short are brought to their end."""
        for left in (self.jobs.folder / FOLDER).glob(f"*{DELETED}"):
            with suppress(CounterpointError):
                self.clear(left.name.removesuffix(DELETED))
        self._thread = threading.Thread(target=self._watch, name="jobs", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the job that runs, which resumes at the next start."""
        self._stop.set()
        if self._thread:
            self._thread.join()

    def clear(self, library: str) -> None:
        """Remove all that belonged to a library that is deleted; its own folder last, which tells that it was."""
        folder = self.jobs.folder
        self.jobs.forget(library)
        for left in (name_draft(folder, library), name_linked(folder, library)):
            shutil.rmtree(left, ignore_errors=True)
        self.forget(library)
        shutil.rmtree(name_deleted(folder, library), ignore_errors=True)

    def _watch(self) -> None:
        while not self._stop.wait(_LOOK_SECONDS):
            try:
                if self.jobs.next():
                    self.run_waiting()
            except Exception:
                _log.exception("looking for jobs failed")
                self._stop.wait(_PAUSE_SECONDS)

    def run_waiting(self) -> None:
        """Run every job that waits, or was running when its process died; none while another process runs them."""
        with open(self.jobs.folder / FOLDER / "lock", "wb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            while not self._stop.is_set():
                job = self.jobs.next()
                if job is None:
                    return
                self._run(job, lock.fileno())

    def _run(self, job: JobOut, lock: int) -> None:
        report = _Report(self.jobs, job)
        self.jobs.set(job.id, "stopped", state="running")
        try:
            with translate_write_errors("the library", self.jobs.folder, "free some space and resume"):
                # All was done, and what it was done with is perhaps half removed.
                for step in self._plan(job) if job.stage != _ENDING else ():
                    if not step.is_done() and not self._run_step(step, report, lock):
                        return
                report.show(_ENDING)
                finish(self.jobs.folder, job)
                self.when_changed()
        except CounterpointError as error:
            report.end("failed", str(error))
        except Exception:
            _log.exception("a job failed")
            report.end("failed", "This failed unexpectedly; see the service's log.")
        else:
            report.end("done", "Done")
        finally:
            if report.read_state() is None:  # the library was deleted while this was writing
                shutil.rmtree(name_draft(self.jobs.folder, job.library), ignore_errors=True)

    def _plan(self, job: JobOut) -> Iterator[Step]:
        """The steps of a job, each planned when those before it are done; a library that is built is put in place on the way."""
        place, draft = self.find(job.library), name_draft(self.jobs.folder, job.library)
        if place is None and not (draft / LIBRARY).exists():
            raise BadInput("The library is not there any more.")
        target = place or draft / "index"
        made = (target / MANIFEST).is_file
        quiet = ("--no-examples", "--profile", self.profile)
        for number, search in enumerate(job.work.searches):
            found, applied = draft / f"{job.id}-{number}", draft / f"{job.id}-{number}.applied"
            if applied.exists():
                continue
            papers = name_papers_folder(found)
            limits = ["--source", search.source, "--max", str(search.most), *(["--full-text"] if search.full_texts else [])]
            stage = f"Fetching from {'PubMed' if search.source == 'pubmed' else 'Europe PMC'}"
            yield Step(stage, ["fetch", "--out", found, *limits, *quiet, "--", search.query], (found / MANIFEST).is_file)
            if made():
                texts: _Arguments = ["--full-text", papers / TEXTS] if any((papers / TEXTS).glob("*")) else []
                yield Step("Adding what was found", ["update", target, papers, *texts, "--skip-bad", _MOST_SKIPPED, *quiet])
            else:
                os.rename(found, target)
            applied.touch()
        linked = name_linked(self.jobs.folder, job.library)
        if zotero := job.work.zotero:
            web = ["--web", "--library", zotero.library, "--key-from", zotero.key_from] if zotero.library else []
            options: _Arguments = ["--out", target, "--papers", linked, *([] if zotero.pdfs else ["--no-pdf"]), *web, *quiet]
            yield Step("Fetching from Zotero", ["zotero", *options, "--", zotero.collection])
        files = [draft / "files" / name for name in job.work.files]
        if missing := [file.name for file in files if not file.is_file()]:
            raise BadInput(f"{missing[0]} has not been uploaded; upload it, then start again.")
        if files and is_pack(files[0]):
            yield Step("Restoring the library", ["unpack", files[0], "--out", target, *quiet], made)
        elif job.work.joins:
            joined: _Arguments = ["--full-text", files[0], f"--joins={job.work.joins}", "--confirmed"]
            yield Step("Joining the full text", ["update", target, *joined, *quiet])
        elif files:
            texts = [option for file in files if holds_texts(file) for option in ("--full-text", file)]
            records = [file for file in files if not holds_texts(file)]
            read: _Arguments = [*records, *texts, "--skip-bad", _MOST_SKIPPED, *quiet]
            # A library that is only now being built is built in one go with its first files.
            yield Step("Reading the files", ["update", target, *read] if made() else ["build", *read, "--out", target])
        if job.work.removed:
            if not made():
                raise BadInput("The library has no papers yet, so none can be removed.")
            removed = draft / f"{job.id}.xml"
            removed.parent.mkdir(parents=True, exist_ok=True)
            removed.write_text(_write_removals(job.work.removed), "utf-8")
            if linked.is_dir():
                remove_records(linked, job.work.removed)
            yield Step("Removing papers", ["update", target, removed, *quiet])
        if not made():
            raise BadInput("What was asked for has no papers, so there is no library yet; choose something else.")
        if place is None:
            target = publish(self.jobs.folder, job.library)
            self.when_changed()
        manifest = read_manifest(target)
        wanted = job.work.vectors and (manifest.dense or manifest.counts.documents <= MOST_VECTORS)
        if wanted:
            yield Step("Making vectors", ["dense", target, "--profile", self.profile], lambda: manifest.vectors_fit)

    def _run_step(self, step: Step, report: _Report, lock: int) -> bool:
        """Run a command; return whether it was done, and not stopped."""
        report.show(step.stage)
        nice = ["nice", "-n", _NICENESS] if shutil.which("nice") else []
        command = [*nice, *COMMAND, *map(str, step.arguments)]
        # The process keeps the lock, should this one be killed: nobody begins the same work beside it.
        process = subprocess.Popen(
            command,
            env={**os.environ, FOR_PROCESS: "1", MOST_PAPERS: str(self.most_papers)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=[lock],
            start_new_session=True,
        )
        reading = threading.Thread(target=report.follow, args=(process, step.stage), daemon=True)
        reading.start()
        ended = False
        while process.poll() is None:
            if self._stop.wait(0.2) or report.is_stopped():
                ended = True
                _end(process)
        reading.join(_GRACE_SECONDS)
        # Somebody may have resumed it already: then it waits, and is begun again.
        if ended or self._stop.is_set() or report.is_stopped():
            return False
        if process.returncode < 0:
            raise CounterpointError(f"{step.stage} was ended from outside, perhaps for want of memory; resume it to go on.")
        if process.returncode:
            raise CounterpointError(report.error or f"{step.stage} failed unexpectedly; see the list of what was told.")
        return True


def _end(process: subprocess.Popen[bytes]) -> None:
    """Interrupt a process as Ctrl-C does, so that it saves what it has; kill it if that takes too long."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_SECONDS)
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


_LONGEST_LINE, _MOST_LINES = 2000, 20_000


class _Report:
    """What a job tells, written into its row every half second."""

    def __init__(self, jobs: Jobs, job: JobOut) -> None:
        self._jobs, self._id, self._said = jobs, job.id, [*job.said]
        self.error = ""

    def show(self, stage: str, done: int = 0, total: int = 0) -> None:
        """Say what the job does now."""
        self._jobs.set(self._id, stage=stage, done=done, total=total, said=json.dumps(self._said))

    def follow(self, process: subprocess.Popen[bytes], stage: str) -> None:
        """Read what a process tells, to its end."""
        assert process.stderr is not None
        rest, written = "", 0.0
        while piece := os.read(process.stderr.fileno(), 65_536):
            *lines, rest = re.split(r"[\r\n]+", rest + piece.decode("utf-8", "replace"))
            for line in filter(None, map(str.strip, lines)):
                if progress := read_progress(line):
                    if time.monotonic() - written > _WRITE_SECONDS:
                        written = time.monotonic()
                        with suppress(CounterpointError, sqlite3.Error):  # a process waits for ever for who reads it no more
                            self.show(f"{stage}: {progress.what}", progress.done, progress.total)
                elif line.startswith("Error: "):
                    self.error = make_readable(line.removeprefix("Error: "), self._jobs.folder)
                elif len(self._said) < _MOST_LINES and (said := make_readable(line, self._jobs.folder)):
                    self._said.append(said[:_LONGEST_LINE])
        with suppress(CounterpointError, sqlite3.Error):
            self.show(stage)

    def is_stopped(self) -> bool:
        """Whether somebody stopped the job, even if it waits again by now, or deleted it with its library."""
        return self.read_state() != "running"

    def read_state(self) -> State | None:
        """The state of the job; None if it was deleted with its library."""
        try:
            return self._jobs.state(self._id)
        except (CounterpointError, sqlite3.Error):
            return "running"  # as far as anybody knows

    def end(self, state: State, stage: str) -> None:
        """The job has ended in this state; `stage` says how."""
        self._jobs.set(self._id, "stopped", state=state, stage=stage, said=json.dumps(self._said))


_ADVICE = re.compile(r"(?:[;,] )?(?:or )?[^;,.]*?(?: --[a-z]|`counterpoint |`python -m )[^;]*?(?=[.;]?$)")
"""What somebody at a command line could do."""


def make_readable(line: str, folder: Path) -> str:
    """A line of a command for who has only the page: no folders of the service and no options; "" if nothing is left."""
    for place in (folder, folder.resolve()):
        line = line.replace(f"{place}/", "")
    line = re.sub(rf"{re.escape(FOLDER)}/\w+/files/", "", line)
    line = re.sub(rf"(Building an index|Updating the index) at {re.escape(FOLDER)}/\w+/[\w-]+", r"\1", line)
    line = re.sub(rf"{re.escape(FOLDER)}/\w+/[\w-]+(?:\.[\w-]+)*", "the library", line)
    line = re.sub(r"(the same command resumes|run the same command again)( from there| to resume)?", "resume it to go on", line)
    return "" if line.startswith("Claims find more papers with vectors") else _ADVICE.sub("", line)


def find_ids(text: str) -> tuple[list[Search], list[str]]:
    """Searches for papers by the PMIDs, PMCIDs and DOIs in a text, in words or links, and the words that are none of these."""
    pmids, others, unknown = list[str](), list[str](), list[str]()
    for word in re.split(r"[\s,;]+", text.strip()):
        if pmid := re.fullmatch(r"(?:pmid:?|https?://pubmed\.ncbi\.nlm\.nih\.gov/|)0*([1-9]\d{0,8})/?", word, re.IGNORECASE):
            pmids.append(pmid[1])
        elif pmcid := re.search(r"\bPMC0*([1-9]\d{0,8})\b", word, re.IGNORECASE):
            others.append(f"PMCID:PMC{pmcid[1]}")
        elif doi := re.search(r"10\.\d{4,9}/[^\s\"<>]+", word):
            others.append(f'DOI:"{doi[0].rstrip(".)")}"')
        elif word and word.casefold() not in ("pmid", "pmid:", "doi", "doi:"):
            unknown.append(word)
    queries: list[tuple[Literal["pubmed", "europepmc"], list[str]]] = [
        ("pubmed", [f"{pmid}[uid]" for pmid in dict.fromkeys(pmids)]),
        ("europepmc", [*dict.fromkeys(others)]),
    ]
    searches = [
        Search(query=" OR ".join(part), source=source, most=len(part) if source == "pubmed" else 2 * len(part))
        for source, terms in queries
        for part in (terms[at : at + _IDS_AT_ONCE] for at in range(0, len(terms), _IDS_AT_ONCE))
    ]
    return searches, unknown


_IDS_AT_ONCE = 100
"""Ids in a search, whose address has some 2,000 characters then; at Europe PMC two records may have one DOI."""


def _write_removals(ids: Iterable[str]) -> str:
    """A file as PubMed sends it when records are deleted, which an update applies."""
    inside = "".join(f"<PMID>{escape(id)}</PMID>" for id in ids)
    return f"<PubmedArticleSet><DeleteCitation>{inside}</DeleteCitation></PubmedArticleSet>"


def name_key(folder: Path, holder: str, zotero: str) -> Path:
    """The file of the key that a sender gave for a library at zotero.org: apart from the libraries, in the user's own folder."""
    name = hashlib.sha256(json.dumps([holder, zotero]).encode()).hexdigest()[:16]
    return (find_user_folder("data") or folder / FOLDER) / ".zotero" / name


def publish(folder: Path, id: str) -> Path:
    """Move a library that is built to its place among the others, with the name that it was given; return the place."""
    draft = name_draft(folder, id)
    file = read_library_file(draft) or LibraryFile(id)
    own = read_library_file(draft / "index")  # a library that is restored brings its description
    described = file.description or (own.description if own else "")
    LibraryFile(id, file.name, described, keys=file.keys).write(draft / "index")
    stem = re.sub(r"[^\w-]+", "-", file.name.casefold()).strip("-")[:60] or "library"
    place = next(path for path in (folder / stem, folder / f"{stem}-{id}") if not path.exists())
    os.rename(draft / "index", place)
    return place


def finish(folder: Path, job: JobOut) -> None:
    """Remove what a job that is done worked with."""
    draft = name_draft(folder, job.library)
    with hold_files(draft) as files:
        for name in job.work.files:
            (files / name).unlink(missing_ok=True)
        for left in draft.glob(f"{job.id}*"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        if not (draft / "index").exists() and not any(files.iterdir()):
            shutil.rmtree(draft, ignore_errors=True)

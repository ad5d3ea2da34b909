"""Faults in every step of making, filling, syncing and deleting a library: nothing that was whole is lost, nothing half-made is
listed, and the same again ends well."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from counterpoint.indexes.build import build
from counterpoint.retrieval.core.errors import CounterpointError
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.store.documents import Store, Wanted
from counterpoint.retrieval.store.library import NAME as LIBRARY
from counterpoint.retrieval.store.library import LibraryFile
from counterpoint.retrieval.store.manifest import NAME as MANIFEST
from counterpoint.retrieval.store.manifest import STORE
from counterpoint.service.http.app import create_app
from counterpoint.service.memory.memory import open_memory
from counterpoint.service.operating import jobs as module
from counterpoint.service.operating.jobs import Jobs, JobsUnusable, Runner, Search, Work, Zotero
from counterpoint.service.operating.libraries import Libraries
from counterpoint.service.operating.settings import Settings
from counterpoint.service.operating.uploads import FOLDER, list_uploads, name_draft
from tests.helpers.fakes import make_grounder
from tests.helpers.served import fake_libraries, serving
from tests.helpers.struck import How, run_here, strike
from tests.helpers.zotero_server import KEY, ZoteroServer
from tests.indexes.papers_server import PapersServer

ID, OTHER = "0a1b2c3d4e5f", "ffffffffffff"


def records(*numbers: int) -> str:
    return "".join(
        json.dumps({"pmid": str(one), "title": f"Zeta {one}", "abstract": "Zeta is for it."}) + "\n" for one in numbers
    )


def make_library(folder: Path, id: str, name: str, *numbers: int) -> None:
    """Put a library into the folder; each is built once, and copied."""
    made = folder.parents[1] / f"made-{name}"
    if not made.exists():
        source = folder.parents[1] / f"{name}.jsonl"
        source.write_text(records(*numbers))
        build([source], made)
        LibraryFile(id, name).write(made)
    shutil.copytree(made, folder / name)


def titles_in(folder: Path) -> dict[str, list[str]]:
    """The titles in every library that is listed, none of which is damaged; what is stored can be searched."""
    found = {}
    for one in Libraries(folder=folder).list_all():
        assert not one.damaged, one.damaged
        index = Index(one.place)
        try:
            assert isinstance(index.store, Store)
            stored = index.store.browse(Wanted(), 0, 1000)[1]
            assert {hit.pmid for hit in index.search("zeta zinc", 1000)} == {one.pmid for one in stored}
        finally:
            index.close()
        found[one.id] = sorted(entry.document.title for entry in stored)
    return found


@dataclass
class World:
    """A folder of libraries of which one, OTHER, has nothing to do with what is done to ID."""

    folder: Path
    zotero: ZoteroServer
    papers: PapersServer
    operation: str = "job"

    @property
    def draft(self) -> Path:
        return name_draft(self.folder, ID)

    def name(self) -> None:
        (self.draft / "files").mkdir(parents=True)
        LibraryFile(ID, "Heart").write(self.draft)

    def send(self) -> None:
        (self.draft / "files").mkdir(parents=True, exist_ok=True)
        (self.draft / "files" / "more.jsonl").write_text(records(*range(20, 40)))

    def ask(self, **work: Any) -> None:
        Jobs(self.folder).add(ID, Work(vectors=False, **work))

    def run(self) -> None:
        """As the next start of the service, and somebody who resumes what failed."""
        libraries = Libraries(folder=self.folder)
        memory = open_memory(self.folder.parent / "state")
        assert memory
        runner = Runner(Jobs(self.folder), libraries.find_place, "embedded", libraries.refresh, forget=memory.forget_library)
        runner.start()
        runner.stop()
        for job in runner.jobs.list():
            if job.state == "failed":
                runner.jobs.restart(job.id)
        Runner(runner.jobs, libraries.find_place, "embedded").run_waiting()


def upload(world: World) -> None:
    (world.folder.parent / "more.jsonl").write_text(records(*range(20, 40)))
    world.name()
    world.operation = "upload"


def build_and_publish(world: World) -> None:
    world.name()
    world.send()
    world.ask(files=("more.jsonl",))


def add_files(world: World) -> None:
    make_library(world.folder, ID, "Heart", 1, 2, 3)
    world.send()
    world.ask(files=("more.jsonl",))


def remove_papers(world: World) -> None:
    make_library(world.folder, ID, "Heart", 1, 2, 3)
    world.ask(removed=("2",))


def fetch(world: World) -> None:
    world.name()
    world.ask(searches=(Search(query="zinc", full_texts=True),))


def fetch_more(world: World) -> None:
    make_library(world.folder, ID, "Heart", 1, 2, 3)
    world.ask(searches=(Search(query="zinc"),))


def take_collection(world: World) -> None:
    world.name()
    key = world.folder.parent / "key"
    key.write_text(KEY)
    key.chmod(0o600)
    for number in range(3):
        world.zotero.add(title=f"Zeta of Zotero {number}", abstractNote="Zeta is for it.", DOI=f"10.5555/zeta.{number}")
    world.ask(zotero=Zotero(collection="all", library="users/7", key_from=str(key)))


def sync(world: World) -> None:
    take_collection(world)
    world.run()
    first, second, _ = world.zotero.items
    world.zotero.delete(first)
    world.zotero.edit(second, title="Zeta of Zotero, edited")
    world.zotero.add(title="Zeta of Zotero, new", abstractNote="Zeta is for it.", DOI="10.5555/zeta.new")
    world.ask(zotero=Zotero(collection="all", library="users/7", key_from=str(world.folder.parent / "key")))


def delete(world: World) -> None:
    make_library(world.folder, ID, "Heart", 1, 2, 3)
    world.send()
    world.operation = "delete"


SCENARIOS: tuple[Callable[[World], None], ...] = (
    upload, build_and_publish, add_files, remove_papers, fetch, fetch_more, take_collection, sync, delete,
)  # fmt: skip
FAULTS: tuple[tuple[How, float], ...] = (
    ("killed", 0.25), ("killed", 0.5), ("killed", 0.75), ("killed", 1), ("full", 0), ("full", 0.6),
)  # fmt: skip
"""How a fault strikes, and after which part of all changes to the disk."""
EVERY = "EVERY_FAULT"
"""The environment variable that names a kind of fault, which then strikes at every single change."""


@pytest.fixture
def make_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], World]]:
    monkeypatch.setattr(Runner, "_run_step", run_here)
    servers: list[Any] = []

    def make(name: str) -> World:
        folder = tmp_path / name / "libraries"
        folder.mkdir(parents=True)
        make_library(folder, OTHER, "Lungs", 7, 8, 9)
        world = World(folder, ZoteroServer(tmp_path / name / "Zotero"), PapersServer(5))
        servers.extend((world.zotero, world.papers))
        for variable, value in (("ZOTERO_URL", world.zotero.web), ("NCBI_URL", world.papers.url), ("NCBI_API_KEY", "0" * 36)):
            monkeypatch.setenv(f"COUNTERPOINT_{variable}", value)
        return world

    yield make
    for server in servers:
        server.close()


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.__name__)
def test_what_is_struck_loses_nothing_and_goes_on(make_world: Callable[[str], World], scenario: Callable[[World], None]) -> None:
    undisturbed = make_world("undisturbed")
    scenario(undisturbed)
    before = titles_in(undisturbed.folder)
    ended, changes = strike(undisturbed.folder, undisturbed.operation, ID, "never", 0)
    after = titles_in(undisturbed.folder)
    assert ended == 0 and len(changes) > 3 and before[OTHER] == after[OTHER] == ["Zeta 7", "Zeta 8", "Zeta 9"]
    assert (before == after) == (scenario is upload)
    every: Any = os.environ.get(EVERY)
    faults = [(how, round(part * (len(changes) - 1))) for how, part in FAULTS]
    if every:
        faults = [(every, at) for at in range(len(changes))]
    for number, (how, at) in enumerate(faults):
        world = make_world(f"world-{number}")
        scenario(world)
        ended, done = strike(world.folder, world.operation, ID, how, at)
        struck = f"{scenario.__name__}, {how} at {at} of {len(changes)} ({changes[at]})"
        assert ended == (-9 if how == "killed" else 0) and len(done) >= at, struck
        now = titles_in(world.folder)
        assert now in (before, after), struck
        check_told(world, how, struck)
        if scenario is upload:
            assert all(not one.whole or one.received == len(records(*range(20, 40))) for one in list_uploads(world.draft)), struck
            assert strike(world.folder, "upload", ID, "never", 0)[0] == 0, struck
            uploads = [(one.name, one.whole) for one in list_uploads(world.draft)]
            assert uploads.count(("more.jsonl", True)) == 1 and len(uploads) <= 2, f"{struck}: what was begun may be left"
            assert (world.draft / "files" / "more.jsonl").read_text() == records(*range(20, 40)), struck
            continue
        if scenario is delete and ID in now:
            assert strike(world.folder, "delete", ID, "never", 0)[0] == 0, struck
        world.run()
        assert titles_in(world.folder) == after, struck
        assert {job.state for job in Jobs(world.folder).list()} <= {"done"}, struck
        left = {one.name.removesuffix("-wal").removesuffix("-shm") for one in (world.folder / FOLDER).iterdir()}
        assert left <= {"jobs.sqlite", "lock", f"{ID}.zotero"}, (struck, left)


def check_told(world: World, how: How, struck: str) -> None:
    """A job that could not go on says why in one sentence; one that died is resumed."""
    for job in Jobs(world.folder).list():
        states = ("running", "waiting", "done") if how == "killed" else ("failed", "running", "done")
        assert job.state in states, (struck, job)
        assert job.state != "failed" or " is full while writing" in job.stage, (struck, job)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def scramble(path: Path) -> None:
    path.write_bytes(b"\x00\xff nothing that anybody wrote " * 400)


def empty(path: Path) -> None:
    path.write_bytes(b"")


DAMAGE = [
    (file, spoil)
    for file in (MANIFEST, STORE, "segments_*", LIBRARY)
    for spoil in (cut, scramble, empty, Path.unlink)
    if (file, spoil) != (LIBRARY, Path.unlink)  # without it, it is called as its folder
]


@pytest.mark.parametrize(("file", "spoil"), DAMAGE, ids=lambda one: getattr(one, "__name__", one))
def test_a_damaged_library_says_so_and_the_others_serve(
    made_once: Path, tmp_path: Path, file: str, spoil: Callable[[Path], None]
) -> None:
    folder = tmp_path / "libraries"
    shutil.copytree(made_once, folder)
    spoil(next(folder.glob(f"Heart/**/{file}")))
    libraries = Libraries(None, folder, lambda index: make_grounder(index)[0])
    try:
        libraries.load()
        with libraries.lease("Lungs") as serving:
            assert [hit.pmid for hit in serving.index.search("zeta", 9)] == ["7", "8", "9"]
        listed = {one.name: one for one in libraries.list_all()}
        assert not listed["Lungs"].damaged
        if "Heart" not in listed:
            assert (file, spoil) == (MANIFEST, Path.unlink) or file == LIBRARY
        if "Heart" in listed and not listed["Heart"].damaged:
            assert file in (STORE, "segments_*")  # which are not looked at before they are needed
            with pytest.raises(CounterpointError) as said, libraries.lease("Heart") as serving:
                assert serving.index.store.get("1") and serving.index.search("zeta", 9)
            assert str(said.value).endswith(".") and "Traceback" not in str(said.value)
    finally:
        libraries.close()


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built") / "any" / "libraries"
    folder.mkdir(parents=True)
    make_library(folder, ID, "Heart", 1, 2, 3)
    make_library(folder, OTHER, "Lungs", 7, 8, 9)
    return folder


@pytest.mark.parametrize("spoil", [cut, scramble])
def test_damaged_lists_are_told_and_the_libraries_serve(
    made_once: Path, tmp_path: Path, spoil: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "libraries"
    shutil.copytree(made_once, folder)
    jobs = Jobs(folder)
    jobs.add(ID, Work(removed=("1",)))
    assert open_memory(tmp_path / "state")
    for left in (folder / FOLDER).glob("jobs.sqlite-*"):
        left.unlink()
    for file in (folder / FOLDER / "jobs.sqlite", tmp_path / "state" / "memory.sqlite"):
        spoil(file)
    with pytest.raises(JobsUnusable, match="check the disk"):
        jobs.list()
    assert open_memory(tmp_path / "state") is None and "move a damaged file away" in caplog.text
    assert set(titles_in(folder)) == {ID, OTHER}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.zip", b"PK\x03\x04 and then nothing"), ("a.jsonl.gz", gzip.compress(records(*range(99)).encode(), mtime=0)[:40]),
        ("a.tar.gz", gzip.compress(b"x" * 512, mtime=0)[:20]), ("a.ris", bytes(range(256)) * 9), ("a.pdf", b"%PDF-1.4 cut off"),
        ("a.xml", b"<PubmedArticleSet><PubmedArticle><PMID>1"), ("a.csv", b"\xff\xfe\x00"), ("a.jsonl", b'{"pmid": "1", "ti'),
    ],
)  # fmt: skip
def test_a_damaged_file_fails_its_job_in_a_sentence_that_names_it(
    made_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes
) -> None:
    monkeypatch.setattr(Runner, "_run_step", run_here)
    folder = tmp_path / "any" / "libraries"
    shutil.copytree(made_once, folder)
    jobs, before = Jobs(folder), titles_in(folder)
    libraries = Libraries(folder=folder)
    for id in (ID, "000000000000"):  # one that is whole, and one that is only named
        files = name_draft(folder, id) / "files"
        files.mkdir(parents=True)
        LibraryFile(id, "Heart" if id == ID else "New").write(files.parent)
        (files / name).write_bytes(content)
        job = jobs.add(id, Work(files=(name,), vectors=False))
        Runner(jobs, libraries.find_place, "embedded").run_waiting()
        ended = jobs.get(job.id)
        assert ended.state == "failed" or (ended.state == "done" and id == ID), ended
        assert ended.state == "done" or (name in ended.stage or "no paper" in ended.stage or "no document" in ended.stage), ended
        assert "Traceback" not in ended.stage and "unexpectedly" not in ended.stage, ended
    assert titles_in(folder) == before


def test_a_connection_lost_at_90_percent_of_a_part_loses_that_part_alone(made_once: Path, tmp_path: Path) -> None:
    folder = tmp_path / "libraries"
    shutil.copytree(made_once, folder)
    app = create_app(fake_libraries(None, folder), Settings.model_validate({"token": "of-this-start", "port": 8123}))
    with serving(app) as (address, _server):
        host, port = address.removeprefix("http://").split(":")
        cookie = {"Cookie": "counterpoint-8123=of-this-start"}
        data, path = records(*range(20, 40)).encode(), f"/v1/libraries/{ID}/files/more.jsonl"
        with httpx.Client(base_url=address, headers=cookie) as client:

            def received() -> list[tuple[int, bool]]:
                return [(one["received"], one["whole"]) for one in client.get(f"/v1/libraries/{ID}/files").json()["files"]]

            client.put(f"{path}?total={len(data)}", content=data[:500]).raise_for_status()
            head = f"PUT {path}?total={len(data)}&offset=500 HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie['Cookie']}\r\n"
            with socket.create_connection((host, int(port))) as line:
                rest = data[500:]
                line.sendall(f"{head}Content-Length: {len(rest)}\r\n\r\n".encode() + rest[: len(rest) * 9 // 10])
            assert received() == [(500, False)]
            client.put(f"{path}?total={len(data)}&offset=500", content=rest).raise_for_status()
            assert received() == [(len(data), True)]
    assert (name_draft(folder, ID) / "files" / "more.jsonl").read_bytes() == data


def test_a_step_that_is_killed_says_so_and_goes_on(made_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "any" / "libraries"
    shutil.copytree(made_once, folder)
    jobs, libraries, command = Jobs(folder), Libraries(folder=folder), module.COMMAND
    job = jobs.add(ID, Work(removed=("2",), vectors=False))
    monkeypatch.setattr(module, "COMMAND", (sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"))
    Runner(jobs, libraries.find_place, "embedded").run_waiting()
    assert jobs.get(job.id).stage == "Removing papers was ended from outside, perhaps for want of memory; resume it to go on."
    assert titles_in(folder)[ID] == ["Zeta 1", "Zeta 2", "Zeta 3"]
    monkeypatch.setattr(module, "COMMAND", command)
    jobs.restart(job.id)
    Runner(jobs, libraries.find_place, "embedded").run_waiting()
    assert jobs.get(job.id).state == "done" and titles_in(folder)[ID] == ["Zeta 1", "Zeta 3"]

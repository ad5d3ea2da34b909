"""A memory file of version 1 becomes one of today's in one transaction: every row belongs to the library of its index."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from retrieval.store.library import LibraryFile, read_library_file
from retrieval.store.manifest import read_manifest
from service.memory.database import Database, Whose
from service.memory.memory import Memory, open_memory
from service.operating.libraries import Libraries
from tests.helpers.fakes import make_index

_VERSION_1 = """
CREATE TABLE history (id TEXT PRIMARY KEY, holder TEXT NOT NULL, at TEXT NOT NULL, data TEXT NOT NULL);
CREATE INDEX history_by_time ON history (holder, at);
CREATE TABLE saved (
    id TEXT PRIMARY KEY, holder TEXT NOT NULL, at TEXT NOT NULL, folder TEXT NOT NULL, asked TEXT NOT NULL,
    version INTEGER NOT NULL, index_id TEXT NOT NULL, sources TEXT NOT NULL, data TEXT NOT NULL, UNIQUE (holder, folder, asked)
);
CREATE TABLE alerts (
    id TEXT PRIMARY KEY, holder TEXT NOT NULL, at TEXT NOT NULL, saved TEXT NOT NULL, kind TEXT NOT NULL, pmid TEXT NOT NULL,
    data TEXT NOT NULL, UNIQUE (saved, kind, pmid)
);
CREATE INDEX alerts_by_time ON alerts (holder, at);
CREATE TABLE feedback (
    id TEXT PRIMARY KEY, holder TEXT NOT NULL, at TEXT NOT NULL, claim TEXT NOT NULL, pmid TEXT NOT NULL, data TEXT NOT NULL,
    UNIQUE (holder, claim, pmid)
);
CREATE TABLE feeds (holder TEXT PRIMARY KEY, token TEXT NOT NULL UNIQUE);
"""
PAPER = {
    "pmid": "1",
    "title": "",
    "year": 2020,
    "journal": "",
    "retracted": False,
    "stance": "support",
    "score": 1,
    "sentence": "",
}
AT = "2026-01-01T00:00:00.000000+00:00"


def entry(index: str, text: str = "zeta") -> str:
    provenance = {"config": "c", "profile": "p", "models": {}, "index": index, "documents": 1}
    return json.dumps({"mode": "claim", "text": text, "summary": "s", "provenance": provenance})


def opinion(index: str) -> str:
    return json.dumps(
        {**json.loads(entry(index)), "claim": "zeta", "pmid": "1", "sentence": "", "shown": "support", "right": "neutral"}
    )


def alert(index: str) -> str:
    return json.dumps(
        {"claim": "c", "detail": "d", "paper": PAPER, "link": "#", "index": index, "index_version": 1, "models": {}}
    )


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Three libraries with different texts: "first" and "second" in a folder of libraries, "elsewhere" outside it."""
    (tmp_path / "libraries").mkdir()
    places = [tmp_path / "libraries" / "first", tmp_path / "libraries" / "second", tmp_path / "elsewhere"]
    for place in places:
        index = make_index(tmp_path / f"made-{place.name}", [{"pmid": "1", "title": place.name, "abstract": "Zeta."}])
        index.close()
        index.folder.rename(place)
    return places


def write_version_1(folder: Path, places: list[Path]) -> None:
    folder.mkdir()
    indexes = [read_manifest(place).id for place in places]
    with closing(sqlite3.connect(folder / "memory.sqlite")) as old, old:
        old.executescript(_VERSION_1)
        for number, (place, index) in enumerate([*zip(map(str, places), indexes, strict=True), ("/gone", "0-f4")]):
            old.execute("INSERT INTO history VALUES (?, 'ann', ?, ?)", (f"h{number}", AT, entry(index)))
            row = (f"s{number}", AT, place, "zeta", index, "1:x", entry(index))
            old.execute("INSERT INTO saved VALUES (?, 'ann', ?, ?, ?, 1, ?, ?, ?)", row)
            old.execute(
                "INSERT INTO alerts VALUES (?, 'ann', ?, ?, 'new contradiction', '1', ?)",
                (f"a{number}", AT, f"s{number}", alert(index)),
            )
            said = (f"f{number}", AT, f"zeta {number}", opinion(index))
            old.execute("INSERT INTO feedback VALUES (?, 'ann', ?, ?, '1', ?)", said)
        # A saved claim whose folder was moved is known by the texts that its index had.
        moved = indexes[1] if indexes else ""
        old.execute("INSERT INTO saved VALUES ('s9', 'bob', ?, '/moved', 'zeta', 1, ?, '1:x', ?)", (AT, moved, entry(moved)))
        old.execute("INSERT INTO feeds VALUES ('ann', 'a-token')")
        old.execute("PRAGMA user_version=1")


def owners(memory: Database) -> dict[str, str]:
    union = " UNION ALL ".join(f"SELECT id, library FROM {table}" for table in ("history", "saved", "alerts", "feedback"))
    return dict(memory.rows(union))


def id_of(place: Path) -> str:
    file = read_library_file(place)
    assert file
    return file.id


def test_every_row_goes_to_the_library_of_its_index(tmp_path: Path, folders: list[Path]) -> None:
    write_version_1(tmp_path / "state", folders)
    first, second, elsewhere = map(id_of, folders)
    database = Database(tmp_path / "state", Libraries(folders[0], tmp_path / "libraries"))
    # Only the folder of a saved claim says where an index outside lies; its other rows go to the first library.
    expected = {"0": first, "1": second, "2": elsewhere, "3": first, "9": second}
    assert owners(database) == {
        f"{kind}{number}": first if number == "2" and kind in "hf" else library
        for number, library in expected.items()
        for kind in ("s" if number == "9" else "hsaf")
    } | {"s3": ""}  # the same claim is saved in the first library already: it stays, for the command line alone
    memory = Memory(database)
    assert [one.id for one in memory.saved.find(Whose("ann", (second,))).saved] == ["s1"]
    assert memory.alerts.holder_of("a-token") == "ann" and len(memory.alerts.find(Whose("ann")).alerts) == 4
    assert len(memory.feedback.find(Whose("ann")).feedback) == 4
    assert database.rows("PRAGMA user_version") == [(2,)]
    assert not database.rows("SELECT name FROM sqlite_master WHERE name LIKE 'old_%'")


def test_what_fits_no_library_waits_for_the_first(tmp_path: Path, folders: list[Path]) -> None:
    write_version_1(tmp_path / "state", [])
    assert set(owners(Database(tmp_path / "state", Libraries())).values()) == {""}
    assert set(owners(Database(tmp_path / "state", Libraries(folders[0]))).values()) == {id_of(folders[0])}


def test_a_migration_that_fails_leaves_the_old_file(tmp_path: Path, folders: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    write_version_1(tmp_path / "state", folders)
    old = (tmp_path / "state" / "memory.sqlite").read_bytes()

    def fail(*_: object) -> str:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(Libraries, "owner", fail)
        assert open_memory(tmp_path / "state", Libraries(folders[0])) is None
    assert (tmp_path / "state" / "memory.sqlite").read_bytes() == old
    assert open_memory(tmp_path / "state", Libraries(folders[0]))


def test_a_renamed_library_keeps_what_was_asked(tmp_path: Path, folders: list[Path]) -> None:
    write_version_1(tmp_path / "state", folders)
    database, second = Database(tmp_path / "state", Libraries(folders[0], tmp_path / "libraries")), id_of(folders[1])
    folders[1].rename(tmp_path / "libraries" / "other")
    LibraryFile(second, "Another name").write(tmp_path / "libraries" / "other")
    found = Libraries(folders[0], tmp_path / "libraries").find("Another name")
    assert [one.id for one in Memory(database).history.find(Whose("ann", (found.id,)), 10).entries] == ["h1"]

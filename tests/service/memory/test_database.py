"""The file of the memory: another version is refused and left alone, and every row belongs to a library once there is one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from counterpoint.retrieval.store.library import LibraryFile, read_library_file
from counterpoint.service.memory.database import Database, MemoryUnusable, Whose
from counterpoint.service.memory.memory import Memory, open_memory
from counterpoint.service.memory.schemas import Entry
from counterpoint.service.operating.libraries import Libraries
from counterpoint.service.schemas import Provenance
from tests.helpers.fakes import make_index


@pytest.fixture
def library(tmp_path: Path) -> Path:
    index = make_index(tmp_path / "made", [{"pmid": "1", "title": "", "abstract": "Zeta."}])
    index.close()
    (tmp_path / "libraries").mkdir()
    return index.folder.rename(tmp_path / "libraries" / "first")


def id_of(place: Path) -> str:
    file = read_library_file(place)
    assert file
    return file.id


def remember(database: Database, library: str) -> None:
    made_with = Provenance(config="c", profile="p", models={}, index="i", documents=1)
    Memory(database).history.add("ann", library, Entry(mode="claim", text="zeta", summary="s", provenance=made_with))


@pytest.mark.parametrize(("version", "why"), [(2, "no longer read"), (4, "a newer Counterpoint")])
def test_a_file_of_another_version_is_refused_and_left_as_it_is(tmp_path: Path, version: int, why: str) -> None:
    path = tmp_path / "memory.sqlite"
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("CREATE TABLE history (id TEXT)")
        other.execute(f"PRAGMA user_version={version}")
    before = path.read_bytes()
    with pytest.raises(MemoryUnusable, match=why):
        Database(tmp_path, Libraries())
    assert open_memory(tmp_path, Libraries()) is None
    assert path.read_bytes() == before


def test_what_fits_no_library_waits_for_the_first(tmp_path: Path, library: Path) -> None:
    remember(Database(tmp_path, Libraries()), "")
    assert Database(tmp_path, Libraries()).rows("SELECT library FROM history") == [("",)]
    assert Database(tmp_path, Libraries(library)).rows("SELECT library FROM history") == [(id_of(library),)]


def test_a_renamed_library_keeps_what_was_asked(tmp_path: Path, library: Path) -> None:
    database, own = Database(tmp_path, Libraries(None, library.parent)), id_of(library)
    remember(database, own)
    LibraryFile(own, "Another name").write(library.rename(library.parent / "other"))
    found = Libraries(None, library.parent).find("Another name")
    assert [one.text for one in Memory(database).history.find(Whose("ann", (found.id,)), 10).entries] == ["zeta"]

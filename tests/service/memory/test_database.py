"""The file of the memory: another version is refused and left as it is, and a renamed library keeps its rows."""

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


@pytest.mark.parametrize("version", [2, 4])
def test_a_file_of_another_version_is_refused_and_left_as_it_is(tmp_path: Path, version: int) -> None:
    path = tmp_path / "memory.sqlite"
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("CREATE TABLE history (id TEXT)")
        other.execute(f"PRAGMA user_version={version}")
    before = path.read_bytes()
    with pytest.raises(MemoryUnusable, match="another version of Counterpoint"):
        Database(tmp_path)
    assert open_memory(tmp_path) is None
    assert path.read_bytes() == before


def test_a_renamed_library_keeps_what_was_asked(tmp_path: Path, library: Path) -> None:
    database, own = Database(tmp_path), id_of(library)
    remember(database, own)
    LibraryFile(own, "Another name").write(library.rename(library.parent / "other"))
    found = Libraries(None, library.parent).find("Another name")
    assert [one.text for one in Memory(database).history.find(Whose("ann", (found.id,)), 10).entries] == ["zeta"]

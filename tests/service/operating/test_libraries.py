"""Several libraries: found by name and id, read from disk, shared models, the least used closed, one that is damaged named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from counterpoint.indexes.build import build
from counterpoint.retrieval.core.errors import BadInput, CounterpointError, IndexUnusable
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.store.library import LibraryFile, check_name, read_library_file
from counterpoint.retrieval.store.manifest import NAME
from counterpoint.service.operating.libraries import Libraries, NoSuchLibrary
from counterpoint.service.operating.live_index import NotReady
from tests.conftest import WriteCorpus
from tests.helpers.fakes import make_grounder, make_index
from tests.helpers.served import fake_libraries

MakeLibrary = Callable[[str], Path]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "libraries").mkdir()
    return tmp_path / "libraries"


@pytest.fixture
def make_library(tmp_path: Path, folder: Path) -> MakeLibrary:
    """Makes a library of one paper that names it."""

    def make(name: str) -> Path:
        index = make_index(tmp_path / f"made-{name}", [{"pmid": "1", "title": name, "abstract": f"Zeta changes {name}."}])
        index.close()
        return index.folder.rename(folder / name)

    return make


def names(libraries: Libraries) -> list[str]:
    return [one.name for one in libraries.list_all()]


def title(libraries: Libraries, asked: str = "") -> str:
    with libraries.lease(asked) as serving:
        entry = serving.index.store.get("1")
        assert entry
        return entry.document.title


def test_what_lies_in_the_folder_is_listed_and_found_at_once(folder: Path, make_library: MakeLibrary) -> None:
    libraries = fake_libraries(folder=folder)
    assert libraries.list_all() == []
    with pytest.raises(NoSuchLibrary, match="no library yet"):
        libraries.find()
    for name in ("heart", "Bones", ".heart.building"):
        make_library(name)
    (folder / "notes").mkdir()
    assert names(libraries) == ["Bones", "heart"]
    assert libraries.find().name == "Bones" and title(libraries) == "Bones"
    assert title(libraries, "heart") == title(libraries, libraries.find("heart").id) == "heart"
    for unknown in ("nothing", "../libraries/heart", ".heart.building", "HEART\n"):
        with pytest.raises(NoSuchLibrary):
            libraries.find(unknown)
    libraries.close()


def test_renaming_and_moving_keep_the_id_and_building_again_too(
    folder: Path, make_library: MakeLibrary, write_corpus: WriteCorpus
) -> None:
    libraries = fake_libraries(folder=folder)
    made = make_library("heart")
    id = libraries.find("heart").id
    assert title(libraries, id) == "heart"
    moved = made.rename(folder / "moved")
    assert [(one.id, one.name, one.place) for one in libraries.list_all()] == [(id, "moved", moved)]
    assert title(libraries, "moved") == "heart"
    LibraryFile(id, "Heart and vessels", "Of the clinic.").write(moved)
    build([write_corpus({"pmid": "1", "title": "anew", "abstract": "Zeta changes bones."})], moved, overwrite=True)
    found = libraries.find("Heart and vessels")
    assert (found.id, found.description) == (id, "Of the clinic.")
    libraries.refresh()
    assert title(libraries, id) == "anew"
    libraries.close()


def test_an_older_index_keeps_its_id_once_it_was_opened(folder: Path, make_library: MakeLibrary) -> None:
    made = make_library("heart")
    (made / "library.json").unlink()
    ids = {fake_libraries(folder=folder).find("heart").id for _ in range(2)}
    libraries = fake_libraries(folder=folder)
    title(libraries)
    made.rename(folder / "moved")
    assert ids == {libraries.find("moved").id}
    libraries.close()


def test_the_models_are_loaded_once_and_the_least_used_library_is_closed(folder: Path, make_library: MakeLibrary) -> None:
    loads: list[Path] = []

    def load(index: Index):  # type: ignore[no-untyped-def]
        loads.append(index.folder)
        return make_grounder(index)[0]

    libraries = Libraries(None, folder, load, most_open=2)
    for name in "abc":
        make_library(name)
    opened = {one.name: libraries.open(one) for one in libraries.list_all() if one.name != "c"}
    with opened["a"].lease() as serving:
        opened["b"].ready()
        live = libraries.open(libraries.find("c"))
        assert [opened["a"].is_open, opened["b"].is_open, live.is_open] == [False, True, True]
        assert serving.index.store.get("1")  # what is worked on stays open
    assert len(loads) == 1
    assert title(libraries, "a") == "a" and opened["a"].is_open and not opened["b"].is_open
    libraries.close()


def test_a_damaged_library_is_named_and_the_others_serve(folder: Path, make_library: MakeLibrary) -> None:
    for name in ("a", "b", "c", "d"):
        make_library(name)
    (folder / "a" / NAME).write_text("{")
    next((folder / "b").glob("v*/store.sqlite")).unlink()
    (folder / "c" / "library.json").write_text('{"id": 3}')
    libraries = fake_libraries(folder=folder)
    libraries.load()
    assert (libraries.failure, libraries.find().name, title(libraries)) == ("", "d", "d")
    assert ["damaged" in one.damaged or "cannot be read" in one.damaged for one in libraries.list_all()] == [
        True,
        True,
        True,
        False,
    ]
    for name in "abc":
        with pytest.raises(IndexUnusable):
            libraries.open(libraries.find(name))
    libraries.close()


def test_a_copy_of_a_library_does_not_share_its_id(folder: Path, make_library: MakeLibrary) -> None:
    shutil.copytree(make_library("a"), folder / "b")
    libraries = fake_libraries(folder=folder)
    one, copy = libraries.list_all()
    assert one.id != copy.id and not one.damaged and "is a copy of" in copy.damaged
    with pytest.raises(IndexUnusable, match="make it one of its own"):
        libraries.open(copy)
    (folder / "b" / "library.json").unlink()
    assert [bool(one.damaged) for one in libraries.list_all()] == [False, False]
    libraries.close()


def test_two_of_one_name_are_told_apart_by_id_and_a_key_sees_only_its_own(folder: Path, make_library: MakeLibrary) -> None:
    for name, keys in (("a", ("ann",)), ("b", ()), ("c", ("bob",))):
        file = read_library_file(make_library(name))
        assert file
        LibraryFile(file.id, "Same", keys=keys).write(folder / name)
    libraries = fake_libraries(folder=folder)
    with pytest.raises(BadInput, match="There are 2 libraries called “Same”"):
        libraries.find("Same", "ann")
    assert [len(libraries.list_all(who)) for who in (None, "ann", "eve", "")] == [3, 2, 1, 1]
    hidden = next(one.id for one in libraries.list_all() if one.keys == ("ann",))
    said = []
    for asked in (hidden, "0123456789ab"):
        with pytest.raises(NoSuchLibrary) as caught:
            libraries.find(asked, "bob")
        said.append(str(caught.value).replace(asked, "ID"))
    assert said[0] == said[1]


def test_an_index_named_alone_comes_first_and_its_failure_stops_no_other(
    tmp_path: Path, folder: Path, make_library: MakeLibrary
) -> None:
    alone = make_library("alone").rename(tmp_path / "alone")
    make_library("a")
    libraries = fake_libraries(alone, folder)
    assert names(libraries) == ["alone", "a"] and libraries.find().name == "alone"
    libraries = fake_libraries(tmp_path / "nowhere", folder)
    libraries.load()
    assert libraries.failure == "" and title(libraries, "a") == "a"
    with pytest.raises(CounterpointError, match="There is no index"):
        libraries.open(libraries.find())
    alone_and_away = fake_libraries(tmp_path / "nowhere")
    alone_and_away.load()
    with pytest.raises(NotReady, match="There is no index"):
        alone_and_away.check_ready()
    libraries.close()


def test_the_models_are_loaded_when_the_first_library_comes(folder: Path, make_library: MakeLibrary) -> None:
    libraries = fake_libraries(folder=folder)
    libraries.load()
    libraries.refresh()
    assert libraries.empty
    make_library("a")
    libraries.refresh()
    assert libraries.check_ready().index.folder.name == "a" and not libraries.empty
    shutil.rmtree(folder / "a")
    libraries.refresh()
    assert libraries.list_all() == []


def test_a_library_on_a_cluster_is_its_file_alone(folder: Path) -> None:
    (folder / "pubmed").mkdir()
    LibraryFile("0123456789ab", address="opensearch://nowhere.invalid:9200/pubmed").write(folder / "pubmed")
    (folder / "wrong").mkdir()
    (folder / "wrong" / "library.json").write_text(json.dumps({"id": "1", "address": "opensearch://a b/c"}))
    libraries = fake_libraries(folder=folder)
    found = libraries.find("pubmed")
    assert (found.id, str(found.place)) == ("0123456789ab", "opensearch:/nowhere.invalid:9200/pubmed")
    assert libraries.at(found.place).id == found.id
    assert "no usable host" in libraries.find("wrong").damaged


@pytest.mark.parametrize("name", ["", " ", "a/b", "a\\b", "a\nb", "a\x00b", "a\u202eb", "x" * 101])
def test_a_name_is_a_name(name: str) -> None:
    with pytest.raises(BadInput, match="A library's name"):
        check_name(name)


def test_a_name_loses_the_space_around_it() -> None:
    assert check_name(" Herz & Gefäße (2026) ") == "Herz & Gefäße (2026)"

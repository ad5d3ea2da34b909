"""Libraries on the command line and in Python: an index by its name or id, and what is remembered for one of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import counterpoint
from counterpoint.retrieval.store.library import LibraryFile, read_library_file
from counterpoint.service.operating.libraries import find_index
from tests.helpers.commands import call, told
from tests.helpers.fakes import make_index


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two libraries, named by the environment; commands run elsewhere."""
    (tmp_path / "libraries").mkdir()
    for name in ("heart", "bones"):
        index = make_index(tmp_path / f"made-{name}", [{"pmid": name, "title": name, "abstract": "Zeta changes pressure."}])
        index.close()
        index.folder.rename(tmp_path / "libraries" / name)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.delenv("COUNTERPOINT_INDEX", raising=False)
    monkeypatch.setenv("COUNTERPOINT_LIBRARIES", str(tmp_path / "libraries"))
    return tmp_path / "libraries"


def found(index: str, **environment: str) -> str:
    result = call("search", "zeta", "--json", *(["--index", index] if index else []), **environment)
    assert result.exit_code == 0, result.output
    return str(json.loads(result.stdout)["hits"][0]["pmid"])


def test_an_index_is_found_by_name_and_id_and_a_path_wins(folder: Path) -> None:
    file = read_library_file(folder / "heart")
    assert file
    assert found("heart") == found(file.id) == found("", COUNTERPOINT_INDEX="heart") == "heart"
    LibraryFile(file.id, "Heart & vessels").write(folder / "heart")
    assert found("Heart & vessels") == "heart"
    assert "There is no index at heart" in told("search", "zeta", "--index", "heart")
    assert find_index(Path("Heart & vessels")) == folder / "heart"
    Path("Heart & vessels").mkdir()
    assert find_index(Path("Heart & vessels")) == Path("Heart & vessels")
    assert "2 libraries called “bones”" in _told_of_two(folder)


def _told_of_two(folder: Path) -> str:
    file = read_library_file(folder / "heart")
    assert file
    LibraryFile(file.id, "bones").write(folder / "heart")
    return told("search", "zeta", "--index", "bones")


def test_a_library_is_updated_by_its_name_and_built_only_at_a_path(folder: Path) -> None:
    Path("more.jsonl").write_text('{"pmid": "2", "title": "New", "abstract": "Zeta."}\n')
    assert call("index", "update", "heart", "more.jsonl", "--no-examples").exit_code == 0
    built = call("index", "build", "more.jsonl", "--out", "heart", "--no-examples")
    assert built.exit_code == 0 and Path("heart/library.json").is_file()
    assert call("index", "info", "bones").exit_code == 0


def test_what_is_remembered_is_listed_for_a_library(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERPOINT_STATE", str(tmp_path / "state"))
    assert call("ground", "Zeta changes pressure.", "--index", "heart").exit_code == 0
    listed = {name: call("history", "--library", name, "--json").stdout for name in ("heart", "bones")}
    file = read_library_file(folder / "heart")
    assert file and json.loads(listed["bones"]) == []
    [entry] = json.loads(listed["heart"])
    assert entry["library"] == file.id and entry["link"].endswith(f"&library={file.id}")
    assert "There is no library “lungs”" in told("saved", "--library", "lungs")


def test_python_opens_a_library_by_its_name(folder: Path) -> None:
    with counterpoint.open("bones", profile="embedded") as opened:
        assert opened.classify("Zeta changes pressure.").kind == "claim"
    with pytest.raises(counterpoint.IndexUnusable, match="There is no index at lungs"):
        counterpoint.open("lungs")

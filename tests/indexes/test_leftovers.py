"""What a build or fetch that fails leaves behind: nothing, or what the same command resumes with; and one sentence."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from counterpoint.indexes.build import build
from counterpoint.indexes.fetch.fetching import fetch_papers
from counterpoint.indexes.fetch.services import PubMed
from counterpoint.indexes.update import merge, update
from counterpoint.retrieval.core.errors import BadInput, CounterpointError, translate_write_errors
from counterpoint.retrieval.store.manifest import read_manifest

GOOD = {"pmid": "1", "title": "Plums", "abstract": "Plums eased it."}


def write(folder: Path, *records: dict[str, Any], name: str = "a.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def list_all(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("out", ["out", "new/folder/out"])
@pytest.mark.parametrize(
    "records",
    [[GOOD, {"pmid": "2"}], [GOOD, GOOD], [GOOD | {"pmid": "x" * 40_000}]],
    ids=["a bad record", "a repeated id", "an id that is too long"],
)
def test_a_build_that_fails_leaves_nothing(tmp_path: Path, out: str, records: list[dict[str, Any]]) -> None:
    source = write(tmp_path, *records)
    before = list_all(tmp_path)
    with pytest.raises(CounterpointError):
        build([source], tmp_path / out)
    assert list_all(tmp_path) == before


def test_an_export_without_abstracts_leaves_nothing(tmp_path: Path) -> None:
    source = tmp_path / "a.ris"
    source.write_text("TY  - JOUR\nTI  - A\nER  - \n")
    with pytest.raises(BadInput, match=r"None of the 1 records in .* has an abstract"):
        build([source], tmp_path / "out")
    assert list_all(tmp_path) == {"a.ris"}


def test_a_failed_overwrite_leaves_the_index_as_it_was(tmp_path: Path) -> None:
    build([write(tmp_path, GOOD)], tmp_path / "out")
    before = list_all(tmp_path)
    with pytest.raises(BadInput):
        build([write(tmp_path, GOOD, {"pmid": "2"})], tmp_path / "out", overwrite=True)
    assert list_all(tmp_path) - {"out/.lock"} == before
    with pytest.raises(BadInput):
        update(tmp_path / "out", [write(tmp_path, GOOD, {"pmid": "2"})])
    assert list_all(tmp_path) - {"out/.lock"} == before
    assert read_manifest(tmp_path / "out").version == 1


NUMBERS = [errno.EROFS, errno.ENAMETOOLONG, errno.EACCES]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("act", ["build", "update", "merge", "fetch"])
def test_every_error_of_a_folder_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str, number: int) -> None:
    source, out = write(tmp_path, GOOD), tmp_path / "index"
    build([source], out)
    before = list_all(tmp_path)

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    acts: dict[str, Callable[[], object]] = {
        "build": lambda: build([source], tmp_path / "other"),
        "update": lambda: update(out, [source]),
        "merge": lambda: merge(out),
        "fetch": lambda: fetch_papers(PubMed("http://127.0.0.1:9"), "zinc", tmp_path / "papers", 5, lambda _: None),
    }
    with monkeypatch.context() as patch:
        patch.setattr(os, "mkdir", fail)
        patch.setattr(os, "link", fail)
        with pytest.raises(BadInput, match=f"^Cannot write .*{os.strerror(number)}; choose a writable location"):
            acts[act]()
    assert list_all(tmp_path) - {"index/.lock"} == before


def test_a_connection_is_no_file(tmp_path: Path) -> None:
    for error in (ConnectionResetError(errno.ECONNRESET, "reset"), TimeoutError(errno.ETIMEDOUT, "late")):
        with pytest.raises(type(error)), translate_write_errors("the run", tmp_path):
            raise error

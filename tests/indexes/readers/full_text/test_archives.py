"""Whole papers in archives and folders: each is read, and what cannot be read is told in a sentence."""

from __future__ import annotations

import gzip
import tarfile
import zipfile
from pathlib import Path

import pytest

from counterpoint.indexes.readers.full_text import archives, read_full_texts
from counterpoint.retrieval.core.errors import BadRecord
from tests.helpers.full_texts import write_jats


def write(folder: Path, name: str) -> Path:
    return write_jats(folder / name, f"On {name}", {"Results": ["Zinc helped."]}, pmid="1")


def read(path: Path) -> tuple[list[str], list[str]]:
    """The sources of the papers read, and what is said of the others."""
    bad: list[BadRecord] = []
    return [one.source for one in read_full_texts(path, bad.append)], [str(one) for one in bad]


def test_a_folder_of_files_packages_and_archives_is_read_whole(tmp_path: Path) -> None:
    papers, folder = tmp_path / "papers", tmp_path / "folder"
    papers.mkdir()
    folder.mkdir()
    one, two, three = (write(papers, f"{name}.nxml") for name in ("one", "two", "three"))
    (folder / "one.nxml.gz").write_bytes(gzip.compress(one.read_bytes()))
    with tarfile.open(folder / "package.tar.gz", "w:gz") as package:
        package.add(two, "PMC2/two.nxml")
        package.add(__file__, "PMC2/picture.jpg")
    with zipfile.ZipFile(folder / "some.zip", "w") as archive:
        archive.write(three, "three.nxml")
    (folder / "paper.pdf").write_bytes(b"%PDF-1.7")
    found, bad = read(folder)
    assert [name.removeprefix(f"{folder}/") for name in found] == [
        "one.nxml.gz",
        "package.tar.gz!/PMC2/two.nxml",
        "some.zip!/three.nxml",
    ]
    assert len(bad) == 1 and "paper.pdf" in bad[0] and "is damaged: it cannot be read as PDF" in bad[0]


def test_an_archive_that_is_cut_off_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    paper = write(tmp_path, "whole.nxml")
    with tarfile.open(tmp_path / "cut.tar.gz", "w:gz") as package:
        package.add(paper)
    whole = (tmp_path / "cut.tar.gz").read_bytes()
    (tmp_path / "cut.tar.gz").write_bytes(whole[: len(whole) // 2])
    found, bad = read(tmp_path)
    assert found == ["whole.nxml"]
    assert len(bad) == 1 and "cut off or damaged" in bad[0]


def test_an_archive_that_unpacks_without_end_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "ALLOWED", 1_000_000)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros.xml", b"0" * 3_000_000)
    found, bad = read(tmp_path / "bomb.zip")
    assert not found and "unpacks to over 200 times its size" in bad[0]

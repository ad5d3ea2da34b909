"""Whole papers from files and folders: what cannot be read is named, once for each, and the rest is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterpoint.indexes.readers.full_text import read_full_texts, reading
from counterpoint.retrieval.core.errors import BadInput

WHOLE = "<article><front><article-meta/></front><body><p>Tea helped.</p></body></article>"


def read(path: Path) -> tuple[list[str], list[str]]:
    faults: list[str] = []
    texts = [text.source for text in read_full_texts(path, lambda fault: faults.append(str(fault)))]
    return texts, faults


def test_a_folder_is_read_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "PMC2").mkdir()
    (tmp_path / "PMC2" / "b.nxml").write_text(WHOLE)
    (tmp_path / "a.xml").write_text("<article><front><article-meta/></front></article>")
    (tmp_path / "c.xml").write_text(WHOLE[:-20])
    (tmp_path / "d.xml").write_text(f"<set>{WHOLE * 3}</set>")
    (tmp_path / "e.xml").write_text("<html/>")
    texts, faults = read(tmp_path)
    assert texts == ["b.nxml", "d.xml", "d.xml", "d.xml"]
    assert [fault.removeprefix(f"{tmp_path}/")[:6] for fault in faults] == ["a.xml,", "c.xml,", "e.xml,"]
    assert "without a body" in faults[0] and "it may be cut off" in faults[1] and "got <html>" in faults[2]


def test_a_fault_that_nobody_foresaw_costs_one_article(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.xml").write_text(WHOLE)
    monkeypatch.setattr(reading, "read_article", lambda *_: [][0])
    assert [fault.partition(": ")[2][:40] for fault in read(tmp_path)[1]] == ["expected a record that can be read, foun"]


def test_a_folder_without_papers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="contains no full text"):
        read(tmp_path)

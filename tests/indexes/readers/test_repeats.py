"""Which records of exports are one paper: by PMID, or by DOI and title; a supplement's papers stay apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterpoint.indexes import sources
from counterpoint.indexes.build import build
from counterpoint.indexes.readers.exports.entry import is_same
from counterpoint.indexes.sources import BuildReport
from counterpoint.indexes.update import update
from counterpoint.retrieval.core.values import Document
from counterpoint.retrieval.index import Index

PLUMS, FIGS = "Plums eased constipation in adults.", "Figs eased nothing in children."


def record(title: str, abstract: str, doi: str = "10.5555/s1", pmid: str = "") -> str:
    ids = f"DO  - {doi}\n" * bool(doi) + f"N1  - PMID: {pmid}\n" * bool(pmid)
    return f"TY  - JOUR\nTI  - {title}\nPY  - 2019\n{ids}AB  - {abstract}\nER  - \n"


def write(folder: Path, *records: str, name: str = "a.ris") -> Path:
    path = folder / name
    path.write_text("".join(records), "utf-8")
    return path


def titles(folder: Path) -> dict[str, str]:
    """The titles in an index by their ids."""
    store = Index(folder).store
    return {pmid: title for batch in store.texts(100) for pmid, title, _ in batch}


def count(report: BuildReport) -> tuple[int, int]:
    """How many documents there are, and how many records repeated one."""
    return report.manifest.counts.documents, sum(source.repeated for source in report.read.sources)


@pytest.mark.parametrize("batch", [1, 2, 1000])
def test_papers_of_a_supplement_share_a_doi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    monkeypatch.setattr(sources, "BATCH", batch)
    path = write(tmp_path, record("Plums", PLUMS), record("Figs", FIGS), record("Pears", "Pears did."), record("Figs.", FIGS))
    report = build([path], tmp_path / "index")
    assert count(report) == (3, 1)
    ids = titles(tmp_path / "index")
    assert sorted(ids.values()) == ["Figs", "Pears", "Plums"] and ids["10.5555/s1"] == "Plums"
    again = update(tmp_path / "index", [path])
    assert count(again) == (3, 1) and titles(tmp_path / "index").keys() == ids.keys()


def test_a_paper_without_a_pmid_and_one_with_it(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        record("Plums", PLUMS, pmid="7"),
        record("PLUMS!", "Other words."),
        record("Figs", FIGS),
        record("Figs", FIGS, pmid="8"),
        record("Pears", "Pears did.", pmid="9"),
    )
    assert count(build([path], tmp_path / "index")) == (3, 2)
    assert titles(tmp_path / "index") == {"7": "Plums", "10.5555/s1": "Figs", "9": "Pears"}


@pytest.mark.parametrize("batch", [1, 1000])
def test_a_repeat_that_was_retracted_marks_the_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    monkeypatch.setattr(sources, "BATCH", batch)
    for doi in ("10.5555/s1", ""):
        plain, marked = record("Plums", PLUMS, doi), record("RETRACTED: Plums", PLUMS, doi)
        for number, records in enumerate([(plain, marked), (marked, plain), (plain, marked, plain)]):
            out = tmp_path / f"index-{number}{doi[:2]}"
            report = build([write(tmp_path, *records)], out)
            assert count(report) == (1, len(records) - 1)
            assert report.manifest.counts.retracted == 1


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Plums and constipation", "PLUMS and Constipation.", True),
        ("Plums and constipation: a trial", "Plums and constipation", True),
        ("[Plums and constipation].", "Plums and constipation", True),
        ("RETRACTED: Plums and constipation", "Plums and constipation", True),
        ("", "Plums and constipation", True),
        ("Plums and constipation", "Figs and constipation", False),
        ("Abstract 1", "Abstract 12", False),
        ("Plums and constipation", "Plums and constipation in children", False),
    ],
)
def test_titles_of_one_paper_and_of_two(one: str, other: str, same: bool) -> None:
    first, second = Document("1", one, PLUMS, doi="d"), Document("2", other, FIGS, doi="d")
    assert is_same(first, second) is is_same(second, first) is same

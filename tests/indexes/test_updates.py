"""Updates in place: a file of changes each, merged now and then, and always the index that a fresh build would be."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from counterpoint.indexes import update as updating
from counterpoint.indexes.build import build
from counterpoint.indexes.update import find_first, merge, update
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.store.documents import list_changes
from counterpoint.retrieval.store.manifest import FORMAT, STORE, read_manifest
from counterpoint.service.cli.commands import app
from tests.helpers.pubmed_files import article, deletion, write_xml

ROOT = Path(__file__).parents[2]
WORDS = "heart pain zinc iron sleep fever aspirin no not effect on the of study risk".split()
QUERIES = ("heart", "not", "no effect on pain", "zinc zinc", "aspirin heart pain sleep fever zinc iron")
Record = tuple[str, int, str]
"""A text, the PubMed version, the PMID that it retracts or ""."""


def write(path: Path, records: dict[str, Record], deleted: Sequence[str] = ()) -> Path:
    articles = [
        article(pmid, text, version, ("RetractionOf", target) if target else None)
        for pmid, (text, version, target) in records.items()
    ]
    return write_xml(path, *articles, deletion(*deleted) if deleted else "")


def draw(chance: random.Random, pmids: range, version: int) -> dict[str, Record]:
    """Random records; one in five says of another document that it is retracted."""
    return {
        str(pmid): (
            " ".join(chance.choices(WORDS, k=chance.randint(3, 30))) + ".",
            version,
            str(chance.randrange(60)) if chance.random() < 0.2 else "",
        )
        for pmid in pmids
    }


def assert_same(one: Path, other: Path) -> None:
    """Two indexes hold the same documents with the same marks."""
    first, second = Index(one), Index(other)
    assert first.manifest.corpus_sha256 == second.manifest.corpus_sha256
    assert (first.manifest.counts, first.manifest.id) == (second.manifest.counts, second.manifest.id)
    texts = [row for batch in first.store.texts(7) for row in batch]
    assert texts == [row for batch in second.store.texts(1000) for row in batch]
    pmids = [pmid for pmid, _, _ in texts]
    for mine, yours in zip(first.entries(pmids), second.entries(pmids), strict=True):
        assert (mine.document, mine.sentences()) == (yours.document, yours.sentences())
    assert first.store.holds([str(pmid) for pmid in range(200)]) == set(pmids)
    assert {entry.pmid for entry in first.store.sample(10)} <= set(pmids)
    for query in QUERIES:
        ours, theirs = first.search(query, 1000), second.search(query, 1000)
        assert {hit.pmid for hit in ours} == {hit.pmid for hit in theirs}


def assert_ranked_alike(one: Path, other: Path) -> None:
    first, second = Index(one), Index(other)
    for query in QUERIES:
        ours, theirs = first.search(query, 1000), second.search(query, 1000)
        assert [hit.pmid for hit in ours] == [hit.pmid for hit in theirs]
        assert [hit.score for hit in ours] == pytest.approx([hit.score for hit in theirs], abs=1e-4)
        assert theirs


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small indexes are updated as large ones are: nothing is merged before there are too many files."""
    monkeypatch.setattr(updating, "_SHARE", 0)
    monkeypatch.setattr(updating, "_QUICK", 0)


@pytest.mark.usefixtures("large")
def test_updates_make_the_index_that_a_fresh_build_would_be(tmp_path: Path) -> None:
    chance, out = random.Random(19), tmp_path / "out"
    final = draw(chance, range(60), 1)
    build([write(tmp_path / "base.xml", final)], out)
    store = (out / read_manifest(out).data / STORE).stat().st_ino
    counts = []
    for number in range(2, 8):
        first = chance.randrange(60)
        news, gone = draw(chance, range(first, first + 12), number), [str(chance.randrange(80)) for _ in range(4)]
        report = update(out, [write(tmp_path / f"{number}.xml", news, gone)])
        final = {pmid: record for pmid, record in (final | news).items() if pmid not in gone}
        fresh = tmp_path / f"fresh{number}"
        build([write(tmp_path / "all.xml", final)], fresh)
        assert_same(out, fresh)
        data = out / report.manifest.data
        assert (report.manifest.format, (data / STORE).stat().st_ino) == (FORMAT, store), "the documents are never copied"
        counts.append(len(list_changes(data / STORE)))
    assert counts == [1, 2, 3, 4, 4, 4]
    held = [pmid for pmid, (text, *_) in final.items() if "zinc" in text]
    assert sorted(Index(out).vocabulary.find_documents("zinc", 100)) == sorted(held), "the replaced are in Lucene still"
    merged = merge(out)
    assert (merged.format, list_changes(out / merged.data / STORE)) == (FORMAT, [])
    assert_same(out, fresh)
    assert_ranked_alike(out, fresh)
    # What a merge leaves is updated as any other index: it still knows who retracts whom.
    update(out, [write(tmp_path / "last.xml", {}, [next(p for p, (_, _, target) in final.items() if target in final)])])
    assert Index(out).manifest.counts.retracted <= merged.counts.retracted


def test_a_small_index_ranks_as_a_fresh_build_after_every_update(tmp_path: Path) -> None:
    chance, out = random.Random(8), tmp_path / "out"
    old, new = draw(chance, range(80), 1), draw(chance, range(70, 95), 2)
    build([write(tmp_path / "base.xml", old)], out)
    update(out, [write(tmp_path / "new.xml", new, ["3"])])
    final = {pmid: record for pmid, record in (old | new).items() if pmid != "3"}
    build([write(tmp_path / "all.xml", final)], tmp_path / "fresh")
    assert_same(out, tmp_path / "fresh")
    assert_ranked_alike(out, tmp_path / "fresh")


KILLED = [
    "counterpoint.indexes.writer.StoreWriter.write",
    "counterpoint.indexes.update._fold",
    "counterpoint.retrieval.store.manifest.write_atomically",
]


@pytest.mark.parametrize("where", KILLED)
def test_an_update_that_is_killed_leaves_the_index_as_it_was_and_can_be_repeated(tmp_path: Path, where: str) -> None:
    chance, out = random.Random(5), tmp_path / "out"
    build([write(tmp_path / "base.xml", draw(chance, range(60), 1))], out)
    shutil.copytree(out, tmp_path / "other")
    news = write(tmp_path / "b.xml", draw(chance, range(20, 70), 2), ["3"])
    child = f"""
import os, signal, pathlib
def kill(*_, **__): os.kill(os.getpid(), signal.SIGKILL)
import counterpoint.indexes.writer, counterpoint.indexes.update, counterpoint.retrieval.store.manifest
{where} = kill
from counterpoint.indexes.update import update
update(pathlib.Path({str(out)!r}), [pathlib.Path({str(news)!r})])
"""
    done = subprocess.run([sys.executable, "-c", child], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert_same(out, tmp_path / "other")
    assert (read_manifest(out).version, os.path.exists(out / "v0002")) == (1, True)
    for folder in (out, tmp_path / "other"):
        update(folder, [news])
    assert_same(out, tmp_path / "other")
    assert_ranked_alike(out, tmp_path / "other")


@pytest.mark.parametrize(
    ("sizes", "first"),
    [
        ([100], 0),
        ([100, 10, 4], 2),
        ([100, 10, 5], 1),
        ([80, 30, 10, 5], 0),
        ([1000, 300, 100, 33, 11, 1], 4),
    ],
)
def test_files_are_merged_with_those_after_them_that_are_about_as_large(sizes: list[int], first: int) -> None:
    assert find_first(sizes) == first


def test_a_version_that_was_just_replaced_stays_however_fast_updates_follow(tmp_path: Path) -> None:
    chance, out = random.Random(4), tmp_path / "out"
    build([write(tmp_path / "base.xml", draw(chance, range(30), 1))], out)
    reader = Index(out)
    found = [hit.pmid for hit in reader.search("zinc", 100)]
    for number in range(2, 5):
        update(out, [write(tmp_path / "b.xml", draw(chance, range(30), number))])
    opened: list[list[str]] = []
    late = threading.Thread(target=lambda: opened.append([entry.pmid for entry in reader.entries(found)]))
    late.start()
    late.join()
    assert opened == [found], "a thread that first reads now finds the files of its version"
    long_ago = time.time() - 3600
    for version in out.glob("v*"):
        os.utime(version, (long_ago, long_ago))
    update(out, [write(tmp_path / "b.xml", draw(chance, range(30), 5))])
    assert sorted(version.name for version in out.glob("v*")) == ["v0004", "v0005"]


def test_an_index_is_merged_on_request(tmp_path: Path) -> None:
    out = tmp_path / "out"
    build([write(tmp_path / "base.xml", {"1": ("A study of zinc.", 1, "")})], out)
    done = CliRunner().invoke(app, ["index", "merge", str(out)])
    assert (done.exit_code, done.output) == (0, f"Merged {out}.\n")
    assert Index(out).manifest.version == 2
    assert CliRunner().invoke(app, ["index", "merge", str(tmp_path / "none")]).exit_code == 2

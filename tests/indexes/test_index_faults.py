"""Whole or not at all, and one clear sentence for everything that can go wrong with an index."""

from __future__ import annotations

import errno
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from counterpoint.indexes import sources, writer
from counterpoint.indexes.build import build
from counterpoint.indexes.plan import MOST_PAPERS
from counterpoint.indexes.update import update
from counterpoint.indexes.writer import LuceneWriter
from counterpoint.retrieval.core.errors import BadConfig, BadInput, IndexUnusable, OutOfSpace
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.store.documents import Store
from counterpoint.retrieval.store.manifest import read_manifest, write_atomically
from counterpoint.service.cli.commands import app
from tests.helpers.commands import call, told
from tests.helpers.full_texts import write_jats
from tests.helpers.pubmed_files import deletion, write_xml

ROOT = Path(__file__).parents[2]
WriteCorpus = Callable[..., Path]


def pmids(index: Index, query: str) -> list[str]:
    return [hit.pmid for hit in index.search(query, 100)]


@pytest.fixture
def corpus(write_corpus: WriteCorpus) -> Path:
    return write_corpus(*(f"Study {n} found no effect of zinc." for n in range(12)))


@pytest.fixture
def by_twos(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "BATCH", 2)


@pytest.fixture
def annotated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The PMIDs whose texts were split and scanned, in order."""
    seen: list[str] = []
    inner = writer.annotate

    def counting(document: Any, cue_ids: dict[str, int]) -> Any:
        seen.append(document.pmid)
        return inner(document, cue_ids)

    monkeypatch.setattr(writer, "annotate", counting)
    return seen


def during_batch(monkeypatch: pytest.MonkeyPatch, number: int, act: Callable[[], object]) -> None:
    """Let `act` happen while batch `number` is about to be written."""
    inner, calls = writer.StoreWriter.write, iter(range(1, 1000))

    def write(self: writer.StoreWriter, *args: Any, **named: Any) -> writer.Change:
        if next(calls) == number:
            act()
        return inner(self, *args, **named)

    monkeypatch.setattr(writer.StoreWriter, "write", write)


# --- whole or not at all


@pytest.mark.usefixtures("by_twos")
@pytest.mark.parametrize(
    ("where", "kept"),
    [("counterpoint.indexes.writer.StoreWriter.summary", 12), ("counterpoint.indexes.writer.StoreWriter.repeats_done", 0)],
    ids=["at the end", "at the start"],
)
def test_a_killed_build_leaves_nothing_and_goes_on(
    corpus: Path, tmp_path: Path, annotated: list[str], where: str, kept: int
) -> None:
    out = tmp_path / "out"
    child = f"""
import os, signal, pathlib, counterpoint.indexes.writer
def kill(*_): os.kill(os.getpid(), signal.SIGKILL)
{where} = kill
from counterpoint.indexes.build import build
build([pathlib.Path({str(corpus)!r})], pathlib.Path({str(out)!r}))
"""
    done = subprocess.run([sys.executable, "-c", child], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not out.exists()
    assert "is not finished" in told("index", "info", out)
    manifest = build([corpus], out).manifest
    assert annotated == [str(n) for n in range(1, 13)][kept:]
    undisturbed = build([corpus], tmp_path / "other").manifest
    assert (manifest.corpus_sha256, manifest.counts) == (undisturbed.corpus_sha256, undisturbed.counts)
    assert Index(out).search("no zinc", 20) == Index(tmp_path / "other").search("no zinc", 20)
    assert not list(tmp_path.glob(".out*"))


@pytest.mark.usefixtures("by_twos")
def test_a_build_that_was_cut_short_does_not_redo_what_it_has(
    corpus: Path, tmp_path: Path, annotated: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        during_batch(patch, 4, lambda: signal.raise_signal(signal.SIGINT))
        stopped = told("index", "build", corpus, "--out", tmp_path / "out")
    assert stopped == (
        "Stopped before the index was complete; what was read so far is saved, and the same command resumes from there."
    )
    assert not (tmp_path / "out").exists()
    assert annotated == [str(n) for n in range(1, 7)]
    annotated.clear()
    build([corpus], tmp_path / "out")
    assert annotated == [str(n) for n in range(7, 13)]
    assert len(pmids(Index(tmp_path / "out"), "zinc")) == 12


@pytest.mark.usefixtures("by_twos")
def test_other_sources_do_not_go_on_with_an_unfinished_build(
    corpus: Path, write_corpus: WriteCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        during_batch(patch, 4, lambda: signal.raise_signal(signal.SIGINT))
        told("index", "build", corpus, "--out", tmp_path / "out")
    build([write_corpus("Iron alone.", name="other.jsonl")], tmp_path / "out")
    assert (pmids(Index(tmp_path / "out"), "zinc"), pmids(Index(tmp_path / "out"), "iron")) == ([], ["1"])


@pytest.mark.parametrize("what", ["build", "update"])
def test_two_writers_of_one_index_are_not_let_at_once(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    said: list[str] = []
    out = tmp_path / "out"
    if what == "update":
        build([corpus], out)
    other = ["index", "build", corpus, "--out", out] if what == "build" else ["index", "update", out, corpus]
    during_batch(monkeypatch, 1, lambda: said.append(told(*other)))
    build([corpus], out) if what == "build" else update(out, [corpus])
    assert "Another build or update is running" in said[0]
    assert read_manifest(out).version == (1 if what == "build" else 2)
    assert len(pmids(Index(out), "zinc")) == 12


def test_a_format_that_is_none_is_told_before_anything_is_written(corpus: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["index", "build", str(corpus), "--format", "nope", "--out", str(tmp_path / "built")])
    assert result.exit_code == 2
    assert "'nope' is not a document format: expected auto, pyserini" in " ".join(result.output.split())
    assert not (tmp_path / "built").exists()


def test_a_folder_that_is_no_index_is_never_overwritten(corpus: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "manifest.json").write_text("{}")
    (tmp_path / "file").write_text("mine")
    for target in (site, tmp_path / "file"):
        assert "is not an index, so it is not overwritten" in told("index", "build", corpus, "--out", target, "--overwrite")
    assert ((site / "manifest.json").read_text(), (tmp_path / "file").read_text()) == ("{}", "mine")


def test_a_damaged_index_can_be_overwritten(corpus: Path, tmp_path: Path) -> None:
    build([corpus], tmp_path / "out")
    (tmp_path / "out" / "manifest.json").write_text("{")
    build([corpus], tmp_path / "out", overwrite=True)
    assert len(pmids(Index(tmp_path / "out"), "zinc")) == 12


# --- a full disk


@pytest.fixture
def bulky(write_corpus: WriteCorpus) -> Path:
    """A megabyte and more of documents, every word of them new to Lucene."""
    return write_corpus(*(" ".join(f"w{n}x{i}" for i in range(80)) + " zinc" for n in range(1500)), name="bulky.jsonl")


@pytest.fixture
def few_pages(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """SQLite finds the disk full after a few pages, for any user; undone, there is room again."""
    inner = writer.StoreWriter.__init__

    def limited(self: writer.StoreWriter, *args: Any) -> None:
        inner(self, *args)
        self._db.execute("PRAGMA max_page_count = 20")

    monkeypatch.setattr(writer.StoreWriter, "__init__", limited)
    return monkeypatch


def test_a_store_that_cannot_grow_is_a_full_disk(
    few_pages: pytest.MonkeyPatch, bulky: Path, corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert "free some space and run the same command again" in told("index", "build", bulky, "--out", out)
    assert not out.exists()
    few_pages.undo()
    assert build([bulky], out).manifest.counts.documents == 1500


class FullIndexer:
    """Pyserini's indexer on a full disk: it takes fewer documents than it is given, and says so nowhere else."""

    def __init__(self, cause: str | None) -> None:
        self.writer, self.cause = self, cause

    def addRawDocuments(self, batch: list[str]) -> int:  # noqa: N802 (Java's name)
        return len(batch) - 1

    def getTragicException(self) -> FullIndexer | None:  # noqa: N802
        return self if self.cause else None

    def toString(self) -> str:  # noqa: N802
        return self.cause or ""

    def getCause(self) -> None:  # noqa: N802
        return None

    def rollback(self) -> None:
        pass


@pytest.mark.parametrize(
    ("cause", "error", "says"),
    [
        ("java.io.IOException: No space left on device", OutOfSpace, "is full while writing the index"),
        ("java.lang.OutOfMemoryError: Java heap space", BadConfig, "COUNTERPOINT_JVM_HEAP=2g"),
        (None, BadInput, "took only 11 of the 12 documents"),
    ],
)
def test_documents_that_lucene_leaves_out_are_never_passed_over(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cause: str | None, error: type[Exception], says: str
) -> None:
    def faulty(self: LuceneWriter) -> None:
        self._indexer = self._writer = FullIndexer(cause)

    with monkeypatch.context() as patch:
        patch.setattr(LuceneWriter, "_open", faulty)
        with pytest.raises(error, match=says):
            build([corpus], tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert build([corpus], tmp_path / "out").manifest.counts.documents == 12


def test_a_text_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_atomically(path, "old")
    assert path.stat().st_mode & 0o777 == 0o666 & ~os.umask(os.umask(0o022))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


# --- opening


def edit(**changes: object) -> Callable[[Path], None]:
    """Change keys of a manifest; None takes one out."""

    def apply(folder: Path) -> None:
        path = folder / "manifest.json"
        data = json.loads(path.read_text()) | changes
        path.write_text(json.dumps({key: value for key, value in data.items() if value is not None}))

    return apply


def overwrite(name: str, content: str | bytes | Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        [path] = folder.glob(name)
        old = path.read_bytes()
        path.write_bytes(content(old) if callable(content) else content.encode() if isinstance(content, str) else content)

    return apply


def empty(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def replace_by_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("")


def remove(name: str) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        [path] = folder.glob(name)
        path.unlink()

    return apply


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (shutil.rmtree, "There is no index at"),
    "empty": (empty, "is empty; build one"),
    "a file": (replace_by_file, "is a file, and an index is a folder"),
    "no manifest": (remove("manifest.json"), "is not an index (it has no manifest.json)"),
    "manifest truncated": (overwrite("manifest.json", lambda old: old[:200]), "its manifest.json cannot be read"),
    "manifest no JSON": (overwrite("manifest.json", "hello"), "its manifest.json cannot be read"),
    "manifest too deep": (overwrite("manifest.json", "[" * 100_000), "its manifest.json cannot be read"),
    "other format": (edit(format=99), "has format 99 and this Counterpoint reads formats 4 and 5"),
    "older format": (edit(format=1), "has format 1 and this Counterpoint reads formats 4 and 5; build it again"),
    "lacks counts": (edit(counts=None), "has missing or wrong entries"),
    "data a number": (edit(data=1), "has missing or wrong entries"),
    "no files": (edit(files={}), "has missing or wrong entries"),
    "store missing": (remove("*/store.sqlite"), "the file v0001/store.sqlite is missing"),
    "store truncated": (overwrite("*/store.sqlite", lambda old: old[:-100]), "v0001/store.sqlite has"),
    "Lucene file missing": (remove("*/lucene/segments_*"), "is missing"),
    "Lucene file truncated": (overwrite("*/lucene/*.fdt", lambda old: old[:-1]), "bytes and should have"),
}  # fmt: skip


@pytest.mark.parametrize("damage", BROKEN)
def test_an_index_that_cannot_be_used_says_why_in_one_sentence(demo_folder: Path, tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "index"
    shutil.copytree(demo_folder, folder)
    break_it, says = BROKEN[damage]
    break_it(folder)
    with pytest.raises(IndexUnusable) as caught:
        Index(folder)
    assert says in str(caught.value)
    assert str(folder) in str(caught.value)
    assert told("index", "info", folder) == str(caught.value)
    assert told("index", "update", folder, ROOT / "indexes" / "demo" / "corpus.jsonl") == str(caught.value)


def noise(old: bytes) -> bytes:
    return b"\x5a" * len(old)


@pytest.mark.parametrize("name", ["*/store.sqlite", "*/lucene/segments_*", "*/lucene/*.si", "*/lucene/*.fdt"])
def test_garbage_of_the_right_size_is_told_when_it_is_opened(demo_folder: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(demo_folder, tmp_path / "index")
    overwrite(name, noise)(tmp_path / "index")
    with pytest.raises(IndexUnusable, match="damaged"):
        Index(tmp_path / "index")


@pytest.mark.parametrize("column", ["types = '['", "cues = x'0102'", "boundaries = x'01'", "notices = '[[1]]'", "cues = x'{}'"])
def test_a_row_that_sqlite_cannot_fault_is_told_too(demo_folder: Path, tmp_path: Path, column: str) -> None:
    import sqlite3

    shutil.copytree(demo_folder, tmp_path / "index")
    path = tmp_path / "index" / "v0001" / "store.sqlite"
    with sqlite3.connect(path) as db:
        db.execute(f"UPDATE documents SET {column.replace('{}', 'ff' * 16)}")
        [(pmid,)] = db.execute("SELECT pmid FROM documents LIMIT 1")
    entry = Store(path).get(pmid)
    assert entry
    with pytest.raises(IndexUnusable, match=f"Document {pmid} is damaged"):
        print(entry.document, entry.spans, entry.sentences())


def test_a_hit_that_the_store_lacks_is_a_damaged_index(demo_index: Index) -> None:
    with pytest.raises(IndexUnusable, match="is in the Lucene index but not in"):
        list(demo_index.entries(["no-such-id"]))


def test_a_wrong_heap_is_not_blamed_on_the_index(demo_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> None:
        raise BadConfig("COUNTERPOINT_JVM_HEAP should be a size such as 512m or 4g, not 'x'.")

    monkeypatch.setattr("counterpoint.retrieval.bm25.lucene.load_pyserini", refused)
    with pytest.raises(BadConfig, match="not 'x'"):
        Index(demo_folder)


def test_a_query_of_too_many_words_is_the_users_fault(demo_index: Index) -> None:
    with pytest.raises(BadInput, match="more than 8,192 different words"):
        demo_index.search(" ".join(f"w{n}" for n in range(9000)), 10)
    assert demo_index.search("heart", 1)


# --- bad sources


def truncated(path: Path) -> None:
    whole = gzip.compress(b"<PubmedArticleSet>" + os.urandom(4000).hex().encode())
    path.write_bytes(whole[: len(whole) // 2])


GOOD = b'{"pmid": "1", "title": "", "abstract": "Zinc."}'
BAD_SOURCES: dict[str, tuple[str, bytes | None, str]] = {
    "no JSON": ("a.jsonl", GOOD + b"\nhello\n", "line 2: "),
    "no id": ("a.jsonl", GOOD + b'\n{"title": "", "abstract": ""}\n', "line 2: "),
    "repeated id": ("a.jsonl", GOOD + b"\n" + GOOD + b"\n", "record 2 (id 1): this id is repeated"),
    "truncated gzip": ("a.xml.gz", None, "cut off, so fetch it again"),
    "no document": ("a.xml", b"<PubmedArticleSet/>", "There is no document in"),
    "only deletions": ("a.xml", b"<PubmedArticleSet><DeleteCitation><PMID>1</PMID></DeleteCitation></PubmedArticleSet>",
                       "There is no document in"),
    "blank": ("a.jsonl", b"\n\n", "is empty"),
    "missing": ("a.jsonl", b"", "does not exist"),
}  # fmt: skip


@pytest.mark.parametrize("fault", BAD_SOURCES)
def test_a_bad_source_is_named_and_nothing_is_built(tmp_path: Path, fault: str) -> None:
    name, content, says = BAD_SOURCES[fault]
    source = tmp_path / name
    if content is None:
        truncated(source)
    elif content:
        source.write_bytes(content)
    message = told("index", "build", source, "--out", tmp_path / "out")
    assert says in message
    assert str(source) in message
    assert not (tmp_path / "out").exists()


def test_bad_records_within_the_limit_are_counted_and_listed(write_corpus: WriteCorpus, tmp_path: Path) -> None:
    path = write_corpus(GOOD, b"hello", GOOD, b'{"pmid": "2", "title": "", "abstract": "Iron."}')
    command = ["index", "build", str(path), "--out", str(tmp_path / "out"), "--skip-bad"]
    assert "More than 1 bad records" in told(*command, 1)
    result = CliRunner().invoke(app, [*command, "2"])
    assert result.exit_code == 0, result.output
    assert "Skipped 2 bad records:" in result.output
    assert f"{path}, line 2: " in result.output
    assert f"{path}, record 2 (id 1): this id is repeated" in result.output
    assert "Built" in result.output
    assert read_manifest(tmp_path / "out").counts.documents == 2
    as_json = CliRunner().invoke(app, ["index", "info", str(tmp_path / "out"), "--json"]).output
    assert json.loads(as_json)["sources"][0]["bad"] == 2


UNREADABLE: dict[str, tuple[bytes, str]] = {
    "b.ris": (b"%PDF-1.4 xx", "b.ris is a PDF"),
    "c.csv": (b"PK\x03\x04zzz", "c.csv is a zip archive"),
    "d.nbib": (b"\0\1\2", "d.nbib is binary"),
    "e.ris": (b"", "e.ris is empty"),
    "f.xml": (b"<a><b>", "f.xml is XML of another kind"),
    "g.xml": (b"<PubmedArticleSet><PubmedArticle>", "g.xml"),
}


def test_files_that_cannot_be_read_are_left_out_and_the_others_come_in(tmp_path: Path, corpus: Path) -> None:
    rows = "".join(json.dumps({"pmid": f"9{n}", "title": f"Eta {n}", "abstract": f"Eta {n}."}) + "\n" for n in range(3000))
    (tmp_path / "cut.gz").write_bytes(gzip.compress(rows.encode())[:9000])
    for name, (content, _) in UNREADABLE.items():
        (tmp_path / name).write_bytes(content)
    files = [str(tmp_path / name) for name in (*UNREADABLE, "cut.gz")]
    out = str(tmp_path / "index")
    assert "b.ris is a PDF" in told("index", "build", *files, str(corpus), "--out", out, "--skip-bad", "100")
    result = call("index", "build", *files, str(corpus), "--out", out, "--skip-bad", "all", "--no-examples")
    assert result.exit_code == 0, result.stderr
    lines = [line for line in result.stderr.splitlines() if line.startswith("Left out: ")]
    for line, said in zip(lines, [*(said for _, said in UNREADABLE.values()), "cut.gz, after line"], strict=True):
        assert said in line
    came = int(lines[-1].rpartition("the ")[2].split()[0].replace(",", ""))
    assert 500 < came < 3000 and f"{came + 12:,} documents" in result.stderr
    manifest = read_manifest(tmp_path / "index")
    assert [(one.records, one.bad) for one in manifest.sources] == [(0, 1)] * len(UNREADABLE) + [(came, 1), (12, 0)]
    # Where there is nothing else, that is a fault, and the index stays as it is.
    assert "the first fault: " in told("index", "update", out, *files[:2], "--skip-bad", "all")
    assert "the first fault: " in told("index", "build", *files[:2], "--out", f"{out}2", "--skip-bad", "all")
    assert read_manifest(tmp_path / "index").version == 1 and not Path(f"{out}2").exists()
    for wrong in ("-1", "some", "1.5"):
        assert "expected a number from 0 on, or all" in told("index", "build", *files, "--out", f"{out}2", "--skip-bad", wrong)


def test_an_index_holds_no_more_than_it_may(tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch, by_twos: None) -> None:
    monkeypatch.setenv(MOST_PAPERS, "11")
    with pytest.raises(sources.TooMany, match="may hold 11 papers, and these are more"):
        build([corpus], tmp_path / "index")
    assert not (tmp_path / "index").exists()
    monkeypatch.setenv(MOST_PAPERS, "12")
    build([corpus], tmp_path / "index")  # goes on where it was
    # The same papers again are no more; one more is.
    update(tmp_path / "index", [corpus])
    more = tmp_path / "more.jsonl"
    more.write_text('{"pmid": "more", "title": "Eta", "abstract": "Eta."}\n')
    with pytest.raises(sources.TooMany):
        update(tmp_path / "index", [more])
    with pytest.raises(sources.TooMany):
        update(tmp_path / "index", [], full_texts=[write_jats(tmp_path / "a.xml", "Theta", {"Results": ["Theta rose."]})])
    assert read_manifest(tmp_path / "index").version == 2
    monkeypatch.setenv(MOST_PAPERS, "5")
    update(tmp_path / "index", [write_xml(tmp_path / "gone.xml", deletion("1", "2"))])

"""The dense part of an index: exact, made once for each text, whole or not at all, and refused in one sentence."""

from __future__ import annotations

import errno
import itertools
import json
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterpoint.indexes import vectors as dense
from counterpoint.indexes.build import build
from counterpoint.indexes.update import update
from counterpoint.indexes.vectors import add_vectors
from counterpoint.retrieval.core.errors import BadConfig, BadInput, IndexUnusable, Interrupted, ModelUnusable, OutOfSpace
from counterpoint.retrieval.core.values import Document
from counterpoint.retrieval.dense.codes import open_codec
from counterpoint.retrieval.dense.encoder import CachingEncoder, Vectors
from counterpoint.retrieval.dense.search import DenseIndex
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.store.manifest import DensePart, read_manifest
from tests.helpers.commands import call, told
from tests.helpers.fake_encoder import WordEncoder

ROOT = Path(__file__).parents[2]
WriteCorpus = Callable[..., Path]
TEXTS = [
    f"Study {n} of zinc {'zinc ' * (n % 4)}and {word}." for n, word in enumerate("pain sleep fever heart iron salt gold".split())
]


@pytest.fixture
def folder(write_corpus: WriteCorpus, tmp_path: Path) -> Path:
    build([write_corpus(*TEXTS)], tmp_path / "out")
    return tmp_path / "out"


@pytest.fixture
def by_twos(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "_BATCH", 2)


def part(folder: Path) -> DensePart:
    found = read_manifest(folder).dense
    assert found is not None
    return found


def ranking(folder: Path, query: str, k: int = 100) -> list[tuple[str, float]]:
    encoder = WordEncoder()
    [hits] = Index(folder).dense(encoder.name).search(encoder.queries([query]), k)
    return [(hit.pmid, hit.score) for hit in hits]


def files(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file of an index's data, with its size and the time it was written."""
    return {str(p.relative_to(folder)): (p.stat().st_size, p.stat().st_mtime_ns) for p in folder.glob("v*/**/*") if p.is_file()}


@pytest.fixture
def word_encoders(monkeypatch: pytest.MonkeyPatch) -> list[WordEncoder]:
    """The command line loads word encoders, and here are those it loaded."""
    loaded: list[WordEncoder] = []

    def load(name: str, profile: Any) -> WordEncoder:
        loaded.append(WordEncoder())
        return loaded[-1]

    monkeypatch.setattr("counterpoint.service.configuration.models.load_encoder", load)
    return loaded


# --- made and searched


def test_the_best_documents_are_those_of_the_highest_inner_product(folder: Path) -> None:
    encoder = WordEncoder()
    add_vectors(folder, encoder)
    vectors = encoder.queries(TEXTS)
    for query in ("zinc", "study of gold", "nothing-like-this zinc"):
        [of_query] = encoder.queries([query])
        expected = sorted(
            ((str(i + 1), float(v @ of_query)) for i, v in enumerate(vectors)), key=lambda pair: (-pair[1], pair[0])
        )
        assert ranking(folder, query) == expected
        best = ranking(folder, query, 3)
        assert [score for _, score in best] == [score for _, score in expected[:3]]
        assert set(best) <= set(expected)
        assert ranking(folder, query, 3) == best


def test_adding_vectors_touches_neither_texts_nor_lucene(folder: Path) -> None:
    before, manifest = files(folder), read_manifest(folder)
    index = Index(folder)
    report = add_vectors(folder, WordEncoder())
    after = files(folder)
    assert {name: of for name, of in after.items() if "/dense/" not in name} == before
    found = read_manifest(folder)
    assert (found.version, found.created, found.id) == (manifest.version, manifest.created, manifest.id)
    assert found.dense == report.part == DensePart("words@1", 256, "Flat", 7, manifest.corpus_sha256, report.part.stem, "full")
    assert {name for name in after if "/dense/" in name} == {f"v0001/{report.part.vectors}", f"v0001/{report.part.ids}"}
    assert not list(folder.glob(".vectors*"))
    # Who has the index open goes on without vectors.
    assert index.search("zinc", 3)
    with pytest.raises(IndexUnusable, match="no vectors"):
        index.dense("words@1")


def test_documents_without_a_word_have_no_vector(write_corpus: WriteCorpus, tmp_path: Path) -> None:
    build([write_corpus("Zinc.", " ", {"pmid": "ä😀", "title": "Zinc zinc", "abstract": ""})], tmp_path / "out")
    report = add_vectors(tmp_path / "out", WordEncoder())
    assert report.part.documents == 2
    assert [pmid for pmid, _ in ranking(tmp_path / "out", "zinc")] == ["ä😀", "1"]
    build([write_corpus(" ")], tmp_path / "empty")
    with pytest.raises(BadInput, match="nothing to encode"):
        add_vectors(tmp_path / "empty", WordEncoder())


def test_equal_texts_are_encoded_once(write_corpus: WriteCorpus, tmp_path: Path) -> None:
    build([write_corpus("Zinc.", "Zinc.", "Iron.")], tmp_path / "out")
    encoder = WordEncoder()
    assert add_vectors(tmp_path / "out", encoder).encoded == len(encoder.given) == 2
    assert ranking(tmp_path / "out", "zinc") == [("1", 1.0), ("2", 1.0), ("3", 0.0)]


def test_other_ways_of_keeping_vectors_are_the_factory_string(folder: Path) -> None:
    encoder = WordEncoder()
    add_vectors(folder, encoder, factory="SQfp16")
    assert part(folder).factory == "SQfp16"
    assert ranking(folder, "gold", 1) == [("7", 1.0)]
    with pytest.raises(BadInput, match=r"has full vectors of words@1 \(SQfp16\); .* with full ones of words@1 \(Flat\)"):
        add_vectors(folder, encoder, factory="Flat")


@pytest.mark.parametrize(
    ("factory", "says"),
    [
        ("Banana", "cannot keep vectors of 256 dimensions as 'Banana'; choose Flat, or"),
        ("HNSW32", "cannot keep"),
        ("PQ8", "cannot keep"),
        ("IVF0,Flat", "cannot keep vectors of 256 dimensions as 'IVF0,Flat'"),
        ("IVF0,SQ8", "cannot keep"),
        ("IVF8,Flat", "7 vectors are too few to train IVF8,Flat on"),
    ],
)
def test_a_factory_string_that_cannot_be_used_is_told(folder: Path, factory: str, says: str) -> None:
    with pytest.raises(BadConfig, match=says):
        add_vectors(folder, WordEncoder(), factory=factory)
    assert read_manifest(folder).dense is None


@pytest.mark.parametrize("factory", ["Flat", "IVF4,SQ8", "RR256,IVF2,RaBitQ4"])
def test_a_search_reads_what_it_compares_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch, factory: str) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr("os.posix_fadvise", lambda _, start, size, __: asked.append((start, size)))
    add_vectors(folder, WordEncoder(), factory=factory)
    data = folder / "v0001"
    index = DenseIndex(data, part(folder))
    file = (data / part(folder).vectors).read_bytes()
    if factory == "IVF4,SQ8":
        [head] = asked
        asked.clear()
        index.search(WordEncoder().queries(["zinc"]), 3)
        faiss_lists = [codes.tobytes() + rows.tobytes() for codes, rows in map(index.read_list, range(4))]
        assert sum(head) + sum(map(len, faiss_lists)) == len(file)
        assert asked, "the lists compared, and none that is empty: no size means the rest of the file"
        assert all(size and file[start : start + size] in faiss_lists for start, size in asked)
    else:
        assert asked == ([(0, len(file))] if factory == "Flat" else [])


@pytest.mark.parametrize("factory", ["IVF4,Flat", "IVF2,SQ8", "RR256,IVF2,RaBitQ4"])
def test_an_inverted_file_is_made_in_parts_and_updated_as_if_made_at_once(
    folder: Path, factory: str, write_corpus: WriteCorpus, by_twos: None
) -> None:
    with pytest.raises(Interrupted):
        add_vectors(folder, Stopped(KeyboardInterrupt()), factory=factory)
    encoder = WordEncoder()
    assert add_vectors(folder, encoder, factory=factory).encoded == 5, "the two of the sample stay"
    news = [{"pmid": pmid, "title": "", "abstract": text} for pmid, text in (("3", "Tin."), ("85", "Lead lead."))]
    update(folder, [write_corpus(*news, name="news.jsonl")])
    assert add_vectors(folder, encoder).encoded == 2
    data, of = folder / "v0002", part(folder)
    dense = DenseIndex(data, of)
    assert dense.ids["pmid"].tolist() == [b"1", b"2", b"3", b"4", b"5", b"6", b"7", b"85"]
    codec = open_codec(data / of.vectors, factory)
    texts = [*TEXTS[:2], "Tin.", *TEXTS[3:], "Lead lead."]
    numbers, codes = codec.split(codec.encode(encoder.queries([f" {text}" for text in texts])))
    for number in range(codec.lists):
        [rows] = np.nonzero(numbers == number)
        assert dense.read_list(number)[1].tolist() == rows.tolist()
        assert np.array_equal(dense.read_list(number)[0], codes[rows])
    if factory == "IVF4,Flat":
        assert ranking(folder, "lead", 1) == [("85", 2.0)], "one list is looked into, the right one"


def test_a_large_index_has_short_views_and_a_compact_index(
    write_corpus: WriteCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"Methods of {'zinc ' * n}. There were {n}. Iron helped {n} men." for n in range(400)]
    build([write_corpus(*texts)], tmp_path / "out")
    monkeypatch.setattr(dense, "LARGE", 400)
    encoder = WordEncoder()
    add_vectors(tmp_path / "out", encoder)
    found = part(tmp_path / "out")
    assert (found.view, found.factory) == ("short", "IVF64,SQ8")
    [hits] = Index(tmp_path / "out").dense(encoder.name).search(encoder.queries(["Iron helped 17 men"]), 3)
    assert hits[0].pmid == "18"
    assert Index(tmp_path / "out").dense(encoder.name).search(encoder.queries(["zinc"]), 1)[0][0].score < 3
    with pytest.raises(BadInput, match=r"has short vectors of words@1 .* with full ones"):
        add_vectors(tmp_path / "out", encoder, view="full")


# --- whole or not at all


@pytest.mark.usefixtures("by_twos")
def test_a_killed_try_keeps_its_batches_and_the_next_goes_on(folder: Path, write_corpus: WriteCorpus, tmp_path: Path) -> None:
    child = f"""
import os, signal, pathlib
from counterpoint.indexes import vectors as dense
from tests.helpers.fake_encoder import WordEncoder
dense._BATCH = 2
class Dying(WordEncoder):
    def documents(self, documents):
        if len(self.given) == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().documents(documents)
dense.add_vectors(pathlib.Path({str(folder)!r}), Dying())
"""
    done = subprocess.run([sys.executable, "-c", child], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert read_manifest(folder).dense is None
    assert Index(folder).search("zinc", 3)
    encoder = WordEncoder()
    assert add_vectors(folder, encoder).encoded == 3
    assert encoder.given == ["5", "6", "7"]
    build([write_corpus(*TEXTS)], tmp_path / "other")
    add_vectors(tmp_path / "other", WordEncoder())
    for name in (part(folder).vectors, part(folder).ids):
        assert (folder / "v0001" / name).read_bytes() == (tmp_path / "other" / "v0001" / name).read_bytes()


class Stopped(WordEncoder):
    """Meets Ctrl-C, or another error, before its second batch."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self._error = error

    def documents(self, documents: Sequence[Document]) -> Vectors:
        if self.given:
            raise self._error
        return super().documents(documents)


@pytest.mark.usefixtures("by_twos")
@pytest.mark.parametrize(
    ("error", "told_as", "says"),
    [
        (KeyboardInterrupt(), Interrupted, "counterpoint index dense .*out` with the same profile resumes from there"),
        (OSError(errno.ENOSPC, "No space left on device"), OutOfSpace, "free some space, and `counterpoint index dense"),
    ],
)
def test_a_stopped_try_says_how_to_go_on_and_goes_on_after_an_update(
    folder: Path, write_corpus: WriteCorpus, error: BaseException, told_as: type[Exception], says: str
) -> None:
    before = (folder / "manifest.json").read_bytes()
    with pytest.raises(told_as, match=says):
        add_vectors(folder, Stopped(error))
    assert (folder / "manifest.json").read_bytes() == before
    update(folder, [write_corpus({"pmid": "1", "title": "", "abstract": "Tin."}, name="news.jsonl")])
    encoder = WordEncoder()
    add_vectors(folder, encoder)
    assert encoder.given == ["1", "3", "4", "5", "6", "7"], "2 was encoded before the update and has not changed"
    assert ranking(folder, "tin", 1) == [("1", 1.0)]


def test_a_disk_that_is_full_at_the_end_leaves_the_old_vectors(
    folder: Path, write_corpus: WriteCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(OutOfSpace, match="full while writing the vectors"):
            add_vectors(folder, WordEncoder())
    assert not list(folder.glob("v*/dense/*"))
    encoder = WordEncoder()
    add_vectors(folder, encoder)
    assert encoder.given == []
    assert ranking(folder, "gold", 1) == [("7", 1.0)]


def test_a_cache_that_cannot_grow_is_a_full_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = dense._connect

    def limited(path: Path) -> sqlite3.Connection:
        db = inner(path)
        db.execute("PRAGMA max_page_count = 4")
        return db

    with monkeypatch.context() as patch:
        patch.setattr(dense, "_connect", limited)
        with pytest.raises(OutOfSpace):
            add_vectors(folder, WordEncoder(width=4096))
    assert add_vectors(folder, WordEncoder(width=4096)).encoded == 7


@pytest.mark.parametrize("left", ["garbage", "another encoder's"])
def test_a_cache_that_is_of_no_use_is_dropped(folder: Path, left: str) -> None:
    if left == "garbage":
        (folder / dense.CACHE).write_bytes(b"\x5a" * 5000)
    else:
        cache = dense.VectorCache(folder, "others@1")
        cache.put([1], np.ones((1, 3), np.uint8))
        cache.close()
    assert add_vectors(folder, WordEncoder()).encoded == 7
    assert not list(folder.glob(f"{dense.CACHE}*"))


def test_two_tries_at_one_index_are_not_let_at_once(folder: Path) -> None:
    said: list[str] = []

    class Nosy(WordEncoder):
        def documents(self, documents: Sequence[Document]) -> Vectors:
            with pytest.raises(BadInput) as caught:
                add_vectors(folder, WordEncoder())
            said.append(str(caught.value))
            return super().documents(documents)

    add_vectors(folder, Nosy())
    assert "Another build or update is running" in said[0]


# --- after an update


def test_an_update_makes_the_vectors_stale_until_what_changed_is_encoded(folder: Path, write_corpus: WriteCorpus) -> None:
    add_vectors(folder, WordEncoder())
    reader = Index(folder)
    opened = reader.dense("words@1")
    same = {"pmid": "2", "title": "", "abstract": TEXTS[1], "journal": "Of Zinc"}
    changed, new = ({"pmid": pmid, "title": "", "abstract": text} for pmid, text in (("3", "Tin."), ("8", "Tin tin.")))
    update(folder, [write_corpus(same, changed, new, name="news.jsonl")])
    with pytest.raises(
        IndexUnusable, match=r"updated after .* update them with `counterpoint index dense .*`, which encodes only"
    ):
        Index(folder).dense("words@1")
    assert "for an earlier version (`counterpoint index dense" in call("index", "info", folder).output
    encoder = WordEncoder()
    assert add_vectors(folder, encoder).encoded == 2
    assert encoder.given == ["3", "8"]
    assert ranking(folder, "tin")[:2] == [("8", 2.0), ("3", 1.0)]
    # Who opened the version before keeps its vectors.
    assert opened.search(encoder.queries(["fever"]), 1)[0][0].pmid == "3"
    assert add_vectors(folder, encoder).encoded == 0


def test_vectors_brought_up_to_date_are_those_made_anew(folder: Path, write_corpus: WriteCorpus, tmp_path: Path) -> None:
    add_vectors(folder, WordEncoder())
    news = [{"pmid": str(n), "title": "New", "abstract": f"Gold {n}."} for n in (2, 9)]
    update(folder, [write_corpus(*news, name="news.jsonl")])
    update(folder, [write_corpus({"pmid": "10", "title": "", "abstract": "Last."}, name="last.jsonl")])
    add_vectors(folder, WordEncoder())
    add_vectors(folder, fresh := WordEncoder(), overwrite=True)
    assert len(fresh.given) == 9
    final = {str(i): ("", text) for i, text in enumerate(TEXTS, 1)}
    final.update({"2": ("New", "Gold 2."), "9": ("New", "Gold 9."), "10": ("", "Last.")})
    documents = [{"pmid": pmid, "title": title, "abstract": text} for pmid, (title, text) in final.items()]
    build([write_corpus(*documents, name="final.jsonl")], tmp_path / "fresh")
    add_vectors(tmp_path / "fresh", WordEncoder())
    assert (folder / "v0003" / part(folder).vectors).read_bytes() == (
        tmp_path / "fresh" / "v0001" / part(tmp_path / "fresh").vectors
    ).read_bytes()


def test_an_update_that_changes_no_text_leaves_the_vectors_fit(folder: Path, write_corpus: WriteCorpus) -> None:
    add_vectors(folder, WordEncoder())
    same = write_corpus({"pmid": "2", "title": "", "abstract": TEXTS[1], "year": 1999}, name="news.jsonl")
    assert "encodes what changed" not in call("index", "update", folder, same).output
    assert ranking(folder, "gold", 1) == [("7", 1.0)]


def test_vectors_that_are_kept_inexactly_stay_as_they_are(folder: Path, write_corpus: WriteCorpus) -> None:
    add_vectors(folder, WordEncoder(), factory="SQfp16")
    update(folder, [write_corpus({"pmid": "8", "title": "", "abstract": "Tin."}, name="news.jsonl")])
    assert add_vectors(folder, WordEncoder()).encoded == 1


# --- what cannot serve


def test_an_index_without_vectors_says_how_to_make_them(folder: Path) -> None:
    with pytest.raises(IndexUnusable, match=re.escape(f"`counterpoint index dense {folder} --profile NAME`")):
        Index(folder).dense("words@1")
    assert f"none (`counterpoint index dense {folder}` makes them)" in call("index", "info", folder).output


def test_vectors_of_another_encoder_are_not_searched_and_not_lost_by_accident(folder: Path) -> None:
    add_vectors(folder, WordEncoder())
    reader = Index(folder).dense("words@1")
    other = WordEncoder("others@2", width=8)
    with pytest.raises(IndexUnusable, match=r"made by words@1, and this search uses others@2; .* --overwrite`"):
        Index(folder).dense(other.name)
    with pytest.raises(BadInput, match=r"has full vectors of words@1 \(Flat\); add --overwrite"):
        add_vectors(folder, other)
    add_vectors(folder, other, overwrite=True)
    assert (part(folder).encoder, part(folder).width) == ("others@2", 8)
    assert len(list(folder.glob("v0001/dense/*"))) == 2
    assert reader.search(WordEncoder().queries(["gold"]), 1)[0][0].pmid == "7"
    with pytest.raises(IndexUnusable, match="have 256 dimensions and the query's 8"):
        reader.search(other.queries(["gold"]), 1)


def test_an_encoder_that_computes_no_number_is_told(folder: Path) -> None:
    class Broken(WordEncoder):
        def queries(self, texts: Sequence[str]) -> Vectors:
            return np.full((len(texts), 4), np.nan, dtype=np.float32)

    with pytest.raises(ModelUnusable, match="words@1 returned values that are not numbers"):
        add_vectors(folder, Broken())


def garbage(path: Path) -> None:
    path.write_bytes(b"\x5a" * path.stat().st_size)


@pytest.mark.parametrize("kind", ["faiss", "npy"])
def test_garbage_of_the_right_size_is_told_and_can_be_replaced(folder: Path, kind: str) -> None:
    add_vectors(folder, WordEncoder())
    [path] = folder.glob(f"v0001/dense/*.{kind}")
    garbage(path)
    with pytest.raises(IndexUnusable, match=r"cannot be read from .* --overwrite"):
        Index(folder).dense("words@1")
    add_vectors(folder, WordEncoder(), overwrite=True)
    assert ranking(folder, "gold", 1) == [("7", 1.0)]


def test_vectors_that_are_not_the_manifests_are_told(folder: Path) -> None:
    add_vectors(folder, WordEncoder())
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"width": 256', '"width": 257'))
    with pytest.raises(IndexUnusable, match="does not match the manifest"):
        Index(folder).dense("words@1")


@pytest.mark.parametrize("damage", ["missing", "cut"])
@pytest.mark.parametrize("kind", ["faiss", "npy"])
def test_a_damaged_file_of_vectors_leaves_the_rest_and_can_be_replaced(folder: Path, kind: str, damage: str) -> None:
    add_vectors(folder, WordEncoder())
    [path] = folder.glob(f"v0001/dense/*.{kind}")
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-1])
    index = Index(folder)
    assert index.search("zinc", 3)
    message = r"cannot be read from .* \(it .*\); make them again with .* --overwrite"
    with pytest.raises(IndexUnusable, match=message):
        index.dense("words@1")
    with pytest.raises(IndexUnusable, match=message):
        add_vectors(folder, WordEncoder())
    add_vectors(folder, WordEncoder(), overwrite=True)
    assert ranking(folder, "gold", 1) == [("7", 1.0)]


@pytest.mark.parametrize("damage", ["unlisted", "no part"])
def test_a_manifest_that_does_not_fit_its_vectors_is_damaged(folder: Path, damage: str) -> None:
    add_vectors(folder, WordEncoder())
    manifest = folder / "manifest.json"
    data = json.loads(manifest.read_text())
    if damage == "unlisted":
        del data["files"][part(folder).vectors]
    else:
        data["dense"] = {"encoder": "x", "view": "full"}
    manifest.write_text(json.dumps(data))
    with pytest.raises(IndexUnusable, match="is damaged"):
        Index(folder)


# --- the command line


@pytest.mark.usefixtures("word_encoders")
@pytest.mark.parametrize(
    ("typed", "view"), [(["--dense"], "full"), (["--dense", "short"], "short"), (["--no-examples", "--dense=short"], "short")]
)
def test_dense_stands_alone_or_names_what_is_encoded(
    write_corpus: WriteCorpus, tmp_path: Path, typed: list[str], view: str
) -> None:
    assert call("index", "build", *typed, write_corpus(*TEXTS), "--out", tmp_path / "out", "--factory", "SQfp16").exit_code == 0
    assert (part(tmp_path / "out").view, part(tmp_path / "out").factory) == (view, "SQfp16")


def test_build_update_and_dense_on_the_command_line(
    write_corpus: WriteCorpus, tmp_path: Path, word_encoders: list[WordEncoder]
) -> None:
    out = tmp_path / "out"
    result = call("index", "build", write_corpus(*TEXTS), "--out", out, "--dense")
    assert result.exit_code == 0, result.output
    assert f"{out} has vectors for 7 documents: 7 encoded" in result.output
    assert "vectors          7, 256 wide, 0.0 MB, Flat, full, by words@1" in call("index", "info", out).output
    as_json = json.loads(call("index", "info", out, "--json").output)
    assert (as_json["dense"]["encoder"], as_json["dense"]["documents"]) == ("words@1", 7)
    news = write_corpus({"pmid": "8", "title": "", "abstract": "Tin."}, name="news.jsonl")
    assert "8 documents: 1 encoded" in call("index", "update", out, news, "--dense").output
    more = write_corpus({"pmid": "9", "title": "", "abstract": "Lead."}, name="more.jsonl")
    assert f"`counterpoint index dense {out}` encodes what changed" in call("index", "update", out, more).output
    assert "9 documents: 1 encoded" in call("index", "dense", out).output
    assert [len(encoder.given) for encoder in word_encoders] == [7, 1, 1]


def test_dense_is_told_what_is_wrong_before_anything_is_built(write_corpus: WriteCorpus, tmp_path: Path, folder: Path) -> None:
    corpus = write_corpus("Zinc.")
    new = tmp_path / "new"
    assert "has no encoder called 'other'; it has dense" in told(
        "index", "build", corpus, "--out", new, "--dense", "--encoder", "other"
    )
    assert not new.exists()
    assert "no profile called 'huge'" in told("index", "dense", folder, "--profile", "huge")
    assert "has no encoder called 'other'" in told("index", "update", folder, corpus, "--dense", "--encoder", "other")
    assert read_manifest(folder).version == 1
    assert "There is no index at" in told("index", "dense", new)


# --- the seam


def test_a_query_is_encoded_once_a_request() -> None:
    asked: list[str] = []

    class Counting(WordEncoder):
        def queries(self, texts: Sequence[str]) -> Vectors:
            asked.extend(texts)
            return super().queries(texts)

    inner = Counting()
    once = CachingEncoder(inner)
    for texts in (["a", "b", "a"], ["b"], ["c", "a"]):
        assert np.array_equal(once.queries(texts), WordEncoder().queries(texts))
    assert asked == ["a", "b", "c"]
    assert once.name == inner.name
    assert list(itertools.chain(once.documents([Document("1", "", "x")])[0]))

"""Indexes of the formats before: read, searched and updated as they are, and brought to today's by one command."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from indexes.build import build
from indexes.update import merge, update
from indexes.vectors import add_vectors
from indexes.writer import LuceneWriter
from retrieval.index import Index, read_index_manifest
from retrieval.store.manifest import NAME, list_data_files
from tests.helpers.commands import call
from tests.helpers.fake_encoder import WordEncoder

WriteCorpus = Callable[..., Path]
TEXTS = ["Naïve.Patients coughed.", "Patients with flurid-19 slept.", "Nobody slept."]


@pytest.fixture
def old(write_corpus: WriteCorpus, tmp_path: Path) -> Path:
    """An index of format 2 with vectors: as one of today with Anserini's analyzer, but without fields in Lucene and manifest."""
    folder = tmp_path / "old"
    build([write_corpus(*TEXTS)], folder, analyzer="anserini")
    shutil.rmtree(folder / "v0001" / "lucene")
    lucene = LuceneWriter(folder / "v0001" / "lucene", append=False, analyzer="anserini", fields=False)
    lucene.add((str(number), "", text, "[]", "", None) for number, text in enumerate(TEXTS, 1))
    lucene.finish()
    manifest = json.loads((folder / NAME).read_text("utf-8"))
    del manifest["settings"]["fields"]
    manifest |= {"format": 2, "files": list_data_files(folder / "v0001")}
    (folder / NAME).write_text(json.dumps(manifest), "utf-8")
    add_vectors(folder, WordEncoder())
    return folder


def find(folder: Path, *queries: str) -> list[list[str]]:
    index = Index(folder)
    found = [sorted(hit.pmid for hit in index.search(query, 9)) for query in queries]
    index.close()
    return found


def test_an_old_index_is_searched_and_updated_with_its_own_analyzer(old: Path, write_corpus: WriteCorpus) -> None:
    manifest = read_index_manifest(old)
    assert (manifest.format, manifest.analyzer, manifest.id[-3:]) == (2, "anserini", "-f2")
    assert find(old, "naive", "patients", "flurid19", "flurid") == [[], ["2"], [], ["2"]]
    update(old, [write_corpus({"pmid": "4", "title": "", "abstract": "Naïve.Patients slept."}, name="more.jsonl")])
    assert find(old, "naive", "patients", "slept") == [[], ["2"], ["2", "3", "4"]]
    assert read_index_manifest(old).format in (2, 3), "what older code reads"
    merge(old)
    assert (read_index_manifest(old).format, find(old, "patients")) == (2, [["2"]])


def test_one_command_brings_it_to_the_new_analyzer_and_keeps_its_vectors(old: Path, write_corpus: WriteCorpus) -> None:
    told = call("index", "info", old).output
    assert f"counterpoint index merge {old} --analyzer biomedical" in " ".join(told.split())
    update(old, [write_corpus({"pmid": "2", "title": "", "abstract": "Patients with flurid-19 woke."}, name="more.jsonl")])
    add_vectors(old, WordEncoder())
    before = read_index_manifest(old)
    merge(old, "biomedical")
    manifest = read_index_manifest(old)
    assert (manifest.format, manifest.analyzer, manifest.id[-3:]) == (4, "biomedical", "-f4")
    assert manifest.vectors_fit and manifest.corpus_sha256 == before.corpus_sha256
    assert find(old, "naive", "patients", "flurid19", "woke") == [["1"], ["1", "2"], ["2"], ["2"]]
    assert "--analyzer" not in call("index", "info", old).output
    update(old, [write_corpus({"pmid": "4", "title": "", "abstract": "Naïve.Mice slept."}, name="more.jsonl")])
    assert (find(old, "naive", "mice"), read_index_manifest(old).format) == ([["1", "4"], ["4"]], 4)


def test_a_new_index_with_the_old_analyzer_ranks_as_the_old_one(old: Path, write_corpus: WriteCorpus, tmp_path: Path) -> None:
    assert call("index", "build", write_corpus(*TEXTS), "--out", tmp_path / "new", "--analyzer", "anserini").exit_code == 0
    first, second = Index(old), Index(tmp_path / "new")
    assert first.manifest.id == second.manifest.id, "the same texts, searched alike"
    for query in ("patients slept", "naive", "flurid-19", "nobody with"):
        assert first.search(query, 9) == second.search(query, 9)
    first.close()
    second.close()

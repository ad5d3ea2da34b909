"""An index with Anserini's analyzer, and the command that gives it another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from counterpoint.indexes.build import build
from counterpoint.indexes.update import merge, update
from counterpoint.indexes.vectors import add_vectors
from counterpoint.retrieval.index import Index, read_index_manifest
from tests.helpers.commands import call
from tests.helpers.fake_encoder import WordEncoder

WriteCorpus = Callable[..., Path]
TEXTS = ["Naïve.Patients coughed.", "Patients with flurid-19 slept.", "Nobody slept."]


@pytest.fixture
def anserini(write_corpus: WriteCorpus, tmp_path: Path) -> Path:
    """An index with Anserini's analyzer, and with vectors."""
    build([write_corpus(*TEXTS)], tmp_path / "anserini", analyzer="anserini")
    add_vectors(tmp_path / "anserini", WordEncoder())
    return tmp_path / "anserini"


def find(folder: Path, *queries: str) -> list[list[str]]:
    index = Index(folder)
    found = [sorted(hit.pmid for hit in index.search(query, 9)) for query in queries]
    index.close()
    return found


def test_an_index_is_searched_updated_and_merged_with_its_own_analyzer(anserini: Path, write_corpus: WriteCorpus) -> None:
    manifest = read_index_manifest(anserini)
    assert (manifest.analyzer, manifest.id[-3:]) == ("anserini", "-f2")
    assert find(anserini, "naive", "patients", "flurid19", "flurid") == [[], ["2"], [], ["2"]]
    update(anserini, [write_corpus({"pmid": "4", "title": "", "abstract": "Naïve.Patients slept."}, name="more.jsonl")])
    assert find(anserini, "naive", "patients", "slept") == [[], ["2"], ["2", "3", "4"]]
    merge(anserini)
    assert find(anserini, "patients") == [["2"]]


def test_one_command_gives_another_analyzer_and_keeps_the_vectors(anserini: Path, write_corpus: WriteCorpus) -> None:
    assert "anserini" in call("index", "info", anserini).output
    update(anserini, [write_corpus({"pmid": "2", "title": "", "abstract": "Patients with flurid-19 woke."}, name="more.jsonl")])
    add_vectors(anserini, WordEncoder())
    before = read_index_manifest(anserini)
    merge(anserini, "biomedical")
    manifest = read_index_manifest(anserini)
    assert (manifest.analyzer, manifest.id[-3:]) == ("biomedical", "-f4")
    assert manifest.vectors_fit and manifest.corpus_sha256 == before.corpus_sha256
    assert find(anserini, "naive", "patients", "flurid19", "woke") == [["1"], ["1", "2"], ["2"], ["2"]]
    update(anserini, [write_corpus({"pmid": "4", "title": "", "abstract": "Naïve.Mice slept."}, name="more.jsonl")])
    assert find(anserini, "naive", "mice") == [["1", "4"], ["4"]]

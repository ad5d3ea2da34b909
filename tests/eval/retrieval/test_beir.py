"""Retrieval on collections in BEIR's layout: reading them, the two analyzers, reranking that goes on, the figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import log2
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from counterpoint.eval.retrieval.beir import by_query, read_beir
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.service.cli.commands import app
from tests.helpers.fake_encoder import WordEncoder
from tests.helpers.fakes import WordReranker

DOCUMENTS = [
    {"_id": "d1", "title": "Stones", "text": "Stones fall. They do not float."},
    {"_id": "d2", "title": "Feathers", "text": "Feathers drift and the best float."},
    {"_id": "d3", "title": "", "text": "Iron rusts in rain, which is best known."},
]
QUERIES = [{"_id": "q1", "text": "stones fall"}, {"_id": "q2", "text": "do not float"}, {"_id": "unjudged", "text": "iron"}]
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t2\nq2\td3\t0\n"


def lines(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    qrels = tmp_path / "test.tsv"
    qrels.write_text(QRELS)
    return lines(tmp_path / "corpus.jsonl", DOCUMENTS), lines(tmp_path / "queries.jsonl", QUERIES), qrels


def test_a_collection_is_read_with_its_judged_queries_alone(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    collection = read_beir(*files, tmp_path / "work")
    assert dict(collection.queries) == {"q1": "stones fall", "q2": "do not float"}
    assert collection.qrels == {"q1": {"d1": 1}, "q2": {"d2": 2}}
    assert read_beir(*files, tmp_path / "work").documents == collection.documents


@pytest.mark.parametrize(
    ("which", "content", "told"),
    [
        (0, '{"_id": "d1", "title": "x"}\n', 'line 1: expected the key "text"'),
        (0, '{"_id": "a", "text": "x"}\n{"_id": "a", "text": "y"}\n', "The document a appears twice"),
        (1, '{"_id": "q1", "text": "x"}\n', "judges the query q2"),
        (2, "q1 d1\n", "line 1: expected a query, a document and a grade"),
        (2, "q1 0 d1 0\n", "names no relevant document"),
    ],
)
def test_a_collection_at_fault_is_told_in_a_sentence(
    files: tuple[Path, Path, Path], tmp_path: Path, which: int, content: str, told: str
) -> None:
    files[which].write_text(content)
    with pytest.raises(BadInput, match=told):
        read_beir(*files, tmp_path / "work")


def test_measures_are_those_of_the_definitions() -> None:
    qrels = {"a": {"x": 1, "y": 1}, "b": {"z": 1}, "c": {"z": 1}}
    found = by_query(qrels, {"a": ["n", "x"], "b": ["n"], "c": []}, ["nDCG@10", "R@1", "R@2", "RR"])
    assert found["nDCG@10"] == pytest.approx([(1 / log2(3)) / (1 + 1 / log2(3)), 0, 0])
    assert found["R@1"] == [0, 0, 0]
    assert found["R@2"] == [0.5, 0, 0]
    assert found["RR"] == [0.5, 0, 0]


class Counting(WordReranker):
    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        self.asked.append(query)
        return super().__call__(query, texts)


def test_the_command_measures_stops_and_goes_on(
    files: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stopped(Counting):
        def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
            if self.asked:
                raise KeyboardInterrupt
            return super().__call__(query, texts)

    reranker: Counting = Stopped()
    monkeypatch.setattr("counterpoint.eval.retrieval.beir.load_reranker", lambda name, profile: reranker)
    monkeypatch.setattr("counterpoint.eval.retrieval.beir.load_encoder", lambda name, profile: WordEncoder())
    named = [word for pair in zip(("--corpus", "--queries", "--qrels"), map(str, files), strict=True) for word in pair]
    out = tmp_path / "out.json"
    usual = ["eval", "beir", *named, "--work", str(tmp_path / "work"), "--rerank", "relevance", "--dense", "--json", str(out)]
    stopped = CliRunner().invoke(app, usual)
    assert stopped.exit_code == 2
    assert "the same command resumes" in " ".join(stopped.output.split())
    reranker = Counting()
    done = CliRunner().invoke(app, usual)
    assert done.exit_code == 0, done.output
    assert reranker.asked == ["do not float"]
    rows = {row["method"]: row["figures"] for row in json.loads(out.read_text())["rows"]}
    assert [figures["R@100"]["value"] for figures in rows.values()] == [1, 1, 1, 1]
    # "do not float": with every word kept d1 is first; the reranker prefers "best".
    ndcg = [figures["nDCG@10"]["value"] for figures in rows.values()]
    assert ndcg[0] == pytest.approx((1 + 1 / log2(3)) / 2)
    assert ndcg[-1] == 1
    assert list(rows)[1:] == ["vectors, words@1", "BM25 and vectors fused", "BM25, the best 100 reranked by word-reranker@1"]

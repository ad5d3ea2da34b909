"""Lay claims: the query's analysis, BM25+, views of an abstract, reading headlines, the command."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from math import log
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import eval.cli  # noqa: F401  (registers the commands)
from eval.retrieval.abstract_views import VIEWS, make_view
from eval.retrieval.collection import read_beir
from eval.retrieval.crossgenre import measure, methods, read_headlines
from eval.retrieval.kept_index import KeptScores, StandardBM25
from eval.retrieval.lay_query import drop_stop_words, make_lay_query, stem_texts
from retrieval.bm25.bm25_plus import TermIndex
from retrieval.core.errors import BadConfig, BadInput
from retrieval.index import Index
from retrieval.words.abbreviations import expand, load_abbreviations, read_abbreviations
from service.cli.commands import app
from tests.helpers.fakes import WordReranker, make_index

LABELLED = [
    {"label": "BACKGROUND", "text": "Stones are old."},
    {"label": "METHODS", "text": "We weighed them. Twice."},
    {"label": "RESULTS", "text": "They weigh 4 kg."},
    {"label": "CONCLUSIONS", "text": "Stones are heavy."},
]
DOCUMENTS: list[dict[str, Any]] = [
    {"pmid": "1", "title": "Salt", "abstract": "Blood pressure rose with salt in adults."},
    {"pmid": "2", "title": "Rest", "abstract": "Sleep is best for memory. One. Two. Three. Four. Five. Six. Seven."},
    {"pmid": "3", "title": "Stones", "abstract": LABELLED},
    {
        "pmid": "4",
        "title": "Rain",
        "abstract": "Rain wets adults; a longer text about rain that goes on and on, and on, with many words in it.",
    },
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(tmp_path_factory.mktemp("lay"), DOCUMENTS)


def test_abbreviations_are_written_out_behind_the_claim_once_each() -> None:
    assert expand("High BP and BPs in the ICU") == "High BP and BPs in the ICU blood pressure intensive care unit"
    assert expand("A who's who, bp") == "A who's who, bp"
    assert expand("Many UTIs") == "Many UTIs urinary tract infection"


def test_the_shipped_abbreviations_say_where_they_come_from() -> None:
    text = (Path(__file__).parents[3] / "retrieval" / "words" / "abbreviations.tsv").read_text("utf-8")
    assert "Source of every line" in text.splitlines()[1]
    assert load_abbreviations()["BP"] == "blood pressure"
    assert "MS" not in load_abbreviations()


@pytest.mark.parametrize("table", ["BP blood pressure", "BP\t", "BP\ta\nBP\tb"])
def test_a_table_of_abbreviations_at_fault_is_told(table: str) -> None:
    with pytest.raises(BadConfig, match="of the abbreviations should be"):
        read_abbreviations(table)


def test_question_words_go_and_negations_stay() -> None:
    assert drop_stop_words("Does coffee not cause cancer?") == "coffee not cause cancer"
    assert drop_stop_words("Is it?") == "Is it?"
    assert drop_stop_words("IT or us") == "IT"
    assert make_lay_query("Can salt raise your BP?") == "salt raise BP blood pressure"


def test_stems_are_lucene_s() -> None:
    assert stem_texts(["The stones are falling, not floating.", "", "β-blockers 1,000"]) == [
        ["stone", "fall", "float"], [], ["β", "blocker", "1,000"],
    ]  # fmt: skip


def test_bm25_plus_is_its_formula() -> None:
    terms = TermIndex([("a", ["x", "x", "y"]), ("b", ["x"]), ("c", ["z", "z"])], k1=1.2, b=0.5)
    idf = log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    a = 2 * 2.2 / (2 + 1.2 * (0.5 + 0.5 * 3 / 2))
    b = 1 * 2.2 / (1 + 1.2 * (0.5 + 0.5 * 1 / 2))
    for delta in (0.0, 1.0):
        scores = {hit.pmid: hit.score for hit in terms.search(["x"], 5, delta)}
        assert scores == pytest.approx({"a": idf * (delta + a), "b": idf * (delta + b)})
    assert [hit.pmid for hit in terms.search(["x", "x"], 1)] == ["a"]
    assert terms.search(["unknown"], 5) == []


def test_a_long_document_gains_by_bm25_plus() -> None:
    long = ["x", "y", *("w" * 60)]
    terms = TermIndex([("short", ["x", "x", "x", "x", "x"]), ("long", long), *((f"o{i}", ["v"]) for i in range(20))], b=1.0)
    assert terms.search(["x", "y"], 1)[0].pmid == "short"
    assert terms.search(["x", "y"], 1, delta=2.0)[0].pmid == "long"


def test_bm25_in_memory_ranks_as_lucene_does(tmp_path: Path) -> None:
    words = [f"stone{i % 3} rain{i % 5} iron{i % 7} " * (1 + i % 4) for i in range(40)]
    corpus, queries, qrels = tmp_path / "c.jsonl", tmp_path / "q.jsonl", tmp_path / "r.tsv"
    corpus.write_text("".join(json.dumps({"_id": f"d{i}", "text": text}) + "\n" for i, text in enumerate(words)))
    queries.write_text('{"_id": "q", "text": "x"}\n')
    qrels.write_text("q 0 d1 1\n")
    standard = StandardBM25(read_beir(corpus, queries, qrels, tmp_path / "w").documents, tmp_path / "w")
    ours = TermIndex(zip([f"d{i}" for i in range(40)], stem_texts(words), strict=True))
    for query in ("stone1 rain2 iron3", "iron5 iron5 rain0"):
        (asked,) = stem_texts([query])
        assert {hit.pmid for hit in ours.search(asked, 5)} & {*standard(query, 5)} >= {*standard(query, 3)}
    standard.close()


def test_views_of_an_abstract(index: Index) -> None:
    _, ends, labelled, _ = index.entries(["1", "2", "3", "4"])
    assert make_view(labelled, "conclusions", False) == "Stones are old. Stones are heavy."
    assert make_view(labelled, "whole", True).startswith("Stones. Stones are old.")
    assert make_view(ends, "ends", True) == "Rest. Sleep is best for memory. One. Two. Five. Six. Seven."
    assert make_view(ends, "conclusions", False) == ends.document.abstract
    assert set(VIEWS) == {"whole", "conclusions", "ends"}


def write(path: Path, *records: dict[str, Any] | str) -> Path:
    path.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in records))
    return path


def test_headlines_are_read_in_three_formats(tmp_path: Path) -> None:
    read = read_headlines(
        write(
            tmp_path / "h.jsonl",
            {"headline": "Salt is bad", "abstracts": [1, "2", "2"]},
            {"id": "b", "body": "Is salt bad?", "pmids": ["1", ""]},
            {"pmid": "9", "QUESTION": "Is salt good?"},
        )
    )
    assert [(one.id, one.text, one.abstracts) for one in read] == [
        ("1", "Salt is bad", ("1", "2")), ("b", "Is salt bad?", ("1",)), ("9", "Is salt good?", ("9",)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"headline": "x"}, "line 1: expected headline with abstracts or"),
        ({"headline": " ", "abstracts": []}, "expected words"),
        ({"headline": "x", "abstracts": [None]}, "expected an id"),
        ("{", "line 1: expected one JSON object"),
        ("", "contains no headline"),
        ('{"id": 1, "headline": "x", "abstracts": []}\n{"id": 1, "headline": "y", "abstracts": []}', "the headline 1 twice"),
    ],
)
def test_headlines_at_fault_are_told(tmp_path: Path, record: dict[str, Any] | str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        read_headlines(write(tmp_path / "h.jsonl", record))


def test_abbreviations_find_the_study(index: Index, tmp_path: Path) -> None:
    headlines = read_headlines(
        write(tmp_path / "h.jsonl", {"headline": "Your BP", "abstracts": ["1"]}, {"headline": "Lost", "abstracts": ["nobody"]})
    )
    chosen = methods(["bm25-stems", "bm25+-lay"])
    found = measure(headlines, index.folder, chosen, tmp_path / "work", "c", titles=False, reranker=None)
    assert (found.asked, found.known) == (2, 1)
    assert found.candidates and [row.figures["R@1"].value for row in found.candidates.rows] == [0, 1]
    kept = next((tmp_path / "work").glob("terms-*.txt"))
    assert kept.read_text().splitlines()[0].split("\t")[0] == "1"


def test_terms_of_other_code_or_another_build_are_made_again(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    headlines = read_headlines(write(tmp_path / "h.jsonl", {"headline": "Your BP", "abstracts": ["1"]}))
    work, folder = tmp_path / "work", tmp_path / "index"
    shutil.copytree(index.folder, folder)

    def kept() -> int:
        measure(headlines, folder, methods(["bm25-stems"]), work, "c", titles=False)
        return len(list(work.glob("terms-*.txt")))

    assert [kept(), kept()] == [1, 1]
    with monkeypatch.context() as patch:
        patch.setattr("eval.retrieval.crossgenre.hash_code", lambda _: "edited")
        assert kept() == 2
    # The same texts, perhaps in other sections: the corpus's hash does not say.
    manifest = folder / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "created": "2001-01-01T00:00:00Z"}))
    assert kept() == 3


def test_what_several_methods_find_is_reranked_once(index: Index, tmp_path: Path) -> None:
    asked: list[list[str]] = []

    class Counting(WordReranker):
        def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
            asked.append([*texts])
            return super().__call__(query, texts)

    headlines = read_headlines(write(tmp_path / "h.jsonl", {"headline": "Adults sleep; adults, adults", "abstracts": ["2"]}))
    chosen = methods(["bm25-plain", "bm25-stems", "bm25+-plain"])
    found = measure(headlines, index.folder, chosen, tmp_path / "w", "c", reranker=KeptScores(Counting(), tmp_path / "w"))
    ((texts,),) = (asked,)
    assert len(texts) == len(set(texts)) > 1
    assert found.again and [row.figures["R@1"].value for row in found.again.rows] == [0, 1, 1, 1]


def test_headlines_without_known_studies_are_compared_alone(index: Index, tmp_path: Path) -> None:
    topics = tmp_path / "topics.json"
    topics.write_text(json.dumps({"topics": [{"id": 1, "topic": "t", "question": "They rain?", "narrative": "n"}]}))
    found = measure(read_headlines(topics), index.folder, methods(["bm25-plain", "bm25-stems"]), tmp_path / "work", "c")
    assert found.candidates is None
    assert found.agreement == {"BM25, stems without stop words": {5: 0.5, 20: 0.5, 100: 0.5}}


def test_the_command_reranks_and_tells_what_it_cannot_do(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.configuration.models.load_reranker", lambda name, profile: WordReranker())
    headlines = write(tmp_path / "h.jsonl", {"headline": "Adults sleep; adults, adults", "abstracts": ["2"]})
    out = tmp_path / "o.json"
    usual = ["eval", "crossgenre", "--headlines", str(headlines), "--work", str(tmp_path / "w"), "--method", "bm25-plain"]
    done = CliRunner().invoke(app, [*usual, "--corpus", str(index.folder), "--rerank", "relevance", "--json", str(out)])
    assert done.exit_code == 0, done.output
    written = json.loads(out.read_text())
    assert [row["figures"]["R@1"]["value"] for row in written["again"]["rows"]] == [0, 1]
    for more, told in (
        (["--corpus", str(index.folder), "--view", "half"], "the views are whole, conclusions, ends"),
        (["--corpus", str(index.folder), "--method", "bm26"], "There is no method 'bm26'"),
        (["--corpus", str(tmp_path / "none.jsonl")], "cannot be read"),
        (["--corpus", str(write(tmp_path / "c.jsonl", DOCUMENTS[0]))], "None of the abstracts that the headlines report"),
    ):
        failed = CliRunner().invoke(app, [*usual, *more])
        assert failed.exit_code == 2, failed.output
        assert told in " ".join(failed.output.split())

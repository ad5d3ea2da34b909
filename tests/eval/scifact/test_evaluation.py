"""The evaluation as a whole, on a corpus small enough to rank by hand, with models that go by words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from counterpoint.eval.cli import eval_app
from counterpoint.eval.measures.report import Report
from counterpoint.eval.scifact.evaluation import configurations, evaluate
from counterpoint.eval.scifact.files import find
from counterpoint.retrieval.core.errors import Interrupted
from counterpoint.service.configuration.config import GroundingConfig, Profile
from counterpoint.service.configuration.models import Models
from tests.helpers.fakes import StoppingJudge, WordJudge, WordReranker

DOCUMENTS: list[dict[str, Any]] = [
    {"doc_id": 1, "title": "", "abstract": ["Zeta zeta zeta is not against pressure."]},
    {
        "doc_id": 2,
        "title": "Best best",
        "abstract": ["Of something else.", "Zeta is for pressure, in a longer text than that of the other."],
    },
]
CLAIMS = [
    {"id": 1, "claim": "zeta pressure", "evidence": {"2": [{"sentences": [1], "label": "SUPPORT"}]}},
    {"id": 2, "claim": "zeta pressure", "evidence": {"1": [{"sentences": [0], "label": "REFUTE"}]}},
    {"id": 3, "claim": "zeta pressure", "evidence": {"2": [{"sentences": [1], "label": "CONTRADICT"}]}},
    {"id": 4, "claim": "omega", "evidence": {}},
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "scifact"
    folder.mkdir(parents=True)
    (folder / "corpus.jsonl").write_text("".join(f"{json.dumps(d)}\n" for d in DOCUMENTS))
    (folder / "claims_dev.jsonl").write_text("".join(f"{json.dumps(c)}\n" for c in CLAIMS))
    return folder.parent


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> list[WordJudge]:
    """The judge that every variant gets: replace it in place."""
    judges = [WordJudge()]

    def loaded(config: GroundingConfig, profile: Profile, stock: Models) -> Models:
        return Models(profile, {"relevance": WordReranker()}, {"stance": judges[0]})

    monkeypatch.setattr("counterpoint.eval.scifact.evaluation.load_models", loaded)
    return judges


def report_of(data: Path, folder: Path, *names: str) -> Report:
    return evaluate(find(data), configurations(names), "embedded", folder).report


def test_variants_are_measured_beside_each_other_and_beside_bm25(data: Path, tmp_path: Path, judge: list[WordJudge]) -> None:
    report = report_of(data, tmp_path / "work", "v5", "counterpoint")
    claims = report.data["claims"]
    assert claims == {
        "all": 4, "with_support": 1, "with_contradict": 2, "without_evidence": 1, "support_pairs": 1, "contradict_pairs": 2,
        "gold_not_in_corpus": 0,
    }  # fmt: skip
    assert report.data["blind"]["mrr.whole.support"].value == 0.5
    assert report.data["blind"]["mrr.whole.contradict"].value == 0.75
    v5, ours = report.data["variants"]
    # The reranker puts document 2 first; the filter and the judge leave document 1 alone for contradictions.
    assert v5.figures["mrr.whole.support"].value == 1.0
    assert v5.figures["mrr.whole.contradict"].value == 0.5
    assert v5.figures["mrr.whole.weighted"].value == pytest.approx(2 / 3)
    # Both say that document 1 contradicts and document 2 supports, whatever the claim.
    for variant in (v5, ours):
        assert variant.figures["scifact.abstract_label_only_recall"].value == pytest.approx(2 / 3)
        assert variant.figures["scifact.abstract_rationalized_recall"].value == pytest.approx(2 / 3)
        assert variant.figures["scifact.abstract_label_only_precision"].value == pytest.approx(2 / 6)
        assert variant.figures["silence.without_evidence"].value == 1.0
    assert (report.data["baseline"], v5.against_baseline) == ("v5", {})
    assert ours.against_baseline["pairs.support.f1"].p == 1.0
    assert report.made_with["corpus_sha256"]


def test_a_stopped_evaluation_goes_on_and_ends_as_an_undisturbed_one(data: Path, tmp_path: Path, judge: list[WordJudge]) -> None:
    whole = report_of(data, tmp_path / "whole", "v5", "counterpoint")
    judge[0] = StoppingJudge(after=4)
    with pytest.raises(Interrupted, match="Stopped after 1 of 4 claims; they are saved"):
        report_of(data, tmp_path / "work", "v5", "counterpoint")
    [kept] = (tmp_path / "work").glob("v5-*.jsonl")
    done = kept.read_text().splitlines()
    assert 0 < len(done) < 4
    # As a kill would leave it, in the middle of a line.
    kept.write_text("\n".join(done) + '\n{"key": "to')
    judge[0] = WordJudge()
    assert report_of(data, tmp_path / "work", "v5", "counterpoint") == whole
    assert kept.read_text().splitlines()[: len(done)] == done
    judge[0] = StoppingJudge(after=0)
    assert report_of(data, tmp_path / "work", "v5", "counterpoint") == whole


def cli(*arguments: str | Path) -> Any:
    return CliRunner().invoke(eval_app, [str(argument) for argument in arguments])


def test_the_command_writes_report_and_predictions(data: Path, tmp_path: Path, judge: list[WordJudge]) -> None:
    out, predictions = tmp_path / "out.json", tmp_path / "predictions.jsonl"
    done = cli(
        "scifact", "--data", data, "--config", "v5", "--config", "bm25",
        "--json", out, "--predictions", predictions, "--predictions-of", "v5",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert [one["name"] for one in json.loads(out.read_text())["variants"]] == ["v5", "bm25"]
    lines = [json.loads(line) for line in predictions.read_text().splitlines()]
    assert [line["id"] for line in lines] == [1, 2, 3, 4]
    said = {"1": {"sentences": [0], "label": "CONTRADICT"}, "2": {"sentences": [1], "label": "SUPPORT"}}
    assert [line["evidence"] for line in lines] == [said, said, said, {}]
    assert (tmp_path / "out.json.work").is_dir()
    scored = cli("predictions", predictions, "--data", data, "--json")
    assert json.loads(scored.output)["abstract_label_only_precision"] == pytest.approx(2 / 6)
    assert "sentence_label_f1" in cli("predictions", predictions, "--data", data).output


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--config", "nothing"], "no configuration called 'nothing'"),
        (["--config", "bm25", "--predictions-of", "v5"], "v5, which is not evaluated"),
        (["--json", "/nowhere/at/all.json"], "The folder /nowhere/at does not exist"),
        (["--corpus", "/nowhere.jsonl", "--config", "bm25"], "/nowhere.jsonl cannot be read"),
        (["--claims", "/nowhere.jsonl", "--config", "bm25"], "/nowhere.jsonl does not exist"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(data: Path, arguments: list[str], told: str) -> None:
    done = cli("scifact", "--data", data, *arguments)
    assert done.exit_code == 2
    assert told in " ".join(done.output.split())

"""The measures of answers on made-up runs whose figures can be counted by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from eval.answers.observing import measure_uptake
from eval.answers.report import AnswersRunReport, evaluate
from eval.answers.runs import read_runs
from eval.cli import eval_app
from retrieval.core.errors import BadInput
from retrieval.core.values import Document
from retrieval.dense.encoder import Vectors
from retrieval.index import Index
from service.configuration.config import load_profile
from service.trec.task_b import answers_path, read_topics
from tests.helpers.fakes import WordJudge, make_index

TOPICS = [
    {"id": 1, "question": "Zeta?", "narrative": "Zeta and pressure."},
    {"id": 2, "question": "Omega?", "narrative": ""},
    {"id": 3, "question": "Nothing?"},
    {"id": 4, "question": "Forgotten?"},
]
DOCUMENTS = [
    {"pmid": "11", "title": "", "abstract": "Zeta is for lower pressure. It is cheap."},
    {"pmid": "12", "title": "", "abstract": "Zeta is against pressure."},
    {"pmid": "13", "title": "", "abstract": "Zeta sleeps all day long."},
    {"pmid": "14", "title": "Only a title", "abstract": ""},
]
# By the word judge 11 supports everything, 12 contradicts everything, and 13 is neutral to it.
RUN: list[tuple[str, list[tuple[str, list[object]]]]] = [
    (
        "1",
        [
            ("Zeta lowers pressure.", [11, "12"]),
            ("Zeta sleeps all day long.", [13]),
            ("It does more.", []),
            ("So it does.", [13]),
        ],
    ),
    ("2", [("Omega works.", [11, 99, 14])]),
    ("3", []),
]


class ThreeWords:
    """A vector of which of three words a text holds; of length 2, to show that the measure does not mind."""

    name = "three-words@1"

    def queries(self, texts: Sequence[str]) -> Vectors:
        held = [[2.0 * (word in text.lower()) for word in ("zeta", "omega", "it")] for text in texts]
        return np.array(held, dtype=np.float32)

    def documents(self, documents: Sequence[Document]) -> Vectors:
        return self.queries([document.title for document in documents])


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(tmp_path_factory.mktemp("answers"), DOCUMENTS)


@pytest.fixture
def topics_file(tmp_path: Path) -> Path:
    path = tmp_path / "topics.json"
    path.write_text(json.dumps({"topics": TOPICS}))
    return path


def write_run(path: Path, topics: Sequence[tuple[str, Sequence[tuple[str, Sequence[object]]]]]) -> Path:
    records = [
        {
            "metadata": {"team_id": "t", "run_id": "r", "topic_id": topic},
            "responses": [{"text": text, "citations": list(citations)} for text, citations in sentences],
        }
        for topic, sentences in topics
    ]
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def measured(index: Index, topics_file: Path, *runs: Path) -> list[AnswersRunReport]:
    topics = read_topics(topics_file)
    read = read_runs(runs, {topic.id for topic in topics})
    return evaluate(read, topics, topics_file, index.folder, WordJudge(), ThreeWords(), load_profile("embedded"), "command")[0]


def test_every_figure_can_be_counted_by_hand(index: Index, topics_file: Path, tmp_path: Path) -> None:
    path = write_run(tmp_path / "mine.jsonl", RUN)
    drafts = [
        ("1", {"sentences": 4, "cited": 2, "citations": 6}), ("2", {"sentences": 3, "cited": 3, "citations": 3}), ("3", None),
    ]  # fmt: skip
    answers_path(path).write_text("".join(f"{json.dumps({'topic': {'id': one}, 'drafted': draft})}\n" for one, draft in drafts))
    (run,) = measured(index, topics_file, path)
    assert (run.name, run.topics, run.answered, run.declined, run.missing) == ("mine", 4, 2, ("3",), ("4",))
    assert (run.citations, run.unjudged) == (7, 2)
    values = {key: figure.value for key, figure in run.figures.items()}
    expected = {
        "answered": 2 / 4, "sentences": 5 / 2, "words": (3 + 5 + 3 + 3 + 2) / 2, "coverage": (3 / 4 + 1) / 2,
        "citations": 7 / 5, "citations_cited": 7 / 4, "coverage_supported": (1 / 4 + 1) / 2,
        "support": (1 / 4 + 1 / 3) / 2, "contradict": (1 / 4 + 0) / 2, "verbatim": (1 / 4 + 0) / 2,
        # Topic 1: zeta, zeta, it, it: two of six pairs are alike, the others have nothing in common.
        "redundancy": 2 / 6,
        # Topic 1 alone has a narrative, and both its words stand in the answer.
        "narrative": 1.0,
        # What was written before the check stands in the full answers.
        "drafted": 3.5, "drafted_coverage": 0.75, "drafted_citations": 9 / 5,
    }  # fmt: skip
    assert values == pytest.approx(expected)
    assert all(figure.low is not None and figure.high is not None for figure in run.figures.values() if figure.value is not None)
    first, second = run.answers
    assert [(one.sentence, one.pmid, one.verbatim, one.label) for one in first.citations] == [
        (0, "11", False, "support"), (0, "12", False, "contradict"), (1, "13", True, "neutral"), (3, "13", False, "neutral"),
    ]  # fmt: skip
    assert [(one.pmid, one.label is not None) for one in second.citations] == [("11", True), ("99", False), ("14", False)]


def test_rare_words_of_the_narrative_count_more_and_only_words_count() -> None:
    narrative = "Encainide in patients."
    assert measure_uptake(narrative, "One patient was given encainide.") == 1.0
    rare, common = measure_uptake(narrative, "Encainide.") or 0, measure_uptake(narrative, "A patient.") or 0
    assert 0 < common < rare < 1 and rare + common == pytest.approx(1.0)
    assert measure_uptake(narrative, "People took flecainide.") == 0.0
    assert measure_uptake(" the ", "Zeta.") is None


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"responses": []}, "record 1: expected metadata with a topic_id"),
        ({"metadata": {"topic_id": "1"}}, "topic 1: responses should be a list of sentences, not nothing"),
        ({"metadata": {"topic_id": "77"}, "responses": []}, "topic 77: no topic has this id"),
        ({"metadata": {"topic_id": 1}, "responses": [{"text": "x", "citations": "11"}]}, "citations should be a list of PMIDs"),
    ],
)
def test_what_is_no_run_is_told(tmp_path: Path, record: Any, told: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(json.dumps(record))
    with pytest.raises(BadInput) as error:
        read_runs([path], {"1"})
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_runs_are_named_by_their_files_and_given_once(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    first, second = write_run(tmp_path / "run.jsonl", RUN), write_run(tmp_path / "one" / "run.jsonl", RUN)
    assert [run.name for run in read_runs([first, second], {"1", "2", "3"})] == [str(first), str(second)]
    with pytest.raises(BadInput, match="given twice"):
        read_runs([first, first], {"1", "2", "3"})
    write_run(first, [RUN[0], RUN[0]])
    with pytest.raises(BadInput, match="topic 1: it appears more than once"):
        read_runs([first], {"1"})


def call(*arguments: object) -> Result:
    return CliRunner().invoke(eval_app, [str(argument) for argument in arguments])


def test_the_command_measures_and_writes(index: Index, topics_file: Path, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run.jsonl", RUN)
    settings = ("--topics", topics_file, "--index", index.folder)
    out, page = tmp_path / "out.json", tmp_path / "out.md"
    result = call("answers", run, *settings, "--json", out, "--markdown", page)
    assert result.exit_code == 0, result.output
    assert "Properties of the answers" in result.stdout
    assert json.loads(out.read_text())["runs"][0]["answered"] == 2
    assert "## Measures" in page.read_text()
    for wrong, told in (
        (("--json", page, "--markdown", page), "must name different files"),
        (("--index", tmp_path / "nowhere"), "There is no index at"),
    ):
        refused = call("answers", run, *settings, *wrong)
        assert (refused.exit_code, told in refused.stderr) == (2, True), refused.output

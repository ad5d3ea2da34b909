"""Examples are made of what the index holds, and of nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from counterpoint.retrieval.index import Index
from counterpoint.service.cli.commands import app
from counterpoint.service.examples.finding import find_statements
from counterpoint.service.examples.schemas import NAME, ExamplesResponse, has_examples
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.http.app import create_app
from counterpoint.service.operating.libraries import Libraries
from tests.helpers.fakes import make_index, make_reading_grounder
from tests.helpers.pages import SureReader, find_in, keep_in
from tests.helpers.ready import wait_until_ready

FINDING = "Losartan reduces blood pressure in older adults."


STROKE = "Losartan prevents stroke in older adults."


def document(pmid: str, abstract: str, title: str = "", **more: Any) -> dict[str, Any]:
    return {"pmid": pmid, "title": title, "abstract": abstract, **more}


def statements(folder: Path, *documents: dict[str, Any]) -> list[str]:
    index = make_index(folder, documents)
    found = [one.claim for one in find_statements(index.store.sample(100))]
    index.close()
    return found


def test_a_finding_that_stands_alone_is_taken_and_nothing_that_needs_its_abstract(tmp_path: Path) -> None:
    unclear = [
        "These drugs reduce blood pressure in older adults.",
        "Losartan reduced blood pressure by 12 mmHg in adults.",
        "Losartan did not change blood pressure in older adults.",
        "Does losartan reduce blood pressure in older adults?",
        "Losartan reduces blood pressure more than placebo in adults.",
        "ZTX reduces blood pressure in many older adults.",
        "Losartan-induced changes of pressure in adults were many.",
        "Losartan reduces blood pressure in older adults only.",
    ]
    documents = [document(f"u{place}", text) for place, text in enumerate(unclear)]
    assert statements(
        tmp_path,
        document("1", f"Pressure is a burden. Adults took losartan. {FINDING}"),
        document("2", FINDING, retracted=True),
        document("3", "Adults took losartan.", title="Losartan prevents stroke in older adults: a trial."),
        document("4", f"Adults took losartan. {STROKE[:-1]}", title=STROKE),
        *documents,
    ) == [FINDING]


PAPERS = [
    document("1", "Mice took omeprazole. Omeprazole raises insulin in mice for good.", title="Omeprazole for insulin"),
    document("2", f"Adults took losartan. {FINDING}", title="Losartan for pressure"),
    document(
        "3", "Losartan was against blood pressure in older adults.", title="Losartan against pressure in older adults sure 0.95"
    ),
]


def test_what_a_paper_denies_is_put_as_the_claim_that_it_contradicts(tmp_path: Path) -> None:
    denied = document("1", "Adults took losartan. Losartan did not significantly reduce blood pressure in older adults.")
    led = document("2", "Adults took zinc. Several studies have shown that zinc shortens colds in healthy adults.")
    assert statements(tmp_path, denied, led) == [
        "Losartan reduced blood pressure in older adults.",
        "Zinc shortens colds in healthy adults.",
    ]


def test_a_claim_with_papers_on_both_sides_comes_first_and_none_with_its_own_paper_alone(tmp_path: Path) -> None:
    more = [
        document("4", "Adults took aspirin. Aspirin prevents strokes in older women.", title="Aspirin for strokes"),
        *(document(f"5{place}", "Aspirin is for strokes in women.", title="Aspirin for strokes") for place in range(3)),
    ]
    index = make_index(tmp_path, [*PAPERS, *more])
    found = find_in(index)
    assert [one.statement.claim for one in found] == [FINDING, "Aspirin prevents strokes in older women."]
    assert [(paper.pmid, found[0].sides) for paper in found[0].papers] == [("3", 2), ("2", 2)]
    index.close()


@pytest.mark.parametrize("side", ["against", "for"])
def test_a_statement_with_a_paper_that_the_judge_doubts_is_no_example(tmp_path: Path, side: str) -> None:
    """A side needs one sure paper, and none that is only possible."""
    sure = 0.75 if side == "against" else 0.55
    text, title = f"Losartan was {side} blood pressure in older adults.", f"Losartan {side} pressure in older adults sure {sure}"
    index = make_index(tmp_path, [*PAPERS[:2], document("3", text, title=title)])
    assert [one.statement.claim for one in find_in(index)] == ["Omeprazole raises insulin in mice for good."]
    index.close()


def served(grounder: Grounder, path: str = "/v1/examples") -> dict[str, Any]:
    """What the service answers."""
    with TestClient(create_app(Libraries(grounder.index.folder, None, lambda _index: grounder))) as client:
        wait_until_ready(client)
        answer = client.get(path)
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def test_the_service_gives_what_is_kept_with_the_index(tmp_path: Path) -> None:
    found = ExamplesResponse.model_validate(served(keep_in(make_index(tmp_path, PAPERS))))
    assert found.claims == [FINDING]
    assert found.questions[0] == "Does losartan reduce blood pressure in older adults?"
    assert found.paper and "Losartan was against blood pressure" in found.paper.text
    assert found.text == f"{FINDING[:-1]} (PMID 2). More research is needed."
    assert found.grounding and found.grounding.claim.text == FINDING


def test_an_index_whose_papers_stand_alone_has_claims_to_try_and_no_answer_to_show(tmp_path: Path) -> None:
    found = ExamplesResponse.model_validate(served(keep_in(make_index(tmp_path, PAPERS[:1]))))
    assert found.claims == ["Omeprazole raises insulin in mice for good."]
    assert found.grounding is None


NONE: dict[str, Any] = {"claims": [], "questions": [], "paper": None, "text": "", "grounding": None}


def test_nothing_stale_damaged_or_made_by_others_is_given(tmp_path: Path) -> None:
    index = make_index(tmp_path, PAPERS)
    assert served(make_reading_grounder(index)) == NONE
    index = Index(index.folder)
    keep_in(index, 0)
    assert not has_examples(index.folder, 1)
    assert served(make_reading_grounder(index, SureReader())) == NONE
    index = Index(index.folder)
    keep_in(index)
    assert has_examples(index.folder, 1)
    other = SureReader()
    other.name = "another-reader@1"
    assert served(make_reading_grounder(index, other)) == NONE
    (index.folder / NAME).write_text('{"version": 1, "examples": {"claims": "x"}}')
    assert served(make_reading_grounder(Index(index.folder), SureReader())) == NONE


def test_the_index_says_what_it_is(tmp_path: Path) -> None:
    index = make_index(tmp_path, PAPERS)
    told = served(make_reading_grounder(index), "/v1/index")
    assert told.pop("library")
    assert told == {
        "index": index.manifest.id, "name": "index", "documents": 3, "full_texts": 0, "source": "documents from corpus.jsonl",
        "built": index.manifest.created,
    }  # fmt: skip


def test_the_command_makes_them_and_an_update_makes_them_anew(tmp_path: Path) -> None:
    """With the shipped models: the build is complete whatever becomes of the examples."""
    corpus, more, out = tmp_path / "corpus.jsonl", tmp_path / "more.jsonl", tmp_path / "out"
    findings = ("Niacin raised HDL cholesterol in older men.", "Aspirin prevents first strokes in older women.")
    lines = [json.dumps(document(str(place), f"Adults were asked. {text}")) for place, text in enumerate(findings, 1)]
    corpus.write_text(lines[0], "utf-8")
    more.write_text(lines[1], "utf-8")

    def call(*arguments: object) -> str:
        result = CliRunner().invoke(app, ["index", *map(str, arguments)])
        assert result.exit_code == 0, result.output
        return result.output

    assert "Found 1 example for the web page" in call("build", corpus, "--out", out, "--description", "notes of ours")
    assert has_examples(out, 1)
    assert "description      notes of ours" in call("info", out)
    assert "example" not in call("update", out, more, "--no-examples")
    assert not has_examples(out, 2), "what is left is of the version before"
    assert "Found 2 examples" in call("merge", out)
    assert "description      notes of ours" in call("info", out)
    assert "without examples for the web page" in call("build", corpus, "--out", tmp_path / "other", "--profile", "nosuch")
    assert (tmp_path / "other" / "manifest.json").exists()

"""Examples are made of what the index holds, and of nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from retrieval.core.values import Claim, Grounding
from retrieval.index import Index
from service.examples.finding import find_examples
from service.examples.schemas import ExamplesResponse
from service.examples.statements import find_statements
from service.grounding.ground import Grounder
from service.grounding.request import OnStage
from service.http.app import create_app
from tests.helpers.fakes import make_index, make_reading_grounder
from tests.helpers.ready import wait_until_ready

FINDING = "Zeta reduces blood pressure in older adults."


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
        "Zeta reduced blood pressure by 12 mmHg in adults.",
        "Zeta did not reduce blood pressure in older adults.",
        "Does zeta reduce blood pressure in older adults?",
        "Zeta reduces blood pressure more than placebo in adults.",
        "ZTX reduces blood pressure in many older adults.",
    ]
    documents = [document(f"u{place}", text) for place, text in enumerate(unclear)]
    assert statements(
        tmp_path,
        document("1", f"Pressure is a burden. Adults took zeta. {FINDING}"),
        document("2", FINDING, retracted=True),
        document("3", "Adults took zeta.", title="Zeta prevents stroke in older adults: a trial."),
        *documents,
    ) == [FINDING]


def test_the_sample_is_spread_over_the_index_and_the_same_each_time(tmp_path: Path) -> None:
    index = make_index(tmp_path, [document(f"{place:02}", "Zeta.") for place in range(40)])
    found = [entry.pmid for entry in index.store.sample(10)]
    assert found == [entry.pmid for entry in index.store.sample(10)]
    assert len(found) == 10
    assert max(found) > "30"
    assert len(index.store.sample(100)) == 40
    index.close()


def make_papers(folder: Path) -> Index:
    return make_index(
        folder,
        [
            document("1", "Mice took eta. Eta raises sugar in mice for good."),
            document("2", f"Adults took zeta. {FINDING}", title="Zeta for pressure"),
            document("3", "Zeta was against blood pressure in older adults.", title="Zeta against pressure in older adults"),
        ],
    )


def test_the_claim_with_papers_on_both_sides_comes_first(tmp_path: Path) -> None:
    index = make_papers(tmp_path)
    asked: list[str] = []
    grounder = make_reading_grounder(index)

    def ground(claim: Claim) -> Any:
        asked.append(claim.text)
        return grounder.ground(claim)

    found = find_examples(grounder, ground)
    assert [one.claim for one in found.statements] == [FINDING, "Eta raises sugar in mice for good."]
    assert found.grounding and found.grounding.contradicting and found.grounding.supporting
    assert found.paper and found.paper.pmid == "3"
    index.close()


def served_examples(grounder: Grounder) -> list[dict[str, Any]]:
    """What the service answers when it is asked twice."""
    with TestClient(create_app(lambda: grounder)) as client:
        wait_until_ready(client)
        answers = [client.get("/v1/examples") for _ in range(2)]
    assert [one.status_code for one in answers] == [200, 200]
    return [one.json() for one in answers]


def test_the_service_makes_them_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    plain = Grounder.ground

    def ground(self: Grounder, claim: Claim, on_stage: OnStage | None = None) -> Grounding:
        calls.append(claim.text)
        return plain(self, claim, on_stage)

    monkeypatch.setattr(Grounder, "ground", ground)
    first, again = served_examples(make_reading_grounder(make_papers(tmp_path)))
    assert first == again
    assert len(calls) == len(set(calls)) <= 2
    found = ExamplesResponse.model_validate(first)
    assert found.claims[0] == FINDING
    assert found.questions[0] == "Does zeta reduce blood pressure in older adults?"
    assert found.paper and "Zeta was against blood pressure" in found.paper.text
    assert found.text == f"{FINDING} Eta raises sugar in mice for good (PMID 1). More research is needed."
    assert found.grounding and found.grounding.claim.text == FINDING


def test_an_index_without_statements_has_no_examples(tmp_path: Path) -> None:
    found, _ = served_examples(make_reading_grounder(make_index(tmp_path, [document("1", "Nothing.")])))
    assert found == {"claims": [], "questions": [], "paper": None, "text": "", "grounding": None}

"""The Python client and a generated one against a real port, and the MCP server against MCP's own client."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from retrieval.index import Index
from service.client import Counterpoint, CounterpointProblem
from service.mcp_server import make_server
from service.operating.settings import Settings
from tests.helpers.answer_fakes import make_answerer
from tests.helpers.fakes import make_grounder, make_index
from tests.helpers.served import over_fakes, serving

KEY = "a-key-that-is-long-enough"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    documents = [
        {"pmid": "1", "title": "One", "abstract": "Zeta is not against pressure."},
        {"pmid": "a/b", "title": "Odd id", "abstract": "Zeta is for pressure."},
        {"pmid": "101", "title": "Best", "abstract": "Omega lowers blood sugar in most adults with diabetes."},
        *({"pmid": f"x{i}", "title": "", "abstract": f"Filler number {i}."} for i in range(20)),
    ]
    return make_index(tmp_path_factory.mktemp("clients"), documents).folder


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    with serving(over_fakes(folder, Settings.model_validate({"keys": {"me": KEY}}))) as (url, _server):
        yield url


@pytest.fixture
def counterpoint(url: str) -> Iterator[Counterpoint]:
    with Counterpoint(url, key=KEY) as client:
        yield client


def test_what_the_client_gives_is_typed(counterpoint: Counterpoint) -> None:
    found = counterpoint.ground("zeta pressure")
    assert [one.pmid for one in found.contradicting] == ["1"]
    assert found.contradicting[0].sentence and found.contradicting[0].sentence.text == "Zeta is not against pressure."
    assert counterpoint.ground("zeta pressure", known_pmids=["a/b"]).supporting == []
    assert counterpoint.answer("Does omega lower blood sugar?").documents[0].pmid == "101"
    assert counterpoint.document("1").sentences[0].text == "Zeta is not against pressure."
    checked = counterpoint.text("Does it help? Zeta lowers pressure (PMID 1).").sentences
    assert [one.reason for one in checked] == ["question", None] and checked[1].result
    assert checked[1].result.cited[0].status == "contradicts it"
    results = counterpoint.ground_all(["zeta pressure", ""]).results
    assert [one.status for one in results] == [200, 422]
    assert results[1].problem and "empty" in results[1].problem.detail


def test_the_client_finds_evidence_inside_a_paper(counterpoint: Counterpoint) -> None:
    paper = ["We gave 120 smokers aspirin or placebo.", "Aspirin lowered the risk of stroke by 20 %.", "Smoking is harmful."]
    found = counterpoint.evidence("Aspirin prevents stroke.", sentences=paper, k=2)
    assert [paper[one.index] for one in found.evidence] == [one.text for one in found.evidence]
    assert (len(found.evidence), found.read) == (2, 3)
    with pytest.raises(CounterpointProblem, match="give the paper once"):
        counterpoint.evidence("Aspirin prevents stroke.", paper, text="Aspirin.")


def test_a_search_goes_on_by_itself(counterpoint: Counterpoint) -> None:
    assert [one.rank for one in counterpoint.search("filler number", page=7)] == list(range(1, 21))


def test_every_fault_is_the_same_exception(counterpoint: Counterpoint, url: str) -> None:
    with pytest.raises(CounterpointProblem, match="claim is empty") as fault:
        counterpoint.ground("")
    assert fault.value.status == 422 and len(fault.value.request_id) == 32
    with pytest.raises(CounterpointProblem, match="no document") as fault:
        counterpoint.document("nobody")
    assert fault.value.status == 404
    with Counterpoint(url) as without, pytest.raises(CounterpointProblem, match="API key"):
        without.ground("zeta")
    with Counterpoint("http://127.0.0.1:9") as nowhere, pytest.raises(CounterpointProblem, match="did not answer") as fault:
        nowhere.ground("zeta")
    assert fault.value.status == 0


def test_an_id_may_hold_a_slash(counterpoint: Counterpoint) -> None:
    assert counterpoint.document("a/b").title == "Odd id"


@pytest.fixture(scope="module")
def generated(url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The package that a generator makes of the API's description; anything that it warns of or leaves out is an error."""
    place = tmp_path_factory.mktemp("generated")
    (place / "how.yaml").write_text("post_hooks: []\n")
    command = ["generate", "--url", f"{url}/openapi.json", "--output-path", str(place / "made_client"), "--meta", "none"]
    run = [sys.executable, "-m", "openapi_python_client", *command, "--config", str(place / "how.yaml"), "--fail-on-warning"]
    made = subprocess.run(run, capture_output=True, text=True, env=os.environ | {"NO_COLOR": "1"}, check=False)
    assert made.returncode == 0 and "arning" not in made.stdout + made.stderr, made.stdout + made.stderr
    sys.path.insert(0, str(place))
    yield "made_client"
    sys.path.remove(str(place))


@pytest.mark.slow
def test_a_client_generated_from_the_description_is_typed(generated: str, url: str) -> None:
    models, package = import_module(f"{generated}.models"), import_module(generated)
    # One function for each call, by its plain name.
    calls = {
        name: import_module(f"{generated}.api.default.{name}")
        for name in (
            "health",
            "ground",
            "ground_alias",
            "ground_batch",
            "ground_stream",
            "answer",
            "answer_stream",
            "search",
            "document",
        )
    }
    client = package.AuthenticatedClient(base_url=url, token=KEY, raise_on_unexpected_status=True)
    assert calls["health"].sync(client=client).status == "ready"
    claim = models.GroundRequest(claim="zeta reduces pressure")
    found = calls["ground"].sync(client=client, body=claim)
    assert type(found) is models.GroundResponse and type(found.contradicting[0]) is models.EvidenceOut
    assert found.contradicting[0].sentence.text == "Zeta is not against pressure."
    assert calls["ground_alias"].sync(client=client, body=claim) == found
    assert asyncio.run(calls["ground"].asyncio(client=client, body=claim)) == found
    batch = calls["ground_batch"].sync(client=client, body=models.BatchRequest(claims=[claim, models.GroundRequest(claim="")]))
    assert [one.status for one in batch.results] == [200, 422] and batch.results[0].response == found
    answered = calls["answer"].sync(client=client, body=models.AnswerRequest(question="Does omega lower blood sugar?"))
    assert answered.documents[0].pmid == "101"
    page = calls["search"].sync(client=client, q="filler number", limit=7)
    assert [type(hit) for hit in page.hits] == [models.HitOut] * 7 and page.next_cursor
    assert calls["search"].sync(client=client, q="filler number", limit=7, cursor=page.next_cursor).hits[0].rank == 8
    assert calls["document"].sync("a/b", client=client).title == "Odd id"


@pytest.mark.slow
def test_a_generated_client_is_told_what_is_wrong(generated: str, url: str) -> None:
    models, package = import_module(f"{generated}.models"), import_module(generated)
    ground, document = (import_module(f"{generated}.api.default.{name}") for name in ("ground", "document"))
    with_key = package.AuthenticatedClient(base_url=url, token=KEY)
    nobody = document.sync_detailed("nobody", client=with_key)
    assert nobody.status_code == 404 and type(nobody.parsed) is models.Problem
    refused = ground.sync(client=package.Client(base_url=url), body=models.GroundRequest(claim="zeta"))
    assert type(refused) is models.Problem and "API key" in refused.detail


def call(folder: Path, tool: str, arguments: dict[str, Any]) -> Any:
    grounder, _ = make_grounder(Index(folder))

    async def called() -> Any:
        async with Client(make_server(grounder, lambda: make_answerer(grounder.index))) as client:
            tools = {one.name for one in (await client.list_tools()).tools}
            assert tools == {"ground", "answer", "check_text", "search", "document", "evidence"}
            return await client.call_tool(tool, arguments)

    return asyncio.run(called())


def test_a_language_model_can_ground_and_ask(folder: Path) -> None:
    found = call(folder, "ground", {"claim": "zeta pressure"})
    assert not found.is_error
    assert [one["pmid"] for one in found.structured_content["contradicting"]] == ["1"]
    assert json.loads(found.content[0].text) == found.structured_content
    answered = call(folder, "answer", {"question": "Does omega lower blood sugar?"})
    assert answered.structured_content["outcome"] == "answered"


def test_a_language_model_can_have_a_text_checked(folder: Path) -> None:
    checked = call(folder, "check_text", {"text": "Does it help? Zeta lowers pressure (PMID 1)."})
    question, claim = checked.structured_content["sentences"]
    assert question["reason"] == "question"
    assert claim["result"]["cited"][0]["status"] == "contradicts it"
    assert call(folder, "search", {"query": "zeta pressure"}).structured_content["hits"][0]["pmid"] in ("1", "a/b")
    assert call(folder, "document", {"pmid": "101"}).structured_content["title"] == "Best"
    assert call(folder, "document", {"pmid": "nothing"}).is_error
    assert call(folder, "check_text", {"text": " "}).is_error


def test_a_language_model_is_told_what_is_wrong(folder: Path) -> None:
    refused = call(folder, "ground", {"claim": " "})
    assert refused.is_error
    assert "The claim is empty" in refused.content[0].text

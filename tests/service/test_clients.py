"""The Python client and a generated one against a real port, and the MCP server against MCP's own client."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from typer.testing import CliRunner

from counterpoint.retrieval.core.errors import IndexUnusable
from counterpoint.retrieval.index import Index
from counterpoint.service.cli.commands import app as command_line
from counterpoint.service.client import Counterpoint, CounterpointProblem
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.mcp_server import make_server
from counterpoint.service.operating.libraries import Libraries
from counterpoint.service.operating.settings import Settings
from tests.helpers.fakes import make_grounder, make_index
from tests.helpers.served import fake_libraries, over_fakes, serving

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


def test_a_file_that_is_not_there_is_told_in_one_sentence(counterpoint: Counterpoint, tmp_path: Path) -> None:
    with pytest.raises(CounterpointProblem, match=r"none\.txt cannot be read \(No such file or directory\); name a file"):
        counterpoint.file(tmp_path / "none.txt")


def test_what_the_client_gives_is_typed(counterpoint: Counterpoint) -> None:
    found = counterpoint.ground("zeta changes pressure")
    assert [one.pmid for one in found.contradicting] == ["1"]
    assert found.contradicting[0].sentence and found.contradicting[0].sentence.text == "Zeta is not against pressure."
    assert counterpoint.ground("zeta changes pressure", known_pmids=["a/b"]).supporting == []
    assert counterpoint.answer("Does omega lower blood sugar?").documents[0].pmid == "101"
    assert counterpoint.document("1").sentences[0].text == "Zeta is not against pressure."
    assert counterpoint.document("a/b").title == "Odd id"
    checked = counterpoint.text("Does it help? Zeta lowers pressure (PMID 1).").sentences
    assert [one.reason for one in checked] == ["question", None] and checked[1].result
    assert checked[1].result.cited[0].status == "not judged"
    results = counterpoint.ground_all(["zeta changes pressure", ""]).results
    assert [one.status for one in results] == [200, 422]
    assert results[1].problem and "empty" in results[1].problem.detail


def test_the_client_finds_evidence_inside_a_paper(counterpoint: Counterpoint) -> None:
    paper = ["We gave 120 smokers aspirin or placebo.", "Aspirin lowered the risk of stroke by 20 %.", "Smoking is harmful."]
    found = counterpoint.evidence("Aspirin prevents stroke.", sentences=paper, k=2)
    assert len(found.evidence) == 2 and {one.quotation for one in found.evidence} <= {*paper}
    assert (len(found.evidence), found.read) == (2, 3)
    with pytest.raises(CounterpointProblem, match="give the paper once"):
        counterpoint.evidence("Aspirin prevents stroke.", paper, text="Aspirin.")


def test_a_search_goes_on_by_itself(counterpoint: Counterpoint) -> None:
    assert [one.rank for one in counterpoint.search("filler number", page=7)] == list(range(1, 21))


def test_every_fault_is_the_same_exception(counterpoint: Counterpoint, url: str) -> None:
    with pytest.raises(CounterpointProblem, match="claim is empty") as fault:
        counterpoint.ground("")
    assert fault.value.status == 422 and len(fault.value.request_id) == 32
    with pytest.raises(CounterpointProblem, match="not a PMID, a DOI") as fault:
        counterpoint.document("nobody")
    assert fault.value.status == 404
    with Counterpoint(url) as without, pytest.raises(CounterpointProblem, match="API key"):
        without.ground("zeta works")
    with Counterpoint("http://127.0.0.1:9") as nowhere, pytest.raises(CounterpointProblem, match="did not answer") as fault:
        nowhere.ground("zeta works")
    assert fault.value.status == 0


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
    names = "health ground ground_alias ground_batch ground_stream answer answer_stream search document".split()
    calls = {name: import_module(f"{generated}.api.default.{name}") for name in names}
    client = package.AuthenticatedClient(base_url=url, token=KEY, raise_on_unexpected_status=True)
    assert calls["health"].sync(client=client).status == "ready"
    claim = models.GroundRequest(claim="zeta reduces pressure")
    found = calls["ground"].sync(client=client, body=claim)
    assert type(found) is models.GroundedInput and type(found.contradicting[0]) is models.EvidenceOut
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


def call(folder: Path, tool: str, arguments: dict[str, Any]) -> Any:
    async def called() -> Any:
        async with Client(make_server(fake_libraries(folder))) as client:
            tools = (await client.list_tools()).tools
            assert {one.name for one in tools} == {
                "ground",
                "answer",
                "check_text",
                "libraries",
                "search",
                "document",
                "evidence",
            }
            assert {one.annotations.read_only_hint for one in tools if one.annotations} == {True}
            return await client.call_tool(tool, arguments)

    return asyncio.run(called())


def test_a_language_model_can_ground_and_ask(folder: Path) -> None:
    found = call(folder, "ground", {"claim": "zeta changes pressure"})
    assert not found.is_error
    assert [one["pmid"] for one in found.structured_content["contradicting"]] == ["1"]
    assert json.loads(found.content[0].text) == found.structured_content
    answered = call(folder, "answer", {"question": "Does omega lower blood sugar?"})
    assert answered.structured_content["outcome"] == "answered"


def test_a_language_model_chooses_a_library(folder: Path) -> None:
    [listed] = call(folder, "libraries", {}).structured_content["libraries"]
    assert (listed["papers"], listed["damaged"]) == (23, "")
    asked = {"query": "zeta changes pressure", "library": listed["id"]}
    assert call(folder, "search", asked).structured_content["hits"][0]["pmid"] in ("1", "a/b")
    refused = call(folder, "ground", {"claim": "zeta changes pressure", "library": "nothing"})
    assert refused.is_error and "There is no library “nothing”" in refused.content[0].text


def test_a_language_model_can_have_a_text_checked(folder: Path) -> None:
    checked = call(folder, "check_text", {"text": "Does it help? Zeta lowers pressure (PMID 1)."})
    question, claim = checked.structured_content["sentences"]
    assert question["reason"] == "question"
    assert claim["result"]["cited"][0]["status"] == "not judged"
    assert call(folder, "search", {"query": "zeta changes pressure"}).structured_content["hits"][0]["pmid"] in ("1", "a/b")
    assert call(folder, "document", {"pmid": "101"}).structured_content["title"] == "Best"
    assert call(folder, "document", {"pmid": "nothing"}).is_error
    assert call(folder, "check_text", {"text": " "}).is_error


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("ground", {"claim": "???"},
         "The claim “???” has no words; give one sentence that can be true or false, such as “Aspirin reduces fever.”"),
        ("ground", {}, "claim is missing; give it."),
        ("ground", {"claim": "x", "pmids": []},
         "pmids is an unknown argument; correct it or leave it out "
         "(known arguments: claim, question, known_pmids, read, full_text, library)."),
        ("search", {"query": "x", "limit": 1000}, "limit should be at most 100, not 1000; correct it."),
        ("nothing", {},
         "There is no tool 'nothing'; the tools are libraries, search, document, evidence, ground, answer, check_text."),
        ("document", {"pmid": "x"}, "“x” is not a PMID, a DOI, or the id of one of the 23 documents of this index."),
    ],
)  # fmt: skip
def test_a_language_model_is_told_what_is_wrong_by_name(folder: Path, tool: str, arguments: dict[str, Any], told: str) -> None:
    refused = call(folder, tool, arguments)
    assert (refused.is_error, refused.content[0].text) == (True, told)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (OSError(28, "No space left on device", "/secret/place"), "(No space left on device); see its log."),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"), "The request could not be answered; see"),
        (IndexUnusable("The index is damaged."), "The index is damaged."),
    ],
)
def test_a_fault_of_a_tool_is_one_sentence_and_the_next_call_loads_again(folder: Path, fault: Exception, told: str) -> None:
    loads = [fault]

    def load(index: Index) -> Grounder:
        if loads:
            raise loads.pop()
        return make_grounder(index)[0]

    async def called() -> tuple[Any, Any]:
        async with Client(make_server(Libraries(folder, None, load))) as client:
            assert loads, "nothing is loaded to greet"
            return await client.call_tool("search", {"query": "zeta"}), await client.call_tool("search", {"query": "zeta"})

    failed, answered = asyncio.run(called())
    assert failed.is_error and told in failed.content[0].text and "secret" not in failed.content[0].text
    assert not answered.is_error


def test_calls_at_once_load_once(folder: Path) -> None:
    loads = []

    def load(index: Index) -> Grounder:
        loads.append(1)
        time.sleep(0.2)
        return make_grounder(index)[0]

    async def called() -> list[Any]:
        async with Client(make_server(Libraries(folder, None, load))) as client:
            return await asyncio.gather(*(client.call_tool("search", {"query": "zeta"}) for _ in range(4)))

    assert not any(one.is_error for one in asyncio.run(called()))
    assert loads == [1]


@pytest.fixture
def over_stdio(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """`counterpoint mcp` as a program starts it."""
    program = "from counterpoint.service.cli.commands import main; main()"
    command = [sys.executable, "-c", program, "mcp", "--index", str(folder), "--config", "bm25"]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield server
    server.terminate()
    server.communicate(timeout=60)


def send(server: subprocess.Popen[str], **message: Any) -> None:
    assert server.stdin
    print(json.dumps({"jsonrpc": "2.0", **message}), file=server.stdin, flush=True)


def reply(server: subprocess.Popen[str]) -> Any:
    assert server.stdout
    return json.loads(server.stdout.readline())


@pytest.mark.slow
def test_a_lone_surrogate_gets_a_reply(over_stdio: subprocess.Popen[str]) -> None:
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    send(over_stdio, id=1, method="initialize", params=about)
    assert reply(over_stdio)["result"]["serverInfo"]["name"] == "counterpoint"
    send(over_stdio, method="notifications/initialized")
    # A pair is one character; a backslash before "ud800" is no escape.
    for number, text in enumerate(["\ud800zeta", "zeta \udfff\ud800 pressure", "😀 zeta", "zeta \\ud800"], 2):
        send(over_stdio, id=number, method="tools/call", params={"name": "search", "arguments": {"query": text}})
        told = reply(over_stdio)
        assert told["id"] == number and not told["result"]["isError"]
        shown = "".join("\ufffd" if "\ud800" <= one <= "\udfff" else one for one in text)
        assert told["result"]["structuredContent"]["query"] == shown
    send(over_stdio, id=8, method="tools/call", params={"name": "search", "arguments": {"query": "\ud800"}})
    told = reply(over_stdio)["result"]
    assert told["isError"] and told["content"][0]["text"].startswith("The query “\ufffd” has no words;")
    send(over_stdio, id=9, method="tools/call", params={"name": "search", "arguments": {"query": "x", "\ud800": 1}})
    assert "is an unknown argument" in reply(over_stdio)["result"]["content"][0]["text"]


def test_a_wrong_index_is_one_sentence_before_the_server_starts(tmp_path: Path) -> None:
    told = CliRunner().invoke(command_line, ["mcp", "--index", str(tmp_path / "nothing")])
    assert told.exit_code == 2 and len(told.stderr.splitlines()) == 1

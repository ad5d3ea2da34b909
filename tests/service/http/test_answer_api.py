"""Answers over HTTP and on the command line: the same JSON, events while it is made, one sentence for every fault."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from retrieval.core.errors import BadConfig
from retrieval.index import Index
from retrieval.runtime.chat import ChatUnanswered
from service.cli.commands import app as command_line
from service.http.app import create_app
from tests.helpers.answer_fakes import ScriptedGenerator, make_answerer
from tests.helpers.fakes import make_grounder, make_index
from tests.helpers.ready import wait_until_ready

QUESTION = {"question": "Does zeta lower blood pressure?", "id": "7"}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(
        tmp_path_factory.mktemp("answer-api"),
        [{"pmid": "101", "title": "Best", "abstract": "Zeta lowers blood pressure in most adults with hypertension."}],
    )


def opened(index: Index, generator: ScriptedGenerator | None = None) -> Iterator[TestClient]:
    folder = index.folder
    served = create_app(lambda: make_grounder(Index(folder))[0], lambda grounder: make_answerer(grounder.index, generator))
    with TestClient(served) as client:
        wait_until_ready(client)
        yield client


@pytest.fixture
def client(index: Index) -> Iterator[TestClient]:
    yield from opened(index)


@pytest.fixture
def failing(index: Index) -> Iterator[TestClient]:
    yield from opened(index, ScriptedGenerator(error=ChatUnanswered("The model m answered with HTTP status 500.")))


def events(client: TestClient, body: object) -> list[tuple[str, dict[str, object]]]:
    with client.stream("POST", "/answer/stream", json=body) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        blocks = "".join(response.iter_text()).split("\n\n")
    read = []
    for block in blocks:
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith(":"))
        if "event" in fields:
            read.append((fields["event"], json.loads(fields["data"])))
    return read


def test_an_answer_has_its_citations_their_sentences_and_where_all_comes_from(client: TestClient) -> None:
    body = client.post("/answer", json=QUESTION).json()
    assert body["outcome"] == "answered"
    assert body["text"] == "Zeta lowers blood pressure in most adults with hypertension [1]."
    (citation,) = body["sentences"][0]["citations"]
    assert (citation["number"], citation["pmid"], citation["verbatim"]) == (1, "101", True)
    assert citation["sentence"] == {
        "index": 0, "start": 0, "end": 60, "text": "Zeta lowers blood pressure in most adults with hypertension.",
    }  # fmt: skip
    assert body["documents"][0]["cited"] is True
    assert (body["topic"]["id"], body["words"], body["extractive"]) == ("7", 9, True)
    assert body["provenance"]["config"] == "counterpoint"
    assert body["provenance"]["models"]["writer"] == "extractive"
    assert body["usage"] == {"requests": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost": None}


def test_the_stream_tells_stages_and_sentences_and_ends_with_the_answer(client: TestClient) -> None:
    told = events(client, QUESTION)
    assert [name for name, _ in told] == ["stage", "stage", "stage", "stage", "sentence", "answer"]
    assert told[4][1]["pmids"] == ["101"]
    assert told[-1][1] == client.post("/answer", json=QUESTION).json()


def test_a_server_that_fails_is_502_and_the_streams_last_event(failing: TestClient) -> None:
    response = failing.post("/answer", json=QUESTION)
    told = "The model m answered with HTTP status 500."
    assert (response.status_code, response.json()["detail"], response.json()["error"]) == (502, told, told)
    name, problem = events(failing, QUESTION)[-1]
    assert (name, problem["status"], problem["detail"]) == ("error", 502, told)
    assert failing.post("/ground", json={"claim": "zeta works"}).status_code == 200


@pytest.mark.parametrize("path", ["/answer", "/answer/stream"])
def test_a_request_at_fault_is_told(client: TestClient, path: str) -> None:
    empty = client.post(path, json={"question": "  "})
    assert empty.status_code == 422
    assert "The question is empty" in empty.json()["error"]
    unknown = client.post(path, json={"question": "x", "claim": "y"})
    assert unknown.status_code == 422
    assert "known fields: question, narrative, topic, id" in unknown.json()["error"]


@pytest.mark.parametrize("path", ["/answer", "/answer/stream"])
def test_without_answers_the_rest_is_served(index: Index, path: str) -> None:
    def broken(_grounder: object) -> None:
        raise BadConfig("The profile mine has no generator called 'writer'; it has none.")

    folder = index.folder
    for answering, told in ((None, "started without an answer variant"), (broken, "has no generator")):
        with TestClient(create_app(lambda: make_grounder(Index(folder))[0], answering)) as client:  # type: ignore[arg-type]
            wait_until_ready(client)
            response = client.post(path, json=QUESTION)
            assert response.status_code == 503
            assert told in response.json()["error"]
            assert client.post("/ground", json={"claim": "zeta works"}).status_code == 200


def test_the_command_line_prints_the_answer_or_one_sentence(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.assembly.assemble_answerer", lambda *_: make_answerer(Index(index.folder)))
    arguments = ["answer", QUESTION["question"], "--index", str(index.folder)]
    shown = CliRunner().invoke(command_line, arguments)
    assert shown.exit_code == 0
    assert "with hypertension [1]." in " ".join(shown.stdout.split())
    assert "The words quoted stand in the abstract" in " ".join(shown.stdout.split())
    written = CliRunner().invoke(command_line, [*arguments, "--json"])
    assert json.loads(written.stdout)["outcome"] == "answered"
    wrong = CliRunner().invoke(command_line, ["answer", " ", "--index", str(index.folder)])
    assert (wrong.exit_code, "The question is empty" in wrong.stderr) == (2, True)


def test_a_profile_without_the_generator_is_told(index: Index, tmp_path: Path) -> None:
    profile = tmp_path / "mine.yaml"
    profile.write_text("name: mine\nrerankers: {relevance: {kind: embedded}}\njudges: {stance: {kind: reader, size: small}}\n")
    done = CliRunner().invoke(
        command_line, ["answer", "Does zeta work?", "--index", str(index.folder), "--profile", str(profile)]
    )
    assert done.exit_code == 2
    assert "has no generator called 'writer'" in done.stderr

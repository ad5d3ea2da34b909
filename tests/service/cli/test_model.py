"""`counterpoint model`: one step from a server's address to a profile that reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from counterpoint.nli.reader.chat import ChatReader
from counterpoint.nli.reader.judge import DocumentReader
from counterpoint.retrieval.core.addresses import is_loopback
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.runtime.chat_requests import forget_servers
from counterpoint.service.cli.commands import app
from counterpoint.service.configuration.config import load_profile
from counterpoint.service.configuration.language_model import CASES, Case, complete_address
from counterpoint.service.configuration.models import load_judge
from tests.helpers.chat_server import PACKING, PACKING_JSON, REFUSING, ChatServer, fault, serving, whole
from tests.helpers.fakes import WordReader

PARTS = dict.fromkeys(("population", "intervention", "comparison", "outcome"), True)
GRADES = {"support": 2, "neutral": 0, "contradict": -2}


def say(opinion: dict[str, Any]) -> Any:
    return whole([{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": json.dumps(opinion)}}])


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setattr("counterpoint.nli.reader.chat.DocumentReader", WordReader)
    for server in serving(fault(500)):
        server.script = read_rightly
        yield server


def read_rightly(body: dict[str, Any]) -> Any:
    """What a good model says of each case."""
    case = next(case for case in CASES if f"{case.claim}\n" in body["messages"][-1]["content"])
    return say(grade(case, case.label))


def grade(case: Case, label: str) -> dict[str, Any]:
    number = len(case.paper.sentences)
    return {"sentence": number, "quote": case.paper.sentences[-1], **PARTS, "reason": "So it says.", "grade": GRADES[label]}


def run(server: ChatServer, *more: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["model", server.url.removeprefix("http://").removesuffix("/v1"), *more])
    return result.exit_code, result.output


def test_the_only_model_of_a_server_is_tried_and_its_profile_loads(server: ChatServer, tmp_path: Path) -> None:
    server.models, out = ["tiny:1b"], tmp_path / "mine.yaml"
    code, said = run(server, "--out", str(out))
    assert code == 0, said
    assert "It read 8 of 8 right, the embedded reader " in said
    assert f"Wrote {out}. Use it with --profile {out}" in said
    profile = load_profile(str(out))
    assert profile.judges["stance"].list_options()["base_url"] == server.url
    assert [profile.judges["stance"].kind, profile.judges["sentences"].kind, profile.generators["writer"].kind] == [
        "chat",
        "reader",
        "chat",
    ]
    code, said = run(server, "--out", str(out))
    assert (code, "exists; name another file" in said) == (2, True)


def test_a_model_that_reads_worse_than_the_embedded_reader_only_writes(
    server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("counterpoint.nli.reader.chat.DocumentReader", DocumentReader)
    server.models, out = ["tiny:1b"], tmp_path / "mine.yaml"
    server.script = lambda body: say(grade(CASES[0], "support"))
    code, said = run(server, "--out", str(out))
    assert code == 0, said
    assert "So it does not read the papers: it only writes answers." in said
    assert f"For one, it read as support: “{CASES[0].claim}”" in said
    profile = load_profile(str(out))
    assert [profile.judges["stance"].kind, profile.generators["writer"].kind] == ["reader", "chat"]


@pytest.mark.parametrize(
    ("models", "name", "said"),
    [
        (["a:1", "b:2"], [], "has a:1, b:2; name one of them"),
        (["qwen3:8b", "b:2"], ["qwen3:8"], "no 'qwen3:8'; did you mean qwen3:8b?"),
        ([], [], "lists no model; load one there, or name it"),
        (["a:1"], ["a:1"], "answered with HTTP status 500 (no); no profile was written."),
        ([], ["unlisted"], "answered with HTTP status 500 (no); no profile was written."),
    ],
)
def test_what_cannot_be_set_up_is_told_and_nothing_is_written(
    server: ChatServer, tmp_path: Path, models: list[str], name: list[str], said: str
) -> None:
    server.models, server.script = models, lambda body: fault(500)
    code, output = run(server, *name, "--out", str(tmp_path / "p.yaml"))
    assert code == 2
    assert said in output
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("quirk", REFUSING | PACKING | PACKING_JSON)
def test_a_model_with_a_quirk_is_set_up(server: ChatServer, tmp_path: Path, quirk: str) -> None:
    server.models, out = ["odd:1b"], tmp_path / "odd.yaml"
    server.script = (REFUSING | PACKING | PACKING_JSON)[quirk](read_rightly)
    code, said = run(server, "--out", str(out))
    assert code == 0, said
    assert "It read 8 of 8 right" in said
    left_out = load_profile(str(out)).judges["stance"].list_options().get("leave_out", [])
    assert bool(left_out) == ("The server refuses " in said) == (quirk in REFUSING and "stream" not in quirk)
    forget_servers()
    before = len(server.bodies)
    reader = load_judge("stance", load_profile(str(out)))
    assert isinstance(reader, ChatReader)
    assert reader.read_paper(CASES[0].claim, CASES[0].paper).by == reader.name
    assert len(server.bodies) == before + 1, "what is refused stands in the profile"


def test_a_login_in_the_address_is_only_in_the_profile(server: ChatServer, tmp_path: Path) -> None:
    server.models, out = ["tiny:1b"], tmp_path / "mine.yaml"
    url = server.url.replace("http://", "http://ann:open-sesame@")
    result = CliRunner().invoke(app, ["model", url, "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert server.keys[0] == "Basic YW5uOm9wZW4tc2VzYW1l"
    assert "holds the user name and password of the address; keep it to yourself." in result.output
    assert "sesame" not in result.output
    assert out.stat().st_mode & 0o077 == 0, "for the user alone"
    profile = load_profile(str(out))
    assert profile.judges["stance"].list_options()["base_url"] == url
    assert "sesame" not in f"{profile.model_dump()} {profile.description} {load_judge('stance', profile).name}"
    for wrong in (url.replace("sesame", "ses/ame"), url.replace("http", "ftp", 1), url.replace("127", "[127")):
        refused = CliRunner().invoke(app, ["model", wrong])
        assert (refused.exit_code, "is no address" in refused.output) == (2, True)
        assert "ame" not in refused.output.replace("name", "")


def test_a_server_that_is_not_there_is_told(server: ChatServer) -> None:
    server.close()
    code, output = run(server)
    assert code == 2
    assert "The server at" in output
    assert "cannot be reached" in output


@pytest.mark.parametrize(
    ("url", "address", "here"),
    [
        ("localhost:11434", "http://localhost:11434/v1", True),
        ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1", True),
        ("https://api.openai.com", "https://api.openai.com/v1", False),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1", False),
        ("192.168.1.9:1234", "http://192.168.1.9:1234/v1", False),
    ],
)
def test_an_address_is_completed_and_a_server_elsewhere_is_recognised(url: str, address: str, here: bool) -> None:
    assert complete_address(url) == address
    assert is_loopback(address) == here


def test_what_is_no_address_is_told() -> None:
    with pytest.raises(BadInput, match="is no address"):
        complete_address("ftp://models")

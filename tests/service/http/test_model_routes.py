"""A language model set up from the page: tried before it is used, in use in every process at once, and off again."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from counterpoint.retrieval.index import Index
from counterpoint.service.configuration.config import load_profile
from counterpoint.service.configuration.language_model import CASES
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.http.app import create_app
from counterpoint.service.operating.libraries import Libraries
from counterpoint.service.operating.page_model import PageModel
from counterpoint.service.operating.settings import Settings
from tests.helpers.chat_server import ChatServer, fault, serving, whole
from tests.helpers.fakes import WordReader, make_grounder, make_index
from tests.helpers.served import opened

KEYS = {name: f"a-key-of-{name}-long-enough" for name in ("writer", "boss")}
SCOPES = {"writer": "write", "boss": "admin"}
BOSS, WRITER = ({"x-api-key": KEYS[name]} for name in ("boss", "writer"))
PARTS = dict.fromkeys(("population", "intervention", "comparison", "outcome"), True)


def read_rightly(body: dict[str, Any]) -> Any:
    case = next(case for case in CASES if f"{case.claim}\n" in body["messages"][-1]["content"])
    grade = {"support": 2, "neutral": 0, "contradict": -2}[case.label]
    opinion = {"sentence": len(case.paper.sentences), "quote": case.paper.sentences[-1], **PARTS, "reason": "So it says."}
    content = json.dumps({**opinion, "grade": grade})
    return whole([{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}])


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setattr("counterpoint.nli.reader.chat.DocumentReader", WordReader)
    for server in serving(fault(500)):
        server.script, server.models = read_rightly, ["big:8b", "small:1b"]
        yield server


@pytest.fixture
def index(tmp_path: Path) -> Path:
    index = make_index(tmp_path / "index", [{"pmid": "1", "title": "Zeta", "abstract": "Zeta is for pressure."}])
    index.close()
    return index.folder


def serve(index: Path, folder: Path, **more: Any) -> TestClient:
    """A process of the service over the same folder; the models that it loads bear the name of their profile."""
    settings = Settings.model_validate({"keys": KEYS, "scopes": SCOPES, "libraries": folder, **more})
    model = PageModel(settings.model_folder(), settings.profile)

    def load(index: Index) -> Grounder:
        grounder = make_grounder(index)[0]
        grounder.models.profile = model.assemble(load_profile)
        return grounder

    return opened(create_app(Libraries(index, None, load, None, 8, model.look), settings))  # type: ignore[return-value]


def profile_of(client: TestClient) -> str:
    answer = client.post("/v1/ground", json={"claim": "Zeta is for pressure."}, headers=WRITER)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["provenance"]["profile"])


def test_a_model_is_tried_switched_on_for_every_process_kept_and_switched_off(
    server: ChatServer, index: Path, tmp_path: Path
) -> None:
    folder, where = tmp_path / "data", {"address": server.url.removesuffix("/v1")}
    with serve(index, folder) as one, serve(index, folder) as other:
        assert one.get("/v1/model", headers=BOSS).json() == {"in_use": None, "tried": None, "profile": "embedded"}
        listed = one.post("/v1/model/names", json=where, headers=BOSS).json()
        assert listed == {"address": server.url, "models": ["big:8b", "small:1b"], "warning": ""}
        tried = one.post("/v1/model/trial", json={**where, "model": "big:8b"}, headers=BOSS).json()
        assert (tried["right"], tried["of"], tried["reads"], tried["tokens"] > 0) == (8, 8, True, True)
        assert tried["sentences"][0].startswith("It read 8 of 8 right")
        assert profile_of(one) == "embedded"  # tried is not used
        wanted = {"on": True, "model": "big:8b", "address": server.url}
        wrong = other.put("/v1/model", json={**wanted, "model": "small:1b"}, headers=BOSS)
        assert wrong.status_code == 422
        assert "“small:1b” cannot be switched on: the model tried last is big:8b" in wrong.json()["detail"]
        state = other.put("/v1/model", json=wanted, headers=BOSS).json()
        assert (state["in_use"]["model"], state["tried"]) == ("big:8b", None)
        assert "It read 8 of 8 right" in state["in_use"]["description"]
        assert [profile_of(one), profile_of(other)] == ["big-8b"] * 2
    assert stat.S_IMODE(os.stat(folder / "language-model.yaml").st_mode) == 0o600
    with serve(index, folder) as again:
        assert profile_of(again) == "big-8b"
        assert again.put("/v1/model", json={"on": False}, headers=BOSS).json()["tried"]["model"] == "big:8b"
        assert profile_of(again) == "embedded"


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("names", {"address": "http://[::1"}, "'http://[::1' is no address; expected that of a server"),
        ("names", {"address": "{url}", "key_env": "COUNTERPOINT_NCBI_API_KEY"}, "variable that ends in _API_KEY"),
        ("names", {"address": "{url}", "key_env": "DATABASE_PASSWORD"}, "variable that ends in _API_KEY"),
        ("names", {"address": "http://127.0.0.1:1"}, "The server at http://127.0.0.1:1/v1 "),
        ("trial", {"address": "{url}", "model": "bigg:8b"}, "and no 'bigg:8b'; did you mean big:8b?"),
        ("trial", {"address": "{url}", "model": ""}, "has big:8b, small:1b; name one of them"),
        ("trial", {"address": "{url}"}, "model is missing"),
    ],
)
def test_what_cannot_be_set_up_is_one_sentence(
    server: ChatServer, index: Path, tmp_path: Path, path: str, body: dict[str, str], said: str
) -> None:
    with serve(index, tmp_path / "data") as client:
        sent = {name: value.replace("{url}", server.url) for name, value in body.items()}
        answer = client.post(f"/v1/model/{path}", json=sent, headers=BOSS)
        assert answer.status_code in (422, 503)
        assert said in answer.json()["detail"], answer.text
        assert not (tmp_path / "data" / "language-model.tried.yaml").exists()


def test_only_who_has_the_scope_admin_may_and_nobody_where_the_operator_forbids_it(
    server: ChatServer, index: Path, tmp_path: Path
) -> None:
    calls = [("GET", "", None), ("POST", "/names", {"address": server.url}), ("PUT", "", {"on": False})]
    calls.append(("POST", "/trial", {"address": server.url, "model": "big:8b"}))
    with serve(index, tmp_path / "data") as client:
        assert [client.request(how, f"/v1/model{at}", json=body, headers=WRITER).status_code for how, at, body in calls] == [
            403
        ] * 4
        client.post("/v1/model/trial", json=calls[3][2], headers=BOSS)
        client.put("/v1/model", json={"on": True, "model": "big:8b", "address": server.url}, headers=BOSS)
        assert profile_of(client) == "big-8b"
    with serve(index, tmp_path / "data", page_model=False) as client:
        refused = [client.request(how, f"/v1/model{at}", json=body, headers=BOSS) for how, at, body in calls]
        assert {answer.status_code for answer in refused} == {409}
        assert "The operator lets no language model be set up here" in refused[0].json()["detail"]
        assert profile_of(client) == "embedded"


def test_neither_a_login_nor_a_key_is_shown_and_a_key_is_in_no_file(
    server: ChatServer, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SESAME_API_KEY", "open-sesame-key")
    address = server.url.replace("http://", "http://ali:cassim@")
    with serve(index, tmp_path / "data") as client:
        body = {"address": address, "model": "big:8b", "key_env": "SESAME_API_KEY"}
        said = client.post("/v1/model/names", json={name: body[name] for name in ("address", "key_env")}, headers=BOSS).text
        said += client.post("/v1/model/trial", json=body, headers=BOSS).text
        said += client.put("/v1/model", json={"on": True, "model": "big:8b", "address": server.url}, headers=BOSS).text
        said += client.get("/v1/model", headers=BOSS).text
        assert "SESAME_API_KEY" in said
        assert all(secret not in said for secret in ("cassim", "open-sesame-key"))
    written = (tmp_path / "data" / "language-model.yaml").read_text("utf-8")
    assert "open-sesame-key" not in written


def test_a_profile_that_cannot_be_read_leaves_the_service_with_its_own(index: Path, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "language-model.yaml").write_text("name: [", "utf-8")
    with serve(index, tmp_path / "data") as client:
        assert profile_of(client) == "embedded"
        assert client.get("/v1/model", headers=BOSS).json()["in_use"] is None


def test_a_server_elsewhere_is_said_to_get_the_texts(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterpoint.service.configuration.language_model.list_models", lambda *_: ["big:8b"])
    with serve(index, tmp_path / "data") as client:
        listed = client.post("/v1/model/names", json={"address": "https://models.example.org/v1"}, headers=BOSS).json()
        assert listed["warning"] == "Claims, questions and abstracts will be sent to https://models.example.org/v1."

"""Who may do what: keys have scopes, the link that is printed makes its holder admin, all that is refused is refused alike."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from counterpoint.retrieval.core.errors import BadConfig
from counterpoint.retrieval.store.library import LibraryFile, read_library_file
from counterpoint.service.cli.commands import app as command_line
from counterpoint.service.http import library_routes, model_routes
from counterpoint.service.http.app import create_app
from counterpoint.service.operating.libraries import Libraries
from counterpoint.service.operating.settings import Settings, load_settings, with_token
from tests.helpers.fakes import make_grounder, make_index
from tests.helpers.served import opened

KEYS = {name: f"a-key-of-{name}-long-enough" for name in ("first", "reader", "writer", "other", "boss")}
SCOPES = {"writer": "write", "other": "write", "boss": "admin"}
TOKEN = "the-token-of-this-start"
CLAIM = {"claim": "zeta changes pressure"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Libraries "open", and "hidden", which only the key of `writer` may see."""
    folder = tmp_path_factory.mktemp("libraries")
    for name in ("open", "hidden"):
        document = {"pmid": "1", "title": name, "abstract": "Zeta is for pressure."}
        index = make_index(tmp_path_factory.mktemp(name), [document])
        index.close()
        index.folder.rename(folder / name)
    return folder


@pytest.fixture
def folder(made: Path) -> Path:
    for name, keys in (("open", ()), ("hidden", ("writer",))):
        file = read_library_file(made / name)
        assert file
        LibraryFile(file.id, keys=keys).write(made / name)
    return made


def served(folder: Path, **settings: Any) -> TestClient:
    libraries = Libraries(None, folder, lambda index: make_grounder(index)[0])
    return opened(create_app(libraries, Settings.model_validate({"token": TOKEN, "port": 8123, **settings})))  # type: ignore[return-value]


@pytest.fixture
def client(folder: Path, tmp_path: Path) -> Iterator[TestClient]:
    """A service on this machine, without keys."""
    with served(folder, state=str(tmp_path / "state")) as client:
        yield client


@pytest.fixture
def keyed(folder: Path, tmp_path: Path) -> Iterator[TestClient]:
    """A service with keys."""
    with served(folder, keys=KEYS, scopes=SCOPES, state=str(tmp_path / "state")) as client:
        yield client


def key(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {KEYS[name]}"}


def names(client: TestClient, **headers: str) -> list[str]:
    return [one["name"] for one in client.get("/v1/libraries", headers=headers).json()["libraries"]]


def test_plain_loopback_asks_and_remembers_and_changes_nothing(client: TestClient) -> None:
    assert client.post("/v1/ground", json=CLAIM).status_code == 200
    assert client.post("/v1/saved", json=CLAIM).status_code == 200
    opinion = {**CLAIM, "pmid": "1", "shown": "support", "right": "neutral"}
    assert client.post("/v1/feedback", json=opinion).status_code == 200
    assert client.delete("/v1/history").status_code == 204
    assert client.get("/v1/libraries").json()["scope"] == "read" and names(client) == ["open"]
    assert client.patch("/v1/libraries/open", json={"name": "Mine"}).status_code == 403


def test_the_link_that_is_printed_makes_its_holder_admin(client: TestClient) -> None:
    assert client.get("/?token=another", follow_redirects=False).status_code == 403
    answer = client.get(f"/?token={TOKEN}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "./")
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith(f"counterpoint-8123={TOKEN};") and "httponly" in cookie and "samesite=strict" in cookie
    assert client.get("/v1/libraries").json()["scope"] == "admin" and names(client) == ["hidden", "open"]
    changed = client.patch("/v1/libraries/open", json={"name": " Herz & Gefäße ", "description": "Mine.", "keys": ["x"]}).json()
    assert (changed["name"], changed["description"]) == ("Herz & Gefäße", "Mine.")
    assert client.post("/v1/ground?library=Herz %26 Gefäße", json=CLAIM).status_code == 200
    for other in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
        assert client.patch("/v1/libraries/hidden", json={"name": "Mine"}, headers=other).status_code == 403
    client.cookies.clear()
    assert names(client) == []


def test_each_key_does_what_its_scope_says(keyed: TestClient) -> None:
    scopes = {name: keyed.get("/v1/libraries", headers=key(name)).json()["scope"] for name in KEYS}
    assert scopes == {"first": "read", "reader": "read", "writer": "write", "other": "write", "boss": "admin"}
    seen = {name: names(keyed, **key(name)) for name in KEYS}
    both = ["hidden", "open"]
    assert seen == {"first": ["open"], "reader": ["open"], "writer": both, "other": ["open"], "boss": both}
    assert keyed.patch("/v1/libraries/hidden", json={"description": "d"}, headers=key("writer")).status_code == 200
    assert keyed.patch("/v1/libraries/hidden", json={"keys": []}, headers=key("writer")).status_code == 403
    assert keyed.patch("/v1/libraries/hidden", json={"keys": []}, headers=key("boss")).status_code == 200
    assert names(keyed, **key("reader")) == ["hidden", "open"]
    assert keyed.patch("/v1/libraries/nothing", json={"name": "x"}, headers=key("boss")).status_code == 404
    assert keyed.get(f"/?token={TOKEN}", follow_redirects=False).status_code == 303
    assert keyed.get("/v1/libraries").json()["scope"] == "admin"


READ = re.compile(r"(/v1)?/(ground|answer)(/.*)?|/v1/(text|evidence|classify|history|saved|alerts|feedback|memory)(/.*)?")
"""The calls by which a reader changes nothing but what is remembered for them."""
IDS = ("open", "hidden", "nothing", "0123456789ab", "open%00", "x" * 199)
BODIES: tuple[dict[str, Any], ...] = (
    {"json": {"name": "x"}}, {"json": {"keys": []}}, {"json": {}}, {"json": {"id": "x"}}, {"content": b"{"}, {"content": b""},
)  # fmt: skip
TRICKS: tuple[dict[str, str], ...] = (
    {}, {"Cookie": "counterpoint-8123=wrong"}, {"Cookie": f"counterpoint={TOKEN}"}, {"X-Forwarded-For": "127.0.0.1"},
    {"X-Scope": "admin", "Forwarded": "for=127.0.0.1"}, {"X-HTTP-Method-Override": "GET"},
)  # fmt: skip


@pytest.mark.parametrize("sender", ["nobody", "reader"])
def test_what_is_refused_is_refused_alike(folder: Path, sender: str) -> None:
    settings, headers = ({"keys": KEYS, "scopes": SCOPES}, key("reader")) if sender == "reader" else ({}, {})
    refusals: set[tuple[str, int, str]] = set()
    count = 0
    with served(folder, **settings) as client:
        paths = client.app.openapi()["paths"]  # type: ignore[attr-defined]
        calls = {(method.upper(), path) for path, item in paths.items() for method in item if method != "get"}
        changes = {(method, path) for method, path in calls if not READ.fullmatch(path)}
        routers = {"write": library_routes.changes, "admin": model_routes.router}
        scoped: dict[tuple[str, str], str] = {}
        for scope, router in routers.items():
            scoped |= {(method, one.path): scope for one in router.routes for method in one.methods}  # type: ignore[attr-defined]
        assert changes <= scoped.keys() and len(changes) >= 8
        for ((method, path), scope), id, trick in product(sorted(scoped.items()), IDS, TRICKS):
            body = BODIES[count % len(BODIES)]
            at = re.sub(r"{\w+}", "x", path.replace("{id}", id))
            answer = client.request(method, f"{at}?token={TOKEN}&scope=admin", headers=headers | trick, **body)
            refusals.add((scope, answer.status_code, answer.json()["detail"]))
            count += 1
    assert count > 300 and len(refusals) == 2
    assert all(status == 403 and f"scope {scope}" in said for scope, status, said in refusals)
    assert all(read_library_file(folder / name).name == "" for name in ("open", "hidden"))  # type: ignore[union-attr]


def test_another_keys_library_is_404_in_every_route_like_one_that_does_not_exist(keyed: TestClient, folder: Path) -> None:
    """Every call that takes a library, asked for one that is hidden and one that is not there: only the name asked differs."""
    hidden = read_library_file(folder / "hidden")
    assert hidden
    paths = keyed.app.openapi()["paths"]  # type: ignore[attr-defined]
    parameters = {(method, path): call.get("parameters", ()) for path, item in paths.items() for method, call in item.items()}
    asked = [call for call, known in parameters.items() if any(one["name"] == "library" for one in known)]
    assert len(asked) > 25
    body = {"claim": "zeta changes pressure", "pmid": "1", "shown": "support", "right": "neutral", "result": {}}
    for method, path in asked:
        for sent in (None, body):
            said = []
            for library in (hidden.id, "hidden", "nothing"):
                at = path.replace("{id}", "x").replace("{pmid}", "1")
                answer = keyed.request(method, at, params={"library": library, "q": "zeta"}, headers=key("other"), json=sent)
                said.append((answer.status_code, answer.json()["detail"].replace(library, "NAME")))
            assert set(said) == {(404, said[0][1])}, (method, path, said)
    # The same where the library is in the path, also for a key that may change those it sees.
    bodies = {"patch": {"name": "x"}, "post": {"add": []}}
    named = [(method, path) for path, item in paths.items() for method in item if path.startswith("/v1/libraries/{id}")]
    assert len(named) >= 5
    for method, path in named:
        said = []
        for library in (hidden.id, "hidden", "nothing"):
            at = re.sub(r"{\w+}", "x", path.replace("{id}", library))
            answer = keyed.request(method, at, headers=key("other"), json=bodies.get(method))
            said.append((answer.status_code, answer.json()["detail"].replace(library, "NAME")))
        assert len(set(said)) == 1 and said[0][0] in (404, 422), (method, path, said)
    for path in ("/health", "/metrics"):
        text = keyed.get(path, headers=key("reader")).text
        assert "hidden" not in text and hidden.id not in text and '"open"' not in text


def test_the_first_key_of_a_container_is_admin_and_settings_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings.model_validate({"keys": KEYS, "scopes": SCOPES, "first_scope": "admin"})
    assert [settings.scope_of(name) for name in KEYS] == ["admin", "read", "write", "write", "admin"]
    assert with_token(Settings()).token and not with_token(Settings(host="0.0.0.0")).token
    monkeypatch.setenv("COUNTERPOINT_SCOPES", '{"nobody": "write"}')
    with pytest.raises(BadConfig, match=r"The setting scopes, from the environment, .*'nobody' is no holder of a key"):
        load_settings()
    monkeypatch.setenv("COUNTERPOINT_SCOPES", "write")
    with pytest.raises(BadConfig, match=r"should be a JSON object, as in COUNTERPOINT_SCOPES="):
        load_settings()
    monkeypatch.setenv("COUNTERPOINT_SCOPES", "")
    monkeypatch.setenv("COUNTERPOINT_TOKEN", TOKEN)
    assert TOKEN not in CliRunner().invoke(command_line, ["config"]).stdout


@pytest.mark.parametrize(
    "body", [{"name": "a/b"}, {"name": ""}, {"name": "hidden"}, {"name": "a\nb"}, {"description": "x" * 1001}]
)
def test_a_name_that_is_none_or_taken_is_refused(keyed: TestClient, body: dict[str, str]) -> None:
    answer = keyed.patch("/v1/libraries/open", json=body, headers=key("boss"))
    assert answer.status_code == 422 and answer.json()["detail"].endswith(".")
    assert names(keyed, **key("boss")) == ["hidden", "open"]

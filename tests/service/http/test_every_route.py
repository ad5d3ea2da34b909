"""Every route that there is, asked by whoever may not: what is another key's cannot be told from what does not exist.

The routes are read from the app, so that a new one is asked too, and the ids of everything that is hidden are tried in each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from counterpoint.retrieval.store.library import LibraryFile, read_library_file
from counterpoint.service.http import job_routes
from counterpoint.service.http.app import create_app
from counterpoint.service.memory.database import make_id, make_timestamp
from counterpoint.service.memory.schemas import AlertData
from counterpoint.service.operating.jobs import Work
from counterpoint.service.operating.settings import Settings
from tests.helpers.fakes import make_index
from tests.helpers.served import fake_libraries, opened

KEYS = {name: f"a-key-of-{name}-long-enough" for name in ("boss", "writer", "reader")}
TOKEN, SECRET = "the-token-of-this-start", "topsecret"
FOR_ALL = {"/", "/docs", "/favicon.ico", "/page/{name}", "/health", "/openapi.json"}
"""What is served to everybody: the page with its files, and whether the service is ready."""
BY_TICKET = {"/v1/packs/{ticket}"}
"""What a ticket opens in place of a key; one that nobody gave opens nothing."""
TRICKS: tuple[dict[str, str], ...] = (
    {}, {"X-HTTP-Method-Override": "GET"}, {"X-Method-Override": "DELETE", "X-HTTP-Method": "PATCH"},
    {"X-Original-URL": "/v1/libraries/hidden", "X-Rewrite-URL": "/v1/libraries/hidden"}, {"X-Forwarded-For": "127.0.0.1"},
    {"Forwarded": "for=127.0.0.1;host=localhost", "X-Real-IP": "127.0.0.1"}, {"X-Scope": "admin", "X-Library": "hidden"},
    {"Cookie": "counterpoint-8123=wrong"}, {"Cookie": f"counterpoint={TOKEN}; counterpoint-8000={TOKEN}"},
    {"X-Forwarded-Host": "localhost", "X-Forwarded-Prefix": "/v1"}, {"Accept": "application/json, */*;q=0"},
    {"Range": "bytes=0-9"},
)  # fmt: skip


class World:
    """A service with an open library and a hidden one, of which everything belongs to the key `boss`."""

    def __init__(self, client: TestClient, folder: Path) -> None:
        self.client = client
        app: Any = client.app
        hidden = read_library_file(folder / "hidden")
        assert hidden
        self.hidden = hidden.id
        parts, boss = app.state.parts, {"X-API-Key": KEYS["boss"]}
        claim = {"claim": f"zeta changes pressure {SECRET}"}
        at: Any = {"params": {"library": "hidden"}, "headers": boss}
        self.saved = client.post("/v1/saved", json=claim, **at).json()["id"]
        client.post("/v1/ground", json=claim, **at)
        self.asked = client.get("/v1/history", **at).json()["entries"][0]["id"]
        opinion = {**claim, "pmid": "777", "shown": "support", "right": "neutral"}
        self.opinion = client.post("/v1/feedback", json=opinion, **at).json()["id"]
        self.alert = make_id()
        paper = client.get(f"/v1/saved/{self.saved}", **at).json()["papers"][0]
        alert = AlertData(claim=SECRET, detail=SECRET, paper=paper, link="#", index="x", index_version=1, models={})
        row = (self.alert, "boss", hidden.id, make_timestamp(), self.saved, "first contradiction", "777", alert.model_dump_json())
        with parts.memory.database.change() as change:
            change.execute("INSERT INTO alerts VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        self.job = parts.runner.jobs.add(hidden.id, Work(removed=(SECRET,))).id
        parts.runner.jobs.set(self.job, state="failed", stage=SECRET, said=f'["{SECRET}"]')
        self.calls = sorted(walk(app))
        self.description = app.openapi()
        self.bodies = {call: example_of(self.description, *call) for call in self.calls}

    def names(self) -> dict[str, str]:
        """What is hidden, by every name that it can be asked by, each with a name of the same kind of something that is not."""
        ids = (self.hidden, self.saved, self.asked, self.opinion, self.alert, self.job)
        others = {"hidden": "hiddem", "HIDDEN": "HIDDEM", "777": "778", "hidden%2F": "hiddem%2F"}
        return {**dict.fromkeys(ids, "0123456789ab"), **others}

    def state(self) -> Any:
        """All that the key `boss` has, which nobody else may change."""
        boss = {"X-API-Key": KEYS["boss"]}
        paths = ("libraries", "jobs", "saved", "history", "alerts", "feedback")
        return [self.client.get(f"/v1/{path}", headers=boss).json() for path in paths]


def walk(app: Any) -> Iterator[tuple[str, str]]:
    """Every method and path that the app answers, whether it is described or not."""

    def go(routes: Any) -> Iterator[tuple[str, str]]:
        for one in routes:
            router = getattr(one, "original_router", None)
            if router is not None:
                yield from go(router.routes)
            else:
                yield from ((method, one.path.replace(":path}", "}")) for method in one.methods)

    found = set(go(app.routes))
    described = {(method.upper(), path) for path, item in app.openapi()["paths"].items() for method in item}
    assert described <= found
    return iter(found)


def example_of(description: Any, method: str, path: str) -> Any:
    """A body as the description shows it; None where the call takes none."""
    content = description["paths"].get(path, {}).get(method.lower(), {}).get("requestBody", {}).get("content", {})
    media = content.get("application/json", {})
    schema = media.get("schema", {})
    model = description["components"]["schemas"].get(schema.get("$ref", "").rpartition("/")[2], {})
    for place in (media, schema, model):
        if "example" in place:
            return place["example"]
        if examples := place.get("examples"):
            first = examples[0] if isinstance(examples, list) else next(iter(examples.values()))
            return first.get("value", first) if isinstance(examples, dict) else first
    return dict.fromkeys(model.get("required", ()), "zinc") if content else None


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("libraries")
    for name, pmid, title in (("open", "1", "Open"), ("hidden", "777", SECRET)):
        index = make_index(tmp_path_factory.mktemp(name), [{"pmid": pmid, "title": title, "abstract": "Zeta is for pressure."}])
        index.close()
        index.folder.rename(folder / name)
        file = read_library_file(folder / name)
        keys = ("boss",) if name == "hidden" else ()
        LibraryFile(file.id if file else f"{pmid:0>12}", description=title, keys=keys).write(folder / name)
    return folder


@pytest.fixture(autouse=True)
def nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_routes, "look_up", lambda source, query: (0, []))
    monkeypatch.setattr(job_routes, "list_zotero", list)
    monkeypatch.setattr(job_routes, "list_zotero_web", lambda library, key, place: [])


@pytest.fixture
def world(made: Path, tmp_path: Path) -> Iterator[World]:
    options = {"keys": KEYS, "scopes": {"boss": "admin", "writer": "write"}, "token": TOKEN, "port": 8123}
    settings = Settings.model_validate({**options, "state": str(tmp_path / "state")})
    with opened(create_app(fake_libraries(None, made), settings)) as client:
        yield World(client, made)


def ask(world: World, method: str, path: str, headers: dict[str, str], **options: Any) -> tuple[int, str]:
    body = world.bodies.get((method, options.pop("route", path)))
    answer = world.client.request(method, path, headers=headers, json=body, follow_redirects=False, **options)
    return answer.status_code, answer.text


def test_without_a_key_every_route_says_the_same(world: World) -> None:
    refused, tricks = set(), cycle(TRICKS)
    for method, path in world.calls:
        for wrong in ({}, {"X-API-Key": "wrong"}, {"Authorization": f"Basic {KEYS['boss']}"}, {"Authorization": KEYS["boss"]}):
            for trick in islice(tricks, 2):
                at = re.sub(r"{[^}]*}", "777", path)
                status, text = ask(world, method, f"{at}?library=hidden", {**trick, **wrong}, route=path)
                assert SECRET not in text and world.hidden not in text, (method, path)
                if path in BY_TICKET:
                    assert status == 404, (method, path, text)
                elif path not in FOR_ALL:
                    refused.add((status, re.sub(r'"instance":.*|"request_?id":.*', "", text)))
    assert len({status for status, _ in refused}) == 1 and len(refused) == 2, refused
    assert {status for status, _ in refused} == {401}


@pytest.mark.parametrize("sender", ["reader", "writer"])
def test_what_is_hidden_is_for_every_route_as_what_is_not_there(world: World, sender: str) -> None:
    before, tricks, count = world.state(), cycle(TRICKS), 0
    key = {"X-API-Key": KEYS[sender]}
    for method, path in world.calls:
        parameters = world.description["paths"].get(path, {}).get(method.lower(), {}).get("parameters", ())
        takes = "{" in path or any(one["name"] == "library" for one in parameters)
        for name, other in islice(world.names().items(), None if takes else 1):
            for trick in islice(tricks, 1):
                said = []
                for asked in (name, other):
                    at = re.sub(r"{[^}]*}", asked, path)
                    status, text = ask(world, method, f"{at}?library={asked}&token={asked}", {**key, **trick}, route=path)
                    told = text.replace(asked.replace("%2F", "/"), "NAME").replace(asked, "NAME")
                    assert SECRET not in told and world.hidden not in told and world.job not in told, (method, path, told)
                    said.append((status, re.sub(r'"(instance|request_id|id)": ?"[^"]*"', "", told)))
                    count += 1
                if path not in FOR_ALL:
                    assert said[0] == said[1] or said[0][0] == said[1][0] < 300, (method, path, name, said)
                    assert said[0][0] < 500, (method, path, said)
    assert world.state() == before and count > 700


def test_paths_written_otherwise_lead_nowhere_else(world: World) -> None:
    before, key = world.state(), {"X-API-Key": KEYS["reader"]}
    for method, path in world.calls:
        at = re.sub(r"{[^}]*}", "hidden", path)
        replaced = [("/v1/", one) for one in ("/V1/", "/v1/./", "/v1/x/../", "/v1/%2e%2e/v1/")] + [("hidden", "%68idden")]
        added = [f"/{at}", *(f"{at}{end}" for end in ("/", "//", ";x=1", "%00", "%20"))]
        for other in (*added, *(at.replace(*one) for one in replaced), f"/page/..%2f{at}", f"/v1/libraries/open/..%2f..{at}"):
            status, text = ask(world, method, f"{other}?library=open&library=hidden", key, route=path)
            assert SECRET not in text and world.hidden not in text and status < 500, (method, other, status)
    assert world.state() == before


def test_plain_loopback_sees_what_is_open_and_changes_nothing(made: Path, tmp_path: Path) -> None:
    settings = Settings.model_validate({"token": TOKEN, "port": 8123, "state": str(tmp_path / "state")})
    with opened(create_app(fake_libraries(None, made), settings)) as client:
        app: Any = client.app
        files, tricks = {one: one.read_bytes() for one in made.rglob("library.json")}, cycle(TRICKS)
        for method, path in sorted(walk(app)):
            for trick in islice(tricks, 3):
                at = re.sub(r"{[^}]*}", "hidden", path)
                body = example_of(app.openapi(), method, path)
                answer = client.request(method, f"{at}?library=hidden", headers=trick, json=body, follow_redirects=False)
                assert SECRET not in answer.text and answer.status_code < 500, (method, path, trick, answer.text)
        assert files == {one: one.read_bytes() for one in made.rglob("library.json")}

"""Several libraries over HTTP: every call takes one, what is remembered belongs to it, a new or damaged one is known at once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree as ET

import pytest
from fastapi.testclient import TestClient

from counterpoint.indexes.update import update
from counterpoint.retrieval.store.library import LibraryFile, read_library_file
from counterpoint.service.client import Counterpoint, CounterpointProblem
from counterpoint.service.http.app import create_app
from counterpoint.service.operating.libraries import Libraries
from counterpoint.service.operating.settings import Settings
from tests.conftest import WriteCorpus
from tests.helpers.answer_fakes import make_answerer
from tests.helpers.fakes import make_index, make_reading_grounder
from tests.helpers.ready import wait_until
from tests.helpers.served import opened, read_events

CLAIM = {"claim": "zeta changes pressure"}
ANN, BOB = "a-key-of-ann-long-enough", "a-key-of-bob-long-enough"


def make_library(folder: Path, name: str, side: str) -> Path:
    """A library with one paper on a side of the claim, whose id names both."""
    abstract = f"Zeta is {side} pressure."
    index = make_index(folder.parent / f"made-{name}", [{"pmid": f"{name}-{side}", "title": name, "abstract": abstract}])
    index.close()
    return index.folder.rename(folder / name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Libraries a and b, whose papers are of different opinions."""
    (tmp_path / "libraries").mkdir()
    make_library(tmp_path / "libraries", "a", "for")
    make_library(tmp_path / "libraries", "b", "against")
    return tmp_path / "libraries"


def app_over(folder: Path, **settings: Any) -> Any:
    libraries = Libraries(None, folder, make_reading_grounder, lambda one: make_answerer(one.index))
    return create_app(libraries, Settings.model_validate(settings))


@pytest.fixture
def client(folder: Path, tmp_path: Path) -> Iterator[TestClient]:
    with opened(app_over(folder, state=str(tmp_path / "state"), reload_seconds=0.05)) as client:
        yield client


def found(client: TestClient, library: str = "") -> list[str]:
    answer = client.post("/v1/ground", params={"library": library} if library else {}, json=CLAIM)
    assert answer.status_code == 200, answer.text
    return [one["pmid"] for side in ("contradicting", "supporting") for one in answer.json()[side]]


def ids(client: TestClient) -> dict[str, str]:
    return {one["name"]: one["id"] for one in client.get("/v1/libraries").json()["libraries"]}


def test_libraries_are_listed_and_each_answers_by_its_name_or_id(client: TestClient) -> None:
    listed = client.get("/v1/libraries").json()["libraries"]
    assert [{**one, "id": ""} for one in listed] == [
        {"id": "", "name": name, "description": "", "papers": 1, "full_texts": 0, "vectors": False, "format": 4, "damaged": "",
         "kept": True, "linked": False}
        for name in ("a", "b")
    ]  # fmt: skip
    assert found(client) == found(client, "a") == ["a-for"]
    assert found(client, "b") == found(client, listed[1]["id"]) == ["b-against"]
    for path in ("/v1/search?q=zeta", "/v1/index?", "/v1/examples?", "/v1/documents/b-against?"):
        assert client.get(f"{path}&library=b").status_code == 200
    assert client.get("/v1/documents/b-against").status_code == 404
    assert client.get("/v1/index?library=b").json()["name"] == "b"
    last = read_events(client.post("/v1/ground/stream?library=b", json=CLAIM).text)[-1][1]
    assert last["contradicting"][0]["pmid"] == "b-against"
    assert client.get("/health").json()["index"] == ""


@pytest.mark.parametrize("unknown", ["nothing", "../b", "b/", "%00", "B" * 200])
def test_one_that_is_not_there_is_404_in_every_route(client: TestClient, unknown: str) -> None:
    paths = client.app.openapi()["paths"]  # type: ignore[attr-defined]
    asked = [(method, path) for path, item in paths.items() for method, call in item.items() if takes_library(call)]
    assert len(asked) > 25
    for method, path in asked:
        body = {"claim": "zeta changes pressure", "question": "Does zeta?", "text": "Zeta.", "hypothesis": "Zeta.", "k": 1}
        answer = client.request(
            method, path.replace("{id}", "x").replace("{pmid}", "1"), params={"library": unknown, "q": "zeta"}
        )
        body_answer = client.request(method, path.replace("{id}", "x"), params={"library": unknown, "q": "zeta"}, json=body)
        # Who may only read learns nothing of what is shared.
        shared = path == "/v1/shared" or (path.startswith("/v1/shared") and method != "get")
        refused = 403 if shared else 404
        assert {answer.status_code, body_answer.status_code} == {refused}, (method, path)


def takes_library(call: dict[str, Any]) -> bool:
    return any(one["name"] == "library" for one in call.get("parameters", ()))


def test_a_new_one_is_known_at_once_and_one_that_is_gone_too(client: TestClient, folder: Path) -> None:
    make_library(folder, "c", "for")
    assert found(client, "c") == ["c-for"] and list(ids(client)) == ["a", "b", "c"]
    shutil.rmtree(folder / "c")
    assert client.post("/v1/ground?library=c", json=CLAIM).status_code == 404 and list(ids(client)) == ["a", "b"]
    (folder / "a").rename(folder / "z")
    assert found(client, "z") == ["a-for"] and found(client) == ["b-against"]


def test_a_damaged_one_is_named_and_the_other_serves(folder: Path) -> None:
    (folder / "a" / "manifest.json").write_text("{")
    with opened(app_over(folder)) as client:
        assert [bool(one["damaged"]) for one in client.get("/v1/libraries").json()["libraries"]] == [True, False]
        assert found(client) == ["b-against"]
        refused = client.post("/v1/ground?library=a", json=CLAIM)
        assert refused.status_code == 503 and "manifest.json cannot be read" in refused.json()["detail"]


def test_without_a_library_the_service_is_ready_and_says_so(tmp_path: Path) -> None:
    with opened(app_over(tmp_path, reload_seconds=0.05)) as client:
        assert client.get("/v1/libraries").json() == {"libraries": [], "scope": "read"}
        assert "no library yet" in client.post("/v1/ground", json=CLAIM).json()["detail"]
        (tmp_path / "in").mkdir()
        make_library(tmp_path / "in", "first", "for").rename(tmp_path / "first")
        wait_until(lambda: client.post("/v1/ground", json=CLAIM).status_code == 200)
        assert found(client) == ["first-for"]


def test_what_is_remembered_belongs_to_its_library(client: TestClient) -> None:
    with Counterpoint(http=cast(Any, client), library="b") as b, Counterpoint(http=cast(Any, client)) as every:
        assert [one.name for one in every.libraries()] == ["a", "b"]
        every.ground(CLAIM["claim"])
        asked, saved = b.ground(CLAIM["claim"]), b.save(CLAIM["claim"])
        b.feedback(asked, "b-against", "neutral")
        own = ids(client)
        assert [one.library for one in every.history()] == [own["b"], own["a"]]
        assert [one.library for one in b.history()] == [own["b"]] and next(b.history()).link.endswith(f"&library={own['b']}")
        assert [one.library for one in [*every.saved(), saved]] == [own["b"]] * 2
        every.library = "a"
        assert every.saved() == [] and client.get("/v1/feedback?library=a").json() == {"feedback": []}
        assert every.memory().entries == 1
        with pytest.raises(CounterpointProblem, match="no entry with this id"):
            every.history_entry(next(b.history()).id)
        b.delete_history()
        every.library = ""
        assert [one.library for one in every.history()] == [own["a"]]


def test_only_the_library_that_changed_is_watched(client: TestClient, folder: Path, write_corpus: WriteCorpus) -> None:
    for name in ("a", "b"):
        assert client.post(f"/v1/saved?library={name}", json=CLAIM).status_code == 200
    update(folder / "a", [write_corpus({"pmid": "new", "title": "New", "abstract": "Zeta is against pressure."})])
    wait_until(lambda: client.get("/v1/alerts").json()["alerts"])
    [alert] = client.get("/v1/alerts?library=a").json()["alerts"]
    assert (alert["paper"]["pmid"], alert["library"]) == ("new", ids(client)["a"]) and alert["library"] in alert["link"]
    assert client.get("/v1/alerts?library=b").json()["alerts"] == []
    assert len(ET.fromstring(client.get("/v1/alerts.atom").content).findall("{http://www.w3.org/2005/Atom}entry")) == 1


def test_another_keys_library_is_like_one_that_is_not_there(folder: Path, tmp_path: Path) -> None:
    file = read_library_file(folder / "b")
    assert file
    with opened(app_over(folder, keys={"ann": ANN, "bob": BOB}, state=str(tmp_path / "state"))) as client:
        ann, bob = ({"X-API-Key": key} for key in (ANN, BOB))
        assert client.post("/v1/saved?library=b", json=CLAIM, headers=bob).status_code == 200
        assert client.post("/v1/ground?library=b", json=CLAIM, headers=bob).status_code == 200
        [entry] = client.get("/v1/history", headers=bob).json()["entries"]
        LibraryFile(file.id, keys=("ann",)).write(folder / "b")
        for asked in (file.id, "b", "nothing"):
            refused = client.post("/v1/ground", params={"library": asked}, json=CLAIM, headers=bob)
            assert (refused.status_code, refused.json()["detail"]) == (
                404, f"There is no library “{asked}”; list the libraries and choose one by its id or name.",
            )  # fmt: skip
        assert [one["name"] for one in client.get("/v1/libraries", headers=bob).json()["libraries"]] == ["a"]
        assert [one["name"] for one in client.get("/v1/libraries", headers=ann).json()["libraries"]] == ["a", "b"]
        assert client.get("/v1/history", headers=bob).json()["entries"] == []
        assert client.get(f"/v1/history/{entry['id']}", headers=bob).status_code == 404
        assert client.get("/v1/saved", headers=bob).json()["saved"] == []
        assert client.get("/v1/memory", headers=bob).json()["saved"] == 0

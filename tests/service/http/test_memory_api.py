"""The routes of what is remembered: each holder sees their own, links say what changed, and nothing is kept where it is off."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree as ET

import pytest
from fastapi.testclient import TestClient

from counterpoint.indexes.update import update
from counterpoint.service.client import Counterpoint, CounterpointProblem
from counterpoint.service.http.app import create_app
from counterpoint.service.operating.settings import Settings
from tests.conftest import WriteCorpus
from tests.helpers.fakes import make_index
from tests.helpers.ready import wait_until
from tests.helpers.served import fake_libraries, opened, over_reader

CLAIM = "zeta changes pressure"
DOCUMENTS = [
    {"pmid": "1", "title": "One", "abstract": "Zeta is for pressure."},
    {"pmid": "2", "title": "Two", "abstract": "Zeta and pressure were measured."},
    {"pmid": "101", "title": "Best", "abstract": "Omega lowers blood sugar in most adults with diabetes."},
]
AGAINST = {"pmid": "3", "title": "Three \x0b <b>", "abstract": "Zeta is against pressure & more."}
ANN, BOB = "a-key-of-ann-long-enough", "a-key-of-bob-long-enough"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_index(tmp_path_factory.mktemp("memory"), DOCUMENTS).folder


def served(folder: Path, **settings: Any) -> AbstractContextManager[TestClient]:
    return opened(over_reader(folder, Settings.model_validate(settings)))


@pytest.fixture
def client(folder: Path, tmp_path: Path) -> Iterator[TestClient]:
    with served(folder, state=str(tmp_path / "state")) as client:
        yield client


def test_what_is_asked_goes_into_the_history_once(client: TestClient) -> None:
    for path in ("/v1/ground", "/ground", "/v1/ground/stream"):
        client.post(path, json={"claim": CLAIM, "question": "Zeta pressure?", "known_pmids": ["2"]})
    client.post("/v1/answer", json={"question": "Does omega lower blood sugar?"})
    client.post("/v1/text", json={"text": "Omega lowers sugar."})
    client.post("/v1/ground/batch", json={"claims": [{"claim": "omega sleep"}]})
    listed = client.get("/v1/history").json()
    assert [(one["mode"], one["text"]) for one in listed["entries"]] == [
        ("question", "Does omega lower blood sugar?"), ("claim", CLAIM),
    ]  # fmt: skip
    assert listed["next_before"] is None
    entry = client.get(f"/v1/history/{listed['entries'][1]['id']}").json()
    assert [(one["pmid"], one["stance"]) for one in entry["papers"]] == [("1", "support")]
    assert entry["changed"] == []
    made = entry["provenance"]
    assert entry["link"].startswith("#claim=zeta%20changes%20pressure&question=Zeta%20pressure%3F&known=2&config=counterpoint")
    assert f"&index={made['index']}&model=" in entry["link"]


def test_the_history_comes_in_pages_and_can_be_deleted(client: TestClient) -> None:
    for number in range(3):
        client.post("/v1/ground", json={"claim": f"zeta changes pressure {number}"})
    with Counterpoint(http=cast(Any, client)) as counterpoint:
        assert [one.text[-1] for one in counterpoint.history(page=2)] == ["2", "1", "0"]
        first = next(counterpoint.history())
        counterpoint.delete_history(first.id)
        assert [one.text[-1] for one in counterpoint.history()] == ["1", "0"]
        counterpoint.delete_history()
        assert list(counterpoint.history()) == []
        with pytest.raises(CounterpointProblem, match="no entry with this id") as caught:
            counterpoint.history_entry(first.id)
        assert caught.value.status == 404


def test_a_changed_index_is_told_and_the_saved_claim_is_watched_by_the_service(tmp_path: Path, write_corpus: WriteCorpus) -> None:
    index = make_index(tmp_path / "own", DOCUMENTS)
    index.close()
    with served(index.folder, state=str(tmp_path / "state"), reload_seconds=0.05) as client:
        saved = client.post("/v1/saved", json={"claim": CLAIM, "note": "mine"}).json()
        assert (saved["note"], saved["index_version"], saved["changed"]) == ("mine", 1, [])
        client.post("/v1/ground", json={"claim": CLAIM})
        update(index.folder, [write_corpus(AGAINST)])
        wait_until(lambda: client.get("/v1/alerts").json()["alerts"])
        [alert] = client.get("/v1/alerts").json()["alerts"]
        assert (alert["kind"], alert["paper"]["pmid"], alert["saved"]) == ("first contradiction", "3", saved["id"])
        [now] = client.get("/v1/saved").json()["saved"]
        assert now["index_version"] == 2 and now["changed"] == []
        [entry] = client.get("/v1/history").json()["entries"]
        assert entry["changed"][0].startswith(f"The index has changed since: it was {saved['provenance']['index']}")
        assert client.get("/v1/alerts", params={"since": "2999-01-01"}).json()["alerts"] == []
        feed = ET.fromstring(client.get("/v1/alerts.atom").content)
        atom = {"a": "http://www.w3.org/2005/Atom"}
        assert [one.text for one in feed.findall("a:entry/a:title", atom)] == [f"First contradiction: {CLAIM}"]
        assert "“Zeta is against pressure & more.”" in str(feed.findtext("a:entry/a:summary", namespaces=atom))
        assert all(feed.findtext(f"a:{name}", namespaces=atom) for name in ("id", "title", "updated", "author/a:name"))
        assert client.delete(f"/v1/alerts/{alert['id']}").status_code == 204
        assert client.get("/v1/alerts").json()["alerts"] == []


def test_what_changed_in_a_closed_library_is_told_without_opening_it(tmp_path: Path, write_corpus: WriteCorpus) -> None:
    folder = tmp_path / "libraries"
    for name in ("first", "other"):
        index = make_index(tmp_path / f"made-{name}", DOCUMENTS)
        index.close()
        folder.mkdir(exist_ok=True)
        index.folder.rename(folder / name)
    app = create_app(fake_libraries(None, folder, most_open=1), Settings(state=str(tmp_path / "state"), reload_seconds=0))
    with opened(app) as client:
        client.post("/v1/ground?library=other", json={"claim": CLAIM})
        client.post("/v1/ground?library=first", json={"claim": CLAIM})
        libraries = app.state.parts.libraries
        other = libraries.find("other").id
        assert libraries.opened(other) is None
        assert [one["changed"] for one in client.get("/v1/history").json()["entries"]] == [[], []]
        update(folder / "other", [write_corpus(AGAINST)])
        [entry] = client.get("/v1/history?library=other").json()["entries"]
        assert entry["changed"][0].startswith("The index has changed since") and libraries.opened(other) is None


def test_no_holder_sees_what_another_asked(folder: Path, tmp_path: Path) -> None:
    with served(folder, state=str(tmp_path / "state"), keys={"ann": ANN, "bob": BOB}) as client:
        ann, bob = ({"X-API-Key": key} for key in (ANN, BOB))
        client.post("/v1/ground", json={"claim": CLAIM}, headers=ann)
        saved = client.post("/v1/saved", json={"claim": CLAIM}, headers=ann).json()
        opinion = {"claim": CLAIM, "pmid": "1", "sentence": "Zeta is for pressure.", "shown": "support", "right": "neutral"}
        said = client.post("/v1/feedback", json=opinion, headers=ann).json()
        [entry] = client.get("/v1/history", headers=ann).json()["entries"]
        for path, name in (("history", "entries"), ("saved", "saved"), ("feedback", "feedback"), ("alerts", "alerts")):
            assert client.get(f"/v1/{path}", headers=bob).json()[name] == []
            assert client.get(f"/v1/{path}").status_code == 401
        for path in (f"history/{entry['id']}", f"saved/{saved['id']}", f"feedback/{said['id']}"):
            assert client.delete(f"/v1/{path}", headers=bob).status_code == 404
        assert client.get(f"/v1/saved/{saved['id']}", headers=bob).status_code == 404
        assert client.get(f"/v1/saved/{saved['id']}", headers=ann).status_code == 200
        about = client.get("/v1/memory", headers=ann).json()
        assert (about["on"], about["holder"], about["entries"], about["saved"], about["feedback"]) == (True, "ann", 1, 1, 1)
        # Feed readers send no key: the address stands in for it, and ends with all that is remembered.
        assert client.get("/v1/alerts.atom").status_code == 401
        assert client.get("/v1/alerts.atom?token=wrong").status_code == 404
        assert "for ann" in client.get(f"/{about['feed']}").text
        assert client.delete("/v1/memory", headers=ann).status_code == 204
        assert client.get(f"/{about['feed']}").status_code == 404
        assert client.get("/v1/memory", headers=ann).json()["saved"] == 0


def test_feedback_is_kept_with_what_was_shown(client: TestClient) -> None:
    counterpoint = Counterpoint(http=cast(Any, client))
    found = counterpoint.ground(CLAIM)
    counterpoint.feedback(found, "1", "contradict")
    said = counterpoint.feedback(found, "1", "neutral", comment="It measures nothing.")
    assert (said.sentence, said.shown, said.right) == ("Zeta is for pressure.", "support", "neutral")
    assert said.provenance == found.provenance
    with pytest.raises(CounterpointProblem, match="shows no document"):
        counterpoint.feedback(found, "77", "neutral")
    [kept] = client.get("/v1/feedback").json()["feedback"]
    assert (kept["id"], kept["comment"]) == (said.id, "It measures nothing.")


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"claim": CLAIM, "pmid": "9", "shown": "support", "right": "neutral"}, "The index has no document '9'"),
        ({"claim": CLAIM, "pmid": "1", "sentence": "Never said.", "shown": "support", "right": "neutral"}, "this sentence"),
        ({"claim": " ", "pmid": "1", "shown": "support", "right": "neutral"}, "The claim is empty"),
        ({"claim": CLAIM, "pmid": "1", "shown": "support", "right": "wrong"}, "right should be"),
        ({"claim": CLAIM, "pmid": "1", "shown": "support"}, "right is missing"),
    ],
)  # fmt: skip
def test_feedback_that_cannot_be_used_is_refused(client: TestClient, body: Any, detail: str) -> None:
    answer = client.post("/v1/feedback", json=body)
    assert answer.status_code == 422 and detail in answer.json()["detail"]


def test_a_date_that_is_none_is_refused(client: TestClient) -> None:
    answer = client.get("/v1/alerts", params={"since": "last week"})
    assert answer.status_code == 422 and "'last week' is no date; give one such as 2026-11-22" in answer.json()["detail"]


@pytest.mark.parametrize(
    "settings",
    [{"state": "off"}, {"state": "/proc/nowhere"}, {"state": "", "host": "0.0.0.0"}],
    ids=["off", "cannot be written", "shared without keys"],
)
def test_where_nothing_is_remembered_all_else_works(folder: Path, settings: Any) -> None:
    with served(folder, **settings) as client:
        assert client.post("/v1/ground", json={"claim": CLAIM}).status_code == 200
        assert client.get("/v1/memory").json()["on"] is False
        for path in ("history", "saved", "feedback", "alerts", "alerts.atom"):
            answer = client.get(f"/v1/{path}")
            assert answer.status_code == 404 and "remembers nothing" in answer.json()["detail"]


def test_the_history_alone_can_be_turned_off(folder: Path, tmp_path: Path) -> None:
    with served(folder, state=str(tmp_path / "state"), history=False) as client:
        client.post("/v1/ground", json={"claim": CLAIM})
        assert client.get("/v1/history").json()["entries"] == []
        assert client.post("/v1/saved", json={"claim": CLAIM}).status_code == 200


def test_the_folder_is_its_owners_alone(client: TestClient, tmp_path: Path) -> None:
    client.post("/v1/ground", json={"claim": CLAIM})
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "state" / "memory.sqlite").stat().st_mode & 0o777 == 0o600

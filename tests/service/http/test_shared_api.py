"""Shared results over HTTP: kept as they were, for all who may see their library, until they are withdrawn or it is deleted."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from fastapi.testclient import TestClient

from counterpoint.indexes.update import update
from counterpoint.retrieval.store.library import LibraryFile
from counterpoint.service.client import Counterpoint, CounterpointProblem
from counterpoint.service.http.app import create_app
from counterpoint.service.operating.libraries import Libraries
from counterpoint.service.operating.settings import Settings
from tests.conftest import WriteCorpus
from tests.helpers.answer_fakes import make_answerer
from tests.helpers.fakes import make_index, make_reading_grounder
from tests.helpers.ready import wait_until
from tests.helpers.served import opened, read_events

HOSTILE = '=cmd|"/c calc"!A1 <script>alert(1)</script> </style><img src=x onerror=alert(1)> &amp; "quoted"'
DOCUMENTS: list[dict[str, Any]] = [
    {"pmid": "1", "title": HOSTILE, "abstract": "+Zeta is for pressure.", "year": 2001, "journal": "@Journal <b>",
     "doi": '10.1000/x"><script>alert(2)</script>'},
    {"pmid": "2", "title": "Two", "abstract": "Zeta is against pressure."},
    {"pmid": "ref-3", "title": "Three", "abstract": "Omega is for sugar.", "doi": '10.1000/x"><script>alert(2)</script>'},
]  # fmt: skip
CLAIM = {"claim": "zeta changes pressure <script>alert(3)</script>"}
KEYS = {name: f"a-key-of-{name}-long-enough" for name in ("ann", "bob", "boss", "reader", "outsider")}
SCOPES = {"ann": "write", "bob": "write", "boss": "admin", "outsider": "write"}
TOKEN = "the-token-of-this-start"
# Whatever may stand in a page that opens offline: no element that loads or runs, and no other address than a paper's.
LOADS = re.compile(r"<(script|iframe|object|embed|link|img|form|base)\b|\son\w+=|url\(|@import", re.IGNORECASE)
PAPERS = ("https://pubmed.ncbi.nlm.nih.gov/", "https://doi.org/")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_index(tmp_path_factory.mktemp("made"), DOCUMENTS)
    made.close()
    return made.folder


@pytest.fixture
def folder(tmp_path: Path, index: Path) -> Path:
    """A library "heart", which the key `outsider` may not see, and "open", which all may."""
    for name, keys in (("heart", ("ann", "bob", "reader")), ("open", ())):
        shutil.copytree(index, tmp_path / "libraries" / name)
        LibraryFile(f"id-of-{name}", keys=keys).write(tmp_path / "libraries" / name)
    return tmp_path / "libraries"


def served(folder: Path, **settings: Any) -> TestClient:
    libraries = Libraries(None, folder, make_reading_grounder, lambda one: make_answerer(one.index))
    options = {"token": TOKEN, "state": str(folder.parent / "state"), "reload_seconds": 0.05, **settings}
    return opened(create_app(libraries, Settings.model_validate(options)))  # type: ignore[return-value]


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    with served(folder, keys=KEYS, scopes=SCOPES) as client:
        yield client


def key(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {KEYS[name]}"}


def ask(client: TestClient, path: str = "/v1/ground", body: Any = None, who: str = "ann", library: str = "heart") -> Any:
    answer = client.post(path, params={"library": library}, json=body or CLAIM, headers=key(who))
    assert answer.status_code == 200, answer.text
    return answer.json()


def share(client: TestClient, result: Any, who: str = "ann", name: str = "") -> Any:
    answer = client.post("/v1/shared", json={"result": result, "name": name}, headers=key(who))
    assert answer.status_code == 200, answer.text
    return answer.json()


def read(client: TestClient, id: str, who: str = "reader", **params: str) -> Any:
    return client.get(f"/v1/shared/{id}", params=params, headers=key(who))


def test_a_result_stays_as_it_was_though_its_library_changes(client: TestClient, write_corpus: WriteCorpus, folder: Path) -> None:
    result = ask(client)
    shared = share(client, result)
    assert (shared["mode"], shared["title"], shared["library_name"], shared["by"]) == ("claim", CLAIM["claim"], "heart", "ann")
    assert len(shared["id"]) >= 20 and shared["link"] == f"#shared={shared['id']}&library={shared['library']}"
    assert shared["again"].startswith("#claim=zeta") and shared["provenance"] == result["provenance"]
    update(folder / "heart", [write_corpus([{"pmid": "2", "title": "Two", "abstract": "Zeta is for pressure."}])])
    wait_until(lambda: bool(read(client, shared["id"]).json()["changed"]))
    kept = read(client, shared["id"]).json()
    assert kept["result"] == result != ask(client)
    assert "The index has changed since" in kept["changed"][0]


def test_claims_answers_and_texts_are_shared_as_the_streams_give_them_too(client: TestClient) -> None:
    asked = [
        ("ground", CLAIM, "claim"), ("answer", {"question": "Is zeta for pressure?"}, "question"),
        ("answer", {"question": "What is for sugar?"}, "question"), ("text", {"text": "Zeta is for pressure. Why?"}, "text"),
    ]  # fmt: skip
    for path, body, mode in asked:
        streamed = client.post(f"/v1/{path}/stream", params={"library": "heart"}, json=body, headers=key("ann"))
        for result in (ask(client, f"/v1/{path}", body), read_events(streamed.text)[-1][1]):
            # As a browser writes it: 1 for 1.0, and in its own order.
            written = json.loads(re.sub(r"(\d)\.0(?=[,}\]])", r"\1", json.dumps(result)))
            shared = share(client, dict(reversed(written.items())), name="a.docx")
            assert shared["mode"] == mode and (mode != "text" or (shared["title"], shared["again"]) == ("a.docx", ""))
            assert read(client, shared["id"]).json()["result"] == result


def test_only_what_the_service_found_for_the_sender_is_shared(client: TestClient) -> None:
    result = ask(client)
    forged = json.loads(json.dumps(result).replace("is against", "is never against"))
    for other, who in ((forged, "ann"), (result, "bob"), ({}, "ann"), ({"claim": [[]]}, "ann")):
        refused = client.post("/v1/shared", json={"result": other}, headers=key(who))
        assert refused.status_code == 422 and "did not give you this result" in refused.json()["detail"]
    for body in ({}, {"result": "x"}, {"result": result, "more": 1}, {"result": result, "name": "x" * 256}):
        assert client.post("/v1/shared", json=body, headers=key("ann")).status_code == 422
    assert client.get("/v1/shared", headers=key("ann")).json() == {"shared": []}


def test_who_may_see_the_library_may_read_it_and_nobody_else(client: TestClient) -> None:
    id = share(client, ask(client))["id"]
    assert {who: read(client, id, who).status_code for who in KEYS} == {
        "ann": 200, "bob": 200, "boss": 200, "reader": 200, "outsider": 404,
    }  # fmt: skip
    unknown = read(client, "x" * 22, "outsider").json()["detail"]
    for format in ("json", "html", "csv", "xlsx"):
        assert read(client, id, "outsider", format=format).json()["detail"] == unknown
    assert client.get(f"/v1/shared/{id}").status_code == 401
    assert read(client, id, library="open").status_code == 404


def test_it_is_listed_for_and_withdrawn_by_who_made_it_or_an_admin(client: TestClient) -> None:
    def listed(who: str) -> list[str]:
        return [one["id"] for one in client.get("/v1/shared", headers=key(who)).json()["shared"]]

    first, second = (share(client, ask(client, body={"claim": f"zeta changes pressure {n}"}))["id"] for n in "ab")
    assert (listed("ann"), listed("bob"), listed("boss")) == ([second, first], [], [second, first])
    for who, status in (("bob", 404), ("reader", 403), ("ann", 204), ("ann", 404)):
        assert client.delete(f"/v1/shared/{first}", headers=key(who)).status_code == status
    assert client.delete(f"/v1/shared/{second}", headers=key("boss")).status_code == 204
    assert read(client, second).status_code == 404 and listed("ann") == []
    # To share and to list takes the scope write: of those who only read, many may seem to be one.
    assert client.post("/v1/shared", json={"result": {}}, headers=key("reader")).status_code == 403
    assert client.get("/v1/shared", headers=key("reader")).status_code == 403


def test_plain_loopback_reads_what_the_person_at_the_machine_shares(folder: Path) -> None:
    with served(folder) as client:
        assert client.post("/v1/shared", json={"result": client.post("/v1/ground", json=CLAIM).json()}).status_code == 403
        client.get("/", params={"token": TOKEN})
        shared = client.post("/v1/shared", json={"result": client.post("/v1/ground?library=open", json=CLAIM).json()}).json()
        client.cookies.clear()
        assert client.get(f"/v1/shared/{shared['id']}").status_code == 200
        assert client.get("/v1/shared").status_code == client.delete(f"/v1/shared/{shared['id']}").status_code == 403


def test_it_goes_with_its_library_once_that_is_confirmed(client: TestClient) -> None:
    id = share(client, ask(client))["id"]
    refused = client.delete("/v1/libraries/heart", headers=key("boss"))
    assert refused.status_code == 409 and refused.json()["detail"].startswith("1 shared result depends on heart;")
    assert read(client, id).status_code == 200
    gone = client.delete("/v1/libraries/heart", params={"confirmed": True}, headers=key("boss")).json()
    assert (gone["saved"], gone["shared"]) == (0, 1)
    assert read(client, id, "boss").status_code == 404
    assert client.get("/v1/shared", headers=key("ann")).json() == {"shared": []}


def test_what_is_forgotten_is_not_shared_any_more(client: TestClient) -> None:
    id = share(client, ask(client))["id"]
    assert client.get("/v1/memory", headers=key("ann")).json()["shared"] == 1
    assert client.delete("/v1/memory", headers=key("ann")).status_code == 204
    assert read(client, id).status_code == 404


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/ground", CLAIM),
        ("/v1/answer", {"question": "Is zeta for pressure?"}),
        ("/v1/answer", {"question": "What is for sugar?"}),
        ("/v1/text", {"text": f"# {HOSTILE}\n\nZeta is for pressure. {HOSTILE}"}),
    ],
)
def test_its_files_run_nothing_load_nothing_and_compute_nothing(client: TestClient, path: str, body: Any) -> None:
    id = share(client, ask(client, path, body), name=HOSTILE)["id"]
    answer = read(client, id, format="html")
    assert answer.headers["content-disposition"] == 'attachment; filename="counterpoint.html"'
    page = answer.text
    tags = " ".join(re.findall(r"<[^>]*>", re.sub(r"<style>.*?</style>", "", page, count=1, flags=re.DOTALL)))
    assert not LOADS.search(tags) and "<script" not in page
    assert "default-src 'none'" in page and page.count("<style>") == 1
    assert all(address.startswith((*PAPERS, "#")) for address in re.findall(r'href="([^"]*)"', page))
    assert "Shared on " in page and "Library: heart." in page and "kept as it was" in page
    rows = list(csv.reader(io.StringIO(read(client, id, format="csv").text)))
    assert len(rows) > 1 or path == "/v1/answer"
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows for cell in row)
    assert read(client, id, format="xlsx").content[:2] == b"PK"
    assert read(client, id, format="ris").status_code == 422


def test_a_huge_result_is_kept_whole_and_a_larger_one_refused(folder: Path) -> None:
    with served(folder, keys=KEYS, scopes=SCOPES, file_bytes=700_000) as client:
        for times, status in ((20, 200), (100, 413)):
            text = "\n\n".join(f"Zeta number {n} is for pressure. {'Is it so? ' * 300}" for n in range(times))[:199_000]
            result = ask(client, "/v1/text", {"text": text})
            answer = client.post("/v1/shared", json={"result": result}, headers=key("ann"))
            assert answer.status_code == status, answer.text
            assert status != 200 or (
                len(json.dumps(result)) > 500_000 and read(client, answer.json()["id"]).json()["result"] == result
            )


def test_the_python_client_shares_lists_reads_and_withdraws(client: TestClient) -> None:
    reader, service = (Counterpoint(http=cast(Any, client), key=KEYS[name], library="heart") for name in ("reader", "ann"))
    with pytest.raises(CounterpointProblem, match="scope write"):
        reader.share(reader.ground("zeta changes pressure"))
    result = service.answer("Is zeta for pressure?")
    shared = service.share(result)
    assert [one.id for one in service.shared()] == [shared.id]
    assert reader.shared_result(shared.id).result == result
    service.withdraw(shared.id)
    with pytest.raises(CounterpointProblem, match="may have been withdrawn"):
        reader.shared_result(shared.id)

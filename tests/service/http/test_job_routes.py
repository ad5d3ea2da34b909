"""Libraries made, filled and deleted over HTTP, without a command line."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from counterpoint.indexes.plan import hold_lock
from counterpoint.retrieval.store.library import LibraryFile
from counterpoint.service.http.app import create_app
from counterpoint.service.operating import libraries
from counterpoint.service.operating.libraries import Libraries
from counterpoint.service.operating.settings import Settings
from tests.helpers.fakes import make_grounder, make_index
from tests.helpers.full_texts import write_jats
from tests.helpers.served import opened
from tests.helpers.texts import draw_pdf
from tests.helpers.zotero_server import KEY, Reply, ZoteroServer, serving

TOKEN = "the-token-of-this-start"
KEYS = {name: f"a-key-of-{name}-long-enough" for name in ("reader", "writer", "other")}
PAPERS = [{"pmid": str(number), "title": f"Zeta {number}", "abstract": "Zeta lowers pressure."} for number in range(1, 4)]
RECORDS = "".join(json.dumps(paper) + "\n" for paper in PAPERS).encode()


def served(folder: Path, **settings: Any) -> TestClient:
    served_from = Libraries(None, folder, lambda index: make_grounder(index)[0])
    options = Settings.model_validate({"token": TOKEN, "state": str(folder.parent / "state"), **settings})
    return opened(create_app(served_from, options))  # type: ignore[return-value]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "libraries").mkdir()
    return tmp_path / "libraries"


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    with served(folder) as client:
        client.get("/", params={"token": TOKEN})
        yield client


def make(client: TestClient, name: str = "Heart", **options: Any) -> str:
    reply = client.post("/v1/libraries", json={"name": name}, **options)
    assert reply.status_code == 201, reply.text
    return str(reply.json()["id"])


def upload(client: TestClient, id: str, name: str = "a.jsonl", data: bytes = RECORDS, **options: Any) -> None:
    reply = client.put(f"/v1/libraries/{id}/files/{name}", params={"total": len(data)}, content=data, **options)
    assert reply.json().items() >= {"name": name, "received": len(data), "whole": True}.items(), reply.text


def place(folder: Path, *keys: str) -> str:
    """Put a library into the folder, as a job would; returns its id."""
    index = make_index(folder.parent / "made", PAPERS)
    index.close()
    LibraryFile("0a1b2c3d4e5f", "Heart", "Of ours", keys=keys).write(index.folder.rename(folder / "heart"))
    return "0a1b2c3d4e5f"


def run(client: TestClient, id: str, work: dict[str, Any]) -> dict[str, Any]:
    job = client.post(f"/v1/libraries/{id}/jobs", json={"vectors": False, **work})
    assert job.status_code == 202, job.text
    until = time.monotonic() + 60
    while (now := client.get(f"/v1/jobs/{job.json()['id']}").json())["state"] in ("waiting", "running"):
        assert time.monotonic() < until, now
        time.sleep(0.1)
    return dict(now)


def test_a_library_is_made_searched_changed_and_deleted(client: TestClient, folder: Path) -> None:
    id = make(client)
    assert client.get("/v1/libraries").json()["libraries"] == []
    upload(client, id)
    assert client.get(f"/v1/libraries/{id}/files").json()["files"][0]["whole"]
    upload(client, id, "b.jsonl")
    assert client.delete(f"/v1/libraries/{id}/files/b.jsonl").status_code == 204
    assert [one["name"] for one in client.get(f"/v1/libraries/{id}/files").json()["files"]] == ["a.jsonl"]
    done = run(client, id, {"files": ["a.jsonl"]})
    assert (done["state"], done["name"]) == ("done", "Heart"), done
    assert "3 documents" in client.get(f"/v1/jobs/{done['id']}/report").text
    hits = client.get("/v1/search", params={"q": "zeta", "library": "Heart"}).json()["hits"]
    assert len(hits) == 3
    papers = client.get(f"/v1/libraries/{id}/papers").json()
    assert papers["total"] == 3 and [one["pmid"] for one in papers["papers"]] == ["1", "2", "3"]
    assert client.get(f"/v1/libraries/{id}/papers", params={"q": "zeta 2"}).json()["papers"][0]["pmid"] == "2"

    assert run(client, id, {"removed": ["2"]})["state"] == "done"
    assert client.get(f"/v1/libraries/{id}/papers").json()["total"] == 2
    assert [one["state"] for one in client.get("/v1/jobs").json()["jobs"]] == ["done", "done"]
    assert client.delete(f"/v1/libraries/{id}").json() == {"id": id, "name": "Heart", "saved": 0, "shared": 0}
    assert client.get("/v1/libraries").json()["libraries"] == client.get("/v1/jobs").json()["jobs"] == []
    assert not any(path for path in folder.iterdir() if not path.name.startswith("."))


def fetch(client: TestClient, id: str) -> bytes:
    told = client.post(f"/v1/libraries/{id}/pack").json()
    reply = client.get(f"/{told['address']}")
    assert reply.status_code == 200 and len(reply.content) == told["bytes"] == int(reply.headers["content-length"])
    assert reply.headers["content-disposition"].endswith(f"; filename*=UTF-8''{told['name']}")
    return bytes(reply.content)


def test_a_library_is_fetched_as_one_file_and_restored_with_its_id(client: TestClient, folder: Path) -> None:
    id = place(folder, "clinic")
    pack = fetch(client, id)
    assert b"clinic" not in pack and str(folder).encode() not in pack

    other = make(client, "Copy")
    upload(client, other, "Heart.counterpoint", pack)
    twin = run(client, other, {"files": ["Heart.counterpoint"]})
    assert (twin["state"], twin["library"]) == ("done", other) and f"It has the new id {other}" in twin["said"][0]
    assert client.get(f"/v1/libraries/{other}/papers").json()["total"] == 3

    assert client.delete(f"/v1/libraries/{id}").status_code == 200
    draft = make(client, "Heart again")
    upload(client, draft, "renamed.tar", pack)
    back = run(client, draft, {"files": ["renamed.tar"]})
    assert (back["state"], back["library"], back["name"]) == ("done", id, "Heart again"), back
    assert not any("new id" in line for line in back["said"])
    (library,) = [one for one in client.get("/v1/libraries").json()["libraries"] if one["id"] == id]
    assert (library["name"], library["description"], library["papers"]) == ("Heart again", "Of ours", 3)
    assert client.get("/v1/search", params={"q": "zeta", "library": id}).json()["hits"]
    assert client.get(f"/v1/libraries/{draft}/files").status_code == 404
    assert not [*(folder / ".work").glob("*/files/*")]


def test_what_is_no_whole_pack_becomes_no_library(client: TestClient, folder: Path) -> None:
    id = place(folder)
    pack = fetch(client, id)
    start = f"/v1/libraries/{make(client, 'Other')}/jobs"
    draft = start.split("/")[3]
    upload(client, draft, "cut.counterpoint", pack[:300])
    upload(client, draft, "late.counterpoint", pack[: len(pack) // 2])
    upload(client, draft, "whole.counterpoint", pack)
    upload(client, draft)
    upload(client, id, "whole.counterpoint", pack)
    for where, files, said in (
        (start, ["cut.counterpoint"], "cut.counterpoint is not a whole pack"),
        (start, ["whole.counterpoint", "a.jsonl"], "restore it by itself"),
        (f"/v1/libraries/{id}/jobs", ["whole.counterpoint"], "restore it by itself, as a new library"),
    ):
        reply = client.post(where, json={"files": files})
        assert reply.status_code == 422 and said in reply.json()["detail"]
    assert client.get("/v1/jobs").json()["jobs"] == []
    failed = run(client, draft, {"files": ["late.counterpoint"]})
    assert failed["state"] == "failed" and failed["stage"].startswith("late.counterpoint is not a whole pack"), failed
    assert [one["id"] for one in client.get("/v1/libraries").json()["libraries"]] == [id]
    assert run(client, draft, {"files": ["whole.counterpoint"]})["state"] == "done"


def test_who_may_not_see_a_library_gets_no_ticket_and_no_guess_is_one(folder: Path) -> None:
    with served(folder, keys=KEYS, scopes={"writer": "write", "other": "write"}) as client:
        reader, writer, other = ({"X-API-Key": KEYS[name]} for name in ("reader", "writer", "other"))
        draft = make(client, "Other", headers=writer)
        assert client.post(f"/v1/libraries/{draft}/pack", headers=writer).status_code == 409  # nothing in it yet
        id = place(folder, "writer")
        asked = f"/v1/libraries/{id}/pack"
        assert client.post(asked, headers=reader).status_code == 403
        assert (
            client.post(asked, headers=other).json()["detail"]
            == f"There is no library “{id}”; list the libraries and choose one by its id or name."
        )
        ticket = client.post(asked, headers=writer).json()["address"]
        assert client.get(f"/{ticket}").status_code == 200
        for guess in ("v1/packs/x", f"{ticket}x", "v1/packs/..%2Fjobs.sqlite", f"v1/packs/{'é' * 32}"):
            assert client.get(f"/{guess}").status_code == 404
        client.delete(f"/v1/libraries/{id}", headers=writer)
        assert client.get(f"/{ticket}").status_code == 404


def test_a_file_that_cannot_be_read_is_named_and_the_others_come_in(client: TestClient, folder: Path) -> None:
    id = make(client)
    for name, data in (("a.jsonl", RECORDS), ("b.ris", b"%PDF-1.4"), ("c.xml.gz", b"\x1f\x8b\x08cut")):
        upload(client, id, name, data)
    done = run(client, id, {"files": ["b.ris", "c.xml.gz", "a.jsonl"]})
    assert done["state"] == "done", done
    report = client.get(f"/v1/jobs/{done['id']}/report").text
    assert "Left out: b.ris is a PDF" in report and "Left out: c.xml.gz" in report and str(folder) not in report
    assert client.get(f"/v1/libraries/{id}/papers").json()["total"] == 3


def test_a_file_is_joined_to_the_paper_that_it_is_given_to(client: TestClient, folder: Path, tmp_path: Path) -> None:
    id, draft = place(folder), make(client, "Other")
    jobs = f"/v1/libraries/{id}/jobs"
    right = write_jats(tmp_path / "right.xml", "Zeta 2", {"Results": ["Zeta fell."]}).read_bytes()
    other = write_jats(tmp_path / "other.xml", "Eta and sleep", {"Results": ["Eta rose."]}).read_bytes()
    for one in (id, draft):
        upload(client, one, "right.xml", right)
    none = client.post(f"/v1/libraries/{draft}/jobs", json={"files": ["right.xml"], "joins": "2"})
    assert none.status_code == 422  # no papers yet
    for work, status, said in (
        ({"files": ["right.xml"], "joins": "99"}, 422, "no document 99"),
        ({"files": [], "joins": "2"}, 422, "one uploaded file"),
        ({"files": ["right.xml"], "joins": "2", "removed": ["1"]}, 422, "one uploaded file"),
        ({"files": ["none.xml"], "joins": "2"}, 422, "has not been uploaded"),
    ):
        reply = client.post(jobs, json=work)
        assert reply.status_code == status and said in reply.json()["detail"]
    assert run(client, id, {"files": ["right.xml"], "joins": "2"})["state"] == "done"
    assert client.get("/v1/documents/2", params={"library": id}).json()["full_text"]["source"] == "right.xml"

    upload(client, id, "other.xml", other)
    upload(client, id, "scan.pdf", draw_pdf([[]]))
    asked = client.post(jobs, json={"files": ["other.xml"], "joins": "2"})
    assert asked.status_code == 409 and asked.json()["detail"] == (
        "The file seems to be another paper (“Eta and sleep”) than “Zeta 2”, and the paper has a full text already "
        "(from right.xml), which this one replaces; send it with `confirmed` to join it all the same."
    )
    scan = client.post(jobs, json={"files": ["scan.pdf"], "joins": "3", "confirmed": True})
    assert scan.status_code == 422 and "scan.pdf cannot be joined: has no text layer" in scan.json()["detail"]
    assert run(client, id, {"files": ["other.xml"], "joins": "2", "confirmed": True})["state"] == "done"
    assert client.get("/v1/documents/2", params={"library": id}).json()["full_text"]["source"] == "other.xml"
    assert client.get(f"/v1/libraries/{id}/papers").json()["total"] == 3


def test_a_library_holds_no_more_papers_than_it_may(folder: Path, zotero: ZoteroServer) -> None:
    collection = zotero.add_collection("Colds")
    for number in range(4):
        zotero.add(collection, title=f"Zinc {number}", abstractNote="Zinc shortens colds.")
    with served(folder, library_papers=3) as client:
        client.get("/", params={"token": TOKEN})
        id = make(client, "Lungs")
        jobs = f"/v1/libraries/{id}/jobs"
        for work, more in (
            ({"search": {"query": "zeta", "most": 4}}, 4), ({"ids": "1 2 3 4"}, 4), ({"zotero": {"collection": collection}}, 4),
            ({"search": {"query": "zeta", "most": 2}, "ids": "1,2"}, 4),
        ):  # fmt: skip
            reply = client.post(jobs, json=work)
            said = f"Lungs may hold 3 papers and has 0, so {more} more are too many; ask for 3 at most, or make another library."
            assert reply.status_code == 422 and reply.json()["detail"] == said
        assert client.get("/v1/jobs").json() == {"jobs": []}
        id = place(folder)
        jobs = f"/v1/libraries/{id}/jobs"
        upload(client, id, data=RECORDS.replace(b'"1"', b'"11"'))
        failed = run(client, id, {"files": ["a.jsonl"]})
        assert failed["state"] == "failed" and failed["stage"].startswith("The library may hold 3 papers, and these are more")
        assert "has 3, so 1 more are too many; ask for 0" in client.post(jobs, json={"ids": "1"}).json()["detail"]


def test_a_library_that_is_written_is_deleted_when_that_has_ended(
    client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = make(client)
    upload(client, id)
    run(client, id, {"files": ["a.jsonl"]})
    monkeypatch.setattr(libraries, "_WAIT_SECONDS", 0)
    with hold_lock(folder / "heart"):
        refused = client.delete(f"/v1/libraries/{id}")
    assert refused.status_code == 422 and "is running in" in refused.json()["detail"]
    assert (folder / "heart" / "manifest.json").exists()
    assert client.delete(f"/v1/libraries/{id}").status_code == 200 and not (folder / "heart").exists()


def test_what_saved_claims_depend_on_is_deleted_only_when_that_is_confirmed(client: TestClient) -> None:
    id = make(client)
    upload(client, id)
    run(client, id, {"files": ["a.jsonl"]})
    saved = client.post("/v1/saved", params={"library": id}, json={"claim": "Zeta lowers pressure."})
    assert saved.status_code in (200, 201), saved.text
    refused = client.delete(f"/v1/libraries/{id}")
    assert refused.status_code == 409 and "1 saved claim depends" in refused.json()["detail"]
    assert client.delete(f"/v1/libraries/{id}", params={"confirmed": True}).json()["saved"] == 1
    assert client.get("/v1/saved").json()["saved"] == []


def test_bad_input_is_one_sentence_and_changes_nothing(client: TestClient, folder: Path) -> None:
    id = make(client)
    for name in ("", "a/b", "a\nb", "x" * 101):
        assert client.post("/v1/libraries", json={"name": name}).status_code in (400, 422)
    put = f"/v1/libraries/{id}/files/"
    assert client.put(f"{put}a.ris", params={"total": 10, "offset": 5}, content=b"12345").status_code == 409
    assert client.put(f"{put}..%2Fa.ris", params={"total": 1}, content=b"1").status_code in (400, 404, 422)
    assert client.put(f"{put}a.ris", params={"total": 9_000_000}, content=b"1" * 8_000_001).status_code == 413
    assert client.put(f"{put}a.ris", params={"total": 10**12}, content=b"1").status_code in (400, 422)
    for work, said in (
        ({"files": ["none.ris"]}, "has not been uploaded"), ({}, "nothing to do"), ({"ids": "12345 hello"}, "“hello” is no PMID"),
        ({"removed": ["1\0"]}, "ids of papers"), ({"removed": [" "]}, "ids of papers"),
        ({"search": {"query": " "}}, "words of a search"), ({"search": {"query": "a\0"}}, "words of a search"),
    ):  # fmt: skip
        reply = client.post(f"/v1/libraries/{id}/jobs", json=work)
        assert reply.status_code in (400, 422) and said in reply.json()["detail"]
    assert client.get("/v1/jobs").json() == {"jobs": []}
    assert client.post("/v1/preview", json={"query": " "}).status_code == 422
    assert client.get(f"/v1/libraries/{'ä' * 200}/files").status_code == 404
    assert client.get(f"/v1/libraries/{id}/papers", params={"since": 10**30}).status_code == 422


def test_keys_see_and_change_only_what_is_theirs(folder: Path) -> None:
    with served(folder, keys=KEYS, scopes={"writer": "write", "other": "write"}) as client:
        reader, writer, other = ({"X-API-Key": KEYS[name]} for name in ("reader", "writer", "other"))
        assert client.post("/v1/libraries", json={"name": "Heart"}, headers=reader).status_code == 403
        id = make(client, headers=writer)
        upload(client, id, headers=writer)
        job = client.post(f"/v1/libraries/{id}/jobs", json={"files": ["a.jsonl"]}, headers=writer).json()["id"]
        for who in (reader, other):
            assert client.get("/v1/jobs", headers=who).json() == {"jobs": []}
            assert client.get(f"/v1/jobs/{job}", headers=who).status_code == 404
        unknown = client.delete("/v1/libraries/ffffffffffff", headers=other)
        for method, path in (("DELETE", ""), ("GET", "/files"), ("PUT", "/files/b?total=1")):
            refused = client.request(
                method, f"/v1/libraries/{id}{path}", headers=other, content=b"1" if method == "PUT" else None
            )
            assert refused.status_code == unknown.status_code == 404
        assert client.post(f"/v1/jobs/{job}/stop", headers=writer).json()["state"] in ("stopped", "done")


def test_a_service_of_one_index_keeps_no_libraries(tmp_path: Path) -> None:
    with opened(
        create_app(Libraries(None, None, lambda index: make_grounder(index)[0]), Settings.model_validate({"token": TOKEN}))
    ) as client:
        client.get("/", params={"token": TOKEN})
        reply = client.post("/v1/libraries", json={"name": "Heart"})
        assert reply.status_code == 409 and "--libraries" in reply.json()["detail"]


def test_a_folder_that_cannot_be_written_is_one_sentence(client: TestClient, folder: Path) -> None:
    (folder / ".work").mkdir(exist_ok=True)
    for left in (folder / ".work").glob("jobs.sqlite*"):
        left.unlink()
    (folder / ".work" / "jobs.sqlite").write_bytes(b"this is no database, and it is longer than its header" * 9)
    reply = client.get("/v1/jobs")
    assert reply.status_code == 503 and "list of jobs" in reply.json()["detail"]
    (folder / ".work").rename(folder / ".gone")
    (folder / ".work").write_bytes(b"")
    reply = client.post("/v1/libraries", json={"name": "Heart"})
    assert reply.status_code == 422 and "Cannot write the library" in reply.json()["detail"]


@pytest.fixture
def zotero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ZoteroServer]:
    for server in serving(tmp_path / "Zotero"):
        monkeypatch.setenv("COUNTERPOINT_ZOTERO_LOCAL_URL", server.local)
        monkeypatch.setenv("COUNTERPOINT_ZOTERO_URL", server.web)
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "own"))
        yield server


def test_a_collection_of_zotero_becomes_a_library_and_is_brought_up_to_date(client: TestClient, zotero: ZoteroServer) -> None:
    collection = zotero.add_collection("Colds")
    first, second = (
        zotero.add(
            collection, title=f"Zinc and colds {number}", abstractNote="Zinc shortens colds.", DOI=f"10.5555/zinc.{number}"
        )
        for number in (1, 2)
    )
    assert client.get("/v1/zotero").json() == {"collections": [{"key": collection, "path": ["Colds"], "items": 2}]}
    id = make(client)
    done = run(client, id, {"zotero": {"collection": collection}})
    assert done["state"] == "done", done
    assert len(client.get(f"/v1/libraries/{id}/papers").json()["papers"]) == 2
    zotero.delete(first)
    zotero.add(collection, title="Zinc and coughs", abstractNote="Zinc does nothing for coughs.", DOI="10.5555/zinc.3")
    assert run(client, id, {"zotero": {"collection": collection}})["state"] == "done"
    found = client.get(f"/v1/libraries/{id}/papers").json()["papers"]
    assert sorted(one["title"] for one in found) == ["Zinc and colds 2", "Zinc and coughs"]

    empty = make(client, "Nothing")
    failed = run(client, empty, {"zotero": {"collection": zotero.add_collection("Empty")}})
    assert failed["state"] == "failed" and "has no paper" in failed["stage"]

    removed = next(one["pmid"] for one in found if one["title"] == "Zinc and colds 2")
    assert run(client, id, {"removed": [removed]})["state"] == "done"
    zotero.edit(second, title="Zinc and colds, once more")
    assert run(client, id, {"sync": True})["state"] == "done"
    left = client.get(f"/v1/libraries/{id}/papers").json()["papers"]
    assert [one["title"] for one in left] == ["Zinc and coughs"]  # what was removed here stays removed


def test_zotero_is_for_the_person_at_the_machine(folder: Path, zotero: ZoteroServer) -> None:
    with served(folder, keys=KEYS, scopes={"writer": "admin"}) as client:
        boss = {"X-API-Key": KEYS["writer"]}
        id = make(client, headers=boss)
        for reply in (
            client.get("/v1/zotero", headers=boss),
            client.post(f"/v1/libraries/{id}/jobs", json={"zotero": {"collection": "all"}}, headers=boss),
        ):
            assert reply.status_code == 403 and "person at it" in reply.json()["detail"]
    assert zotero.asked == []


WEB = {"library": "users/7", "key": KEY}


def keys_kept(tmp_path: Path) -> list[Path]:
    return [one for one in tmp_path.rglob("*") if one.is_file() and KEY.encode() in one.read_bytes()]


def test_a_collection_at_zotero_org_becomes_a_library_and_is_synced(
    client: TestClient, folder: Path, zotero: ZoteroServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    top = zotero.add_collection("Colds")
    below = zotero.add_collection("Zinc", top)
    first = zotero.add(below, title="Zinc and colds", abstractNote="Zinc shortens colds.", DOI="10.5555/zinc.1")
    zotero.attach(first, b"%PDF-1.4 not much of one")
    said = [client.post("/v1/zotero", json=WEB)]
    assert [one["path"] for one in said[0].json()["collections"]] == [["Colds"], ["Colds", "Zinc"]]
    [kept] = keys_kept(tmp_path)
    assert kept.stat().st_mode & 0o777 == 0o600 and kept.parent.stat().st_mode & 0o777 == 0o700
    assert not kept.is_relative_to(folder)
    id = make(client)
    work = {"zotero": {"collection": top, "library": "users/7"}}
    assert not client.get("/v1/libraries").json()["libraries"]
    done = run(client, id, work)
    assert done["state"] == "done", done
    assert client.get("/v1/libraries").json()["libraries"][0]["linked"] is True
    zotero.add(below, title="Zinc and coughs", abstractNote="Zinc does nothing for coughs.", DOI="10.5555/zinc.2")
    assert run(client, id, {"sync": True})["state"] == "done"
    said += [client.get(f"/v1/libraries/{id}/papers"), client.get(f"/v1/jobs/{done['id']}/report"), client.get("/v1/jobs")]
    assert said[1].json()["total"] == 2
    # Without the key the one given before is used; it is told to nobody, and lies in one file.
    assert client.post("/v1/zotero", json={"library": "users/7"}).status_code == 200
    assert keys_kept(tmp_path) == [kept] and KEY not in caplog.text and not any(KEY in one.text for one in said)
    assert all("zotero-api-key" not in one.headers for one in zotero.asked if one.path.startswith("/bucket/"))
    other = client.post(f"/v1/libraries/{id}/jobs", json={"zotero": {"collection": "all", "library": "users/7"}})
    assert other.status_code == 422 and "another collection of Zotero" in other.json()["detail"]
    assert client.delete("/v1/zotero", params={"of": "users/7"}).status_code == 204 and keys_kept(tmp_path) == []
    gone = client.post(f"/v1/libraries/{id}/jobs", json={"sync": True})
    assert gone.status_code == 422 and "give it again, then sync" in gone.json()["detail"]


@pytest.mark.parametrize(
    ("fault", "status", "said"),
    [
        (Reply(b"Forbidden", 403), 422, "does not let this key read users/7"),
        (Reply(b"", 429, {"Retry-After": "40"}), 503, "error 429; nothing was changed here; sync again to go on, in 40 seconds."),
        (Reply(b"", 503, {"Backoff": "7"}), 503, "error 503; nothing was changed here; sync again to go on, in 7 seconds."),
        (Reply(status=302, headers={"Location": "http://localhost:1/elsewhere"}), 422, "refuses to give collections (error 302"),
        (Reply(b'[{"key": "AB', declared=500), 503, "cannot be reached"),
        (Reply(f"no such key as {KEY}".encode(), 400), 422, "refuses to give collections (error 400: no such key as …)"),
        (Reply(b"<html>"), 503, "gave no whole answer"),
    ],
)  # fmt: skip
def test_what_goes_wrong_at_zotero_org_is_one_sentence_and_keeps_the_key_that_was_good(
    client: TestClient, zotero: ZoteroServer, tmp_path: Path, fault: Reply, status: int, said: str
) -> None:
    assert client.post("/v1/zotero", json=WEB).status_code == 200
    before = keys_kept(tmp_path)
    zotero.faults.append(lambda _: fault)
    asked, start = len(zotero.asked), time.monotonic()
    reply = client.post("/v1/zotero", json={**WEB, "key": "anotherKey0000000000000A"} if fault.status == 403 else WEB)
    detail = reply.json()["detail"]
    assert reply.status_code == status and said in detail and KEY not in detail, detail
    assert len(zotero.asked) == asked + 1 and time.monotonic() - start < 5
    assert keys_kept(tmp_path) == before


def test_keys_that_are_none_are_refused_before_anybody_is_asked(client: TestClient, zotero: ZoteroServer) -> None:
    for body in (
        {**WEB, "key": "a key\r\nHost: x"}, {**WEB, "key": "ä" * 24}, {**WEB, "key": KEY * 9}, {**WEB, "key": [KEY]},
        {**WEB, "library": "users/7/../8"}, {**WEB, "library": ""}, {**WEB, "library": "7"}, {**WEB, "address": "http://x"},
    ):  # fmt: skip
        reply = client.post("/v1/zotero", json=body)
        assert reply.status_code == 422 and KEY not in reply.text, reply.text
    assert zotero.asked == []
    assert client.post(f"/v1/libraries/{make(client)}/jobs", json={"sync": True}).json()["detail"].endswith("a collection first.")


def test_zotero_org_is_for_admins_each_with_a_key_of_their_own(folder: Path, zotero: ZoteroServer) -> None:
    with served(folder, keys=KEYS, scopes={"writer": "admin", "other": "write"}) as client:
        boss, other = ({"X-API-Key": KEYS[name]} for name in ("writer", "other"))
        assert client.post("/v1/zotero", json=WEB, headers=boss).status_code == 200
        id = make(client, headers=other)
        work = {"zotero": {"collection": "all", "library": "users/7"}}
        for reply in (
            client.post("/v1/zotero", json=WEB, headers=other),
            client.delete("/v1/zotero?of=users/7", headers=other),
            client.post(f"/v1/libraries/{id}/jobs", json=work, headers=other),
            client.post(f"/v1/libraries/{id}/jobs", json={"sync": True}, headers=other),
        ):
            assert reply.status_code == 403 and "scope admin" in reply.json()["detail"]
        client.get("/", params={"token": TOKEN})
        # The person at the machine has not given a key, and is not lent another's.
        refused = client.post("/v1/zotero", json={"library": "users/7"})
        assert refused.status_code == 422 and "does not let anyone without a key read users/7" in refused.json()["detail"]

"""POST /v1/text and its stream: a text checked, its formats, and what is refused."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from retrieval.index import Index
from service.checking.schemas import CheckedText, TextRequest
from service.http import text_routes
from service.http.app import create_app
from service.http.reference.docs import example
from service.operating.settings import Settings
from tests.helpers.fakes import make_index, make_reading_grounder
from tests.helpers.ready import wait_until_ready
from tests.helpers.texts import DOCUMENTS, docx, pdf

TEXT = "Does zeta help? Zeta lowers pressure (PMID 1). Omega lowers sugar."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_index(tmp_path_factory.mktemp("text"), DOCUMENTS).folder


def opened(folder: Path, settings: Settings | None = None) -> Iterator[TestClient]:
    with TestClient(create_app(lambda: make_reading_grounder(Index(folder)), None, settings)) as client:
        wait_until_ready(client)
        yield client


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    yield from opened(folder)


def test_a_text_is_answered_sentence_by_sentence(client: TestClient) -> None:
    answer = client.post("/v1/text", json={"text": TEXT})
    assert answer.status_code == 200
    checked = CheckedText.model_validate(answer.json())
    assert [one.verdict for one in checked.sentences] == ["not a claim", "contradicted", "supported"]
    assert checked.sentences[1].result and checked.sentences[1].result.cited[0].status == "contradicts it"


def test_markdown_is_read_as_it_is_seen(client: TestClient) -> None:
    answer = client.post("/v1/text", json={"text": "# One\n\n**Omega** lowers sugar.", "format": "markdown"}).json()
    assert answer["text"] == "One\n\nOmega lowers sugar."


def sent(raw: bytes, name: str) -> dict[str, str]:
    return {"file": base64.b64encode(raw).decode(), "name": name}


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (docx(("Heading 1", "Results"), ("Normal", TEXT)), "paper.docx"),
        (pdf([["Results", TEXT]]), "paper.pdf"),
        (f"# Results\n\n{TEXT}".encode(), "paper.md"),
    ],
)  # fmt: skip
def test_a_file_is_checked_as_its_text_is(client: TestClient, raw: bytes, name: str) -> None:
    answer = client.post("/v1/text", json=sent(raw, name))
    assert answer.status_code == 200
    checked = CheckedText.model_validate(answer.json())
    assert checked.text.split() == ["Results", *TEXT.split()]
    assert [one.verdict for one in checked.sentences[-3:]] == ["not a claim", "contradicted", "supported"]
    page = client.post("/v1/text?format=html", json=sent(raw, name))
    assert f"<title>{name} · Counterpoint</title>" in page.text


def test_a_table_of_claims_is_a_file_too(client: TestClient) -> None:
    checked = client.post("/v1/text", json=sent(b"id,claim\n1,Zeta lowers pressure.\n", "claims.csv")).json()
    assert [(one["verdict"], one["row"]) for one in checked["sentences"]] == [("contradicted", 2)]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (sent(pdf([[], []]), "scan.pdf"), "scan.pdf has no text layer, only images; recognise its text (OCR) first."),
        (sent(pdf([["Secret."]], password="x"), "a.pdf"), "a.pdf has a password; save it without one."),
        (sent(b"id,text\n1,x\n", "a.csv"), "a.csv has no column “claim”; its columns are id, text;"),
        (sent(b"", "a.txt"), "The text is empty; give a text or a file."),
        (sent(b"\x00\x01", ""), "The file is not a text file;"),
        ({"file": "no base64!"}, "The file is not in base64;"),
        (sent(b"Zeta.", "a.txt") | {"text": "Zeta."}, "The request has a text and a file; send one of them."),
        ({}, "The text is empty; give a text or a file."),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_told_in_one_sentence(client: TestClient, body: dict[str, str], told: str) -> None:
    for path in text_routes.PATHS:
        answer = client.post(path, json=body)
        assert answer.status_code in (400, 422) and answer.json()["detail"].startswith(told), answer.text


def test_a_file_may_be_larger_than_other_bodies(folder: Path) -> None:
    body = sent(docx(("Normal", TEXT)), "paper.docx")
    size = len(json.dumps(body))
    for client in opened(folder, Settings(body_bytes=1024, file_bytes=size + 1024)):
        assert client.post("/v1/text", json=body).status_code == 200
        assert client.post("/v1/ground", json={"claim": "z" * 2000}).status_code == 413
        told = client.post("/v1/text", json=body | {"file": body["file"] * 3})
        assert told.status_code == 413 and f"{size + 1024:,} bytes" in told.json()["detail"]


@pytest.mark.parametrize(
    ("format", "media", "begins"),
    [
        ("html", "text/html; charset=utf-8", b"<!doctype html>"), ("csv", "text/csv; charset=utf-8", b"row,sentence"),
        ("markdown", "text/markdown; charset=utf-8", b"# Checked text"),
        ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", b"PK"),
    ],
)  # fmt: skip
def test_it_comes_in_formats_to_take_along(client: TestClient, format: str, media: str, begins: bytes) -> None:
    answer = client.post(f"/v1/text?format={format}", json={"text": TEXT})
    assert answer.headers["content-type"] == media and answer.content.startswith(begins)
    assert answer.headers["content-disposition"].startswith('attachment; filename="counterpoint.')


def events(text: str) -> list[tuple[str, Any]]:
    blocks = [block.split("\n") for block in text.strip().split("\n\n") if block.startswith("event:")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]


def test_the_stream_tells_each_claim_and_ends_with_the_same(client: TestClient) -> None:
    told = events(client.post("/v1/text/stream", json={"text": TEXT}).text.replace("\r\n", "\n"))
    assert [name for name, _ in told] == ["plan", "claim", "claim", "text"]
    assert told[0][1] == {"sentences": 3, "claims": 2, "detail": "2 claims to check in 3 sentences."}
    assert [(one["done"], one["verdict"]) for _, one in told[1:3]] == [(1, "contradicted"), (2, "supported")]
    assert told[-1][1] == client.post("/v1/text", json={"text": TEXT}).json()


@pytest.mark.parametrize("path", ["/v1/text", "/v1/text/stream"])
@pytest.mark.parametrize(
    ("body", "status", "detail"),
    [
        ({"text": " \n"}, 422, "The text contains no text; give a text, or a list of claims."),
        ({}, 422, "The text is empty; give a text or a file."),
        ({"text": "x", "formats": 1}, 422, "formats"),
        ({"text": "Omega lowers sugar. " * 101}, 422, "The text makes 101 claims and at most 100 are checked at once"),
        ({"text": "a" * 200_001}, 413, "The text has 200,001 characters and at most 200,000 are read"),
    ],
)  # fmt: skip
def test_what_is_refused_is_told_in_a_sentence(client: TestClient, path: str, body: Any, status: int, detail: str) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code == status
    assert detail in answer.json()["detail"] and answer.json()["detail"].endswith(".")


def test_each_claim_counts_against_the_rate(folder: Path) -> None:
    for client in opened(folder, Settings(rate="3/minute")):
        assert client.post("/v1/text", json={"text": TEXT}).status_code == 200
        assert client.post("/v1/text", json={"text": TEXT}).status_code == 429


def test_a_text_without_a_claim_is_answered(client: TestClient) -> None:
    answer = client.post("/v1/text", json={"text": "Does zeta help?"}).json()
    assert answer["summary"] == "No claim that papers could support or contradict was found in 1 sentence."


def test_a_half_character_is_answered(client: TestClient) -> None:
    answer = client.post(
        "/v1/text", content=b'{"text": "Omega lowers \\ud800 sugar."}', headers={"content-type": "application/json"}
    )
    assert answer.status_code in (200, 422)


def test_the_example_of_the_description_is_a_checked_text_of_its_request() -> None:
    checked = CheckedText.model_validate(example("text"))
    described: Any = TextRequest.model_config.get("json_schema_extra")
    (asked,) = described["examples"]
    assert checked.text == asked["text"]
    assert checked.sentences[1].result and checked.sentences[1].result.cited[0].id == "demo-betacarotene-atbc-1994"


def test_the_description_names_both_calls(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert paths["/v1/text"]["post"]["operationId"] == "text" and paths["/v1/text/stream"]["post"]["operationId"] == "text_stream"
    assert text_routes.router.routes

"""POST /v1/text and its stream: a text checked, its formats, and what is refused."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from counterpoint.service.checking.schemas import CheckedText
from counterpoint.service.http import call_routes
from counterpoint.service.operating.settings import Settings
from tests.helpers.fakes import make_index
from tests.helpers.served import opened, over_reader, read_events
from tests.helpers.texts import DOCUMENTS, docx, pdf

TEXT = "Does zeta help? Zeta lowers pressure (PMID 1). Omega lowers sugar."
VERDICTS = ["not a claim", "contradicted", "supported"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_index(tmp_path_factory.mktemp("text"), DOCUMENTS).folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    with opened(over_reader(folder)) as client:
        yield client


def test_a_text_is_answered_sentence_by_sentence_and_so_is_its_stream(client: TestClient) -> None:
    answer = client.post("/v1/text", json={"text": TEXT})
    checked = CheckedText.model_validate(answer.json())
    assert [one.verdict for one in checked.sentences] == VERDICTS
    assert checked.sentences[1].result and checked.sentences[1].result.cited[0].status == "contradicts it"
    told = read_events(client.post("/v1/text/stream", json={"text": TEXT}).text)
    assert [name for name, _ in told] == ["plan", "claim", "claim", "text"]
    assert told[0][1] == {"sentences": 3, "claims": 2, "detail": "2 claims to check in 3 sentences."}
    assert [(one["done"], one["verdict"]) for _, one in told[1:3]] == [(1, "contradicted"), (2, "supported")]
    assert told[-1][1] == answer.json()
    markdown = client.post("/v1/text", json={"text": "# One\n\n**Omega** lowers sugar.", "format": "markdown"}).json()
    assert markdown["text"] == "One\n\nOmega lowers sugar."


def sent(raw: bytes, name: str) -> dict[str, str]:
    return {"file": base64.b64encode(raw).decode(), "name": name}


@pytest.mark.parametrize(
    ("raw", "name"),
    [(docx(("Heading 1", "Results"), ("Normal", TEXT)), "paper.docx"), (pdf([["Results", TEXT]]), "paper.pdf"),
     (f"# Results\n\n{TEXT}".encode(), "paper.md")],
)  # fmt: skip
def test_a_file_is_checked_as_its_text_is(client: TestClient, raw: bytes, name: str) -> None:
    checked = CheckedText.model_validate(client.post("/v1/text", json=sent(raw, name)).json())
    assert checked.text.split() == ["Results", *TEXT.split()]
    assert [one.verdict for one in checked.sentences[-3:]] == VERDICTS
    assert f"<title>{name} · Counterpoint</title>" in client.post("/v1/text?format=html", json=sent(raw, name)).text


def test_a_table_of_claims_is_a_file_too(client: TestClient) -> None:
    checked = client.post("/v1/text", json=sent(b"id,claim\n1,Zeta lowers pressure.\n", "claims.csv")).json()
    assert [(one["verdict"], one["row"]) for one in checked["sentences"]] == [("contradicted", 2)]


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        (sent(pdf([[], []]), "scan.pdf"), 422, "scan.pdf has no text layer, only images; recognise its text (OCR) first."),
        (sent(b"id,text\n1,x\n", "a.csv"), 422, "a.csv has no column “claim”; its columns are id, text;"),
        (sent(b"", "a.txt"), 422, "The text is empty; give a text or a file."),
        (sent(b"\x00\x01", ""), 422, "The file is not a text file;"),
        ({"file": "no base64!"}, 422, "The file is not in base64;"),
        (sent(b"Zeta.", "a.txt") | {"text": "Zeta."}, 422, "The request has a text and a file; send one of them."),
        ({}, 422, "The text is empty; give a text or a file."),
        ({"text": " \n"}, 422, "The text contains no text: expected at least one sentence."),
        ({"text": "x", "formats": 1}, 422, "formats"),
        ({"text": "Omega lowers sugar. " * 101}, 422, "The text makes 101 claims and at most 100 are checked at once"),
        ({"text": "a" * 200_001}, 413, "The text has 200,001 characters and at most 200,000 are read"),
    ],
)  # fmt: skip
def test_what_is_refused_is_told_in_a_sentence(client: TestClient, body: Any, status: int, told: str) -> None:
    for path in call_routes.FILES:
        answer = client.post(path, json=body)
        assert answer.status_code == status, answer.text
        assert answer.json()["detail"].startswith(told) and answer.json()["detail"].endswith(".")


def test_a_file_may_be_larger_than_other_bodies(folder: Path) -> None:
    body = sent(docx(("Normal", TEXT)), "paper.docx")
    size = len(json.dumps(body))
    with opened(over_reader(folder, Settings(body_bytes=1024, file_bytes=size + 1024))) as client:
        assert client.post("/v1/text", json=body).status_code == 200
        assert client.post("/v1/ground", json={"claim": "z" * 2000}).status_code == 413
        told = client.post("/v1/text", json=body | {"file": body["file"] * 3})
        assert told.status_code == 413 and f"{size + 1024:,} bytes" in told.json()["detail"]


def test_each_claim_counts_against_the_rate(folder: Path) -> None:
    with opened(over_reader(folder, Settings(rate="3/minute"))) as client:
        assert [client.post("/v1/text", json={"text": TEXT}).status_code for _ in range(2)] == [200, 429]

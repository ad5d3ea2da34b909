"""Bodies made to hurt: each is answered in its own time, none with a 5xx, and /health does not wait for them."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, TypeVar, cast

import httpx
import pytest
from pydantic import BaseModel, ValidationError

from counterpoint.service.calls.requests import AnswerRequest, ClassifyRequest, EvidenceRequest, GroundRequest, TextRequest
from counterpoint.service.http.schemas import BatchRequest, SaveRequest
from counterpoint.service.memory.schemas import FeedbackRequest
from counterpoint.service.schemas.faults import repair_json

REQUESTS: dict[str, type[BaseModel]] = {
    "/v1/ground": GroundRequest, "/v1/ground/batch": BatchRequest, "/v1/ground/stream": GroundRequest,
    "/v1/answer": AnswerRequest, "/v1/evidence": EvidenceRequest, "/v1/text": TextRequest, "/v1/classify": ClassifyRequest,
    "/v1/saved": SaveRequest, "/v1/feedback": FeedbackRequest,
}  # fmt: skip
_Test = TypeVar("_Test")
LONE = "\ud800"
FEEDBACK = {"claim": "zeta", "pmid": "1", "sentence": "", "shown": "support", "right": "support"}
PROVENANCE = {"config": "a", "profile": "b", "models": {"c": "d"}, "index": "e", "documents": 1}
SURROGATES: list[tuple[str, Any]] = [
    ("/v1/ground", {"claim": f"zeta {LONE} pressure", "question": LONE, "known_pmids": [LONE]}),
    ("/v1/ground", {"claim": "zeta", LONE: 1}),
    ("/v1/ground", LONE),
    ("/v1/ground/batch", {"claims": [{"claim": LONE}, {LONE: "x"}, LONE, 3, {"claim": "zeta", "question": LONE}]}),
    ("/v1/answer", {"question": f"Does omega {LONE} help?", "narrative": LONE, "topic": LONE, "id": LONE}),
    ("/v1/evidence", {"hypothesis": f"{LONE} x", "sentences": [f"{LONE} b.", "c."], "k": 1}),
    ("/v1/evidence", {"hypothesis": "x", "text": f"Zeta {LONE} lowers. And more.", "k": 1}),
    ("/v1/evidence", {"hypothesis": "x", "jats": f"<article>{LONE}</article>"}),
    ("/v1/text", {"text": f"Zeta {LONE} lowers pressure."}),
    ("/v1/text", {"file": "WmV0YSBsb3dlcnMu", "name": f"{LONE}.txt"}),
    ("/v1/text", {"file": LONE, "name": "a.txt"}),
    ("/v1/classify", {"text": f"Zeta {LONE} lowers pressure."}),
    ("/v1/saved", {"claim": f"zeta {LONE}", "note": LONE}),
    ("/v1/feedback", FEEDBACK | {"comment": LONE, "provenance": PROVENANCE | {"index": LONE, "models": {LONE: LONE}}}),
    ("/v1/feedback", FEEDBACK | {"shown": LONE, "pmid": LONE}),
]


def _slow(test: _Test) -> _Test:
    """Starting a service takes long."""
    return cast(_Test, pytest.mark.slow(pytest.mark.timeout(400)(test)))


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service in a process of its own, so that the client's work takes nothing from it."""
    place = tmp_path_factory.mktemp("hostile")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = (
        "import sys; from pathlib import Path; import uvicorn; from counterpoint.service.operating.settings import Settings\n"
        "from tests.helpers.fakes import make_index; from tests.helpers.served import over_fakes\n"
        "document = {'pmid': '1', 'title': 'One', 'abstract': 'Zeta is not against pressure.'}\n"
        "folder = make_index(Path(sys.argv[1]), [document]).folder\n"
        "app = over_fakes(folder, Settings(state=sys.argv[1] + '/memory', body_seconds=5))\n"
        "uvicorn.run(app, port=int(sys.argv[2]), log_config=None, access_log=False)\n"
    )
    server = subprocess.Popen([sys.executable, "-c", program, str(place), str(port)], stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 240
        while time.monotonic() < deadline:
            with suppress(httpx.HTTPError):
                if httpx.get(f"{url}/health", timeout=5).status_code == 200:
                    break
            time.sleep(0.1)
        yield url
    finally:
        server.terminate()
        server.wait(60)


@_slow
@pytest.mark.parametrize(("path", "body"), SURROGATES)
def test_a_lone_surrogate_is_read_as_a_broken_character_or_refused(url: str, path: str, body: Any) -> None:
    sent = httpx.post(f"{url}{path}", content=json.dumps(body), headers={"Content-Type": "application/json"}, timeout=60)
    assert sent.status_code in (200, 404, 422), sent.text
    assert sent.content.decode("utf-8")


def test_only_lone_surrogates_are_replaced() -> None:
    assert repair_json(r'{"a": "\ud83d\ude00 \\ud800 \uD800 \udc00\ud800 x"}') == '{"a": "😀 \\\\ud800 � �� x"}'
    assert repair_json('{"a": "\\u00e9"}') == '{"a": "\\u00e9"}'


@pytest.mark.parametrize("model", list(dict.fromkeys(REQUESTS.values())))
def test_however_much_is_wrong_little_of_it_is_described(model: type[BaseModel]) -> None:
    wrong: dict[str, Any] = {name: [[]] * 2_000 for name in model.model_fields} | {str(i): 1 for i in range(2_000)}
    with pytest.raises(ValidationError) as fault:
        model.model_validate(wrong)
    assert fault.value.error_count() < 20 + len(model.model_fields)
    few = {name: {"models": dict.fromkeys(map(str, range(2_000)), 1)} for name in model.model_fields}
    with pytest.raises(ValidationError) as fault:
        model.model_validate(few)
    assert fault.value.error_count() < 20 + len(model.model_fields)

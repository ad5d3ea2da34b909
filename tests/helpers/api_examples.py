"""Regenerates the examples of the API's description: `python -m tests.helpers.api_examples INDEX` (`make examples`).

INDEX is that of the demo corpus. Each file is the service's response, with its own models, to the example in the call's
description; run this when the form of a response, the demo corpus or the shipped models change.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fastapi.testclient import TestClient

from counterpoint.service.http.app import create_app
from counterpoint.service.operating.settings import Settings
from counterpoint.service.serve.server import open_libraries

EXAMPLES = Path(__file__).parents[2] / "service" / "http" / "examples"
CALLS = (
    "health", "searched_index", "ground", "ground_batch", "answer", "evidence", "text", "classify", "document", "search",
    "save_claim", "list_saved", "read_saved", "give_feedback", "list_feedback", "list_history", "read_history",
)  # fmt: skip
"""The calls in an order in which each finds what it reads; each has a file of this name."""


def main(index: Path) -> None:
    """Make every call with the examples of its own description and write the response into `EXAMPLES`."""
    with TemporaryDirectory() as memory:
        app = create_app(open_libraries(Settings(index=index)), Settings(state=memory))
        with TestClient(app, base_url="http://localhost") as client:
            _wait(client)
            id = ""
            for name in CALLS:
                answer = _call(client, app.openapi(), name, id)
                if listed := answer.get("saved") or answer.get("entries"):
                    id = listed[0]["id"]
                text = json.dumps(answer, indent=1, ensure_ascii=False)
                (EXAMPLES / f"{name}.json").write_text(f"{text}\n", "utf-8")
                print(f"Wrote {EXAMPLES / name}.json.")


def _call(client: TestClient, document: dict[str, Any], name: str, id: str) -> dict[str, Any]:
    """The response to the example of a call; `id` is that of the entry listed last."""
    calls = ((path, method, one) for path, item in document["paths"].items() for method, one in item.items())
    path, method, call = next(one for one in calls if one[2]["operationId"] == name)
    examples = {one["name"]: (one["schema"].get("examples") or [None])[0] for one in call.get("parameters", ())}
    query = {
        one["name"]: examples[one["name"]] for one in call.get("parameters", ()) if one["in"] == "query" and one.get("required")
    }
    body = call.get("requestBody")
    shape = body and document["components"]["schemas"][body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]]
    json_body = shape["examples"][0] if shape else None
    response = client.request(method, path.format_map(examples | {"id": id}), params=query, json=json_body)
    answer: dict[str, Any] = response.raise_for_status().json()
    return answer


def _wait(client: TestClient) -> None:
    """Wait until the models are loaded; raises `RuntimeError` if they cannot be."""
    while (state := client.get("/health").json()["status"]) != "ready":
        if state != "loading":
            raise RuntimeError(f"The service is not ready: {state}.")
        time.sleep(0.2)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

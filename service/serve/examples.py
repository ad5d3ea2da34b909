"""Regenerates the examples of the API's description: `python -m service.serve.examples INDEX` (`make examples`).

INDEX is that of the demo corpus. Each file is the service's response, with its own models, to the example in the request's
schema; run this when the form of a response, the demo corpus or the shipped models change.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from fastapi.testclient import TestClient
from pydantic import BaseModel

from service.answering.schemas import AnswerRequest
from service.assembly import assemble, assemble_answerer_beside
from service.checking.schemas import TextRequest
from service.configuration.defaults import ANSWERS, CONFIG, PROFILE
from service.grounding.schemas import GroundRequest
from service.http.app import create_app
from service.operating.settings import Settings
from service.reading.schemas import EvidenceRequest

EXAMPLES = Path(__file__).parents[1] / "http" / "examples"
REQUESTS: dict[str, type[BaseModel]] = {
    "ground": GroundRequest, "answer": AnswerRequest, "evidence": EvidenceRequest, "text": TextRequest,
}  # fmt: skip
"""The names of the files and of the routes under /v1, each with its request."""


def main(index: Path) -> None:
    """Send each route its request's own example and write the response into `EXAMPLES`."""
    app = create_app(
        lambda: assemble(index, CONFIG, PROFILE),
        lambda grounder: assemble_answerer_beside(grounder, ANSWERS),
        Settings(state="off"),
    )
    with TestClient(app, base_url="http://localhost") as client:
        _wait(client)
        for name, request in REQUESTS.items():
            answer = client.post(f"/v1/{name}", json=request.model_json_schema()["examples"][0]).raise_for_status()
            text = json.dumps(answer.json(), indent=1, ensure_ascii=False)
            (EXAMPLES / f"{name}.json").write_text(f"{text}\n", "utf-8")
            print(f"Wrote {EXAMPLES / name}.json.")


def _wait(client: TestClient) -> None:
    """Wait until the models are loaded; raises `RuntimeError` if they cannot be."""
    while (state := client.get("/health").json()["status"]) != "ready":
        if state != "loading":
            raise RuntimeError(f"The service is not ready: {state}.")
        time.sleep(0.2)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

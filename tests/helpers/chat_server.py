"""A scripted OpenAI-compatible server on loopback: every reply, and every fault, as a test asks for it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]
_JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Reply:
    """What the server sends: a status, headers, and raw bytes; `declared` is the length it claims, the real one if None."""

    raw: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    declared: int | None = None


def text(content: str, *, finish: str | None = "stop", refusal: str | None = None, usage: bool = True) -> Reply:
    """A streamed reply of several chunks, with the usage in the last as servers send it when asked."""
    pieces = [content[at : at + 40] for at in range(0, len(content), 40)]
    deltas: list[Body] = [{"role": "assistant", "content": ""}, *({"content": piece} for piece in pieces)]
    if refusal:
        deltas.append({"refusal": refusal})
    chunks = [_chunk(choices=[{"index": 0, "delta": delta, "finish_reason": None}]) for delta in deltas]
    if finish:
        chunks.append(_chunk(choices=[{"index": 0, "delta": {}, "finish_reason": finish}]))
    if usage:
        chunks.append(_chunk(choices=[], usage={"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}))
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    done = "data: [DONE]\n\n" if finish else ""
    return Reply(("".join(lines) + done).encode(), headers={"Content-Type": "text/event-stream"})


def whole(choices: Sequence[Body]) -> Reply:
    """A reply in one piece, as a request that asks for no stream gets it."""
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": list(choices), "usage": usage}
    return Reply(json.dumps(body).encode(), headers=_JSON)


def fault(status: int, **headers: str) -> Reply:
    """An HTTP error."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(json.dumps({"error": {"message": "no"}}).encode(), status, {**_JSON, **named})


def _chunk(**more: Any) -> Body:
    return {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", **more}


class ChatServer:
    """Answers by its script and keeps every request's body and key."""

    def __init__(self, usual: Reply) -> None:
        self.script: Callable[[Body], Reply] = lambda body: usual
        self.bodies: list[Body] = []
        self.keys: list[str] = []
        self.models: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                data = [{"id": name, "object": "model", "created": 1, "owned_by": "me"} for name in outer.models]
                raw = json.dumps({"object": "list", "data": data}).encode()
                self.send_response(200 if outer.models else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.bodies.append(body)
                outer.keys.append(self.headers["Authorization"])
                reply = outer.script(body)
                self.send_response(reply.status)
                length = len(reply.raw) if reply.declared is None else reply.declared
                for name, value in {"Content-Length": str(length), **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply.raw)

            def log_message(self, *arguments: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def serving(usual: Reply) -> Iterator[ChatServer]:
    """For a fixture: a server that is closed at the end; it gives the usual reply unless a test scripts another."""
    server = ChatServer(usual)
    yield server
    server.close()

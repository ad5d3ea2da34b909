"""A scripted OpenAI-compatible server on loopback: every reply, every fault, and every quirk of real servers, as a test asks."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from counterpoint.retrieval.runtime.chat_requests import forget_servers

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


def write(*sentences: str) -> str:
    """A draft in JSON of sentences with marks: "Zeta lowers pressure [1, 2]."."""
    said = [
        {
            "sentence": number,
            "text": re.sub(r"\s*\[[^]]*\]", "", one),
            "documents": [int(digits) for digits in re.findall(r"\d+", " ".join(re.findall(r"\[[^]]*\]", one)))],
            "parts": [],
        }
        for number, one in enumerate(sentences, 1)
    ]
    return json.dumps({"sentences": said})


def whole(choices: Sequence[Body]) -> Reply:
    """A reply in one piece, as a request that asks for no stream gets it."""
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": list(choices), "usage": usage}
    return Reply(json.dumps(body).encode(), headers=_JSON)


def message(content: object, finish: str = "stop", **more: Any) -> Reply:
    """A reply in one piece with one message."""
    return whole([{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **more}}])


def fault(status: int, body: object = None, **headers: str) -> Reply:
    """An HTTP error."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(json.dumps(body or {"error": {"message": "no"}}).encode(), status, {**_JSON, **named})


Script = Callable[[Body], Reply]


def refuse(part: Callable[[Body], object], status: int, body: object) -> Callable[[Script], Script]:
    """A server that answers so to every request that has this part."""
    return lambda answer: lambda asked: fault(status, body) if part(asked) else answer(asked)


def pack(put: Callable[[str], object], finish: str = "stop", **more: Callable[[str], object]) -> Callable[[Script], Script]:
    """A server that puts the text of its replies so, with more fields in the message; in a stream only the text."""

    def wrap(answer: Script) -> Script:
        def script(asked: Body) -> Reply:
            said = read_text(answer(asked))
            if asked.get("stream"):
                return text(str(put(said)), finish=finish)
            return message(put(said), finish, **{name: field(said) for name, field in more.items()})

        return script

    return wrap


def read_text(reply: Reply) -> str:
    """The text of a plain reply, in one piece or streamed."""
    if reply.headers != _JSON:
        chunks = (json.loads(line[6:]) for line in reply.raw.decode().split("\n\n") if line.startswith("data: {"))
        return "".join(one["delta"].get("content", "") for chunk in chunks for one in chunk["choices"])
    return str(json.loads(reply.raw)["choices"][0]["message"]["content"])


def _call(said: str) -> Body:
    return {"id": "c", "type": "function", "function": {"name": "Opinion", "arguments": said}}


def _quote_numbers(said: str) -> str:
    found = json.loads(said)
    return json.dumps(
        {**found, "grade": f"{found['grade']:+d} (so it says)".replace("-", "−"), "sentence": f"[{found['sentence']}]"}
    )


_EXTRA = {
    "type": "extra_forbidden",
    "loc": ["body", "max_completion_tokens"],
    "msg": "Extra inputs are not permitted",
    "input": 9,
}
_NO_TEMPERATURE = {"error": {"message": "Unsupported value: only the default (1) is supported.", "param": "temperature"}}
_NO_STREAM = {"detail": "Streaming is not supported for this model."}
REFUSING: dict[str, Callable[[Script], Script]] = {
    "max_completion_tokens": refuse(lambda asked: "max_completion_tokens" in asked, 422, {"message": {"detail": [_EXTRA]}}),
    "both limits": refuse(
        lambda asked: {"max_tokens", "max_completion_tokens"} & {*asked}, 400, {"error": "max_tokens is set by the administrator"}
    ),
    "temperature": refuse(lambda asked: asked.get("temperature", 1) != 1, 400, _NO_TEMPERATURE),
    "system": refuse(lambda asked: asked["messages"][0]["role"] == "system", 400, {"message": "System role not supported"}),
    "system, in silence": refuse(lambda asked: asked["messages"][0]["role"] == "system", 500, {"error": "Internal Server Error"}),
    "json_schema": refuse(
        lambda asked: asked.get("response_format", {}).get("type") == "json_schema",
        400,
        {"error": "'response_format.type' must be 'json_object' or 'text'"},
    ),
    "any form": refuse(lambda asked: "response_format" in asked, 400, {"error": {"message": "bad request"}}),
    "stream_options": refuse(lambda asked: "stream_options" in asked, 400, {"detail": "unknown field stream_options"}),
    "streaming": refuse(lambda asked: asked.get("stream"), 501, _NO_STREAM),
    "temperature and system": lambda answer: REFUSING["temperature"](REFUSING["system"](answer)),
}
"""What servers refuse: each answers a request without it."""
PACKING: dict[str, Callable[[Script], Script]] = {
    "thoughts": pack(lambda said: f"<think>\nHm, {{a}} and [1] differ.\n</think>\n\n{said}"),
    "thoughts without a beginning": pack(lambda said: f"Hm: {{a, b}}.\n</think>\n{said}"),
    "thoughts of Magistral": pack(lambda said: f"[THINK]So {{ it is.[/THINK]{said}"),
    "thoughts of gpt-oss": pack(
        lambda said: f"<|channel|>analysis<|message|>Hm {{}}.<|end|><|start|>assistant<|channel|>final<|message|>{said}<|return|>"
    ),
    "thoughts apart": pack(lambda said: said, reasoning_content=lambda said: '{"sentence": 1}'),
    "a byte-order mark": pack(lambda said: f"\ufeff{said}"),
}
"""How servers put a text."""
PACKING_JSON: dict[str, Callable[[Script], Script]] = {
    "a fence and prose": pack(lambda said: f"Here you are:\n```json\n{said}\n```\nThe set {{a, b}} was compared."),
    "parts": pack(
        lambda said: [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": said}]
    ),
    "a call of a tool": pack(lambda said: None, "tool_calls", tool_calls=lambda said: [_call(said)]),
    "a call of a function": pack(lambda said: None, "function_call", function_call=lambda said: {"name": "f", "arguments": said}),
    "thoughts alone": pack(lambda said: "", reasoning_content=lambda said: f"Hm {{}}. {said}"),
    "thoughts without an end": pack(lambda said: f"<think>Hm {{}}. {said}"),
    "an array": pack(lambda said: f"[{said}]"),
    "an object in an object": pack(lambda said: json.dumps({"answer": json.loads(said)})),
    "a text in an object": pack(lambda said: json.dumps({"output": said})),
    "Python's words": pack(lambda said: said.replace("true", "True").replace('"', "'")),
    "a comma at the end": pack(lambda said: f"{said[:-1]},\n}}"),
    "numbers as texts": pack(_quote_numbers),
    "numbers with a sign": pack(lambda said: said.replace('"grade": 2', '"grade": +2')),
    "a draft before it": pack(lambda said: f"First I thought {said.replace(': true', ': false')}, but it is {said}"),
}
"""How servers and models put JSON."""


def _chunk(**more: Any) -> Body:
    return {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", **more}


class _Patient(ThreadingHTTPServer):
    request_queue_size = 128
    """With the usual five, some of many connections at once are reset before they are read."""


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

        self._server = _Patient(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def serving(usual: Reply) -> Iterator[ChatServer]:
    """For a fixture: a server that is closed at the end; it gives the usual reply unless a test scripts another."""
    forget_servers()
    server = ChatServer(usual)
    yield server
    server.close()

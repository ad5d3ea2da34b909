"""The client of a language model, over the wire: every fault of a server has a clear outcome, and no request is made in vain."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from counterpoint.retrieval.runtime.chat import Chat, ChatUnanswered, stop_by
from counterpoint.retrieval.runtime.chat_requests import ChatRequest, find_refused
from counterpoint.retrieval.runtime.usage import count_usage
from tests.helpers.chat_server import Body, ChatServer, Reply, fault, serving, text, whole


class Opinion(BaseModel):
    """What a model may be asked for."""

    quote: str
    reason: str
    label: Literal["support", "neutral", "contradict"]


GOOD = "Zeta lowers blood pressure in adults [1]."


@pytest.fixture
def server() -> Iterator[ChatServer]:
    yield from serving(text(GOOD))


def test_a_budget_is_kept(server: ChatServer) -> None:
    chat = Chat("m", server.url, retries=0, budget=1500)
    for _ in range(2):
        chat.complete("s", "u", 10)
    with pytest.raises(ChatUnanswered, match=r"used its budget of 1,500 tokens") as caught:
        chat.complete("s", "u", 10)
    assert (caught.value.status, len(server.bodies)) == (503, 2)
    server.script = lambda body: text(GOOD, usage=False)
    unknown = Chat("silent", server.url, retries=0, budget=5)
    with count_usage() as tally:
        unknown.complete("s" * 40, "u" * 40, 10)
    assert (tally.total.prompt_tokens, tally.total.estimated) == (20, True), "four characters a token, and it says so"
    with pytest.raises(ChatUnanswered, match="budget"):
        unknown.complete("s", "u", 10)


@pytest.mark.parametrize(
    ("said", "part"),
    [
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_completion_tokens"),
        ("This model does not take the response format `json_schema`; see stop.", "json_schema"),
        ("Unrecognized request argument supplied: seed", "seed"),
        ("Conversation roles must alternate user/assistant/user", "system"),
        ("Invalid value: 'system'. Supported values are: 'user' and 'assistant'.", "system"),
        ("Developer instruction is not enabled for this model", "system"),
        ("stream_options is not permitted", "stream_options"),
        ("Only stream=false is allowed", "stream"),
        ("System error, please try later", None),
        ("The model `x` does not exist", None),
    ],
)
def test_the_part_that_an_error_names_is_known_by_its_words(said: str, part: str | None) -> None:
    request = ChatRequest("s", "u", 9, Opinion, stop=("x",), seed=1, stream=True)
    assert find_refused(said, request.list_parts(())) == part


def test_requests_on_their_way_count_towards_the_budget(server: ChatServer) -> None:
    def script(body: Body) -> Reply:
        time.sleep(0.3)
        return text(GOOD)

    server.script = script
    reader, writer = (Chat("m", server.url, retries=0, budget=150) for _ in range(2))

    def ask(number: int) -> str:
        try:
            return (reader, writer)[number % 2].complete("s" * 200, "u" * 200, 10).text
        except ChatUnanswered as error:
            return str(error)

    with ThreadPoolExecutor(6) as pool:
        said = list(pool.map(ask, range(6)))
    assert len(server.bodies) == 2, "a hundred tokens each are on their way, so the third is not sent"
    assert sum("used its budget of 150 tokens" in one for one in said) == 4


@pytest.mark.parametrize(
    "choices",
    [[{"index": 0, "message": None}], [{"index": 0, "message": "text"}], [None], {"message": {}}, 3],
)
def test_a_reply_of_another_shape_is_told(server: ChatServer, choices: Any) -> None:
    reply = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": choices}
    server.script = lambda body: Reply(json.dumps(reply).encode(), headers={"Content-Type": "application/json"})
    chat = Chat("m", server.url, retries=1)
    with pytest.raises(ChatUnanswered, match=r"answer"):
        chat.complete("s", "u", 10, stream=False)
    with pytest.raises(ChatUnanswered, match=r"answer"):
        chat.complete_structured("s", "u", Opinion)


def test_a_server_that_does_not_answer_is_left_alone_for_a_while(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = Chat("m", server.url, retries=1, timeout=0.2)

    def script(body: Body) -> Reply:
        time.sleep(0.6)
        return text(GOOD)

    server.script = script
    for _ in range(3):
        with pytest.raises(ChatUnanswered, match=r"did not answer within 0\.2 s") as caught:
            chat.complete("s", "u", 10)
        assert (caught.value.status, len(server.bodies)) == (503, 2), "only the first request is sent, and tried again"
    server.script = lambda body: text(GOOD)
    later = time.monotonic() + 60
    monkeypatch.setattr("counterpoint.retrieval.runtime.chat.time.monotonic", lambda: later)
    assert chat.complete("s", "u", 10).text.startswith("Zeta lowers")


def test_a_prompt_that_is_too_long_is_told_with_what_to_do(server: ChatServer) -> None:
    said = "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it"
    server.script = lambda body: Reply(json.dumps({"error": {"code": 400, "message": said}}).encode(), 400)
    chat = Chat("m", server.url, retries=0)
    for ask_ in (lambda: chat.complete("s", "u", 10), lambda: chat.complete_structured("s", "u", Opinion)):
        with pytest.raises(ChatUnanswered, match=r"HTTP status 400 \(request .* context size .*; give fewer words, or serve"):
            ask_()
    assert len(server.bodies) == 2, "in words it would be longer still"


def test_a_reply_that_nobody_waits_for_is_not_read_to_its_end(server: ChatServer) -> None:
    class Left(Exception):
        """The client has left."""

    read = 0

    def check() -> None:
        nonlocal read
        read += 1
        if read > 3:
            raise Left

    server.script = lambda body: text("Zeta. " * 100)
    chat = Chat("m", server.url, retries=3)
    with pytest.raises(Left), stop_by(check):
        chat.complete("s", "u", 10)
    assert (read, len(server.bodies)) == (4, 1)
    assert chat.complete("s", "u", 10).text.startswith("Zeta.")
    assert read == 4, "outside nothing is asked"


def test_a_server_without_json_schema_is_told_it_in_words(server: ChatServer) -> None:
    opinion = '{"label": "support", "quote": "zeta", "reason": "it says so"}'
    replies = iter([fault(400), whole([{"index": 0, "message": {"content": f"```json\n{opinion}\n```"}}])] * 2)
    server.script = lambda body: next(replies)
    chat = Chat("m", server.url, retries=0)
    assert chat.complete_structured("Judge.", "Zeta works.", Opinion).label == "support"
    assert ["response_format" in body for body in server.bodies] == [True, False]
    assert '"quote"' in server.bodies[1]["messages"][0]["content"]
    next(replies)
    assert chat.complete_structured("Judge.", "Zeta works.", Opinion).label == "support"
    assert "response_format" not in server.bodies[2]
    server.script = lambda body: fault(400)
    with pytest.raises(ChatUnanswered, match="HTTP status 400"):
        Chat("m", server.url, retries=0).complete_structured("s", "u", Opinion)

"""The wire against a real OpenAI-compatible server process: `transformers serve` with a tiny random model, on loopback."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from counterpoint.generation.draft import Limits, Source
from counterpoint.generation.language_models import ChatGenerator
from counterpoint.retrieval.core.values import Document, Sentence, Topic
from counterpoint.retrieval.runtime.chat import Chat
from counterpoint.retrieval.runtime.usage import count_usage
from tests.helpers.tiny_models import tiny_causal

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """(base URL, model name) of a server of our own."""
    folder = tiny_causal(tmp_path_factory.mktemp("served") / "lm")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        str(Path(sys.executable).parent / "transformers"),
        "serve",
        str(folder),
        "--port",
        str(port),
        "--host",
        "127.0.0.1",
    ]
    log = folder.parent / "serve.log"
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    try:
        deadline = time.monotonic() + 100
        while not _answers(f"http://127.0.0.1:{port}/health"):
            assert process.poll() is None and time.monotonic() < deadline, log.read_text("utf-8", "replace")[-2000:]
            time.sleep(0.3)
        yield f"http://127.0.0.1:{port}/v1", str(folder)
    finally:
        process.terminate()
        process.wait(20)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def test_streamed_and_whole_replies_are_the_same_and_counted(served: tuple[str, str]) -> None:
    chat = Chat(served[1], served[0], timeout=60)
    with count_usage() as streaming:
        streamed = chat.complete("Be brief.", "Say something.", 40)
    with count_usage() as at_once:
        whole = chat.complete("Be brief.", "Say something.", 40, stream=False)
    assert streamed.text == whole.text != ""
    assert streaming.total.prompt_tokens == at_once.total.prompt_tokens > 20
    assert 0 < streaming.total.completion_tokens == at_once.total.completion_tokens <= 40
    assert not streamed.whole, "a random model does not come to an end"


def test_a_stop_ends_the_reply(served: tuple[str, str]) -> None:
    chat = Chat(served[1], served[0], timeout=60)
    free = chat.complete("Be brief.", "Say something.", 40).text
    letter = next(one for one in free[1:] if one.isascii() and one.isalnum() and one != free[0])
    stopped = chat.complete("Be brief.", "Say something.", 40, stop=[letter])
    assert free.startswith(stopped.text.rstrip(letter))
    assert len(stopped.text) < len(free)


def test_a_draft_comes_from_it(served: tuple[str, str]) -> None:
    source = Source(1, Document("1", "T", "Zeta works."), (Sentence("1", 0, 0, 11, "Zeta works."),))
    generator = ChatGenerator(served[1], served[0], max_tokens=30, timeout=60)
    with count_usage() as tally:
        generator(Topic("1", "Does zeta work?"), [source], Limits(), "one-shot")
    assert tally.total.requests == 1
    assert tally.total.prompt_tokens > 1000

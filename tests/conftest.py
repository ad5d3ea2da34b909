"""What several test modules share: corpora of a few lines, and the demo corpus built once a session."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from indexes.build import build
from retrieval.bm25.lucene import expect_short_run
from retrieval.index import Index

# Before anything is loaded: a test neither reads nor writes what the user's own work has left on this machine.
os.environ["COUNTERPOINT_CACHE"] = "off"
os.environ["COUNTERPOINT_STATE"] = "off"
# The host that FastAPI's test client asks.
os.environ["COUNTERPOINT_HOSTS"] = "testserver"
# The indexes of tests hold a few lines: Java's optimising compiler would only take the cores from them.
expect_short_run()

DEMO = Path(__file__).parent.parent / "indexes" / "demo" / "corpus.jsonl"

WriteCorpus = Callable[..., Path]


@pytest.fixture
def write_corpus(tmp_path: Path) -> WriteCorpus:
    """Writes documents, or raw lines where a fault is wanted, one a line; a bare text is an abstract with the next id."""

    def write(*documents: dict[str, Any] | str | bytes, name: str = "corpus.jsonl") -> Path:
        lines = []
        for number, document in enumerate(documents, 1):
            if isinstance(document, str):
                document = {"pmid": str(number), "title": "", "abstract": document}
            lines.append(document if isinstance(document, bytes) else json.dumps(document).encode())
        path = tmp_path / name
        path.write_bytes(b"\n".join(lines) + b"\n")
        return path

    return write


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an index of the demo corpus; copy it before changing it."""
    folder = tmp_path_factory.mktemp("demo") / "index"
    build([DEMO], folder)
    return folder


@pytest.fixture(scope="session")
def demo_index(demo_folder: Path) -> Iterator[Index]:
    """The demo corpus, indexed and open."""
    index = Index(demo_folder)
    yield index
    index.close()


def pytest_configure() -> None:
    """Take Ctrl-C as Python does: a run started in the background inherits it ignored, and the tests that send it would fail."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Several threads make models as small as these many times slower on a busy machine."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)

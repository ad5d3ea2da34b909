"""Java's heap, as the environment sets it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from counterpoint.retrieval.bm25.lucene import HEAP_VARIABLE, get_heap_size
from counterpoint.retrieval.core.errors import BadConfig


@pytest.mark.parametrize("heap", ["x", "512", "0m", "-1g", "1.5g", "512mb", "99999999999g", "", "63m", "1k", "9999999g"])
def test_a_heap_that_java_would_not_start_with_is_one_sentence(heap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HEAP_VARIABLE, heap)
    with pytest.raises(BadConfig, match=f"COUNTERPOINT_JVM_HEAP should be .*, not '{heap}'"):
        get_heap_size()


@pytest.mark.parametrize("heap", ["64m", "65536K", "1g"])
def test_a_sound_heap_is_taken(heap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HEAP_VARIABLE, heap)
    assert get_heap_size() == heap


DEEP = """
import gc, sys, time
from counterpoint.retrieval.bm25.lucene import load_java_class, run_on_lucene_thread

def fail():
    kept = load_java_class("java.util.ArrayList")()
    raise KeyboardInterrupt

class Nested:
    def __init__(self, depth): self.depth = depth
    def __repr__(self): return repr([Nested(self.depth - 1)]) if self.depth else ""

if sys.argv[1] == "interrupted":  # what was raised holds the frame, and with it a Java object, until it is freed here
    try:
        run_on_lucene_thread(fail)
    except KeyboardInterrupt as error:
        raised = error
    time.sleep(0.2)  # until the other thread has let go of it
    del raised
else:
    made = run_on_lucene_thread(load_java_class("java.util.ArrayList"))
    del made
gc.collect()
sys.setrecursionlimit(100_000)
print(len(repr(Nested(8_000))))  # about 5 MB of stack
"""


@pytest.mark.parametrize("how", ["interrupted", "freed"])
def test_the_main_thread_keeps_its_stack_when_it_frees_what_is_java_s(how: str) -> None:
    done = subprocess.run([sys.executable, "-c", DEEP, how], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "16000\n"), done.stderr[-2000:]

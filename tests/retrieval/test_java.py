"""Java's heap, as the environment sets it."""

from __future__ import annotations

import pytest

from retrieval.bm25.lucene import HEAP_VARIABLE, get_heap_size
from retrieval.core.errors import BadConfig


@pytest.mark.parametrize("heap", ["x", "512", "0m", "-1g", "1.5g", "512mb", "99999999999g", "", "63m", "1k", "9999999g"])
def test_a_heap_that_java_would_not_start_with_is_one_sentence(heap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HEAP_VARIABLE, heap)
    with pytest.raises(BadConfig, match=f"COUNTERPOINT_JVM_HEAP should be .*, not '{heap}'"):
        get_heap_size()


@pytest.mark.parametrize("heap", ["64m", "65536K", "1g"])
def test_a_sound_heap_is_taken(heap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HEAP_VARIABLE, heap)
    assert get_heap_size() == heap

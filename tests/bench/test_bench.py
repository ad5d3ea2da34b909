"""The benchmark: which claims it asks, and what it writes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench import __main__ as bench
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Claim
from counterpoint.retrieval.index import Index


def test_claims_are_drawn_by_seed_and_too_few_are_told(demo_index: Index) -> None:
    drawn = bench.draw_claims(demo_index, 10, seed=1)
    assert drawn == bench.draw_claims(demo_index, 10, seed=1) != bench.draw_claims(demo_index, 10, seed=2)
    assert len({one.text for one in drawn}) == 10
    with pytest.raises(BadInput, match="gives only"):
        bench.draw_claims(demo_index, 10_000, seed=1)


def test_every_part_asks_a_service_of_its_own_and_what_was_measured_is_written(
    demo_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[list[Claim]] = []

    @contextmanager
    def run_service(_index: Path) -> Iterator[Any]:
        rounds: list[Claim] = []
        asked.append(rounds)

        def ask(claims: Sequence[Claim], _activity: str) -> Iterator[float]:
            for number, claim in enumerate(claims, 1):
                rounds.append(claim)
                yield float(number)

        yield SimpleNamespace(ready=3.0, ask=ask, memory=lambda: 0.5 + len(rounds))

    monkeypatch.setattr(bench, "run_service", run_service)
    out = tmp_path / "out" / "bench.json"
    assert bench.main(["--index", str(demo_folder), "--out", str(out), "--asked", "3"]) == 0
    ground, memory = asked
    assert ground[:8] == memory and ground[8:] == ground[5:8]
    written = json.loads(out.read_text("utf-8"))
    assert written["ground"] == {"ready_gb": 0.5, "ready": 3.0, "unseen": [1.0, 2.0, 3.0], "repeated": [1.0, 2.0, 3.0]}
    assert written["memory"] == {"ready_gb": 0.5, "warm": 5.5, "after": [6.5, 7.5, 8.5]}
    printed = capsys.readouterr().out
    assert "3 claims, unseen: p50 2 s, p95 2.9 s" in printed and "8.5 GB after 3 more" in printed


def test_what_cannot_be_used_is_told_in_a_sentence(demo_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["--index", str(tmp_path / "none")]) == 2
    assert bench.main(["--index", str(demo_folder), "--asked", "0"]) == 2
    assert "--asked is 0" in capsys.readouterr().err

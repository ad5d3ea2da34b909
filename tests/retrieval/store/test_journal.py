"""What long jobs have finished: nothing torn is read, and nothing of another origin."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.store.journal import Journal, Origin

ORIGIN = Origin("corpus", {"k": 5}, "code")


def test_records_are_there_again_but_for_a_torn_line(tmp_path: Path) -> None:
    journal = Journal.of(ORIGIN, tmp_path / "new", "scores")
    journal.add("a", [1.5])
    journal.add("b", {"é": None})
    assert journal.resumed == 0
    journal.path.write_bytes(journal.path.read_bytes()[:-4])
    again = Journal.of(ORIGIN, tmp_path / "new", "scores")
    assert (again.records, again.resumed) == ({"a": [1.5]}, 1)
    again.add("c", 3)
    assert Journal.of(ORIGIN, tmp_path / "new", "scores").records == {"a": [1.5], "c": 3}


def test_a_line_that_a_full_disk_cut_off_costs_that_line_alone(tmp_path: Path) -> None:
    journal = Journal.of(ORIGIN, tmp_path, "scores")
    with journal.path.open("a") as file:
        file.write('["a", [1\n["b", 2]\n')
    assert Journal.of(ORIGIN, tmp_path, "scores").records == {"b": 2}


@pytest.mark.parametrize("changed", [{"content": "other"}, {"settings": {"k": 6}}, {"code": "edited"}])
def test_another_origin_has_another_file(tmp_path: Path, changed: dict[str, object]) -> None:
    Journal.of(ORIGIN, tmp_path, "scores").add("a", 1)
    assert Journal.of(replace(ORIGIN, **changed), tmp_path, "scores").records == {}  # type: ignore[arg-type]
    assert Journal.of(ORIGIN, tmp_path, "scores").records == {"a": 1}


def test_a_file_with_records_of_other_facts_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.partial"
    Journal(path, {"k": 5, "n": 1}).add("a", 1)
    with pytest.raises(BadInput, match=r"\(k differ\); resume with its own settings, name another file, or delete it"):
        Journal(path, {"k": 6, "n": 1})
    assert Journal(path, {"k": 5, "n": 1}).records == {"a": 1}

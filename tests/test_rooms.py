"""Imports between folders make no circle, and no test takes from another."""

from __future__ import annotations

import ast
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent
TOPS = ("counterpoint", "retrieval", "nli", "generation", "indexes", "service", "eval", "bench", "tests")


def modules() -> dict[str, Path]:
    paths = [path for top in TOPS for path in (ROOT / top).rglob("*.py")]
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


def imported(path: Path, known: dict[str, Path]) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            names.update(whole & set(known) or {node.module})
    return names & set(known)


def room(path: Path) -> str:
    return str(path.parent.relative_to(ROOT))


def test_imports_between_rooms_make_no_circle() -> None:
    known = modules()
    needs: dict[str, set[str]] = defaultdict(set)
    for path in known.values():
        needs[room(path)] |= {room(known[name]) for name in imported(path, known)} - {room(path)}
    try:
        tuple(TopologicalSorter(needs).static_order())
    except CycleError as error:
        raise AssertionError(" → ".join(error.args[1])) from None


def test_no_test_takes_from_another_test() -> None:
    known = modules()
    tests = {name for name in known if name.rsplit(".", 1)[-1].startswith("test_")}
    taking = {name: imported(known[name], known) & tests for name in tests}
    assert {name: sorted(taken) for name, taken in taking.items() if taken} == {}

"""Imports point one way, and a module that is asked for little loads little."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Each package may import those named here, and itself.
ALLOWED = {
    "configs": set[str](),
    "retrieval": set[str](),
    "nli": {"retrieval"},
    "generation": {"retrieval"},
    # An index is built with the sentences and cues that nli finds, so that no query has to.
    "indexes": {"retrieval", "nli"},
    "service": {"retrieval", "nli", "generation", "indexes", "configs"},
    "eval": {"retrieval", "nli", "generation", "indexes", "service", "configs"},
}


def imported_packages(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return {name.split(".")[0] for name in names} & set(ALLOWED)


@pytest.mark.parametrize("package", ALLOWED)
def test_imports_point_one_way(package: str) -> None:
    files = list((ROOT / package).rglob("*.py"))
    assert files
    for path in files:
        wrong = imported_packages(path) - ALLOWED[package] - {package}
        assert not wrong, f"{path.relative_to(ROOT)} imports {', '.join(sorted(wrong))}"


def test_every_package_is_listed_for_installation() -> None:
    import tomllib

    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["packages"])
    found = {
        ".".join(path.parent.relative_to(ROOT).parts) for package in ALLOWED for path in (ROOT / package).rglob("__init__.py")
    }
    assert found <= listed


def test_help_loads_no_heavy_library() -> None:
    code = (
        "import sys, eval.cli; print(*(m for m in ('torch', 'transformers', 'jnius', 'spacy', 'openvino') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == []

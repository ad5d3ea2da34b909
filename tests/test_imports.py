"""Imports point one way, and a module that is asked for little loads little."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
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
    # The public face, which nothing here imports.
    "counterpoint": {"retrieval", "service"},
}


# What measures the product stands outside it.
OUTSIDE = {"bench", "tests"}


def imported_packages(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return {name.split(".")[0] for name in names} & (set(ALLOWED) | OUTSIDE)


@pytest.mark.parametrize("package", ALLOWED)
def test_imports_point_one_way(package: str) -> None:
    files = list((ROOT / package).rglob("*.py"))
    assert files
    for path in files:
        wrong = imported_packages(path) - ALLOWED[package] - {package}
        assert not wrong, f"{path.relative_to(ROOT)} imports {', '.join(sorted(wrong))}"


def test_every_package_is_installed() -> None:
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["packages"]["find"]["include"]
    assert {pattern.removesuffix("*") for pattern in patterns} == set(ALLOWED)
    folders = {path.parent for package in ALLOWED for path in (ROOT / package).rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").exists()] == []


HEAVY = (
    "torch", "transformers", "onnxruntime", "openvino", "faiss", "numpy", "spacy", "negspacy", "jnius", "pyserini", "openai",
    "fastapi", "uvicorn", "mcp", "matplotlib", "lxml", "rich", "httpx",
)  # fmt: skip


def test_no_help_loads_a_heavy_library() -> None:
    # Every command's help in one fresh process: what one of them loads, another does not hide.
    code = f"""
import sys
from typer.main import get_command
from eval.cli import app

def helped(command, path):
    yield path
    for name, inner in getattr(command, "commands", {{}}).items():
        yield from helped(inner, [*path, name])

every = list(helped(get_command(app), []))
for path in every:
    try:
        app([*path, "--help"])
    except SystemExit as done:
        assert not done.code, path
print(len(every), *(m for m in {HEAVY!r} if m in sys.modules), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    commands, *loaded = done.stderr.split()
    assert int(commands) > 15
    assert "The folder of an index," in done.stdout
    assert loaded == []

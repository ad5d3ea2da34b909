"""Imports point one way, and a module that is asked for little loads little."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from counterpoint.eval.cli import PROXY

ROOT = Path(__file__).parent.parent

# What each package may import, besides itself, as docs/architecture.md says it.
ALLOWED = {
    package: set(re.findall(r"`(\w+)`", needs))
    for package, needs in re.findall(
        r"^\| `(\w+)` \| ((?:`\w+`(?:, )?)+|–) \|$", (ROOT / "docs/architecture.md").read_text("utf-8"), re.MULTILINE
    )
}

DOORS = ("http.app", "local", "client", "mcp_server")
# What measures the product stands outside it.
OUTSIDE = {"bench", "tests"}


def imported_packages(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return {name.removeprefix("counterpoint.").split(".")[0] for name in names} & (set(ALLOWED) | OUTSIDE)


@pytest.mark.parametrize("package", ALLOWED)
def test_imports_point_one_way(package: str) -> None:
    files = list((ROOT / package).rglob("*.py"))
    assert files
    for path in files:
        wrong = imported_packages(path) - ALLOWED[package] - {package}
        assert not wrong, f"{path.relative_to(ROOT)} imports {', '.join(sorted(wrong))}"


PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def imported_modules(path: Path) -> set[str]:
    """What a file imports when it is loaded or run, besides what only type checkers read."""
    names: set[str] = set()
    nodes: list[ast.AST] = [ast.parse(path.read_text("utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
        nodes.extend(ast.iter_child_nodes(node))
    return names


def reach(*names: str) -> tuple[set[str], set[str]]:
    """Our own modules that those named import, directly or through others; and the top packages of all else that they import."""
    known = {
        name if package in ("counterpoint", "bench") else f"counterpoint.{name}": path
        for package in (*ALLOWED, "bench")
        for path in (ROOT / package).rglob("*.py")
        for name in [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")]
    }
    reached: set[str] = set()
    others: set[str] = set()
    todo = set(names)
    while todo:
        name = todo.pop()
        reached.add(name)
        imported = imported_modules(known[name])
        parents = {name.rsplit(".", up)[0] for up in range(1, name.count(".") + 1)}
        todo |= ((imported | parents) & set(known)) - reached
        others |= {one.split(".")[0] for one in imported if one not in known}
    return reached, others - set(ALLOWED)


def test_the_product_and_the_proxy_need_nothing_of_the_laboratory() -> None:
    lab = {re.split("[=;]", line)[0].replace("-", "_") for line in PYPROJECT["project"]["optional-dependencies"]["lab"]}
    of_lab = {name for name, owners in packages_distributions().items() if {one.replace("-", "_") for one in owners} <= lab}
    assert {"sklearn", "ir_measures"} <= of_lab
    reached, others = reach(
        PYPROJECT["project"]["scripts"]["counterpoint"].split(":")[0], *(f"counterpoint.service.{name}" for name in DOORS)
    )
    assert "counterpoint.service.http.app" in reached
    assert [name for name in reached if name.startswith(("counterpoint.eval", "bench")) or ".train" in name] == []
    assert others & of_lab == set()
    reached, others = reach(*{command.__module__ for command in PROXY})
    assert "counterpoint.eval.scifact.measures" in reached
    assert others & of_lab == set()


def test_the_default_installation_stays_small() -> None:
    assert len(PYPROJECT["project"]["dependencies"]) <= 40


def test_every_package_is_installed() -> None:
    assert PYPROJECT["tool"]["setuptools"]["packages"]["find"]["include"] == ["counterpoint*"]
    links = {path.name for path in (ROOT / "counterpoint").iterdir() if path.is_symlink()}
    assert links | {"counterpoint"} == set(ALLOWED)
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
from counterpoint.service.cli.commands import app

def helped(command, path):
    yield path
    for name in command.list_commands(None) if hasattr(command, "commands") else ():
        yield from helped(command.get_command(None, name), [*path, name])

every = list(helped(get_command(app), []))
assert ["eval", "scifact"] in every
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


def test_the_project_is_imported_by_its_one_name() -> None:
    tops = set(ALLOWED) - {"counterpoint"}
    for folder in (*ALLOWED, "bench", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            wrong = {name for name in imported_modules(path) if name.split(".")[0] in tops}
            assert not wrong, f"{path.relative_to(ROOT)} imports {', '.join(sorted(wrong))}; expected counterpoint.…"


def test_what_the_package_brings_is_found_from_any_folder(tmp_path: Path) -> None:
    code = (
        "from counterpoint.service.assembly import load_config\n"
        "from counterpoint.service.configuration.config import load_profile\n"
        "print(load_config('counterpoint').name, load_config('v1').name, load_profile('embedded').name)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, cwd=tmp_path, env={"HOME": str(tmp_path)}
    )
    assert done.stdout.split() == ["counterpoint", "v1", "embedded"], done.stderr

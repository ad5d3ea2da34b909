"""The code that a result comes from: a hash of the given modules and all project modules that they import, directly or not.

Cached results are only as good as the code that made them; an edit anywhere in that code changes their name. Comments, docstrings
and layout are not code.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

DATA = ("*.yaml", "*.txt", "*.tsv", "*.md")
"""Cues, opposites, abbreviations, query templates, prompts. The files in eval are other people's figures."""
PACKAGES = ("counterpoint", "bench")


def hash_code(modules: Iterable[str]) -> str:
    """The hash of the statements of these modules, of all that they import from the project, and of the data that those read."""
    paths: dict[str, Path] = {}
    statements: dict[str, str] = {}
    queue = list(modules)
    while queue:
        name = queue.pop()
        if name.split(".")[0] not in PACKAGES or name in paths:
            continue
        path = _find_source(name)
        if path is None:
            continue
        paths[name] = path
        tree = ast.parse(path.read_text("utf-8"))
        queue += _list_imports(tree)
        statements[name] = ast.unparse(_WithoutDocstrings().visit(tree))
    folders = {path.parent for name, path in paths.items() if not name.startswith("counterpoint.eval")}
    data = {
        f"{folder.name}/{path.name}": path.read_text("utf-8") for folder in folders for end in DATA for path in folder.glob(end)
    }
    digest = hashlib.sha256()
    for name, text in sorted({**statements, **data}.items()):
        digest.update(f"{name}\n{text}".encode())
    return digest.hexdigest()


class _WithoutDocstrings(ast.NodeTransformer):
    """Leaves out docstrings, also those of values, but not those of classes: a schema sent to a language model contains them."""

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        docstring = node.body[:1] if ast.get_docstring(node) is not None else []
        self.generic_visit(node)
        node.body = [*docstring, *node.body]
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str) else node


def _find_source(module: str) -> Path | None:
    """The file of a module; None for a name within a module ("from counterpoint.nli.judge import Judge" may name either)."""
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:
        return None
    return Path(spec.origin) if spec and spec.origin else None


def _list_imports(tree: ast.Module) -> list[str]:
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names

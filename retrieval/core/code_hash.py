"""The code that a result comes from: a hash of the given modules and all project modules that they import, directly or not.

Cached results are only as good as the code that made them; an edit anywhere in that code changes their name.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

DATA = ("*.yaml", "*.txt", "*.md")
"""Cues, opposites, query templates, prompts. The files in eval are other people's figures."""
PACKAGES = ("retrieval", "nli", "generation", "indexes", "service", "eval", "bench")


def hash_code(modules: Iterable[str]) -> str:
    """The hash of the source of these modules, of all that they import from the project, and of the data that those read."""
    paths: dict[str, Path] = {}
    queue = list(modules)
    while queue:
        name = queue.pop()
        if name.split(".")[0] not in PACKAGES or name in paths:
            continue
        path = _find_source(name)
        if path is None:
            continue
        paths[name] = path
        queue += _list_imports(path)
    folders = {path.parent for name, path in paths.items() if name.split(".")[0] != "eval"}
    data = {f"{folder.name}/{path.name}": path for folder in folders for end in DATA for path in folder.glob(end)}
    digest = hashlib.sha256()
    for name, path in sorted({**paths, **data}.items()):
        digest.update(f"{name}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def _find_source(module: str) -> Path | None:
    """The file of a module; None for a name within a module ("from nli.judges.judge import Judge" may name either)."""
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:
        return None
    return Path(spec.origin) if spec and spec.origin else None


def _list_imports(path: Path) -> list[str]:
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names

"""Reading what ships with the package: YAML, and word lists with one entry a line, where lines that begin with # are remarks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from counterpoint.retrieval.core.errors import ModelUnusable


def read_shipped(path: Path) -> str:
    """The text of a file of the package.

    Raises `ModelUnusable` if it cannot be read.
    """
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelUnusable(f"The file {path} cannot be read ({error}); reinstall the package.") from error


def read_shipped_yaml(path: Path) -> Any:
    """The content of a YAML file of the package; raises `ModelUnusable` if it cannot be read."""
    try:
        return yaml.safe_load(read_shipped(path))
    except yaml.YAMLError as error:
        raise ModelUnusable(f"The table {path} is no YAML ({error}); reinstall the package.") from error


def read_word_list(path: Path) -> list[str]:
    """The entries of a list, in the file's order.

    Raises `ModelUnusable` if the file cannot be read.
    """
    lines = (line.strip() for line in read_shipped(path).splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def read_sections(path: Path) -> dict[str, list[str]]:
    """The entries of a list below each of its headings, which are written [in brackets].

    Raises `ModelUnusable` if the file cannot be read, if an entry has no heading or if a heading occurs twice.
    """
    sections: dict[str, list[str]] = {}
    entries: list[str] | None = None
    for line in read_word_list(path):
        if line.startswith("[") and (heading := line.strip("[] ")) not in sections:
            entries = sections[heading] = []
        elif line.startswith("[") or entries is None:
            raise ModelUnusable(f"The word list {path} should have a new heading in place of {line!r}; reinstall the package.")
        else:
            entries.append(line)
    return sections

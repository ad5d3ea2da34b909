"""Reading the word lists that ship with the package: one entry a line; lines that begin with # are remarks."""

from __future__ import annotations

from pathlib import Path

from retrieval.core.errors import ModelUnusable


def read_word_list(path: Path) -> list[str]:
    """The entries of a list, in the file's order.

    Raises `ModelUnusable` if the file cannot be read.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ModelUnusable(f"The word list {path} cannot be read ({error}); reinstall the package.") from error
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def read_sections(path: Path) -> dict[str, list[str]]:
    """The entries of a list below each of its headings, which are written [in brackets].

    Raises `ModelUnusable` if the file cannot be read.
    """
    sections: dict[str, list[str]] = {}
    entries: list[str] = []
    for line in read_word_list(path):
        if line.startswith("["):
            entries = sections[line.strip("[] ")] = []
        else:
            entries.append(line)
    return sections

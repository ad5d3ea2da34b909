"""Reading the data folder: the files that its README.md lists, gzip JSON lines unless a name says otherwise."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from counterpoint.retrieval.core.errors import BadInput


def read_reserved_pmids(folder: Path) -> frozenset[str]:
    """The PMIDs of the data folder's papers that nothing is trained on or fitted on; raises `BadInput` if the list is missing."""
    path = folder / "pubmed/reserved_pmids.txt"
    try:
        return frozenset(path.read_text("utf-8").split())
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}); name the folder that holds it with --data.") from error


def read_lines(source: Path) -> list[Any]:
    """The records of a file of JSON lines."""
    return [json.loads(line) for line in source.read_text("utf-8").splitlines()]


def read_rows(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """The records of `folder/name`, or one sentence on what is missing."""
    path = folder / name
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)
    except FileNotFoundError as error:
        raise BadInput(f"{path} is missing; name the folder that holds it with --data.") from error
    except (OSError, EOFError, ValueError) as error:
        raise BadInput(f"{path} is not gzip JSON lines ({error}); fetch it again.") from error

"""Reading the data folder: gzip JSON lines under the names that data/README.md of the folder lists."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from retrieval.core.errors import BadInput


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

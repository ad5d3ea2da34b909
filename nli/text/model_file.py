"""Reading the small models of texts that ship with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from counterpoint.retrieval.core.errors import ModelUnusable


def read_model(path: Path, *names: str) -> list[Any]:
    """The parts of a model's file: a list of lines where a part holds text, else float32 of the stored shape.

    Raises `ModelUnusable` where the file is missing or damaged, or lacks a part.
    """
    try:
        with np.load(path) as file:
            parts = [file[name] for name in names]
            return [bytes(one).decode().split("\n") if one.dtype == np.uint8 else one.astype(np.float32) for one in parts]
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise ModelUnusable(f"{path} cannot be read ({error}); reinstall the package.") from error

"""The data sets that lie beside the project and are not ours to pass on: tests of them are slow, and skipped without them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.helpers.missing import missing

DATA = Path(os.environ.get("COUNTERPOINT_DATA", Path(__file__).parents[3] / "shared" / "data"))


def need_data(timeout: int) -> list[pytest.MarkDecorator]:
    """The marks of a module that reads them, each of whose tests may take so many seconds."""
    absent = missing(f"the data sets at {DATA} (set COUNTERPOINT_DATA)", "they are not ours to pass on")
    return [pytest.mark.slow, pytest.mark.timeout(timeout), pytest.mark.skipif(not DATA.is_dir(), reason=absent)]

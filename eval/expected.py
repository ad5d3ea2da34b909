"""Published figures, as data (expected.yaml), so that every table can show them beside what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

import yaml

PAPER: Mapping[str, Mapping[str, float]] = yaml.safe_load(files("eval").joinpath("expected.yaml").read_text("utf-8"))["table_1"]

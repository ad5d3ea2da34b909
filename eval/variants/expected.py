"""Published figures, as data (expected.yaml), so that every table can show them beside what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import yaml

PUBLISHED: Mapping[str, Any] = yaml.safe_load(files("eval.variants").joinpath("expected.yaml").read_text("utf-8"))

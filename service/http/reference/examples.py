"""The examples in the API's description: real answers over the demo index, kept as files.

They are what `counterpoint ground --json`, `answer --json` and `evidence --json` print for the requests' own examples.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def example(name: str) -> Any:
    """The example of this name."""
    return json.loads(files("service.http").joinpath("examples", f"{name}.json").read_text("utf-8"))

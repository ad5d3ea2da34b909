"""The examples in the API's description: real responses over the demo index to the requests' own examples, kept as files.

`make examples` regenerates them.
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

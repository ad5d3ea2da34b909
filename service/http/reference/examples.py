"""The examples in the API's description: real responses over the demo index, kept as files named after the calls.

`make examples` regenerates them.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

ALIAS = "_alias"
"""The end of the name of a call at its older address."""


@cache
def example(name: str) -> Any:
    """The example of this name."""
    return json.loads(files("service.http").joinpath("examples", f"{name}.json").read_text("utf-8"))


def add_examples(document: dict[str, Any]) -> dict[str, Any]:
    """The same OpenAPI document with an example in the response of each call that has one."""
    known = {file.name.removesuffix(".json") for file in files("service.http").joinpath("examples").iterdir()}
    for operation in (one for item in document["paths"].values() for one in item.values()):
        name = operation["operationId"].removesuffix(ALIAS)
        if name in known:
            operation["responses"]["200"]["content"]["application/json"]["example"] = example(name)
    return document

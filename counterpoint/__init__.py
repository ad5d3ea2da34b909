"""Counterpoint for Python: `open` an index in this process, or ask a service through `Client`.

The names are loaded when they are first asked for, since every module of the product is imported through this one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from counterpoint.retrieval.core.errors import BadConfig, BadInput, CounterpointError, IndexUnusable, ModelUnusable
    from counterpoint.service.client import Counterpoint as Client
    from counterpoint.service.client import CounterpointProblem
    from counterpoint.service.local import LocalService
    from counterpoint.service.local import open_local as open

    __version__: str

_PLACES = {
    "Client": "service.client:Counterpoint",
    "CounterpointProblem": "service.client:CounterpointProblem",
    "LocalService": "service.local:LocalService",
    "open": "service.local:open_local",
    **dict.fromkeys(("BadConfig", "BadInput", "CounterpointError", "IndexUnusable", "ModelUnusable"), "retrieval.core.errors"),
}
__all__ = [
    "BadConfig",
    "BadInput",
    "Client",
    "CounterpointError",
    "CounterpointProblem",
    "IndexUnusable",
    "LocalService",
    "ModelUnusable",
    "__version__",
    "open",
]


def __getattr__(name: str) -> Any:
    """One of the names above."""
    if name == "__version__":
        from importlib.metadata import version

        return version("counterpoint")
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, own_name = _PLACES[name].partition(":")
    return getattr(import_module(f"counterpoint.{module}"), own_name or name)

"""Counterpoint for Python: `open` an index in this process, or ask a service through `Client`."""

from importlib.metadata import version as _version

from retrieval.core.errors import BadConfig, BadInput, CounterpointError, IndexUnusable, ModelUnusable
from service.client import Counterpoint as Client
from service.client import CounterpointProblem
from service.local import LocalService
from service.local import open_local as open

__version__ = _version("counterpoint")
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

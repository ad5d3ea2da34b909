"""spaCy without PyTorch.

thinc, on which spaCy stands, imports PyTorch wherever it is installed, for layers that a blank pipeline does not have. That costs
the first request of a service two seconds and every process 186 MB.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _NotForThisThread(MetaPathFinder):
    """Finds no PyTorch for the thread that made it; others may be loading a model that needs it."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """None, which leaves the module to the finders behind this one."""
        if fullname == "torch" and threading.get_ident() == self._thread:
            raise ModuleNotFoundError("PyTorch is not wanted here", name=fullname)
        return None


@contextmanager
def without_torch() -> Iterator[None]:
    """Within, and in this thread, PyTorch counts as not installed unless it is loaded already."""
    finder = _NotForThisThread()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)

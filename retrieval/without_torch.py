"""spaCy without PyTorch.

thinc, on which spaCy stands, imports PyTorch wherever it is installed, for layers that a blank pipeline does not have. That costs
the first request of a service two seconds and every process 186 MB (docs/performance.md).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_torch() -> Iterator[None]:
    """Within, PyTorch counts as not installed, unless it is loaded already; afterwards it can be imported as ever."""
    if "torch" in sys.modules:
        yield
        return
    sys.modules["torch"] = None  # type: ignore[assignment]  # Python's own way to make an import fail
    try:
        yield
    finally:
        del sys.modules["torch"]

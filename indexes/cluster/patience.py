"""Asking a busy cluster again: a node whose heap is full, or that has just died, refuses for seconds what it takes afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from retrieval.cluster.faults import ClusterBusy

PATIENCE = 180.0
"""Seconds for which a request that a cluster does not accept is sent again."""
_PAUSE, _LONGEST_PAUSE = 0.5, 10.0
_Result = TypeVar("_Result")


def insist(attempt: Callable[[], _Result]) -> _Result:
    """The result of an attempt that may be repeated without harm.

    Raises the last `ClusterBusy` if the cluster is still busy after `PATIENCE` seconds.
    """
    until, pause = time.monotonic() + PATIENCE, _PAUSE
    while True:
        try:
            return attempt()
        except ClusterBusy:
            if time.monotonic() > until:
                raise
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)

"""Sending documents to a cluster in bulk, on several threads, until each has been accepted.

Every write carries its place in the order of all writes as its external version. So a write that is sent again changes nothing,
one that arrives late never undoes a newer one, and a node that dies in between costs only the time until its shards are back. A
node whose heap is full, or that has just died, refuses for seconds what it takes afterwards: it is asked again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from retrieval.cluster.client import Address, ClusterBusy, connect, translate_faults
from retrieval.core.errors import IndexUnusable, OutOfSpace

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


Action = tuple[dict[str, Any], dict[str, Any] | None]
"""What is done to one document, and its source if it is written."""

_CHUNK = 250
_THREADS = 4
_TIMEOUT = 90
_CONFLICT, _GONE = 409, 404


def index_action(id: str, source: dict[str, Any], order: int, again: bool = False) -> Action:
    """Write a document; with `again`, it may replace the one at the same place in the order."""
    kind = "external_gte" if again else "external"
    return {"index": {"_id": id, "version": order, "version_type": kind}}, source


def delete_action(id: str, order: int) -> Action:
    """Delete a document."""
    return {"delete": {"_id": id, "version": order, "version_type": "external"}}, None


class BulkSender:
    """Sends the parts of one batch in parallel; `wait` raises what went wrong with any of them."""

    def __init__(self, address: Address, name: str) -> None:
        self.address, self.name = address, name
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="bulk")
        self._jobs: list[Future[None]] = []

    def send(self, actions: Sequence[Action]) -> None:
        """Begin to send a batch, once the previous one has been accepted."""
        self.wait()
        parts = [actions[at : at + _CHUNK] for at in range(0, len(actions), _CHUNK)]
        self._jobs = [self._threads.submit(self._send_part, part) for part in parts]

    def wait(self) -> None:
        """Wait until everything sent has been accepted; raise the error if the cluster refused any of it."""
        jobs, self._jobs = self._jobs, []
        faults = [error for job in jobs if (error := job.exception())]
        if faults:
            raise faults[0]

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _send_part(self, part: Sequence[Action]) -> None:
        rest = list(part)

        def send_rest() -> None:
            nonlocal rest
            rest = self._try(rest)
            if rest:
                raise ClusterBusy(f"The cluster of {self.address} did not take {len(rest)} documents; try again.")

        insist(send_rest)

    def _try(self, part: Sequence[Action]) -> list[Action]:
        """Send a part once; return those actions that should be sent again."""
        lines = "".join(_write_lines(action, source) for action, source in part)
        with translate_faults(self.address):
            reply = connect(self.address).bulk(body=lines, index=self.name, params={"request_timeout": _TIMEOUT})
        if not reply["errors"]:
            return []
        outcomes = [next(iter(item.values())) for item in reply["items"]]
        return [action for action, outcome in zip(part, outcomes, strict=True) if self._has_failed(outcome)]

    def _has_failed(self, outcome: dict[str, Any]) -> bool:
        """Whether a write should be sent again; one already in counts as done. Raises for one that can never succeed."""
        if outcome["status"] < 300 or outcome["status"] in (_CONFLICT, _GONE):
            return False
        error = outcome.get("error") or {}
        reason = f"{error.get('type')} {error.get('reason')}"
        if "flood" in reason or "read-only-allow-delete" in reason:
            raise OutOfSpace(
                f"The cluster of {self.address} refuses writes, because a node's disk is past its flood-stage watermark; what "
                "was done so far is saved: free some space there and run the same command again to resume."
            )
        if outcome["status"] in (429, 500, 502, 503, 504):
            return True
        raise IndexUnusable(f"The cluster refused document {outcome['_id']} ({outcome['status']}, {reason[:300]}).")


def _write_lines(action: dict[str, Any], source: dict[str, Any] | None) -> str:
    first = json.dumps(action, ensure_ascii=True)
    return f"{first}\n" if source is None else f"{first}\n{json.dumps(source, ensure_ascii=True)}\n"

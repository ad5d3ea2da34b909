"""How far a build or update on a cluster has come, kept in the index itself; and the lock that one writer at a time holds."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from indexes.cluster.patience import insist
from retrieval.cluster.address import Address
from retrieval.cluster.client import connect
from retrieval.cluster.faults import translate_faults
from retrieval.core.errors import BadInput

PROGRESS, LOCK = "__progress__", "__lock__"
_LEASE = 300.0
"""Seconds after which another writer may take the lock of a silent one."""


@dataclass
class Progress:
    """A job's inputs and version, and for each source how many records are in and which of them repeated an id."""

    fingerprint: str
    version: int
    files: list[str] = field(default_factory=list)
    done: dict[str, int] = field(default_factory=dict)
    repeats: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    last: str = ""

    def write(self, address: Address, name: str) -> None:
        """Save the progress in the index with this real name."""
        insist(lambda: self._write_once(address, name))

    def _write_once(self, address: Address, name: str) -> None:
        with translate_faults(address):
            connect(address).index(index=name, id=PROGRESS, body={"progress": asdict(self)}, params={"request_timeout": 60})


def read_progress(address: Address, name: str) -> Progress | None:
    """The progress of an unfinished job; None if there is none."""
    with translate_faults(address):
        reply = connect(address).get(index=name, id=PROGRESS, ignore=[404])
    return Progress(**reply["_source"]["progress"]) if reply.get("found") else None


def drop_progress(address: Address, name: str) -> None:
    """Delete the progress: the job is done."""
    with translate_faults(address):
        connect(address).delete(index=name, id=PROGRESS, ignore=[404])


class WriteLock:
    """Keeps a second build or update off an index.

    A writer on the same machine may take a dead writer's lock at once, one on another machine when the lease ends.
    """

    def __init__(self, address: Address, name: str) -> None:
        self._address, self._name = address, name
        self._renewal_time = 0.0

    def __enter__(self) -> WriteLock:
        with translate_faults(self._address):
            self._take()
        return self

    def __exit__(self, *_: object) -> None:
        with translate_faults(self._address):
            connect(self._address).delete(index=self._name, id=LOCK, ignore=[404])

    def renew(self) -> None:
        """Show that the writer is alive."""
        if time.monotonic() - self._renewal_time > _LEASE / 10:
            insist(self._renew_once)
            self._renewal_time = time.monotonic()

    def _renew_once(self) -> None:
        with translate_faults(self._address):
            connect(self._address).index(index=self._name, id=LOCK, body={"lock": self._describe()})

    def _take(self) -> None:
        client = connect(self._address)
        for _ in range(3):
            reply = client.index(index=self._name, id=LOCK, body={"lock": self._describe()}, op_type="create", ignore=[409])
            if reply.get("result") == "created":
                self._renewal_time = time.monotonic()
                return
            lock = client.get(index=self._name, id=LOCK, ignore=[404])
            if not lock.get("found"):
                continue
            holder = lock["_source"]["lock"]
            if not _is_dead(holder):
                raise BadInput(
                    f"Another build or update of {self._address} is running (process {holder['pid']} on {holder['host']}); wait "
                    "until it is done."
                )
            condition = {"if_seq_no": lock["_seq_no"], "if_primary_term": lock["_primary_term"]}
            client.delete(index=self._name, id=LOCK, params=condition, ignore=[404, 409])
        raise BadInput(f"Another build or update of {self._address} has just begun; wait until it is done.")

    def _describe(self) -> dict[str, Any]:
        return {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "began": _tell_start(os.getpid()),
            "until": time.time() + _LEASE,
        }


def _is_dead(holder: dict[str, Any]) -> bool:
    """Whether the holder of a lock has ended: certain for this machine's processes, assumed for others once the lease is over."""
    if holder["host"] == socket.gethostname() and Path("/proc").is_dir():
        return bool(_tell_start(holder["pid"]) != holder["began"])
    return time.time() > float(holder["until"])


def _tell_start(pid: int) -> str:
    """When a process began, in the kernel's clock ticks; "" if it has ended. Tells apart processes that reuse a number."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""

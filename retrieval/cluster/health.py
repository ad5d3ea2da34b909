"""Whether the engine of an index can answer now, as /health reports it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from retrieval.cluster.address import is_address, read_address
from retrieval.cluster.client import connect
from retrieval.cluster.faults import translate_faults
from retrieval.core.errors import CounterpointError

_SECONDS = 2


@dataclass(frozen=True, slots=True)
class EngineState:
    """What to report: "embedded", a cluster's colour, or why it does not answer; and whether it answers completely."""

    says: str
    answers: bool


def look_at_engine(place: Path) -> EngineState:
    """The state of an index's engine: for a folder, this process; on a cluster, all shards of the index must be available."""
    if not is_address(place):
        return EngineState("embedded", True)
    address = read_address(place)
    try:
        with translate_faults(address):
            reply = connect(address).cluster.health(index=address.name, params={"request_timeout": _SECONDS, "timeout": "1s"})
    except CounterpointError as error:
        return EngineState(str(error), False)
    colour = str(reply["status"])
    if colour == "red":
        shards = reply["active_primary_shards"]
        return EngineState(f"red: only {shards} shards of {address.name} are there, so that no search is complete", False)
    return EngineState(colour, True)

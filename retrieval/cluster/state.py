"""The state of an index on a cluster: its manifest, a document in it that no search finds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from retrieval.cluster.address import Address
from retrieval.cluster.client import connect
from retrieval.cluster.faults import translate_faults
from retrieval.cluster.mapping import list_differences
from retrieval.core.errors import IndexUnusable
from retrieval.store.manifest import FORMAT, Manifest, parse_manifest

MANIFEST = "__manifest__"
"""The id of that document; a paper's id never begins this way."""


@dataclass(frozen=True, slots=True)
class State:
    """The index that an address points to now: its real name on the cluster, its manifest, the names of its cues."""

    name: str
    manifest: Manifest
    cue_names: dict[int, str]


def read_state(address: Address) -> State:
    """The index at an address now; raises `IndexUnusable` if there is none, or one that this code cannot use."""
    with translate_faults(address):
        client = connect(address)
        name = _find_real_name(client.indices.get(index=address.name), address)
        reply = client.get(index=name, id=MANIFEST, ignore=[404])
    if not reply.get("found"):
        raise IndexUnusable(
            f"The index {address} is not finished: its build is still running or was stopped; the same "
            "`counterpoint index build` resumes where it stopped."
        )
    return read_stored(reply["_source"], name, address)


def read_stored(source: dict[str, Any], name: str, address: Address) -> State:
    """The state held by the manifest's document."""
    try:
        data = json.loads(source["manifest"])
        format_number, cues = data["format"], {int(number): str(name) for number, name in source["cue_names"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise IndexUnusable(f"The manifest of {address} cannot be read: build the index again.") from None
    if format_number != FORMAT:
        raise IndexUnusable(
            f"The index {address} has format {format_number} and this Counterpoint reads format {FORMAT}; build it again, or "
            "use the Counterpoint that made it."
        )
    try:
        manifest = parse_manifest(data)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise IndexUnusable(f"The manifest of {address} has missing or wrong entries: build the index again.") from None
    return State(name, manifest, cues)


def _find_real_name(indexes: dict[str, Any], address: Address) -> str:
    """The one index behind a name, checked to be analysed and scored as in this code."""
    if len(indexes) != 1:
        raise IndexUnusable(f"{address} stands for {len(indexes)} indexes ({', '.join(sorted(indexes))}); it should be one.")
    ((name, about),) = indexes.items()
    if differences := list_differences(about["settings"]["index"], about["mappings"]):
        raise IndexUnusable(
            f"The index {address} was not made by this version of Counterpoint: it has {' and '.join(differences)}; build it "
            "again with `counterpoint index build`."
        )
    return str(name)

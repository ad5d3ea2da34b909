"""The address of an index on a cluster: `opensearch://host:9200/name`, accepted wherever a folder is.

`Path` collapses adjacent slashes, so the address is recognised in that form too: every option that takes a folder also takes an
address.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from retrieval.core.errors import BadInput

SCHEME = "opensearch"
DEFAULT_PORT = 9200
_ADDRESS = re.compile(rf"{SCHEME}:/{{1,2}}(?P<hosts>[^/]*)/?(?P<name>.*)", re.DOTALL)
_HOST = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>\d{1,5}))?")
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,199}")
_EXAMPLE = f"{SCHEME}://host:9200/pubmed"


@dataclass(frozen=True, slots=True)
class Address:
    """One or more nodes of a cluster, each a host and a port, and the name of an index there."""

    hosts: tuple[tuple[str, int], ...]
    name: str

    def __str__(self) -> str:
        return f"{SCHEME}://{','.join(f'{host}:{port}' for host, port in self.hosts)}/{self.name}"


def is_address(place: Path | str) -> bool:
    """Whether a place is, or is meant to be, the address of an index on a cluster."""
    return str(place).startswith(f"{SCHEME}:/")


def read_address(place: Path | str) -> Address:
    """The address that a place stands for; raises `BadInput` for one that cannot be used."""
    match = _ADDRESS.fullmatch(str(place))
    if not match:
        raise BadInput(f"{place} is not the address of an index on a cluster; expected one such as {_EXAMPLE}.")
    if "@" in match["hosts"]:
        raise BadInput(
            f"The address of an index names no user and no password; set them as COUNTERPOINT_OPENSEARCH_USER and "
            f"COUNTERPOINT_OPENSEARCH_PASSWORD, and write {_EXAMPLE}."
        )
    hosts = tuple(_read_host(host, place) for host in match["hosts"].split(","))
    if not _NAME.fullmatch(match["name"]):
        raise BadInput(
            f"{place} should end in the name of an index, such as {_EXAMPLE}: lower-case letters, digits, '-', '_' and '.'."
        )
    return Address(hosts, match["name"])


def show_place(place: Path) -> str:
    """A folder as it was given, or an address."""
    return str(read_address(place)) if is_address(place) else str(place)


def name_place(place: Path) -> str:
    """The unique name of an index: the absolute path of its folder, or its address."""
    return str(read_address(place)) if is_address(place) else str(place.resolve())


def _read_host(text: str, place: Path | str) -> tuple[str, int]:
    match = _HOST.fullmatch(text)
    if not match or not 0 < int(match["port"] or DEFAULT_PORT) < 65536:
        raise BadInput(f"{place} names no usable host ({text!r}); expected an address such as {_EXAMPLE}.")
    return match["host"], int(match["port"] or DEFAULT_PORT)

"""The address of an index on a cluster (`opensearch://host:9200/name`) and the connection: opensearch-py's client, its errors
in one sentence each, and whether the cluster can answer.

`Path` collapses adjacent slashes, so the address is recognised in that form too: every option that takes a folder also takes an
address. How to reach a cluster (user, password, TLS) is a setting, never part of an address, a manifest or a log.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterpoint.retrieval.core.addresses import hide_login
from counterpoint.retrieval.core.errors import BadConfig, BadInput, CounterpointError, IndexUnusable, OutOfSpace

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

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
    return str(place).startswith((f"{SCHEME}:/", "http:/", "https:/"))


def read_address(place: Path | str) -> Address:
    """The address that a place stands for; raises `BadInput` for one that cannot be used."""
    match = _ADDRESS.fullmatch(str(place))
    if not match:
        raise BadInput(f"{hide_login(str(place))} is not the address of an index on a cluster; expected one such as {_EXAMPLE}.")
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


RETRY_SECONDS = 5
_TOO_MANY = ("too_many_clauses", "too_many_nested_clauses", "maxclausecount")


class ClusterBusy(IndexUnusable):
    """The cluster cannot answer completely now: a node or shard is unavailable or too slow. The same request may succeed soon."""

    status = 503
    retry_after = RETRY_SECONDS


@contextmanager
def translate_faults(address: Address, opened: bool = False) -> Iterator[None]:
    """Raise our own errors in place of the client's; other errors pass through.

    An index that was `opened` exists: a node that does not know it has just started, which is `ClusterBusy`.
    """
    opensearchpy = load_library()
    try:
        yield
    except CounterpointError:
        raise
    except opensearchpy.exceptions.ImproperlyConfigured as error:
        raise IndexUnusable(f"The connection to {address} cannot be set up ({error}); check its settings.") from error
    except opensearchpy.exceptions.TransportError as error:
        raise translate(error, address, opened) from error
    except (OSError, ValueError) as error:
        # A certificate file that is missing or empty.
        raise IndexUnusable(f"The connection to {address} failed ({_first(str(error))}); check its settings.") from error


def load_library() -> Any:
    """The package that talks to a cluster; raises `BadConfig` where it is not installed."""
    try:
        import opensearchpy
    except ImportError:
        raise BadConfig(
            "An index on a cluster needs the package opensearch-py; run `pip install 'counterpoint[cluster]'`."
        ) from None
    return opensearchpy


def translate(error: Any, address: Address, opened: bool = False) -> CounterpointError:
    """Our error for one of the client's."""
    import opensearchpy.exceptions as theirs

    where = f"The cluster at {_list_hosts(address)}"
    match error:
        case theirs.SSLError():
            return IndexUnusable(
                f"{where} has a certificate that is not trusted ({_first(str(error.info))}); name the authority's file with "
                "COUNTERPOINT_OPENSEARCH_CA, and the host as the certificate does."
            )
        case theirs.ConnectionTimeout():
            return ClusterBusy(f"{where} did not answer in time; try again, or look at its health.")
        case theirs.ConnectionError():
            return _explain_no_connection(str(error.info), where)
        case theirs.AuthenticationException():
            return IndexUnusable(
                f"{where} refuses the user and password; set COUNTERPOINT_OPENSEARCH_USER and COUNTERPOINT_OPENSEARCH_PASSWORD."
            )
        case theirs.AuthorizationException():
            return _explain_refusal(error, address, where)
        case theirs.NotFoundError() if opened:
            return ClusterBusy(
                f"A node of {_list_hosts(address)} does not know the index {address.name} at the moment; try again in seconds."
            )
        case theirs.NotFoundError():
            return IndexUnusable(
                f"There is no index {address.name} at {_list_hosts(address)}; build one with `counterpoint index build SOURCE "
                f"--out {address}`."
            )
        case _:
            return _explain_status(error, address, where)


def _explain_no_connection(info: str, where: str) -> CounterpointError:
    lower = info.lower()
    if any(words in lower for words in ("name or service not known", "failed to resolve", "nodename nor", "name resolution")):
        return IndexUnusable(f"{where} cannot be found: no host has this name; check the address.")
    if "refused" in lower:
        return ClusterBusy(f"{where} accepts no connection; start it, or check the address.")
    if "ssl" in lower or "bad status line" in lower or "remotedisconnected" in lower or "remote end closed" in lower:
        return ClusterBusy(
            f"{where} broke the connection off; try again, and if it speaks https only, set COUNTERPOINT_OPENSEARCH_TLS=true."
        )
    return ClusterBusy(f"{where} cannot be reached ({_first(info)}); try again, or check the address.")


def _explain_refusal(error: Any, address: Address, where: str) -> CounterpointError:
    """Explain a 403: an account without the right to do this, or an index that refuses writes."""
    message = f"{error.error} {error.info}".lower()
    if "read-only-allow-delete" in message or "flood" in message:
        return OutOfSpace(
            f"{where} refuses writes, because a node's disk is past its flood-stage watermark; free some space there and run the "
            "same command again to resume."
        )
    if "cluster_block" in message:
        return IndexUnusable(f"{where} blocks this on the index {address.name} ({_first(_reason(error))}); see its settings.")
    return IndexUnusable(f"{where} does not let this account do that ({_first(_reason(error))}); give it the rights.")


def _explain_status(error: Any, address: Address, where: str) -> CounterpointError:
    message = f"{error.error} {error.info}".lower().replace(" ", "_")
    if any(words in message for words in _TOO_MANY):
        return BadInput("The query has more different words than the cluster accepts; shorten it.")
    if error.status_code == 429 and ("flood" in message or "read-only-allow-delete" in message):
        return _explain_refusal(error, address, where)
    if error.status_code in (429, 500, 502, 503, 504):
        return ClusterBusy(f"{where} cannot answer completely now ({_first(_reason(error))}); try again in a few seconds.")
    return IndexUnusable(f"{where} refused a request ({error.status_code}, {_first(_reason(error))}).")


def _reason(error: Any) -> str:
    """The innermost reason in a cluster's error."""
    info = error.info
    if isinstance(info, dict) and isinstance(info.get("error"), dict):
        cause = info["error"]
        for inner in [*cause.get("root_cause", [])[:1], cause]:
            if inner.get("reason"):
                return str(inner["reason"])
    return str(error.error)


def _first(text: str) -> str:
    return (text.strip().splitlines() or ["no reason given"])[0][:300]


def _list_hosts(address: Address) -> str:
    return ", ".join(f"{host}:{port}" for host, port in address.hosts)


PREFIX = "COUNTERPOINT_OPENSEARCH_"
_POOL = 16
"""Connections kept open to each node."""
_RETRIES = 3


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach a cluster: account, TLS, seconds that a search may take, and whether to ask the cluster for its other nodes.

    `shards` and `replicas` apply to an index that is built.
    """

    user: str = ""
    password: str = field(default="", repr=False)
    tls: bool = False
    ca: str = ""
    seconds: float = 10.0
    sniff: bool = False
    shards: int = 3
    replicas: int = 1


_access: Access | None = None
_clients: dict[tuple[Address, Access], OpenSearch] = {}
_lock = threading.Lock()


def use_access(access: Access) -> None:
    """Use these settings for every cluster, whatever the environment says."""
    global _access
    _access = access


def read_access() -> Access:
    """The settings given to `use_access`, else the variables COUNTERPOINT_OPENSEARCH_…; raises `BadConfig` for invalid values."""
    if _access is not None:
        return _access

    def text(name: str) -> str:
        return os.environ.get(PREFIX + name, "")

    try:
        return Access(
            user=text("USER"),
            password=text("PASSWORD"),
            tls=text("TLS").lower() in ("1", "true", "yes", "on"),
            ca=text("CA"),
            seconds=float(text("SECONDS") or 10.0),
            sniff=text("SNIFF").lower() in ("1", "true", "yes", "on"),
            shards=int(text("SHARDS") or 3),
            replicas=int(text("REPLICAS") or 1),
        )
    except ValueError as error:
        raise BadConfig(f"A variable {PREFIX}… is not a number ({error}).") from None


def connect(address: Address) -> OpenSearch:
    """The client for the nodes of an address: one per process, safe to use from several threads at once.

    Raises `BadConfig` for a certificate file that cannot be read.
    """
    access = read_access()
    with _lock:
        if (address, access) not in _clients:
            _clients[address, access] = _make_client(address, access)
        return _clients[address, access]


def _make_client(address: Address, access: Access) -> OpenSearch:
    how: dict[str, Any] = {
        "hosts": [{"host": host.strip("[]"), "port": port} for host, port in address.hosts],
        "use_ssl": access.tls,
        # A little longer than the time after which the node itself stops the search.
        "timeout": access.seconds + 2.0,
        "max_retries": max(_RETRIES, len(address.hosts)),
        "retry_on_timeout": False,
        "retry_on_status": (502, 504),
        "pool_maxsize": _POOL,
        "http_compress": False,
    }
    if access.tls:
        if access.ca and not os.access(access.ca, os.R_OK):
            raise BadConfig(f"The file of certificates {access.ca} (setting opensearch_ca) cannot be read; name the authority's.")
        how |= {"verify_certs": True, "ca_certs": access.ca or None}
    if access.user:
        how |= {"http_auth": (access.user, access.password)}
    if access.sniff:
        how |= {"sniff_on_connection_fail": True, "sniffer_timeout": 60, "sniff_timeout": 2}
    client: OpenSearch = load_library().OpenSearch(**how)
    return client


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

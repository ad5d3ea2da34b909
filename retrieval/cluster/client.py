"""The connection to a cluster: opensearch-py's client, with its connection pool, retries and timeouts.

How to reach a cluster (user, password, TLS) is a setting, never part of an address, a manifest or a log.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from retrieval.cluster.address import Address
from retrieval.core.errors import BadConfig

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

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
    from opensearchpy import OpenSearch

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
    return OpenSearch(**how)

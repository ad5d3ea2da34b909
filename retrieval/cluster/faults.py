"""Errors of a cluster, one sentence each: what the error means and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from retrieval.cluster.address import Address
from retrieval.core.errors import BadInput, CounterpointError, IndexUnusable, OutOfSpace

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
    import opensearchpy

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

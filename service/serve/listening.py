"""The socket of the service, opened before anything is loaded, so that a wrong address is told at once and in one sentence."""

from __future__ import annotations

import errno
import os
import socket

from retrieval.core.errors import BadConfig

_BACKLOG = 2048


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; raises `BadConfig` if this machine has no such address or the port cannot be had."""
    name = host.strip("[]")
    try:
        found = socket.getaddrinfo(name or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError):
        raise BadConfig(f"The host {host!r} is unknown; give --host an address of this machine, such as 127.0.0.1.") from None
    # A name like localhost has several addresses; every client knows the old kind.
    family, _, _, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
    both = address[0] == "::" and socket.has_dualstack_ipv6()
    try:
        return socket.create_server(address[:2], family=family, backlog=_BACKLOG, dualstack_ipv6=both)
    except OSError as error:
        raise BadConfig(_explain(error.errno, host, port)) from None


def write_address(host: str, port: int) -> str:
    """The address as a browser takes it."""
    name = host.strip("[]")
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def _explain(code: int | None, host: str, port: int) -> str:
    if code == errno.EADDRINUSE:
        return f"Port {port} of {host} is in use, perhaps by another `counterpoint serve`; stop it, or give another --port."
    if code == errno.EADDRNOTAVAIL:
        return f"{host} is not an address of this machine; give --host one that is, such as 127.0.0.1."
    if code in (errno.EACCES, errno.EPERM):
        return f"Port {port} is for administrators only; choose one above 1023 with --port."
    return f"Cannot listen on port {port} of {host} ({os.strerror(code or 0)}); choose another with --host or --port."

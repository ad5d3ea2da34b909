"""Names of hosts: in the settings, in a Host header, in an Origin."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

ANY = "*"
"""In the setting `hosts`: every host."""
_NAME = re.compile(r"[A-Za-z0-9_.-]+|\[?[0-9A-Fa-f:.]+\]?")


def read_host(text: str) -> str:
    """The host of `host` or `host:port` in one spelling: lower case, no brackets, no final dot; "" if it cannot be read."""
    place = f"[{text}]" if text.count(":") > 1 and not {*"[]"} & {*text} else text
    try:
        parts = urlsplit(f"//{place}")
        _port = parts.port  # raises if it is not a number
    except ValueError:
        return ""
    if parts.netloc != place or "@" in place:
        return ""  # a path or a user has no place here
    host = (parts.hostname or "").removesuffix(".")
    try:
        return str(ip_address(host))
    except ValueError:
        return host


def is_own_machine(host: str) -> bool:
    """Whether only this machine itself can reach what listens on this host."""
    host = read_host(host)
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_hosts(given: object) -> object:
    """The names in a list, or in a text with commas, each in one spelling; raises `ValueError` for what is not a host's name."""
    names = given.split(",") if isinstance(given, str) else given
    if not isinstance(names, list | tuple):
        return given
    names = [str(one).strip() for one in names if str(one).strip()]
    for name in names:
        if name != ANY and not (_NAME.fullmatch(name) and read_host(name)):
            raise ValueError(f"should be names of hosts without http:// and port, such as papers.example.org, not {name!r}")
    return tuple(name if name == ANY else read_host(name) for name in names)

"""Addresses of servers: the login in one, whether it is this machine, the proxy on the way there; and keys for their headers."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

from counterpoint.retrieval.core.errors import BadConfig

Login = tuple[str, str]
"""A user name and a password."""
_LOGIN = re.compile(r"(?<=:/)/?[^\s'\"]*@")
_PROXIES = ("http", "https", "socks5", "socks5h")
"""The kinds of proxies that the clients know."""


def split_login(address: str) -> tuple[str, Login | None]:
    """An address without user name and password, and these; None if it has none. Only the first part may be shown or kept."""
    parts = urlsplit(address)
    login, found, host = parts.netloc.rpartition("@")
    user, _, password = login.partition(":")
    return urlunsplit(parts._replace(netloc=host)), (unquote(user), unquote(password)) if found else None


def hide_login(text: str) -> str:
    """A text that names an address, without the user name and password in it, however badly it is written."""
    return _LOGIN.sub(lambda match: "/" * match.group().startswith("/"), text)


def is_loopback(address: str) -> bool:
    """Whether the server at this address is on this machine."""
    host = urlsplit(address).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def find_proxy(address: str) -> str | None:
    """The proxy that the environment names for an address, None for none; a server on this machine is asked directly.

    Raises `BadConfig` for a proxy of a kind that cannot be used.
    """
    parts = urlsplit(address)
    if is_loopback(address) or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy:
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    kind, variable = urlsplit(proxy).scheme, f"{parts.scheme if parts.scheme in proxies else 'all'}_proxy".upper()
    instead = f"unset {variable}, or name {parts.hostname} in NO_PROXY to ask it directly"
    if kind not in _PROXIES:
        raise BadConfig(
            f"{variable} names a proxy of the kind {kind}, which cannot be used; name an http or socks5 proxy, {instead}."
        )
    if kind.startswith("socks") and find_spec("socksio") is None:
        raise BadConfig(f"{variable} names a SOCKS proxy, which needs the package socksio: run `pip install socksio`, {instead}.")
    return proxy


def read_key(variable: str) -> str:
    """The key in an environment variable, without blanks and line breaks around it; "" if it holds none.

    Raises `BadConfig` for one that no header can carry.
    """
    return clean_key(os.environ.get(variable, ""), f"in {variable}")


def clean_key(key: str, where: str) -> str:
    """A key without blanks and line breaks around it; raises `BadConfig` for one that no header can carry."""
    key = key.strip()
    if all("!" <= letter <= "~" for letter in key):
        return key
    what = (
        "a letter beyond ASCII" if key.isprintable() and " " not in key else "a blank, a line break or a control character inside"
    )
    raise BadConfig(f"The key {where} has {what}, which no header carries; set it anew.")

"""Which requests the service takes at all: those to one of its own hosts and, if they change or cost something, not from the
page of another site.

A web page of any site can make its visitor's browser send requests to this machine; if its own name leads here (DNS rebinding),
it can also read the responses. The Host header gives such a name away; Origin and Sec-Fetch-Site tell of any other site.
"""

from __future__ import annotations

from ipaddress import ip_address
from socket import gethostname

from starlette.datastructures import Headers
from starlette.types import Scope

from service.http.requests.faults import short
from service.operating.hosts import ANY, is_own_machine, read_host
from service.operating.settings import Settings

_SAFE = ("GET", "HEAD", "OPTIONS", "TRACE")
_HINT = "if this name is meant to work, its operator adds it to the setting hosts (COUNTERPOINT_HOSTS)"


class Senders:
    """Refuses requests to hosts that are not the service's own, and those that pages of other sites send."""

    def __init__(self, settings: Settings) -> None:
        self._named = {*settings.hosts}
        self._only_here = is_own_machine(settings.host)
        self._own = {"localhost", read_host(settings.host)} | (set() if self._only_here else {read_host(gethostname())})

    def refuse(self, scope: Scope) -> str:
        """Why this request is refused, in one sentence; "" if it is not."""
        headers = Headers(scope=scope)
        asked = headers.get("host")
        if asked is not None and not self._is_own(read_host(asked)):
            return f"This service does not answer to the host “{short(asked)}”; {_HINT}."
        if scope["method"] not in _SAFE and not self._is_same_site(headers, asked or ""):
            origin = short(headers.get("origin", "another site"))
            return f"This request was sent by a page of another site ({origin}); use the service's own page, or, {_HINT}."
        return ""

    def _is_own(self, host: str) -> bool:
        """Whether the service is reached by this host. An address that is not a name cannot be another site's."""
        if ANY in self._named or host in self._named | self._own:
            return True
        try:
            address = ip_address(host)
        except ValueError:
            return False
        return address.is_loopback or not self._only_here

    def _is_same_site(self, headers: Headers, asked: str) -> bool:
        """Whether a program or the service's own page sent this. Browsers say so in Sec-Fetch-Site, older ones only in Origin."""
        if site := headers.get("sec-fetch-site"):
            return site in ("same-origin", "none")
        origin = headers.get("origin")
        if origin is None:
            return True
        place = origin.partition("://")[2]
        return bool(place) and (place.lower() == asked.lower() or read_host(place) in self._named)

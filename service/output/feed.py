"""Alerts as a feed (Atom, RFC 4287)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from counterpoint.service.memory.schemas import AlertOut
from counterpoint.service.output.templates import load_templates

MEDIA_TYPE = "application/atom+xml; charset=utf-8"
# What XML 1.0 cannot hold, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_feed(alerts: Sequence[AlertOut], base: str, name: str, id: str) -> str:
    """Write the alerts, newest first, as a feed of that name and id; `base` is the page's address, the start of the links."""
    template = load_templates("counterpoint.service.output").get_template("feed.xml")
    return _NOT_XML.sub(" ", template.render(alerts=alerts, base=base, name=name, id=id))

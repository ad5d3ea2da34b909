"""Alerts as an Atom feed (RFC 4287), for feed readers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from service.memory.schemas import AlertOut

MEDIA_TYPE = "application/atom+xml; charset=utf-8"
_ATOM = "http://www.w3.org/2005/Atom"
_NEVER = "2000-01-01T00:00:00+00:00"
# What XML 1.0 cannot hold, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_feed(alerts: Sequence[AlertOut], base: str, name: str, id: str) -> bytes:
    """Write the alerts, newest first, as a feed of that name and id; `base` is the page's address, the start of the links."""
    ET.register_namespace("", _ATOM)
    feed = ET.Element(_tag("feed"))
    _add(feed, "title", name)
    _add(feed, "id", id)
    _add(feed, "updated", alerts[0].at if alerts else _NEVER)
    _add(ET.SubElement(feed, _tag("author")), "name", "Counterpoint")
    ET.SubElement(feed, _tag("link"), href=base)
    for alert in alerts:
        entry = ET.SubElement(feed, _tag("entry"))
        _add(entry, "title", f"{alert.kind.capitalize()}: {alert.claim}")
        _add(entry, "id", f"urn:counterpoint:alert:{alert.id}")
        _add(entry, "updated", alert.at)
        ET.SubElement(entry, _tag("link"), href=f"{base}{alert.link}")
        ET.SubElement(entry, _tag("category"), term=alert.kind)
        _add(entry, "summary", _describe(alert))
    document: bytes = ET.tostring(feed, "utf-8", xml_declaration=True)
    return document


def _describe(alert: AlertOut) -> str:
    quote = f" “{alert.paper.sentence}”" if alert.paper.sentence else ""
    return f"{alert.detail}{quote} (document {alert.paper.pmid}, index {alert.index})"


def _add(parent: ET.Element, name: str, text: str) -> None:
    ET.SubElement(parent, _tag(name)).text = _NOT_XML.sub(" ", text)


def _tag(name: str) -> str:
    return f"{{{_ATOM}}}{name}"

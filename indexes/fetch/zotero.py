"""A Zotero library, read over either of Zotero's interfaces: the program on this machine, or zotero.org.

Both speak version 3 of Zotero's Web API (https://www.zotero.org/support/dev/web_api/v3/basics). The local one needs no key and
has neither limits nor pages; its version numbers do not show an edit before Zotero has synced it. The web one wants a key for all
but public libraries. The key travels in a header, to Zotero's own host alone; files lie at another.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urljoin, urlsplit
from urllib.request import url2pathname

import httpx

from counterpoint.indexes.fetch.fetching import ZOTERO, ZOTERO_LOCAL
from counterpoint.indexes.fetch.services import TRANSIENT, TRIES, NotWhole, Remote
from counterpoint.indexes.readers.full_text.archives import LARGEST
from counterpoint.retrieval.core.addresses import clean_key, is_loopback, read_key
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadConfig, BadInput, Unfinished
from counterpoint.retrieval.store.manifest import write_atomically

AT_ONCE = 50
"""Items asked for by their keys in one request, the most that zotero.org allows."""
_PAGE = 100
_LIBRARY = re.compile(r"(?:users|groups)/[0-9]{1,12}")
_KEY = re.compile(r"[A-Za-z0-9]{1,20}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONGEST_PAUSE = 300
_AGAIN = "nothing was changed here; sync again to go on"


class Changed(Exception):
    """The library changed while it was read, so its lists do not fit each other."""


class NoFile(Exception):
    """An attachment has no file that can be had; says why."""


@dataclass(frozen=True, slots=True)
class ZoteroSource:
    """A library in Zotero, "users/ID" or "groups/ID" ("users/0" is one's own on this machine), and over which interface.

    `key_from` names the environment variable or the file of mode 600 that holds the key for zotero.org; the key itself is never
    kept. `address` is that of the interface, if it is another than Zotero's.
    """

    interface: Literal["local", "web"] = "local"
    library: str = "users/0"
    key_from: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection: its names from the root down, and how many items Zotero counts in it, sub-collections not included."""

    key: str
    path: tuple[str, ...]
    items: int


def list_collections(source: ZoteroSource, key: str = "", tries: int = TRIES) -> list[Collection]:
    """The collections of a library, each followed by its sub-collections; with this key, if one is given."""
    with closing(Zotero(source, key=key, tries=tries)) as remote:
        return remote.list_collections()[0]


def find_collection(collections: Sequence[Collection], wanted: str) -> Collection:
    """The collection with this key, or these names joined by "/"; raises `BadInput` unless there is exactly one."""
    names = wanted.strip("/").casefold()
    found = [one for one in collections if wanted == one.key or names == "/".join(one.path).casefold()]
    if len(found) != 1:
        what = f"{len(found)} collections are" if found else "No collection is"
        raise BadInput(f"{what} called {wanted!r}; list the collections, and give the key of one.")
    return found[0]


def read_key_from(place: str) -> str:
    """The key that an environment variable or a file of mode 600 holds; "" for no place."""
    path = Path(place).expanduser()
    try:
        if not place or _VARIABLE.fullmatch(place):
            key = read_key(place) if place else ""
        elif path.stat().st_mode & 0o077:
            raise BadConfig(f"The key in {path} can be read by others; run `chmod 600 {path}`.")
        else:
            key = clean_key(path.read_text("utf-8"), f"in {path}")
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfig(f"{path} should hold a key for zotero.org, and cannot be read ({type(error).__name__}).") from None
    if place and not key:
        raise BadConfig(f"{place} should hold a key for zotero.org, and is empty; make one at zotero.org/settings/keys.")
    return key


class Zotero(Remote):
    """One library over one interface."""

    def __init__(self, source: ZoteroSource, backoff: float = 1.0, key: str = "", tries: int = TRIES) -> None:
        self.is_local = source.interface == "local"
        address = source.address or (ZOTERO_LOCAL if self.is_local else ZOTERO)
        near = is_loopback(address)
        if not _LIBRARY.fullmatch(source.library):
            raise BadInput(f"Expected users/ID or groups/ID for a library of Zotero, got {source.library!r}; the ID is a number.")
        if self.is_local and not near:
            raise BadConfig("Zotero's local interface is on this machine alone; use the web one for another.")
        if not near and not address.startswith("https://"):
            raise BadConfig("Zotero's web interface is reached by https://, so that nobody reads the key on the way.")
        key = "" if self.is_local else key or read_key_from(source.key_from)
        super().__init__("Zotero" if self.is_local else "zotero.org", address, 1_000 if near else 5, backoff, [key])
        # A Zotero that is closed answers no sooner for being asked often.
        self._library, self._not_before, self._tries = source.library, 0.0, 2 if self.is_local else tries
        self._headers = {"Zotero-API-Version": "3"} | ({"Zotero-API-Key": key} if key else {})

    def list_collections(self, since: int = 0) -> tuple[list[Collection], int]:
        """The collections as a tree from the top, and the library's version; none and `since` if that has not changed."""
        found, version = self._list("collections", {}, {"If-Modified-Since-Version": str(since)} if since else {})
        below: dict[str, list[tuple[str, str, int]]] = {}
        found = {key: one for key, one in found.items() if not one["data"].get("deleted")}
        for key, one in found.items():
            parent, count = str(one["data"].get("parentCollection")), one.get("meta", {}).get("numItems")
            row = (str(one["data"].get("name") or key), key, count if isinstance(count, int) else 0)
            below.setdefault(parent if parent in found else "", []).append(row)

        def walk(parent: str, path: tuple[str, ...]) -> Iterator[Collection]:
            for name, key, count in sorted(below.pop(parent, [])):
                yield Collection(key, (*path, name), count)
                yield from walk(key, (*path, name))

        return list(walk("", ())), version

    def list_versions(self, collection: str, since: int = 0) -> tuple[dict[str, int] | None, int]:
        """The version of each item of a collection with those below it ("": of the library), and the library's; None for the
        items if the library has not changed after `since`. Notes and attachments are items, too; annotations are left out.

        Raises `Changed` if the library changes meanwhile, `BadInput` if there is no such collection.
        """
        collections, version = self.list_collections(since)
        if since and version == since:
            return None, version
        inside = list[Collection]()
        if collection:
            at = next((at for at, one in enumerate(collections) if one.key == collection), None)
            if at is None:
                raise BadInput(f"{self.name} no longer has the collection {collection}; nothing was changed here.")
            depth = len(collections[at].path)
            inside = [collections[at], *takewhile(lambda one: len(one.path) > depth, collections[at + 1 :])]
        versions: dict[str, int] = {}
        for path in [f"collections/{one.key}/items" for one in inside] or ["items"]:
            found, now = self._list(path, {"format": "versions", "itemType": "-annotation"})
            if now != version:
                raise Changed
            versions |= found
        if not versions and any(one.items for one in inside):
            raise Unfinished(f"{self.name} counts items in the collection and lists none; {_AGAIN}.")
        return versions, version

    def read_items(self, keys: Sequence[str]) -> dict[str, dict[str, Any]]:
        """At most `AT_ONCE` items by their keys; raises `Changed` if one is not delivered."""
        found, _ = self._list("items", {"itemKey": ",".join(keys)})
        if not found.keys() >= set(keys):
            raise Changed
        return {key: found[key] for key in keys}

    def read_children(self, key: str) -> dict[str, dict[str, Any]]:
        """The notes and attachments of an item: Zotero 7 does not list them with a collection."""
        return self._list(f"items/{key}/children", {})[0]

    def save_file(self, item: Mapping[str, Any], target: Path) -> None:
        """Copy or download a PDF; raises `NoFile` if it cannot be had."""
        key, data = item["key"], item["data"]
        answer = self._get(f"items/{key}/file", {})
        if answer.status_code == 404:
            raise NoFile("there is no file on this machine" if self.is_local else "its file is not at zotero.org")
        if self.is_local:
            content = _read_local(answer.headers.get("Location", ""), key, data)
        else:
            content = self._download(answer.headers["Location"]) if answer.has_redirect_location else answer.content
            if data.get("md5") not in (None, hashlib.md5(content, usedforsecurity=False).hexdigest()):
                raise NoFile("its file came damaged")
        if b"%PDF-" not in content[:1024]:
            raise NoFile("its file is no PDF")
        write_atomically(target, content)

    def _download(self, place: str) -> bytes:
        """What lies at the address that a file was moved to; the key goes no further than Zotero's own host."""
        try:
            for _ in range(3):
                if not (place.startswith("https://") or (is_loopback(self._address) and is_loopback(place))):
                    raise NoFile("zotero.org names a place that is not reached by https")
                with self._client.stream("GET", place, auth=None) as answer:
                    if answer.has_redirect_location:
                        place = urljoin(place, answer.headers["Location"])
                        continue
                    if not answer.is_success:
                        raise NoFile(f"its file cannot be had (error {answer.status_code})")
                    content = b""
                    for chunk in answer.iter_bytes(1 << 20):
                        content += chunk
                        if len(content) > LARGEST:
                            raise NoFile(f"its file has over {LARGEST // 10**6} MB")
                    return content
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unfinished(f"A file of {self.name} cannot be fetched ({type(error).__name__}); {_AGAIN}.") from None
        raise NoFile("its file is moved on and on")

    def _list(self, path: str, fields: Mapping[str, str], headers: Mapping[str, str] | None = None) -> tuple[dict[str, Any], int]:
        """All objects of a list, or their versions, by key, page after page, and the version of the library; none where it has
        not changed (304).

        Raises `Changed` if the library changes between pages, `Unfinished` if the list is not whole.
        """
        all_found: dict[str, Any] = {}
        version = -1
        pages = {} if self.is_local or fields.get("format") else {"limit": str(_PAGE)}
        while True:
            answer = self._get(path, {**fields, **pages} | ({"start": str(len(all_found))} if all_found else {}), headers)
            if answer.status_code == 304:
                return {}, int((headers or {})["If-Modified-Since-Version"])
            if answer.status_code == 404:
                raise BadInput(f"{self.name} has no {path} in {self._library}; check the library and the collection.")
            now, total = (_read_number(answer, name) for name in ("Last-Modified-Version", "Total-Results"))
            if version not in (-1, now):
                raise Changed
            version, before = now, len(all_found)
            all_found |= _read_page(answer.content, versions=fields.get("format") == "versions")
            if len(all_found) >= total and 'rel="next"' not in answer.headers.get("Link", ""):
                return all_found, version
            if len(all_found) == before:
                raise Unfinished(f"{self.name} lists {before:,} of {total:,} objects; {_AGAIN}.")

    def _get(self, path: str, fields: Mapping[str, str], headers: Mapping[str, str] | None = None) -> httpx.Response:
        """The answer to a request: a whole list, where a file is, 304 or 404; asked again after faults, and not before Zotero
        allows it."""
        is_file = path.endswith("/file")
        page = partial(_read_page, versions=fields.get("format") == "versions")
        check: Callable[[bytes], object] = (lambda _: None) if is_file else page
        time.sleep(max(0.0, self._not_before - time.monotonic()))
        sent = {**self._headers, **(headers or {})}
        try:
            answer = self._send("GET", f"{self._library}/{path}", check, self._tries, params=fields, headers=sent)
        except (NotWhole, httpx.DecodingError) as fault:
            raise Unfinished(f"{self.name} gave no whole answer ({self._clean(str(fault))}); {_AGAIN}.") from None
        except httpx.RequestError as error:
            hint = "start Zotero on this machine; " if self.is_local else ""
            why = f"{type(error).__name__}: {self._clean(str(error))}"
            raise Unfinished(f"{self.name} cannot be reached at {self._address} ({why}); {hint}{_AGAIN}.") from None
        self._not_before = time.monotonic() + min(_read_number(answer, "Backoff"), _LONGEST_PAUSE)
        status = answer.status_code
        if answer.is_success or status in (304, 404) or (is_file and answer.has_redirect_location):
            return answer
        if status == 412:
            raise Changed
        if status in TRANSIENT:
            wait = max(_read_number(answer, "Retry-After"), _read_number(answer, "Backoff"))
            later = f"in {format_count(wait, 'second')}" if wait else "later"
            often = "again and again " if self._tries > 1 else ""
            raise Unfinished(f"{self.name} answers {often}with the error {status}; {_AGAIN}, {later}.")
        if status not in (401, 403):
            raise BadInput(f"{self.name} refuses to give {path} (error {status}: {self._clean(answer.text)}).")
        if self.is_local:
            raise BadInput(
                "Zotero lets no other program read its library; in its settings, under Advanced, allow other applications on "
                "this computer to communicate with Zotero."
            )
        who = "this key" if "Zotero-API-Key" in self._headers else "anyone without a key"
        raise BadInput(f"zotero.org does not let {who} read {self._library}; make a key that may, at zotero.org/settings/keys.")


def _read_number(answer: httpx.Response, header: str) -> int:
    text = answer.headers.get(header, "")
    return int(text) if text.isascii() and text.isdigit() else 0


def _read_page(body: bytes, versions: bool) -> dict[str, Any]:
    """The objects of an answer by their keys, or the `versions`; raises `NotWhole` unless it is a whole list of them."""
    try:
        found = json.loads(body)
    except ValueError:
        raise NotWhole("no JSON, or JSON that breaks off") from None
    if isinstance(found, list) and all(isinstance(one, dict) for one in found):
        found = {str(one.get("key")): one.get("version") if versions else one for one in found}
    # Keys become names of files.
    if not isinstance(found, dict) or not all(map(_KEY.fullmatch, found)):
        raise NotWhole("JSON that is no list of Zotero's")
    for one in found.values():
        is_object = isinstance(one, dict) and isinstance(one.get("data"), dict) and isinstance(one.get("meta", {}), dict)
        if not (type(one) is int if versions else is_object):
            raise NotWhole("JSON in which an object lacks what Zotero's have")
    return found


def _read_local(place: str, key: str, data: Mapping[str, Any]) -> bytes:
    """The file at a `file://` address, if Zotero stores it in the attachment's own folder, or the attachment links to it."""
    parts = urlsplit(place)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        raise NoFile("Zotero names no file on this machine")
    path = Path(url2pathname(parts.path))
    linked = str(data.get("path") or "").removeprefix("attachments:")
    expected = bool(linked) and str(path).endswith(linked) if data.get("linkMode") == "linked_file" else path.parent.name == key
    try:
        if not path.is_file():
            raise NoFile("there is no file on this machine")
        if not expected or path.resolve().parent != path.parent.resolve() or ".." in path.parts:
            raise NoFile("its file is not where Zotero keeps it")
        if path.stat().st_size > LARGEST:
            raise NoFile(f"its file has over {LARGEST // 10**6} MB")
        return path.read_bytes()
    except OSError as error:
        raise NoFile(f"its file cannot be read ({error.strerror})") from None

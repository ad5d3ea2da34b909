"""A library of Zotero on loopback, over both interfaces: shaped like the documented answers, with reported quirks as switches.

Under /api it answers as the program on this machine does, elsewhere as zotero.org. To agree with it is to agree with it alone.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

KEY = "k3yOfTheTests0000000000A"
ALPHABET = "23456789ABCDEFGHIJKLMNPQRSTUVWXYZ"


@dataclass(frozen=True)
class Reply:
    """A status, a body and headers; `declared` is the length that the server claims, the real one if None."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    declared: int | None = None


@dataclass(frozen=True)
class Request:
    """A request as it came: whether it is for the local interface, its path below the library, its fields and headers."""

    local: bool
    path: str
    fields: Mapping[str, str]
    headers: Mapping[str, str]


Fault = Callable[[Request], Reply | None]
"""What the server answers in place of the real answer; None for the real one."""


class ZoteroServer:
    """The library; its files lie in `folder`.

    `zotero_7` lists no attachments with a collection and has no headers that count; `twice` then gives an item twice.
    `children_too` adds the children of items that are asked for by their keys, `as_list` an empty object as an empty list.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.version = folder, 100
        self.zotero_7 = self.twice = self.children_too = self.as_list = False
        self.items: dict[str, dict[str, Any]] = {}
        self.children: dict[str, list[str]] = {}
        self.collections: dict[str, dict[str, Any]] = {}
        self.asked: list[Request] = []
        self.faults: list[Fault] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version, disable_nagle_algorithm = "HTTP/1.1", True

            def do_GET(self) -> None:
                reply = outer.reply(self.path, {name.lower(): value for name, value in self.headers.items()})
                self.send_response(reply.status)
                length = len(reply.body) if reply.declared is None else reply.declared
                for name, value in {"Content-Length": str(length), "Zotero-API-Version": "3", **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply.body)
                self.close_connection = self.close_connection or reply.declared is not None

            def log_message(self, *arguments: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        self.local, self.web = f"http://127.0.0.1:{self.port}/api", f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop answering, as a program that is closed."""
        self._server.shutdown()
        self._server.server_close()

    def add_collection(self, name: str, parent: str = "") -> str:
        """A new collection; returns its key."""
        key = self._make_key()
        self.version += 1
        self.collections[key] = {"key": key, "version": self.version, "name": name, "parentCollection": parent or False}
        return key

    def add(self, collection: str = "", kind: str = "journalArticle", **data: Any) -> str:
        """A new item; returns its key."""
        key = self._make_key()
        self.version += 1
        whole = {"key": key, "itemType": kind, "title": "", "tags": [], "collections": [collection] if collection else [], **data}
        self.items[key] = {"version": self.version, "data": whole}
        self.children.setdefault(str(data.get("parentItem", "")), []).append(key)
        return key

    def attach(self, parent: str, content: bytes | None = None, name: str = "paper.pdf", **data: Any) -> str:
        """A new attachment with a stored file; None for one without."""
        key = self.add(kind="attachment", parentItem=parent, title="Full Text PDF", filename=name, contentType="application/pdf",
                       linkMode="imported_file", **data)  # fmt: skip
        if content is not None:
            self.store(key, content)
        return key

    def store(self, key: str, content: bytes) -> None:
        """Give an attachment this file."""
        path = self.folder / "storage" / key / self.items[key]["data"]["filename"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self.edit(key, md5=hashlib.md5(content).hexdigest())

    def edit(self, key: str, synced: bool = True, **data: Any) -> None:
        """Change an item; the program on this machine knows no new version of it until that is `synced`."""
        self.items[key]["data"].update(data)
        if synced:
            self.version += 1
            self.items[key]["version"] = self.version

    def delete(self, key: str) -> None:
        """Delete an item with its children."""
        self.version += 1
        self.items = {one: item for one, item in self.items.items() if one != key and item["data"].get("parentItem") != key}

    def _make_key(self) -> str:
        number, key = len(self.items) + len(self.collections) + self.version * 7, ""
        for _ in range(8):
            number, digit = divmod(number * 31 + 7, len(ALPHABET))
            key += ALPHABET[digit]
        return key if key not in self.items and key not in self.collections else self._next_key(key)

    def _next_key(self, key: str) -> str:
        while key in self.items or key in self.collections:
            key = key[1:] + ALPHABET[(ALPHABET.index(key[0]) + 1) % len(ALPHABET)]
        return key

    def reply(self, target: str, headers: Mapping[str, str]) -> Reply:
        """What the first fault that applies makes of a request, else the real answer."""
        parts = urlsplit(target)
        fields = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path.startswith("/bucket/"):
            self.asked.append(Request(False, parts.path, fields, headers))
            return Reply((self.folder / "storage" / parts.path.removeprefix("/bucket/")).read_bytes())
        local = parts.path.startswith("/api/")
        path = "/".join(parts.path.removeprefix("/api").split("/")[3:])
        request = Request(local, path, fields, headers)
        self.asked.append(request)
        for fault in list(self.faults):
            if (answer := fault(request)) is not None:
                return answer
        if not local and headers.get("zotero-api-key") != KEY:
            return Reply(b"Forbidden", 403)
        return self.answer(request)

    def answer(self, request: Request) -> Reply:
        """The real answer."""
        since = request.headers.get("if-modified-since-version", "")
        if since and not request.local and int(since) >= self.version:
            return Reply(status=304, headers={"Last-Modified-Version": str(self.version)})
        match request.path.split("/"):
            case ["collections"]:
                objects = [self._show_collection(one) for one in self.collections.values()]
            case ["collections", key, "items"]:
                if key not in self.collections:
                    return Reply(b"Collection not found", 404) if not request.local else Reply(b"[]")
                objects = self._list(key, request.local)
            case ["items"]:
                objects = [] if "itemKey" in request.fields else self._list("", request.local)
            case ["items", key, "children"]:
                objects = [self._show(one) for one in sorted(self._find_children({key}))]
            case ["items", key, "file"]:
                return self._give_file(key, request.local)
            case _:
                return Reply(b"Not found", 404)
        if keys := request.fields.get("itemKey"):
            wanted = set(keys.split(","))
            if not request.local and len(wanted) > 50:
                return Reply(b"Too many keys", 413)
            more = self._find_children(wanted) if self.children_too and request.local else set()
            objects = [self._show(key) for key in sorted(wanted | more) if key in self.items]
        if unwanted := request.fields.get("itemType", "").removeprefix("-"):
            objects = [one for one in objects if one["data"]["itemType"] != unwanted]
        return self._page(request, objects)

    def _list(self, collection: str, local: bool) -> list[dict[str, Any]]:
        tops = {key for key, item in self.items.items() if not collection or collection in item["data"].get("collections", [])}
        shown = tops | (set() if local and self.zotero_7 and collection else self._find_children(tops))
        objects = [self._show(key) for key in self.items if key in shown]
        return objects + objects[:1] if self.twice and local else objects

    def _find_children(self, parents: set[str]) -> set[str]:
        return {key for parent in parents for key in self.children.get(parent, ()) if key in self.items}

    def _show(self, key: str) -> dict[str, Any]:
        item = self.items[key]
        meta: dict[str, Any] = {}
        if item["data"]["itemType"] not in ("attachment", "note", "annotation"):
            meta = {"numChildren": len(self._find_children({key}))}
        if date := item["data"].get("date"):
            meta["parsedDate"] = date
        data = {**item["data"], "version": item["version"]}
        return {
            "key": key,
            "version": item["version"],
            "library": {"type": "user", "id": 7},
            "links": {},
            "meta": meta,
            "data": data,
        }

    def _show_collection(self, one: dict[str, Any]) -> dict[str, Any]:
        count = sum(one["key"] in item["data"].get("collections", []) for item in self.items.values())
        return {"key": one["key"], "version": one["version"], "meta": {"numCollections": 0, "numItems": count}, "data": one}

    def _page(self, request: Request, objects: list[dict[str, Any]]) -> Reply:
        total, start = len(objects), int(request.fields.get("start", "0"))
        is_short = request.fields.get("format") in ("versions", "keys")
        size = int(request.fields.get("limit", "0")) or (total if request.local or is_short else 25)
        if not (request.local and self.zotero_7):
            objects = objects[start : start + (size if request.local or is_short else min(size, 100))]
        body: Any = {one["key"]: one["version"] for one in objects} if request.fields.get("format") == "versions" else objects
        if self.as_list and not body:
            body = []
        headers = {"Content-Type": "application/json"}
        if not (request.local and self.zotero_7):
            headers |= {"Total-Results": str(total), "Last-Modified-Version": str(self.version)}
            if start + len(objects) < total:
                headers["Link"] = f'<{self.web}/next?start={start + len(objects)}>; rel="next"'
        return Reply(json.dumps(body).encode(), headers=headers)

    def _give_file(self, key: str, local: bool) -> Reply:
        data = self.items[key]["data"] if key in self.items else {}
        path = Path(data["path"]) if data.get("path") else self.folder / "storage" / key / str(data.get("filename"))
        if local:
            return Reply(status=302, headers={"Location": path.as_uri()})
        if not path.is_file():
            return Reply(b"Not found", 404)
        # Another host, as the bucket that zotero.org keeps its files in.
        return Reply(status=302, headers={"Location": f"http://localhost:{self.port}/bucket/{key}/{path.name}?Signature=s"})


def serving(folder: Path) -> Iterator[ZoteroServer]:
    """For a fixture."""
    server = ZoteroServer(folder)
    yield server
    server.close()

"""A stand-in for a cluster: an HTTP server on this machine that answers what a test tells it to, and keeps what it was asked."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Answer = tuple[int, Any]
Reply = Callable[[str, str, Any], Answer]
"""(method, path, body) → (status, what is sent as JSON)."""


@dataclass
class FakeCluster:
    """Where it listens, and every request so far: method, path, body, headers."""

    port: int = 0
    asked: list[tuple[str, str, str, dict[str, str]]] = field(default_factory=list)

    def place(self, name: str = "pubmed") -> Path:
        """The address of an index there, as a command gets it."""
        return Path(f"opensearch://127.0.0.1:{self.port}/{name}")


@contextmanager
def serve_cluster(reply: Reply, certificate: Path | None = None) -> Iterator[FakeCluster]:
    """A server that replies so, for as long as the block runs; by https with a certificate (a file with its key)."""
    fake = FakeCluster()

    class Handler(BaseHTTPRequestHandler):
        def _do(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            fake.asked.append((self.command, self.path, body, dict(self.headers)))
            lines = [json.loads(line) for line in body.splitlines() if line.strip()]
            status, content = reply(self.command, self.path.partition("?")[0], lines[0] if len(lines) == 1 else lines)
            sent = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(sent)

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _do  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.port = server.server_port
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

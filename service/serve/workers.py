"""Several workers on one socket: restarted when they die; while none of them is loaded, this process responds with 503 at once.

The workers share one listening socket, and the process that started them holds it too. When all of them have died, or none has
loaded yet, the system accepts connections and nobody reads the requests; this process then does.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import wait
from select import select
from threading import Event, Thread

from uvicorn import Config
from uvicorn.supervisors import Multiprocess

from service.http.requests.problems import MEDIA_TYPE, problem
from service.http.schemas import Health

RETRY_AFTER = 3
"""Seconds; the same as while a single process loads."""
_AT_ONCE = 16
_READ_SECONDS = 2.0
_MOST_HEAD = 65_536
_LOOK_SECONDS = 0.2


class LoadingResponder:
    """Responds at `listener` while `worker_is_ready` says that no worker does; runs in a thread from `open` to `shut`."""

    def __init__(self, listener: socket.socket, worker_is_ready: Callable[[], bool]) -> None:
        self._listener, self._worker_is_ready = listener, worker_is_ready
        self._stop = Event()
        self._thread = Thread(target=self._keep, name="loading responder", daemon=True)

    def open(self) -> None:
        """Start accepting connections."""
        self._listener.setblocking(False)
        self._listener.listen(2048)
        self._thread.start()

    def shut(self) -> None:
        """Stop accepting connections in this process; once the workers have closed their sockets too, connections are refused."""
        self._stop.set()
        self._thread.join()
        self._listener.close()

    def _keep(self) -> None:
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="loading response") as pool:
            while not self._stop.is_set():
                if self._worker_is_ready():
                    self._stop.wait(_LOOK_SECONDS)
                    continue
                connections, _, _ = select([self._listener], [], [], _LOOK_SECONDS)
                # A worker may have become ready since: do not turn away what it can answer.
                if connections and not self._worker_is_ready():
                    with suppress(OSError):  # a worker took it, or the client left
                        pool.submit(_answer, self._listener.accept()[0])


def _answer(client: socket.socket) -> None:
    with client, suppress(OSError):
        client.settimeout(_READ_SECONDS)
        head = b""
        while b"\r\n\r\n" not in head and len(head) < _MOST_HEAD and (more := client.recv(4096)):
            head += more
        client.sendall(_response(head))
        # If it were closed with a body unread, the connection would be reset before the client has read the response.
        client.shutdown(socket.SHUT_WR)
        for _ in range(_MOST_HEAD // 4096):
            if not client.recv(4096):
                break


def _response(head: bytes) -> bytes:
    """Make the response to a request that begins with `head`: the body of /health, or a problem."""
    method, _, rest = head.partition(b" ")
    path = rest.partition(b" ")[0].partition(b"?")[0]
    if path == b"/health":
        content = Health(status="starting", documents=0, index="", config="", profile="", models={}).model_dump()
        media_type = "application/json"
    else:
        content = problem(503, f"The service is starting; try again in {RETRY_AFTER} seconds.").model_dump()
        media_type = MEDIA_TYPE
    body = json.dumps(content).encode()
    lines = [
        "HTTP/1.1 503 Service Unavailable",
        f"Content-Type: {media_type}",
        f"Content-Length: {len(body)}",
        f"Retry-After: {RETRY_AFTER}",
        "X-Content-Type-Options: nosniff",
        "Connection: close",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + (b"" if method == b"HEAD" else body)


class _Supervisor(Multiprocess):
    """Uvicorn's supervisor, changed to notice at once that a worker has died."""

    def keep_subprocess_alive(self) -> None:
        for worker in self.processes:
            # If this end stays open here too, the pipe of a dead worker never ends, and a health check waits for it as long as
            # for a slow one.
            worker.child_conn.close()
        super().keep_subprocess_alive()


def supervise(config: Config, listener: socket.socket, has_loaded: Callable[[int], bool]) -> None:
    """Run the workers until asked to stop, as `uvicorn.run` does; `has_loaded` says by process id whether a worker has loaded."""
    supervisor = _Supervisor(config, sockets=[listener])

    def worker_is_ready() -> bool:
        """Whether any worker takes connections: one that is loaded and has not died."""
        return any(one.pid and has_loaded(one.pid) and not wait([one.process.sentinel], 0) for one in list(supervisor.processes))

    responder = LoadingResponder(listener, worker_is_ready)

    def shut() -> None:
        # Workers that are stopping accept no connections any more; this process holds the socket too.
        supervisor.should_exit.wait()
        responder.shut()

    closer = Thread(target=shut, name="closing", daemon=True)
    responder.open()
    closer.start()
    supervisor.run()
    closer.join()

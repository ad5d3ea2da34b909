"""Several workers on one socket: restarted when they die; while none of them is loaded, this process responds with 503 at once.

The workers share one listening socket, and the process that started them holds it too. When all of them have died, or none has
loaded yet, the system accepts connections and nobody reads the requests; this process then does.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from multiprocessing.connection import wait
from threading import Event, Thread

from fastapi.responses import JSONResponse
from starlette.types import Receive, Scope, Send
from uvicorn import Config, Server
from uvicorn.supervisors import Multiprocess

from counterpoint.service.http.requests import problems
from counterpoint.service.http.schemas import Health

RETRY_AFTER = 3
"""Seconds; the same as while a single process loads."""
_LOOK_SECONDS = 0.2


async def respond(scope: Scope, receive: Receive, send: Send) -> None:
    """Respond to any request that the service is starting: the body of /health, or a problem."""
    headers = {"Retry-After": str(RETRY_AFTER), "X-Content-Type-Options": "nosniff", "Connection": "close"}
    if scope["path"] == "/health":
        body = Health(status="starting", documents=0, index="", config="", profile="", models={})
        response = JSONResponse(body.model_dump(), 503, headers)
    else:
        response = problems.response(503, f"The service is starting; try again in {RETRY_AFTER} seconds.", headers)
    await response(scope, receive, send)


class _LoadingServer(Server):
    """A server that ends when it is no longer needed."""

    def __init__(self, is_needed: Callable[[], bool]) -> None:
        super().__init__(Config(respond, lifespan="off", log_config=None, server_header=False, timeout_graceful_shutdown=2))
        self._is_needed = is_needed

    async def on_tick(self, counter: int) -> bool:
        """Whether to end; asked ten times a second."""
        return not self._is_needed() or await super().on_tick(counter)


class LoadingResponder:
    """Responds at `listener` while `worker_is_ready` says that no worker does; runs in a thread from `open` to `shut`."""

    def __init__(self, listener: socket.socket, worker_is_ready: Callable[[], bool]) -> None:
        self._listener, self._worker_is_ready = listener, worker_is_ready
        self._stop = Event()
        self._thread = Thread(target=self._keep, name="loading responder", daemon=True)

    def open(self) -> None:
        """Start accepting connections."""
        self._thread.start()

    def shut(self) -> None:
        """Stop accepting connections in this process; once the workers have closed their sockets too, connections are refused."""
        self._stop.set()
        self._thread.join()
        self._listener.close()

    def _keep(self) -> None:
        while not self._stop.is_set():
            if self._worker_is_ready():
                self._stop.wait(_LOOK_SECONDS)
            else:
                # It closes its socket at its end.
                _LoadingServer(lambda: not (self._stop.is_set() or self._worker_is_ready())).run([self._listener.dup()])


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

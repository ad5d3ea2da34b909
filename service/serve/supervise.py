"""Several workers on one socket: restarted when they die; this process responds while none of them is loaded."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.connection import wait
from socket import socket
from threading import Thread

from uvicorn import Config
from uvicorn.supervisors import Multiprocess

from service.serve.while_loading import LoadingResponder


class _Supervisor(Multiprocess):
    """Uvicorn's supervisor, changed to notice at once that a worker has died."""

    def keep_subprocess_alive(self) -> None:
        for worker in self.processes:
            # If this end stays open here too, the pipe of a dead worker never ends, and a health check waits for it as long as
            # for a slow one.
            worker.child_conn.close()
        super().keep_subprocess_alive()


def supervise(config: Config, listener: socket, has_loaded: Callable[[int], bool]) -> None:
    """Run the workers until asked to stop, as `uvicorn.run` does; `has_loaded` says by process id whether a worker has loaded."""
    supervisor = _Supervisor(config, sockets=[listener])

    def is_attended() -> bool:
        """Whether any worker takes connections: one that is loaded and has not died."""
        return any(one.pid and has_loaded(one.pid) and not wait([one.process.sentinel], 0) for one in list(supervisor.processes))

    door = LoadingResponder(listener, is_attended)

    def shut() -> None:
        # Workers that are stopping accept no connections any more; this process holds the socket too.
        supervisor.should_exit.wait()
        door.shut()

    closer = Thread(target=shut, name="closing", daemon=True)
    door.open()
    closer.start()
    supervisor.run()
    closer.join()

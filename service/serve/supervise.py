"""Several workers on one socket: started anew when they die, and answered for while none of them is loaded."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.connection import wait
from threading import Thread

from uvicorn import Config
from uvicorn.supervisors import Multiprocess

from service.serve.while_loading import LoadingResponder


class _Supervisor(Multiprocess):
    """Uvicorn's, which notices at once that a worker died."""

    def keep_subprocess_alive(self) -> None:
        for worker in self.processes:
            # Held open here too, the pipe of a worker that dies never ends, and one that is asked then is waited for as long as
            # one that is only slow.
            worker.child_conn.close()
        super().keep_subprocess_alive()


def supervise(config: Config, loaded: Callable[[int], bool]) -> None:
    """Run the workers until told to stop, as `uvicorn.run` does; `loaded` says of a process id whether that worker has loaded."""
    listener = config.bind_socket()
    supervisor = _Supervisor(config, sockets=[listener])

    def attended() -> bool:
        """A worker that is loaded and has not died takes connections."""
        return any(one.pid and loaded(one.pid) and not wait([one.process.sentinel], 0) for one in list(supervisor.processes))

    door = LoadingResponder(listener, attended)

    def shut() -> None:
        # Workers that are told to stop let nobody in any more; this process holds the socket too.
        supervisor.should_exit.wait()
        door.shut()

    closing = Thread(target=shut, name="closing", daemon=True)
    door.open()
    closing.start()
    supervisor.run()
    closing.join()

"""The service as `counterpoint serve` runs it: on a socket opened before anything is loaded, in this process or in several."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterpoint.retrieval.core.errors import BadConfig
from counterpoint.service.operating.settings import Settings, hand_down

if TYPE_CHECKING:
    from fastapi import FastAPI

    from counterpoint.service.operating.libraries import Libraries

_BACKLOG = 2048


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; raises `BadConfig` if this machine has no such address or the port cannot be had."""
    name = host.strip("[]")
    try:
        found = socket.getaddrinfo(name or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError):
        raise BadConfig(f"The host {host!r} is unknown; give --host an address of this machine, such as 127.0.0.1.") from None
    # A name like localhost has several addresses; every client knows the old kind.
    family, _, _, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
    both = address[0] == "::" and socket.has_dualstack_ipv6()
    try:
        return socket.create_server(address[:2], family=family, backlog=_BACKLOG, dualstack_ipv6=both)
    except OSError as error:
        raise BadConfig(_explain(error.errno, host, port)) from None


def write_address(host: str, port: int) -> str:
    """The address as a browser takes it."""
    name = host.strip("[]")
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def _explain(code: int | None, host: str, port: int) -> str:
    if code == errno.EADDRINUSE:
        return f"Port {port} of {host} is in use, perhaps by another `counterpoint serve`; stop it, or give another --port."
    if code == errno.EADDRNOTAVAIL:
        return f"{host} is not an address of this machine; give --host one that is, such as 127.0.0.1."
    if code in (errno.EACCES, errno.EPERM):
        return f"Port {port} is for administrators only; choose one above 1023 with --port."
    return f"Cannot listen on port {port} of {host} ({os.strerror(code or 0)}); choose another with --host or --port."


_COUNTS = "PROMETHEUS_MULTIPROC_DIR"


def check_settings(settings: Settings) -> None:
    """Check that what they name can be read, so that a wrong name or a damaged index is reported before a server starts.

    A cluster that is unreachable or cannot answer completely may be back soon: the server starts and waits for it. A library of
    the folder that is damaged keeps no other from being served.
    """
    from counterpoint.retrieval.cluster.client import ClusterBusy
    from counterpoint.retrieval.index import read_index_manifest
    from counterpoint.service.assembly import load_config
    from counterpoint.service.configuration.config import load_answer_config, load_profile

    folder = settings.libraries_folder()
    if settings.index:
        with suppress(ClusterBusy):
            read_index_manifest(settings.index)
    elif folder is None:
        raise BadConfig(
            "Name a built index with --index or a folder of libraries with --libraries; this user has no home for one."
        )
    if folder and not folder.is_dir():
        raise BadConfig(f"There is no folder {folder}; give --libraries the folder in which your libraries lie, or make it.")
    load_config(settings.config)
    load_answer_config(settings.answers)
    load_profile(settings.profile)


def open_libraries(settings: Settings) -> Libraries:
    """The libraries that the settings name, with the models that they name; nothing is loaded yet."""
    from counterpoint.service.assembly import assemble, assemble_answerer_beside
    from counterpoint.service.operating.libraries import Libraries
    from counterpoint.service.operating.page_model import PageModel

    model = PageModel(settings.model_folder(), settings.profile)
    return Libraries(
        settings.index,
        settings.libraries_folder(),
        lambda index: model.assemble(lambda profile: assemble(index, settings.config, profile)),
        lambda grounder: assemble_answerer_beside(grounder, settings.answers),
        settings.open_libraries,
        model.look,
    )


def create_service(settings: Settings) -> FastAPI:
    """Create the service from these settings; this process or each worker runs it."""
    from counterpoint.service.http.app import create_app
    from counterpoint.service.serve import logs

    logs.configure(settings)
    hand_down(settings)
    _forget_dead_workers()
    check_settings(settings)
    return create_app(open_libraries(settings), settings, when_loaded=_print_loaded if settings.workers > 1 else None)


def run(settings: Settings, listener: socket.socket) -> None:
    """Serve on this socket until asked to stop; requests already accepted are answered first."""
    import uvicorn

    options: dict[str, Any] = {
        "log_config": None,
        "log_level": "warning",
        "access_log": False,
        "server_header": False,
        "timeout_graceful_shutdown": settings.shutdown_seconds,
    }
    if settings.workers == 1:
        with suppress(KeyboardInterrupt):
            uvicorn.Server(uvicorn.Config(create_service(settings), **options)).run([listener])
        return
    from counterpoint.service.serve.workers import supervise

    # Report here what a worker would refuse, before any is started.
    hand_down(settings)
    memory = Path("/dev/shm")
    place = memory if os.access(memory, os.W_OK) else None
    # The Prometheus client reads its folder only from the environment.
    counts = os.environ[_COUNTS] = tempfile.mkdtemp(prefix="counterpoint-metrics-", dir=place)
    try:
        # A process that loads models on a busy machine may be silent for a long time without being dead.
        options |= {"factory": True, "workers": settings.workers, "timeout_worker_healthcheck": 60}
        # The workers are fresh processes (a Java machine does not survive a fork), each given these settings.
        config = uvicorn.Config(partial(create_service, settings), **options)
        supervise(config, listener, lambda pid: _name_loaded_file(pid).exists())
    finally:
        shutil.rmtree(counts, ignore_errors=True)


def _name_loaded_file(pid: int) -> Path:
    """The path of the file that marks a worker as loaded; a worker that died may have left it behind."""
    return Path(os.environ[_COUNTS]) / f"loaded-{pid}"


def _print_loaded() -> None:
    _name_loaded_file(os.getpid()).touch()


def _forget_dead_workers() -> None:
    """Clear the gauges of dead workers: a killed worker has nothing waiting or in progress, whatever they say."""
    if _COUNTS not in os.environ:
        return
    from prometheus_client.multiprocess import mark_process_dead

    for file in Path(os.environ[_COUNTS]).glob("gauge_live*_*.db"):
        pid = int(file.stem.rpartition("_")[2])
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            mark_process_dead(pid)  # type: ignore[no-untyped-call]
        except PermissionError:
            with suppress(OSError):
                file.unlink()

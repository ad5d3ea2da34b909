"""Several processes as an operator starts them: one is killed and comes back, and a stop loses no accepted request."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
import pytest

from tests.helpers.ready import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture
def server(demo_folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    with started("--index", str(demo_folder)) as running:
        yield running


@contextmanager
def started(*options: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Two workers that serve what the options say: their address, and the process that watches them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "counterpoint.service.cli", "serve"]
    # On a busy machine one worker may get all requests and be long at them; how long they may wait is another test's.
    patient = os.environ | {"COUNTERPOINT_WAIT_SECONDS": "120"}
    server = subprocess.Popen([*command, *options, "--port", str(port), "--workers", "2"], env=patient)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: ready(url))
        yield url, server
    finally:
        server.terminate()
        server.wait(60)


def ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=30).status_code == 200
    except httpx.HTTPError:
        return False


def workers(server: subprocess.Popen[bytes]) -> list[int]:
    found = []
    for one in psutil.Process(server.pid).children():
        try:
            if "spawn_main" in " ".join(one.cmdline()):
                found.append(one.pid)
        except psutil.Error:  # killed, and not yet taken note of by its parent
            continue
    return found


def test_a_killed_worker_comes_back_and_the_other_answers_meanwhile(server: tuple[str, subprocess.Popen[bytes]]) -> None:
    url, process = server
    # One of the two may still be loading; the other must not be the one that is killed.
    wait_until(lambda: len(workers(process)) == 2 and all(ready(url) for _ in range(20)))
    killed = workers(process)[0]
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: killed not in workers(process))
    statuses = [httpx.get(f"{url}/v1/search?q=aspirin", timeout=60).status_code for _ in range(5)]
    wait_until(lambda: len(workers(process)) == 2)
    assert statuses == [200] * 5
    text = httpx.get(f"{url}/metrics", timeout=60).text
    assert 'route="/v1/search"' in text and "counterpoint_queue_working 0.0" in text


def test_where_every_worker_died_health_says_so_at_once_until_one_is_back(server: tuple[str, subprocess.Popen[bytes]]) -> None:
    url, process = server
    wait_until(lambda: len(workers(process)) == 2)
    killed = workers(process)
    for one in killed:
        os.kill(one, signal.SIGKILL)
    wait_until(lambda: not set(killed) & set(workers(process)), 10)
    told = list[tuple[int, str]]()

    def back() -> bool:
        answer = httpx.get(f"{url}/health", timeout=10)
        told.append((answer.status_code, answer.json()["status"]))
        return answer.status_code == 200

    wait_until(back)
    assert set(told[:-1]) == {(503, "starting")}


def test_a_stop_loses_no_accepted_request(server: tuple[str, subprocess.Popen[bytes]]) -> None:
    url, process = server
    with ThreadPoolExecutor(6) as pool:
        asked = [
            pool.submit(httpx.post, f"{url}/v1/ground", json={"claim": f"Aspirin number {i} prevents stroke."}, timeout=120)
            for i in range(6)
        ]
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        assert [one.result().status_code for one in asked] == [200] * 6
    assert process.wait(60) in (0, -signal.SIGTERM)


def test_a_library_made_or_renamed_while_they_run_is_known_to_all_at_once(demo_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(demo_folder, tmp_path / "first")
    with started("--libraries", str(tmp_path)) as (url, process):
        wait_until(lambda: len(workers(process)) == 2 and all(ready(url) for _ in range(20)))

        def search(library: str) -> set[int]:
            asked = [httpx.get(f"{url}/v1/search?q=aspirin&library={library}", timeout=60) for _ in range(20)]
            return {one.status_code for one in asked}

        shutil.copytree(demo_folder, tmp_path / ".second")
        (tmp_path / ".second" / "library.json").unlink()
        assert search("second") == {404}
        (tmp_path / ".second").rename(tmp_path / "second")
        assert search("second") == {200}
        (tmp_path / "second").rename(tmp_path / "third")
        assert (search("second"), search("third")) == ({404}, {200})

"""`serve` opens its socket before it says that it listens or loads anything; what is wrong with the address is one sentence."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from retrieval.core.errors import BadConfig
from service.cli.commands import app as command_line
from service.serve.server import listen, write_address


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_used_port_is_told_before_anything_is_said_or_loaded(
    demo_folder: Path, monkeypatch: pytest.MonkeyPatch, workers: str
) -> None:
    monkeypatch.setattr("service.serve.server.run", lambda *_: pytest.fail("it went on"))
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        command = ["serve", "--index", str(demo_folder), "--port", port, "--workers", workers]
        told = CliRunner().invoke(command_line, command)
    assert (told.exit_code, told.stdout) == (2, "")
    assert told.stderr.startswith(f"Error: Port {port} of 127.0.0.1 is in use") and len(told.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("no.such.host.invalid", "'no.such.host.invalid' is unknown"),
        ("256.1.1.1", "is unknown"),
        ("[::zz]", "is unknown"),
        ("x" * 70, "is unknown"),
        ("http://localhost", "is unknown"),
        ("192.0.2.1", "192.0.2.1 is not an address of this machine"),
    ],
)
def test_a_wrong_host_is_one_sentence(host: str, said: str) -> None:
    with pytest.raises(BadConfig, match=r"such as 127\.0\.0\.1") as told:
        listen(host, 0)
    assert said in str(told.value)


@pytest.mark.parametrize(
    ("code", "said"),
    [(errno.EACCES, "Port 80 is for administrators only"), (errno.EAFNOSUPPORT, "Address family not supported")],
)
def test_what_the_system_refuses_is_one_sentence(monkeypatch: pytest.MonkeyPatch, code: int, said: str) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(socket, "create_server", refuse)
    with pytest.raises(BadConfig, match=said):
        listen("::1", 80)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0", "", "::1", "[::1]", "::"])
def test_an_address_of_this_machine_takes_connections(host: str) -> None:
    if ":" in host and not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    with listen(host, 0) as listener:
        place = "::1" if ":" in host else "127.0.0.1"
        socket.create_connection((place, listener.getsockname()[1]), timeout=5).close()
    assert write_address("[::1]", 80) == write_address("::1", 80) == "http://[::1]:80"
    assert write_address("localhost", 1) == "http://localhost:1"

"""Nothing leaves the machine, and nothing is kept outside our own folders: watched from outside, as native code would do both.

Where the kernel does not allow watching, these tests fail with the reason: a check that cannot be made has not passed.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.helpers.watched import ROOT, Event, Watched, watch

CLAIM = "Volimab reduces the risk of hip fracture."
RUNTIMES = {"openvino", "openvino_telemetry", "onnxruntime"}
PROFILE = """
name: {engine}
description: "The small models on one engine, whatever the processor."
rerankers:
  relevance: {{kind: embedded, engine: {engine}}}
judges:
  stance: {{kind: reader, size: small, engine: {engine}}}
encoders:
  dense: {{kind: embedded, engine: {engine}}}
  vectors: {{kind: embedded, engine: {engine}}}
generators:
  writer: {{kind: extractive, reranker: relevance}}
"""


def sandboxed(tmp_path: Path, *command: str | Path, seconds: float = 100) -> Watched:
    """What a command of Python does with an empty home and nothing else in its environment: CI, which some libraries heed, is not
    set."""
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    home.mkdir(exist_ok=True)
    temporary.mkdir(exist_ok=True)
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1"}
    return watch([sys.executable, *map(str, command)], environment, seconds)


def find_strays(watched: Watched, ours: Sequence[Path]) -> list[Event]:
    """The look-ups, the connections, and the files outside the folders that are ours and those that hold them."""

    def is_ours(path: Path) -> bool:
        return any(path.is_relative_to(folder) or folder.is_relative_to(path) for folder in ours)

    kernel = ("/proc/", "/dev/")
    return [
        event
        for event in watched.events
        if event.what != "file" or not (event.target.startswith(kernel) or is_ours(Path(event.target)))
    ]


@pytest.mark.timeout(400)
# The default loads OpenVINO at least to ask what the processor can do; the other engine is asked for.
@pytest.mark.parametrize("profile", ["embedded", "onnxruntime"])
def test_a_claim_is_grounded_without_a_look_up_and_without_a_file_of_others(
    profile: str, tmp_path: Path, write_corpus: Callable[..., Path]
) -> None:
    corpus = write_corpus(
        "Volimab reduced hip fractures by 30 % in a trial of 4,000 women.", "Volimab did not reduce hip fractures in men.",
        "Coffee was not associated with gallstones.",
    )  # fmt: skip
    index, home = tmp_path / "indexes" / "index", tmp_path / "home"
    ours = [index.parent, tmp_path / "temporary", home / ".cache" / "counterpoint", home / ".local" / "state" / "counterpoint"]
    if profile != "embedded":
        (tmp_path / f"{profile}.yaml").write_text(PROFILE.format(engine=profile), "utf-8")
        profile = str(tmp_path / f"{profile}.yaml")
    built = sandboxed(
        tmp_path,
        "-m",
        "counterpoint.service.cli",
        "index",
        "build",
        corpus,
        "--out",
        index,
        "--dense",
        "--no-examples",
        "--profile",
        profile,
    )
    assert built.status == 0, built.output
    assert find_strays(built, ours) == []
    grounded = sandboxed(tmp_path, "-m", "counterpoint.service.cli", "ground", CLAIM, "--index", index, "--profile", profile)
    assert grounded.status == 0 and "Supporting: 1" in grounded.output, grounded.output
    assert find_strays(grounded, ours) == []
    # It was watched: what it may write is among what was seen.
    assert Event("file", str(home / ".cache" / "counterpoint" / "vectors.sqlite")) in grounded.events
    assert grounded.calls > 1000


def test_a_look_up_a_call_and_a_file_are_seen_in_children_too_and_refused(tmp_path: Path) -> None:
    code = """
import socket, subprocess, sys
try:
    print(socket.getaddrinfo("counterpoint.example", 80))
except OSError:
    pass
call = "import socket; s = socket.socket(); s.settimeout(5); print(s.connect_ex(('192.0.2.1', 443)))"
subprocess.run([sys.executable, "-c", call], check=True)
datagram = "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 99))"
print(subprocess.run([sys.executable, "-c", datagram], capture_output=True).returncode)
subprocess.run("mkdir ~/kept && cd ~/kept && echo id > .id", shell=True, check=True)
with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
    print("its own")
"""
    watched = sandboxed(tmp_path, "-c", code)
    assert watched.status == 0 and watched.output.split() == ["101", "1", "its", "own"]
    kept = tmp_path / "home" / "kept"
    strays = find_strays(watched, [tmp_path / "temporary"])
    assert {Event("connection", "192.0.2.1:443"), Event("connection", "192.0.2.1:99")} <= set(strays)
    assert {Event("file", str(kept)), Event("file", str(kept / ".id"))} <= set(strays)
    assert "look-up" in {event.what for event in strays}
    assert {event.what: event.target for event in strays if "127.0.0.1" in event.target and event.what == "connection"} == {}


@pytest.mark.parametrize("runtime", ["openvino", "onnxruntime"])
def test_each_runtime_would_report_its_use_and_does_not_behind_our_package(runtime: str, tmp_path: Path) -> None:
    alone = sandboxed(tmp_path, "-c", f"import {runtime}")
    assert find_strays(alone, [tmp_path / "temporary"]) != []
    ours = sandboxed(tmp_path, "-c", f"import retrieval, {runtime}, time; time.sleep(1)")
    assert ours.status == 0, ours.output
    assert find_strays(ours, [tmp_path / "temporary"]) == []


def test_what_runs_too_long_is_ended_and_told(tmp_path: Path) -> None:
    with pytest.raises(TimeoutError, match=r"longer than 2 s"):
        sandboxed(tmp_path, "-c", "import time; open('/dev/null'); time.sleep(60)", seconds=2)


def test_where_watching_is_not_permitted_a_sentence_says_so(tmp_path: Path) -> None:
    # A process that is watched already may not be watched once more.
    again = "from tests.helpers.watched import watch; watch(['true'], {})"
    refused = sandboxed(tmp_path, "-c", again)
    assert refused.status == 1
    assert "could not be watched on this machine: The kernel does not report calls" in refused.output


def test_only_the_package_that_silences_the_runtimes_imports_them() -> None:
    """Whoever needs one of them imports `retrieval` first, and with it the lines that silence both."""
    folders = ("bench", "counterpoint", "eval", "generation", "indexes", "nli", "retrieval", "service")
    importing = set()
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if RUNTIMES & {name.split(".")[0] for name in names}:
                importing.add(path.relative_to(ROOT).parts[0])
    assert importing == {"retrieval"}

"""A process watched from outside: which hosts it looks up or calls, and which files it writes, native code and children included.

The kernel itself reports each call (seccomp's user notification), so no library can pass unseen, and neither root nor a tool
is needed: Linux 5.5 on x86-64 or arm64. The watcher is a process of its own: one of its threads takes the filter on, which all
that it starts then inherit, and its main thread answers the kernel. Connections and look-ups are refused, so that nothing leaves
the machine even where a test fails.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import ipaddress
import json
import os
import platform
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parent.parent.parent

What = Literal["look-up", "connection", "file"]


@dataclass(frozen=True)
class Event:
    """One thing that a watched process tried to do; `target` is a path, or an address with its port."""

    what: What
    target: str


@dataclass(frozen=True)
class Watched:
    """A process that has ended, with all it started: its exit status, what it printed, and what it did."""

    status: int
    output: str
    calls: int
    events: tuple[Event, ...]


class CannotWatch(AssertionError):
    """The kernel does not allow a process to be watched here, so nothing can be said about it."""


def watch(command: Sequence[str], environment: Mapping[str, str], seconds: float = 100) -> Watched:
    """Run a command in the repository's folder with this environment alone, and report what it did.

    Raises `CannotWatch` where that is not possible, and `TimeoutError` if it runs longer than `seconds`.
    """
    with tempfile.TemporaryDirectory() as folder:
        report, printed = Path(folder) / "report.json", Path(folder) / "printed"
        with printed.open("wb") as stream:
            code = subprocess.run(
                [sys.executable, "-m", __name__, str(report), str(seconds), json.dumps(dict(environment)), *command],
                stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT, cwd=ROOT,
            ).returncode  # fmt: skip
        output = printed.read_text("utf-8", "replace")
        if code or not report.exists():
            raise CannotWatch(f"what a process sends and writes could not be watched on this machine: {output.strip()[-2000:]}")
        told = json.loads(report.read_bytes())
    if told["late"]:
        raise TimeoutError(f"{command} ran longer than {seconds} s; it printed: {output}")
    return Watched(told["status"], output, told["calls"], tuple(Event(*event) for event in told["events"]))


# --- The watcher's own process --------------------------------------------------------------------------------------------------

_CALLS: Mapping[str, Mapping[str, int]] = {
    "x86_64": {
        "open": 2, "creat": 85, "openat": 257, "openat2": 437, "mkdir": 83, "mkdirat": 258, "rename": 82, "renameat": 264,
        "renameat2": 316, "link": 86, "linkat": 265, "symlink": 88, "symlinkat": 266, "mknod": 133, "mknodat": 259,
        "bind": 49, "connect": 42, "sendto": 44, "sendmsg": 46, "sendmmsg": 307, "io_uring_setup": 425,
    },
    "aarch64": {
        "openat": 56, "openat2": 437, "mkdirat": 34, "renameat": 38, "renameat2": 276, "linkat": 37, "symlinkat": 36,
        "mknodat": 33, "bind": 200, "connect": 203, "sendto": 206, "sendmsg": 211, "sendmmsg": 269, "io_uring_setup": 425,
    },
}  # fmt: skip
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_PATHS: Mapping[str, tuple[int | None, int]] = {
    "open": (None, 0), "creat": (None, 0), "openat": (0, 1), "openat2": (0, 1), "mkdir": (None, 0), "mkdirat": (0, 1),
    "rename": (None, 1), "renameat": (2, 3), "renameat2": (2, 3), "link": (None, 1), "linkat": (2, 3), "symlink": (None, 1),
    "symlinkat": (1, 2), "mknod": (None, 0), "mknodat": (0, 1),
}  # fmt: skip
"""Which arguments of a call give the path that it makes: the folder that a relative path starts from, if not the current one, and
the path."""
_LOOK_UPS = ("/etc/hosts", "/etc/resolv.conf", "/run/systemd/resolve/")
_NAME_DAEMON = "/run/nscd/"
"""It would look hosts up in the place of the process; refused, the process does it itself, and is seen."""

_PR_SET_NO_NEW_PRIVS, _SET_MODE_FILTER, _NEW_LISTENER = 38, 1, 8
_ALLOW, _NOTIFY, _KILL = 0x7FFF0000, 0x7FC00000, 0x80000000
_RECEIVE, _ANSWER, _IS_VALID = 0xC0502100, 0xC0182101, 0x40082102
_CONTINUE = 1
_CURRENT_FOLDER = -100 & 0xFFFFFFFF
_NOTIFICATION = struct.Struct("=QII iIQ 6Q")
_REPLY = struct.Struct("=QqiI")
_MESSAGE = struct.Struct("=QII")


def _make_filter(machine: str) -> bytes:
    """The BPF programme: report these calls, allow all others; code of another architecture, unseen, may not run."""
    load, equal, give = 0x20, 0x15, 0x06
    steps = [(load, 0, 0, 4), (equal, 1, 0, _ARCHITECTURE[machine]), (give, 0, 0, _KILL), (load, 0, 0, 0)]
    for number in _CALLS[machine].values():
        steps += [(equal, 0, 1, number), (give, 0, 0, _NOTIFY)]
    return b"".join(struct.pack("=HBBI", *step) for step in [*steps, (give, 0, 0, _ALLOW)])


def _listen(machine: str) -> int:
    """Take the filter on, for the calling thread and all it starts, and return the descriptor on which the kernel reports."""
    kernel = ctypes.CDLL(None, use_errno=True)
    if kernel.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_NO_NEW_PRIVS)")
    programme = _make_filter(machine)
    steps = ctypes.create_string_buffer(programme, len(programme))
    header = struct.pack("@HP", len(programme) // 8, ctypes.addressof(steps))
    kernel.syscall.restype = ctypes.c_long
    listener = kernel.syscall(_SECCOMP[machine], _SET_MODE_FILTER, _NEW_LISTENER, header)
    if listener < 0:
        raise OSError(ctypes.get_errno(), f"seccomp: {os.strerror(ctypes.get_errno())}")
    return int(listener)


class _Task:
    """A thread that waits in a call, whose memory and folders the watcher reads."""

    def __init__(self, number: int) -> None:
        self.place = Path("/proc", str(number))

    def read(self, address: int, length: int) -> bytes:
        memory = os.open(self.place / "mem", os.O_RDONLY)
        try:
            return os.pread(memory, length, address)
        finally:
            os.close(memory)

    def path(self, folder: int | None, address: int) -> str:
        """The absolute path at an address; relative ones start from an open folder, or the current one."""
        text = b""
        while b"\0" not in text and len(text) < 4096:  # page by page: the next one may not be there
            text += self.read(address + len(text), 4096 - (address + len(text)) % 4096)
        path = os.fsdecode(text.partition(b"\0")[0])
        if not path.startswith("/"):
            number = _CURRENT_FOLDER if folder is None else folder & 0xFFFFFFFF
            start = self.place / ("cwd" if number == _CURRENT_FOLDER else f"fd/{number}")
            path = os.path.join(os.readlink(start), path)
        return os.path.normpath(path)

    def address(self, place: int, length: int) -> str:
        """What a socket's address names: a path, or an internet address with its port; "" for neither."""
        if not place or length < 2:
            return ""
        address = self.read(place, min(length, 128))
        family = struct.unpack_from("=H", address)[0]
        if family == socket.AF_UNIX:
            return os.path.realpath(os.fsdecode(address[2:].partition(b"\0")[0])) if address[2:3].strip(b"\0") else ""
        if family == socket.AF_INET:
            return f"{ipaddress.ip_address(address[4:8])}:{struct.unpack_from('>H', address, 2)[0]}"
        if family == socket.AF_INET6:
            return f"[{ipaddress.ip_address(address[8:24])}]:{struct.unpack_from('>H', address, 2)[0]}"
        return ""

    def addresses(self, call: str, values: Sequence[int]) -> list[str]:
        """All addresses that a call on a socket names."""
        if call in ("bind", "connect"):
            return [self.address(values[1], values[2])]
        if call == "sendto":
            return [self.address(values[4], values[5])]
        size = 64 if call == "sendmmsg" else 0
        headers = [values[1] + size * number for number in range(min(values[2], 1024) if size else 1)]
        return [self.address(place, length) for place, length, _ in (_MESSAGE.unpack(self.read(at, 16)) for at in headers)]


def _judge_address(address: str) -> tuple[What | None, int]:
    """What a call to this address is, and the error with which it is refused, 0 for none."""
    if address.startswith("/"):
        if address.startswith(_NAME_DAEMON):
            return None, errno.ENOENT
        return ("look-up", errno.ENOENT) if address.startswith(_LOOK_UPS) else (None, 0)
    host, _, port = address.rpartition(":")
    if port == "53":
        return "look-up", errno.ENETUNREACH
    number = ipaddress.ip_address(host.strip("[]"))
    is_own = (getattr(number, "ipv4_mapped", None) or number).is_loopback or number.is_unspecified
    return (None, 0) if is_own else ("connection", errno.ENETUNREACH)


def _judge(call: str, values: Sequence[int], task: _Task) -> tuple[list[Event], int]:
    """What a call does that is worth telling, and the error with which it is refused, 0 for none."""
    if call == "io_uring_setup":
        return [], errno.ENOSYS  # what is asked through a ring is not reported; everything that uses one can do without
    if call == "bind":
        [address] = task.addresses(call, values)
        return [Event("file", address)] * address.startswith("/"), 0
    if call not in _PATHS:
        named = [(address, *_judge_address(address)) for address in task.addresses(call, values) if address]
        return [Event(what, address) for address, what, _ in named if what], max((error for *_, error in named), default=0)
    folder, place = _PATHS[call]
    path = task.path(None if folder is None else values[folder], values[place])
    if call.startswith("open"):
        flags = struct.unpack("=Q", task.read(values[2], 8))[0] if call == "openat2" else values[place + 1]
        if not flags & (os.O_ACCMODE | os.O_CREAT | os.O_TRUNC):
            is_look_up = path.startswith(_LOOK_UPS)
            return [Event("look-up", path)] * is_look_up, errno.EACCES * is_look_up
    if call.startswith("mkdir") and os.path.lexists(path):
        return [], 0  # it fails, as `mkdir -p` expects
    return [Event("file", path)], 0


def _serve(listener: int, machine: str, child: list[int], limit: float) -> dict[str, object]:
    """Answer the kernel until all that the child started has ended; what is left after `limit` seconds is killed."""
    names = {number: name for name, number in _CALLS[machine].items()}
    events: dict[Event, None] = {}
    calls, late, tasks = 0, False, set[int]()
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    end = time.monotonic() + limit
    while True:
        ready = poll.poll(max(0.0, end - time.monotonic()) * 1000)
        if not ready:
            late = True
            for number in tasks:
                try:
                    os.kill(number, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            break
        if not ready[0][1] & select.POLLIN:  # nobody is left who has the filter
            break
        told = bytearray(_NOTIFICATION.size)
        try:
            fcntl.ioctl(listener, _RECEIVE, told)
        except OSError:  # killed before it was asked
            continue
        id, number, _, call, _, _, *values = _NOTIFICATION.unpack(told)
        calls += 1
        tasks.add(number)
        try:
            found, error = _judge(names[call], values, _Task(number))
        except (OSError, ValueError):
            # Memory that is not its own, or it has been killed: then the call fails by itself.
            found, error = [], 0
        events |= dict.fromkeys(found)
        reply = _REPLY.pack(id, 0, -error, 0) if error else _REPLY.pack(id, 0, 0, _CONTINUE)
        try:
            fcntl.ioctl(listener, _ANSWER, reply)
        except OSError:
            continue
    status = os.waitstatus_to_exitcode(os.waitpid(child[0], 0)[1])
    return {"status": status, "calls": calls, "late": late, "events": [[event.what, event.target] for event in events]}


def main(report: str, seconds: str, environment: str, *command: str) -> None:
    """Watch one command and write what it did to a file."""
    machine = platform.machine()
    if sys.platform != "linux" or machine not in _CALLS:
        sys.exit(f"Watching needs Linux on {' or '.join(_CALLS)}, not {sys.platform} on {machine}.")
    started = threading.Event()
    listeners, children, failures = list[int](), list[int](), list[OSError]()

    def start() -> None:
        try:
            listeners.append(_listen(machine))
        except OSError as error:
            failures.append(error)
            started.set()
            return
        started.set()
        if not (child := os.fork()):
            os.execvpe(command[0], list(command), json.loads(environment))
        children.append(child)

    thread = threading.Thread(target=start)
    thread.start()
    started.wait()
    if failures:
        sys.exit(f"The kernel does not report calls ({failures[0]}): that needs Linux 5.5, and a container that allows seccomp.")
    told = _serve(listeners[0], machine, children, float(seconds))
    Path(report).write_text(json.dumps(told), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

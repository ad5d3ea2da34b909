"""`python -m bench.cluster start|stop|kill N|restart N|status`: three OpenSearch nodes on this machine."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bench.cluster.nodes import DEFAULT, HEAP, PORT, LocalCluster
from retrieval.core.errors import CounterpointError


def main() -> int:
    """Read the command line and do what it says; 2 for what cannot be done."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster", description=__doc__)
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

"""What the page on clusters reports: `python -m bench.cluster.measure ground|kill|roll … --help`.

Each part prints JSON lines; run them on a machine that does nothing else, against nodes started by `make cluster`.
"""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.cluster.nodes import LocalCluster
from bench.cluster.rankings import draw_titles, read_claims
from retrieval.cluster.faults import ClusterBusy
from retrieval.core.values import Hit
from retrieval.index import Index


def main() -> int:
    """Carry out one part."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster.measure", description=__doc__)
    parts = parser.add_subparsers(dest="part", required=True)
    ground = parts.add_parser("ground", help="/ground in this process over a folder and an address, warm, by turns")
    ground.add_argument("folder", type=Path)
    ground.add_argument("address", type=Path)
    ground.add_argument("--claims", type=int, default=100, help="how many titles of the index are grounded")
    ground.add_argument("--file", type=Path, help="SciFact's claims in place of titles")
    kill = parts.add_parser("kill", help="clients search while a node is killed, an update runs, and the node comes back")
    kill.add_argument("address", type=Path)
    kill.add_argument("--update", type=Path, nargs="*", default=[], help="files of an update that runs meanwhile")
    kill.add_argument("--seconds", type=float, default=60.0)
    kill.add_argument("--node", type=int, default=2)
    kill.add_argument("--spare", action="store_true", help="kill no node: what an update alone does to searches")
    roll = parts.add_parser("roll", help="clients search while each node in turn ends and comes back, from the jars of now")
    roll.add_argument("address", type=Path)
    for part in (kill, roll):
        part.add_argument("--clients", type=int, default=16)
    options = parser.parse_args()
    {"ground": measure_ground, "kill": measure_kill, "roll": measure_roll}[options.part](options)
    return 0


def measure_ground(options: argparse.Namespace) -> None:
    """Run the same claims through both in turn, so that other load on the machine affects both."""
    from service.assembly import assemble
    from service.configuration import defaults
    from service.grounding.claims import check_claim

    both = {name: assemble(getattr(options, name), defaults.CONFIG, defaults.PROFILE) for name in ("folder", "address")}
    texts = read_claims(options.file)[: options.claims] if options.file else draw_titles(both["folder"].index, options.claims)
    claims = [check_claim(text, "", []) for text in texts]
    seconds: dict[str, list[float]] = {name: [] for name in both}
    same = 0
    for turn in range(2):  # the first warms caches
        for claim in claims:
            results = {}
            for name, grounder in both.items():
                began = time.perf_counter()
                results[name] = grounder.ground(claim)
                if turn:
                    seconds[name].append(time.perf_counter() - began)
            sides = [[(one.document.pmid, one.score) for one in (*of.contradicting, *of.supporting)] for of in results.values()]
            same += turn and sides[0] == sides[1]
    medians = {name: round(1000 * statistics.median(times), 1) for name, times in seconds.items()}
    print(json.dumps({"claims": len(claims), "same results": same, "p50 ms": medians}))


def measure_kill(options: argparse.Namespace) -> None:
    """Compare earlier rankings with those found while an update runs and, unless `spare` is set, a node is killed."""
    cluster = LocalCluster()

    def disturb() -> None:
        updater = threading.Thread(target=_update, args=(options.address, options.update))
        updater.start()
        time.sleep(options.seconds / 4)
        if not options.spare:
            cluster.kill_node(options.node)
        time.sleep(options.seconds * 3 / 4)
        updater.join()

    _search_meanwhile(options.address, options.clients, disturb)
    if not options.spare:
        cluster.start_node(options.node)
        cluster.wait_until_joined(cluster.size, status="green")


def measure_roll(options: argparse.Namespace) -> None:
    """A rolling restart, or an upgrade where COUNTERPOINT_CLUSTER_JARS names a version other than the running one."""
    cluster = LocalCluster()

    def disturb() -> None:
        for node in range(cluster.size):
            began = time.perf_counter()
            cluster.kill_node(node, signal.SIGTERM)
            cluster.start_node(node)
            cluster.wait_until_joined(cluster.size, status="green")
            print(json.dumps({"node": node, "green after s": round(time.perf_counter() - began, 1)}), flush=True)

    _search_meanwhile(options.address, options.clients, disturb)


def _search_meanwhile(address: Path, clients: int, disturb: Callable[[], None]) -> None:
    """Compare what clients find while something disturbs the cluster with the earlier results, and print the counts."""
    index = Index(address)
    queries = draw_titles(index, 200)
    whole = {query: _ids(index.search(query, 20)) for query in queries}
    outcomes, latencies, stop = Counter[str](), list[float](), threading.Event()

    def ask(first: int) -> None:
        place = first
        while not stop.is_set():
            query, began = queries[place % len(queries)], time.perf_counter()
            outcomes[_ask_once(partial(index.search, query, 20), whole[query])] += 1
            latencies.append(time.perf_counter() - began)
            place += 1

    threads = [threading.Thread(target=ask, args=(12 * number,)) for number in range(clients)]
    for one in threads:
        one.start()
    try:
        disturb()
    finally:
        stop.set()
        for one in threads:
            one.join()
    latencies.sort()
    figures = {"p50 ms": latencies[len(latencies) // 2], "p95 ms": latencies[int(0.95 * len(latencies))], "max ms": latencies[-1]}
    print(json.dumps({"outcomes": outcomes} | {name: round(1000 * seconds, 1) for name, seconds in figures.items()}))


def _ask_once(search: Callable[[], list[Hit]], reference: list[str]) -> str:
    try:
        pmids = _ids(search())
    except ClusterBusy:
        return "503"
    except Exception as error:
        return f"failed: {type(error).__name__}: {error}"
    if pmids == reference:
        return "same"
    return "shorter" if len(pmids) < len(reference) else "other documents or order (an update changes statistics)"


def _ids(hits: list[Hit]) -> list[str]:
    return [hit.pmid for hit in hits]


def _update(address: Path, files: list[Path]) -> None:
    from indexes.cluster.places import update_at

    if files:
        began = time.perf_counter()
        report = update_at(address, files)
        print(json.dumps({"update": str(report.changes), "seconds": round(time.perf_counter() - began, 1)}))


if __name__ == "__main__":
    sys.exit(main())

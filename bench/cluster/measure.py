"""What the page on clusters reports: `python -m bench.cluster.measure rankings|ground|update|kill|roll … --help`.

Run them on a machine that does nothing else, against nodes started by `make cluster`.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import signal
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from xml.sax.saxutils import escape

from bench.cluster.nodes import LocalCluster
from retrieval.cluster.client import ClusterBusy
from retrieval.core.values import Hit
from retrieval.index import Index, open_documents

_CLOSE = 1e-5
"""Scores are 32-bit floats: a difference of at least this share of the best score is not due to rounding."""
_NEW = 900_000_000
"""PMIDs from here on belong to no paper."""


def main() -> int:
    """Carry out one part."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster.measure", description=__doc__)
    parts = parser.add_subparsers(dest="part", required=True)
    rankings = parts.add_parser("rankings", help="rankings of a folder and an address compared: the same, ties, or other")
    rankings.add_argument("folder", type=Path)
    rankings.add_argument("address", type=Path)
    rankings.add_argument("claims", type=Path, nargs="?", help="SciFact's claims in place of titles")
    rankings.add_argument("--titles", type=int, default=0, help="how many titles of the index are searched for")
    rankings.add_argument("-k", type=int, default=20)
    update = parts.add_parser("update", help="write a day's update of PubMed, made from the texts of an index")
    update.add_argument("index", type=Path)
    update.add_argument("--records", type=int, default=30_000)
    update.add_argument("--out", type=Path, required=True, help="such as updates/pubmed26n1301.xml.gz")
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
    work = {
        "rankings": compare_rankings, "update": write_update,
        "ground": measure_ground, "kill": measure_kill, "roll": measure_roll,
    }  # fmt: skip
    work[options.part](options)
    return 0


def compare_rankings(options: argparse.Namespace) -> None:
    """Print the counts and every query that differs: where only scores that tie change places, that is said."""
    folder_index, cluster = Index(options.folder), Index(options.address)
    queries = read_claims(options.claims) if options.claims else draw_titles(folder_index, options.titles)
    counts, scales, furthest = Counter[str](), list[float](), 0.0
    for query in queries:
        ours, theirs = folder_index.search(query, options.k), cluster.search(query, options.k)
        scale = theirs[0].score / ours[0].score if ours and theirs else 1.0
        how = compare(ours, theirs, scale)
        counts[how] += 1
        scales.append(scale)
        furthest = max([furthest, *(abs(their.score / scale - our.score) for our, their in zip(ours, theirs, strict=False))])
        if how != "same":
            pairs = zip(ours, theirs, strict=False)
            print(how, [(our.pmid, their.pmid, our.score, their.score) for our, their in pairs if our.pmid != their.pmid])
    print(f"{len(queries)} queries, first {options.k}: {dict(counts)}.")
    print(f"The cluster's scores are {min(scales):.6f} to {max(scales):.6f} times the embedded ones, and differ by at most")
    print(f"{furthest:.1e} beyond that.")


def compare(ours: Sequence[Hit], theirs: Sequence[Hit], scale: float) -> str:
    """How two rankings of one query differ: same, ties, or other; `scale` is the constant between their scores."""
    if [hit.pmid for hit in ours] == [hit.pmid for hit in theirs]:
        return "same"
    at = [place for place, (our, their) in enumerate(zip(ours, theirs, strict=False)) if our.pmid != their.pmid]
    tolerance = _CLOSE * (ours[0].score if ours else 1.0)
    is_tie = len(ours) == len(theirs) and all(
        abs(ours[place].score * scale - theirs[place].score) <= tolerance * scale for place in at
    )
    return "ties" if is_tie else "other"


def read_claims(path: Path) -> list[str]:
    """The claims of a SciFact file."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line)["claim"] for line in content.decode().splitlines()]


def draw_titles(index: Index, most: int) -> list[str]:
    """Titles of documents, spread over the index."""
    return [title for entry in index.store.sample(2 * most) if (title := entry.document.title)][:most]


def write_update(options: argparse.Namespace) -> None:
    """Write one file in PubMed's XML, and its .md5 beside it."""
    content = "".join(["<PubmedArticleSet>", *make_records(options.index, options.records), "</PubmedArticleSet>"]).encode()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_bytes(gzip.compress(content))
    digest = hashlib.md5(options.out.read_bytes(), usedforsecurity=False).hexdigest()
    options.out.with_name(f"{options.out.name}.md5").write_text(f"MD5({options.out.name})= {digest}\n", "utf-8")


def make_records(index: Path, records: int) -> Iterator[str]:
    """Six in ten records revise a document, the others are new; a further one per hundred deletes one."""
    documents, _ = open_documents(index)
    texts = [text for text in chain.from_iterable(documents.texts(1000)) if text[0].isdigit()]
    chance = random.Random(20261122)
    for number in range(records):
        pmid, title, abstract = texts[chance.randrange(len(texts))]
        yield _write(pmid if chance.random() < 0.6 else str(_NEW + number), title, _rotate(abstract, chance.randrange(1, 9)))
    for pmid, _, _ in chance.sample(texts, min(len(texts), records // 100)):
        yield f"<DeleteCitation><PMID>{pmid}</PMID></DeleteCitation>"


def _rotate(text: str, by: int) -> str:
    words = text.split(" ")
    return " ".join(words[by:] + words[:by])


def _write(pmid: str, title: str, abstract: str) -> str:
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID><Article><ArticleTitle>{escape(title)}</ArticleTitle>'
        f"<Abstract><AbstractText>{escape(abstract)}</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>"
    )


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
            sides = [
                [(item.document.pmid, item.score) for item in (*of.contradicting, *of.supporting)] for of in results.values()
            ]
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
    for thread in threads:
        thread.start()
    try:
        disturb()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
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

"""A Task A run, end to end: the plain V5 sentence by sentence against our batch run of the same items.

Ours runs in a fresh process with an empty cache (neither its start nor plain's is counted): V5 with every sentence judged, which
gives the same results as plain; V5 as it ships, where the profile limits the sentences that are judged; and our own variant.
"""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tqdm import tqdm

from bench.harness import BenchOptions, NotHere, Part, fresh_cache, run_alone
from bench.report import BenchRow, amount, ratio_row
from retrieval.core.values import Claim
from retrieval.index import Index
from service.assembly import assemble
from service.trec.task_a import Item, read_items

INPUT = "biogen/task_a_input.json"
VARIANTS = {
    "V5, every sentence judged": ("v5", True),
    "V5 as it ships": ("v5", False),
    "our variant": ("counterpoint", False),
}
BAR = 15


def run(options: BenchOptions) -> dict[str, Any]:
    """Seconds for all the items for each of ours, and for each sentence for plain."""
    from bench.plain import open_plain

    path = options.data / INPUT
    if not path.is_file():
        raise NotHere(f"Task A is not measured: there is no {path}; name the data folder with --data.")
    all_items = read_items(path)
    items = all_items[: options.items] if options.items else all_items
    seconds = {}
    for name, (config, every) in VARIANTS.items():
        seconds[name] = run_alone(ours, options.index, path, len(items), config, every)
    index = Index(options.index)
    claims = [claim for item in items for claim in item.claims()]
    plain = open_plain(index, claims[0])
    each = [plain.seconds(claim) for claim in tqdm(claims, desc="Task A, plain", unit=" sentences", disable=None)]
    index.close()
    return {"items": len(items), "sentences_in_all": sum(len(item.answer) for item in all_items), "ours": seconds, "plain": each}


def ours(index: Path, path: Path, items: int, config: str, every: bool) -> float:
    """Seconds of our batch run of the first items, with the index open and the models warm."""
    from service.trec.task_a import run as run_items

    with fresh_cache(), TemporaryDirectory(prefix="bench-run-") as folder:
        grounder = assemble(index, config, "fast")
        if every:  # the profile's `skim` limits how many sentences are judged, which changes what is found
            grounder.models.profile = grounder.models.profile.model_copy(update={"skim": None})
        grounder.ground(Claim("Aspirin prevents stroke."))
        batch: list[Item] = read_items(path)[:items]
        began = time.perf_counter()
        run_items(batch, path, grounder, Path(folder) / "run.jsonl", "bench", config)
        took = time.perf_counter() - began
        grounder.index.close()
    return took


def rows(result: dict[str, Any]) -> list[BenchRow]:
    """Totals of the items that were run; where only some were, also a projection to all items, labelled as such."""
    plain, n, whole = sum(result["plain"]), len(result["plain"]), result["sentences_in_all"]
    lines = [
        ratio_row(f"Task A run, {n} sentences: plain V5 / {name}", [plain], [seconds], "s", bar=BAR if number == 0 else None)
        for number, (name, seconds) in enumerate(result["ours"].items())
    ]
    if n < whole:
        lines += [
            BenchRow(
                f"– projected to all {whole} sentences: {name}",
                amount(plain * whole / n, "s"),
                amount(took * whole / n, "s"),
                "a projection",
            )
            for name, took in result["ours"].items()
        ]
    return lines


TASK_A = Part(("items", "seed"), run, rows)

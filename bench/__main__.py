"""The benchmark: `python -m bench --index INDEX --data DATA`; docs/research/performance.md says how to read it.

Each part is measured by itself and kept as soon as it is done: after Ctrl-C the same command goes on with the next one.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import report
from bench.build import BUILD
from bench.harness import ROOT, BenchOptions, NotHere, Part, commit, machine, run_alone
from bench.service import GROUND, MEMORY
from bench.task_a import TASK_A
from retrieval.core.code_hash import hash_code
from retrieval.core.errors import BadInput, CounterpointError
from retrieval.store.manifest import read_manifest, write_atomically

CODE = ("service.serve.server", "service.trec.task_a", "indexes.build")
"""The code that determines speed: a part is measured again when these modules, or what they import, changed, committed or not."""
PARTS: dict[str, Part] = {"ground": GROUND, "task-a": TASK_A, "build": BUILD, "memory": MEMORY}


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Ours against the plain pipeline, on this machine.")
    parser.add_argument("--index", type=Path, default=ROOT / "indexes/built/demo", help="a built index (the demo index)")
    parser.add_argument(
        "--data", type=Path, default=ROOT.parent / "shared/data", help="the folder of data sets, for Task A's input"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "build/bench", help="where results are kept (build/bench)")
    parser.add_argument("--table", type=Path, help="the Markdown page to write the table into")
    parser.add_argument("--only", nargs="+", choices=PARTS, metavar="PART", help=f"these parts alone: {', '.join(PARTS)}")
    parser.add_argument("--fresh", action="store_true", help="measure anew what is kept from an earlier run")
    parser.add_argument("--claims", type=int, default=5, help="claims of ground that plain answers too, about a minute each")
    parser.add_argument("--asked", type=int, default=50, help="claims of ground and memory")
    parser.add_argument("--items", type=int, default=2, help="items of task-a; 0: all, which plain needs hours for")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of build")
    parser.add_argument("--documents", type=int, default=0, help="documents of build; 0: those of the index, once")
    parser.add_argument("--seed", type=int, default=0, help="which claims are drawn")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return 2 where something cannot be used."""
    options = parse_arguments(arguments)
    try:
        return measure_parts(options)
    except CounterpointError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"Stopped; the parts that were done are kept in {options.out}, and the same command goes on.", file=sys.stderr)
        return 130


def measure_parts(arguments: argparse.Namespace) -> int:
    """Measure every requested part that is not kept yet, then print the table of all parts."""
    options = BenchOptions(**{name: getattr(arguments, name) for name in BenchOptions.__dataclass_fields__})
    negative = [name for name in ("items", "documents") if getattr(options, name) < 0]
    if small := negative + [name for name in ("claims", "asked", "rounds") if getattr(options, name) < 1]:
        raise BadInput(f"--{small[0]} is {getattr(options, small[0])}; give a number that can be measured.")
    manifest = read_manifest(options.index)
    if arguments.table:
        report.split_page(arguments.table)  # fail now, not after hours
    measured_of = {
        "commit": commit(),
        "code": hash_code(CODE),
        "corpus_sha256": manifest.corpus_sha256,
        "documents": manifest.counts.documents,
    }
    unusable = 0
    for name in arguments.only or PARTS:
        part = PARTS[name]
        facts = {**measured_of, "options": {option: getattr(options, option) for option in part.options}}
        record = None if arguments.fresh else report.find_kept(arguments.out, name, facts)
        if record is None:
            try:
                record = measure_apart(part, options, facts)
            except CounterpointError as error:
                # The other parts take hours that should not be lost.
                print(error, file=sys.stderr)
                unusable += not isinstance(error, NotHere)
                continue
            report.keep(arguments.out, name, record)
        print(f"\n{report.table(part.rows(record['result']))}", flush=True)
    finish(arguments.out, arguments.table, measured_of)
    return 2 if unusable else 0


def measure_apart(part: Part, options: BenchOptions, facts: dict[str, Any]) -> dict[str, Any]:
    """Measure a part, in a process of its own."""
    hardware, began = machine(), time.perf_counter()
    result = run_alone(part.run, options)
    took = time.perf_counter() - began
    return {
        "facts": facts,
        "machine": hardware,
        "when": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "seconds": took,
        "result": result,
    }


def finish(out: Path, page: Path | None, measured_of: dict[str, Any]) -> None:
    """Write all parts measured on the same code and index, now or earlier, to one file and to the page's table."""
    kept = {name: report.read(out, name) for name in PARTS}
    records = {name: record for name, record in kept.items() if record and measured_of.items() <= record["facts"].items()}
    if not records:
        return
    rows = [row for name, record in records.items() for row in PARTS[name].rows(record["result"])]
    write_atomically(out / report.ALL, json.dumps(records, indent=1) + "\n")
    if page:
        report.write_into_page(page, report.page(records, rows))


if __name__ == "__main__":
    # When its parent ends it, it stops what it started, as at Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())

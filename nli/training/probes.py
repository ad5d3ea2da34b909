"""Accuracy by kind on the probe set: `python -m nli.training.probes [--probes tests/probes.jsonl]`."""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from nli.judges.embedded import LABELS, STANCE_MODEL, EmbeddedJudge
from retrieval.core.errors import CounterpointError
from retrieval.core.values import Premise
from retrieval.training.data import read_lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Print, for each kind, how often the most probable class is right, with and without calibration."""
    parser = argparse.ArgumentParser(prog="python -m nli.training.probes", description="Accuracy on the probe set, by kind.")
    parser.add_argument(
        "--probes", type=Path, default=Path("tests/probes.jsonl"), help="JSON lines with claim, sentence, label and kind"
    )
    parser.add_argument("--model", type=Path, default=STANCE_MODEL, help="the folder of the model (default: the shipped one)")
    options = parser.parse_args(arguments)
    try:
        judge = EmbeddedJudge(options.model)
        probes = read_lines(options.probes)
    except (CounterpointError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    hits: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for probe in probes:
        logits = judge.logits(probe["claim"], [Premise(probe["sentence"])])
        gold = LABELS.index(probe["label"])
        hit = int(judge.calibration.probabilities(logits)[0].argmax()) == gold
        for kind in (probe["kind"], "all"):
            hits[kind].append((hit, int(logits[0].argmax()) == gold))
    for kind in (*(kind for kind in hits if kind != "all"), "all"):
        calibrated_share, raw = (100 * sum(column) / len(hits[kind]) for column in zip(*hits[kind], strict=True))
        print(f"{kind:22s} {len(hits[kind]):4d} pairs  calibrated {calibrated_share:3.0f} %  raw {raw:3.0f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())

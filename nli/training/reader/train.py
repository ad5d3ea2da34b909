"""Train the document reader: `python -m counterpoint.nli.training.reader.train --data DIR --base DIR --out DIR`.

An interrupted run continues from `OUT/checkpoint.pt`. `--base` is the folder of all-mpnet-base-v2 (nli/models/reader/README.md
says which packages carry it); a run with `--start` needs none.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from counterpoint.nli.reader.encode import CLOSE, START, DocumentTokenizer
from counterpoint.nli.reader.judge import LARGE
from counterpoint.nli.training.reader.answers import make_answer_lessons
from counterpoint.nli.training.reader.encoder import SIZES, ReaderEncoder, find_size, load_base
from counterpoint.nli.training.reader.examples import CLAIMS, make_lessons, make_taught_lessons, read_claims
from counterpoint.nli.training.reader.lesson import LABELS, LONGEST, UNLABELLED, LessonExample, make_batches, measure_length
from counterpoint.nli.training.reader.vocabulary import SPECIAL, VOCABULARY_HELP, find_base_rows, read_words
from counterpoint.retrieval.core.errors import BadInput, ModelUnusable
from counterpoint.retrieval.runtime.engine import EncodedPair, collate
from counterpoint.retrieval.training.command import make_option_parser, return_exit_code
from counterpoint.retrieval.training.export import restore_weights
from counterpoint.retrieval.training.loop import Recipe, descend, has_fast_bfloat16, read_weights

SMOOTHING = 0.03
SENTENCES = 0.5
"""The weight of the sentences' loss relative to the document's."""
LABELLED = 0.5
"""The weight of the loss by labels relative to that by a teacher's probabilities."""
OPPOSITES = 0.5
"""The weight of the loss of opposites that are read differently, relative to that of the document."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """How a size learns best: the dropout in its layers, the rate of a layer relative to that of the one above, the rate of the
    heads relative to that of the highest layer, and whether the word table learns."""

    dropout: float
    decay: float
    heads: float
    words: bool


TUNINGS = {"large": Tuning(0.1, 0.95, 3.0, words=False), "small": Tuning(0.0, 1.0, 2.0, words=True)}


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
    if read_words(path.parent) != list(words):
        raise ModelUnusable(f"{path} has other words than --vocabulary; expected the same: give --vocabulary {path.parent}.")
    return restore_weights(path)


def load_model(options: argparse.Namespace, words: Sequence[str]) -> ReaderEncoder:
    """The model to train: the base's weights, or those of `--start`. Raises `BadInput` where neither is given."""
    state = load_start(options.start, words) if options.start else {}
    size, tuning = SIZES[options.size], TUNINGS[options.size]
    model = ReaderEncoder(len(SPECIAL) + len(words), size, tuning.dropout, answers="answer.weight" in state)
    if state:
        model.load_state_dict(state)
    elif options.base:
        load_base(model, options.base, find_base_rows(options.base, words))
    else:
        raise BadInput("A run needs weights to begin with; give --base or --start.")
    return model


def choose_served(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights that ship: the large reader's heads for answers only teach the small one."""
    drop = find_size(state) is SIZES["large"]
    return {name: values for name, values in state.items() if not (drop and name.startswith("answer"))}


def restore_reader(state: Mapping[str, Tensor]) -> ReaderEncoder:
    """A trained reader with these weights."""
    model = ReaderEncoder(len(state["words.weight"]), find_size(state), answers="answer.weight" in state)
    model.load_state_dict(state)
    return model.eval()


def make_parser(command: str, size: str, rate: float, epochs: int) -> argparse.ArgumentParser:
    """The options of a command that trains a reader, with its defaults."""
    parser = make_option_parser(f"python -m counterpoint.nli.training.reader.{command}", "reader")
    parser.add_argument("--size", choices=sorted(SIZES), default=size, help="the size of the reader (default: %(default)s)")
    parser.add_argument("--vocabulary", type=Path, default=LARGE, help=VOCABULARY_HELP)
    parser.add_argument("--rate", type=float, default=rate, help="the highest learning rate")
    parser.add_argument("--start", type=Path, metavar="FILE", help="continue from this checkpoint.pt or model.onnx")
    parser.add_argument("--batch-tokens", type=int, default=2048, help="the most tokens of a batch (on a GPU, 16384 is faster)")
    parser.add_argument("--epochs", type=int, default=epochs, help="how often everything is read (default: %(default)s)")
    parser.add_argument("--teacher", type=Path, metavar="FILE", help="a larger reader to learn from, given as --start")
    return parser


def find_device(options: argparse.Namespace) -> torch.device:
    """The device to train on; on the CPU with as many threads as the options say."""
    if options.threads:
        torch.set_num_threads(options.threads)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def load_teacher(options: argparse.Namespace, words: Sequence[str], device: torch.device) -> ReaderEncoder | None:
    """The reader that the options name as the teacher."""
    return restore_reader(load_start(options.teacher, words)).to(device) if options.teacher else None


def make_curriculum(options: argparse.Namespace, words: Sequence[str], seed: int) -> list[list[LessonExample]]:
    """The batches of one epoch, in the order in which they are read."""
    rng = random.Random(seed)
    lessons = make_lessons(options.data, options.claims, rng, options.reports) + list(make_answer_lessons(options.data))
    paired = {one.group for one in lessons if one.pair}
    drawn = {group for group in sorted({one.group for one in lessons}) if group in paired or rng.random() < options.unpaired}
    lessons = [one for one in lessons if (one.group in drawn if one.group else rng.random() < options.unpaired)]
    if options.taught:
        lessons += make_taught_lessons(options.data, read_claims(options.claims), options.taught, rng)
    batches = make_batches(lessons, DocumentTokenizer(make_tokenizer(words), LONGEST), options.batch_tokens, rng)
    kinds = Counter((one.source, "taught" if one.label == UNLABELLED else LABELS[one.label]) for one in lessons)
    tokens = sum(measure_length(batch) * len(batch) for batch in batches)
    print(f"{len(batches):,} batches, {tokens:,} tokens: {dict(sorted(kinds.items()))}", file=sys.stderr)
    return batches


def make_optimizer(model: ReaderEncoder, rate: float, tuning: Tuning) -> torch.optim.AdamW:
    """AdamW over all that learns; the lower a layer, the slower it learns."""
    top = len(model.layers)
    # Gradients of the table of distances would cost the fast form of attention.
    fixed = ("distances",) if tuning.words else ("distances", "words")
    groups: dict[tuple[float, float], list[torch.nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if name.startswith(fixed):
            parameter.requires_grad_(False)
            continue
        if name.startswith(("hidden", "document", "sentence", "answer", "kinds")):
            factor = tuning.heads
        else:
            factor = tuning.decay ** (top - 1 - int(name.split(".")[1]) if name.startswith("layers.") else top)
        groups.setdefault((rate * factor, 0.01 if parameter.ndim > 1 else 0.0), []).append(parameter)
    return torch.optim.AdamW(
        [{"params": some, "lr": top_rate, "top": top_rate, "weight_decay": decay} for (top_rate, decay), some in groups.items()],
        fused=True,
    )


def compare_opposites(scores: Tensor, pairs: Sequence[str]) -> Tensor:
    """How differently the opposites in a batch are read, by log probabilities [batch, labels]: what supports one should
    contradict the other as surely. The mean over the batch of the symmetric divergence; 0 of what has no partner."""
    rows = defaultdict(list)
    for row, pair in enumerate(pairs):
        rows[pair].append(row)
    both = torch.tensor([two for pair, two in rows.items() if pair and len(two) == 2], dtype=torch.int64, device=scores.device)
    if not len(both):
        return scores.new_zeros(())
    first, second = scores[both[:, 0]], scores[both[:, 1]].flip(-1)
    return ((first.exp() - second.exp()) * (first - second)).sum() / len(pairs)


def compute_loss(
    model: ReaderEncoder,
    batch: Sequence[LessonExample],
    device: torch.device,
    low: bool,
    teacher: ReaderEncoder | None = None,
) -> Tensor:
    """The cross-entropy of documents, with the claim's own lean added to the logits, and of sentences; and how differently
    opposites are read.

    With a teacher: the divergence from its probabilities, and half of that where there are labels.
    """
    inputs = collate([EncodedPair(one.document.ids, one.document.types) for one in batch])
    tensors = [torch.from_numpy(array).to(device) for array in inputs]

    def pad(rows: Sequence[NDArray[Any]], filler: float) -> Tensor:
        return pad_sequence([torch.from_numpy(row) for row in rows], True, filler).to(device)

    ends, labels = pad([one.document.ends for one in batch], -1), pad([one.labels for one in batch], UNLABELLED)
    counts = pad([one.counts for one in batch], 0.0) * (labels != UNLABELLED)
    counts = counts / counts.sum(1, keepdim=True).clamp(min=1.0)

    def read(reader: ReaderEncoder) -> tuple[Tensor, Tensor]:
        """The log probabilities of documents [batch, labels] and of sentences [batch, sentences, labels]."""
        with torch.autocast(device.type, torch.bfloat16, enabled=low):
            logits = reader(*tensors)
        scores = functional.log_softmax(logits[..., : len(LABELS)].float(), -1)
        return scores[:, 0], scores.gather(1, ends.clamp(min=0)[..., None].expand(-1, -1, len(LABELS)))

    documents, sentences = read(model)
    lean = torch.tensor([one.lean for one in batch], device=device)
    leaning = documents + torch.stack([lean / 2, torch.zeros_like(lean), -lean / 2], 1)
    gold = torch.tensor([one.label for one in batch], device=device)
    by_label = functional.cross_entropy(leaning, gold, ignore_index=UNLABELLED, label_smoothing=SMOOTHING, reduction="none")
    each = functional.cross_entropy(sentences.transpose(1, 2), labels, ignore_index=UNLABELLED, reduction="none")
    loss = (by_label + SENTENCES * (each * counts).sum(1)).mean()
    loss = loss + OPPOSITES * compare_opposites(documents, [one.pair for one in batch])
    if teacher is None:
        return loss
    with torch.no_grad():
        targets = read(teacher)

    def diverge(own: Tensor, target: Tensor) -> Tensor:
        return functional.kl_div(own, target, reduction="none", log_target=True).sum(-1)

    present = (ends >= 0).float()
    of_sentences = (diverge(sentences, targets[1]) * present).sum(1) / present.sum(1).clamp(min=1.0)
    return (diverge(documents, targets[0]) + SENTENCES * of_sentences).mean() + LABELLED * loss


def make_train_parser() -> argparse.ArgumentParser:
    """The options of this command."""
    parser = make_parser("train", size="large", rate=5e-5, epochs=1)
    parser.add_argument("--base", type=Path, help="the folder of all-mpnet-base-v2, or of all-MiniLM-L6-v2 for the small reader")
    parser.add_argument("--claims", type=Path, default=CLAIMS, metavar="FILE", help="claims of our own to read instead of all")
    parser.add_argument(
        "--reports", type=Path, metavar="INDEX", help="an index of trial reports with their full texts, to learn from these too"
    )
    parser.add_argument(
        "--unpaired", type=float, default=1.0, metavar="SHARE", help="the share of lessons without opposites to read (default: 1)"
    )
    parser.add_argument(
        "--taught", type=int, default=0, metavar="N", help="read N claims of our own with papers that only the teacher judges"
    )
    return parser


@return_exit_code
def main(arguments: Sequence[str] | None = None) -> None:
    """Train; 2 where the data folder cannot be used."""
    options = make_train_parser().parse_args(arguments)
    if options.taught and not options.teacher:
        raise BadInput("--taught reads papers that only a teacher judges; give --teacher.")
    words = read_words(options.vocabulary)
    batches = [one for epoch in range(options.epochs) for one in make_curriculum(options, words, options.seed + epoch)]
    device = find_device(options)
    low, teacher = has_fast_bfloat16(device), load_teacher(options, words, device)
    model = load_model(options, words).to(device)
    steps = make_optimizer(model, options.rate, TUNINGS[options.size])
    recipe = Recipe(rate=options.rate, floor=0.02, seed=options.seed, most_batches=options.batches)
    descend(
        model, steps, batches, lambda batch: compute_loss(model, batch, device, low, teacher), recipe,
        options.out / "checkpoint.pt", device,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())

"""Teach a reader open questions:
`python -m counterpoint.nli.training.reader.train_answers --data DIR --vocabulary DIR --start FILE`.

It learns which words of a paper name an answer, whether there is one, and, if it is the large one, what the paper says of an
answer. The small one learns from the large one, as its teacher, also of papers that nobody labelled. Of other claims and papers
a reader meanwhile keeps saying what it said before: the loss is the divergence from its own earlier probabilities (Li and Hoiem
2016, "Learning without Forgetting", arXiv 1606.09282), and half that by their labels.
"""

from __future__ import annotations

import copy
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from counterpoint.nli.reader.encode import DocumentTokenizer
from counterpoint.nli.reader.judge import LARGE, SMALL
from counterpoint.nli.training.reader import train
from counterpoint.nli.training.reader.answers import UNKNOWN, Pair, make_answer_lessons, read_pairs
from counterpoint.nli.training.reader.encoder import SIZES, ReaderEncoder
from counterpoint.nli.training.reader.examples import CLAIMS, make_lessons
from counterpoint.nli.training.reader.lesson import LABELS, LONGEST, WINDOW, LessonExample, make_batches
from counterpoint.nli.training.reader.vocabulary import read_words
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.runtime.engine import BY_HAND, EncodedPair, batch_by_length, collate, read_card
from counterpoint.retrieval.training.command import return_exit_code
from counterpoint.retrieval.training.export import export
from counterpoint.retrieval.training.loop import Recipe, descend, has_fast_bfloat16

NAMES = 5.0
"""The weight of a token's loss relative to the paper's."""
NAMING = 2.0
"""The weight of a token that belongs to an answer."""
PAIRS = 0.7
"""The weight of a batch of pairs relative to one of claims."""
OUTPUT = len(LABELS)
"""The place of the log odds of an answer among the outputs."""


@dataclass(frozen=True, slots=True)
class Claims:
    """A batch of claims with papers; of those that are `kept` it says what it said before."""

    examples: list[LessonExample]
    kept: bool


Batch = list[Pair] | Claims
Reads = Callable[..., Tensor]


def batch_pairs(pairs: Sequence[Pair], tokens: int, rng: random.Random) -> list[list[Pair]]:
    """All pairs in batches of at most so many tokens, padding included, those of like length together."""
    shuffled = rng.sample(pairs, len(pairs))
    parts = [shuffled[begin : begin + WINDOW] for begin in range(0, len(shuffled), WINDOW)]
    return [
        [part[place] for place in batch]
        for part in parts
        for batch in batch_by_length([len(pair.document.ids) for pair in part], tokens)
    ]


def compute_pair_loss(
    model: Reads, pairs: Sequence[Pair], device: torch.device, low: bool, teacher: Reads | None = None
) -> Tensor:
    """The cross-entropy of papers and of tokens, by their labels and by the teacher's probabilities."""
    tensors = [
        torch.from_numpy(part).to(device)
        for part in collate([EncodedPair(one.document.ids, one.document.types) for one in pairs])
    ]

    def run(reader: Reads) -> Tensor:
        with torch.autocast(device.type, torch.bfloat16, enabled=low):
            return reader(*tensors)[..., OUTPUT].float()

    answered = torch.tensor([one.answered for one in pairs], device=device)
    names = pad_sequence([torch.from_numpy(one.names) for one in pairs], True, UNKNOWN).to(device)
    odds = run(model)
    loss = _compute_cross_entropy(odds, answered, names, NAMING)
    if teacher:
        with torch.no_grad():
            taught = run(teacher).sigmoid()
        there = torch.where(tensors[1].bool(), taught, UNKNOWN)
        there[:, 0] = UNKNOWN
        loss = loss + _compute_cross_entropy(odds, taught[:, 0], there, 1.0)
    return loss


def _compute_cross_entropy(odds: Tensor, answered: Tensor, names: Tensor, naming: float) -> Tensor:
    """Of papers and, weighted, of tokens; what is `UNKNOWN` does not count."""
    papers, tokens = ((one != UNKNOWN).float() for one in (answered, names))
    of_papers = functional.binary_cross_entropy_with_logits(odds[:, 0], answered.clamp(min=0), reduction="none")
    weight = torch.tensor(naming, device=odds.device)
    of_tokens = functional.binary_cross_entropy_with_logits(odds, names.clamp(min=0), reduction="none", pos_weight=weight)
    papers_loss, tokens_loss = (
        (loss * known).sum() / known.sum().clamp(min=1) for loss, known in ((of_papers, papers), (of_tokens, tokens))
    )
    return papers_loss + NAMES * tokens_loss


@return_exit_code
def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and export with the words, the calibration and the decision of the shipped reader; 2 if the data cannot be used."""
    parser = train.make_parser("train_answers", size="small", rate=1e-4, epochs=4)
    parser.add_argument("--kept", type=int, default=60, help="batches of other claims beside each epoch (default: 60)")
    options = parser.parse_args(arguments)
    if not options.start:
        raise BadInput("This training needs a reader to begin with; give --start.")
    device = train.find_device(options)
    rng, words = random.Random(options.seed), read_words(options.vocabulary)
    tokenize = DocumentTokenizer(train.make_tokenizer(words), LONGEST)
    pairs = read_pairs(options.data, tokenize, found=options.teacher is not None)
    kept = make_batches(make_lessons(options.data, CLAIMS, rng), tokenize, options.batch_tokens, rng)
    claims = list(make_answer_lessons(options.data)) if options.size == "large" else []
    todo: list[Batch] = []
    for _ in range(options.epochs):
        todo += batch_pairs(pairs, options.batch_tokens, rng)
        todo += [Claims(batch, kept=True) for batch in rng.sample(kept, min(options.kept, len(kept)))]
        if claims:
            todo += [Claims(batch, kept=False) for batch in make_batches(claims, tokenize, options.batch_tokens, rng)]
    rng.shuffle(todo)
    low, tuning = has_fast_bfloat16(device), train.TUNINGS[options.size]
    state = train.load_start(options.start, words)
    model = ReaderEncoder(len(state["words.weight"]), SIZES[options.size], tuning.dropout, answers=True)
    model.load_state_dict({name: value for name, value in model.state_dict().items() if name.startswith("answer")} | state)
    model = model.to(device)
    before = copy.deepcopy(model).eval()
    teacher = train.load_teacher(options, words, device)

    def compute_loss(batch: Batch) -> Tensor:
        if isinstance(batch, Claims):
            return train.compute_loss(model, batch.examples, device, low, before if batch.kept else None)
        return PAIRS * compute_pair_loss(model, batch, device, low, teacher)

    steps = train.make_optimizer(model, options.rate, tuning)
    recipe = Recipe(rate=options.rate, floor=0.02, seed=options.seed, most_batches=options.batches)
    descend(model, steps, todo, compute_loss, recipe, options.out / "checkpoint.pt", device)
    served = train.choose_served({name: value.cpu() for name, value in model.state_dict().items()})
    shipped = {"small": SMALL, "large": LARGE}[options.size]
    whole = {name: value for name, value in read_card(shipped).items() if name != "sha256"}
    # The numbers are kept as they are until the run is fitted.
    card: dict[str, Any] = {**whole, "fitted_to": dict.fromkeys(whole["fitted_to"], BY_HAND)}
    export(train.restore_reader(served), "logits", options.out / "reader", shipped / "tokenizer.json", card)


if __name__ == "__main__":
    sys.exit(main())

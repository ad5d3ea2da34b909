"""Teach the small reader to find answers: `python -m nli.training.reader.train_answers --data DIR --vocabulary DIR --start FILE`.

It learns from pairs of an open question and a paper, labelled by reading (answers.jsonl), which words name an answer and whether
there is one. Of claims and papers it meanwhile keeps saying what it said before: their loss is the divergence from its own
earlier probabilities (Li and Hoiem 2016, "Learning without Forgetting", arXiv 1606.09282).
"""

from __future__ import annotations

import copy
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from nli.judge import drop_question
from nli.reader.encode import DocumentTokenizer, EncodedDocument
from nli.reader.glosses import gloss_claim
from nli.reader.judge import SMALL as SMALL_READER
from nli.training.reader.encoder import SMALL, ReaderEncoder
from nli.training.reader.examples import read_ordinary, read_papers, read_written
from nli.training.reader.lesson import LABELS, UNLABELLED
from nli.training.reader.train import TUNINGS, load_start, make_optimizer, make_tokenizer, restore_reader
from nli.training.reader.vocabulary import VOCABULARY_HELP, read_words
from retrieval.runtime.engine import EncodedPair, collate, read_card
from retrieval.training.command import make_option_parser, return_exit_code
from retrieval.training.data import read_lines
from retrieval.training.export import export
from retrieval.training.loop import Recipe, descend, has_fast_bfloat16

PAIRS, SEARCHES = Path(__file__).with_name("answers.jsonl"), Path(__file__).with_name("searches")
TOKENS, BATCH_TOKENS, KEPT_TOKENS = 192, 2400, 800
"""The most tokens of a pair, of a batch of pairs, and of the claims beside it."""
NAMES, SENTENCES = 5.0, 0.5
"""The weight of a token's loss relative to the paper's, and of a sentence's divergence relative to the paper's."""
NAMING = 2.0
"""The weight of a token that belongs to an answer."""
OUTPUT = len(LABELS)
"""The place of the log odds of an answer among the outputs."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A question with a paper: `names` [tokens] is 1 where a token belongs to an answer, -1 where that is unknown."""

    document: EncodedDocument
    names: NDArray[np.float32]
    answered: bool


Batch = tuple[list[Pair], list[EncodedDocument]]
"""Pairs to learn from, and claims with papers of which it says what it said before."""


def make_pair(row: dict[str, Any], title: str, sentences: Sequence[str], tokenize: DocumentTokenizer) -> Pair:
    """Lay out a line of answers.jsonl; its `spans` are [part, start, end] in the title, 0, or a sentence, from 1."""
    texts = [drop_question(title), *sentences]
    document = tokenize(gloss_claim(row["question"], " ".join(texts)), texts[0], sentences, max_tokens=TOKENS)
    names = np.full(len(document.ids), -1.0, dtype=np.float32)
    for part, start, end in document.parts():
        marked = [span[1:] for span in row["spans"] if span[0] == part]
        words = _find_marked_words(texts[part], marked)
        places = tokenize.find_words(texts[part])[: end - start]
        names[start : start + len(places)] = [float(place in words) for place in places]
    if row["answered"] and not (names > 0).any():
        names[:] = -1.0  # what names it was not read
    return Pair(document, names, row["answered"])


def _find_marked_words(text: str, spans: Sequence[Sequence[int]]) -> set[int]:
    places, at = set(), 0
    for place, word in enumerate(text.split()):
        at = text.index(word, at)
        if any(start < at + len(word) and at < end for start, end in spans):
            places.add(place)
        at += len(word)
    return places


def read_kept(data: Path, tokenize: DocumentTokenizer, most: int, rng: random.Random) -> list[EncodedDocument]:
    """Claims with papers, of searches and of ordinary claims."""
    claims = [(row["claim"], row["title"], row["sentences"]) for row in read_written(SEARCHES, data)]
    claims = rng.sample(claims, min(len(claims), most // 2))
    claims += [(row[side], row["title"], row["sentences"]) for row in read_ordinary(data, "train") for side in ("true", "false")]
    rng.shuffle(claims)
    return [
        tokenize(gloss_claim(claim, " ".join((title, *sentences))), title, sentences, max_tokens=TOKENS)
        for claim, title, sentences in claims[:most]
    ]


def make_batches(sizes: Sequence[int], most: int, rng: random.Random) -> list[list[int]]:
    """The places of texts of these many tokens in batches of at most `most`, those of like length together."""
    places = list(range(len(sizes)))
    rng.shuffle(places)
    batches: list[list[int]] = []
    for begin in range(0, len(places), 512):
        batch: list[int] = []
        for place in sorted(places[begin : begin + 512], key=lambda place: sizes[place]):
            if batch and sizes[place] * (len(batch) + 1) > most:
                batches.append(batch)
                batch = []
            batch.append(place)
        batches.append(batch)
    rng.shuffle(batches)
    return batches


def make_curriculum(pairs: Sequence[Pair], kept: Sequence[EncodedDocument], epochs: int, rng: random.Random) -> Iterator[Batch]:
    """All pairs as often as there are epochs, with claims beside each batch."""
    beside: list[list[int]] = []
    for _ in range(epochs):
        for batch in make_batches([len(one.document.ids) for one in pairs], BATCH_TOKENS, rng):
            beside = beside or make_batches([len(one.ids) for one in kept], KEPT_TOKENS, rng)
            yield [pairs[place] for place in batch], [kept[place] for place in beside.pop()]


def compute_loss(model: ReaderEncoder, before: ReaderEncoder, batch: Batch, low: bool) -> Tensor:
    """The cross-entropy of papers and of tokens, and the divergence from the reader `before`."""
    pairs, kept = batch
    outputs = _run(model, [one.document for one in pairs], low)[..., OUTPUT]
    answered = torch.tensor([float(one.answered) for one in pairs])
    loss = functional.binary_cross_entropy_with_logits(outputs[:, 0], answered)
    names = pad_sequence([torch.from_numpy(one.names) for one in pairs], True, UNLABELLED)
    known = (names >= 0).float()
    each = functional.binary_cross_entropy_with_logits(
        outputs, names.clamp(min=0), reduction="none", pos_weight=torch.tensor(NAMING)
    )
    loss = loss + NAMES * (each * known).sum() / known.sum().clamp(min=1)
    with torch.no_grad():
        target = functional.log_softmax(_run(before, kept, low)[..., :OUTPUT], -1)
    own = functional.log_softmax(_run(model, kept, low)[..., :OUTPUT], -1)
    apart = functional.kl_div(own, target, reduction="none", log_target=True).sum(-1)
    ends = torch.zeros_like(apart)
    for row, one in enumerate(kept):
        read = one.ends[one.ends >= 0].tolist()
        ends[row, read] = 1 / max(1, len(read))
    return loss + apart[:, 0].mean() + SENTENCES * (apart * ends).sum(1).mean()


def _run(model: ReaderEncoder, documents: Sequence[EncodedDocument], low: bool) -> Tensor:
    inputs = [torch.from_numpy(array) for array in collate([EncodedPair(one.ids, one.types) for one in documents])]
    with torch.autocast("cpu", torch.bfloat16, enabled=low):
        outputs: Tensor = model(*inputs)
    return outputs.float()


@return_exit_code
def main(arguments: Sequence[str] | None = None) -> None:
    """Train on the CPU and export with the shipped calibration and decision; 2 where the data folder cannot be used."""
    parser = make_option_parser("python -m nli.training.reader.train_answers", "reader")
    parser.add_argument("--vocabulary", type=Path, required=True, help=VOCABULARY_HELP)
    parser.add_argument("--start", type=Path, required=True, metavar="FILE", help="the small reader: checkpoint.pt or model.onnx")
    parser.add_argument("--kept", type=Path, metavar="FILE", help="the reader whose verdicts are kept, if not --start")
    parser.add_argument("--epochs", type=int, default=4, help="how often the pairs are read (default: 4)")
    parser.add_argument("--rate", type=float, default=8e-5, help="the highest learning rate")
    options = parser.parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    rng, words = random.Random(options.seed), read_words(options.vocabulary)
    tokenize = DocumentTokenizer(make_tokenizer(words), TOKENS)
    rows = read_lines(PAIRS)
    papers = {pmid: (title, sentences) for pmid, title, sentences in read_papers(options.data, {row["pmid"] for row in rows})}
    pairs = [make_pair(row, *papers[row["pmid"]], tokenize) for row in rows if row["pmid"] in papers]
    kept = read_kept(options.data, tokenize, 2 * len(pairs), rng)
    state = load_start(options.start, words)
    model = ReaderEncoder(len(state["words.weight"]), SMALL)
    heads = {name: value for name, value in model.state_dict().items() if name.startswith("answer")}
    model.load_state_dict(heads | state)
    before = restore_reader(load_start(options.kept, words) | heads) if options.kept else copy.deepcopy(model).eval()
    steps = make_optimizer(model, options.rate, TUNINGS["small"])
    low = has_fast_bfloat16(torch.device("cpu"))
    todo = list(make_curriculum(pairs, kept, options.epochs, rng))
    recipe = Recipe(rate=options.rate, floor=0.02, seed=options.seed, most_batches=options.batches)
    descend(
        model, steps, todo, lambda batch: compute_loss(model, before, batch, low), recipe, options.out / "checkpoint.pt",
        torch.device("cpu"),
    )  # fmt: skip
    card = {name: value for name, value in read_card(SMALL_READER).items() if name != "sha256"}
    export(model, "logits", options.out / "reader", SMALL_READER / "tokenizer.json", card)


if __name__ == "__main__":
    sys.exit(main())

"""The reader's batches and its loss; `retrieval.training.loop.descend` takes the steps."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from nli.reader.encode import DocumentTokenizer, EncodedDocument
from nli.training.pairs import LABELS, NEUTRAL
from nli.training.reader.encoder import ReaderEncoder
from nli.training.reader.lesson import Lesson

TOKENS = 2048
"""The most tokens of a batch, padding included."""
WINDOW = 320
"""The number of papers within which those of similar length are grouped."""
SHORTEST, LONGEST = 120, 256
"""The range of tokens to which a lesson is cut, drawn anew for each paper: the reader must cope with any part of an abstract."""
UNGUIDED = 0.65
"""The share of papers that are cut as the service cuts them, to at least `SERVED` tokens, without priority for the evidence."""
SERVED = 200
SENTENCES = 0.5
"""The weight of the sentences' loss relative to the document's."""
UNMARKED, NOTHING = 0.3, 0.5
"""The weight of a sentence not marked as evidence, and of one in a document that takes no side on the claim."""
SMOOTHING = 0.03


@dataclass(frozen=True, slots=True)
class LessonExample:
    """A lesson laid out as tokens: `labels` and `counts` [sentences], -1 where a sentence is not read or not labelled; `shares`
    [labels], the probabilities to learn."""

    document: EncodedDocument
    label: int
    labels: np.ndarray
    counts: np.ndarray
    lean: float
    shares: tuple[float, ...]


def make_example(lesson: Lesson, tokenize: DocumentTokenizer, room: int, guided: bool = True) -> LessonExample:
    """The lesson cut to `room` tokens: with priority for its evidence if `guided`, else as the service cuts it.

    Where none of the evidence is left, what is read takes no side.
    """
    must = lesson.evidence or () if guided else ()
    document = tokenize(lesson.claim, lesson.title, lesson.sentences, must, room)
    if lesson.evidence and (document.ends[list(lesson.evidence)] < 0).all():
        lesson = replace(lesson, label=NEUTRAL, evidence=(), lean=0.0, shares=None)
    labels = np.full(len(lesson.sentences), -1 if lesson.evidence is None else NEUTRAL)
    counts = np.full(len(labels), NOTHING if lesson.label == NEUTRAL else UNMARKED)
    for place in lesson.evidence or ():
        labels[place], counts[place] = lesson.label, 1.0
    labels[document.ends < 0] = -1
    smooth = [SMOOTHING / len(LABELS) + (1 - SMOOTHING) * (place == lesson.label) for place in range(len(LABELS))]
    return LessonExample(document, lesson.label, labels, counts, lesson.lean, lesson.shares or tuple(smooth))


def make_batches(lessons: Sequence[Lesson], tokenize: DocumentTokenizer, rng: random.Random) -> list[list[LessonExample]]:
    """Batches of at most `TOKENS` tokens, in random order; texts of similar length and a paper's lessons are kept together."""
    papers: dict[str, list[Lesson]] = defaultdict(list)
    for number, lesson in enumerate(lessons):
        papers[lesson.group or str(number)].append(lesson)
    units = []
    for group in papers.values():
        guided = rng.random() >= UNGUIDED
        room = rng.randint(SHORTEST if guided else SERVED, LONGEST)
        units.append([make_example(lesson, tokenize, room, guided) for lesson in group])
    rng.shuffle(units)
    batches: list[list[LessonExample]] = []
    for start in range(0, len(units), WINDOW):
        window = sorted(units[start : start + WINDOW], key=_measure_length)
        batch: list[LessonExample] = []
        for unit in window:
            if batch and _measure_length(unit) * (len(batch) + len(unit)) > TOKENS:
                batches.append(batch)
                batch = []
            batch = batch + unit
        batches.append(batch)
    rng.shuffle(batches)
    return batches


def _measure_length(unit: Sequence[LessonExample]) -> int:
    return max(len(one.document.ids) for one in unit)


def compute_loss(model: ReaderEncoder, batch: Sequence[LessonExample], device: torch.device, low: bool) -> Tensor:
    """The document's cross-entropy, with the claim's own lean added to its logits, plus the sentences' cross-entropy."""
    longest = _measure_length(batch)
    ids, mask, types = (torch.zeros(len(batch), longest, dtype=torch.int64) for _ in range(3))
    rows, places, labels, counts = [], [], [], []
    for row, one in enumerate(batch):
        length = len(one.document.ids)
        ids[row, :length] = torch.from_numpy(one.document.ids)
        types[row, :length] = torch.from_numpy(one.document.types)
        mask[row, :length] = 1
        for place in np.flatnonzero(one.labels >= 0):
            rows.append(row)
            places.append(int(one.document.ends[place]))
            labels.append(int(one.labels[place]))
            counts.append(float(one.counts[place]) / max(1.0, float(one.counts[one.labels >= 0].sum())))
    with torch.autocast(device.type, torch.bfloat16, enabled=low):
        logits = model(ids.to(device), mask.to(device), types.to(device))
    logits = logits.float()
    lean = torch.tensor([one.lean for one in batch], device=device)
    scores = functional.log_softmax(logits[:, 0], -1) + torch.stack([lean / 2, torch.zeros_like(lean), -lean / 2], 1)
    loss = functional.cross_entropy(scores, torch.tensor([one.shares for one in batch], device=device))
    if rows:
        each = functional.cross_entropy(logits[rows, places], torch.tensor(labels, device=device), reduction="none")
        loss = loss + SENTENCES * (each * torch.tensor(counts, device=device)).sum() / len(batch)
    assert logits.shape[-1] == len(LABELS)
    return loss

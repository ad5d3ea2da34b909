"""What the reader learns from: a claim, a document, what the document says about the claim, and what the claim alone gives away.

The log odds of a bag-of-words model of claims are added to the reader's own in training and left out afterwards (a product of
experts: Clark, Yatskar and Zettlemoyer 2019, arXiv 1909.03683), so that it gains nothing by learning how false claims are worded.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline

from counterpoint.nli.reader.encode import DocumentTokenizer, EncodedDocument
from counterpoint.retrieval.runtime.engine import batch_by_length

LABELS = ("support", "neutral", "contradict")
SUPPORT, NEUTRAL, CONTRADICT = range(3)
UNLABELLED = -1
"""The label of a document that only a teacher judges."""
WINDOW = 6000
"""The number of papers within which those of similar length are grouped."""
SHORTEST, LONGEST = 120, 256
"""The range of tokens to which a lesson is cut, drawn anew for each paper: the reader must cope with any part of an abstract."""
UNGUIDED = 0.65
"""The share of papers that are cut as the service cuts them, to at least `SERVED` tokens, without priority for the evidence."""
SERVED = 200
TAUGHT = (128, LONGEST)
"""The lengths of what only a teacher judges, equally frequent."""
TWICE = frozenset({"searches", "scifact"})
"""Sources that are read twice, each time cut anew: the nearest to what the service reads."""
UNMARKED, NOTHING = 0.3, 0.5
"""The weight of a sentence not marked as evidence, and of one in a document that takes no side on the claim."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A claim, a document's sentences and the label. `evidence` are the places of the evidence sentences, None where nobody
    marked them; `group` names the paper, whose lessons are in one batch; `lean` is the log odds of support over contradiction
    that the claim's words alone give away; `pair` is the same for two claims of a group of which exactly one can be true."""

    claim: str
    title: str
    sentences: tuple[str, ...]
    label: int
    evidence: tuple[int, ...] | None
    source: str
    group: str = ""
    lean: float = 0.0
    pair: str = ""


def make_short(claim: str, text: str, title: str, label: int, source: str) -> Lesson:
    """A short text as a document of one sentence."""
    return Lesson(claim, title, (text,), label, () if label == NEUTRAL else (0,), source)


@dataclass(frozen=True, slots=True)
class LessonExample:
    """A lesson laid out as tokens: `labels` and `counts` [sentences], -1 where a sentence is not read or not labelled."""

    document: EncodedDocument
    label: int
    labels: np.ndarray
    counts: np.ndarray
    lean: float
    pair: str = ""


def make_example(lesson: Lesson, tokenize: DocumentTokenizer, room: int, guided: bool = True) -> LessonExample:
    """The lesson cut to `room` tokens: with priority for its evidence if `guided`, else as the service cuts it.

    Where none of the evidence is left, what is read takes no side.
    """
    must = lesson.evidence or () if guided else ()
    document = tokenize(lesson.claim, lesson.title, lesson.sentences, must, room)
    if lesson.evidence and (document.ends[list(lesson.evidence)] < 0).all():
        lesson = replace(lesson, label=NEUTRAL, evidence=(), lean=0.0, pair="")
    labels = np.full(len(lesson.sentences), -1 if lesson.evidence is None else NEUTRAL)
    counts = np.full(len(labels), NOTHING if lesson.label == NEUTRAL else UNMARKED, dtype=np.float32)
    for place in lesson.evidence or ():
        labels[place], counts[place] = lesson.label, 1.0
    labels[document.ends < 0] = -1
    return LessonExample(document, lesson.label, labels, counts, lesson.lean, lesson.pair)


def make_batches(
    lessons: Sequence[Lesson], tokenize: DocumentTokenizer, tokens: int, rng: random.Random
) -> list[list[LessonExample]]:
    """Batches of at most `tokens` tokens, padding included, in random order; texts of similar length and a paper's lessons are
    kept together."""
    papers: dict[str, list[Lesson]] = defaultdict(list)
    for number, lesson in enumerate(lessons):
        papers[lesson.group or str(number)].append(lesson)
    units = []
    for group in papers.values():
        for _ in range(2 if group[0].source in TWICE else 1):
            guided = group[0].label != UNLABELLED and rng.random() >= UNGUIDED
            room = rng.choice(TAUGHT) if group[0].label == UNLABELLED else rng.randint(SHORTEST if guided else SERVED, LONGEST)
            units.append([make_example(lesson, tokenize, room, guided) for lesson in group])
    rng.shuffle(units)
    batches: list[list[LessonExample]] = []
    for start in range(0, len(units), WINDOW):
        some = units[start : start + WINDOW]
        places = batch_by_length([measure_length(unit) for unit in some], tokens, sizes=[len(unit) for unit in some])
        batches += [[one for place in batch for one in some[place]] for batch in places]
    rng.shuffle(batches)
    return batches


def measure_length(unit: Sequence[LessonExample]) -> int:
    """The tokens of the longest example."""
    return max(len(one.document.ids) for one in unit)


def make_bag_of_words() -> Pipeline:
    """The untrained model: words and pairs of words, weighted by rarity."""
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    return make_pipeline(words, LogisticRegression(C=3.0, max_iter=500))


def fit_claim_only(true: Sequence[str], false: Sequence[str]) -> Pipeline:
    """The model trained on these claims; a score above 0 means that it takes the claim to be true."""
    return make_bag_of_words().fit([*true, *false], [1] * len(true) + [0] * len(false))


def measure_leans(true: Sequence[str], false: Sequence[str]) -> dict[str, float]:
    """For each claim, the log odds of true over false from its words, by a model that saw neither claim of its paper."""
    texts, labels = [*true, *false], np.array([1] * len(true) + [0] * len(false))
    papers = np.array([*range(len(true)), *range(len(false))])
    shares = cross_val_predict(make_bag_of_words(), texts, labels, groups=papers, cv=GroupKFold(5), method="predict_proba")[:, 1]
    return dict(zip(texts, np.log(shares / (1 - shares)).tolist(), strict=True))

"""What the reader learns from: a claim, a document, what the document says about the claim, and what the claim alone gives away.

The log odds of a bag-of-words model of claims are added to the reader's own in training and left out afterwards (a product of
experts: Clark, Yatskar and Zettlemoyer 2019, arXiv 1909.03683), so that it gains nothing by learning how false claims are worded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline


@dataclass(frozen=True, slots=True)
class Lesson:
    """A claim, a document's sentences and the label. `evidence` are the places of the evidence sentences, None where nobody
    marked them; `group` names the paper, whose lessons are in one batch; `lean` is the log odds of support over contradiction
    that the claim's words alone give away; `shares` are the probabilities of the labels where a teacher gave them, and `label` is
    then the most probable one."""

    claim: str
    title: str
    sentences: tuple[str, ...]
    label: int
    evidence: tuple[int, ...] | None
    source: str
    group: str = ""
    lean: float = 0.0
    shares: tuple[float, float, float] | None = None


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

"""What a claim's words alone give away: a bag-of-words model that separates true from false claims without reading any paper.

Its log odds are added to the reader's own in training and left out afterwards (a product of experts: Clark, Yatskar and
Zettlemoyer 2019, arXiv 1909.03683), so that the reader gains nothing by learning how false claims are worded.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline


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

"""A claim-only baseline: how far the wording of the claims alone, without any paper, gives their stance away.

Where claims of one stance are worded differently from those of the other (more of them negated, say), a system that looks at
nothing else seems to understand papers. Only the pairs on which such a baseline fails show whether a system does (Gururangan et
al. 2018, arXiv 1803.02324).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.claims.reading import PaperClaim
from eval.scifact.observing import STANCES
from retrieval.core.errors import BadInput


@dataclass(frozen=True, slots=True)
class ClaimOnly:
    """The baseline's probability of "support" for each claim measured, in order; the name of the training file, how many of its
    claims were used, and how many were left out because they are about a paper that is measured."""

    file: str
    support: tuple[float, ...]
    trained_on: int
    left_out: int


def claim_only(train: Sequence[PaperClaim], claims: Sequence[PaperClaim], path: Path) -> ClaimOnly:
    """Logistic regression over TF-IDF of the words and word pairs in the claims of `train`, read from `path`."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    papers = {one.pmid for one in claims}
    examples = [one for one in train if one.pmid not in papers and one.stance != "neutral"]
    for stance in STANCES:
        if not any(one.stance == stance for one in examples):
            raise BadInput(
                f"{path} has no claim with the stance {stance} about a paper outside the measured set; expected claims of both "
                "stances about other papers."
            )
    # Keep one-letter words ("vitamin D"), and also "no" and "not".
    words = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\b\w+\b", sublinear_tf=True)
    model = make_pipeline(words, LogisticRegression(max_iter=1000))
    try:
        model.fit([one.claim for one in examples], [one.stance for one in examples])
    except ValueError as error:
        raise BadInput(
            f"No classifier can be trained on the claims of {path} ({error}); expected claims made of words."
        ) from None
    place = list(model.classes_).index("support")
    chances = model.predict_proba([one.claim for one in claims])[:, place]
    return ClaimOnly(path.name, tuple(float(one) for one in chances), len(examples), sum(one.pmid in papers for one in train))

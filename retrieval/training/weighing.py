"""The weights of the parts of the relevance score, fitted on claims that training left away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from tqdm import tqdm

from counterpoint.retrieval.core.values import Document
from counterpoint.retrieval.rerank.embedded import EmbeddedReranker
from counterpoint.retrieval.rerank.reranker import make_passage
from counterpoint.retrieval.training.bm25 import TextIndex
from counterpoint.retrieval.training.data import read_rows
from counterpoint.retrieval.training.folds import is_fitted_on, is_held_out


@dataclass(frozen=True, slots=True)
class RankedClaim:
    """One claim: what BM25 found and the parts of the reranker's score, [found, 3]; documents by index."""

    relevant: frozenset[int]
    found: list[int]
    parts: np.ndarray


def rank_scifact(data: Path, reranker: EmbeddedReranker, depth: int) -> list[RankedClaim]:
    """BM25's best `depth` for each held-out claim of the train split, with the parts of their scores. A claim's cited documents
    are relevant."""
    corpus = list(read_rows(data, "scifact/corpus.jsonl.gz"))
    place = {int(document["doc_id"]): index for index, document in enumerate(corpus)}
    texts = [make_passage(Document("", document["title"], " ".join(document["abstract"]))) for document in corpus]
    claims = [
        (claim["claim"], frozenset(place[int(doc)] for doc in claim["cited_doc_ids"] if int(doc) in place))
        for claim in read_rows(data, "scifact/claims_train.jsonl.gz")
        if is_held_out(claim["claim"])
    ]
    return _rank(texts, claims, reranker, depth, "SciFact")


def rank_ordinary(data: Path, reranker: EmbeddedReranker, depth: int) -> list[RankedClaim]:
    """The same for the ordinary claims of dev's papers to fit on: a claim's own paper is relevant, of all those of PubMed."""
    records = list(read_rows(data, "pubmed/abstracts.jsonl.gz"))
    place = {str(record["pmid"]): index for index, record in enumerate(records)}
    texts = [make_passage(Document("", record["title"] or "", " ".join(record["abstract"]))) for record in records]
    claims = [
        (paper[side], frozenset({place[str(paper["pmid"])]}))
        for paper in read_rows(data, "stance/ordinary.jsonl.gz")
        if paper["split"] == "dev" and is_fitted_on(str(paper["pmid"]))
        for side in ("true", "false")
    ]
    return _rank(texts, claims, reranker, depth, "ordinary dev")


def _rank(
    texts: Sequence[str], claims: Sequence[tuple[str, frozenset[int]]], reranker: EmbeddedReranker, depth: int, name: str
) -> list[RankedClaim]:
    index = TextIndex(texts)
    ranked: list[RankedClaim] = []
    for claim, relevant in tqdm(claims, desc=name):
        top = index.top(claim, depth)
        ranked.append(RankedClaim(relevant, top, reranker.parts(claim, [texts[i] for i in top])))
    return ranked


def fit_weights(claims: Sequence[RankedClaim], pull: float = 1e-3) -> np.ndarray:
    """[3]: weights that put relevant texts above the others of their claim (logistic loss on differences, RankNet's).

    Burges et al. 2005 (doi:10.1145/1102351.1102363).
    """
    rights = [np.array([document in claim.relevant for document in claim.found], dtype=bool) for claim in claims]
    differences = np.vstack(
        [one - claim.parts[~right] for claim, right in zip(claims, rights, strict=True) for one in claim.parts[right]]
    )
    spread = np.maximum(differences.std(axis=0), 1e-9)
    ratios = differences / spread
    # Each difference stands for its opposite too: the classifier needs both sides.
    model = LogisticRegression(C=1 / (2 * pull * len(ratios)), fit_intercept=False)
    model.fit(np.vstack([ratios, -ratios]), np.repeat([1, 0], len(ratios)))
    return np.asarray(model.coef_[0] / spread)

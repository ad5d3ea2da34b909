"""nDCG@10 of BM25 and of the reranker over it on SciFact: `python -m retrieval.training.evaluate --data DIR`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

from retrieval.core.errors import CounterpointError
from retrieval.core.values import Document
from retrieval.rerank.embedded import RELEVANCE_MODEL, EmbeddedReranker
from retrieval.rerank.reranker import make_passage
from retrieval.training.bm25 import TextIndex
from retrieval.training.data import read_rows
from retrieval.training.folds import is_fitted_on
from retrieval.training.measure import bootstrap_interval, ndcg


@dataclass(frozen=True, slots=True)
class RankedClaim:
    """One claim: what BM25 found and the parts of the reranker's score, [found, 3]; documents by index."""

    relevant: frozenset[int]
    found: list[int]
    parts: np.ndarray


def rank_scifact(
    data: Path, split: str, reranker: EmbeddedReranker, depth: int, condition: Callable[[str], bool] = lambda _: True
) -> list[RankedClaim]:
    """BM25's best `depth` for each claim of a split, with the parts of their scores. A claim's cited documents are relevant."""
    corpus = list(read_rows(data, "scifact/corpus.jsonl.gz"))
    place = {int(document["doc_id"]): index for index, document in enumerate(corpus)}
    texts = [make_passage(Document("", document["title"], " ".join(document["abstract"]))) for document in corpus]
    claims = [
        (claim["claim"], frozenset(place[int(doc)] for doc in claim["cited_doc_ids"] if int(doc) in place))
        for claim in read_rows(data, f"scifact/claims_{split}.jsonl.gz")
        if condition(claim["claim"])
    ]
    return _rank(texts, claims, reranker, depth, f"SciFact {split}")


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


def compute_mean_ndcg(claims: Sequence[RankedClaim], weights: np.ndarray | None) -> float:
    """nDCG@10 (0 to 1) of the ranking by the weighted parts, `weights` [parts], or of BM25's own if there are no weights."""
    return float(np.mean([
        ndcg(c.found if weights is None else [c.found[i] for i in np.argsort(-(c.parts @ weights), kind="stable")], c.relevant)
        for c in claims
    ]))  # fmt: skip


def fit_weights(queries: Sequence[tuple[np.ndarray, np.ndarray]], pull: float = 1e-3, rounds: int = 400) -> np.ndarray:
    """[3]: weights that put relevant texts above the others of their query (logistic loss on differences, RankNet's).

    `queries` are the parts [texts, 3] of each and which texts are relevant [texts]. Burges et al. 2005
    (doi:10.1145/1102351.1102363).
    """
    differences = np.vstack([one - parts[~right] for parts, right in queries for one in parts[right]])
    spread = np.maximum(differences.std(axis=0), 1e-9)
    ratios, weights = differences / spread, np.zeros(differences.shape[1])
    for _ in range(rounds):
        gradient = -(ratios / (1 + np.exp(ratios @ weights))[:, None]).mean(axis=0) + pull * weights
        weights -= 2.0 * gradient
    return np.asarray(weights / spread)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print nDCG@10 on SciFact dev."""
    parser = argparse.ArgumentParser(
        prog="python -m retrieval.training.evaluate", description="Measure nDCG@10 of BM25 and of the reranker on SciFact dev."
    )
    parser.add_argument("--data", type=Path, required=True, help="the folder with the data sets")
    parser.add_argument("--model", type=Path, default=RELEVANCE_MODEL, help="the folder of the model (default: the shipped one)")
    parser.add_argument("--depth", type=int, default=100, help="how many of BM25's best documents are reranked")
    options = parser.parse_args(arguments)
    try:
        reranker = EmbeddedReranker(options.model, remembered_mb=600)
        claims = rank_scifact(options.data, "dev", reranker, options.depth)
    except CounterpointError as error:
        print(error, file=sys.stderr)
        return 2
    for name, weights in (("BM25", None), (reranker.name, reranker.weights)):
        value, low, high = bootstrap_interval(lambda c, w=weights: compute_mean_ndcg(c, w), claims)  # type: ignore[misc]
        print(f"{name:32s} nDCG@10 {value:.4f}  95 % {low:.4f} to {high:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

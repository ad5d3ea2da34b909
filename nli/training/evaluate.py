"""Figures of the shipped stance model on dev splits: `python -m nli.training.evaluate --data DIR`.

Retrieval is BM25 over SciFact's 5,183 abstracts, as the hard negatives use it, then the shipped reranker. A document's
probability of a stance is the highest among its sentences; it is called for the stance whose probability exceeds that stance's
threshold by more, or for none. In open retrieval a document that the reranker puts behind the best one is trusted less.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from nli.embedded import LABELS, STANCE_MODEL, EmbeddedJudge
from nli.training.labelled import HELD_OUT, NAMES, clean, fold
from nli.training.pairs import CONTRADICT, NEUTRAL, SUPPORT
from retrieval.embedded import EmbeddedReranker
from retrieval.rerank import passage
from retrieval.training.bm25 import Bm25
from retrieval.training.command import told
from retrieval.training.data import rows
from retrieval.training.measure import balanced_accuracy, calibration_error, f1, interval, macro_f1
from retrieval.values import Document, Premise

DISCOUNT = 1.0
"""Probabilities are multiplied by exp(-DISCOUNT * gap), gap being how far the reranker's score lies behind the claim's best."""
DEPTH, RERANKED = 3, 20
"""Documents judged for each claim, and how many of BM25's best the reranker chooses them from."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One document judged for one claim: `gold` and `sentences` (gold label of each) are label indices, `gap` the distance
    of the reranker's score from the claim's best (infinite for what was not reranked)."""

    document: int
    rank: int
    bm25_rank: int
    gold: int
    evidence: bool
    cited: bool
    sentences: NDArray[np.int64]
    logits: NDArray[np.float32]
    gap: float


def logits_of(judge: EmbeddedJudge, claim: str, title: str, sentences: Sequence[str]) -> NDArray[np.float32]:
    """[sentences, 3], before calibration."""
    return judge.logits(clean(claim), [Premise(sentence, title) for sentence in sentences])


def judged_scifact(
    data: Path, name: str, judge: EmbeddedJudge, reranker: EmbeddedReranker, wanted: Callable[[dict[str, Any]], bool]
) -> list[list[Judged]]:
    """For each claim of SciFact's `name` split: the reranked best documents, and all that are gold or cited."""
    corpus = list(rows(data, "scifact/corpus.jsonl.gz"))
    ids = [int(document["doc_id"]) for document in corpus]
    place = {doc: index for index, doc in enumerate(ids)}
    texts = [passage(Document("", document["title"], " ".join(document["abstract"]))) for document in corpus]
    index = Bm25(texts)
    found: list[list[Judged]] = []
    for claim in tqdm([claim for claim in rows(data, f"scifact/claims_{name}.jsonl.gz") if wanted(claim)], desc=name):
        text = claim["claim"]
        bm25 = index.top(text, RERANKED)
        scores = np.array(reranker(text, [texts[i] for i in bm25]))
        ranked = [bm25[i] for i in np.argsort(-scores, kind="stable")]
        gold = {int(doc): entries for doc, entries in claim["evidence"].items()}
        cited = {int(doc) for doc in claim["cited_doc_ids"]} | set(gold)
        documents = [*ranked[:DEPTH], *(place[doc] for doc in cited if doc in place and place[doc] not in ranked[:DEPTH])]
        of_claim = []
        for i in documents:
            document, entries = corpus[i], gold.get(ids[i], [])
            labels = np.full(len(document["abstract"]), NEUTRAL)
            for entry in entries:
                labels[[s for s in entry["sentences"] if s < len(labels)]] = _label(entry["label"])
            of_claim.append(Judged(
                ids[i], ranked.index(i) if i in ranked else RERANKED, bm25.index(i) if i in bm25 else RERANKED,
                _label(entries[0]["label"]) if entries else NEUTRAL, bool(entries), ids[i] in cited, labels,
                logits_of(judge, text, document["title"], document["abstract"]),
                float(scores.max() - scores[bm25.index(i)]) if i in bm25 else math.inf,
            ))  # fmt: skip
        found.append(of_claim)
    return found


def _label(name: str) -> int:
    return CONTRADICT if name in ("REFUTE", "REFUTES", "CONTRADICT") else NAMES[name]


def stances(probabilities: NDArray[np.float64], thresholds: tuple[float, float], trust: float = 1.0) -> int:
    """The document's label from its sentences' probabilities [sentences, 3], each times `trust`."""
    best = probabilities.max(axis=0) * trust
    over = best[SUPPORT] - thresholds[0], best[CONTRADICT] - thresholds[1]
    if max(over) <= 0:
        return NEUTRAL
    return SUPPORT if over[0] >= over[1] else CONTRADICT


Probabilities = Callable[[NDArray[np.float32]], NDArray[np.float64]]


def label_only_f1(
    claims: Sequence[Sequence[Judged]], of: Probabilities, thresholds: tuple[float, float], label: int | None = None
) -> float:
    """Abstract-level label-only F1 over all documents judged in open retrieval; of one label where one is named."""
    right = predicted = gold = 0
    for claim in claims:
        for judged in claim:
            if judged.evidence and label in (None, judged.gold):
                gold += 1
            if judged.rank >= DEPTH:
                continue
            said = stances(of(judged.logits), thresholds, math.exp(-DISCOUNT * judged.gap))
            if said != NEUTRAL and label in (None, said):
                predicted += 1
                right += judged.evidence and judged.gold == said
    return f1(right, predicted, gold)


def polarity(claims: Sequence[Sequence[Judged]], of: Probabilities) -> float:
    """Balanced accuracy of support or contradict on gold documents among BM25's ten best."""
    gold, said = [], []
    for judged in (judged for claim in claims for judged in claim if judged.evidence and judged.bm25_rank < 10):
        best = of(judged.logits).max(axis=0)
        gold.append(judged.gold)
        said.append(SUPPORT if best[SUPPORT] >= best[CONTRADICT] else CONTRADICT)
    return balanced_accuracy(np.array(gold), np.array(said))


def gold_accuracy(claims: Sequence[Sequence[Judged]], of: Probabilities, thresholds: tuple[float, float]) -> float:
    """Accuracy over support, contradict and neither on the abstracts that the claims cite."""
    cited = [judged for claim in claims for judged in claim if judged.cited]
    return 100.0 * float(np.mean([stances(of(judged.logits), thresholds) == judged.gold for judged in cited]))


def sentence_error(claims: Sequence[Sequence[Judged]], of: Probabilities) -> float:
    """ECE of the most probable class over the sentences of cited abstracts."""
    cited = [judged for claim in claims for judged in claim if judged.cited]
    probabilities = np.vstack([of(judged.logits) for judged in cited])
    labels = np.concatenate([judged.sentences for judged in cited])
    return calibration_error(probabilities.max(axis=1), probabilities.argmax(axis=1) == labels)


Abstract = tuple[int, NDArray[np.float32]]
"""A gold label and the logits of the abstract's sentences [sentences, 3]."""


def abstracts(data: Path, dataset: str, split: str, judge: EmbeddedJudge) -> list[Abstract]:
    """Every row of a stance set, judged on its whole abstract: which sentence is the evidence is not given away."""
    chosen = [r for r in rows(data, "stance/pairs.jsonl.gz") if r["dataset"] == dataset and r["split"] == split]
    return [
        (NAMES[row["label"]], logits_of(judge, row["claim"], row["title"] or "", row["sentences"]))
        for row in tqdm(chosen, desc=f"{dataset} {split}")
    ]


def lay_f1(judged: Sequence[Abstract], of: Probabilities, thresholds: tuple[float, float]) -> float:
    """Macro-F1 over the three labels."""
    said = np.array([stances(of(logits), thresholds) for _, logits in judged])
    return macro_f1(np.array([gold for gold, _ in judged]), said, len(LABELS))


def held_out(claim: dict[str, Any]) -> bool:
    """Whether the claim belongs to the fold that training leaves away."""
    return fold(claim["claim"]) == HELD_OUT


def figures(claims: Sequence[Sequence[Judged]], of: Probabilities, decision: dict[str, list[float]]) -> Iterable[str]:
    """One line a measure, with its 95 % interval."""
    opened, given = _two(decision["open"]), _two(decision["given"])
    for name, measure in (
        ("abstract-level label-only F1", lambda c: label_only_f1(c, of, opened)),
        ("  of contradictions", lambda c: label_only_f1(c, of, opened, CONTRADICT)),
        ("  of supports", lambda c: label_only_f1(c, of, opened, SUPPORT)),
        ("polarity, balanced accuracy", lambda c: polarity(c, of)),
        ("gold abstract, accuracy", lambda c: gold_accuracy(c, of, given)),
        ("ECE of sentences", lambda c: sentence_error(c, of)),
    ):
        value, low, high = interval(measure, claims, 300)
        yield f"{name:32s} {value:7.3f}  95 % {low:.3f} to {high:.3f}"


def _two(values: Sequence[float]) -> tuple[float, float]:
    return float(values[0]), float(values[1])


@told
def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures on SciFact dev and HealthVer dev."""
    parser = argparse.ArgumentParser(
        prog="python -m nli.training.evaluate", description="Figures of the stance model on dev splits."
    )
    parser.add_argument("--data", type=Path, required=True, help="the data folder")
    parser.add_argument("--model", type=Path, default=STANCE_MODEL, help="the model folder")
    parser.add_argument("--healthver", action="store_true", help="HealthVer dev too")
    options = parser.parse_args(arguments)
    judge = EmbeddedJudge(options.model)
    reranker = EmbeddedReranker(kept=6000)
    claims = judged_scifact(options.data, "dev", judge, reranker, lambda _: True)
    decision = judge.card["decision"]
    for line in figures(claims, judge.calibration.probabilities, decision):
        print(line)
    if options.healthver:
        judged = abstracts(options.data, "healthver", "dev", judge)
        thresholds = _two(decision["lay"])
        value, low, high = interval(lambda some: lay_f1(some, judge.calibration.probabilities, thresholds), judged, 300)
        print(f"{'HealthVer dev, macro-F1':32s} {value:7.3f}  95 % {low:.3f} to {high:.3f}")


if __name__ == "__main__":
    sys.exit(main())

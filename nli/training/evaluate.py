"""Figures of the shipped stance model on dev splits: `python -m nli.training.evaluate --data DIR`.

Retrieval is BM25 in memory over SciFact's 5,183 abstracts, as for the hard negatives, then the shipped reranker; the figures of
the service itself come from `counterpoint eval scifact`. A document's label comes from its `Decision`.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from nli.decision.document import Decision, make_features
from nli.judges.embedded import LABELS, STANCE_MODEL, Calibration, EmbeddedJudge, read_decision
from nli.training.labelled import NAMES, clean_claim
from nli.training.pairs import CONTRADICT, NEUTRAL, SUPPORT
from retrieval.core.values import Document, Premise
from retrieval.rerank.embedded import EmbeddedReranker
from retrieval.rerank.reranker import make_passage
from retrieval.training.bm25 import TextIndex
from retrieval.training.command import return_exit_code
from retrieval.training.data import read_rows
from retrieval.training.measure import balanced_accuracy, bootstrap_interval, calibration_error, f1, macro_f1
from retrieval.words.terms import measure_aboutness

DEPTH, RERANKED = 5, 20
"""Documents judged for each claim, and how many of BM25's best the reranker chooses them from."""


@dataclass(frozen=True, slots=True)
class JudgedDocument:
    """One document judged for one claim: `gold` and `sentences` [sentences] (gold label of each) are label indices, `logits`
    [sentences, 3] are before calibration, `gap` is the distance of the reranker's score from the claim's best (infinite for what
    was not reranked), `about` the share of the claim's rare words that the document holds."""

    document: int
    rank: int
    bm25_rank: int
    gold: int
    evidence: bool
    cited: bool
    sentences: NDArray[np.int64]
    logits: NDArray[np.float32]
    gap: float
    about: float


def compute_logits(judge: EmbeddedJudge, claim: str, title: str, sentences: Sequence[str]) -> NDArray[np.float32]:
    """[sentences, 3], before calibration."""
    return judge.logits(clean_claim(claim), [Premise(sentence, title) for sentence in sentences])


class AbstractCollection:
    """SciFact's abstracts in memory, with BM25 and the reranker over them, and a judge to read them."""

    def __init__(self, data: Path, judge: EmbeddedJudge, reranker: EmbeddedReranker) -> None:
        self.corpus = list(read_rows(data, "scifact/corpus.jsonl.gz"))
        self.ids = [int(document["doc_id"]) for document in self.corpus]
        self.place = {doc: index for index, doc in enumerate(self.ids)}
        self._texts = [make_passage(Document("", document["title"], " ".join(document["abstract"]))) for document in self.corpus]
        self._index = TextIndex(self._texts)
        self._data, self._judge, self._reranker = data, judge, reranker

    def judge_split(self, name: str, test: Callable[[str], bool], away: bool = False) -> list[list[JudgedDocument]]:
        """For each claim of SciFact's `name` split: the best documents after reranking, and all that are gold or cited.

        `away` first takes the gold and cited documents out of the collection: those that are left should be neutral.
        """
        claims = [claim for claim in read_rows(self._data, f"scifact/claims_{name}.jsonl.gz") if test(claim["claim"])]
        return [self._judge_claim(claim, away) for claim in tqdm(claims, desc=f"{name} without its papers" if away else name)]

    def strangers(self, dataset: str, test: Callable[[str], bool], most: int) -> list[list[JudgedDocument]]:
        """The best documents for `most` claims of another set's train split, none of whose papers is in this collection."""
        pairs = read_rows(self._data, "stance/pairs.jsonl.gz")
        texts = {row["claim"] for row in pairs if row["dataset"] == dataset and row["split"] == "train" and test(row["claim"])}
        claims = sorted(texts, key=lambda claim: hashlib.sha256(claim.encode()).digest())
        return [self._read(claim, {}, set(), set()) for claim in tqdm(claims[:most], desc=f"{dataset} claims, strangers here")]

    def _judge_claim(self, claim: dict[str, Any], away: bool) -> list[JudgedDocument]:
        gold = {int(doc): entries for doc, entries in claim["evidence"].items()}
        cited_ids = {int(doc) for doc in claim["cited_doc_ids"]} | set(gold)
        if away:
            return self._read(claim["claim"], {}, set(), cited_ids)
        return self._read(claim["claim"], gold, cited_ids, set())

    def _read(
        self, claim: str, gold: dict[int, list[dict[str, Any]]], cited_ids: set[int], excluded_ids: set[int]
    ) -> list[JudgedDocument]:
        bm25 = [i for i in self._index.top(claim, RERANKED + len(excluded_ids)) if self.ids[i] not in excluded_ids][:RERANKED]
        scores = np.array(self._reranker(claim, [self._texts[i] for i in bm25]))
        ranking = [bm25[i] for i in np.argsort(-scores, kind="stable")]
        additions = [self.place[doc] for doc in sorted(cited_ids) if doc in self.place and self.place[doc] not in ranking[:DEPTH]]
        documents = []
        for i in [*ranking[:DEPTH], *additions]:
            document, entries = self.corpus[i], gold.get(self.ids[i], [])
            labels = np.full(len(document["abstract"]), NEUTRAL)
            for entry in entries:
                labels[[s for s in entry["sentences"] if s < len(labels)]] = _find_label(entry["label"])
            documents.append(JudgedDocument(
                self.ids[i], ranking.index(i) if i in ranking else RERANKED, bm25.index(i) if i in bm25 else RERANKED,
                _find_label(entries[0]["label"]) if entries else NEUTRAL, bool(entries), self.ids[i] in cited_ids, labels,
                compute_logits(self._judge, claim, document["title"], document["abstract"]),
                float(scores.max() - scores[bm25.index(i)]) if i in bm25 else math.inf, measure_aboutness(claim, self._texts[i]),
            ))  # fmt: skip
        return documents


def _find_label(name: str) -> int:
    return CONTRADICT if name in ("REFUTE", "REFUTES", "CONTRADICT") else NAMES[name]


@dataclass(frozen=True, slots=True)
class DecisionReader:
    """Turns the logits of a document's sentences into features, probabilities and a label."""

    calibration: Calibration
    decision: Decision

    def features(self, logits: NDArray[np.float32], gap: float = 0.0, about: float = 0.0) -> NDArray[np.float64]:
        """[6], as the decision reads them, from `logits` [sentences, 3]."""
        return make_features(compute_odds(self.calibration, logits), gap, about)

    def probabilities(self, logits: NDArray[np.float32], gap: float = 0.0, about: float = 0.0) -> NDArray[np.float64]:
        """[3] of the document, from `logits` [sentences, 3]."""
        shares: NDArray[np.float64] = self.decision.probabilities(self.features(logits, gap, about)[None, :])[0]
        return shares

    def label(self, logits: NDArray[np.float32], gap: float = 0.0, about: float = 0.0) -> int:
        """The document's label index, from `logits` [sentences, 3]."""
        support, _, contradict = self.probabilities(logits, gap, about)
        return LABELS.index(self.decision.label(support, contradict))


def compute_odds(calibration: Calibration, logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """[sentences, 2]: log odds of support and contradict against neutral, as in `nli.decision.document.compute_margins`."""
    shares = np.log(np.maximum(calibration.probabilities(logits), 1e-9))
    odds: NDArray[np.float64] = np.clip(shares[:, [SUPPORT, CONTRADICT]] - shares[:, [NEUTRAL]], -8.0, 8.0)
    return odds


Claims = Sequence[Sequence[JudgedDocument]]


def choose_opened(claims: Claims) -> list[JudgedDocument]:
    """The documents that open retrieval judges."""
    return [document for claim in claims for document in claim if document.rank < DEPTH]


def compute_label_only_f1(
    claims: Claims, reader: DecisionReader, label: int | None = None, beside: Sequence[JudgedDocument] = (), worth: float = 1.0
) -> float:
    """Abstract-level label-only F1 over all documents judged in open retrieval; for one label only where `label` names it.

    No document in `beside` has a stance: giving it one counts as `worth` of a wrong prediction.
    """
    hits, predictions = 0, worth * sum(reader.label(one.logits, one.gap, one.about) != NEUTRAL for one in beside)
    gold = sum(j.evidence and label in (None, j.gold) for claim in claims for j in claim)
    for document in choose_opened(claims):
        prediction = reader.label(document.logits, document.gap, document.about)
        if prediction != NEUTRAL and label in (None, prediction):
            predictions += 1
            hits += document.evidence and document.gold == prediction
    return f1(hits, predictions, gold)


def measure_polarity(claims: Claims, reader: DecisionReader) -> float:
    """Balanced accuracy of support against contradict on gold documents among BM25's ten best."""
    gold, predictions = [], []
    for document in (document for claim in claims for document in claim if document.evidence and document.bm25_rank < 10):
        support, _, contradict = reader.probabilities(document.logits)
        gold.append(document.gold)
        predictions.append(SUPPORT if support >= contradict else CONTRADICT)
    return balanced_accuracy(np.array(gold), np.array(predictions))


def measure_gold_accuracy(claims: Claims, reader: DecisionReader) -> float:
    """Accuracy over support, contradict and neither on the abstracts that the claims cite."""
    documents = [document for claim in claims for document in claim if document.cited]
    return 100.0 * float(np.mean([reader.label(document.logits) == document.gold for document in documents]))


def measure_sentence_error(claims: Claims, calibration: Calibration) -> float:
    """ECE of the most probable class over the sentences of cited abstracts."""
    documents = [document for claim in claims for document in claim if document.cited]
    probabilities = np.vstack([calibration.probabilities(document.logits) for document in documents])
    labels = np.concatenate([document.sentences for document in documents])
    return calibration_error(probabilities.max(axis=1), probabilities.argmax(axis=1) == labels)


def measure_document_error(claims: Claims, reader: DecisionReader) -> float:
    """ECE of the most probable class over the documents that open retrieval judges."""
    documents = choose_opened(claims)
    probabilities = np.vstack([reader.probabilities(one.logits, one.gap, one.about) for one in documents])
    return calibration_error(probabilities.max(axis=1), probabilities.argmax(axis=1) == np.array([one.gold for one in documents]))


Abstract = tuple[int, NDArray[np.float32]]
"""A gold label and the logits of the abstract's sentences [sentences, 3]."""


def judge_abstracts(
    data: Path, dataset: str, split: str, judge: EmbeddedJudge, test: Callable[[str], bool] = lambda _: True
) -> list[Abstract]:
    """Every row of a stance set, judged on its whole abstract: the judge does not know which sentence is the evidence."""
    rows = [
        r
        for r in read_rows(data, "stance/pairs.jsonl.gz")
        if r["dataset"] == dataset and r["split"] == split and test(r["claim"])
    ]
    return [
        (NAMES[row["label"]], compute_logits(judge, row["claim"], row["title"] or "", row["sentences"]))
        for row in tqdm(rows, desc=f"{dataset} {split}")
    ]


def compute_lay_f1(abstracts: Sequence[Abstract], reader: DecisionReader) -> float:
    """Macro-F1 over the three labels, in per cent."""
    predictions = np.array([reader.label(logits) for _, logits in abstracts])
    return macro_f1(np.array([gold for gold, _ in abstracts]), predictions, len(LABELS))


def list_figures(claims: Claims, calibration: Calibration, open_decision: Decision, given_decision: Decision) -> Iterable[str]:
    """One line per measure, with its 95 % interval."""
    open_reader, given_reader = DecisionReader(calibration, open_decision), DecisionReader(calibration, given_decision)
    for name, measure in (
        ("abstract-level label-only F1", lambda c: compute_label_only_f1(c, open_reader)),
        ("  of contradictions", lambda c: compute_label_only_f1(c, open_reader, CONTRADICT)),
        ("  of supports", lambda c: compute_label_only_f1(c, open_reader, SUPPORT)),
        ("polarity, balanced accuracy", lambda c: measure_polarity(c, given_reader)),
        ("gold abstract, accuracy", lambda c: measure_gold_accuracy(c, given_reader)),
        ("ECE of sentences", lambda c: measure_sentence_error(c, calibration)),
        ("ECE of documents", lambda c: measure_document_error(c, open_reader)),
    ):
        value, low, high = bootstrap_interval(measure, claims, 300)
        yield f"{name:32s} {value:7.3f}  95 % {low:.3f} to {high:.3f}"


@return_exit_code
def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures on SciFact dev and HealthVer dev."""
    parser = argparse.ArgumentParser(
        prog="python -m nli.training.evaluate", description="Evaluate the stance model on dev splits."
    )
    parser.add_argument("--data", type=Path, required=True, help="the folder with the data sets")
    parser.add_argument("--model", type=Path, default=STANCE_MODEL, help="the folder of the model (default: the shipped one)")
    parser.add_argument("--healthver", action="store_true", help="also evaluate on HealthVer dev")
    options = parser.parse_args(arguments)
    judge = EmbeddedJudge(options.model)
    claims = AbstractCollection(options.data, judge, EmbeddedReranker(remembered_mb=600)).judge_split("dev", lambda _: True)
    for line in list_figures(claims, judge.calibration, judge.decision, read_decision(judge.card, "given")):
        print(line)
    if options.healthver:
        reader = DecisionReader(judge.calibration, read_decision(judge.card, "lay"))
        value, low, high = bootstrap_interval(
            lambda some: compute_lay_f1(some, reader), judge_abstracts(options.data, "healthver", "dev", judge), 300
        )
        print(f"{'HealthVer dev, macro-F1':32s} {value:7.3f}  95 % {low:.3f} to {high:.3f}")


if __name__ == "__main__":
    sys.exit(main())

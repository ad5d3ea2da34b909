"""Export the trained reader, calibrate it and fit its decision: `python -m nli.training.reader.fit --data DIR --out DIR`.

Everything is fitted on claims held out of training: the held-out folds of SciFact and HealthVer train, and half of the papers of
ordinary's dev split. Figures on the other half and on SciFact dev come from `nli.training.reader.evaluate`.
"""

from __future__ import annotations

import argparse
import json
import pickle
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nli.decision.document import PLAIN, Decision
from nli.judges.embedded import Calibration
from nli.judges.judge import Abstract
from nli.reader.decision import is_at_odds, make_marks
from nli.reader.judge import DocumentReader, make_reading
from nli.training import calibrate, decide
from nli.training.pairs import CONTRADICT, LABELS, NEUTRAL, SUPPORT
from nli.training.reader import cases
from nli.training.reader.cases import Given, PaperCollection, ReaderCase
from nli.training.reader.encoder import ReaderEncoder
from nli.training.reader.examples import SEARCHES
from nli.training.reader.train import load_start, make_tokenizer
from retrieval.core.code_hash import hash_code
from retrieval.rerank.embedded import EmbeddedReranker
from retrieval.store.journal import Origin, hash_file
from retrieval.store.manifest import write_atomically
from retrieval.training.command import return_exit_code
from retrieval.training.export import export
from retrieval.training.folds import is_held_out
from retrieval.training.measure import f1, macro_f1

MAX_TOKENS = 256
AWAY, ORDINARY, SEARCHED = 0.25, 0.3, 0.5
"""The weights, relative to SciFact's documents, of documents for claims whose papers are not in the collection, of ordinary
claims with their own paper, and of the papers of our own searches."""
THRESHOLD = 0.5
"""The probability above which a paper is listed for a side (docs/experiments.md shows the effect of other thresholds)."""
EVEN = Calibration(1.0, (0.0, 0.0, 0.0))


def fit_calibrations(abstracts: Sequence[Given], singles: Sequence[tuple[int, NDArray[np.float32]]]) -> dict[str, Calibration]:
    """The calibration of documents, of their sentences and of sentences read alone (`singles`: gold label, logits [1 + 1, 3])."""
    sentences = [(labels, logits[1:]) for _, labels, logits in abstracts]
    masks = [(labels >= 0) & ~np.isnan(rows[:, 0]) for labels, rows in sentences]
    pairs = [(labels[some], rows[some]) for (labels, rows), some in zip(sentences, masks, strict=True)]
    return {
        "document": calibrate.fit_calibration(
            np.vstack([logits[:1] for _, _, logits in abstracts]), np.array([gold for gold, _, _ in abstracts])
        ),
        "sentence": calibrate.fit_calibration(
            np.vstack([rows for _, rows in pairs]), np.concatenate([labels for labels, _ in pairs])
        ),
        "alone": calibrate.fit_calibration(np.vstack([rows[:1] for _, rows in singles]), np.array([gold for gold, _ in singles])),
    }


def make_features(
    calibration: dict[str, Calibration], logits: NDArray[np.float32], gap: float = 0.0, about: float = 0.0
) -> NDArray[np.float64]:
    """[6], as the decision reads them."""
    return make_marks(make_reading(calibration, logits), gap, about)


def decide_label(decision: Decision, features: NDArray[np.float64]) -> int:
    """The label index for `features` [6], by the decision and the rule about sentences at odds with it."""
    support, _, contradict = decision.probabilities(features[None])[0].tolist()
    label = decision.label(support, contradict)
    return NEUTRAL if is_at_odds(label, features) else LABELS.index(label)


def compute_scifact_f1(
    claims: Sequence[Sequence[ReaderCase]], features: Callable[[ReaderCase], NDArray[np.float64]], decision: Decision,
    label: int | None = None,
) -> float:  # fmt: skip
    """Abstract-level label-only F1 of open retrieval, in per cent, of all stances or one `label`; `features` gives them [6]."""
    hits = predictions = 0
    gold = sum(one.named and label in (None, one.gold) for claim in claims for one in claim)
    for one in (one for claim in claims for one in claim if one.open):
        prediction = decide_label(decision, features(one))
        if prediction != NEUTRAL and label in (None, prediction):
            predictions += 1
            hits += one.named and one.gold == prediction
    return f1(hits, predictions, gold)


@dataclass(frozen=True, slots=True)
class ReaderReadings:
    """The reader's output for claims held out of training: `claims` of SciFact, each with all that was read for it; `away`,
    claims whose papers are not in the collection; `own`, ordinary claims with their own paper; `searched`, the papers of our own
    searches; `verdicts`, HealthVer's abstracts; `alone`, sentences read without their abstract, as gold label and logits
    [1 + 1, 3]."""

    claims: list[list[ReaderCase]]
    away: list[list[ReaderCase]]
    own: list[ReaderCase]
    searched: list[ReaderCase]
    verdicts: list[Given]
    alone: list[tuple[int, NDArray[np.float32]]]


def make_readings(data: Path, reader: DocumentReader, most: int) -> ReaderReadings:
    """Read claims and papers of each set; `most` limits how many."""
    reranker = EmbeddedReranker(remembered_mb=600)
    science = PaperCollection(cases.read_scifact_papers(data), reader, reranker)
    claims = cases.make_scifact_cases(data, science, "train", is_held_out, most=most)
    away_cases = [
        *cases.make_scifact_cases(data, science, "train", is_held_out, away=True, most=most // 2),
        *cases.make_stranger_cases(data, science, "healthver", most // 3),
    ]
    half = cases.read_dev_papers(data)[0][:most]
    verdicts = cases.read_labelled_given(data, reader, "healthver", "train", is_held_out, 2 * most)
    search_cases = cases.read_search_cases(reader, data, 3 * most)
    singles = _read_alone(reader, science, _list_cited(claims), half)
    return ReaderReadings(claims, away_cases, cases.read_cases_of_papers(reader, half), search_cases, verdicts, singles)


READ = (
    "scifact/corpus.jsonl.gz", "scifact/claims_train.jsonl.gz", "stance/pairs.jsonl.gz", "stance/ordinary.jsonl.gz",
    "pubmed/abstracts.jsonl.gz",
)  # fmt: skip
"""The files of the data folder from which readings are made."""


def load_readings(folder: Path, data: Path, reader: DocumentReader, most: int) -> ReaderReadings:
    """The readings in `folder` where the same model and code made them from the same data, else new ones, stored there."""
    content = [hash_file(path) for path in (*(data / name for name in READ), *sorted(SEARCHES.glob("*.jsonl")))]
    path = Origin(content, [reader.name, most], hash_code([__name__])).path(folder, "readings", ".pkl")
    if path.exists():
        return ReaderReadings(*pickle.loads(path.read_bytes()))
    readings = make_readings(data, reader, most)
    write_atomically(
        path, pickle.dumps((readings.claims, readings.away, readings.own, readings.searched, readings.verdicts, readings.alone))
    )
    return readings


def fit_card(readings: ReaderReadings) -> dict[str, Any]:
    """The card's calibration and decisions."""
    ordinary: list[Given] = [(one.gold, one.labels, one.logits) for one in (*readings.own, *readings.searched)]
    abstracts: list[Given] = [(one.gold, one.labels, one.logits) for one in _list_cited(readings.claims)]
    calibration = fit_calibrations([*abstracts, *ordinary, *readings.verdicts], readings.alone)

    def of_given(some: Sequence[Given], score: Callable[[NDArray[np.int64], NDArray[np.int64]], float]) -> Decision:
        features = np.array([make_features(calibration, logits) for _, _, logits in some])
        gold = np.array([label for label, _, _ in some])
        plain = decide.fit_decision(features, gold)
        return decide.fit_threshold(plain, lambda one: score(gold, np.array([decide_label(one, row) for row in features])))

    def accuracy(gold: NDArray[np.int64], predictions: NDArray[np.int64]) -> float:
        return 100.0 * float(np.mean(gold == predictions))

    return {
        "calibration": {part: asdict(values) for part, values in calibration.items()},
        "decision": {
            "open": asdict(fit_open_decision(readings, calibration)),
            "given": asdict(of_given([*abstracts, *ordinary], accuracy)),
            "lay": asdict(of_given(readings.verdicts, lambda gold, predictions: macro_f1(gold, predictions, len(LABELS)))),
        },
    }


def fit_open_decision(readings: ReaderReadings, calibration: dict[str, Calibration]) -> Decision:
    """The decision of open retrieval.

    The gap to the best match is left out: the reader itself recognises what a paper is about. Where an index has several papers
    on a claim, SciFact's one gold paper per claim would teach that only the first is evidence (docs/experiments.md).
    """
    home_cases = [one for claim in readings.claims for one in claim if one.open]
    away_cases = [one for claim in readings.away for one in claim if one.open]
    shares = ((home_cases, 1.0), (away_cases, AWAY), (readings.own, ORDINARY), (readings.searched, SEARCHED))
    counts = np.concatenate([np.full(len(some), worth * len(home_cases) / len(some)) for some, worth in shares])
    all_cases = [*home_cases, *away_cases, *readings.own, *readings.searched]
    features = np.array([make_features(calibration, one.logits, 0.0, one.about) for one in all_cases])
    open_ = decide.fit_decision(features, np.array([one.gold for one in all_cases]), counts)
    return replace(decide.fit_bounds(open_, features), gap=0.0, thresholds=(THRESHOLD, THRESHOLD))


def _list_cited(claims: Sequence[Sequence[ReaderCase]]) -> list[ReaderCase]:
    return [one for claim in claims for one in claim if one.cited or one.named]


def _read_alone(
    reader: DocumentReader, science: PaperCollection, cited_cases: Sequence[ReaderCase], papers: Sequence[dict[str, Any]]
) -> list[tuple[int, NDArray[np.float32]]]:
    """Sentences read alone: of each document, up to two that are evidence and one that is not."""
    triples = [(one.claim, science.papers[science.place[one.paper]].abstract, one.labels) for one in cited_cases]
    for paper in papers:
        for name, label in (("true", SUPPORT), ("false", CONTRADICT)):
            labels = np.full(len(paper["sentences"]), NEUTRAL)
            labels[paper["evidence"]] = label
            triples.append((paper[name], Abstract(paper["title"] or "", tuple(paper["sentences"])), labels))
    examples = []
    for claim, abstract, labels in triples:
        places = [*np.flatnonzero(labels != NEUTRAL)[:2].tolist(), *np.flatnonzero(labels == NEUTRAL)[-1:].tolist()]
        texts = [Abstract(abstract.title, (abstract.sentences[place],)) for place in places]
        for place, logits in zip(places, reader.logits(claim, texts) if texts else (), strict=True):
            examples.append((int(labels[place]), logits))
    return examples


@return_exit_code
def main(arguments: Sequence[str] | None = None) -> None:
    """Export, calibrate, fit; the model is then in OUT/reader."""
    parser = argparse.ArgumentParser(
        prog="python -m nli.training.reader.fit", description="Export the reader and fit its decision."
    )
    parser.add_argument("--data", type=Path, required=True, help="the folder with the data sets")
    parser.add_argument("--out", type=Path, required=True, help="the folder of the training run")
    parser.add_argument("--vocabulary", type=Path, required=True, help="the JSON file of the words that the model keeps")
    parser.add_argument(
        "--mean", type=Path, nargs="*", default=[], metavar="FILE", help="more weights to average, as --start of train takes them"
    )
    parser.add_argument(
        "--most", type=int, default=10_000, help="about how many claims of a set to read (a third to thrice as many)"
    )
    parser.add_argument("--export-only", action="store_true", help="write the model without a calibration or a decision")
    options = parser.parse_args(arguments)
    words = json.loads(options.vocabulary.read_text("utf-8"))
    model = ReaderEncoder(len(words["old"]))
    states = [load_start(path, words["tokens"]) for path in (options.out / "checkpoint.pt", *options.mean)]
    model.load_state_dict({name: torch.stack([state[name].float() for state in states]).mean(0) for name in states[0]})
    folder = options.out / "reader"
    folder.mkdir(parents=True, exist_ok=True)
    make_tokenizer(words["tokens"]).save(str(folder / "words.json"))
    card: dict[str, Any] = {
        "name": "reader-mpnet", "reads": "documents", "labels": list(LABELS), "max_tokens": MAX_TOKENS,
        "base": "all-mpnet-base-v2",
        "calibration": {part: asdict(EVEN) for part in ("document", "sentence", "alone")}, "decision": {"open": asdict(PLAIN)},
    }  # fmt: skip
    export(model, "logits", folder, folder / "words.json", card)
    (folder / "words.json").unlink()
    if not options.export_only:
        readings = load_readings(options.out, options.data, DocumentReader(folder), options.most)
        content = json.loads((folder / "model.json").read_text("utf-8")) | fit_card(readings)
        (folder / "model.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())

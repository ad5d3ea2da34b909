"""Export the trained reader, calibrate it and fit its decision: `python -m nli.training.reader.fit --data DIR --out DIR`.

Everything is fitted on claims that training left away: the held-out folds of SciFact and HealthVer train, and half of the papers
of ordinary's dev split. Figures on the other half and on SciFact dev come from `nli.training.reader.evaluate`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nli.decision import PLAIN, Decision
from nli.embedded import Calibration
from nli.judge import Abstract, Reading
from nli.reader.decision import at_odds, marks
from nli.reader.judge import DocumentReader
from nli.training import calibrate, decide
from nli.training.pairs import LABELS, NEUTRAL
from nli.training.reader import cases as made
from nli.training.reader.cases import Case, Collection, Given
from nli.training.reader.encoder import ReaderEncoder
from nli.training.reader.train import tokenizer
from retrieval.embedded import EmbeddedReranker
from retrieval.training.command import told
from retrieval.training.export import export
from retrieval.training.loop import weights
from retrieval.training.measure import f1, macro_f1
from retrieval.values import Verdict

MAX_TOKENS = 256
STRANGER = 0.3
"""What a paper counts that an ordinary claim does not name: it may bear on the claim, nobody has said."""
EVEN = Calibration(1.0, (0.0, 0.0, 0.0))


def calibrations(
    reader: DocumentReader, given: Sequence[Given], alone: Sequence[tuple[int, NDArray[np.float32]]]
) -> dict[str, Calibration]:
    """The calibration of documents, of sentences in a document and of sentences read alone."""
    sentences = [(labels, logits[1:]) for _, labels, logits in given]
    kept = [(labels[~np.isnan(rows[:, 0])], rows[~np.isnan(rows[:, 0])]) for labels, rows in sentences]
    return {
        "document": calibrate.fitted(np.vstack([logits[:1] for _, _, logits in given]), np.array([gold for gold, _, _ in given])),
        "sentence": calibrate.fitted(np.vstack([rows for _, rows in kept]), np.concatenate([labels for labels, _ in kept])),
        "alone": calibrate.fitted(np.vstack([rows[:1] for _, rows in alone]), np.array([gold for gold, _ in alone])),
    }


def reading(calibration: dict[str, Calibration], logits: NDArray[np.float32]) -> Reading:
    """The calibrated reading of one document's logits."""
    document = Verdict(*calibration["document"].probabilities(logits[:1])[0].tolist())
    rows = calibration["sentence"].probabilities(logits[1:]).tolist()
    return Reading(document, tuple(None if row[0] != row[0] else Verdict(*row) for row in rows))


def features(
    calibration: dict[str, Calibration], logits: NDArray[np.float32], gap: float = 0.0, about: float = 0.0
) -> NDArray[np.float64]:
    """[6], as the decision reads them."""
    return marks(reading(calibration, logits), gap, about)


def label_of(decision: Decision, found: NDArray[np.float64]) -> int:
    """The label index that the decision and the rule about sentences at odds give."""
    support, _, contradict = decision.probabilities(found[None])[0].tolist()
    label = decision.label(support, contradict)
    return NEUTRAL if at_odds(label, found) else LABELS.index(label)


def scifact_f1(
    claims: Sequence[Sequence[Case]], found: Callable[[Case], NDArray[np.float64]], decision: Decision,
    beside: Sequence[Case] = (), worth: float = 1.0, label: int | None = None,
) -> float:  # fmt: skip
    """Abstract-level label-only F1 of open retrieval; a stance given to a document `beside` counts `worth` of a wrong one."""
    right, predicted = 0, worth * sum(label_of(decision, found(one)) != NEUTRAL for one in beside)
    gold = sum(one.named and label in (None, one.gold) for claim in claims for one in claim)
    for one in (one for claim in claims for one in claim if one.open):
        said = label_of(decision, found(one))
        if said != NEUTRAL and label in (None, said):
            predicted += 1
            right += one.named and one.gold == said
    return f1(right, predicted, gold)


def balance(claims: Sequence[Sequence[Case]], found: Callable[[Case], NDArray[np.float64]], decision: Decision) -> float:
    """The share of named papers on the right side, less twice that on the wrong one, in per cent."""
    named = [one for claim in claims for one in claim if one.named]
    said = [label_of(decision, found(one)) if one.open else NEUTRAL for one in named]
    right = sum(label == one.gold for label, one in zip(said, named, strict=True))
    wrong = sum(label not in (one.gold, NEUTRAL) for label, one in zip(said, named, strict=True))
    return 100.0 * (right - 2 * wrong) / len(named)


def fitted(data: Path, reader: DocumentReader, most: int) -> dict[str, Any]:
    """The card's calibration and decisions, from at most so many claims or papers of each set."""
    reranker = EmbeddedReranker(remembered_mb=600)
    science = Collection(made.scifact_papers(data), reader, reranker)
    claims = made.of_scifact(data, science, "train", made.held_out, most=most)
    away = [
        *made.of_scifact(data, science, "train", made.held_out, away=True, most=most),
        *made.strangers(data, science, "healthver", len(claims)),
    ]
    pubmed = Collection(made.pubmed_papers(data), reader, reranker)
    half = made.dev_papers(data)[0][:most]
    lay = made.of_ordinary(pubmed, half)
    cited = [one for claim in claims for one in claim if one.cited or one.named]
    verdicts = made.labelled_given(data, reader, "healthver", "train", made.held_out, most)
    ordinary = made.ordinary_given(reader, half)
    given: list[Given] = [(one.gold, one.labels, one.logits) for one in cited]
    calibration = calibrations(reader, [*given, *ordinary, *verdicts], _alone(reader, science, pubmed, cited, lay))

    def of_case(one: Case) -> NDArray[np.float64]:
        return features(calibration, one.logits, one.gap, one.about)

    here = [one for claim in (*claims, *lay) for one in claim if one.open]
    elsewhere = [one for claim in away for one in claim if one.open]
    worth = 0.5 * len([one for claim in claims for one in claim if one.open]) / len(elsewhere)
    science_alone = {id(one) for claim in claims for one in claim}
    counts = np.array([
        *(1.0 if one.named or id(one) in science_alone else STRANGER for one in here), *[worth] * len(elsewhere),
    ])  # fmt: skip
    read = np.array([of_case(one) for one in (*here, *elsewhere)])
    open_ = decide.fitted(read, np.array([one.gold for one in (*here, *elsewhere)]), counts)
    open_ = decide.with_threshold(
        open_,
        lambda decision: scifact_f1(claims, of_case, decision, elsewhere, worth) + balance(lay, of_case, decision),
    )

    def of_given(some: Sequence[Given], score: Callable[[NDArray[np.int64], NDArray[np.int64]], float]) -> Decision:
        read = np.array([features(calibration, logits) for _, _, logits in some])
        gold = np.array([label for label, _, _ in some])
        plain = decide.fitted(read, gold)
        return decide.with_threshold(plain, lambda one: score(gold, np.array([label_of(one, row) for row in read])))

    def accuracy(gold: NDArray[np.int64], said: NDArray[np.int64]) -> float:
        return 100.0 * float(np.mean(gold == said))

    return {
        "calibration": {part: asdict(values) for part, values in calibration.items()},
        "decision": {
            "open": asdict(decide.with_most(open_, read)),
            "given": asdict(of_given([*given, *ordinary], accuracy)),
            "lay": asdict(of_given(verdicts, lambda gold, said: macro_f1(gold, said, len(LABELS)))),
        },
    }


def _alone(
    reader: DocumentReader, science: Collection, pubmed: Collection, cited: Sequence[Case], lay: Sequence[Sequence[Case]]
) -> list[tuple[int, NDArray[np.float32]]]:
    """Sentences read alone: all evidence, and beside each document's one that is none."""
    found = []
    named = [(science, one) for one in cited] + [(pubmed, one) for claim in lay for one in claim if one.named]
    for collection, one in named:
        abstract = collection.papers[collection.place[one.paper]].abstract
        places = [*np.flatnonzero(one.labels != NEUTRAL)[:2].tolist(), *np.flatnonzero(one.labels == NEUTRAL)[-1:].tolist()]
        texts = [Abstract(abstract.title, (abstract.sentences[place],)) for place in places]
        for place, logits in zip(places, reader.logits(one.claim, texts) if texts else (), strict=True):
            found.append((int(one.labels[place]), logits))
    return found


@told
def main(arguments: Sequence[str] | None = None) -> None:
    """Export, calibrate, fit; the model lies in OUT/reader then."""
    parser = argparse.ArgumentParser(
        prog="python -m nli.training.reader.fit", description="Export the reader and fit its decision."
    )
    parser.add_argument("--data", type=Path, required=True, help="the data folder")
    parser.add_argument("--out", type=Path, required=True, help="the folder of the training run")
    parser.add_argument("--vocabulary", type=Path, required=True, help="the words that are kept")
    parser.add_argument("--mean", type=Path, nargs="*", default=[], metavar="CHECKPOINT", help="further weights to average with")
    parser.add_argument("--most", type=int, default=10_000, help="claims or papers of each set at most")
    parser.add_argument("--export-only", action="store_true", help="leave the card uncalibrated")
    options = parser.parse_args(arguments)
    words = json.loads(options.vocabulary.read_text("utf-8"))
    model = ReaderEncoder(len(words["old"]))
    states = [weights(path) for path in (options.out / "checkpoint.pt", *options.mean)]
    model.load_state_dict({name: torch.stack([state[name].float() for state in states]).mean(0) for name in states[0]})
    folder = options.out / "reader"
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer(words["tokens"]).save(str(folder / "words.json"))
    card: dict[str, Any] = {
        "name": "reader-mpnet", "reads": "documents", "labels": list(LABELS), "max_tokens": MAX_TOKENS,
        "base": "all-mpnet-base-v2",
        "calibration": {part: asdict(EVEN) for part in ("document", "sentence", "alone")}, "decision": {"open": asdict(PLAIN)},
    }  # fmt: skip
    export(model, "logits", folder, folder / "words.json", card)
    (folder / "words.json").unlink()
    if not options.export_only:
        written = json.loads((folder / "model.json").read_text("utf-8")) | fitted(
            options.data, DocumentReader(folder), options.most
        )
        (folder / "model.json").write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())

"""Fit the numbers that depend on a reader's weights, and write them to its card:
`python -m counterpoint.nli.training.reader.fit --data DIR`.

These are the calibration of its logits, the decision on a paper and the certainty of a verdict. Everything is fitted on claims
held out of training: the held-out folds of SciFact and HealthVer train, half of the papers of ordinary's dev split, and our own
searches. Figures on the other half come from `counterpoint eval reader`. With `--out` a training run is exported first.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from torch.nn import functional
from tqdm import tqdm

from counterpoint.nli.judge import Abstract, FullTextRule, Reader, cache_verdicts_on_disk
from counterpoint.nli.reader.answers import AnswerRule
from counterpoint.nli.reader.certainty import NEAREST, Certainty, measure_agreement
from counterpoint.nli.reader.judge import LARGE, Calibration, DocumentReader
from counterpoint.nli.reader.paper import FEATURES, PaperDecision, TwoReadings, judge_paper, make_features, read_twice
from counterpoint.nli.text.designs import find_design
from counterpoint.nli.training.reader import cases
from counterpoint.nli.training.reader.cases import PaperCollection, ReaderCase
from counterpoint.nli.training.reader.lesson import LABELS, NEUTRAL
from counterpoint.nli.training.reader.train import choose_served, load_start, make_tokenizer, restore_reader
from counterpoint.nli.training.reader.vocabulary import VOCABULARY_HELP, read_words
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.probabilities import log_odds
from counterpoint.retrieval.core.result_cache import DiskCache
from counterpoint.retrieval.core.values import OPPOSITE, Document, Stance, Verdict
from counterpoint.retrieval.rerank.embedded import EmbeddedReranker
from counterpoint.retrieval.runtime.engine import BY_HAND
from counterpoint.retrieval.training.command import return_exit_code
from counterpoint.retrieval.training.export import export

MAX_TOKENS = 256
AWAY, ORDINARY, SEARCHED = 0.25, 0.3, 0.5
"""The weights, relative to SciFact's documents, of documents for claims whose papers are not in the collection, of ordinary
claims with their own paper, and of the papers of our own searches."""
QUOTES = 2
"""How many sentences of a paper are read once more."""
SIDE = 0.5
"""The probability above which a paper is listed for a side (docs/research/experiments.md shows the effect of others)."""
OFF_CLAIM = 0.9
"""The probability of neither side from which a paper's first reading stands: a second gave none of 54 such papers a side."""
OPPOSITE_RULE = {"weight": 0.4, "side": 0.4}
"""How comparisons are read (nli.judge.OppositeRule): the best of a few on the claims of eval/claims with "than"."""
PULL, CERTAINTY_PULL = 0.05, 1.0
"""The inverse strength of the pull to 0 of the decision's weights, and of the certainty's."""
SIDES: tuple[Stance, ...] = ("support", "contradict")
CACHE_MB = 500
FITTED = ("calibration", "paper", "certainty")
EVEN = Calibration(1.0, (0.0, 0.0, 0.0))
UNDECIDED = {"weights": {name: [0.0] * (FEATURES + 1) for name in ("support", "contradict")}, "side": SIDE, "quotes": QUOTES}
"""The decision of a reader for which none was fitted yet."""
UNFITTED = {"calibration": {part: asdict(EVEN) for part in ("document", "sentence", "single")}, "paper": UNDECIDED}


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Cases held out of training: those of SciFact's `claims`; `away`, of claims whose papers are not in the collection; `own`,
    ordinary claims with their own paper; `searched`, the papers of our own searches; `labelled`, HealthVer's abstracts."""

    claims: list[ReaderCase]
    away: list[ReaderCase]
    own: list[ReaderCase]
    searched: list[ReaderCase]
    labelled: list[ReaderCase]


def read_held_out(data: Path, most: int) -> HeldOut:
    """The cases of each set; `most` limits how many."""
    science = PaperCollection(cases.read_scifact_papers(data), EmbeddedReranker(remembered_mb=600))
    claims = cases.make_scifact_cases(data, science, most)
    away = [
        *cases.make_scifact_cases(data, science, most // 2, away=True),
        *cases.make_stranger_cases(data, science, most // 3),
    ]
    return HeldOut(
        [one for claim in claims for one in claim],
        [one for claim in away for one in claim],
        cases.make_cases_of_papers(cases.read_dev_papers(data)[0][:most]),
        cases.read_search_cases(data, 3 * most),
        cases.read_healthver_cases(data, "train", 2 * most),
    )


def fit_calibrations(reader: DocumentReader, held_out: HeldOut) -> dict[str, Any]:
    """The calibration of documents, of their sentences and of sentences read alone."""
    cited = [one for one in held_out.claims if one.cited or one.named]
    whole = [*cited, *held_out.own, *held_out.searched, *held_out.labelled]
    logits = [reader.logits(one.claim, [one.abstract])[0] for one in tqdm(whole, desc="papers, whole")]
    sentences = [(one.labels, rows[1:]) for one, rows in zip(whole, logits, strict=True)]
    masks = [(labels >= 0) & ~np.isnan(rows[:, 0]) for labels, rows in sentences]
    pairs = [(labels[some], rows[some]) for (labels, rows), some in zip(sentences, masks, strict=True)]
    alone = _read_quotes(reader, [*cited, *(one for one in held_out.own if one.named)])
    fitted = {
        "document": fit_calibration(np.vstack([rows[:1] for rows in logits]), np.array([one.gold for one in whole])),
        "sentence": fit_calibration(np.vstack([rows for _, rows in pairs]), np.concatenate([labels for labels, _ in pairs])),
        "single": fit_calibration(np.vstack([rows[:1] for _, rows in alone]), np.array([gold for gold, _ in alone])),
    }
    return {part: asdict(values) for part, values in fitted.items()}


def fit_calibration(logits: NDArray[np.float32], labels: NDArray[np.int64]) -> Calibration:
    """The calibration with the least negative log likelihood; logits [pairs, 3]."""
    values, gold = torch.from_numpy(logits.astype(np.float64)), torch.from_numpy(labels)
    scale = torch.ones(1, dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([scale, bias], max_iter=200)

    def loss() -> float:
        optimizer.zero_grad()
        # The small pull to 0 fixes what softmax leaves open: a constant added to every bias.
        value = functional.cross_entropy(scale * values + bias, gold) + 1e-4 * (bias**2).sum()
        value.backward()  # type: ignore[no-untyped-call]
        return float(value.detach())

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    support, neutral, contradict = (round(float(number), 4) for number in bias.detach())
    return Calibration(round(float(scale.detach()), 4), (support, neutral, contradict))


def read_cases(reader: Reader, held_out: HeldOut) -> tuple[list[tuple[ReaderCase, TwoReadings]], NDArray[np.float64]]:
    """Open retrieval's cases, each with both readings, and their weights [cases]."""
    home, away = ([one for one in some if one.open] for some in (held_out.claims, held_out.away))
    shares = ((home, 1.0), (away, AWAY), (held_out.own, ORDINARY), (held_out.searched, SEARCHED))
    every = [one for some, _ in shares for one in some]
    counts = np.concatenate([np.full(len(some), share * len(home) / len(some)) for some, share in shares])
    return [(one, read_twice(reader, one.claim, one.abstract)) for one in tqdm(every, desc="papers, read twice")], counts


def fit_paper(read: Sequence[tuple[ReaderCase, TwoReadings]], counts: NDArray[np.float64]) -> dict[str, Any]:
    """The decision on a paper (nli.reader.paper) by cases that were read and their weights [cases]."""
    features = np.array([make_features(both.whole, list(both.quoted.values())) for _, both in read])
    return {
        "weights": fit_weights(features, np.array([one.gold for one, _ in read]), counts),
        "side": SIDE,
        "quotes": QUOTES,
        "off_claim": OFF_CLAIM,
        "opposite": OPPOSITE_RULE,
    }


def fit_certainty(read: Sequence[tuple[ReaderCase, TwoReadings]], reader: Reader) -> Certainty:
    """How certain a verdict is (nli.reader.certainty): how often the heavier side of a claim's papers is the one that most of
    their labels name, for the claims of which a paper takes a side by the reader's decision."""
    claims: dict[str, list[tuple[ReaderCase, Verdict]]] = {}
    for one, both in read:
        claims.setdefault(one.claim, []).append((one, judge_paper(reader, both)[0]))
    rows, right = [], []
    for papers in claims.values():
        weights = dict.fromkeys(SIDES, 0.0)
        for one, verdict in papers:
            if verdict.label in weights:
                design = find_design(Document(one.paper, one.abstract.title, " ".join(one.abstract.sentences)))
                weights[verdict.label] += design.weight * verdict.probability(verdict.label)
        surest = max((verdict.probability(verdict.label) for _, verdict in papers if verdict.label in weights), default=0.0)
        if not surest or weights["support"] == weights["contradict"]:
            continue
        labels = Counter(LABELS[one.gold] for one, _ in papers)
        side = max(SIDES, key=weights.__getitem__)
        rows.append((measure_agreement((weights["support"], weights["contradict"])), log_odds(surest, NEAREST)))
        right.append(labels[side] > labels[OPPOSITE[side]])
    if len({*right}) < 2:
        raise BadInput(
            f"{len(right)} verdicts on a side, none or all of them right, fit no certainty; read more claims (--most)."
        )
    model = LogisticRegression(C=CERTAINTY_PULL).fit(np.array(rows), np.array(right))
    return Certainty(*(round(float(number), 4) for number in (model.intercept_[0], *model.coef_[0])))


def fit_weights(features: NDArray[np.float64], gold: NDArray[np.int64], counts: NDArray[np.float64]) -> dict[str, list[float]]:
    """For each stance its weights [FEATURES + 1] against neither, by `features` [n, FEATURES], labels [n] and weights [n]."""
    model = LogisticRegression(C=PULL, max_iter=3000).fit(features, gold, counts)
    rows = np.hstack([model.coef_, model.intercept_[:, None]])
    rows -= rows[NEUTRAL]
    return {name: [round(float(one), 4) for one in rows[LABELS.index(name)]] for name in ("support", "contradict")}


def _read_quotes(reader: DocumentReader, some: Sequence[ReaderCase]) -> list[tuple[int, NDArray[np.float32]]]:
    """Sentences read alone: of each document, up to two that are evidence and one that is not."""
    examples = []
    for one in tqdm(some, desc="sentences, alone"):
        evidence = (one.labels >= 0) & (one.labels != NEUTRAL)
        places = [*np.flatnonzero(evidence)[:2], *np.flatnonzero(one.labels == NEUTRAL)[-1:]]
        texts = [Abstract(one.abstract.title, (one.abstract.sentences[place],)) for place in places]
        for place, logits in zip(places, reader.logits(one.claim, texts) if texts else (), strict=True):
            examples.append((int(one.labels[place]), logits))
    return examples


def fit_numbers(folder: Path, held_out: HeldOut, cache: Path | None = None) -> None:
    """Fit every number anew to the weights in a folder, and write them to its card with their hash."""
    card: dict[str, Any] = json.loads((folder / "model.json").read_text("utf-8"))
    by_hand = {part: BY_HAND for part in ("full_text", "answers") if part in card}
    card |= {**UNFITTED, "fitted_to": dict.fromkeys(FITTED, card["sha256"]) | by_hand}
    card["calibration"] = fit_calibrations(DocumentReader(folder, card=card), held_out)
    reader: Any = DocumentReader(folder, card=card)
    if cache:
        reader = cache_verdicts_on_disk(reader, DiskCache(cache, CACHE_MB))
    read, counts = read_cases(reader, held_out)
    card["paper"] = fit_paper(read, counts)
    reader.paper = PaperDecision.read(card)
    card["certainty"] = asdict(fit_certainty(read, reader))
    (folder / "model.json").write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", "utf-8")


@return_exit_code
def main(arguments: Sequence[str] | None = None) -> None:
    """Export if a training run is given, then fit; the model is in OUT/reader, or where it was."""
    parser = argparse.ArgumentParser(
        prog="python -m counterpoint.nli.training.reader.fit", description="Fit every number that depends on a reader's weights."
    )
    parser.add_argument("--data", type=Path, required=True, help="the folder with the data sets")
    parser.add_argument("--out", type=Path, help="the folder of a training run, to export first")
    parser.add_argument("--model", type=Path, default=LARGE, help="the model whose numbers are fitted, without --out")
    parser.add_argument("--vocabulary", type=Path, default=LARGE, help=VOCABULARY_HELP)
    parser.add_argument(
        "--mean", nargs=2, metavar=("FILE", "SHARE"), help="mix in this share of other weights, given as --start of train"
    )
    parser.add_argument(
        "--most", type=int, default=10_000, help="about how many claims of a set to read (a third to thrice as many)"
    )
    parser.add_argument("--cache", type=Path, help="a file that keeps the readings, so that a stopped fit resumes")
    options = parser.parse_args(arguments)
    held_out = read_held_out(options.data, options.most)
    if options.out:
        export_reader(options.out, options.vocabulary, options.mean)
    fit_numbers(options.out / "reader" if options.out else options.model, held_out, options.cache)


def export_reader(out: Path, vocabulary: Path, mean: Sequence[str] | None) -> None:
    """Write the model of a training run to OUT/reader, with no number fitted yet."""
    words = read_words(vocabulary)
    state = choose_served(load_start(out / "checkpoint.pt", words))
    if mean:
        other = load_start(Path(mean[0]), words)
        state = {name: torch.lerp(values.float(), other[name].float(), float(mean[1])) for name, values in state.items()}
    model = restore_reader(state)
    size = model.size
    folder = out / "reader"
    folder.mkdir(parents=True, exist_ok=True)
    make_tokenizer(words).save(str(folder / "words.json"))
    card: dict[str, Any] = {
        "name": size.name, "reads": "documents", "labels": list(LABELS), "max_tokens": MAX_TOKENS,
        "base": size.base, "synonyms": True, "full_text": asdict(FullTextRule()), "answers": asdict(AnswerRule()),
        **UNFITTED,
    }  # fmt: skip
    card["fitted_to"] = dict.fromkeys(("calibration", "paper", "full_text", "answers"), BY_HAND)
    export(model, "logits", folder, folder / "words.json", card)
    (folder / "words.json").unlink()


if __name__ == "__main__":
    sys.exit(main())

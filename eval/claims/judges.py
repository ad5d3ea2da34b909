"""A language model as judge, alone and behind the small reader, on sentences with known labels.

The pairs of a claim and a sentence come from JSON lines, or from SciFact's claims and their cited abstracts. Every answer of the
language model is kept. Judges are compared with the labels and with each other: accuracy, macro-F1 and Cohen's kappa.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eval.measures.figures import Figure, Floats, Resampler, Tally, kappa
from eval.measures.report import Report, Table, show
from eval.measures.resuming import record_each
from eval.scifact.files import LABELS as SCIFACT_LABELS
from eval.scifact.files import Files
from indexes.readers.base import jsonl
from indexes.readers.base.fields import RecordError
from nli.judge import Judge
from nli.judges.chat import WrongQuote, ask_opinion, is_undecided
from retrieval.core.code_hash import hash_code
from retrieval.core.values import LABELS, Label, Premise
from retrieval.runtime.chat import Chat, ChatUnanswered
from retrieval.store.journal import Origin, hash_json
from retrieval.words.terms import measure_aboutness

UNANSWERED, MISQUOTED = "unanswered", "misquoted"
_COUNT = len(LABELS)


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A claim, a sentence with its title, and the sentence's stance on the claim."""

    claim: str
    premise: Premise
    label: Label


def read_pairs(path: Path) -> list[LabelledPair]:
    """JSON lines with claim, sentence, label (support, neutral, contradict) and, optionally, title.

    Raises `BadInput` for a file without a pair or with an invalid line.
    """
    return jsonl.read_some(path, _read_pair, "pair", "claim, sentence and label")


def _read_pair(record: Mapping[str, Any], number: int) -> LabelledPair:
    claim, sentence, title, label = (record.get(key, "") for key in ("claim", "sentence", "title", "label"))
    if not all(isinstance(one, str) for one in (claim, sentence, title)) or not claim.strip() or not sentence.strip():
        raise RecordError('expected texts in "claim" and "sentence", and in "title" if it is there')
    if label not in LABELS:
        raise RecordError(f'expected {", ".join(LABELS)} in "label", got {label!r}')
    return LabelledPair(claim, Premise(sentence, title), label)


def read_scifact_pairs(files: Files, most: int | None = None) -> list[LabelledPair]:
    """The first `most` of SciFact's claims, each with one sentence of every abstract that it cites.

    Where the abstract is evidence, the sentence is the first of its first rationale, with that label. Where it is not, the
    sentence is the one with most of the claim's rare words, and the label is neutral.
    """
    abstracts = {str(one["doc_id"]): one for one in jsonl.read_records(files.corpus, lambda record, _: record)}
    claims = list(jsonl.read_records(files.claims, lambda record, _: record))[:most]
    return [pair for claim in claims for pair in _pairs_of(claim, abstracts)]


def _pairs_of(record: Mapping[str, Any], abstracts: Mapping[str, Mapping[str, Any]]) -> Iterator[LabelledPair]:
    claim, evidence = record["claim"], record.get("evidence") or {}
    documents = [str(one) for one in (*evidence, *record.get("cited_doc_ids", ()))]
    for document in dict.fromkeys(documents):
        if document not in abstracts or not abstracts[document]["abstract"]:
            continue
        title, sentences = abstracts[document]["title"], abstracts[document]["abstract"]
        sets = evidence.get(document)
        at = sets[0]["sentences"][0] if sets else _find_nearest(claim, sentences)
        yield LabelledPair(claim, Premise(sentences[at], title), SCIFACT_LABELS[sets[0]["label"]] if sets else "neutral")


def _find_nearest(claim: str, sentences: Sequence[str]) -> int:
    return max(range(len(sentences)), key=lambda at: (measure_aboutness(claim, sentences[at]), -at))


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A pair's true label, the small model's label, and the large model's. `large` is None where that model gave nothing usable;
    `fault` then says why: unanswered or misquoted. `undecided` is whether the small model leaves the pair to the large one."""

    true: Label
    small: Label
    large: Label | None
    fault: str
    undecided: bool

    @property
    def alone(self) -> Label:
        """The large model's label where it judges alone; a pair without a usable answer is neutral."""
        return self.large or "neutral"

    @property
    def behind(self) -> Label:
        """The label where the large model is asked only about pairs that the small one leaves undecided."""
        return self.large if self.undecided and self.large else self.small


By = Callable[[JudgedPair], Label]
JUDGES: dict[str, By] = {
    "small reader": lambda one: one.small,
    "language model alone": lambda one: one.alone,
    "small reader, then language model": lambda one: one.behind,
}


def judge_pairs(pairs: Sequence[LabelledPair], small: Judge, chat: Chat, work: Path) -> list[JudgedPair]:
    """Judge every pair with both, in order; a resumed run asks about none twice.

    A server that cannot be reached or is too busy raises `ChatUnanswered`: its label would be unknown.
    """
    settings = [chat.model, chat.base_url]
    origin = Origin(None, settings, hash_code(["nli.judges.chat"]))
    items = [(hash_json([pair.claim, pair.premise.title, pair.premise.text]), pair) for pair in pairs]
    answers = record_each(items, lambda pair: _ask(chat, pair), origin, work, "opinions", "pairs")
    opinions: list[JudgedPair] = []
    for pair, (large, fault) in zip(pairs, answers, strict=True):
        (verdict,) = small(pair.claim, [pair.premise])
        opinions.append(JudgedPair(pair.label, verdict.label, large, fault, is_undecided(verdict)))
    return opinions


def _ask(chat: Chat, pair: LabelledPair) -> tuple[Label | None, str]:
    try:
        return ask_opinion(chat, pair.claim, pair.premise).label, ""
    except WrongQuote:
        return None, MISQUOTED
    except ChatUnanswered as error:
        if error.status == 503:
            raise
        return None, UNANSWERED


def make_report(opinions: Sequence[JudgedPair], command: str, small: str, large: str) -> Report:
    """Every judge against the labels, and what was asked of the language model; one sample of pairs for every figure."""
    resampler = Resampler(len(opinions))

    def figure(one: By, other: By, formula: Callable[[Floats], Floats]) -> Figure:
        return resampler.figure(Tally.of([_count(one(pair), other(pair)) for pair in opinions], formula))

    formulas = {"accuracy": accuracy, "macro_f1": macro_f1, "kappa": kappa}
    rows = [{name: figure(lambda one: one.true, by, formula) for name, formula in formulas.items()} for by in JUDGES.values()]
    between = figure(JUDGES["small reader"], JUDGES["language model alone"], kappa)
    undecided = sum(opinion.undecided for opinion in opinions)
    unanswered, misquoted = (sum(opinion.fault == fault for opinion in opinions) for fault in (UNANSWERED, MISQUOTED))
    shown = [[judge, *map(show, row.values(), (".1%", ".1%", ".2f"))] for judge, row in zip(JUDGES, rows, strict=True)]
    blocks: list[Table | str] = [
        Table("", ["judge", "accuracy", "macro-F1", "kappa with the labels"], shown),
        f"Kappa between {small} and {large}: {show(between, '.2f')}.",
        f"{undecided} of {len(opinions)} pairs are left undecided by the small reader; the language model gave no usable "
        f"answer to {unanswered + misquoted} of all ({misquoted} quoted what is not in the sentence).",
        "In brackets: 95 % intervals by a bootstrap over pairs.",
    ]
    data = {
        "command": command,
        "models": [small, large],
        "pairs": len(opinions),
        "rows": [{"judge": judge, **row} for judge, row in zip(JUDGES, rows, strict=True)],
        "kappa_between": between,
        "undecided": undecided,
        "unanswered": unanswered,
        "misquoted": misquoted,
    }
    return Report(f"Judges on {len(opinions)} pairs", blocks, data, made_with={"command": command})


def _count(row: Label, column: Label) -> list[float]:
    """A flattened table of labels by labels, with a single 1."""
    cells = [0.0] * _COUNT**2
    cells[LABELS.index(row) * _COUNT + LABELS.index(column)] = 1.0
    return cells


def _square(sums: Floats) -> Floats:
    return sums.reshape(*sums.shape[:-1], _COUNT, _COUNT)


def accuracy(sums: Floats) -> Floats:
    """The share of pairs on the diagonal, of [..., labels²] (true by judged)."""
    table = _square(sums)
    score: Floats = np.trace(table, axis1=-2, axis2=-1) / table.sum(axis=(-2, -1))
    return score


def macro_f1(sums: Floats) -> Floats:
    """The mean F1 of the labels that occur on either side, of [..., labels²]."""
    table = _square(sums)
    right, both = np.diagonal(table, axis1=-2, axis2=-1), table.sum(axis=-1) + table.sum(axis=-2)
    each = np.divide(2 * right, both, out=np.zeros_like(both), where=both > 0)
    score: Floats = each.sum(axis=-1) / (both > 0).sum(axis=-1)
    return score

"""The reader by itself, on dev splits: each paper is given, so that only what is read of it is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from counterpoint.eval.measures.figures import Figure, Formula, Resampler, Tally, balanced, macro_f1, share
from counterpoint.eval.measures.report import Report, make_table
from counterpoint.nli.judge import Abstract, Reader
from counterpoint.nli.reader.judge import DocumentReader
from counterpoint.nli.reader.paper import read_both_ways
from counterpoint.nli.training.reader.cases import (
    ReaderCase,
    make_case,
    make_cases_of_papers,
    read_dev_papers,
    read_healthver_cases,
)
from counterpoint.nli.training.reader.examples import read_ordinary, read_written
from counterpoint.nli.training.reader.lesson import CONTRADICT, LABELS, SUPPORT, fit_claim_only
from counterpoint.retrieval.training.data import read_lines

PROBES, KINDS = Path("tests/probes.jsonl"), Path(__file__).with_name("kinds.jsonl")


class Judged(NamedTuple):
    """The right label of a case, the one that the reader gave, and the side to which it leans: places in `LABELS`."""

    gold: int
    label: int
    sign: int


def judge_cases(reader: Reader, some: Iterable[ReaderCase]) -> list[Judged]:
    """The verdict on each case's paper, as the service reaches it."""
    verdicts = [(one.gold, read_both_ways(reader, one.claim, one.abstract)[0]) for one in some]
    return [Judged(gold, LABELS.index(one.label), LABELS.index(one.leaning)) for gold, one in verdicts]


def measure(counts: Sequence[Sequence[float]], formula: Formula = share) -> Figure:
    """A figure with its interval over these units."""
    return Resampler(len(counts)).figure(Tally.of(counts, formula))


def measure_labels(name: str, judged: Sequence[Judged]) -> dict[str, Figure]:
    """Macro-F1 of the labels, and the balanced accuracy of the side where the label is not neutral."""
    labels = [[n for at in range(3) for n in (one.gold == one.label == at, one.label == at, one.gold == at)] for one in judged]
    signs = [[n for at in (SUPPORT, CONTRADICT) for n in (one.gold == one.sign == at, one.gold == at)] for one in judged]
    return {f"{name}: macro-F1": measure(labels, macro_f1), f"{name}: side, balanced accuracy": measure(signs, balanced)}


def measure_probes(reader: DocumentReader, data: Path, most: int) -> dict[str, Figure]:
    """The share of probes whose most probable class is right, before calibration."""
    lines = read_lines(PROBES)[:most]
    found = [int(reader.logits(one["claim"], [Abstract("", (one["sentence"],))])[0][0].argmax()) for one in lines]
    return {"probes: right": measure([(LABELS[place] == one["label"], 1) for place, one in zip(found, lines, strict=True)])}


def measure_kinds(reader: DocumentReader, data: Path, most: int) -> dict[str, Figure]:
    """The share of right labels of claims by kind of mistake (`nli.training.reader.examples.make_written_lessons`)."""
    hits: dict[str, list[tuple[bool, int]]] = {}
    for row in tqdm(read_written(KINDS, data)[: 3 * most], desc="claims by kind of mistake"):
        (case,) = judge_cases(reader, [make_case(row, row["claim"], LABELS.index(row["label"]))])
        hits.setdefault(row["kind"], []).append((case.label == case.gold, 1))
    every = {"all": [one for some in hits.values() for one in some], **hits}
    return {f"kinds of mistakes, {kind}: right": measure(some) for kind, some in every.items()}


def measure_ordinary(reader: DocumentReader, data: Path, most: int) -> dict[str, Figure]:
    """Claims on dev papers on which nothing was fitted: the true, the false and the open one of each; and both claims of a paper,
    also where their words alone mislead a bag of words."""
    train, papers = read_ordinary(data, "train"), read_dev_papers(data)[1][:most]
    alone = fit_claim_only([paper["true"] for paper in train], [paper["false"] for paper in train])
    true, false = (alone.decision_function([paper[name] for paper in papers]) for name in ("true", "false"))
    judged = judge_cases(reader, tqdm(make_cases_of_papers(papers), desc="ordinary claims"))
    pairs = [(one.label, other.label) for one, other in zip(judged[::3], judged[1::3], strict=True)]
    both = [pair == (SUPPORT, CONTRADICT) for pair in pairs]
    misled = (true <= false).tolist()
    return measure_labels("ordinary", judged) | {
        "ordinary: right side": measure([((t == SUPPORT) + (f == CONTRADICT), 2) for t, f in pairs]),
        "ordinary: wrong side": measure([((t == CONTRADICT) + (f == SUPPORT), 2) for t, f in pairs]),
        "ordinary: both of a pair": measure([(one, 1) for one in both]),
        "ordinary: both where the claim misleads": measure(
            [(one and trap, trap) for one, trap in zip(both, misled, strict=True)]
        ),
    }


def measure_healthver(reader: DocumentReader, data: Path, most: int) -> dict[str, Figure]:
    """HealthVer's dev split, each abstract whole."""
    some = read_healthver_cases(data, "dev", most)
    return measure_labels("HealthVer dev", judge_cases(reader, tqdm(some, desc="HealthVer dev")))


SETS: Mapping[str, Callable[[DocumentReader, Path, int], dict[str, Figure]]] = {
    "probes": measure_probes, "kinds": measure_kinds, "ordinary": measure_ordinary, "healthver": measure_healthver,
}  # fmt: skip


def measure_reader(reader: DocumentReader, data: Path, sets: Sequence[str], most: int) -> Report:
    """The figures of these sets, of at most `most` papers or claims of each."""
    figures = {name: figure for one in sets for name, figure in SETS[one](reader, data, most).items()}
    title, table = f"The reader {reader.name}, papers given", make_table(figures, ".1%")
    return Report(title, [table], {"figures": figures}, made_with={"models": reader.name})

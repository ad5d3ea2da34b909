"""Doctors' prompts about trial reports (Evidence Inference; Lehman et al. 2019, arXiv 1904.01606; DeYoung et al. 2020): with this
intervention, was this outcome higher, lower or the same as with the comparator?

Labels in trials.csv were made by reading 250 reports that nothing is learnt from: what the report says, and what its abstract
alone lets a reader conclude. As with Cochrane's conclusions, each prompt is asked as two claims, "higher" and "lower".
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.claims.cochrane import answer_from
from eval.measures.report import Report, Table
from eval.measures.resuming import record_each
from eval.scifact.observing import grounding_code
from indexes.readers.base.fields import RecordError
from indexes.readers.base.jsonl import read_some
from retrieval.core.counts import format_count
from retrieval.core.errors import BadInput
from retrieval.core.values import Claim
from retrieval.store.documents import Entry
from retrieval.store.journal import Origin, hash_file
from retrieval.training.measure import bootstrap_interval
from service.grounding.ground import Grounder
from service.grounding.weigh import Outcome, weigh

LABELS = Path(__file__).parent / "trials.csv"
ANSWERS = ("higher", "lower", "no difference")
_FIELDS = "prompt, pmcid, outcome, intervention and comparator"
_OUTCOMES: dict[str, Outcome] = {"support": "support", "contradict": "contradict", "neutral": "silent"}


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt about one report: the claims that ask it, the label by reading the report, and the one by its abstract alone, ""
    where it does not decide."""

    id: str
    pmcid: str
    higher: str
    lower: str
    label: str
    by_abstract: str


def read_prompts(path: Path, labels: Path = LABELS) -> list[Prompt]:
    """The labelled prompts of a file of JSON lines, gzipped or not; raises `BadInput` if one of those labelled is missing."""
    with labels.open(encoding="utf-8", newline="") as lines:
        wanted = {(row["prompt"], row["pmcid"]): row for row in csv.DictReader(lines)}

    def read(row: dict[str, Any], _line: int) -> Prompt | None:
        try:
            outcome, first, second = (" ".join(row[name].split()) for name in ("outcome", "intervention", "comparator"))
            label = wanted.pop((str(row["prompt"]), row["pmcid"]), None)
            if label is None or not label["label"]:
                return None
        except (KeyError, TypeError, AttributeError):
            raise RecordError(f"expected {_FIELDS}") from None
        higher, lower = (f"{outcome[:1].upper()}{outcome[1:]} is {way} with {first} than with {second}." for way in ANSWERS[:2])
        return Prompt(label["prompt"], label["pmcid"], higher, lower, label["label"], label["abstract"])

    prompts = [one for one in read_some(path, read, "prompt", _FIELDS) if one]
    if wanted:
        raise BadInput(
            f"{path} lacks {format_count(len(wanted), 'prompt')} of {labels.name}; expected all prompts on the reports."
        )
    return prompts


def measure_trials(prompts: Sequence[Prompt], path: Path, grounder: Grounder, given: bool, work: Path, command: str) -> Report:
    """Ask every prompt whose report is in the grounder's index; a stopped run resumes from `work`.

    With `given`, the answer is what the report itself is read to say, else the verdict of all papers found. Percentages have 95 %
    intervals from a bootstrap over prompts. Raises `BadInput` if the index has none of the reports.
    """
    entries = {entry.document.pmcid or entry.pmid: entry for entry in grounder.index.store.sample(10**9)}
    asked = [one for one in prompts if one.pmcid in entries]
    if not asked:
        raise BadInput("The index has none of these reports; build it from their records or full texts, with their PMCIDs.")

    def judge(one: Prompt) -> list[Outcome]:
        return [_judge(grounder, claim, entries[one.pmcid], given) for claim in (one.higher, one.lower)]

    origin = Origin(hash_file(path), [grounder.config.name, grounder.models.names(), given], grounding_code())
    outcomes = record_each([(f"{one.pmcid} {one.id}", one) for one in asked], judge, origin, work, "trials", "prompts")
    answers = [(one, _answer(*pair)) for one, pair in zip(asked, outcomes, strict=True)]
    groups = {
        "all": answers,
        "decided by the abstract": [pair for pair in answers if pair[0].by_abstract],
        "not decided by the abstract": [pair for pair in answers if not pair[0].by_abstract],
    }
    measures = {name: dict(_measure(some)) for name, some in groups.items() if len(some) > 1}
    rows = [
        [name, str(len(groups[name])), *(f"{value:.1f} ({low:.1f} to {high:.1f})" for value, low, high in shares.values())]
        for name, shares in measures.items()
    ]
    table = {label: Counter(answer for one, answer in answers if one.label == label) for label in ANSWERS}
    data = {
        "file": path.name, "prompts": len(answers), "missing": len(prompts) - len(asked), "given": given, "measures": measures,
        "table": table, "models": grounder.models.names(), "command": command,
        "answers": [{"prompt": one.id, "pmcid": one.pmcid, "label": one.label, "answer": answer} for one, answer in answers],
    }  # fmt: skip
    columns = (*ANSWERS, "declined")
    answered = [[label, *(str(row[one]) for one in columns)] for label, row in table.items()]
    blocks: list[Table | str] = [
        Table("Prompts, in percent", ["", "prompts", "right", "opposite", "declined"], rows),
        Table("Answers by label", ["label \\ answer", *columns], answered),
    ]
    made_with = {"command": command, "models": data["models"]}
    return Report(f"{path.name}: {format_count(len(answers), 'prompt')}", blocks, data, made_with=made_with)


def _judge(grounder: Grounder, claim: str, entry: Entry, given: bool) -> Outcome:
    if not given:
        return weigh(grounder.ground(Claim(claim))).outcome
    (reading,) = grounder.read(Claim(claim), [entry])
    return _OUTCOMES[reading.verdict.label]


def _answer(higher: Outcome, lower: Outcome) -> str:
    answer = answer_from(higher, lower)
    return answer if answer in ANSWERS else "declined"


def _measure(answers: Sequence[tuple[Prompt, str]]) -> Iterator[tuple[str, tuple[float, float, float]]]:
    tests: dict[str, Callable[[tuple[Prompt, str]], bool]] = {
        "right": lambda pair: pair[0].label == pair[1],
        "opposite": lambda pair: {pair[0].label, pair[1]} == {"higher", "lower"},
        "declined": lambda pair: pair[1] == "declined",
    }
    for name, test in tests.items():
        hits = [100.0 * test(pair) for pair in answers]
        yield name, bootstrap_interval(lambda some: sum(some) / len(some), hits)

"""Doctors' prompts about trial reports (Evidence Inference; Lehman et al. 2019, arXiv 1904.01606; DeYoung et al. 2020): with this
intervention, was this outcome higher, lower or the same as with the comparator?

Labels in trials.csv were made by reading 250 reports that nothing is learnt from: what the report says, and what its abstract
alone lets a reader conclude.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from counterpoint.eval.claims.directions import ANSWERS, DirectedQuestion, measure_directions
from counterpoint.eval.measures.report import Report
from counterpoint.indexes.readers.base.fields import RecordError
from counterpoint.indexes.readers.base.jsonl import read_some
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Claim
from counterpoint.retrieval.words.forms import capitalise
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.grounding.weigh import Outcome, weigh

LABELS = Path(__file__).parent / "trials.csv"
_FIELDS = "prompt, pmcid, outcome, intervention and comparator"
_OUTCOMES: dict[str, Outcome] = {"support": "support", "contradict": "contradict", "neutral": "silent"}


def read_prompts(path: Path, labels: Path = LABELS) -> list[DirectedQuestion]:
    """The labelled prompts of a file of JSON lines, gzipped or not, with "PMCID prompt" as their ids.

    Raises `BadInput` if one of those labelled is missing.
    """
    with labels.open(encoding="utf-8", newline="") as lines:
        wanted = {(row["prompt"], row["pmcid"]): row for row in csv.DictReader(lines)}

    def read(row: dict[str, Any], _line: int) -> DirectedQuestion | None:
        try:
            outcome, first, second = (" ".join(row[name].split()) for name in ("outcome", "intervention", "comparator"))
            label: dict[str, Any] | None = wanted.pop((str(row["prompt"]), row["pmcid"]), None)
            if label is None or not label["label"]:
                return None
        except (KeyError, TypeError, AttributeError):
            raise RecordError(f"expected {_FIELDS}") from None
        higher, lower = (f"{capitalise(outcome)} is {way} with {first} than with {second}." for way in ANSWERS[:2])
        group = f"{'' if label['abstract'] else 'not '}decided by the abstract"
        return DirectedQuestion(f"{label['pmcid']} {label['prompt']}", higher, lower, label["label"], group)

    prompts = [one for one in read_some(path, read, "prompt", _FIELDS) if one]
    if wanted:
        raise BadInput(
            f"{path} lacks {format_count(len(wanted), 'prompt')} of {labels.name}; expected all prompts on the reports."
        )
    return prompts


def measure_trials(prompts: list[DirectedQuestion], path: Path, grounder: Grounder, given: bool, work: Path) -> Report:
    """Ask every prompt whose report is in the grounder's index; a stopped run resumes from `work`.

    With `given`, the answer is what the report itself is read to say, else the verdict of all papers found.
    """
    entries = {entry.document.pmcid or entry.pmid: entry for entry in grounder.index.store.sample(10**9)}
    asked = [one for one in prompts if one.id.split()[0] in entries]
    if not asked:
        raise BadInput("The index has none of these reports; build it from their records or full texts, with their PMCIDs.")

    def judge(one: DirectedQuestion, claim: str) -> Outcome:
        if not given:
            return weigh(grounder.ground(Claim(claim))).outcome
        (reading,) = grounder.read(Claim(claim), [entries[one.id.split()[0]]])
        return _OUTCOMES[reading.verdict.label]

    return measure_directions(asked, path, judge, grounder, work, ANSWERS[:3], given)

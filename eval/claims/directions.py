"""Questions that a direction answers: with this treatment, is this outcome higher, lower or the same as with that one?

Each is asked as two claims, "higher" and "lower"; the two verdicts give one answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

from counterpoint.eval.measures.figures import Resampler
from counterpoint.eval.measures.report import Report, Table, show
from counterpoint.eval.measures.resuming import record_each
from counterpoint.eval.scifact.observing import grounding_code
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.store.journal import Origin, hash_file
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.grounding.weigh import Outcome

Answer = Literal["higher", "lower", "no difference", "uncertain effect", "insufficient data"]
ANSWERS: tuple[Answer, ...] = get_args(Answer)
DECLINED: Literal["declined"] = "declined"
Given = Answer | Literal["declined"]
DIRECTED = "with a direction"


@dataclass(frozen=True, slots=True)
class DirectedQuestion:
    """A question: its id, the claims that ask it, the right answer, and a group to measure apart, "" for none."""

    id: str
    higher: str
    lower: str
    answer: Answer
    group: str = ""


def answer_from(higher: Outcome, lower: Outcome) -> Given:
    """The answer that the verdicts on "higher" and "lower" give; declined if it is uncertain which papers take a side.

    A side that is supported is the answer unless the other is too; where none is, one that is contradicted leaves no difference,
    and mixed evidence an uncertain effect; where the papers say nothing on either claim, the data are insufficient.
    """
    outcomes = {higher, lower}
    if outcomes <= {"silent", "nothing"}:
        return "insufficient data"
    if higher == lower == "support" or "mixed" in outcomes:
        return "uncertain effect"
    if "support" in outcomes:
        return "higher" if higher == "support" else "lower"
    return "no difference" if "contradict" in outcomes else DECLINED


def measure_directions(
    questions: Sequence[DirectedQuestion],
    file: Path,
    judge: Callable[[DirectedQuestion, str], Outcome],
    grounder: Grounder,
    work: Path,
    answers: Sequence[Answer] = ANSWERS,
    given: bool = False,
) -> Report:
    """Ask every question of a file, by the outcome that `judge` finds for each of its claims; a stopped run resumes from `work`.

    An answer that is none of `answers` counts as declined. Shares have 95 % intervals from a bootstrap over questions.
    """

    def ask(one: DirectedQuestion) -> list[Outcome]:
        return [judge(one, claim) for claim in (one.higher, one.lower)]

    origin = Origin(hash_file(file), [grounder.config.name, grounder.models.names(), given], grounding_code())
    outcomes = record_each(questions, ask, origin, work, "directions", "questions")
    said = [answer if (answer := answer_from(*pair)) in answers else DECLINED for pair in outcomes]
    directed = ["higher", "lower"]
    groups = {"all": [True] * len(questions), DIRECTED: [one.answer in directed for one in questions]}
    groups |= {name: [one.group == name for one in questions] for name in dict.fromkeys(one.group for one in questions) if name}
    hits = {
        "right": [one.answer == answer for one, answer in zip(questions, said, strict=True)],
        "opposite": [sorted((one.answer, answer)) == directed for one, answer in zip(questions, said, strict=True)],
        "declined": [answer == DECLINED for answer in said],
    }
    resampler = Resampler(len(questions))
    figures = {group: {name: resampler.share(some, members) for name, some in hits.items()} for group, members in groups.items()}
    table = {
        label: Counter(answer for one, answer in zip(questions, said, strict=True) if one.answer == label) for label in answers
    }
    commonest = max(Counter(one.answer for one in questions).values()) / len(questions)
    data = {
        "file": file.name, "questions": len(questions), "given": given, "commonest": commonest, "figures": figures,
        "table": table,
        "answers": [
            {**asdict(one), "given": answer, "found_higher": pair[0], "found_lower": pair[1]}
            for one, answer, pair in zip(questions, said, outcomes, strict=True)
        ],
    }  # fmt: skip
    blocks: list[Table | str] = [
        Table(
            "Shares",
            ["questions", "number", *hits],
            [[name, str(sum(groups[name])), *(show(one, ".1%") for one in own.values())] for name, own in figures.items()],
        ),
        f"Always giving the commonest answer is right for {commonest:.1%}.",
        Table(
            "Answers",
            ["right \\ given", *answers, DECLINED],
            [[label, *(str(row[one]) for one in (*answers, DECLINED))] for label, row in table.items()],
        ),
    ]
    title = f"{file.name}: {format_count(len(questions), 'question')}"
    return Report(title, blocks, data, made_with={"models": grounder.models.names()})

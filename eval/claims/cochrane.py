"""Agreement with the conclusions of Cochrane's reviews: MedEvidence (ICLR 2026), questions on an outcome under two treatments.

Each question asks whether an outcome is higher, lower or the same with one treatment than with another. It is asked as two
claims, "higher" and "lower", over one index of all abstracts that the reviews rest on; the two verdicts give one answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from eval.measures.report import Report, Table
from eval.measures.resuming import record_each
from eval.scifact.observing import grounding_code
from indexes.readers.base.fields import RecordError
from indexes.readers.base.jsonl import read_some
from retrieval.core.counts import format_count
from retrieval.core.values import Claim, Document
from retrieval.store.journal import Origin, hash_file
from retrieval.training.measure import bootstrap_interval
from service.grounding.ground import Grounder
from service.grounding.weigh import Outcome, weigh

Answer = Literal["higher", "lower", "no difference", "uncertain effect", "insufficient data"]
ANSWERS: tuple[Answer, ...] = get_args(Answer)
DECLINED: Literal["declined"] = "declined"
Given = Answer | Literal["declined"]
_QUESTION = re.compile(
    r"(is|are) (.+?),? (?:higher|lower), (?:higher|lower),? or the same,?(?: when)? comparing (?:following )?(.+)\?",
    re.IGNORECASE,
)
_FIELDS = "question, answer and abstracts (pmid, title, abstract)"
_BETWEEN = (" to ", " versus ", " vs. ", " vs ", " with ", " and ")
"""What stands between the two treatments, the surest first."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A question, the review's answer, and the claims that ask it."""

    question: str
    answer: Answer
    higher: str
    lower: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of a question: the outcomes of its two claims, and the answer that they give."""

    conclusion: Conclusion
    higher: Outcome
    lower: Outcome

    @property
    def given(self) -> Given:
        """The answer."""
        return answer_from(self.higher, self.lower)

    @property
    def right(self) -> bool:
        """Whether it is the review's."""
        return self.given == self.conclusion.answer

    @property
    def opposite(self) -> bool:
        """Whether it is the other direction."""
        return {self.given, self.conclusion.answer} == {"higher", "lower"}


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


def ask(question: str) -> tuple[str, str]:
    """The two claims of a question: the outcome is higher, and lower, with the first treatment than with the second.

    Raises `RecordError` for a question of another form.
    """
    match = _QUESTION.fullmatch(" ".join(question.split()))
    if match is None:
        raise RecordError(f"expected “Is … higher, lower, or the same when comparing … to …?”, got {question!r}")
    verb, outcome, treatments = match.groups()
    between = next((one for one in _BETWEEN if one in treatments), None)
    first, _, second = treatments.rpartition(between) if between else (treatments, "", "")
    than = f"with {first} than with {second}" if second else f"when comparing {treatments}"
    higher, lower = (f"{outcome[0].upper()}{outcome[1:]} {verb.lower()} {way} {than}." for way in ("higher", "lower"))
    return higher, lower


def read_conclusions(path: Path) -> tuple[list[Conclusion], list[Document]]:
    """The questions of a file of JSON lines, gzipped or not, and the abstracts of all their reviews.

    Raises `BadInput` for a file that cannot be used and `BadRecord` for an invalid line.
    """
    documents: dict[str, Document] = {}

    def read(row: dict[str, Any], _line: int) -> Conclusion:
        try:
            if row["answer"] not in ANSWERS:
                raise RecordError(f"expected answer to be one of {', '.join(ANSWERS)}, got {row['answer']!r}")
            for one in row["abstracts"]:
                pmid = str(one["pmid"])
                documents[pmid] = Document(pmid, str(one["title"]), str(one["abstract"]))
            return Conclusion(row["question"], row["answer"], *ask(row["question"]))
        except (KeyError, TypeError, AttributeError):
            raise RecordError(f"expected {_FIELDS}") from None

    return read_some(path, read, "question", _FIELDS), list(documents.values())


def measure_cochrane(conclusions: Sequence[Conclusion], path: Path, grounder: Grounder, work: Path, command: str) -> Report:
    """Ask every question over the grounder's index; a stopped run resumes from `work`.

    The report has percentages with 95 % intervals from a bootstrap over questions, and the answers given by the review's.
    """

    def judge(one: Conclusion) -> list[Outcome]:
        return [weigh(grounder.ground(Claim(claim))).outcome for claim in (one.higher, one.lower)]

    origin = Origin(hash_file(path), [grounder.config.name, grounder.models.names()], grounding_code())
    outcomes = record_each([(one.question, one) for one in conclusions], judge, origin, work, "cochrane", "questions")
    judgements = [Judgement(one, *pair) for one, pair in zip(conclusions, outcomes, strict=True)]
    directed = [judgement for judgement in judgements if judgement.conclusion.answer in ("higher", "lower")]

    def measure(test: Callable[[Judgement], bool]) -> tuple[float, float, float]:
        return bootstrap_interval(lambda some: 100 * sum(map(test, some)) / len(some), judgements)

    table = {answer: Counter(case.given for case in judgements if case.conclusion.answer == answer) for answer in ANSWERS}
    agreement, declined = measure(lambda one: one.right), measure(lambda one: one.given == DECLINED)
    commonest = 100 * max(Counter(conclusion.answer for conclusion in conclusions).values()) / len(conclusions)
    right, opposite = sum(judgement.right for judgement in directed), sum(judgement.opposite for judgement in directed)
    data = {
        "file": path.name,
        "questions": len(judgements),
        "agreement": agreement,
        "declined": declined,
        "commonest": commonest,
        "directed": len(directed),
        "right": right,
        "opposite": opposite,
        "table": table,
        "models": grounder.models.names(),
        "command": command,
        "judgements": [
            {**asdict(case.conclusion), "given": case.given, "found_higher": case.higher, "found_lower": case.lower}
            for case in judgements
        ],
    }
    columns = (*ANSWERS, DECLINED)
    rows = [[answer, *(str(row[given]) for given in columns)] for answer, row in table.items()]
    agreed, unsaid = (f"{value:.1f} % ({low:.1f} to {high:.1f})" for value, low, high in (agreement, declined))
    blocks: list[Table | str] = [
        f"agreement {agreed}; declined {unsaid}; always the commonest answer {commonest:.1f} %",
        f"of {len(directed)} with a direction {right} right, {opposite} opposite",
        Table("Answers by the review's", ["review \\ given", *columns], rows),
    ]
    made_with = {"command": command, "models": data["models"]}
    return Report(f"{path.name}: {format_count(len(judgements), 'question')}", blocks, data, made_with=made_with)

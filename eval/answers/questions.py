"""Evaluate answers to questions that an index is known to answer or not: answered or declined, right verdict, misleading.

A question with the answer yes or no is answerable, and its papers are named; one with the answer none is answered by no paper of
the index. An answer misleads where its verdict says the opposite of the known answer, or where it counts one of the question's
papers for the other side. Only a reader can say whether its sentences are relevant, so the report holds them all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from counterpoint.eval.measures.columns import read_columns
from counterpoint.eval.measures.figures import Figure, Resampler
from counterpoint.eval.measures.report import Report, Table, make_table
from counterpoint.eval.measures.resuming import record_each
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadInput, BadRecord
from counterpoint.retrieval.core.values import Answer, Topic
from counterpoint.retrieval.store.journal import Origin, hash_json
from counterpoint.service.answering.answer import Answerer
from counterpoint.service.runs.journal import code_of

Answerable = Literal["yes", "no", "none"]
ANSWERS: tuple[Answerable, ...] = get_args(Answerable)
COLUMNS = ("question", "answer", "pmids")
_OPPOSITE = {"yes": "no", "no": "yes"}
_CODE = (
    "counterpoint.eval.answers.questions",
    "counterpoint.generation.extractive",
    "counterpoint.generation.question",
    "counterpoint.service.answering.answer",
    "counterpoint.service.answering.verdict",
    "counterpoint.service.grounding.ground",
)


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question, its known answer, the papers that give it."""

    question: str
    answer: Answerable
    pmids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """The answer: its verdict's outcome ("" for none) and certainty, the papers of each side, those cited, the sentences."""

    answered: bool
    verdict: str
    certainty: float
    supporting: Sequence[str]
    contradicting: Sequence[str]
    cited: Sequence[str]
    sentences: Sequence[str]
    note: str


def summarise(answer: Answer) -> GivenAnswer:
    """What is measured of an answer."""
    verdict = answer.verdict
    return GivenAnswer(
        answered=answer.outcome == "answered",
        verdict=verdict.outcome if verdict else "",
        certainty=verdict.certainty if verdict else 0.0,
        supporting=[evidence.document.pmid for evidence in verdict.supporting] if verdict else [],
        contradicting=[evidence.document.pmid for evidence in verdict.contradicting] if verdict else [],
        cited=list(dict.fromkeys(one.document.pmid for sentence in answer.sentences for one in sentence.citations)),
        sentences=[sentence.text for sentence in answer.sentences],
        note=answer.note,
    )


def read_questions(path: Path) -> list[AskedQuestion]:
    """The questions of a UTF-8 CSV with the columns question, answer, pmids (separated by spaces).

    Raises `BadInput` for a file that cannot be used and `BadRecord` for an invalid row.
    """
    questions = [_read_row(path, line, row) for line, row in read_columns(path, COLUMNS)]
    if not questions:
        raise BadInput(f"{path} contains no question; expected a line for each question below the header.")
    return questions


def _read_row(path: Path, line: int, row: Mapping[str, str]) -> AskedQuestion:
    question, answer, pmids = row["question"], row["answer"], tuple(row["pmids"].split())
    if not question:
        raise BadRecord(path, f"line {line}", "expected a question in the column question, got nothing.")
    if answer not in ANSWERS:
        raise BadRecord(path, f"line {line}", f"expected yes, no or none in the column answer, got {answer!r}.")
    if bool(pmids) != (answer != "none"):
        raise BadRecord(path, f"line {line}", "expected the PMIDs of the papers that answer it, and none where none does.")
    return AskedQuestion(question, answer, pmids)


def answer_all(
    questions: Sequence[AskedQuestion], answerer: Answerer, work: Path, settings: Mapping[str, Any]
) -> dict[str, GivenAnswer]:
    """The answer to each question; a stopped run resumes from `work`.

    Raises `Interrupted` where the user stops it.
    """
    origin = Origin(answerer.index.manifest.id, settings, code_of(*_CODE))

    def ask(one: AskedQuestion) -> dict[str, Any]:
        return asdict(summarise(answerer.answer(Topic(hash_json(one.question)[:8], one.question))))

    records = record_each(questions, ask, origin, work, "questions", "questions")
    return {one.question: GivenAnswer(**record) for one, record in zip(questions, records, strict=True)}


def is_misleading(question: AskedQuestion, answer: GivenAnswer) -> bool:
    """Whether the verdict is the opposite of the known answer, or a paper that gives it is counted for the other side."""
    opposite = _OPPOSITE.get(question.answer)
    other_side = {"yes": answer.contradicting, "no": answer.supporting}.get(question.answer, ())
    return (
        answer.answered and opposite is not None and (answer.verdict == opposite or bool(set(question.pmids) & set(other_side)))
    )


def figures(questions: Sequence[AskedQuestion], answers: Mapping[str, GivenAnswer]) -> dict[str, Figure]:
    """Shares with 95 % intervals from a bootstrap over questions; a mixed or unclear verdict is neither right nor wrong."""
    among, pairs = Resampler(len(questions)).share, [(question, answers[question.question]) for question in questions]
    answerable = [question.answer != "none" for question in questions]
    has_answer = [answer.answered for _, answer in pairs]
    both = [able and answer for able, answer in zip(answerable, has_answer, strict=True)]
    return {
        "answered, of the answerable": among(has_answer, answerable),
        "declined, of the others": among([not one for one in has_answer], [not one for one in answerable]),
        "verdict right, of the answered": among([answer.verdict == one.answer for one, answer in pairs], both),
        "verdict wrong, of the answered": among([answer.verdict == _OPPOSITE.get(one.answer) for one, answer in pairs], both),
        "known paper cited, of the answered": among([bool(set(one.pmids) & set(answer.cited)) for one, answer in pairs], both),
        "misleading, of the answerable": among([is_misleading(one, answer) for one, answer in pairs], answerable),
    }


def name_fault(question: AskedQuestion, answers: Mapping[str, GivenAnswer]) -> str:
    """What went wrong with a question, "" where nothing did."""
    answer = answers[question.question]
    if question.answer == "none":
        return "answered, though nothing answers it" if answer.answered else ""
    if not answer.answered:
        return "declined"
    if is_misleading(question, answer):
        return f"misleading (verdict {answer.verdict or 'none'}, known {question.answer})"
    if answer.verdict != question.answer:
        return f"verdict {answer.verdict or 'none'}, known {question.answer}"
    return ""


def show_questions(title: str, questions: Sequence[AskedQuestion], answers: Mapping[str, GivenAnswer]) -> Report:
    """The figures, then every question that went wrong, and how."""
    measured = figures(questions, answers)
    faults = [name_fault(question, answers) for question in questions]
    data = {
        "figures": measured,
        "questions": [
            {**asdict(one), "fault": fault, "given": asdict(answers[one.question])}
            for one, fault in zip(questions, faults, strict=True)
        ],
    }
    blocks: list[Table | str] = [
        f"{format_count(len(questions), 'question')}, "
        f"{sum(question.answer == 'none' for question in questions)} of them unanswerable.",
        make_table(measured, ".1%"),
        *(f"{fault}: {one.question}" for one, fault in zip(questions, faults, strict=True) if fault),
    ]
    return Report(title, blocks, data)

"""Evaluate answers to open questions: how many are answered, with how many rows, and a file of the rows to be read.

Questions are JSON lines: BioASQ's own ("body", with "snippets" and, for lists, "exact_answer") or {"question": …}; of a file that
marks some as "held" only those are asked. A list of ids chooses among them. BioASQ's snippets can stand for the abstracts of the
papers that hold them. Only a reader can say whether a row is right; a known answer that a row names is counted beside it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterpoint.eval.measures.figures import Resampler
from counterpoint.eval.measures.report import Report, Table, show
from counterpoint.eval.measures.resuming import record_each
from counterpoint.indexes.readers.base.fields import RecordError
from counterpoint.indexes.readers.base.jsonl import read_records
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Answer, Topic
from counterpoint.retrieval.store.journal import Origin
from counterpoint.retrieval.words.terms import split_terms
from counterpoint.service.answering.answer import Answerer
from counterpoint.service.runs.journal import code_of

_CODE = (
    "counterpoint.nli.reader.answers",
    "counterpoint.generation.statement",
    "counterpoint.service.answering.names",
    "counterpoint.service.answering.table",
)


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question with its id; the forms of each known answer; and the papers that hold it: title and abstract by PMID."""

    id: str
    question: str
    known: tuple[tuple[str, ...], ...]
    papers: Mapping[str, tuple[str, str]]


def read_open_questions(file: Path, ids: Collection[str] = ()) -> list[OpenQuestion]:
    """The questions of a file, those with these `ids` if there are any; raises `BadInput` if there are none."""
    rows: dict[str, dict[str, Any]] = {}

    def read(row: dict[str, Any], _line: int) -> None:
        if not isinstance(text := row.get("body") or row.get("question"), str):
            raise RecordError("expected “question” or “body”")
        rows.setdefault(text, row)

    list(read_records(file, read))
    some_held = any(row.get("held") for row in rows.values())
    found = [_read(text, row) for text, row in rows.items() if row.get("held") or not some_held]
    chosen = [one for one in found if one.id in ids or not ids]
    if not chosen:
        raise BadInput(f"{file} has none of the questions asked for; expected JSON lines with “question” or “body”.")
    return chosen


def _read(text: str, row: Mapping[str, Any]) -> OpenQuestion:
    papers: dict[str, tuple[list[str], list[str]]] = {}
    for snippet in row.get("snippets", ()):
        title, body = papers.setdefault(snippet["pmid"], ([], []))
        (title if snippet["section"] == "title" else body).append(" ".join(snippet["text"].split()))
    joined = {pmid: (" ".join(title[:1]), _join(body)) for pmid, (title, body) in papers.items()}
    known = tuple(tuple(forms) for forms in row.get("exact_answer") or ())
    return OpenQuestion(row.get("id") or hashlib.sha256(text.encode()).hexdigest()[:16], text, known, joined)


def _join(snippets: Sequence[str]) -> str:
    """Snippets as one text, without those that another holds."""
    texts = [
        text for text in dict.fromkeys(snippets) if not any(text.strip(" .") in other for other in snippets if other != text)
    ]
    return " ".join(text if text.endswith((".", "!", "?")) else f"{text}." for text in texts)


def write_snippets(questions: Sequence[OpenQuestion], corpus: Path) -> None:
    """Write the papers of the questions as a corpus of JSON lines, each with its snippets as its abstract."""
    papers = {pmid: paper for one in questions for pmid, paper in one.papers.items()}
    lines = (json.dumps({"pmid": pmid, "title": title, "abstract": text}) for pmid, (title, text) in papers.items())
    corpus.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def answer_open(
    questions: Sequence[OpenQuestion], answerer: Answerer, work: Path, settings: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """The outcome and the rows of each answer, by the question's id; a stopped run resumes from `work`.

    Raises `Interrupted` where the user stops it.
    """
    origin = Origin(answerer.index.manifest.corpus_sha256, settings, code_of(*_CODE))

    def ask(one: OpenQuestion) -> dict[str, Any]:
        answer = answerer.answer(Topic(one.id, one.question))
        return {"outcome": answer.outcome, "rows": list(_list_rows(one, answer)), "others": len(answer.others)}

    records = record_each(questions, ask, origin, work, "open", "questions")
    return {one.id: record for one, record in zip(questions, records, strict=True)}


def _list_rows(question: OpenQuestion, answer: Answer) -> Iterator[dict[str, Any]]:
    for row in answer.rows:
        document, sentence = row.evidence.document, row.evidence.sentence
        yield {
            "id": question.id, "question": question.question, "answer": row.answer, "named": row.named,
            "statement": row.statement, "pmid": document.pmid, "sentence": sentence.text if sentence else "",
            "title": document.title, "abstract": document.abstract, "side": row.evidence.stance,
        }  # fmt: skip


def is_known(known: Sequence[Sequence[str]], name: str) -> bool:
    """Whether a name holds a form of a known answer, or stands in one."""
    terms = set(split_terms(name))
    forms = [set(split_terms(form)) for forms in known for form in forms]
    return any(form and terms and (form <= terms or terms <= form) for form in forms)


def measure_f1(question: OpenQuestion, rows: Sequence[Mapping[str, Any]]) -> float:
    """F1 of the answers that papers support against the known ones, as BioASQ's list questions are scored; 0 without any."""
    named = {row["answer"] for row in rows if row["side"] == "support"}
    right = sum(is_known(question.known, name) for name in named)
    if not right:
        return 0.0
    met = sum(any(is_known([forms], name) for name in named) for forms in question.known)
    precision, recall = right / len(named), met / len(question.known)
    return 2 * precision * recall / (precision + recall)


def show_open(title: str, questions: Sequence[OpenQuestion], answers: Mapping[str, Mapping[str, Any]]) -> Report:
    """How many questions were answered, with how many rows, and how many of these name a known answer."""
    given = [answers[one.id] for one in questions]
    figure = Resampler(len(questions)).share(one["outcome"] == "answered" for one in given)
    rows = [(one, row) for one, answer in zip(questions, given, strict=True) for row in answer["rows"]]
    judged = [is_known(one.known, row["answer"]) for one, row in rows if one.known]
    listed = [(one, answer) for one, answer in zip(questions, given, strict=True) if one.known]
    f1 = Resampler(len(listed)).share(measure_f1(one, answer["rows"]) for one, answer in listed) if listed else None
    table = [
        ["answered", show(figure, ".1%")],
        ["papers listed without an answer", str(sum(one["outcome"] == "listed" for one in given))],
        ["rows", str(len(rows))],
        *([["rows that name a known answer", f"{sum(judged)} of {len(judged)}"]] if judged else []),
        *([["F1 against the known answers, mean", show(f1, ".1%")]] if f1 else []),
    ]
    return Report(title, [Table("", ["measure", "value and 95 % interval"], table)], {"questions": dict(answers)})

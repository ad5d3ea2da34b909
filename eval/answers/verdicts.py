"""How often the verdict of an answer is right, on questions with a known answer, asked of an index or of their own papers.

Yes, no and maybe are PubMedQA's labels (Jin et al. 2019, arXiv 1909.06146). A mixed or unclear one counts as maybe, and so does
a question that gets no verdict. The certainty of verdicts that say yes or no is compared with how often they are right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from counterpoint.eval.measures.figures import Figure, Floats, Resampler, Tally, f1, macro_f1
from counterpoint.eval.measures.report import Report, Table, make_table
from counterpoint.eval.measures.resuming import record_each
from counterpoint.generation.question import parse_question
from counterpoint.indexes.readers.base import jsonl
from counterpoint.indexes.readers.base.fields import RecordError
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.values import Claim
from counterpoint.retrieval.store.journal import Origin
from counterpoint.service.answering.verdict import GroundedQuestion, ground_question, weigh_question
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.grounding.show import show as show_papers
from counterpoint.service.runs.journal import code_of

Known = Literal["yes", "no", "maybe"]
ANSWERS: tuple[Known, ...] = get_args(Known)
BINS = 10
_CODE = ("counterpoint.eval.answers.verdicts", "counterpoint.service.answering.verdict", "counterpoint.service.grounding.ground")


@dataclass(frozen=True, slots=True)
class KnownQuestion:
    """A question, its right answer, and the papers that give that answer."""

    id: str
    question: str
    answer: Known
    pmids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MeasuredVerdict:
    """What a verdict said: "" where there was none. `read` counts papers on the question; `own` is whether one is its own."""

    id: str
    outcome: str
    certainty: float
    read: int
    own: bool

    @property
    def answer(self) -> Known:
        """The outcome as one of the three answers."""
        return self.outcome if self.outcome in ("yes", "no") else "maybe"  # type: ignore[return-value]


def read_known(path: Path) -> list[KnownQuestion]:
    """PubMedQA's records (QUESTION, final_decision, pmid), or JSON lines with question, answer and perhaps pmids.

    Raises `BadInput` for a file without a question or with an invalid line.
    """
    return jsonl.read_some(path, _read_known, "question", "question and answer")


def _read_known(record: Mapping[str, Any], number: int) -> KnownQuestion:
    question, answer = record.get("QUESTION", record.get("question")), record.get("final_decision", record.get("answer"))
    if not isinstance(question, str) or not question.strip():
        raise RecordError('expected a question in "question" (or PubMedQA\'s "QUESTION")')
    if answer not in ANSWERS:
        raise RecordError(f'expected yes, no or maybe in "answer" (or PubMedQA\'s "final_decision"), got {answer!r}')
    values = record.get("pmids", [record["pmid"]] if "pmid" in record else [])
    if not isinstance(values, list):
        raise RecordError('expected a list of PMIDs in "pmids"')
    pmids = tuple(str(one) for one in values)
    return KnownQuestion(str(record.get("id", record.get("pmid", number))), question, answer, pmids)


def weigh_all(
    questions: Sequence[KnownQuestion],
    grounder: Grounder,
    with_papers: bool,
    work: Path,
    corpus: str,
    settings: Mapping[str, Any],
) -> list[MeasuredVerdict]:
    """The verdict for each question; a stopped run resumes from what `work` keeps for the same `corpus` and `settings`.

    With `with_papers`, the question's own papers are read in place of search results.
    Raises `Interrupted` where the user stops it.
    """
    origin = Origin(corpus, {**settings, "given": with_papers}, code_of(*_CODE))

    def ask(one: KnownQuestion) -> dict[str, Any]:
        study = study_papers(grounder, one) if with_papers else ground_question(grounder, one.question)
        return asdict(measure_verdict(one, study))

    return [MeasuredVerdict(**record) for record in record_each(questions, ask, origin, work, "verdicts", "questions")]


def study_papers(grounder: Grounder, question: KnownQuestion) -> GroundedQuestion | None:
    """What those of the question's own papers that the index holds say, whether or not a search would find them."""
    asked = parse_question(question.question)
    if asked is None:
        return None
    held = grounder.index.store.holds(list(question.pmids))
    entries = [entry for entry in grounder.index.entries([pmid for pmid in question.pmids if pmid in held]) if len(entry)]
    claim, step = Claim(asked.claim), grounder.path.show
    return weigh_question(
        asked, show_papers(claim, grounder.read(claim, entries), {entry.pmid: entry for entry in entries}, len(entries), step)
    )


def measure_verdict(question: KnownQuestion, study: GroundedQuestion | None) -> MeasuredVerdict:
    """The verdict of one question, as a record that can be kept."""
    if study is None or study.verdict is None:
        return MeasuredVerdict(question.id, "", 0.0, 0, False)
    on_it = {paper.document.pmid for paper in study.papers}
    own = not on_it.isdisjoint(question.pmids)
    return MeasuredVerdict(question.id, study.verdict.outcome, study.verdict.certainty, len(on_it), own)


def figures(questions: Sequence[KnownQuestion], verdicts: Sequence[MeasuredVerdict]) -> dict[str, Figure]:
    """Accuracy, macro-F1 and each answer's F1; how many got yes or no and how many of these are right; ECE of the certainty.

    Each has a 95 % interval from a bootstrap over questions.
    """
    resampler = Resampler(len(questions))
    pairs = [(one.answer, verdict.answer) for one, verdict in zip(questions, verdicts, strict=True)]
    counts = [
        [n for label in ANSWERS for n in (float(answer == verdict == label), float(verdict == label), float(answer == label))]
        for answer, verdict in pairs
    ]
    right = [float(answer == verdict) for answer, verdict in pairs]
    decisions = [float(verdict.outcome in ("yes", "no")) for verdict in verdicts]
    bins = [_count_in_bins(verdict, ok) for verdict, ok in zip(verdicts, right, strict=True)]
    each = {f"F1 {label}": Tally.of([row[3 * i : 3 * i + 3] for row in counts], f1) for i, label in enumerate(ANSWERS)}
    return {
        "accuracy": resampler.share(right),
        "macro-F1": resampler.figure(Tally.of(counts, macro_f1)),
        **{name: resampler.figure(tally) for name, tally in each.items()},
        "said yes or no": resampler.share(decisions),
        "these right": resampler.share(right, decisions),
        "ECE": resampler.figure(Tally.of(bins, _calibration_error)),
        "own paper read": resampler.share(verdict.own for verdict in verdicts),
    }


def _count_in_bins(verdict: MeasuredVerdict, right: float) -> list[float]:
    """[3 × bins]: how many verdicts of yes or no lie in each bin of certainty, their certainty, and how many are right."""
    row = [0.0] * (3 * BINS)
    if verdict.outcome in ("yes", "no"):
        place = min(int(verdict.certainty * BINS), BINS - 1)
        row[place], row[BINS + place], row[2 * BINS + place] = 1.0, verdict.certainty, right
    return row


def _calibration_error(sums: Floats) -> Floats:
    """Expected calibration error (Naeini et al. 2015): the weighted gap per bin between certainty and accuracy."""
    count, sure, right = sums[..., :BINS], sums[..., BINS : 2 * BINS], sums[..., 2 * BINS :]
    whole = count.sum(axis=-1)
    error: Floats = np.divide(np.abs(sure - right).sum(axis=-1), whole, out=np.full(np.shape(whole), np.nan), where=whole != 0)
    return error


def show_verdicts(title: str, questions: Sequence[KnownQuestion], verdicts: Sequence[MeasuredVerdict]) -> Report:
    """The figures, and which verdicts each known answer got."""
    most = max(sum(question.answer == answer for question in questions) for answer in ANSWERS) / len(questions)
    measured = figures(questions, verdicts)
    rows = []
    for answer in ANSWERS:
        given = [verdict.answer for one, verdict in zip(questions, verdicts, strict=True) if one.answer == answer]
        rows.append([answer, *(str(given.count(one)) for one in ANSWERS)])
    data = {
        "figures": measured,
        "questions": [
            {"id": one.id, "answer": one.answer, "verdict": verdict.outcome, "certainty": verdict.certainty, "own": verdict.own}
            for one, verdict in zip(questions, verdicts, strict=True)
        ],
    }
    blocks: list[Table | str] = [
        f"{format_count(len(questions), 'question')}; always giving the most common answer is right for {most:.1%}.",
        make_table(measured),
        Table("Verdicts by the right answer", ["right answer", *ANSWERS], rows),
    ]
    return Report(title, blocks, data)

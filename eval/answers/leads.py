"""How often the lead of an answer is right, on questions with a known answer, asked of an index or of their own papers.

Yes, no and maybe are PubMedQA's labels (Jin et al. 2019, arXiv 1909.06146). A mixed or unclear lead counts as maybe, and so does
a question that gets no lead. The certainty of leads that say yes or no is compared with how often they are right, and can be
fitted: it is the probability that such a lead is right, from the log odds of its strongest paper (Platt 1999). Where each
question has one paper, nothing opposes it: the weight of agreement between the sides cannot be estimated and stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from eval.measures.figures import Figure, Floats, Resampler, Tally, f1, macro_f1, share
from eval.measures.report import Report, Table, show
from eval.measures.resuming import record_each
from generation.question import parse_question
from indexes.readers.base import jsonl
from indexes.readers.base.fields import RecordError
from retrieval.core.english import format_count
from retrieval.core.errors import BadInput
from retrieval.core.probabilities import log_odds
from retrieval.core.values import Claim
from retrieval.store.journal import Origin, hash_json
from service.answering.lead import GroundedQuestion, ground_question, weigh_question
from service.configuration.config import Show
from service.grounding.ground import Grounder
from service.grounding.show import show as show_papers
from service.grounding.weigh import AGREEMENT
from service.runs.journal import code_of

Known = Literal["yes", "no", "maybe"]
ANSWERS: tuple[Known, ...] = get_args(Known)
BINS = 10
FEWEST = 30
"""The fewest leads of yes or no, right and wrong ones, that a fit needs."""
_CODE = (
    "eval.answers.leads",
    "service.answering.lead",
    "service.grounding.ground",
)


@dataclass(frozen=True, slots=True)
class KnownQuestion:
    """A question, its right answer, and the papers that give that answer."""

    id: str
    question: str
    answer: Known
    pmids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MeasuredLead:
    """What a lead said: "" where there was none. `read` counts papers on the question; `own` is whether one is its own.

    `whole` holds the probabilities of support, neither and contradiction of the paper with the most weight; it is empty where no
    paper was read whole.
    """

    id: str
    verdict: str
    certainty: float
    read: int
    own: bool
    whole: tuple[float, ...] = ()

    @property
    def answer(self) -> Known:
        """The verdict as one of the three answers."""
        return self.verdict if self.verdict in ("yes", "no") else "maybe"  # type: ignore[return-value]


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


def lead_all(
    questions: Sequence[KnownQuestion],
    grounder: Grounder,
    with_papers: bool,
    work: Path,
    corpus: str,
    settings: Mapping[str, Any],
) -> list[MeasuredLead]:
    """The lead for each question; a stopped run resumes from what `work` keeps for the same `corpus` and `settings`.

    With `with_papers`, the question's own papers are read in place of search results.
    Raises `Interrupted` where the user stops it.
    """
    origin = Origin(corpus, {**settings, "given": with_papers}, code_of(*_CODE))
    items = [(hash_json(asdict(question)), question) for question in questions]

    def ask(one: KnownQuestion) -> dict[str, Any]:
        return asdict(measure_lead(one, study_papers(grounder, one) if with_papers else ground_question(grounder, one.question)))

    records = record_each(items, ask, origin, work, "leads", "questions")
    return [MeasuredLead(**{**record, "whole": tuple(record["whole"])}) for record in records]


def study_papers(grounder: Grounder, question: KnownQuestion) -> GroundedQuestion | None:
    """What those of the question's own papers that the index holds say, whether or not a search would find them."""
    asked = parse_question(question.question)
    if asked is None:
        return None
    held = grounder.index.store.holds(list(question.pmids))
    entries = [entry for entry in grounder.index.entries([pmid for pmid in question.pmids if pmid in held]) if len(entry)]
    claim, step = Claim(asked.claim), grounder.config.path.show if grounder.config.path else Show()
    return weigh_question(
        asked, show_papers(claim, grounder.read(claim, entries), {entry.pmid: entry for entry in entries}, len(entries), step)
    )


def measure_lead(question: KnownQuestion, study: GroundedQuestion | None) -> MeasuredLead:
    """The lead of one question, as a record that can be kept."""
    if study is None or study.lead is None:
        return MeasuredLead(question.id, "", 0.0, 0, False)
    on_it = {paper.document.pmid for paper in study.papers}
    has_own, first = not on_it.isdisjoint(question.pmids), study.papers[0]
    verdict = first.verdict if first.verdict and first.verdict.of == "document" else None
    whole = (verdict.support, verdict.neutral, verdict.contradict) if verdict else ()
    return MeasuredLead(question.id, study.lead.verdict, study.lead.certainty, len(on_it), has_own, whole)


def figures(questions: Sequence[KnownQuestion], leads: Sequence[MeasuredLead]) -> dict[str, Figure]:
    """Accuracy, macro-F1 and each answer's F1; how many got yes or no and how many of these are right; ECE of the certainty.

    Each has a 95 % interval from a bootstrap over questions.
    """
    resampler = Resampler(len(questions))
    pairs = [(one.answer, lead.answer) for one, lead in zip(questions, leads, strict=True)]
    counts = [
        [n for label in ANSWERS for n in (float(answer == verdict == label), float(verdict == label), float(answer == label))]
        for answer, verdict in pairs
    ]
    right = [float(answer == verdict) for answer, verdict in pairs]
    decisions = [float(lead.verdict in ("yes", "no")) for lead in leads]
    tallies = {
        "accuracy": Tally.of([(one, 1.0) for one in right], share),
        "macro-F1": Tally.of(counts, macro_f1),
        **{f"F1 {label}": Tally.of([row[3 * i : 3 * i + 3] for row in counts], f1) for i, label in enumerate(ANSWERS)},
        "said yes or no": Tally.of([(one, 1.0) for one in decisions], share),
        "these right": Tally.of([(one * ok, one) for one, ok in zip(decisions, right, strict=True)], share),
        "ECE": Tally.of([_count_in_bins(lead, ok) for lead, ok in zip(leads, right, strict=True)], _calibration_error),
        "own paper read": Tally.of([(float(lead.own), 1.0) for lead in leads], share),
    }
    return {name: resampler.figure(tally) for name, tally in tallies.items()}


def _count_in_bins(lead: MeasuredLead, right: float) -> list[float]:
    """[3 × bins]: how many leads of yes or no lie in each bin of certainty, their certainty, and how many are right."""
    row = [0.0] * (3 * BINS)
    if lead.verdict in ("yes", "no"):
        place = min(int(lead.certainty * BINS), BINS - 1)
        row[place], row[BINS + place], row[2 * BINS + place] = 1.0, lead.certainty, right
    return row


def _calibration_error(sums: Floats) -> Floats:
    """Expected calibration error (Naeini et al. 2015): the weighted gap per bin between certainty and accuracy."""
    count, sure, right = sums[..., :BINS], sums[..., BINS : 2 * BINS], sums[..., 2 * BINS :]
    whole = count.sum(axis=-1)
    error: Floats = np.divide(np.abs(sure - right).sum(axis=-1), whole, out=np.full(np.shape(whole), np.nan), where=whole != 0)
    return error


def fit_certainty(questions: Sequence[KnownQuestion], outcomes: Sequence[MeasuredLead]) -> str:
    """The constants of `service.grounding.weigh`, as a line; raises `BadInput` where there are too few leads."""
    from sklearn.linear_model import LogisticRegression

    leads = [
        (one.answer == outcome.verdict, max(outcome.whole[0], outcome.whole[2]))
        for one, outcome in zip(questions, outcomes, strict=True)
        if outcome.whole and outcome.verdict in ("yes", "no")
    ]
    if len(leads) < FEWEST or len({right for right, _ in leads}) < 2:
        raise BadInput(f"{len(leads)} leads of yes or no fit no certainty; at least {FEWEST}, right and wrong ones, are needed.")
    odds = np.array([[log_odds(likely, 0.001)] for _, likely in leads])
    model = LogisticRegression().fit(odds, np.array([right for right, _ in leads]))
    constant, strongest = float(model.intercept_[0]) - AGREEMENT, float(model.coef_[0, 0])
    return f"CONSTANT, AGREEMENT, STRONGEST = {constant:.2f}, {AGREEMENT:.2f}, {strongest:.2f}  # fitted on {len(leads)} leads"


def show_leads(title: str, questions: Sequence[KnownQuestion], leads: Sequence[MeasuredLead], command: str) -> Report:
    """The figures, and which leads each known answer got."""
    most = max(sum(question.answer == answer for question in questions) for answer in ANSWERS) / len(questions)
    measured = figures(questions, leads)
    rows = []
    for answer in ANSWERS:
        verdicts = [lead.answer for one, lead in zip(questions, leads, strict=True) if one.answer == answer]
        rows.append([answer, *(str(verdicts.count(one)) for one in ANSWERS)])
    data = {
        "command": command,
        "figures": {name: [one.value, one.low, one.high] for name, one in measured.items()},
        "questions": [
            {"id": one.id, "answer": one.answer, "verdict": lead.verdict, "certainty": lead.certainty, "own": lead.own}
            for one, lead in zip(questions, leads, strict=True)
        ],
    }
    blocks: list[Table | str] = [
        f"{format_count(len(questions), 'question')}; always giving the most common answer is right for {most:.1%}.",
        Table("", ["measure", "value and 95 % interval"], [[name, show(figure)] for name, figure in measured.items()]),
        Table("Leads by the right answer", ["right answer", *ANSWERS], rows),
    ]
    return Report(title, blocks, data, made_with={"command": command})

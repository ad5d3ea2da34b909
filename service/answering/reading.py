"""Reading a paper for a question that asks for yes or no: what it found, and the sentence that tells it.

What counts is what the paper itself found, so it is read twice against the claim: whole, as for a grounding, which then costs
nothing more; and its results and conclusions without the title, which names the subject and is read too easily as if it affirmed
it. The reader itself reads the end of each once more. The readings are joined as the geometric mean of their probabilities (a
logarithmic opinion pool, Genest and Zidek 1986, doi:10.1214/ss/1177013825). A denial of the claim is not read: the shipped reader
contradicts whatever holds a negation (docs/experiments.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from generation.leads.question import YesNoQuestion
from nli.judges.judge import Abstract, Reader, Reading, drop_question
from nli.text.roles import find_findings
from retrieval.core.probabilities import softmax
from retrieval.core.values import Sentence, Stance, Verdict
from retrieval.store.documents import Entry
from service.answering.telling import find_telling

LEANING = 0.9
"""Log odds by which the shipped reader says yes too readily to a question: on 120 questions of PubMedQA (docs/experiments.md)."""


@dataclass(frozen=True, slots=True)
class PaperFinding:
    """What a paper found: its verdict on the claim, and the sentence that tells it; None where none does."""

    verdict: Verdict
    sentence: Sentence | None

    @property
    def stance(self) -> Stance:
        """The side that it leans to."""
        return self.verdict.leaning


def read_findings(reader: Reader, question: str, asked: YesNoQuestion, entries: Sequence[Entry]) -> list[PaperFinding]:
    """What each paper found, in order; `question` and its claim are in American spelling."""
    claim = asked.claim
    readings = iter(reader.read_abstracts(claim, [view for entry in entries for view in _make_views(entry)]))
    found = []
    for entry, whole, told in zip(entries, readings, readings, strict=True):
        verdict = remove_leaning(pool_verdicts([whole.document, told.document]))
        spoken = _pool_sentences(entry, whole, told)
        found.append(PaperFinding(verdict, find_telling(question, asked, claim, verdict, entry, spoken)))
    return found


def _make_views(entry: Entry) -> tuple[Abstract, Abstract]:
    """A paper as it is read: whole, and what it found without the title."""
    texts = [sentence.text for sentence in entry.sentences()]
    told = tuple(texts[place] for place in find_findings(texts))
    return Abstract(drop_question(entry.document.title), tuple(texts)), Abstract("", told)


def _pool_sentences(entry: Entry, whole: Reading, told: Reading) -> dict[int, Verdict]:
    """The verdict on each result and conclusion, by place; one that is too far down to be read is left out."""
    places = find_findings([sentence.text for sentence in entry.sentences()])
    pairs = {place: [v for v in (whole.sentences[place], own) if v] for place, own in zip(places, told.sentences, strict=True)}
    return {place: pool_verdicts(verdicts) for place, verdicts in pairs.items() if verdicts}


def pool_verdicts(verdicts: Sequence[Verdict]) -> Verdict:
    """The geometric mean of verdicts, as one on the whole paper; neutral where there is none."""
    if not verdicts:
        return Verdict(0.0, 1.0, 0.0, of="document")
    logs = np.log(np.maximum([[one.support, one.neutral, one.contradict] for one in verdicts], 1e-6)).mean(axis=0)
    return Verdict(*softmax(logs).tolist(), of="document")


def remove_leaning(verdict: Verdict) -> Verdict:
    """The verdict without the judge's leaning to affirm what it is asked."""
    support, contradict = verdict.support * math.exp(-LEANING / 2), verdict.contradict * math.exp(LEANING / 2)
    whole = support + verdict.neutral + contradict
    return Verdict(support / whole, verdict.neutral / whole, contradict / whole, of="document")

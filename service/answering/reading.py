"""Reading a paper for a question that asks for yes or no: what it found, and the sentence that tells it.

What counts is what the paper itself found, so it is read four times against the claim: whole; its results and conclusions; these
without the title, which names the subject and is read too easily as if it affirmed it; and the closing two of them, where the
authors say what follows. The readings are joined as the geometric mean of their probabilities (a logarithmic opinion pool, Genest
and Zidek 1986, doi:10.1214/ss/1177013825). A denial of the claim is not read: the shipped reader contradicts whatever holds a
negation (docs/experiments.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from generation.leads.denial import is_denial
from generation.leads.question import YesNoQuestion
from generation.sentences.candidates import stands_alone, trim_sentence
from generation.sentences.findings import choose_quotable
from generation.sentences.phrases import compile_phrases
from nli.judges.judge import Abstract, Reader, drop_question
from nli.text.roles import ROLES, find_findings, load_role_model, locate_stretch
from retrieval.core.probabilities import softmax
from retrieval.core.values import OPPOSITE, Sentence, Stance, Verdict
from retrieval.store.documents import Entry
from retrieval.words.forms import unify_text
from retrieval.words.subject import find_subject
from retrieval.words.synonyms import weigh_shared_terms
from service.answering.relevance import measure_match, subject_of

_CONCLUSION = ROLES.index("conclusion")
_CONCLUDES = 0.5
"""What a conclusion is worth beside a result, more."""
_ALONE = 1.3
"""How much better a sentence is shown that can be read without those around it."""
MET = 0.5
"""The share of what is asked of each side that a sentence must hold together with its paper's title."""
LEANING = 0.9
"""Log odds by which the shipped reader says yes too readily to a question: on 120 questions of PubMedQA (docs/experiments.md)."""
CLOSING = 2
"""Sentences with which a paper closes."""
_TRIED = 3
"""Sentences that are read alone before a paper is said to tell nothing."""
_NO_FINDING = compile_phrases("no finding")


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
    """What each paper found, in order."""
    claim = unify_text(asked.claim)
    views = [_views(entry) for entry in entries]
    flat = [view for own in views for view in own]
    readings = iter(reader.read_abstracts(claim, flat))
    found = []
    for entry, own in zip(entries, views, strict=True):
        verdict = remove_leaning(pool_verdicts([next(readings).document for _ in own]))
        found.append(PaperFinding(verdict, _find_telling(reader, claim, question, asked, verdict, entry)))
    return found


def _views(entry: Entry) -> list[Abstract]:
    """A paper as it is read: whole, what it found with its title and without, and how it closes."""
    texts = [sentence.text for sentence in entry.sentences()]
    told, title = tuple(texts[place] for place in find_findings(texts)), drop_question(entry.document.title)
    return [Abstract(title, tuple(texts)), Abstract(title, told), Abstract("", told), Abstract("", told[-CLOSING:])]


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


def _find_telling(
    reader: Reader, claim: str, question: str, asked: YesNoQuestion, verdict: Verdict, entry: Entry
) -> Sentence | None:
    """The sentence that tells most of what the paper found on the question; None where none, read alone, says the same.

    Of sentences that are as good the later one stands: what a paper says last counts.
    """
    sentences, roles, title = entry.sentences(), load_role_model(), entry.document.title
    worth: dict[int, float] = {}
    for place in find_findings([one.text for one in sentences]):
        text = choose_quotable(sentences[place].text)
        held, outcome = weigh_shared_terms(question, find_subject(question), text), _outcome(question, asked, text)
        # With its title it must be about what is asked; a title that stands among the sentences finds nothing.
        on_it = held and measure_match(question, asked, f"{subject_of(title)} {text}") >= MET
        if on_it and not _NO_FINDING.search(text) and text.rstrip(".") != title.rstrip("."):
            concludes = float(roles.score_text(text, locate_stretch(place, len(sentences)))[_CONCLUSION])
            alone = _ALONE if stands_alone(trim_sentence(text)) else 1.0
            worth[place] = (0.1 + held + outcome) * (1 + _CONCLUDES * concludes) * alone
    best = sorted(worth, key=lambda place: (-worth[place], -place))[:_TRIED]
    read_alone = [Abstract("", (choose_quotable(sentences[place].text),)) for place in best]
    speaks = [reading.document for reading in reader.read_abstracts(claim, read_alone)]
    stance = verdict.leaning
    agreeing = (p for p, one in zip(best, speaks, strict=True) if getattr(one, stance) > getattr(one, OPPOSITE[stance]))
    told = next((sentences[place] for place in agreeing), None)
    # A paper that is read as affirming what its own words deny is believed neither way.
    denied = (
        told
        and stance == "support"
        and is_denial(choose_quotable(told.text), claim, lambda text: _measure_aboutness(question, asked, text))
    )
    return None if denied else told


def _measure_aboutness(question: str, asked: YesNoQuestion, text: str) -> float:
    """How much a clause is about the outcome, and, less, about the subject."""
    return _outcome(question, asked, text) + 0.5 * weigh_shared_terms(question, find_subject(question), text)


def _outcome(question: str, asked: YesNoQuestion, text: str) -> float:
    """The share that a text holds of what the question asks about its subject, in the same or other words."""
    return weigh_shared_terms(question, find_subject(asked.predicate) or find_subject(question), text)

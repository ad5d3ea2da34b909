"""Which sentence states what a paper found on a question: a result or conclusion that speaks for the side the paper takes.

A sentence is scored by the reader's verdict on it in context, among the paper's other findings, and by its words: how much of the
question it contains, whether it concludes, whether it can be read alone. What a paper says about a subgroup, single patients,
safety or earlier work does not count, unless the question asks about that.
"""

from __future__ import annotations

from collections.abc import Mapping

from generation.leads.comparing import is_combined, is_draw, is_joint, is_outdone
from generation.leads.denial import is_denial
from generation.leads.question import YesNoQuestion
from generation.sentences.asides import is_aside
from generation.sentences.candidates import stands_alone, trim_sentence
from generation.sentences.findings import LONGEST_QUOTE, choose_quotable
from generation.sentences.phrases import compile_phrases
from nli.reader.alone import READ_ALONE
from nli.text.roles import ROLES, load_role_model, locate_stretch
from retrieval.core.values import OPPOSITE, Sentence, Stance, Verdict
from retrieval.rerank.reranker import make_passage
from retrieval.store.rows import Entry
from retrieval.words.subject import find_subject
from retrieval.words.synonyms import weigh_shared_terms
from service.answering.relevance import measure_shares, subject_of

MET, LEAST_MET = 0.5, 0.25
"""The share of what is asked that a sentence must contain with its paper's title: the mean of the two parts, and each of them."""
SPEAKS, SPEAKS_ON_IT, LEANS = 0.25, 0.2, 0.1
"""From the first probability of the paper's side, a sentence speaks for it; the second applies if it contains half of the outcome
itself, the third if it must also say so when it is read alone. Of the sentences examined, findings had 0.47 or more, except one
on the outcome at 0.23; remarks had up to 0.19."""
_CONCLUSION = ROLES.index("conclusion")
_CONCLUDES = 0.5
"""What a conclusion is worth in addition to a result."""
_ALONE = 1.3
"""The factor for a sentence that can be read without those around it."""
_TOO_LONG = 0.5
"""The factor for a sentence that is too long to be quoted."""
_ANY_WORDS = 0.4
"""What a sentence with no word of the question is worth; all of its words add 2."""
_NO_FINDING = compile_phrases("no finding")


def rank_telling(
    question: str, asked: YesNoQuestion, claim: str, verdict: Verdict, entry: Entry, spoken: Mapping[int, Verdict]
) -> list[tuple[Sentence, float]]:
    """The few sentences that best state what the paper found, best first, with their worth.

    There are none if no sentence qualifies, if the best one denies what the paper was read as affirming, or if it only compares
    treatments when the question asks whether one works. `spoken` holds the reader's verdict on each result and conclusion, by
    place. Others that deny or merely compare are left out too. Of equally good sentences the later one comes first: what a paper
    says last counts.
    """
    sentences, stance = entry.sentences(), verdict.leaning
    worth = {
        place: _weigh(question, asked, stance, own, entry, place)
        for place, own in spoken.items()
        if _speaks(own, stance, SPEAKS_ON_IT if measure_outcome(question, asked, sentences[place].text) >= 0.5 else SPEAKS)
        and is_on_it(question, asked, entry, choose_quotable(sentences[place].text))
    }
    if not worth:
        return []
    ranked = sorted(worth, key=lambda place: (-worth[place], -place))[:READ_ALONE]
    trusted = [place for place in ranked if _is_trusted(question, asked, claim, stance, entry, sentences[place])]
    # A paper whose best sentence misleads is trusted neither way.
    return [(sentences[place], worth[place]) for place in trusted] if ranked[0] in trusted else []


def rank_stating(
    question: str, asked: YesNoQuestion, claim: str, verdict: Verdict, entry: Entry, spoken: Mapping[int, Verdict]
) -> list[tuple[Sentence, float]]:
    """The few results and conclusions that speak most for the paper's side, in whatever words, best first, with their worth.

    People ask in other words than papers use: such a sentence counts if it states the side when it is read alone.
    """
    sentences, stance = entry.sentences(), verdict.leaning
    worth: dict[int, float] = {
        place: getattr(own, stance)
        for place, own in spoken.items()
        if _speaks(own, stance, LEANS) and _can_be_quoted(question, asked, entry, sentences[place].text)
    }
    ranked = sorted(worth, key=lambda place: (-worth[place], -place))[:READ_ALONE]
    return [
        (sentences[place], worth[place])
        for place in ranked
        if _is_trusted(question, asked, claim, stance, entry, sentences[place])
    ]


def _can_be_quoted(question: str, asked: YesNoQuestion, entry: Entry, text: str) -> bool:
    quote = choose_quotable(text)
    return (
        len(quote.split()) <= LONGEST_QUOTE
        and weigh_shared_terms(question, find_subject(question), quote) > 0
        and not is_combined(f"{entry.document.title} {quote}", question)
        and _states_finding(question, asked, quote)
    )


def _states_finding(question: str, asked: YesNoQuestion | None, text: str) -> bool:
    """Whether a text is a finding at all, not one on both of two treatments that are compared, and no aside."""
    if _NO_FINDING.search(text) or is_joint(text, question):
        return False
    return not is_aside(text, question, measure_outcome(question, asked, text))


def _is_trusted(question: str, asked: YesNoQuestion, claim: str, stance: Stance, entry: Entry, sentence: Sentence) -> bool:
    """Whether the sentence neither denies what the paper was read as affirming nor merely compares treatments."""
    quote = choose_quotable(sentence.text)
    if stance == "contradict":
        return not (is_draw(quote, question, make_passage(entry.document)) or is_outdone(quote, question, asked.subject))
    return not is_denial(quote, claim, lambda text: _measure_aboutness(question, asked, text))


def _speaks(verdict: Verdict, stance: Stance, least: float) -> bool:
    for_it: float = getattr(verdict, stance)
    against: float = getattr(verdict, OPPOSITE[stance])
    return for_it > against and for_it >= least


def is_on_it(question: str, asked: YesNoQuestion | None, entry: Entry, text: str) -> bool:
    """Whether a sentence, with its paper's title, is a finding on what is asked; a title among the sentences is no finding."""
    title = entry.document.title
    if text.rstrip(".") == title.rstrip(".") or is_combined(f"{title} {text}", question):
        return False
    if not _states_finding(question, asked, text):
        return False
    shares = measure_shares(question, asked, f"{subject_of(title)} {text}")
    return sum(shares) / len(shares) >= MET and min(shares) >= LEAST_MET


def _weigh(question: str, asked: YesNoQuestion, stance: Stance, verdict: Verdict, entry: Entry, place: int) -> float:
    sentences = entry.sentences()
    text = choose_quotable(sentences[place].text)
    shares = load_role_model().score_text(text, locate_stretch(place, len(sentences)))
    words = _ANY_WORDS + weigh_shared_terms(question, find_subject(question), text) + measure_outcome(question, asked, text)
    alone = _ALONE if stands_alone(trim_sentence(text)) else 1.0 if len(text.split()) <= LONGEST_QUOTE else _TOO_LONG
    for_it: float = getattr(verdict, stance)
    # Squared, so that a sentence that merely contains more of the question's words does not beat the finding.
    return for_it**2 * words * (1 + _CONCLUDES * float(shares[_CONCLUSION])) * alone


def _measure_aboutness(question: str, asked: YesNoQuestion, text: str) -> float:
    """How much a clause is about the outcome and, with half the weight, about the subject."""
    return measure_outcome(question, asked, text) + 0.5 * weigh_shared_terms(question, find_subject(question), text)


def measure_outcome(question: str, asked: YesNoQuestion | None, text: str) -> float:
    """The share of what the question asks about its subject that a text contains, in the same or other words.

    If subject and predicate cannot be told apart, it is the share of the whole question.
    """
    return weigh_shared_terms(question, find_subject(asked.predicate if asked else "") or find_subject(question), text)

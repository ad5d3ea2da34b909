"""Whether documents are about a question at all: an absolute measure, whereas a ranking only says which is better."""

from __future__ import annotations

import re
from collections.abc import Sequence

from generation.leads.question import YesNoQuestion
from nli.text.designs import ANIMAL, find_design, names_animals
from nli.text.populations import differ_in_people
from retrieval.core.probabilities import log_odds, logistic
from retrieval.core.values import Document, Verdict
from retrieval.rerank.reranker import make_passage
from retrieval.words.aboutness import find_rare_words
from retrieval.words.subject import find_subject
from retrieval.words.synonyms import weigh_shared_terms


def about(question: str, texts: Sequence[str]) -> list[float]:
    """The share of the question's informative words that each text contains, in the same or other words, 0 to 1.

    Words are weighted by their rarity.
    """
    wanted = find_subject(question)
    return [weigh_shared_terms(question, wanted, text) for text in texts]


_STUDY_GROUP = re.compile(r"\.\s+[^.]*\b(?:group|investigators|collaborators|trialists)\b\.?$", re.IGNORECASE)


def subject_of(title: str) -> str:
    """A title without the name of the group that signs it.

    "… Calcium for Preeclampsia Prevention Study Group" is no study of calcium.
    """
    return _STUDY_GROUP.sub(".", title)


def measure_shares(question: str, asked: YesNoQuestion | None, text: str) -> list[float]:
    """The shares (0 to 1) of a question's subject and of its predicate that a text contains.

    If the two cannot be told apart, it is the share of the whole question. Of a subject "A or B", either is enough.
    """
    split = asked is not None and asked.subject and asked.predicate
    sides = [list_alternatives(asked.subject), [asked.predicate]] if asked and split else [[question]]
    wanted = [words for side in sides if any(words := [one for one in map(find_subject, side) if one])]
    return [max(weigh_shared_terms(question, one, text) for one in side) for side in wanted or [[find_subject(question)]]]


_CONSTANT, _NEUTRAL, _SHARE, _BEHIND_BEST = -2.97, -0.71, 3.10, -14.2
"""Fitted on 282 sentences of answers to our own questions, judged by two readers (docs/experiments.md)."""


def measure_rare_share(claim: str, document: Document) -> float:
    """The share (0 to 1) of a claim's rare words that a paper contains, in the same or other words."""
    return weigh_shared_terms(claim, find_rare_words(claim), make_passage(document))


def estimate_meeting(share: float, best: float, verdict: Verdict) -> float:
    """The probability that a paper's finding is about what was asked, and not about something close to it.

    Something close is another outcome, other people or another comparison. `share` is the share of the claim's rare words that
    the paper contains, `best` the highest share among the papers found, and `verdict` what the sentence that states the finding
    says if it is read with the title. It counts how many words are missing, above all those that another paper has, and how
    little the sentence says (a logistic regression).
    """
    odds = _CONSTANT + _NEUTRAL * log_odds(verdict.neutral, 0.01) + _SHARE * share + _BEHIND_BEST * (best - share)
    return logistic(odds)


MEETS, CLEARLY_MEETS = 0.45, 0.6
"""A paper whose finding is about what was asked with less than the first probability is not on the question; with less than the
second, it takes no side if another on the same side does (docs/experiments.md)."""
DENIES, MEETS_DENYING = 0.85, 0.3
"""From this probability of contradiction, a paper is on the question with the second probability already: with the title alone,
findings of no effect tend to be read as saying nothing."""
SURE_OF_SIDE, SURE_OF_BOTH = 0.7, 0.5
"""A paper takes a side if this is at least as probable as the first, or the side and that it was asked about, together, as the
second."""


def is_on_question(verdict: Verdict | None, meets: float) -> bool:
    """Whether a paper's finding is probably about what was asked; `meets` is the probability of that by its words and title."""
    denies = verdict is not None and verdict.contradict >= DENIES
    return meets >= (MEETS_DENYING if denies else MEETS)


def is_doubtful(score: float, meets: float) -> bool:
    """Whether a paper with its side at this probability, on what was asked with the other, says too little for a side."""
    return score < SURE_OF_SIDE and score * meets < SURE_OF_BOTH


def measure_comparator(asked: YesNoQuestion | None, text: str) -> float:
    """The share (0 to 1) of what a question compares with ("better than eta for gout": eta) that a text contains.

    It is 1 if the question compares nothing.
    """
    found = _THAN.search(asked.predicate) if asked else None
    wanted = find_subject(found[1]) if found else {}
    return weigh_shared_terms(found[1], wanted, text) if found and wanted else 1.0


_BEHIND = "after|against|among|at|before|during|for|if|in|on|to|when|with"
_THAN = re.compile(rf"\bthan\s+(.+?)(?=\s+(?:{_BEHIND})\b|[,;]|$)", re.IGNORECASE)
_OR = re.compile(r",?\s+or\s+|,\s+")
_ADJECTIVE = re.compile(r"\w+(?:al|ic|ous|ive|ary)", re.IGNORECASE)


def list_alternatives(subject: str) -> list[str]:
    """The alternatives that a subject names: "alpha or beta" is two, "nasal or oral drops" is two kinds of drops."""
    if " or " not in subject:
        return [subject]
    parts = [part for part in _OR.split(subject) if part]
    head = parts[-1].split()[-1]
    return [f"{part} {head}" if _ADJECTIVE.fullmatch(part) else part for part in parts]


def is_same_kind(question: str, document: Document) -> bool:
    """Whether a paper studied those whom the question is about, apart from those with whom it compares them.

    A paper on animals or cells answers only a question that names them; one on adults answers none on children.
    """
    same = find_design(document).name != ANIMAL or names_animals(question)
    return same and not differ_in_people(_THAN.sub("", question), document.title)

"""What a paper says on a question that asks for more than yes or no: the sentence that answers it.

Such a sentence is a result or a conclusion or, if the question asks for background, any other. With the acronyms of its abstract
spelt out, it covers enough of the question's subject, and it has words for what is asked (a frequency, a cause, a comparison). A
reader of papers, if there is one, is then given what an answer to the question states, in place of a claim: a sentence that
answers takes a side on it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from generation.draft import Finding
from generation.leads.comparing import is_combined, is_joint
from generation.leads.stating import state_answer
from generation.sentences.asides import is_aside
from generation.sentences.aspects import find_aspect, tells_aspect
from generation.sentences.candidates import stands_alone, trim_sentence
from generation.sentences.findings import LONGEST_QUOTE, choose_quotable
from generation.sentences.phrases import compile_phrases
from nli.judges.judge import Abstract, Reader, drop_question
from nli.reader.alone import READ_ALONE, weigh_alone
from nli.text.designs import find_design
from nli.text.roles import ROLES, find_findings, load_role_model, locate_stretch
from retrieval.rerank.reranker import make_passage
from retrieval.store.rows import Entry
from retrieval.words.abbreviations import spell_out
from retrieval.words.synonyms import weigh_shared_terms
from retrieval.words.terms import find_subject
from service.answering.relevance import subject_of

OWN, MET = 0.3, 0.65
"""The share of what is asked that a sentence must contain on its own, and together with its paper's title."""
STATES, ANSWERS = 0.6, 0.5
"""The probability from which a sentence takes a side on what an answer states, and from which it supports the question itself
(docs/research/experiments.md)."""
_SHORTEST = 5
"""The fewest words of a sentence that can be quoted."""
_CONCLUSION = ROLES.index("conclusion")
_CONCLUDES, _ALONE, _BACKGROUND, _FIGURE = 0.5, 1.3, 0.5, 1.5
"""What a conclusion is worth in addition to a result; then the factors for a sentence that stands alone, for one that is no
finding, and for one with a percentage where a frequency or an accuracy is asked for: more than a conclusion without."""
_PERCENTAGE = re.compile(r"\d\s?%")
_ASKS_BACKGROUND, _NAMELESS = compile_phrases("asks background"), compile_phrases("nameless")
_NO_FINDING = compile_phrases("no finding")


def choose_evidence(question: str, entries: Sequence[Entry], reader: Reader | None = None) -> dict[str, Finding]:
    """The sentence of each paper that answers the question best, by PMID; papers without one are left out.

    `question` is in American spelling.
    """
    ranked = {entry.pmid: _rank_answering(question, entry) for entry in entries}
    places = [(entry, place) for entry in entries for place, _ in ranked[entry.pmid]]
    answers = _measure_answers(question, places, reader) if reader else [1.0] * len(places)
    probabilities = {(entry.pmid, place): one for (entry, place), one in zip(places, answers, strict=True) if one is not None}
    findings = {}
    for entry in entries:
        worth = {
            place: weigh_alone(own, probabilities[entry.pmid, place])
            for place, own in ranked[entry.pmid]
            if (entry.pmid, place) in probabilities
        }
        if worth:
            best = max(worth, key=lambda place: (worth[place], place))
            findings[entry.pmid] = Finding(best, None, find_design(entry.document).says)
    return findings


def _measure_answers(question: str, places: Sequence[tuple[Entry, int]], reader: Reader) -> list[float | None]:
    """How probably each of these sentences, read with only its paper's title, answers the question; None if it does not.

    It answers if it takes a side on what an answer states or, where that cannot be told from the question's words, if it supports
    the question itself.
    """
    statement = state_answer(question)
    texts = [
        Abstract(drop_question(entry.document.title), (choose_quotable(entry.sentences()[place].text),))
        for entry, place in places
    ]
    readings = [one.document for one in reader.read_abstracts(statement or question, texts)]
    if statement:
        return [side if (side := max(one.support, one.contradict)) >= STATES else None for one in readings]
    return [one.support if one.support >= ANSWERS else None for one in readings]


def _rank_answering(question: str, entry: Entry) -> list[tuple[int, float]]:
    """The places of the few sentences that answer best by their words, best first, with their worth."""
    sentences, passage = entry.sentences(), make_passage(entry.document)
    tells = set(find_findings([one.text for one in sentences]))
    background = _ASKS_BACKGROUND.search(question) is not None
    worth = {
        place: _weigh(question, entry, place, passage) * (1.0 if place in tells else _BACKGROUND)
        for place, sentence in enumerate(sentences)
        if (place in tells or (background and stands_alone(trim_sentence(sentence.text))))
        and _answers(question, entry, choose_quotable(sentence.text), passage)
    }
    best = sorted(worth, key=lambda place: (-worth[place], -place))[:READ_ALONE]
    return [(place, worth[place]) for place in best]


def _answers(question: str, entry: Entry, text: str, passage: str) -> bool:
    """Whether a sentence gives what is asked for, on the question's subject."""
    if not _SHORTEST <= len(text.split()) <= LONGEST_QUOTE or text.endswith("?") or _NAMELESS.search(text):
        return False
    wanted, spelt = find_subject(question), spell_out(text, passage)
    alone = weigh_shared_terms(question, wanted, spelt)
    share = weigh_shared_terms(question, wanted, f"{subject_of(entry.document.title)} {spelt}")
    is_finding = alone >= OWN and share >= MET and tells_aspect(find_aspect(question), text)
    return is_finding and _is_finding(question, entry.document.title, spelt, alone)


def _weigh(question: str, entry: Entry, place: int, passage: str) -> float:
    sentences = entry.sentences()
    text = choose_quotable(sentences[place].text)
    share = weigh_shared_terms(question, find_subject(question), spell_out(text, passage))
    concludes = load_role_model().score_text(text, locate_stretch(place, len(sentences)))[_CONCLUSION]
    wants_figure = find_aspect(question) in {"frequency", "accuracy"} and _PERCENTAGE.search(text) is not None
    alone = _ALONE if stands_alone(trim_sentence(text)) else 1.0
    return share * (1 + _CONCLUDES * float(concludes)) * alone * (_FIGURE if wants_figure else 1.0)


def _is_finding(question: str, title: str, text: str, own: float) -> bool:
    """Whether a sentence is a finding: not its paper's title, nor on both of two treatments that are compared, nor an aside."""
    if text.rstrip(".") == title.rstrip(".") or is_combined(f"{title} {text}", question):
        return False
    return not (_NO_FINDING.search(text) or is_joint(text, question) or is_aside(text, question, own))

"""What a paper says on a question that asks for more than yes or no: the sentence that answers it.

Such a sentence is a result or a conclusion or, if the question asks for background, any other. With the acronyms of its abstract
spelt out, it covers enough of the question's subject, and it has words for what is asked (a frequency, a cause, a comparison). A
reader of papers, if there is one, is then given what an answer to the question states ("How is gout treated?": "the treatment is
effective for gout"), in place of a claim: a sentence that answers takes a side on it, one that only shares its words does not.

The cues are data: generation/phrases.txt and, for what an answer states, statements.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from generation.draft import Finding
from generation.extractive import LONGEST_QUOTE, choose_quotable, compile_phrases, stands_alone, trim_sentence
from nli.judge import Abstract, Reader, drop_question
from nli.reader.paper import READ_ALONE, weigh_alone
from nli.text.designs import find_design
from nli.text.roles import ROLES, find_findings, load_role_model, locate_stretch
from retrieval.core.word_list import read_shipped
from retrieval.rerank.reranker import make_passage
from retrieval.store.documents import Entry
from retrieval.words.names import spell_out
from retrieval.words.terms import find_subject, weigh_shared_terms

OWN_COVERAGE, COVERAGE = 0.3, 0.65
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
_SAFETY_OUTCOME = 0.2
"""The share of what is asked that a sentence on safety must contain to be about more than safety."""
_ASPECTS = ("no treatment", "frequency", "duration", "harm", "which is better", "accuracy", "cause", "treatment", "symptoms")
"""In order of precedence: a question asks for the first aspect whose words it contains."""
_STATEMENTS = Path(__file__).with_name("statements.yaml")

_PERCENTAGE = re.compile(r"\d\s?%")
_STUDY_GROUP = re.compile(r"\.\s+[^.]*\b(?:group|investigators|collaborators|trialists)\b\.?$", re.IGNORECASE)
_ASKER = re.compile(r"\b(?:my|your|our) ", re.IGNORECASE)
_NO_SUBJECT = re.compile(r"\b(?:is|are|was|were|which|what|it|them|this|these|not)\b", re.IGNORECASE)
"""Words of a longer question than the patterns of statements are made for."""
_ASKS_BACKGROUND, _NAMELESS = compile_phrases("asks background"), compile_phrases("nameless")
_NO_FINDING = compile_phrases("no finding")
_ASKS_ASPECT = {aspect: compile_phrases(f"asks {aspect}") for aspect in _ASPECTS}
_STATES_ASPECT = {aspect: compile_phrases(f"states {aspect}") for aspect in _ASPECTS}
_ADVICE, _MAY_ADVISE = compile_phrases("advice"), {"treatment", "harm", "which is better"}
_ASIDES = tuple(compile_phrases(section) for section in ("subgroup", "baseline", "cost"))
_OTHERS = tuple(compile_phrases(section) for section in ("others' findings (opening)", "single patients (opening)"))
_SAFETY = compile_phrases("safety")
_ASKS_COMPARISON, _TOGETHER, _COMPARES = (compile_phrases(name) for name in ("asks comparison", "together", "compares"))
_ASKS_ONE_ALONE, _COMBINED = compile_phrases("asks for one alone"), compile_phrases("combined")


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


def state_answer(question: str) -> str:
    """What an answer to the question states, whatever it is; "" if no pattern fits."""
    text = " ".join(question.split()).rstrip(" ?.!")
    end, statements = _load_statements()
    for asks, states in statements:
        if match := asks.search(text):
            # The subject without what follows it, such as "that you can take", and without the asker.
            parts = {
                name: _ASKER.sub("", end.split(part, maxsplit=1)[0]).strip(" ,;") for name, part in match.groupdict().items()
            }
            return states.format(**parts) if all(part and not _NO_SUBJECT.search(part) for part in parts.values()) else ""
    return ""


@cache
def _load_statements() -> tuple[re.Pattern[str], tuple[tuple[re.Pattern[str], str], ...]]:
    """What ends a subject; then each pattern of questions with what their answers state."""
    content: dict[str, Any] = yaml.safe_load(read_shipped(_STATEMENTS))
    return re.compile("|".join(content["end"]), re.IGNORECASE), tuple(
        (re.compile(rf"\b(?:{one['asks']})", re.IGNORECASE), one["states"]) for one in content["statements"]
    )


def _rank_answering(question: str, entry: Entry) -> list[tuple[int, float]]:
    """The places of the few sentences that answer best by their words, best first, with their worth."""
    sentences, passage = entry.sentences(), make_passage(entry.document)
    findings = set(find_findings([one.text for one in sentences]))
    background = _ASKS_BACKGROUND.search(question) is not None
    worth = {
        place: _weigh(question, entry, place, passage) * (1.0 if place in findings else _BACKGROUND)
        for place, sentence in enumerate(sentences)
        if (place in findings or (background and stands_alone(trim_sentence(sentence.text))))
        and _answers(question, entry, choose_quotable(sentence.text), passage)
    }
    best = sorted(worth, key=lambda place: (-worth[place], -place))[:READ_ALONE]
    return [(place, worth[place]) for place in best]


def _answers(question: str, entry: Entry, text: str, passage: str) -> bool:
    """Whether a sentence is a finding on the question's subject that states what is asked for."""
    if not _SHORTEST <= len(text.split()) <= LONGEST_QUOTE or text.endswith("?") or _NAMELESS.search(text):
        return False
    title, wanted, spelt = entry.document.title, find_subject(question), spell_out(text, passage)
    own = weigh_shared_terms(question, wanted, spelt)
    with_title = weigh_shared_terms(question, wanted, f"{drop_study_group(title)} {spelt}")
    return (
        own >= OWN_COVERAGE
        and with_title >= COVERAGE
        and states_aspect(find_aspect(question), text)
        and spelt.rstrip(".") != title.rstrip(".")
        and not _NO_FINDING.search(spelt)
        and not (is_joint(spelt, question) or is_aside(spelt, question, own) or is_combined(f"{title} {spelt}", question))
    )


def _weigh(question: str, entry: Entry, place: int, passage: str) -> float:
    sentences = entry.sentences()
    text = choose_quotable(sentences[place].text)
    share = weigh_shared_terms(question, find_subject(question), spell_out(text, passage))
    concludes = load_role_model().score_text(text, locate_stretch(place, len(sentences)))[_CONCLUSION]
    wants_figure = find_aspect(question) in {"frequency", "accuracy"} and _PERCENTAGE.search(text) is not None
    alone = _ALONE if stands_alone(trim_sentence(text)) else 1.0
    return share * (1 + _CONCLUDES * float(concludes)) * alone * (_FIGURE if wants_figure else 1.0)


def drop_study_group(title: str) -> str:
    """A title without the name of the group that signs it.

    "… Calcium for Preeclampsia Prevention Study Group" is no study of calcium.
    """
    return _STUDY_GROUP.sub(".", title)


def find_aspect(question: str) -> str:
    """What a question asks for (a frequency, a cause …); "" where its words do not say."""
    return next((aspect for aspect in _ASPECTS if _ASKS_ASPECT[aspect].search(question)), "")


def states_aspect(aspect: str, text: str) -> bool:
    """Whether a text contains an aspect's words, and is not advice unless advice is asked for; always true without an aspect."""
    is_advice = aspect not in _MAY_ADVISE and _ADVICE.search(text) is not None
    return not aspect or (not is_advice and _STATES_ASPECT[aspect].search(text) is not None)


def is_aside(text: str, question: str, share: float) -> bool:
    """Whether a sentence is beside the question: on a subgroup, single patients, costs, safety, earlier work.

    `share` (0 to 1) is how much of what is asked it contains. A cue that the question itself contains is no aside.
    """
    if any(cues.search(text) and not cues.search(question) for cues in _ASIDES) or any(cues.search(text) for cues in _OTHERS):
        return True
    return share < _SAFETY_OUTCOME and _SAFETY.search(text) is not None and not _SAFETY.search(question)


def is_joint(finding: str, question: str) -> bool:
    """Whether a finding says one thing of two treatments ("both were effective") where the question compares them."""
    return bool(_ASKS_COMPARISON.search(question) and _TOGETHER.search(finding) and not _COMPARES.search(finding))


def is_combined(finding: str, question: str) -> bool:
    """Whether a finding (with its paper's title) is on a combination where the question asks for one treatment alone."""
    if not _ASKS_ONE_ALONE.search(question) or _COMBINED.search(question) or _ASKS_COMPARISON.search(question):
        return False
    return _COMBINED.search(finding) is not None and not _ASKS_ONE_ALONE.search(finding)

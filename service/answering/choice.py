"""The verdict of a choice: which of its two sides the papers of an index are on.

Each side is a claim against the other, and the same papers are read on both. A paper is on the side whose claim it supports, or
finds no difference if it contradicts both. Each of these three answers is weighed against the other two, as any claim is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from counterpoint.generation.question import Choice, YesNoQuestion, parse_choice
from counterpoint.retrieval.core.values import AnswerVerdict, CitedSentence, Claim, Evidence, Grounding, Stance, VerdictOutcome
from counterpoint.retrieval.rerank.reranker import make_passage
from counterpoint.retrieval.words.forms import capitalise
from counterpoint.retrieval.words.terms import find_shared_terms, split_terms
from counterpoint.service.answering.attribution import NUMBERS
from counterpoint.service.answering.verdict import (
    GroundedQuestion,
    choose_for,
    cite_verdict,
    count_of_all,
    count_papers,
    list_studies,
    write_verdict,
)
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.grounding.show import restate
from counterpoint.service.grounding.weigh import Placed, describe_certainty, place_papers, weigh_papers

_NEITHER = 2
"""The third answer, behind those of the two sides."""
_HOW_SURE = {"sure": "", "probable": "probably ", "possible": "possibly "}


@dataclass(frozen=True, slots=True)
class GroundedChoice(GroundedQuestion):
    """What was found for a choice: the papers on either side, and those that find no difference.

    Its `question` and `verdict` are on the claim of the answer that the papers give: of one side, or of both at once.
    """

    choice: Choice
    answers: tuple[tuple[Evidence, ...], ...]
    answer: int | None


def ground_choice(grounder: Grounder, question: str, papers: int | None = None, words: str = "") -> GroundedChoice | None:
    """What the index's papers say on a choice, searched for in these words too, by so many of them; None if the question offers
    none."""
    choice = parse_choice(question)
    if choice is None:
        return None
    first, second = (Claim(one.claim, words=words) for one in choice.claims)
    return weigh_choice(choice, *grounder.ground_both(first, second, papers, choose_for(grounder, question, words, papers)))


def weigh_choice(choice: Choice, first: Grounding, second: Grounding) -> GroundedChoice:
    """The verdict that the groundings of both sides make, of the same papers; there is none if no paper is on the question."""
    others = {one.evidence.document.pmid: one for one in place_papers(second)}
    papers = [_decide(choice, one, others[one.evidence.document.pmid]) for one in place_papers(first)]
    answers = tuple(tuple(one.evidence for answer, one in papers if answer == at) for at in range(3))
    questions = (*choice.claims, choice.both)
    # A side is what a paper supports of its claim, and no difference what it contradicts of both at once.
    weighed = [weigh_papers([_place(answer, one, at, questions[at]) for answer, one in papers], first) for at in range(3)]
    won = next((at for at in range(3) if weighed[at].outcome == ("contradict" if at == _NEITHER else "support")), None)
    mixed = won is None and any(answers)
    about = won if won is not None else 0 if mixed else _NEITHER
    placed = [_place(answer, one, about, questions[about]) for answer, one in papers]
    sides = {side: tuple(one.evidence for one in placed if one.side == side) for side in ("support", "contradict", "uncertain")}
    shown = [one for one in sides["uncertain"] if one.sentence and not one.document.retracted]
    verdict: AnswerVerdict | None = None
    if any(answers) or shown:
        outcome: VerdictOutcome = "mixed" if mixed else "unclear" if won is None else "no" if won == _NEITHER else "yes"
        rest = int(weighed[about].papers.total) - len(sides["support"]) - len(sides["contradict"])
        names, claim = choice.names, questions[about].claim
        chosen = names[won] if won in (0, 1) else "no difference" if won == _NEITHER else ""
        verdict = AnswerVerdict(
            claim, outcome, weighed[about].certainty, sides["support"], sides["contradict"], rest, names, chosen
        )
    order: Sequence[tuple[Evidence, ...]] = (sides["support"], sides["contradict"])
    if verdict and verdict.outcome == "mixed":
        carrying = tuple(one for row in zip_longest(*order) for one in row if one)
    else:
        carrying = tuple(one for side in (order if won != _NEITHER else order[::-1]) for one in side) or tuple(shown)
    return GroundedChoice(questions[about], first, weighed[about], verdict, carrying if verdict else (), choice, answers, won)


def _decide(choice: Choice, first: Placed, second: Placed) -> tuple[int | None, Placed]:
    """The answer that a paper gives, as a place in the list of answers, None for no clear one; and how it was read for that.

    A paper that names only one of two things has not compared them, whatever a reader makes of it.
    """
    places = (first.side, second.side)
    surer = max(first, second, key=lambda one: (one.side != "silent", one.evidence.score))
    if first.evidence.document.retracted or not surer.evidence.sentence:
        return None, surer
    if not choice.opposed and not _names_both(choice.names, make_passage(first.evidence.document)):
        return None, Placed(surer.evidence, "uncertain" if surer.side != "silent" else "silent")
    if "support" in places and places != ("support", "support"):
        answer = places.index("support")
        return answer, (first, second)[answer]
    if places == ("contradict", "contradict"):
        return _NEITHER, min(first, second, key=lambda one: one.evidence.score)
    return None, Placed(surer.evidence, "uncertain") if surer.side in ("support", "contradict") else surer


def _names_both(names: tuple[str, str], passage: str) -> bool:
    """Whether a text has, for either side, a word by which it differs from the other, in the same or other words."""
    sides = [frozenset(split_terms(name)) for name in names]
    number = re.compile("|".join(rf"\b{word}\b" for word in NUMBERS), re.IGNORECASE)
    text = f"{passage} {number.sub(lambda found: str(NUMBERS[found[0].lower()]), passage)}"
    for name, own, other in zip(names, sides, reversed(sides), strict=True):
        figures = {term: str(NUMBERS.get(term, term)) for term in own - other}
        held = find_shared_terms(name, text)
        if figures and held.isdisjoint({*figures, *figures.values()}):
            return False
    return True


def _place(answer: int | None, paper: Placed, about: int, question: YesNoQuestion) -> Placed:
    """A paper on the claim of one of the answers."""
    if answer is None:
        return paper
    side: Stance = "contradict" if (about == _NEITHER) == (answer == about) else "support"
    return Placed(restate(paper.evidence, question.claim, side), side)


def write_choice_sentence(question: str, grounded: GroundedChoice, most: int) -> CitedSentence | None:
    """The answer's first sentence, with at most `most` citations of the papers that carry it."""
    verdict = grounded.verdict
    return cite_verdict(write_choice(question, grounded, verdict), verdict, grounded.papers, most) if verdict else None


def write_choice(question: str, grounded: GroundedChoice, verdict: AnswerVerdict) -> str:
    """The verdict in one sentence: the side that the papers are on, its claim, and how many they are."""
    choice = grounded.choice
    studies = [list_studies(papers) for papers in grounded.answers]
    if verdict.outcome == "unclear" or not all(one.sound for one in choice.claims):
        return _write_plain(question, grounded, verdict, studies)
    first, second = (one.claim for one in choice.claims)
    if grounded.answer is None:
        neither = "neither" if choice.opposed else "no clear difference"
        found = [(some, what) for some, what in zip(studies, (f"that {first}", f"that {second}", neither), strict=True) if some]
        told = [f"{count_papers(some)} {'finds' if len(some) == 1 else 'find'} {what}" for some, what in found]
        return f"Mixed: {', '.join(told[:-1])}, and {told[-1]}."
    who = count_of_all(studies[grounded.answer], _join_others(studies, grounded.answer))
    sure = _HOW_SURE[describe_certainty(verdict.certainty)]
    if grounded.answer == _NEITHER:
        what = "neither" if choice.opposed else "no clear difference"
        denied = choice.both.claim if choice.opposed else f"{first}, or the reverse"
        text = f"{sure}{what}: {who} did not find that {denied}."
    else:
        text = f"{sure}{verdict.chosen}: {(first, second)[grounded.answer]}, by {who}."
    return capitalise(text)


def _join_others(studies: Sequence[Sequence[str]], answer: int) -> list[str]:
    return [name for at, some in enumerate(studies) if at != answer for name in some]


def _write_plain(question: str, grounded: GroundedChoice, verdict: AnswerVerdict, studies: Sequence[Sequence[str]]) -> str:
    """The same without the claims, which are no English that can be shown; or that no paper is clear."""
    both = grounded.choice.both
    if grounded.answer is None:
        return write_verdict(
            question, both, verdict.outcome, "possible", studies[0], [*studies[1], *studies[2]], len(grounded.papers)
        )
    who = count_of_all(studies[grounded.answer], _join_others(studies, grounded.answer))
    sure = _HOW_SURE[describe_certainty(verdict.certainty)]
    answers = "answers" if len(studies[grounded.answer]) == 1 else "answer"
    text = f"{sure}{verdict.chosen}: {who} {answers} “{' '.join(question.split())}” this way."
    return capitalise(text)

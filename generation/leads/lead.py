"""The first sentence of an answer to a question that asks for yes or no, in our own words: verdict, claim, how many papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from generation.leads.question import YesNoQuestion
from retrieval.core.answers import LeadVerdict

_MOST_WORDS = 40
"""A claim with more words is not repeated."""


def write_lead(
    question: str,
    asked: YesNoQuestion,
    verdict: LeadVerdict,
    certainty: str,
    studies_for: Sequence[str],
    studies_against: Sequence[str],
    uncertain: int,
) -> str:
    """One sentence.

    `certainty` is sure, probable or possible; `studies_for` and `studies_against` name the kind of each paper that takes a side
    ("a randomised trial"), and `uncertain` counts those behind an unclear verdict.
    """
    claim = asked.claim if asked.sound and len(asked.claim.split()) <= _MOST_WORDS else ""
    yes, no, total = len(studies_for), len(studies_against), len(studies_for) + len(studies_against)
    quoted = f"“{' '.join(question.split())}”"
    if verdict == "unclear":
        papers = "one paper" if uncertain == 1 else f"{uncertain} papers"
        asks = f"whether {claim}" if claim else f"what the answer to {quoted} is"
        return f"Unclear: from the {papers} found on this, the judge cannot tell for sure {asks}."
    if verdict == "mixed":
        for_it, against = (
            f"{_spell_number(yes)} ({_list_kinds(studies_for)})",
            f"{_spell_number(no)} ({_list_kinds(studies_against)})",
        )
        if claim:
            find, deny = "finds" if yes == 1 else "find", "does not" if no == 1 else "do not"
            return f"Mixed: {for_it} {find} that {claim}, {against} {deny}."
        return f"Mixed: {for_it} say yes to {quoted}, {against} say no."
    carried = studies_for if verdict == "yes" else studies_against
    word = {
        "yes": {"sure": "Yes", "probable": "Probably yes", "possible": "Possibly yes"},
        "no": {"sure": "No", "probable": "Probably not", "possible": "Possibly not"},
    }[verdict][certainty]
    who = _count_of_all(len(carried), total, carried)
    if not claim:
        return f"{word}: {who} {'answers' if len(carried) == 1 else 'answer'} {quoted} this way."
    if verdict == "yes":
        return f"{word}: {claim}, by {who}."
    return f"{word}: {who} did not find that {claim}."


def _count_of_all(some: int, total: int, studies: Sequence[str]) -> str:
    if total == 1:
        return f"the one paper with a clear finding ({_list_kinds(studies)})"
    if some == total:
        return f"{'both' if some == 2 else f'all {some}'} papers with a clear finding ({_list_kinds(studies)})"
    return f"{some} of {total} papers with a clear finding ({_list_kinds(studies)})"


def _spell_number(number: int) -> str:
    return f"{number} {'paper' if number == 1 else 'papers'}"


def _list_kinds(studies: Sequence[str]) -> str:
    """ "2 randomised trials and a cohort study"."""
    phrases = [name if count == 1 else f"{count} {_pluralise(name)}" for name, count in Counter(studies).items()]
    return " and ".join([", ".join(phrases[:-1]), phrases[-1]] if len(phrases) > 1 else phrases)


def _pluralise(name: str) -> str:
    """ "a randomised trial" as "randomised trials", "a study in animals" as "studies in animals"."""
    bare = name.removeprefix("a ").removeprefix("an ")
    first, _, rest = bare.partition(" in ")
    first = f"{first[:-1]}ies" if first.endswith("y") else f"{first}s"
    return f"{first} in {rest}" if rest else first

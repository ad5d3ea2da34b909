"""From a claim to the yes-or-no question that asks about it: "X lowers Y" becomes "Does X lower Y?".

By rule, with the words of generation/leads/grammar.txt; None if no rule is sure, or the question does not parse back.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from generation.leads.grammar import load_words, make_past, make_third_person
from generation.leads.question import parse_question

_BE = {"is", "are", "was", "were"}
_MODAL = {"can", "could", "may", "might", "will"}
_DO = {"does", "do", "did"}


def write_question(claim: str) -> str | None:
    """The question that a claim answers with yes, or with no if it is a denial; None if no rule is sure."""
    words = claim.strip().rstrip(".").split()
    asked = _invert(words)
    if asked is None:
        return None
    question = f"{' '.join(asked)}?"
    read = parse_question(question)
    return question if read and read.sound else None


def _invert(words: list[str]) -> list[str] | None:
    """The words of the question, its auxiliary first."""
    for place, word in enumerate(words):
        if not place:
            continue
        if word in _BE | _MODAL | _DO:
            rest = words[place + 1 :]
            return [word.capitalize(), *_lowered(words[:place]), *(rest[1:] if rest[:1] == ["not"] else rest)] if rest else None
        if word in _forms():
            if any(before == "and" and after in _forms() for before, after in pairwise(words[place:])):
                return None  # "lowers X and raises Y": the auxiliary stands for both verbs.
            if any(later in _BE | _MODAL for later in words[place + 1 :]):
                return None  # "Deficiency caused by X can be relieved": the verb may be another one.
            base, auxiliary = _forms()[word]
            return [auxiliary, *_lowered(words[:place]), base, *words[place + 1 :]]
    return None


def _lowered(subject: list[str]) -> list[str]:
    """The subject for use inside a sentence: its first letter in lower case, unless the word has other capitals or is a name."""
    first = subject[0]
    plain = first == "A" or (first[:1].isupper() and first[1:].islower())
    return [first[:1].lower() + first[1:] if plain else first, *subject[1:]]


@cache
def _forms() -> dict[str, tuple[str, str]]:
    """Each finite form of a verb that is not its base form, with the base and the auxiliary for a question."""
    found: dict[str, tuple[str, str]] = {}
    for base in load_words("verbs"):
        found[make_third_person(base)] = (base, "Does")
        found[make_past(base)] = (base, "Did")
    return {form: asked for form, asked in found.items() if form not in load_words("verbs")}

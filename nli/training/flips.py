"""Reverse a sentence by its direction word, its negation or its number, so that what supported it now contradicts it."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from pathlib import Path

from retrieval.core.word_list import read_sections

_WORD = re.compile(r"[A-Za-z]+(?:-regulat\w+)?")
_BE = r"is|are|was|were|can|could|may|might|will|should|has been|have been"
_NEGATIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (rf"\b({_BE}) not\b", r"\1"),
        (r"\bcannot\b", "can"),
        (
            r"\bno (significant |clear |major )?(difference|effect|association|correlation|evidence|increase|reduction|change"
            r"|benefit|improvement|impact|influence|relationship)",
            r"a \1\2",
        ),
        (r"\b(?:failed|fails|fail) to\b", "managed to"),
        (r"\b(?:does|do|did) not (?:significantly )?", ""),
        (r"\bneither\b", "both"),
    )
)


def _inflect(verb: str) -> tuple[str, str, str, str]:
    """Base, third person, past and -ing of a regular verb (and of "lose", the one irregular here)."""
    if verb == "lose":
        return "lose", "loses", "lost", "losing"
    if verb == "shrink":
        return "shrink", "shrinks", "shrank", "shrinking"
    if verb.endswith("e"):
        return verb, verb + "s", verb + "d", verb[:-1] + "ing"
    return verb, verb + ("es" if verb.endswith(("s", "sh", "ch")) else "s"), verb + "ed", verb + "ing"


FLIPS = Path(__file__).with_name("flips.txt")


class Flips:
    """The list of opposites, ready to rewrite sentences; every random choice comes from the generator passed in."""

    def __init__(self) -> None:
        self._opposite: dict[str, list[str]] = {}
        self._same: dict[str, list[str]] = {}
        self._third_person: dict[str, str] = {}
        sections = read_sections(FLIPS)
        for line in sections["verbs"]:
            self._add_line([[_inflect(verb) for verb in side.split()] for side in line.split("/")])
            self._third_person |= {third: base for base, third, _, _ in map(_inflect, line.replace("/", " ").split())}
        for line in sections["words"]:
            self._add_line([[(word,) for word in side.split()] for side in line.split("/")])

    def _add_line(self, sides: Sequence[Sequence[tuple[str, ...]]]) -> None:
        """Add the words of both sides, each a tuple of its forms; opposites and synonyms are in the same form."""
        for near_side, far_side in (sides, sides[::-1]):
            for word in near_side:
                for place, form in enumerate(word):
                    self._opposite.setdefault(form, []).extend(other[place] for other in far_side)
                    self._same.setdefault(form, []).extend(other[place] for other in near_side if other != word)

    def find_directions(self, text: str) -> list[re.Match[str]]:
        """The words of `text` that have an opposite."""
        return [match for match in _WORD.finditer(text) if match.group().lower() in self._opposite]

    def has_finite_verb(self, text: str) -> bool:
        """Whether the text has a finite verb known to the rules: a title without one names a subject and claims nothing."""
        return bool(re.search(rf"\b({_BE}|does|do|did)\b", text)) or any(
            match.group() in self._third_person for match in _WORD.finditer(text)
        )

    def make_opposite(self, text: str, rng: random.Random, met: str | None = None) -> str | None:
        """Replace one direction word by an opposite, the first word more often than later ones; None where there is none.

        With `met`, replace only a word that also occurs in that other text, itself or as a synonym.
        """
        return self._replace(text, self._opposite, rng, met)

    def replace_synonym(self, text: str, rng: random.Random) -> str:
        """Replace one direction word by a synonym, where the list has one; the meaning stays the same."""
        return self._replace(text, self._same, rng) or text

    def _replace(self, text: str, table: dict[str, list[str]], rng: random.Random, other_text: str | None = None) -> str | None:
        matches = [match for match in self.find_directions(text) if table.get(match.group().lower())]
        if other_text is not None:
            words = {match.group().lower() for match in _WORD.finditer(other_text)}
            matches = [m for m in matches if words & {m.group().lower(), *self._same.get(m.group().lower(), ())}]
        if not matches:
            return None
        match = matches[0] if rng.random() < 0.6 else rng.choice(matches)
        word = rng.choice(table[match.group().lower()])
        word = word.capitalize() if match.group()[0].isupper() else word
        return text[: match.start()] + word + text[match.end() :]

    def negate(self, text: str, rng: random.Random) -> str | None:
        """Remove a negation where there is one, else insert one; None where no rule fits."""
        for pattern, replacement in _NEGATIONS:
            if pattern.search(text):
                return pattern.sub(replacement, text, count=1)
        places = [match for match in _WORD.finditer(text) if match.group() in self._third_person]
        if places:
            match = places[0]
            return f"{text[: match.start()]}does not {self._third_person[match.group()]}{text[match.end() :]}"
        be = re.search(rf"\b({_BE})\b", text)
        if be:
            return f"{text[: be.end()]} not{text[be.end() :]}"
        return None

    def change_number(self, text: str, rng: random.Random) -> str | None:
        """Change one number of the text clearly (by at least half); None where it contains none."""
        numbers = list(re.finditer(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-])", text))
        if not numbers:
            return None
        match = rng.choice(numbers)
        value = float(match.group()) * rng.choice((0.1, 0.3, 0.5, 2, 3, 5))
        figure = f"{value:.1f}" if "." in match.group() else str(max(0, round(value)))
        return None if figure == match.group() else text[: match.start()] + figure + text[match.end() :]

"""What a question that asks for more than yes or no would have a paper say: a claim with a place for what was studied.

"What lowers blood pressure?" asks of every paper on the subject whether what it studied lowers blood pressure. Questions that ask
by a noun ("risk factors for …", "how is … treated?") are data (statements.yaml); of the others, the verb is taken as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from generation.question import load_words
from nli.text.studied import Studied, load_pipeline
from retrieval.core.word_list import read_shipped
from retrieval.words.forms import make_third_person

_STATEMENTS = Path(__file__).with_name("statements.yaml")
_ASKER = re.compile(r"\b(?:my|your|our|their) ", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """What is asked as the predicate of a claim, its verb first, in the third person singular: "lowers blood pressure"."""

    predicate: str

    @property
    def about(self) -> str:
        """The words that say what the question is about: all but the verb and prepositions."""
        return " ".join(word.text for word in load_pipeline()(f"It {self.predicate}.")[2:] if word.pos_ != "ADP")

    def state(self, studied: Studied, yes: bool = True) -> str:
        """What a paper that studied this says or, without `yes`, denies; no full stop."""
        return f"{studied.text} {self._inflect(studied.plural, yes)}"

    def deny(self, studied: Studied) -> str:
        """The denial of what was stated just before: "it does not"."""
        return f"{'they' if studied.plural else 'it'} {self._inflect(studied.plural, False).partition('not')[0]}not"

    def _inflect(self, plural: bool, yes: bool) -> str:
        verb, _, rest = self.predicate.partition(" ")
        if verb == "is":
            return f"{'are' if plural else 'is'}{'' if yes else ' not'} {rest}"
        stems = [stem for stem in ("have", verb[:-1], verb[:-2], f"{verb[:-3]}y") if make_third_person(stem) == verb]
        base = next((stem for stem in stems if stem in load_words("verbs")), stems[0])
        denied = f"{'do' if plural else 'does'} not {base}"
        return f"{(base if plural else verb) if yes else denied} {rest}"


def parse_open_question(question: str) -> OpenQuestion | None:
    """What a question asks of each paper; None if no rule is sure of it."""
    text = " ".join(question.split()).strip(' "“”?.!')
    for asks, predicate in _load_statements():
        if match := asks.search(text):
            parts = {name: _ASKER.sub("", part).strip(" ,;") for name, part in match.groupdict().items()}
            if verb := parts.get("verb"):
                parts["verb"] = make_third_person(verb.lower())
            return OpenQuestion(predicate.format(**parts)) if predicate and all(parts.values()) else None
    return _take_predicate(text)


def _take_predicate(text: str) -> OpenQuestion | None:
    """ "Which drugs can ease X" as "eases X": the words from the verb on, if they ask for the verb's subject."""
    words = list(load_pipeline()(text))
    if len(words) < 3 or words[0].lower_ not in ("what", "which", "who"):
        return None
    behind = 2 if words[0].lower_ == "which" or words[0].tag_ == "WDT" else 1
    verb = next((place for place in range(behind, len(words)) if words[place].tag_.startswith(("VB", "MD"))), 0)
    verb += words[verb].tag_ == "MD"
    rest, form = words[verb + 1 :], words[verb].lower_
    if not verb or not rest or words[verb].tag_ not in ("VB", "VBP", "VBZ") or form in ("do", "does"):
        return None
    is_be = form in ("is", "are", "be")
    if is_be and (len(rest) == 1 or not rest[0].tag_.startswith(("JJ", "RB", "VBN"))):
        return None  # "What is gout?"
    third = "is" if is_be else form if words[verb].tag_ == "VBZ" else make_third_person(form)
    return OpenQuestion(_ASKER.sub("", f"{third} {text[rest[0].idx :]}"))


@cache
def _load_statements() -> Sequence[tuple[re.Pattern[str], str]]:
    """Each pattern of questions, with the predicate of what it asks for."""
    entries: list[dict[str, str]] = yaml.safe_load(read_shipped(_STATEMENTS))
    return [(re.compile(rf"\b(?:{one['asks']})", re.IGNORECASE), one["predicate"]) for one in entries]

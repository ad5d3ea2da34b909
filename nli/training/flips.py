"""Reverse a sentence, so that what supported it now contradicts it: by its direction word, its negation or its number.

Comparisons are turned round as well: "Zeta eased pain better than eta" becomes "Eta eased pain better than zeta" and its like.
Which of two treatments did better is told by the order of the words alone, and a reader that goes by the words misses it
(docs/research/experiments.md). Exchanging the two, or replacing the comparative by its opposite, says the contrary; doing both
says the same. By rule: sentences that no rule fits are left out. Exchanges as in Min et al. 2020, "Syntactic data augmentation
increases robustness to inference heuristics".
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.core.word_list import read_sections
from retrieval.words.forms import OPPOSITES, inflect_verb

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


class Flips:
    """The list of opposites, ready to rewrite sentences; every random choice comes from the generator passed in."""

    def __init__(self) -> None:
        self._opposite: dict[str, list[str]] = {}
        self._same: dict[str, list[str]] = {}
        self._third_person: dict[str, str] = {}
        sections = read_sections(OPPOSITES)
        for line in sections["verbs"]:
            self._add_line([[inflect_verb(verb) for verb in side.split()] for side in line.split("/")])
            self._third_person |= {third: base for base, third, _, _ in map(inflect_verb, line.replace("/", " ").split())}
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


def capitalise(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


_OPPOSITES = dict(
    pair.split("/")
    for pair in (
        "more/less less/more fewer/more higher/lower lower/higher greater/smaller smaller/greater larger/smaller better/worse "
        "worse/better longer/shorter shorter/longer faster/slower slower/faster quicker/slower earlier/later later/earlier "
        "stronger/weaker weaker/stronger safer/riskier"
    ).split()
)
_COMPARATIVE = re.compile(rf"\b(?:{'|'.join(_OPPOSITES)})\b", re.IGNORECASE)
_UNSURE = re.compile(
    r"\b(?:no|not|never|cannot|nor|neither|without|hardly|barely|fail\w*|similar|equally|difference|whereas|while|but|although|"
    r"though|however|there|who|whose|same|ones?|rest|than\b.*\bthan)\b|n't\b|[%±;:()]",
    re.IGNORECASE,
)
"""Words that make it doubtful what the exchange says: "no better than" does not become its contrary."""
_AUXILIARY = r"(?:did|does|do|was|were|is|are|had|has)"
_PLACE = r"(?:with|after|on|in|for|by|under|using|from|during|among)"
_BEHIND = r"for|in|to|at|after|before|during|when|on|with|against|among|as|without|within|over|from|by|of|if|while|because|since"
_THAN = re.compile(
    rf"\s+than\s+(?:{_AUXILIARY}\s+)?(?P<group>(?:those\s+|patients\s+|women\s+|people\s+)?"
    rf"(?:given|receiving|on|in|with)\s+)?(?P<place>{_PLACE}\s+)?(?P<other>.+?)"
    rf"(?=\s+{_AUXILIARY}\s*$|\s+(?:{_BEHIND})\b|,|$)",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|could|may|might|will|would|does|did|do|seems?|seemed|appears?|appeared|remain(?:s|ed)?|"
    r"works?|worked|gives?|gave|makes?|made|gets?|got|keeps?|kept|leaves?|left|brings?|brought|takes?|took|needs?|needed|"
    r"(?:caus|improv|reduc|reliev|eas|produc|provid|achiev|requir|experienc|decreas|surviv|induc|preserv|restor|serv|"
    r"rais|rul|leav|sav|slow|lower|increas|heal|prevent|help|protect|last|offer|perform|control|show|report|result|lead|"
    r"recover|maintain|demonstrat|yield|clear|boost|trigger|stop|curb|shorten|prolong|extend|delay|cost|detect|predict|occur|"
    r"walk|spar|far|prov|stay|linger|hurt|cut|bled|bleed|di|liv)(?:e|es|s|ed|d)?)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:in|for|at|when|after|before|among|with|during|over|on|under|if|once|within)\b[^,]{3,70},\s+", re.IGNORECASE
)
_NO_NAME = re.compile(
    r"(?:this|these|those|that|they|it|we|both|all|most|our|its|their|expected|usual|half|two|\d|before|ever|the other|"
    r"others?|average|normal|baseline|chance|any|results?|when|proportion)\b",
    re.IGNORECASE,
)
_LONGEST = 8
"""The most words of a name of what is compared."""


@dataclass(frozen=True, slots=True)
class Turned:
    """What a comparison becomes: its sides exchanged, its comparative's opposite (both say the contrary), and both at once."""

    exchanged: str
    opposite: str
    converse: str


def turn_comparison(text: str) -> Turned | None:
    """The turned forms of "A … more … than B …"; None if no rule fits or more than one comparative stands in it."""
    lead, rest = _split_lead(" ".join(text.split()).rstrip("."))
    match = _THAN.search(rest)
    if match is None or _UNSURE.search(rest) or not _is_name(match["other"]):
        return None
    head, behind = rest[: match.start()], rest[match.end("other") :]
    comparatives = list(_COMPARATIVE.finditer(head))
    place = _find_side(head, match)
    if len(comparatives) != 1 or place is None:
        return None
    start, end = place
    word = comparatives[0]
    if start < word.end() and end > word.start():
        return None
    between = rest[match.start() : match.start("other")]

    def compose(exchange: bool, opposite: bool) -> str:
        first, second = head[start:end], match["other"]
        if exchange:
            first, second = second, first
        if exchange and start == 0:
            first, second = first if lead else capitalise(first), _lower_first(second)
        comparative = _OPPOSITES[word[0].lower()] if opposite else word[0]
        # From the end, so that the earlier place stays where it is.
        changed = head
        for begin, stop, words in sorted([(start, end, first), (*word.span(), comparative)], reverse=True):
            changed = changed[:begin] + words + changed[stop:]
        return f"{lead}{changed}{between}{second}{behind}."

    return Turned(compose(True, False), compose(False, True), compose(True, True))


def _split_lead(text: str) -> tuple[str, str]:
    match = _LEAD.match(text)
    return (match[0], text[match.end() :]) if match else ("", text)


def _find_side(head: str, match: re.Match[str]) -> tuple[int, int] | None:
    """Where the other side of the comparison stands: behind the same preposition as that of "than with …", or as the subject."""
    preposition = (match["place"] or match["group"] or "").split()
    if preposition:
        places = list(re.finditer(rf"\b{re.escape(preposition[-1])}\s+", head, re.IGNORECASE))
        for place in reversed(places):
            name = re.match(rf".+?(?=\s+(?:{_AUXILIARY})\b|,|$)", head[place.end() :])
            if name and _is_name(name[0]) and not _COMPARATIVE.search(name[0]):
                return place.end(), place.end() + len(name[0])
        return None
    verb = next((candidate for candidate in _VERB.finditer(head) if candidate.start()), None)
    subject = head[: verb.start()].rstrip() if verb else ""
    return (0, len(subject)) if _is_name(subject) else None


def _is_name(text: str) -> bool:
    return bool(text) and len(text.split()) <= _LONGEST and "," not in text and not _NO_NAME.match(text)


def _lower_first(text: str) -> str:
    return text[0].lower() + text[1:] if text[1:2].islower() else text

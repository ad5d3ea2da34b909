"""Reverse a sentence by rule, so that what supported it now contradicts it: by its negation, or as a comparison.

Comparisons are turned round: "Zeta eased pain better than eta" becomes "Eta eased pain better than zeta" and its like.
Which of two treatments did better is told by the order of the words alone, and a reader that goes by the words misses it
(docs/research/experiments.md). Exchanging the two, or replacing the comparative by its opposite, says the contrary; doing both
says the same. By rule: sentences that no rule fits are left out. Exchanges as in Min et al. 2020, "Syntactic data augmentation
increases robustness to inference heuristics".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from counterpoint.nli.text.comparisons import COMPARATIVE, OPPOSITES
from counterpoint.retrieval.core.word_list import read_word_list
from counterpoint.retrieval.words.forms import capitalise, make_third_person

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


VERBS = Path(__file__).with_name("verbs.txt")


@cache
def _load_third_persons() -> dict[str, str]:
    """The verbs of the list by their third person."""
    return {make_third_person(verb): verb for verb in read_word_list(VERBS)}


def has_finite_verb(text: str) -> bool:
    """Whether the text has a finite verb known to the rules: a title without one names a subject and claims nothing."""
    return bool(re.search(rf"\b({_BE}|does|do|did)\b", text)) or any(
        match.group() in _load_third_persons() for match in _WORD.finditer(text)
    )


def negate(text: str) -> str | None:
    """Remove a negation where there is one, else insert one; None where no rule fits."""
    for pattern, replacement in _NEGATIONS:
        if pattern.search(text):
            return pattern.sub(replacement, text, count=1)
    for match in _WORD.finditer(text):
        if verb := _load_third_persons().get(match.group()):
            return f"{text[: match.start()]}does not {verb}{text[match.end() :]}"
    be = re.search(rf"\b({_BE})\b", text)
    return f"{text[: be.end()]} not{text[be.end() :]}" if be else None


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
    comparatives = list(COMPARATIVE.finditer(head))
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
        comparative = OPPOSITES[word[0].lower()] if opposite else word[0]
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
            if name and _is_name(name[0]) and not COMPARATIVE.search(name[0]):
                return place.end(), place.end() + len(name[0])
        return None
    verb = next((candidate for candidate in _VERB.finditer(head) if candidate.start()), None)
    subject = head[: verb.start()].rstrip() if verb else ""
    return (0, len(subject)) if _is_name(subject) else None


def _is_name(text: str) -> bool:
    return bool(text) and len(text.split()) <= _LONGEST and "," not in text and not _NO_NAME.match(text)


def _lower_first(text: str) -> str:
    return text[0].lower() + text[1:] if text[1:2].islower() else text

"""From a yes-or-no question to the claim that it asks about, and back.

"Does X lower Y?" becomes "X lowers Y", by rule, with the words of generation/grammar.txt. If no rule finds the end of the
subject, the claim is the question less its auxiliary, which a model reads well enough, and `sound` is False: such a claim is
never shown to a reader.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from counterpoint.generation.choice import MANY, split_choice
from counterpoint.generation.grammar import (
    ARTICLES,
    ASKING,
    AUXILIARIES,
    BE,
    DO,
    HAVE,
    ORDERS,
    find_predicate,
    find_verb,
    inflect,
    is_adverb,
    load_finite_forms,
    load_words,
    lower_first,
    put_clause_last,
)

_MAY = {"can", "could", "may", "might", "will"}
"""The modals of statements that can be asked about."""
_PRONOUNS = {"it", "they", "this", "these", "that", "those", "he", "she"}
_SENTENCE = BE | {"i", "i'm", "i've", "we", "we've", "my", "have", "has", "had"}
"""Words by which a heading is a sentence of its own: "I take zeta. Does it help?"."""
_SHORT = {"isn't": "is", "aren't": "are", "doesn't": "does", "don't": "do", "can't": "can", "it's": "is it", "what's": "what is"}
_TURN = re.compile(r"\s*(?:[:;]|(?<!\b[A-Z])(?<!\bSt)(?<!\bvs)(?<!\bDr)\.(?=\s)|--|[—–]|\s-(?=\s))\s*")
_ASIDE = re.compile(r",?\s*\(?yes or no\)?\s*$|,?\s+or not$|^how well (?=(?:do|does|did)\b)", re.IGNORECASE)
_TAG = re.compile(
    rf"(.+),\s*\(?(?:(?:{'|'.join(sorted(AUXILIARIES))}|wo|ca)(?:n['’]t)?\s+(?:it|they|he|she|this|that|there|we|you)(?:\s+not)?"
    r"|yes(?:\s+or\s+no)?|no|right|correct|true|is (?:that|it) (?:so|right|true|correct))\)?",
    re.IGNORECASE,
)
"""A statement with a question behind it: "Zeta prevents falls, does it not?"."""


@dataclass(frozen=True, slots=True)
class YesNoQuestion:
    """The claim of a yes-or-no question; `sound` says that it is English that can be shown."""

    claim: str
    sound: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """A question that offers two sides: what each is called, and each as a claim against the other; `both` names both in one.

    `opposed` says that the sides are opposites ("raise", "lower"), not things that are compared.
    """

    names: tuple[str, str]
    claims: tuple[YesNoQuestion, YesNoQuestion]
    both: YesNoQuestion
    opposed: bool


def parse_question(question: str) -> YesNoQuestion | None:
    """The claim that a question asks to confirm or deny; None if it asks for something else ("What …", "How …", "A or B?")."""
    return None if split_choice(question) else _parse(question)


def parse_choice(question: str) -> Choice | None:
    """The choice between two sides that a question offers; None if it offers none."""
    offered = split_choice(question)
    if not offered or len(offered.asked) != 2:
        return None
    texts = (f"{offered.topic}: {asked}?" if offered.topic else f"{asked}?" for asked in (*offered.asked, offered.both))
    first, second, both = (_parse(text) for text in texts)
    if not (first and second and both):
        return None
    return Choice((offered.names[0], offered.names[1]), (first, second), both, offered.opposed)


TWO_AT_A_TIME = "This question offers more than two things, which are compared two at a time: name two of them in a question"


def offers_many(question: str) -> bool:
    """Whether a question offers a choice between more than two sides."""
    return split_choice(question) == MANY


def _parse(question: str) -> YesNoQuestion | None:
    line = " ".join(question.split()).strip(' "“”?.!')
    tagged = _TAG.fullmatch(line)
    if tagged and tagged[1].split()[0].lower() not in AUXILIARIES | ASKING:
        return YesNoQuestion(" ".join(lower_first(tagged[1].split())), sound=True)
    text = _ASIDE.sub("", line)
    parts = [put_clause_last(stripped) for part in _TURN.split(text) if (stripped := part.strip(' "“”'))]
    for place in reversed(range(len(parts))):
        words = _split_words(parts[place])
        if len(words) > 1 and words[0].lower() in AUXILIARIES:
            topic = " ".join(parts[:place]) or " ".join(parts[place + 1 :])
            return _parse_inverted(words, topic)
    return _parse_elliptic(parts) if question.rstrip(' "”').endswith("?") else None


def _parse_elliptic(parts: list[str]) -> YesNoQuestion | None:
    """A question without a verb, as in titles: "The nurse cystoscopist: a feasible option?"."""
    words = {word.lower().strip(",") for part in parts for word in part.split()}
    if not parts or words & (AUXILIARIES | ASKING) or not ORDERS.isdisjoint(parts[0].lower().split()[:1]):
        return None
    if len(parts) == 2 and parts[1].split()[0].lower() in ARTICLES | {"another", "really"}:
        return YesNoQuestion(f"{parts[0]} is {parts[1]}", sound=False)
    return YesNoQuestion(": ".join(parts), sound=False)


def _split_words(text: str) -> list[str]:
    words = text.split()
    if words and (full := _SHORT.get(words[0].lower().replace("’", "'"))):
        words[:1] = full.split()
    return words


def _parse_inverted(words: list[str], topic: str) -> YesNoQuestion | None:
    auxiliary, rest = words[0].lower(), words[1:]
    if rest[0].lower() == "there" and auxiliary in BE:
        return None if _asks_for_a_list(rest[1:]) else _parse_there(auxiliary, rest[1:], topic)
    end, context = 0, "" if not topic or _names_most(topic, rest) else topic
    if rest[0].lower() in _PRONOUNS and topic and len(rest) > 1:
        # "Statins in stroke: do they help?": the heading is the subject, unless it is a sentence of its own.
        rest, end, context = [*topic.split(), *rest[1:]], len(topic.split()), ""
        if not _SENTENCE.isdisjoint(word.lower().replace("’", "'") for word in topic.split()):
            return YesNoQuestion(" ".join(rest), sound=False)
    elif rest[0].lower() in _PRONOUNS | {"we", "you", "i"}:
        end = 1
    end = end or (find_predicate(rest) if auxiliary in BE else find_verb(rest, participle=auxiliary in HAVE))
    if not 0 < end < len(rest):
        return YesNoQuestion(_put_in_context(" ".join(rest), context), sound=False)
    subject, predicate = rest[:end], [auxiliary, *rest[end:]]
    if auxiliary in DO:
        verb = next((place for place in range(end, len(rest)) if not is_adverb(rest[place].lower())), end)
        places = {verb}
        if rest[verb + 1 : verb + 2] in (["or"], ["and"]) and {*rest[verb + 2 : verb + 3]} <= load_words("verbs"):
            places.add(verb + 2)
        predicate = [inflect(rest[at], auxiliary) if at in places else rest[at] for at in range(end, len(rest))]
    return YesNoQuestion(_put_in_context(" ".join([*subject, *predicate]), context), sound=not context)


def _asks_for_a_list(words: list[str]) -> bool:
    """Whether yes would be no answer: "Are there ways to prevent gout?" asks which."""
    low = [word.lower().strip(",") for word in words]
    end = next(
        (place for place, word in enumerate(low) if word in load_words("prepositions") | {"to", "that", "which"}), len(low)
    )
    return end > 0 and low[end - 1] in load_words("things to list")


def _parse_there(auxiliary: str, rest: list[str], topic: str) -> YesNoQuestion:
    context = "" if not topic or _names_most(topic, rest) else topic
    found = " ".join(rest[1:] if rest and rest[0].lower() == "any" else rest)
    return YesNoQuestion(_put_in_context(f"there {auxiliary} {found}", context), sound=not context)


def _put_in_context(claim: str, context: str) -> str:
    """The claim with its context in front, if the question states the context separately."""
    return f"{context}: {claim}" if context else claim


def _names_most(topic: str, rest: list[str]) -> bool:
    """Whether the question itself names most of what its heading names."""
    heading = {word.lower().strip(",") for word in topic.split() if len(word) > 3}
    return bool(heading) and len(heading & {word.lower() for word in rest}) > len(heading) / 2


def write_question(claim: str) -> str | None:
    """The question that a claim answers with yes, or with no if it is a denial; None if no rule is sure."""
    words = claim.strip().rstrip(".").split()
    asked = _invert(words)
    if asked is None:
        return None
    question = f"{' '.join(asked)}?"
    parsed = parse_question(question)
    return question if parsed and parsed.sound else None


def _invert(words: list[str]) -> list[str] | None:
    """The words of the question, its auxiliary first."""
    for place, word in enumerate(words):
        if not place:
            continue
        if word in BE | _MAY | DO:
            rest = words[place + 1 :]
            return (
                [word.capitalize(), *lower_first(words[:place]), *(rest[1:] if rest[:1] == ["not"] else rest)] if rest else None
            )
        if word in load_finite_forms():
            if any(before == "and" and after in load_finite_forms() for before, after in pairwise(words[place:])):
                return None  # "lowers X and raises Y": the auxiliary stands for both verbs.
            if any(later in BE | _MAY for later in words[place + 1 :]):
                return None  # "Deficiency caused by X can be relieved": the verb may be another one.
            base, auxiliary = load_finite_forms()[word]
            return [auxiliary, *lower_first(words[:place]), base, *words[place + 1 :]]
    return None

"""What a claim, a topic or a query must satisfy before anything is searched for it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from counterpoint.generation.extractive import drop_label
from counterpoint.retrieval.core.characters import unify_characters
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Claim, Topic
from counterpoint.retrieval.core.word_list import read_word_list
from counterpoint.retrieval.words.forms import capitalise
from counterpoint.service.configuration.defaults import MOST_KNOWN

MAX_CHARACTERS = 2000
_FRONTS = Path(__file__).with_name("fronts.txt")
_BULLET = re.compile(r"^[*•–-]\s+")
_QUOTED = re.compile(r"[\"“«]([^\"“”«»]*)[\"”»][.!]?")
_END = re.compile(r"[\s.!…]*$")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]+")


def check_claim(text: str, question: str = "", known_pmids: Iterable[str | int] = (), id: str = "") -> Claim:
    """A claim that can be searched for: one line of text, not empty, at most 2,000 characters; known PMIDs without duplicates.

    Raises `BadInput` for any other.
    """
    pmids = tuple(dict.fromkeys(_one_line(str(pmid)) for pmid in known_pmids if str(pmid).strip()))
    if len(pmids) > MOST_KNOWN:
        raise BadInput(f"{len(pmids):,} known PMIDs were given; the limit is {MOST_KNOWN:,}.")
    claim = _check(text, "claim", required="give one sentence that can be true or false, such as “Aspirin reduces fever.”")
    return Claim(text=claim, question=_check(question, "question"), known_pmids=pmids, id=id)


def state_claim(text: str) -> str:
    """What a claim states, as it is searched for and read, however it was typed.

    It has no quotation marks around it and no words that lead to it, begins with a capital, ends with a stop, is not all in
    capitals, and has one form of characters.
    """
    line = " ".join(unify_characters(text).split())
    stated = drop_lead(_QUOTED.sub(r"\1", line) if _QUOTED.fullmatch(line) else line)
    if stated.isupper() and " " in stated:
        stated = stated.lower()
    return capitalise(stated if stated.endswith("?") else f"{_END.sub('', stated)}.")


def drop_lead(text: str) -> str:
    """A sentence without a label, a bullet and any introductory words before what it says; its first letter is a capital."""
    text = drop_label(_BULLET.sub("", text))
    while (match := _load_fronts().match(text)) and match.end() < len(text):
        text = text[match.end() :].lstrip(" ,;:")
    return capitalise(text)


def check_hypothesis(text: str) -> str:
    """A hypothesis that a paper can be read for: one line of text, not empty, at most 2,000 characters."""
    return _check(text, "hypothesis", required="give one sentence that can be true or false, such as “Aspirin reduces fever.”")


def check_topic(question: str, topic: str = "", narrative: str = "", id: str = "") -> Topic:
    """A topic that can be answered: a question, not empty, and its other parts, each at most 2,000 characters."""
    clean_question = _check(question, "question", required="give the question to answer, such as “Does aspirin reduce fever?”")
    return Topic(id=id, question=clean_question, topic=_check(topic, "topic"), narrative=_check(narrative, "narrative"))


def check_query(text: str) -> str:
    """Words that can be searched for: one line of text, not empty, at most 2,000 characters."""
    return _check(text, "query", required="give the words to search for, such as “aspirin fever”.")


def _check(text: str, what: str, required: str = "") -> str:
    """One line of text that is not too long; `required` says what to give if it has no words, "" if it may have none."""
    clean = _one_line(text)
    if required and not any(map(str.isalnum, clean)):
        raise BadInput(f"The {what} {f'“{clean}” has no words' if clean else 'is empty'}; {required}")
    if len(clean) > MAX_CHARACTERS:
        raise BadInput(f"The {what} has {len(clean):,} characters; the limit is {MAX_CHARACTERS:,}, so shorten it.")
    return clean


def _one_line(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split())


@cache
def _load_fronts() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in read_word_list(_FRONTS)), re.IGNORECASE)

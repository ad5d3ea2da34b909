"""Whether a sentence makes a claim that papers can support or contradict: by not_claims.yaml, its verb and a model of roles.

A statement has a verb; keywords and titles have none: "Zinc shortens colds" is a statement, "lung cancer causes" and "exercise
induced asthma" are not. Neither capitals nor a full stop matter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

from generation.grammar import load_words
from nli.text.roles import ROLES, is_report, load_role_model
from retrieval.core.characters import unify_characters
from retrieval.core.word_list import read_sections
from retrieval.words.forms import load_irregular, make_past, make_third_person
from service.checking.citations import without_citations
from service.grounding.claims import MAX_CHARACTERS, drop_lead

_FILE = Path(__file__).with_name("verbs.txt")
FEW = 8
"""In more words, any form of a verb counts, and so does an article: keywords are few, or have neither."""
_MADE = re.compile(r".{3}(?:[iy][sz]es|ifies)$")
"""The endings of verbs that no list has all of: "hospitalises"."""
_JOINED = 6
"""In fewer words, some participles join nouns: "exercise induced asthma"."""
_PREFIX = re.compile(r"\b(up|down|over|under|re|co|de|auto|cross)-(?=\w)", re.IGNORECASE)
_COMPOUND = re.compile(r"\b\w+(?:[-‐–]\w+)+")
_TOKEN = re.compile(r"[^\W_]+(?:['.][^\W_]+)*|[,;:()–—-]")


def is_statement(text: str) -> bool:
    """Whether a text has a verb that makes it a statement; keywords and titles have none."""
    return bool(find_verb(text))


def find_verb(text: str) -> str:
    """The first word, in lower case, that makes a text a statement: a verb, in a long text also an article; "" if none does."""
    # A part of a compound is no verb: "antibiotic-associated diarrhoea".
    words = _TOKEN.findall(_COMPOUND.sub("compound", _PREFIX.sub(r"\1", unify_characters(text))).lower())
    places = range(1, len(words))
    if sum(word[0].isalnum() for word in words) <= FEW:
        return next((words[place] for place in places if _states(words, place)), "")
    forms = _load("auxiliaries") | _load("articles") | _load_forms("s") | _load_forms("base") | _load_forms("ed")
    return next((words[place] for place in places if words[place] in forms), "")


def _states(words: list[str], place: int) -> bool:
    """Whether the word at a place is a verb that states something."""
    word, before = words[place], words[place - 1]
    behind = words[place + 1] if place + 1 < len(words) else ""
    if word in _load("auxiliaries") or word.endswith("n't"):
        return True
    third = word in _load_forms("s") or bool(_MADE.search(word))
    # No plural stands behind an article: in "vitamin A lowers", the letter is a name.
    is_name = third and before == "a" and place > 1 and words[place - 2] not in _load("no verb behind")
    if before in _load("no verb behind") and not is_name:
        return False
    # "lung cancer causes", "screening benefits and harms", "drug use in pregnancy"
    has_object = bool(behind) and behind not in _load("no object")
    if third:
        falls_in = word in _load("intransitive") and behind in _load("with verb before")
        return has_object or falls_in or word not in _load("plurals")
    if word in _load_forms("base"):
        if word not in load_words("also nouns") and word not in _load("also nouns"):
            return True
        return behind in _load("articles") or (_is_plural(before) and (has_object or len(words) == 2))
    return word in _load_forms("ed") and not (word in _load("joined") and len(words) < _JOINED and has_object)


def _is_plural(word: str) -> bool:
    return word in _load("people") or (word.endswith("s") and not word.endswith(("ss", "us", "is")))


@cache
def _load_forms(ending: str) -> frozenset[str]:
    verbs = load_words("verbs") | _load("verbs")
    if ending == "base":
        return verbs
    if ending == "s":
        return frozenset(map(make_third_person, verbs))
    return frozenset((*map(make_past, verbs), *(form for forms in load_irregular().values() for form in forms[1:])))


@cache
def _load(section: str) -> frozenset[str]:
    return frozenset(word for line in read_sections(_FILE)[section] for word in line.split())


Reason = Literal[
    "heading", "question", "short", "long", "citation", "references", "text", "aim", "method", "research", "advice", "opinion",
    "pronoun", "fragment",
]  # fmt: skip
REASONS: tuple[Reason, ...] = get_args(Reason)

_PATTERNS = Path(__file__).parent / "not_claims.yaml"
_FEWEST = 3
"""The fewest words of a claim: "Aspirin reduces fever"."""
_METHOD, _METHOD_UNDER_METHODS = 0.8, 0.3
"""From this probability, a sentence counts as saying how something was done; the second applies in a methods section."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_QUESTION = re.compile(r"[?？؟][\"'”’»)\]\s]*$")
_STOP = re.compile(r"[.!…:;][\"'”’»)\]\s]*$")
_ASKS = re.compile(r"(?:how|why|what|when|where|who|which)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Patterns:
    reasons: tuple[tuple[Reason, re.Pattern[str]], ...]
    pronouns: re.Pattern[str]
    verbs: re.Pattern[str]


def claim_in(sentence: str, section: str = "other", given: bool = False, whole: bool = True) -> tuple[str, Reason | None]:
    """The claim of a sentence and None, or "" and the reason why it makes none.

    `section` is the role of its section in a paper. A sentence `given` as a claim is refused only if it cannot be searched
    for, or is only keywords. `whole` says that it is in running text: a list entry or table cell needs a verb to be a sentence.
    """
    patterns = _patterns()
    bare = without_citations(sentence)
    words = _WORD.findall(bare)
    if not words:
        return "", "citation" if re.search(r"\w", sentence) and bare != " ".join(sentence.split()) else "short"
    if len(bare) > MAX_CHARACTERS:
        return "", "long"
    if given:
        return (bare, None) if is_statement(drop_lead(bare)) or _QUESTION.search(bare) else ("", "fragment")
    if _QUESTION.search(bare):
        return "", "question"
    if len(words) < _FEWEST:
        return "", "short"
    if _ASKS.match(bare) and not _STOP.search(bare):
        return "", "heading"
    claim = drop_lead(bare)
    for reason, pattern in patterns.reasons:
        if pattern.search(claim) or pattern.search(bare):
            return "", reason
    if _is_method(claim, section):
        return "", "method"
    if patterns.pronouns.search(claim):
        return "", "pronoun"
    if not is_statement(claim) or not (
        len(claim.split()) <= FEW or (whole and _STOP.search(bare)) or patterns.verbs.search(claim)
    ):
        return "", "fragment"
    if len(_WORD.findall(claim)) < _FEWEST or bare.endswith(":"):
        return "", "fragment"
    return claim, None


def _is_method(claim: str, section: str) -> bool:
    if is_report(claim) and section != "methods":
        return False
    share = float(load_role_model().score_text(claim)[ROLES.index("methods")])
    return share >= (_METHOD_UNDER_METHODS if section == "methods" else _METHOD)


@cache
def _patterns() -> _Patterns:
    data: dict[str, Any] = yaml.safe_load(_PATTERNS.read_text("utf-8"))

    def compile_any(several: list[str]) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{one})" for one in several), re.IGNORECASE)

    return _Patterns(
        tuple((reason, compile_any(data["reasons"][reason])) for reason in REASONS if reason in data["reasons"]),
        _compact(data["pronouns"]),
        _compact(data["verbs"]),
    )


def _compact(lines: str) -> re.Pattern[str]:
    """A pattern that is written on several lines."""
    return re.compile(lines.replace("\n", ""), re.IGNORECASE)

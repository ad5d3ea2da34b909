"""The name of an answer: a whole noun phrase of its paper, and one name for one thing.

A reader points at the words of an answer; here they are made a name. What may not stand at the edge of a name is cut off. Which
words belong to it, the paper itself shows: a name behind which the paper never stops ("thiazide" of "thiazide diuretics") goes on
as the paper does. What is left of brackets is cut or closed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from counterpoint.generation.grammar import load_words
from counterpoint.retrieval.core.word_list import read_sections
from counterpoint.retrieval.words.acronyms import find_acronyms
from counterpoint.retrieval.words.forms import load_irregular, make_past, make_third_person, unify_text
from counterpoint.retrieval.words.terms import split_terms

_AROUND = " .,;:/\"'“”‘’"
_ON_OUTCOMES = re.compile(
    r"\bbenefits?\b|(?<!side )(?<!adverse )(?<!harmful )(?<!unwanted )\beffects? of\b|\bdo(?:es)? .+ do\b", re.IGNORECASE
)
"""Words of a question to which an outcome is the answer, which misleads unless it says which way it went."""
_DIRECTION = re.compile(
    r"\b(?:reduc|decreas|lower|less|fewer|increas|improv|higher|more|better|prevent|reli[ei]|gain|loss|longer|shorter|faster|slower"
    r"|prolong|regress|protect|inhibit|enhanc|suppress|defect|fall|rise|decline|impair)",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\b(?:than|versus|vs\.?|compared (?:with|to)|comparison (?:with|to)|relative to|as opposed to|instead of|rather than"
    r"|in contrast to|superior to|inferior to|over|unlike|previously treated(?: \w+)? with|unsuccessfully(?: \w+)? with"
    r"|refractory to|resistant to|fail\w*(?: to respond)? (?:to|on|with|of)|in addition to|as (?:well|effective|good|safe) as"
    r"|controls? (?:receiving|given|on))"
    r"(?: (?:with|for|in|on|after|those|patients|that|of|the|given|receiving|taking|women|men|children|treated|group)){0,4}"
    r"(?: [\w-]+){0,3} ?\(?$",
    re.IGNORECASE,
)
"""What stands before that with which something is compared."""
_LONGEST = 9
"""The most words of a name."""
_BRAND = re.compile(r"\b([a-z][\w-]{3,}) \(([A-Z][a-z][\w-]{2,})[®™]*\)")


def tidy_name(words: str, passage: str) -> str:
    """The whole noun phrase that some words of a passage belong to, "" for a fragment or what names nothing."""
    name = _trim(_balance(re.split(r"(?<=\w{2})[.;] |--", " ".join(words.split()))[0]))
    if "," in name and not re.search(r" (?:and|or|plus|with) ", name):
        name = _trim(name.partition(",")[0])  # of a list that is not whole, the first
    for _ in range(4):
        before, behind = _find_neighbours(name, passage)
        if not (before or behind):
            break
        name = _trim(f"{before} {name} {behind}")
    if not name or len(name.split()) > _LONGEST or not re.search(r"[^\W\d_]{2}", name):
        return ""
    return "" if _names_nothing(name) else name


def _names_nothing(name: str) -> bool:
    """Whether a name is none whatever was asked: "treatment", "placebo"."""
    return all(word.lower().strip(_AROUND) in _load_none() for word in name.split()) or name.lower() in _load_none()


def is_answer(name: str, question: str, passage: str) -> bool:
    """Whether a name of a passage may answer: not with half the question's own words, nor with an outcome without a direction."""
    if _ON_OUTCOMES.search(question) and not _DIRECTION.search(name):
        return False
    forms = [name, *(short for short, long in _list_aliases(passage) if long.lower() in name.lower())]
    asked = frozenset(split_terms(unify_text(question)))
    return all(2 * len(core & asked) < len(core) for core in map(_find_core, forms))


def names_it(name: str, sentence: str, passage: str) -> bool:
    """Whether a sentence of a passage names a thing, in full or in short, and not only as what others are compared with."""
    known = [name, *(other for pair in _list_aliases(passage) for other in pair if name_alike(name, pair[0], [passage]))]
    places = [sentence[: match.start()] for one in known for match in _find_mentions(one, sentence)]
    if places:
        return not all(_COMPARED.search(before[-60:]) for before in places)
    return _find_core(name) <= frozenset(split_terms(unify_text(sentence)))


def _find_mentions(name: str, text: str) -> Iterator[re.Match[str]]:
    return re.finditer(rf"(?<![\w]){re.escape(name)}(?![\w])", text, re.IGNORECASE)


def _trim(name: str) -> str:
    """The name without what may not stand at its edges."""
    spans = name.strip(_AROUND).split()
    while spans and (_is_edge(spans[0]) or spans[0].lower() in _load("openings")):
        spans = spans[1:]
    while spans and (_is_edge(spans[-1]) or spans[-1].lower() in _load_finite()):
        spans = spans[:-1]
    return " ".join(spans).strip(_AROUND).removesuffix("-treated")


def _is_edge(word: str) -> bool:
    return not word.strip(_AROUND + "()[]-–—") or word.lower().strip(_AROUND + "()[]") in _load("edges")


def _balance(name: str) -> str:
    """The name with whole brackets: without what is left open."""
    for opening, closing in ("()", "[]"):
        if name.count(opening) == name.count(closing):
            continue
        if name.count(opening) > name.count(closing):
            name = name[: name.rindex(opening)]
        else:
            name = name[name.index(closing) + 1 :] if opening not in name else name[: name.rindex(closing)]
    return name.strip()


def _find_neighbours(name: str, passage: str) -> tuple[str, str]:
    """The words between which a name always stands in the passage if they may belong to it; "" where it can begin or end."""
    mentions = list(_find_mentions(name, passage)) if name else []
    sides = []
    for ahead in (False, True):
        words = {_find_neighbour(passage, match.end() if ahead else match.start(), ahead) for match in mentions}
        open_end = ahead and name.endswith("s") and not name.endswith(("ss", "us", "is"))
        sides.append(words.pop() if len(words) == 1 and not open_end else "")
    return sides[0], sides[1]


def _find_neighbour(passage: str, place: int, ahead: bool) -> str:
    """The word beside a place, "" if it may not belong to a name there, or punctuation stands between."""
    found = (
        re.match(r" ([^\W\d_][\w-]*)", passage[place:]) if ahead else re.search(r"(?<![\w.-])([^\W\d_][\w-]*) $", passage[:place])
    )
    return found[1] if found and _continues(found[1]) else ""


def _continues(word: str) -> bool:
    """Whether a word beside a name may belong to it: a noun or an adjective, as far as the word lists tell."""
    low = word.lower()
    others = _load("edges") | _load("people") | load_words("prepositions") | load_words("verbs") | _load_finite()
    return low not in others and not low.endswith(("ly", "ed", "ing")) and word[:1].islower()


def name_alike(one: str, other: str, passages: Iterable[str]) -> bool:
    """Whether two names are of one thing: the same words but for spelling, number and neutral words, or a short form that one of
    the passages explains."""
    if (first := _find_core(one)) == (second := _find_core(other)):
        return True
    pairs = (pair for passage in passages for pair in _list_aliases(passage))
    return any({_find_core(short), _find_core(long)} == {first, second} for short, long in pairs)


def _find_core(name: str) -> frozenset[str]:
    """The words that tell a name from others, "A" among them ("hemophilia A")."""
    terms = split_terms(unify_text(re.sub(r"\s*\([^()]*\)", "", name) or name))
    terms += ["A"] * bool(re.search(r"\w A\b", name))
    return frozenset(terms) - _load_neutral() or frozenset(terms)


def _list_aliases(passage: str) -> Iterator[tuple[str, str]]:
    """The short forms and brand names that a passage explains."""
    yield from find_acronyms(passage.replace("anti-", ""))
    yield from ((brand, name) for name, brand in _BRAND.findall(passage))


def choose_name(names: Sequence[str]) -> str:
    """Of several names of one thing the most frequent, then the one that spells out most; without brackets if there is one."""
    return max(names, key=lambda name: (names.count(name), not name.isupper(), "(" not in name, -len(name)))


@cache
def _load(section: str) -> frozenset[str]:
    return frozenset(word for line in _load_sections()[section] for word in line.split())


@cache
def _load_none() -> frozenset[str]:
    return frozenset(name.strip() for line in _load_sections()["none"] for name in line.split(","))


@cache
def _load_neutral() -> frozenset[str]:
    return frozenset(term for word in _load("neutral") for term in split_terms(word))


@cache
def _load_sections() -> dict[str, list[str]]:
    return read_sections(Path(__file__).with_name("names.txt"))


@cache
def _load_finite() -> frozenset[str]:
    """Verbs in the forms in which they may follow a name, unless they are nouns as often."""
    sure, nouns = load_words("verbs"), load_words("also nouns")
    found = {form for verb in sure for form in (make_past(verb), *(() if verb in nouns else (verb, make_third_person(verb))))}
    return frozenset(found | {form for forms in load_irregular().values() for form in forms[1:]})

"""The words of English questions (grammar.txt), and where the subject of a question ends and its predicate begins."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path

from counterpoint.retrieval.core.word_list import read_sections
from counterpoint.retrieval.words.forms import load_irregular, make_past, make_third_person

_FILE = Path(__file__).with_name("grammar.txt")

DO = {"do", "does", "did"}
BE = {"is", "are", "was", "were"}
HAVE = {"has", "have", "had"}
MODAL = {"can", "could", "may", "might", "must", "shall", "should", "will", "would"}
AUXILIARIES = DO | BE | HAVE | MODAL
ARTICLES = {"a", "an", "the"}
ASKING = {"what", "which", "how", "why", "when", "where", "who", "whom", "whose"}
ORDERS = {"list", "name", "give", "mention", "tell", "describe", "explain", "compare", "please", "best"}
"""Words with which a text begins that asks for more than yes or no without a word of `ASKING`."""
RELATIVES = {"who", "whom", "whose", "which", "that", "where"}
_BETTER = {"better", "best", "superior", "safer", "worse", "preferable", "preferred"}
_NO_ADVERBS = frozenset("daily weekly monthly yearly early elderly family only assembly anomaly supply".split())
_OPENS = r"after|before|during|in|among|for|with|within|following"
_CLAUSE = re.compile(
    rf"((?:{_OPENS}|when|while|if|once|since|at|on|by|under|given|based|as|overall|compared|relative to|unlike|despite|without"
    r"|across|over|throughout|until|between|from|of|using"
    r"|(?:an?|one|two|three|four|five|six|ten|\d+) (?:hour|day|week|month|year)s? after)\b[^?]*?),\s+"
    rf"((?:{'|'.join(sorted(AUXILIARIES))})\b.*)"
    rf"|((?:{_OPENS})\s+(?!which|what|whom|whose)[^,?]+?)\s+((?:does|did)\b.*)",
    re.IGNORECASE,
)
"""A clause in front of the question and the question itself; without a comma between them in the second pair of groups."""
_BEFORE_VERBS = frozenset("block control diet exercise guard screen support test use".split())
"""Nouns that are verbs as often, but not before another verb."""


def inflect(verb: str, auxiliary: str) -> str:
    """The verb as it stands without its auxiliary."""
    low = verb.lower()
    return low if auxiliary == "do" else make_third_person(low) if auxiliary == "does" else make_past(low)


@cache
def load_words(name: str) -> frozenset[str]:
    """The words of a section of grammar.txt."""
    return frozenset(word for line in _load_sections()[name] for word in line.split())


@cache
def _load_sections() -> dict[str, list[str]]:
    return read_sections(_FILE)


@cache
def load_opposites() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Groups of words, each with the group of which any word is an opposite."""
    pairs = (line.split("/") for line in _load_sections()["opposites"])
    return tuple((frozenset(one.split()), frozenset(other.split())) for one, other in pairs)


def put_clause_last(text: str) -> str:
    """ "After a stroke, does exercise help" as "does exercise help after a stroke"; other text as it is."""
    if not (turned := _CLAUSE.fullmatch(text)):
        return text
    clause, asked = (turned[1], turned[2]) if turned[1] else (turned[3], turned[4])
    return f"{asked} {clause[0].lower()}{clause[1:]}"


def find_verb(words: list[str], participle: bool = False) -> int:
    """The position of the verb after its subject; 0 if none is found."""
    verbs, nouns, prepositions = load_words("verbs"), load_words("also nouns"), load_words("prepositions")
    if participle:
        forms = {past for _, _, past in load_irregular().values()} | {"been"}
        return next((i for i, w in enumerate(words) if i and (w.lower() in forms or w.lower().endswith("ed"))), 0)
    found = []
    for place, word in enumerate(words):
        low, before = word.lower().strip(","), words[place - 1].lower() if place else ""
        if place and low == "be":
            return place
        article = before in ARTICLES and not (place > 1 and words[place - 1] == "A")  # vitamin A, hepatitis A
        if place and low in verbs and before not in prepositions - {"to"} and not article and before != "to":
            found.append(place)
    found = _drop_relative(words, found)
    sure = [place for place in found if words[place].lower() not in nouns]
    following = [place for place in found if place + 1 < len(words) and words[place + 1].lower() not in {"of", "in"}]
    adverbs = 0
    best = next(iter(following), 0) if following and (not sure or following[0] <= sure[0]) else next(iter(sure or found), 0)
    if best + 1 in found and words[best].lower() in _BEFORE_VERBS:
        best += 1  # "glucose control lowers", "a hip guard prevents": the noun before the verb.
    if sure and best and words[best].lower() in nouns and _stands_as_noun(words, best):
        best = sure[0]
    while best - adverbs > 1 and is_adverb(words[best - adverbs - 1].lower()):
        adverbs += 1
    return best - adverbs


def _drop_relative(words: list[str], found: list[int]) -> list[int]:
    """The places without those of verbs in relative clauses ("sailors who take zeta"), unless no other verb follows."""
    for place, word in enumerate(words):
        if word.lower() in {"who", "which", "where"}:
            between = word.lower() == "where" or is_adverb(" ".join(words[place + 1 : place + 2]).lower())
            others = [verb for verb in found if verb != place + 1 + between]
            found = others if any(verb > place + 1 + between for verb in others) else found
    return found


def is_adverb(word: str) -> bool:
    """Whether a word in lower case is an adverb in -ly."""
    return word.endswith("ly") and word not in _NO_ADVERBS


def _stands_as_noun(words: list[str], place: int) -> bool:
    """Whether a word that may be verb or noun is more likely the subject's noun: another verb follows soon."""
    return place + 1 < len(words) and words[place + 1].lower().strip(",") in load_words("verbs")


def find_predicate(words: list[str]) -> int:
    """The position where the predicate begins; 0 if no word shows it."""
    known, prepositions = load_words("predicates"), load_words("prepositions")
    for place, word in enumerate(words):
        low = word.lower().strip(",")
        before = next((other.lower() for other in reversed(words[:place]) if not is_adverb(other.lower())), "")
        if not place or before in prepositions or before in ARTICLES:
            continue
        if low in ARTICLES and _is_within_subject(words, place):
            continue
        ahead = words[place + 1].lower() if place + 1 < len(words) else ""
        if low in ARTICLES or (
            low == "as" and (ahead in known or "as" in (other.lower() for other in words[place + 2 : place + 4]))
        ):
            return place
        if low in prepositions:
            continue
        if low in known and not _is_attributive(words, place):
            return place
        participle = low.endswith(("ed", "able", "ible")) and "-" not in low and len(low) > 4
        if participle and not _is_attributive(words, place) and not _is_compared(words[place + 1 :]):
            return place
    places = [i for i, w in enumerate(words) if i and w.lower() in {"at", "in", "of", "under"}]
    return places[0] if len(places) == 1 else 0


def _is_within_subject(words: list[str], place: int) -> bool:
    """Whether an article opens no predicate: "sailors who carry a gene", "the chance of having a fit", "one pill a day"."""
    gerund = words[place - 1].endswith("ing") and (
        words[place - 2].lower() in load_words("prepositions")
        if place > 1
        else words[place].lower() == "the" and not _is_superlative(words[place + 1 :])
    )
    often = words[place + 1 : place + 2] in (["day"], ["night"], ["week"], ["month"], ["year"])
    return gerund or often or not RELATIVES.isdisjoint(other.lower() for other in words[:place])


def _is_superlative(words: list[str]) -> bool:
    """Whether "the" opens a superlative: "is running the best way", but not "is closing the wound quicker"."""
    return bool(words) and (words[0].lower().endswith("est") or words[0].lower() in {"most", "least", "only", "right", "first"})


def _is_compared(words: list[str]) -> bool:
    """Whether a comparison follows, so that a participle belongs to the subject: "zeta injected into the toe better than …"."""
    low = [word.lower() for word in words]
    likely = any(pair in {("more", "likely"), ("less", "likely")} for pair in pairwise(low))
    return likely or ("than" in low and not _BETTER.isdisjoint(low[: low.index("than")]))


def _is_attributive(words: list[str], place: int) -> bool:
    """Whether the adjective or participle belongs to a noun of the subject: another predicate follows soon after it."""
    known = load_words("predicates")
    low = words[place].lower()
    if low.endswith("ly") or place + 1 >= len(words):
        return False
    following = words[place + 1].lower().strip(",")
    if following in load_words("prepositions") | known | {"to", "that"}:
        return False
    later = [word.lower() for word in words[place + 2 : place + 8]]
    return any(word in known and word not in load_words("prepositions") and word not in ARTICLES for word in later) and place < 3


def lower_first(subject: list[str]) -> list[str]:
    """The subject for use inside a sentence: its first letter in lower case, unless the word has other capitals or is a name."""
    first = subject[0]
    plain = first == "A" or (first[:1].isupper() and first[1:].islower())
    return [first[:1].lower() + first[1:] if plain else first, *subject[1:]]


@cache
def load_finite_forms() -> dict[str, tuple[str, str]]:
    """Each finite form of a verb that is not its base form, with the base and the auxiliary for a question."""
    found: dict[str, tuple[str, str]] = {}
    for base in load_words("verbs"):
        found[make_third_person(base)] = (base, "Does")
        found[make_past(base)] = (base, "Did")
    return {form: asked for form, asked in found.items() if form not in load_words("verbs")}

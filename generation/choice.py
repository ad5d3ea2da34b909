"""A question that offers a choice, taken apart: "Is A or B better for C?" asks "Is A better than B for C?" and the reverse.

Opposites are a choice wherever they are what is asked ("raise or lower", "good or bad"); things, doses and durations are where a
comparison or "should" follows or leads to them. Any other "or" offers no choice: "Does zeta help with pain or fever?".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from counterpoint.generation.grammar import (
    ARTICLES,
    ASKING,
    AUXILIARIES,
    BE,
    ORDERS,
    RELATIVES,
    find_predicate,
    find_verb,
    load_finite_forms,
    load_opposites,
    load_words,
    lower_first,
    put_clause_last,
)


@dataclass(frozen=True, slots=True)
class Offered:
    """The two sides of a choice as they are named, each asked as a yes-or-no question, and both asked at once.

    `opposed` says that they are opposites, so that one word tells them apart; `topic` is what stands apart from the question.
    Where a question offers more than two sides, all are empty.
    """

    names: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    both: str = ""
    opposed: bool = False
    topic: str = ""


MANY = Offered()
_VERSUS = re.compile(r"\b(?:versus|vs\.?)(?=\s)", re.IGNORECASE)
_PARTS = re.compile(r"\s*(?:[:;,]|\.(?=\s)|--|[—–]|\s-(?=\s))\s*")
_WHICH = re.compile(
    r"(?:which|what|who|how (?P<how>long|often|much))(?:\s+(?:one|of (?:these|them|the two)))?\s+(?P<asked>.+)", re.IGNORECASE
)
_SAME = re.compile(
    r",?\s+or\s+(?:is there |makes? |(?:have|has) )?(?:the same|unchanged|no (?:different|difference|effect|change)|neither"
    r"|not (?:affect|change|alter)(?: it)?)\b",
    re.IGNORECASE,
)
_AGAIN = re.compile(r",?\s+or\s+(?:do|does|did|is|are|was|will|can)\s+(?:it|they)\s+(?!better|worse)", re.IGNORECASE)
_WHEN_COMPARING = re.compile(r",? (?:when )?comparing (.+?) (?:to|with|versus|and) (.+)", re.IGNORECASE)
_BOUND = {"more", "less", "older", "fewer", "higher", "greater", "above", "below", "longer", "later", "over", "not", "younger"}
"""What follows an "or" that gives a bound ("aged 80 or older"), or none ("or not")."""
_LONGEST_NAME = 5
"""Words of a thing in a list."""
_OUTSIDE_NAMES = AUXILIARIES | ASKING | {"in", "for", "with", "to", "at", "after", "before", "during", "among", "on", "by"}
_TO = {"superior", "inferior", "preferable", "preferred"}
_IRREGULAR = {"best": "better", "worst": "worse", "most": "more", "least": "less", "fewest": "fewer"}
_WITH = {"with", "by", "using", "of"}
"""Prepositions of a first side that hold for the second too: "treatment with zeta or eta"."""
_NUMBER = re.compile(
    r"\d[\d.,/]*%?|\d+(?:mg|g|ml|µg|mcg|iu)|once|twice|thrice|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fourteen",
    re.I,
)
_ADJECTIVE = re.compile(
    r".+(?:al|ous|ic|ive|ant|ary|ed|able|ible)|\S+-\S+|early|late|high|low|open|long|short|new|old|male"
    r"|female|daily|weekly|monthly|immediate|soft|hard|warm|cold|hot|dry|wet|raw",
    re.IGNORECASE,
)


def split_choice(question: str) -> Offered | None:
    """The choice that a question offers; None if it offers none."""
    text = _VERSUS.sub("versus", " ".join(question.split()).strip(' "“”?.!'))
    shorter = _SAME.sub("", _AGAIN.sub(" or ", text))
    text = re.sub(r"\b([\w-]+),( or)? ([\w-]+)(?:,|(?=$| ))", _join_opposites if shorter != text else _join_pair, shorter)
    if not re.search(r"\b(?:or|versus)\b", text):
        return None
    if compared := _WHEN_COMPARING.search(text):
        text = f"{text[: compared.start()]} with {compared[1]} than with {compared[2]}"
    asked, topic = _put_in_order(text)
    words = asked.split()
    if len(words) < 3 or words[0].lower() not in AUXILIARIES:
        return None
    for split in (_split_opposites, _split_subject, _split_object):
        if offered := split([words[0].lower(), *words[1:]]):
            return Offered(offered.names, offered.asked, offered.both, offered.opposed, topic)
    return None


def _join_opposites(match: re.Match[str]) -> str:
    """ "higher, lower" as "higher or lower"."""
    return f"{match[1]} or {match[3]}" if _are_opposite(match[1], match[3]) else match[0]


def _join_pair(match: re.Match[str]) -> str:
    """ "increase, or decrease," without its commas."""
    return _join_opposites(match) if match[2] else match[0]


def _put_in_order(text: str) -> tuple[str, str]:
    """The question with its auxiliary first and the sides where its subject is; and a heading that stands apart from it."""
    parts = [put_clause_last(part) for part in _PARTS.split(put_clause_last(text)) if part]
    which = next((place for place, part in enumerate(parts) if _WHICH.fullmatch(part)), None)
    if which is not None and len(parts) > 1:
        sides = next((part for place, part in enumerate(parts) if place != which and re.search(r"\b(?:or|versus)\b", part)), "")
        rest = [part for part in parts if part not in (parts[which], sides)]
        before = parts[parts.index(sides) - 1] if sides and parts.index(sides) not in (0, which + 1) else ""
        if before and len(before.split()) <= _LONGEST_NAME and not _OUTSIDE_NAMES & {*before.lower().split()}:
            return f"is {before}, {sides} better", ""  # "which is better: zeta, eta or theta"
        if sides:
            sides, tail = _part_at_preposition(sides)
            asked = _ask_of(sides, parts[which])
            return " ".join([asked, tail, *(f"{one[:1].lower()}{one[1:]}" for one in rest)]).strip() if asked else "", ""
    for place in reversed(range(len(parts))):
        if parts[place].split()[0].lower() in AUXILIARIES:
            apart = [text[text.rindex(parts[place]) :]] if place and parts[place] in text else [", ".join(parts[place:])]
            return apart[0], ", ".join(parts[:place])
    low = {word.lower() for word in text.split()}
    headed = len(parts) == 2 and parts[0].split()[0].lower() in load_words("prepositions")  # "for gout, zeta or eta"
    if (headed or len(parts) == 1) and not low & (AUXILIARIES | RELATIVES | ASKING | ORDERS):
        sides, tail = _part_at_preposition(parts[-1])
        # In "drugs for gout or pain" and "effects of zeta or eta" only the last words are in the choice.
        first = re.split(r" (?:or|versus) ", sides)[0].split()
        if _find_end(first, 0, ("to", "of")) == len(first):
            return " ".join(filter(None, ("is", sides, "better", tail, *(lower_first(parts[0].split()) if headed else ())))), ""
    return "", ""


def _part_at_preposition(text: str) -> tuple[str, str]:
    """The sides, and what follows the second: "surgery or exercise", "for a torn meniscus"."""
    words = text.split()
    place = next((at for at, word in enumerate(words) if word.lower() in ("or", "versus")), 0)
    end = _find_end(words, place + 2)
    return " ".join(lower_first(words[:end])), " ".join(words[end:])


def _find_end(words: Sequence[str], start: int, stops: Iterable[str] = ("to", "that", "when", "if", "while")) -> int:
    """Where the noun phrase ends that is there at `start`: before a preposition other than "of"."""
    ends = load_words("prepositions") - {"of", "and", "or", "than", "as", "per"} | {*stops}
    return next((at for at in range(start, len(words)) if words[at].lower().strip(",") in ends), len(words))


def _ask_of(sides: str, which: str) -> str:
    """ "surgery or exercise" and "which treatment works better" as "does surgery or exercise work better"; "" if it cannot be."""
    finite, verbs = load_finite_forms(), load_words("verbs") - load_words("also nouns")
    found = _WHICH.fullmatch(which)
    words = found["asked"].split() if found else []
    if found and found["how"]:
        return " ".join([*words, *(["for"] if found["how"].lower() == "long" else []), sides])
    place = next((at for at, word in enumerate(words) if word.lower() in AUXILIARIES | {*finite} | verbs), None)
    if place is None:
        return ""
    low, named, rest = words[place].lower(), words[:place], words[place + 1 :]
    of = next((at for at, word in enumerate(named) if word.lower() == "of"), len(named))
    sides, rest = " ".join([sides, *named[of:]]), [*rest, *named[_find_end(named, 0) :]]
    if low in AUXILIARIES and rest and rest[0].lower() in {"i", "we", "you", "patients", "people", "doctors"}:
        end = _find_end(rest, 1)
        return " ".join([low, *rest[:end], sides, *rest[end:]])
    if low in AUXILIARIES:
        return " ".join([low, sides, *rest])
    base, auxiliary = finite.get(low, (low, "do"))
    return " ".join([auxiliary.lower(), sides, base, *rest])


def _split_opposites(words: list[str]) -> Offered | None:
    """ "does coffee raise or lower the risk": the question with one of two opposites, and with the other."""
    for place in _locate_or(words):
        behind = place + 1 + (words[place + 1].lower() in ARTICLES | {"to"})
        before = words[place - 1].strip(",")
        if behind >= len(words) or not _are_opposite(before, words[behind]):
            continue
        first = [*words[: place - 1], before, *words[behind + 1 :]]
        if not _is_what_is_asked(first, place - 1):
            continue
        second = [*words[: place - 1], words[behind], *words[behind + 1 :]]
        if place > 1 and second[place - 2] in ("a", "an"):
            second[place - 2] = "an" if words[behind][0].lower() in "aeiou" else "a"
        return Offered((before, words[behind].strip(",")), (" ".join(first), " ".join(second)), " ".join(words), True)
    return None


def _is_what_is_asked(words: list[str], place: int) -> bool:
    """Whether the word is what is asked of the subject, and does not tell in whom or in what: "in high or low blood pressure"."""
    rest, at = words[1:], place - 1
    end = find_predicate(rest) if words[0] in BE else find_verb(rest)
    low = [word.lower() for word in rest]
    if not end or not end <= at:
        return False
    if load_words("verbs").isdisjoint({low[at]}) or words[0] in BE:
        return low[at - 1] not in load_words("prepositions") or low[at - 2] in {
            "associated",
            "linked",
            "related",
            "lead",
            "result",
        }
    return at - end < 2  # A verb: the first, or behind an adverb.


def _are_opposite(one: str, other: str) -> bool:
    first, second = one.lower(), other.lower().strip(",")
    return any((first in ups and second in downs) or (first in downs and second in ups) for ups, downs in load_opposites())


def _locate_or(words: Sequence[str]) -> Iterator[int]:
    """Where an "or" stands between two sides: "aged 80 or older" gives a bound, but "more or less" a choice."""
    for place in range(2, len(words) - 1):
        before, behind = words[place - 1].strip(","), words[place + 1].lower().strip(",")
        if words[place].lower() in ("or", "versus") and (behind not in _BOUND or _are_opposite(before, behind)):
            yield place


def _split_subject(words: list[str]) -> Offered | None:
    """ "is surgery or exercise better for pain", "should zeta or eta be used"."""
    rest, place = words[1:], next(_locate_or(words), 0) - 1
    if place < 1:
        return None
    skip = 1 + (rest[0].lower() == "either")
    tail = rest[place + 1 + (rest[place + 1].lower() in ARTICLES) :]
    end = len(rest) - len(tail) + (find_predicate(["x", *tail]) if words[0] in BE else find_verb(["x", *tail])) - 1
    first, second, predicate = rest[skip - 1 : place], rest[place + 1 : end], rest[end:]
    low = [word.lower().strip(",") for word in predicate]
    if not (first and second and predicate) or {"than", "compared"} & {*low} or not RELATIVES.isdisjoint(map(str.lower, first)):
        return None
    if words[place].endswith(",") or any(word.endswith(",") for word in first):
        given = words[0] == "should" and low[:1] == ["be"] and not load_words("given").isdisjoint(low[1:3])
        return MANY if given or _find_comparative(low, words[0]) is not None else None
    if words[0] == "should" and low[:1] == ["be"] and {*low[1:3]} & load_words("given") and _are_plain(first):
        sides = _complete(first, second)
        asked = tuple(
            f"should {' '.join(one)} rather than {' '.join(other)} {' '.join(predicate)}" for one, other in _turn(sides)
        )
        return _offer(sides, asked, words)
    compared = _find_comparative(low, words[0])
    if compared is None or (low[compared] not in load_words("better") and not _are_plain(first)):
        return None
    if load_words("prepositions") >= {first[-1].lower(), second[0].lower()}:
        return None
    sides = _complete(first, second)
    asked = tuple(_ask_comparison(words[0], one, other, predicate, compared) for one, other in _turn(sides))
    return _offer(sides, asked, [agree(words[0], sides[1]), *words[1:]])


def _are_plain(side: Sequence[str]) -> bool:
    """Whether a side is no description of people ("men with gout"), of whom "or" may simply list two kinds."""
    described = load_words("prepositions") - _WITH | RELATIVES | {"with", "higher", "lower", "fewer", "greater", "smaller"}
    return described.isdisjoint(word.lower() for word in side[1:]) and side[0].lower() not in {"higher", "lower", "fewer"}


def _find_comparative(low: Sequence[str], auxiliary: str) -> int | None:
    """The place of a predicate's comparative: neither a verb ("lower") nor the "most" of "given to most sailors"."""
    for place, word in enumerate(low):
        if not place and auxiliary not in BE and word in load_words("verbs"):
            continue
        if word in load_words("comparatives"):
            if word == "most" and place and low[place - 1] in load_words("prepositions") | {"to"}:
                continue
            return place
    return None


def _ask_comparison(auxiliary: str, one: Sequence[str], other: Sequence[str], predicate: Sequence[str], compared: int) -> str:
    """ "is surgery better than exercise for pain"."""
    words, word = list(predicate), predicate[compared].lower().strip(",")
    if compared and words[compared - 1].lower() == "the" and (word.endswith("st") or word in _IRREGULAR.values()):
        bare = words[compared + 1 : compared + 2] and _find_end(words, compared + 1) > compared + 1
        words[compared - 1 : compared] = ["a"] if bare else []
        compared = compared if bare else compared - 1
    words[compared] = _IRREGULAR.get(word, word if not word.endswith("est") else f"{word[:-3]}er")
    stop = _find_end(words, compared + 1)
    than = "to" if word in _TO else "than"
    return " ".join([agree(auxiliary, one), *one, *words[:stop], than, *other, *words[stop:]])


def agree(auxiliary: str, subject: Sequence[str]) -> str:
    """The auxiliary in the number of its subject."""
    agreed = {"is": "are", "was": "were", "does": "do"}
    return (agreed if _is_plural(subject) else {plural: one for one, plural in agreed.items()}).get(auxiliary, auxiliary)


def _is_plural(side: Sequence[str]) -> bool:
    head = side[_find_end(side, 1, ("of",)) - 1].lower()
    return (
        "and" in side
        or head in {"men", "women", "children", "people", "mice"}
        or (head.endswith("s") and not head.endswith(("ss", "us", "is")))
    )


def _complete(first: list[str], second: list[str]) -> tuple[list[str], list[str]]:
    """Both sides with the words that they share: "oral" and "intravenous zeta", "zeta 50 mg" and "100 mg"."""
    numbers = [place for place, word in enumerate(first) if _NUMBER.fullmatch(word)]
    if numbers and _NUMBER.fullmatch(second[0]):
        own = first[numbers[-1] :]
        unit = second[len(own) :]
        return [*first, *unit], [*first[: numbers[-1]], *second]
    bare = second[second[0].lower() in ARTICLES :]
    if len(bare) > 1 and len(second) > len(first) and _ADJECTIVE.fullmatch(first[-1]):
        return [*first, *bare[1:]], second
    shared = [place for place, word in enumerate(first) if word.lower() in _WITH]
    bare_noun = _WITH.isdisjoint(word.lower() for word in second) and not second[-1].endswith("ly")
    if shared and bare_noun and len(second) <= len(first) - shared[-1]:
        return first, [*first[: shared[-1] + 1], *second]
    return first, second


def _turn(sides: tuple[list[str], list[str]]) -> Iterator[tuple[list[str], list[str]]]:
    yield sides
    yield sides[1], sides[0]


def _offer(sides: tuple[list[str], list[str]], asked: tuple[str, ...], words: Sequence[str]) -> Offered:
    return Offered(tuple(" ".join(side) for side in sides), asked, " ".join(words).replace(" versus ", " or "))


def _split_object(words: list[str]) -> Offered | None:
    """ "is it better to take zeta or eta", "is gout better with zeta or eta", "should it be given for three or seven days"."""
    place = next(_locate_or(words), 0)
    low = [word.lower().strip(",") for word in words]
    if not place or "than" in low:
        return None
    start = _find_side(low, place)
    if start is None:
        return None
    if any(word.endswith(",") for word in words[start : place - 1]):
        return MANY
    if words[-1].endswith("ly") and place == len(words) - 2:
        start -= low[start - 1] in load_words("prepositions")  # "by caesarean or vaginally"
    repeated = low[place + 1] == low[start - 1] and low[start - 1] in load_words("prepositions") | {"to"}
    behind = place + 1 + repeated
    infinitive = low[start - 1] == "to"
    end = len(words) if infinitive else _find_end(words, behind + 1)
    first, second = _complete(words[start:place], words[behind:end])
    led = low[start - 1] in load_words("prepositions") and _NUMBER.fullmatch(first[0]) is None
    marks = [words[start - 1]] if infinitive or (led and low[1] != "it") else []
    than = ["than"] if low[0] != "should" else ["rather", "than"]
    before = [_IRREGULAR.get(word.lower(), word) for word in words[:start]]
    asked = tuple(" ".join([*before, *one, *than, *marks, *other, *words[end:]]) for one, other in _turn((first, second)))
    return _offer((first, second), asked, words)


def _find_side(low: Sequence[str], place: int) -> int | None:
    """Where the first side of an "or" behind the verb begins; None if it offers no choice."""
    prepositions = load_words("prepositions")
    compared = next((at for at in range(1, place) if low[at] in load_words("comparatives") - {"most"}), None)
    if low[place + 1] in prepositions - {"before", "after", "without"} and (compared is not None or low[0] == "should"):
        return next((at for at in range(place - 2, 1, -1) if low[at] in prepositions - {"of"}), None)
    if low[1] == "it" and compared is not None and "to" in low[compared:place]:
        verb = low.index("to", compared) + 1
        verbs = load_words("verbs") - load_words("also nouns")
        if low[place + 1] == "to" or low[place + 1] in verbs:
            return verb
        return verb + 1 + (verb + 1 < place and low[verb + 1] in prepositions) if verb + 1 < place else None
    if low[0] == "should":
        numbers = [at for at in range(max(1, place - 3), place) if _NUMBER.fullmatch(low[at])]
        if numbers and any(_NUMBER.fullmatch(word) for word in low[place + 1 : place + 2]):
            return numbers[0]
        given = next((at for at in range(2, place) if low[at] in load_words("given")), None)
        if given is None or place - given > 5 or "to" in low[given:place] or "for" in low[given:place]:
            return None
        start = given + 1 + (low[given + 1] in {"with", "by", "on", "using", "as"})
        between = prepositions - {"of", "and"}
        return start if start < place and between.isdisjoint(low[start:place]) and RELATIVES.isdisjoint(low[1:place]) else None
    if compared is None:
        return None
    at = compared + 1
    if low[1] == "there":
        at = _find_end(low, at)
    if low[compared] in {"more", "less", "better", "best"} and at < place and low[at] not in prepositions:
        known = low[at] in load_words("predicates") or low[at].endswith(("ed", "ly", "ive", "ent", "able", "ible"))
        at += known
    usable = prepositions - {"of", "and", "or", "than", "as", "versus", "vs"} | {"to"}
    return at + 1 if at + 1 < place and low[at] in usable else None

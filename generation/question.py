"""From a yes-or-no question to the claim that it asks about, and back.

"Does X lower Y?" becomes "X lowers Y", by rule, with the words of generation/grammar.txt. If no rule finds the end of the
subject, the claim is the question less its auxiliary, which a model reads well enough, and `sound` is False: such a claim is
never shown to a reader.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from retrieval.core.word_list import read_sections
from retrieval.words.forms import load_irregular, make_past, make_third_person

_FILE = Path(__file__).with_name("grammar.txt")


def inflect(verb: str, auxiliary: str) -> str:
    """The verb as it stands without its auxiliary."""
    low = verb.lower()
    if auxiliary == "do":
        return low
    if auxiliary == "does":
        return make_third_person(low)
    return make_past(low)


@cache
def load_words(name: str) -> frozenset[str]:
    """The words of a section of grammar.txt."""
    return frozenset(word for line in _load_sections()[name] for word in line.split())


@cache
def _load_sections() -> dict[str, list[str]]:
    return read_sections(_FILE)


_DO = {"do", "does", "did"}
_BE = {"is", "are", "was", "were"}
_HAVE = {"has", "have", "had"}
_MODAL = {"can", "could", "may", "might", "must", "shall", "should", "will", "would"}
_MAY = {"can", "could", "may", "might", "will"}
"""The modals of statements that can be asked about."""
_PRONOUNS = {"it", "they", "this", "these", "that", "those", "he", "she"}
_ARTICLES = {"a", "an", "the"}
_ASKING = {"what", "which", "how", "why", "when", "where", "who", "whom", "whose"}
_BETTER = {"better", "best", "more", "most", "less", "superior", "safer", "worse", "preferable", "preferred"}
_AMOUNTS = {"more", "most", "less"}
_SIZES = {"fewer", "higher", "lower", "greater", "smaller"}
_SENTENCE = _BE | {"i", "i'm", "i've", "we", "we've", "my", "have", "has", "had"}
"""Words by which a heading is a sentence of its own: "I take zeta. Does it help?"."""
_SHORT = {"isn't": "is", "aren't": "are", "doesn't": "does", "don't": "do", "can't": "can", "it's": "is it", "what's": "what is"}
_TURN = re.compile(r"\s*(?:[:;]|(?<!\b[A-Z])(?<!\bSt)(?<!\bvs)(?<!\bDr)\.(?=\s)|--|[—–]|\s-(?=\s))\s*")
_RELATIVES = {"who", "whom", "whose", "which", "that", "where"}
_OPENS = r"after|before|during|in|among|for|with|within|following"
_CLAUSE = re.compile(
    rf"((?:{_OPENS}|when|while|if|once|since|at|on|by|under|given|based|as|overall|compared|relative to|unlike|despite|without"
    r"|across|over|throughout|until|between|from|of|using"
    r"|(?:an?|one|two|three|four|five|six|ten|\d+) (?:hour|day|week|month|year)s? after)\b[^?]*?),\s+"
    rf"((?:{'|'.join(sorted(_DO | _BE | _HAVE | _MODAL))})\b.*)"
    rf"|((?:{_OPENS})\s+(?!which|what|whom|whose)[^,?]+?)\s+((?:does|did)\b.*)",
    re.IGNORECASE,
)
"""A clause in front of the question and the question itself; without a comma between them in the second pair of groups."""
_ASIDE = re.compile(r",?\s*\(?yes or no\)?\s*$|^how well (?=(?:do|does|did)\b)", re.IGNORECASE)
_NO_ADVERBS = frozenset("daily weekly monthly yearly early elderly family only assembly anomaly supply".split())


@dataclass(frozen=True, slots=True)
class YesNoQuestion:
    """The claim of a yes-or-no question; `sound` says that it is English that can be shown."""

    claim: str
    sound: bool


def parse_question(question: str) -> YesNoQuestion | None:
    """The claim that a question asks to confirm or deny; None if it asks for something else ("What …", "How …")."""
    text = _ASIDE.sub("", " ".join(question.split()).strip(' "“”?.!'))
    parts = [_put_clause_last(stripped) for part in _TURN.split(text) if (stripped := part.strip(' "“”'))]
    for place in reversed(range(len(parts))):
        words = _split_words(parts[place])
        if len(words) > 1 and words[0].lower() in _DO | _BE | _HAVE | _MODAL:
            topic = " ".join(parts[:place]) or " ".join(parts[place + 1 :])
            return _parse_inverted(words, topic)
    return _parse_elliptic(parts) if question.rstrip(' "”').endswith("?") else None


def _put_clause_last(text: str) -> str:
    """ "After a stroke, does exercise help" as "does exercise help after a stroke"; other text as it is."""
    if not (turned := _CLAUSE.fullmatch(text)):
        return text
    clause, asked = (turned[1], turned[2]) if turned[1] else (turned[3], turned[4])
    return f"{asked} {clause[0].lower()}{clause[1:]}"


def _parse_elliptic(parts: list[str]) -> YesNoQuestion | None:
    """A question without a verb, as in titles: "The nurse cystoscopist: a feasible option?"."""
    words = {word.lower().strip(",") for part in parts for word in part.split()}
    if not parts or words & (_DO | _BE | _HAVE | _MODAL | _ASKING):
        return None
    if len(parts) == 2 and parts[1].split()[0].lower() in _ARTICLES | {"another", "really"}:
        return YesNoQuestion(f"{parts[0]} is {parts[1]}", sound=False)
    return YesNoQuestion(": ".join(parts), sound=False)


def _split_words(text: str) -> list[str]:
    words = text.split()
    if words and (full := _SHORT.get(words[0].lower().replace("’", "'"))):
        words[:1] = full.split()
    return words


def _parse_inverted(words: list[str], topic: str) -> YesNoQuestion | None:
    auxiliary, rest = words[0].lower(), words[1:]
    if _asks_which(rest):
        return None
    if rest[0].lower() == "there" and auxiliary in _BE:
        return None if _asks_for_a_list(rest[1:]) else _parse_there(auxiliary, rest[1:], topic)
    end, context = 0, "" if not topic or _names_most(topic, rest) else topic
    if rest[0].lower() in _PRONOUNS and topic and len(rest) > 1:
        # "Statins in stroke: do they help?": the heading is the subject, unless it is a sentence of its own.
        rest, end, context = [*topic.split(), *rest[1:]], len(topic.split()), ""
        if not _SENTENCE.isdisjoint(word.lower().replace("’", "'") for word in topic.split()):
            return YesNoQuestion(" ".join(rest), sound=False)
    elif rest[0].lower() in _PRONOUNS | {"we", "you", "i"}:
        end = 1
    end = end or (_find_predicate(rest) if auxiliary in _BE else _find_verb(rest, participle=auxiliary in _HAVE))
    if not 0 < end < len(rest):
        return YesNoQuestion(_put_in_context(" ".join(rest), context), sound=False)
    subject, predicate = rest[:end], [auxiliary, *rest[end:]]
    if auxiliary in _DO:
        verb = next((place for place in range(end, len(rest)) if not _is_adverb(rest[place].lower())), end)
        predicate = [*rest[end:verb], inflect(rest[verb], auxiliary), *rest[verb + 1 :]]
    return YesNoQuestion(_put_in_context(" ".join([*subject, *predicate]), context), sound=not context)


def _asks_which(words: list[str]) -> bool:
    """Whether this asks to choose: "Is A or B better?", but not "Does eating less help with pain or fever?"."""
    low = [word.lower().strip(",") for word in words]
    choice = next((place for place in range(1, len(low) - 1) if low[place] == "or" and _offers(low, place)), 0)
    compared = next((place for place, word in enumerate(low) if word in _BETTER and not _counts(low, place)), 0)
    if not choice or "than" in low or not compared or (low[compared + 1 : compared + 2] == ["to"] and low[0] != "it"):
        return False
    if compared < choice:
        return low[0] == "it" or low[compared + 1] in {"with", "on", "by", "after"}  # "Is it better to …?", "better with A or B"
    return not (low[0].endswith("ing") or _RELATIVES & {*low[:compared]} or _SIZES & {*low[:choice]})


def _counts(low: list[str], place: int) -> bool:
    """Whether "most" says how many, and not how good: "be given to most sailors"."""
    return low[place] == "most" and low[place - 1] in load_words("prepositions") | {"to"}


def _offers(low: list[str], place: int) -> bool:
    """Whether an "or" offers things to choose from, not prepositions ("before or after") or verbs ("heal or prevent")."""
    verbs = load_words("verbs") - load_words("also nouns")
    return low[place + 1] not in verbs and not load_words("prepositions") >= {low[place - 1], low[place + 1]}


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


def _find_verb(words: list[str], participle: bool = False) -> int:
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
        article = before in _ARTICLES and not (place > 1 and words[place - 1] == "A")  # vitamin A, hepatitis A
        if place and low in verbs and before not in prepositions - {"to"} and not article and before != "to":
            found.append(place)
    found = _drop_relative(words, found)
    sure = [place for place in found if words[place].lower() not in nouns]
    following = [place for place in found if place + 1 < len(words) and words[place + 1].lower() not in {"of", "in"}]
    adverbs = 0
    best = next(iter(following), 0) if following and (not sure or following[0] <= sure[0]) else next(iter(sure or found), 0)
    if sure and best and words[best].lower() in nouns and _stands_as_noun(words, best):
        best = sure[0]
    while best - adverbs > 1 and _is_adverb(words[best - adverbs - 1].lower()):
        adverbs += 1
    return best - adverbs


def _drop_relative(words: list[str], found: list[int]) -> list[int]:
    """The places without those of verbs in relative clauses ("sailors who take zeta"), unless no other verb follows."""
    for place, word in enumerate(words):
        if word.lower() in {"who", "which", "where"}:
            between = word.lower() == "where" or _is_adverb(" ".join(words[place + 1 : place + 2]).lower())
            others = [verb for verb in found if verb != place + 1 + between]
            found = others if any(verb > place + 1 + between for verb in others) else found
    return found


def _is_adverb(word: str) -> bool:
    return word.endswith("ly") and word not in _NO_ADVERBS


def _stands_as_noun(words: list[str], place: int) -> bool:
    """Whether a word that may be verb or noun is more likely the subject's noun: another verb follows soon."""
    return place + 1 < len(words) and words[place + 1].lower().strip(",") in load_words("verbs")


def _find_predicate(words: list[str]) -> int:
    """The position where the predicate begins; 0 if no word shows it."""
    known, prepositions = load_words("predicates"), load_words("prepositions")
    for place, word in enumerate(words):
        low = word.lower().strip(",")
        before = next((other.lower() for other in reversed(words[:place]) if not _is_adverb(other.lower())), "")
        if not place or before in prepositions or before in _ARTICLES:
            continue
        if low in _ARTICLES and _is_within_subject(words, place):
            continue
        ahead = words[place + 1].lower() if place + 1 < len(words) else ""
        if low in _ARTICLES or (
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
    return gerund or often or not _RELATIVES.isdisjoint(other.lower() for other in words[:place])


def _is_superlative(words: list[str]) -> bool:
    """Whether "the" opens a superlative: "is running the best way", but not "is closing the wound quicker"."""
    return bool(words) and (words[0].lower().endswith("est") or words[0].lower() in {"most", "least", "only", "right", "first"})


def _is_compared(words: list[str]) -> bool:
    """Whether a comparison follows, so that a participle belongs to the subject: "zeta injected into the toe better than …"."""
    low = [word.lower() for word in words]
    likely = any(pair in {("more", "likely"), ("less", "likely")} for pair in pairwise(low))
    return likely or ("than" in low and not (_BETTER - _AMOUNTS).isdisjoint(low[: low.index("than")]))


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
    return any(word in known and word not in load_words("prepositions") and word not in _ARTICLES for word in later) and place < 3


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
        if word in _BE | _MAY | _DO:
            rest = words[place + 1 :]
            return (
                [word.capitalize(), *_lower_first(words[:place]), *(rest[1:] if rest[:1] == ["not"] else rest)] if rest else None
            )
        if word in _load_finite_forms():
            if any(before == "and" and after in _load_finite_forms() for before, after in pairwise(words[place:])):
                return None  # "lowers X and raises Y": the auxiliary stands for both verbs.
            if any(later in _BE | _MAY for later in words[place + 1 :]):
                return None  # "Deficiency caused by X can be relieved": the verb may be another one.
            base, auxiliary = _load_finite_forms()[word]
            return [auxiliary, *_lower_first(words[:place]), base, *words[place + 1 :]]
    return None


def _lower_first(subject: list[str]) -> list[str]:
    """The subject for use inside a sentence: its first letter in lower case, unless the word has other capitals or is a name."""
    first = subject[0]
    plain = first == "A" or (first[:1].isupper() and first[1:].islower())
    return [first[:1].lower() + first[1:] if plain else first, *subject[1:]]


@cache
def _load_finite_forms() -> dict[str, tuple[str, str]]:
    """Each finite form of a verb that is not its base form, with the base and the auxiliary for a question."""
    found: dict[str, tuple[str, str]] = {}
    for base in load_words("verbs"):
        found[make_third_person(base)] = (base, "Does")
        found[make_past(base)] = (base, "Did")
    return {form: asked for form, asked in found.items() if form not in load_words("verbs")}

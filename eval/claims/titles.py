"""Titles that state a finding, and the same titles turned round.

A declarative title is a claim that its own paper makes, so it needs no label; turned round it is a claim that its own paper
denies. The rules are narrow on purpose: a title whose turned form might be no contradiction, or no English, is not turned. (The
opposites of `nli.training.flips` may change any word of a sentence, which is good enough for training, where a few wrong pairs do
little; these change the verb or what stands right behind it.)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Turning = Literal["negation", "opposite"]
TURNINGS: tuple[Turning, Turning] = ("negation", "opposite")
FEWEST_WORDS, MOST_WORDS = 6, 25

# Verb, and the verb that says the opposite of the same object ("" where none is safe).
_OPPOSITES = {
    "abolish": "", "accelerate": "delay", "affect": "", "aggravate": "improve", "alleviate": "worsen", "alter": "",
    "ameliorate": "worsen", "attenuate": "increase", "augment": "reduce", "blunt": "increase", "cause": "prevent",
    "confer": "", "contribute": "", "correlate": "", "decrease": "increase", "delay": "accelerate", "determine": "",
    "diminish": "increase", "disrupt": "", "downregulate": "upregulate", "elevate": "lower", "eliminate": "",
    "enhance": "reduce", "exacerbate": "improve", "facilitate": "hinder", "impair": "improve", "improve": "worsen",
    "increase": "reduce", "induce": "prevent", "influence": "", "inhibit": "increase", "lead": "", "lower": "raise",
    "mediate": "", "modify": "", "modulate": "", "outperform": "", "potentiate": "reduce", "predict": "", "prevent": "cause",
    "produce": "", "prolong": "shorten", "promote": "inhibit", "protect": "", "provide": "", "raise": "lower",
    "reduce": "increase", "regulate": "", "relieve": "worsen", "require": "", "restore": "impair", "result": "",
    "reverse": "", "shorten": "prolong", "stimulate": "inhibit", "suppress": "increase", "upregulate": "downregulate",
    "worsen": "improve",
}  # fmt: skip
# Words that stand behind the verb and can be exchanged for one another there.
_SWAPS = {
    "increased": "reduced", "reduced": "increased", "decreased": "increased", "elevated": "reduced", "higher": "lower",
    "lower": "higher", "greater": "smaller", "smaller": "greater", "more": "less", "less": "more", "fewer": "more",
    "better": "worse", "worse": "better", "poorer": "better", "poor": "good", "good": "poor", "longer": "shorter",
    "shorter": "longer", "faster": "slower", "slower": "faster", "superior": "inferior", "inferior": "superior",
    "improved": "worse", "effective": "ineffective", "ineffective": "effective", "necessary": "unnecessary",
    "unnecessary": "necessary", "positively": "negatively", "negatively": "positively", "inversely": "positively",
    "earlier": "later", "later": "earlier",
}  # fmt: skip
_COMPARATIVES = {"more", "less", "fewer", "higher", "lower", "greater", "smaller", "better", "worse", "longer", "shorter"}
_AS_MUCH = {"similar", "comparable", "different", "equal", "identical", "both"}
_BE = {"is", "are", "was", "were"}
_HAVE = {"has": "does not have", "have": "do not have", "had": "did not have"}
_DO = {"does", "do", "did"}
_NO_FINDING = {"may", "might", "could", "would", "should", "must", "will", "shall"}
_FINITE = _BE | _HAVE.keys() | _DO | _NO_FINDING | {"can", "cannot"}
# A verb behind one of these is another clause's.
_SUBORDINATE = set("that which who whom whose where when whether how why what if because although while whereas than as".split())
_QUESTIONS = {"is", "are", "was", "were", "does", "do", "did", "can", "has", "have", "should", "will", "how", "which", "who"}
_QUESTIONS |= {"what", "why", "when", "where", "whether", "if"}
_PREPOSITIONS = set(
    "of in and or after during for with to on from following between by at among as versus vs are is was were".split()
)
# Verb forms that are nouns too.
_NOUNS = {"increase", "decrease", "cause", "result", "influence", "delay", "lead", "reverse"}
_NO_ADVERBS = {"family", "elderly", "early", "only", "assembly", "supply", "daily", "weekly", "monthly", "anomaly", "likely"}
_NO_ADVERBS |= {"yearly", "costly", "friendly", "unlikely"}
_KEPT_ADVERBS = _SWAPS.keys() | {"equally"}
_ADJECTIVES = ("ive", "al", "ic", "able", "ous")
_BETWEEN = {"also", "still", "further"}
_ALSO_FINITE = set(
    "persists regresses varies occurs exists remains appears seems differs depends becomes shows fails offers plays".split()
)
_SECOND = {"control", "maintain", "preserve", "limit", "support", "show", "allow", "permit", "keep"}
# Half a finding: its denial would not contradict the title, or hardly.
_HALF = re.compile(
    r"\b(some|many|most|few|several|certain|subsets?|half|often|sometimes|occasionally|frequently|usually|commonly|generally"
    r"|potentially|possibly|probably|partly|partially|mainly|mostly|predominantly|primarily|rarely|hardly|seldom|barely|nearly"
    r"|almost|always|necessarily|entirely|merely|simply|just|even|appears?|seems?|not|cannot|no|none|nor|neither|never|but|only"
    r"|without|unless|except|although|though|while|whereas|however|despite|regardless|irrespective|independent|independently"
    r"|rather|instead|multiple|every|all|any|each|lacks?|fails?|either|yet|equivalent|equal)\b",
    re.IGNORECASE,
)
_STRESSED = {"significantly", "substantially", "markedly", "appreciably", "statistically", "clinically", "greatly"}
_DENIED_NOUNS = set(
    "effect effects impact influence benefit advantage role association relationship relation correlation".split()
)
_PLURALS = {"children", "women", "men", "people", "data", "criteria", "bacteria", "mice"}
_SUBTITLE = re.compile(r":\s|\s[-–—]{1,2}\s|--|—|(?<=[a-z)]{3})\.\s+(?=[A-Z])|;\s")
_WORD = re.compile(r"[^\W_].*[^\W_]|[^\W_]")
_HOW = re.compile(r"\s(?:by (?!means\b)\w+ing|via|through)\b.*$")


@dataclass(frozen=True, slots=True)
class Turned:
    """A title turned round, and how: its verb denied (or its denial taken away), or a word replaced by its opposite."""

    text: str
    how: Turning


@dataclass(frozen=True, slots=True)
class _Parts:
    """The words of a title, and the place of its finite verb."""

    words: tuple[str, ...]
    verb: int

    @property
    def plain(self) -> str:
        """The verb in small letters, without punctuation."""
        return _plain(self.words[self.verb])

    @property
    def rest(self) -> tuple[str, ...]:
        """What stands behind the verb."""
        return self.words[self.verb + 1 :]


def statement(title: str) -> str | None:
    """The title as a sentence, where it states a finding: without brackets, subtitle and full stop; else None."""
    text = " ".join(title.split())
    if text.startswith("["):
        text = text.rstrip(".").removeprefix("[").removesuffix("]")
    text = _SUBTITLE.split(text, maxsplit=1)[0].strip().rstrip(" .")
    if "?" in title or "!" in title or '"' in text or text.isupper() or re.search(r"\beffects? of\b", text, re.IGNORECASE):
        return None
    return f"{text}." if FEWEST_WORDS <= len(text.split()) <= MOST_WORDS and _parts(text) else None


def turned(sentence: str, first: Turning = "negation") -> Turned | None:
    """A statement turned round, in the `first` way where it is safe, else in the other; None where neither is."""
    parts = _parts(sentence.rstrip("."))
    if parts is None:
        return None
    for how in sorted(TURNINGS, key=lambda one: one != first):
        made = _negated(parts) if how == "negation" else _opposite(parts)
        if made:
            return Turned(f"{' '.join(made)}.", how)
    return None


def _plain(word: str) -> str:
    found = _WORD.search(word)
    return found.group().lower() if found else ""


def _third(verb: str) -> str:
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")


_THIRD = {_third(verb): verb for verb in _OPPOSITES}


def _parts(text: str) -> _Parts | None:
    """The title's words and its first finite verb; None where it has none that the rules are sure of."""
    words = tuple(text.split())
    if not words or _plain(words[0]) in _QUESTIONS | _NO_FINDING:
        return None
    depth = 0
    for place, word in enumerate(words):
        inside = depth > 0 or word.startswith(("(", "["))
        depth += sum(map(word.count, "([")) - sum(map(word.count, ")]"))
        if inside or not place:
            continue
        if _plain(word) in _SUBORDINATE | _NO_FINDING or "…" in word or "..." in word:
            return None
        if _is_finite(words, place):
            return _Parts(words, place)
    return None


def _is_finite(words: tuple[str, ...], place: int) -> bool:
    word, before = words[place], words[place - 1]
    if not word.islower() or place + 1 == len(words) or word != _plain(word):
        return False
    after, further = (_plain(one) for one in (*words, "")[place + 1 : place + 3])
    if word in _BE:
        return after not in {"being", "under", "to"}
    if word in _HAVE:
        return after != "been" and not (after.endswith(("ed", "en")) and (after not in _SWAPS or further in _PREPOSITIONS))
    if word in _DO:
        return after == "not"
    if word in {"can", "cannot"}:
        return True
    if word in _THIRD:
        if word == "results":
            return after == "in" and further in _SWAPS
        if word in {"correlates", "leads", "contributes"}:
            return after in {"with", "to"}
        return _THIRD[word] not in _NOUNS or not _of_a_noun(after)
    if word in _OPPOSITES and word not in {"lower", "lead", "result"}:
        plural = _plain(before) in _PLURALS or _is_plural(before)
        joined = word not in _NOUNS and any(_plain(one) == "and" for one in words[1 : place - 1])
        # "and" or "to" before it: part of a list, an infinitive.
        return (plural or joined) and _plain(before) not in {"and", "or", "to", "not"} and not _of_a_noun(after)
    return False


def _of_a_noun(after: str) -> bool:
    """Whether a word that may be verb or noun is the noun, by what follows: "increases in", "increase associated with"."""
    return after in _PREPOSITIONS or after.endswith("ed")


def _is_plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))


def _sound(words: tuple[str, ...]) -> bool:
    """Whether these words around the verb hold no second verb and nothing that makes half a finding of the title."""
    for place, word in enumerate(words):
        plain, before = _plain(word), _plain(words[place - 1]) if place else ""
        if plain in _FINITE | _THIRD.keys() | _ALSO_FINITE | _NO_FINDING | {"that", "which", "who", "whose", "because", "if"}:
            return False
        if before in {"and", "or"} and (plain in _SECOND or (_is_plural(word) and place + 1 < len(words))):
            # "and controls glucose" is a second verb, "and symptoms in children" is none.
            after = _plain(words[place + 1]) if place + 1 < len(words) else ""
            if plain in _SECOND or not _of_a_noun(after):
                return False
        # "is reduced in mice and associated with fever" are two findings too.
        if before in {"and", "or"} and plain.endswith("ed") and _plain((*words, "", "")[place + 1]) in {"with", "by", "to"}:
            return False
        if plain in _OPPOSITES and plain != "lower" and before != "to" and (plain not in _NOUNS or before in {"and", "or", ""}):
            return False
    return not _HALF.search(" ".join(words))


def _subject(parts: _Parts) -> tuple[tuple[str, ...], str]:
    """What stands before the verb without its adverbs ("strongly", "also"), and the adverb."""
    words = parts.words[: parts.verb]
    if (
        len(words) > 1
        and words[-1] not in _NO_ADVERBS
        and (words[-1] in _BETWEEN or (words[-1].endswith("ly") and words[-1].islower()))
    ):
        return words[:-1], words[-1]
    return words, ""


def _negated(parts: _Parts) -> tuple[str, ...] | None:
    """The verb denied; where it is denied already, affirmed."""
    subject, adverb = _subject(parts)
    verb, rest = parts.plain, parts.rest
    if not _sound((*subject, adverb)):
        return None
    taken = _affirmed(verb, rest)
    if taken is not None:
        return (*subject, *taken) if _sound(taken[1:]) else None
    if verb == "cannot" or not _sound(rest) or "both" in rest or _says_how(rest):
        return None
    if verb == "can":
        return (*subject, "cannot", *rest)
    if verb in _BE:
        if _is_adverb(rest[0]) and len(rest) > 1:
            rest = rest[1:]
        return (*subject, verb, "not", *rest)
    if verb in _HAVE:
        return (*subject, *_HAVE[verb].split(), *rest)
    shorter = tuple(_HOW.sub("", " ".join(rest)).split())
    denied = ("does", "not", _THIRD[verb]) if verb in _THIRD else ("do", "not", verb)
    return (*subject, *denied, *(shorter or rest))


def _is_adverb(word: str) -> bool:
    return word.islower() and word.endswith("ly") and word not in _NO_ADVERBS


def _says_how(rest: tuple[str, ...]) -> bool:
    """Whether an adverb follows the object ("reduces pain safely in children"): denied, it might be all that is denied."""
    return any(
        _is_adverb(word) and (not after or after in _PREPOSITIONS) for word, after in zip(rest, (*rest[1:], ""), strict=True)
    )


def _affirmed(verb: str, rest: tuple[str, ...]) -> tuple[str, ...] | None:
    """The verb and what follows without the denial that stands there; None where there is none."""
    if verb == "cannot":
        return ("can", *rest)
    if verb in _HAVE and rest[0] == "no":
        noun = next((place for place in (1, 2, 3) if len(rest) > place and _plain(rest[place]) in _DENIED_NOUNS), None)
        if noun is None:
            return None
        plural = _plain(rest[noun]).endswith("s")
        return (verb, *(() if plural else (_article(rest[1]),)), *rest[1:])
    if "not" not in rest[:2] or (rest[0] != "not" and not _is_adverb(rest[0])):
        return None
    where = rest.index("not")
    after = rest[where + 1 :]
    if len(after) > 1 and after[0] in _STRESSED:
        after = after[1:]
    if verb in _BE or verb == "can":
        return (verb, *rest[:where], *after)
    bare = next((place for place, word in enumerate(after[:2]) if not _is_adverb(word)), None)
    if where or bare is None or not after[bare].isalpha() or after[bare] in {"be", "have"} | _BETWEEN:
        return None
    if after[bare].endswith(_ADJECTIVES):
        return None
    if verb == "did" and after[bare] not in _OPPOSITES.keys() - {"lead"}:
        return None
    base = after[bare]
    forms = {"does": _third(base), "do": base, "did": _past(base)}
    return (*after[:bare], forms[verb], *after[bare + 1 :])


def _past(verb: str) -> str:
    if verb.endswith("y"):
        return verb[:-1] + "ied"
    return verb + ("d" if verb.endswith("e") else "ed")


def _opposite(parts: _Parts) -> tuple[str, ...] | None:
    """The verb, or a word right behind it, replaced by its opposite."""
    subject, adverb = _subject(parts)
    verb, rest = parts.plain, parts.rest
    if not _sound((*subject, adverb, *rest)):
        return None
    start = parts.words[: parts.verb]
    swapped = _swapped(verb, rest)
    if swapped:
        return (*start, verb, *swapped)
    base = _THIRD.get(verb, verb)
    other = _OPPOSITES.get(base, "")
    if (
        not other
        or adverb in _SWAPS
        or adverb in {"adversely", "favorably", "favourably"}
        or {"than", "more", "less"} & set(rest)
    ):
        return None
    if _plain(rest[0]) in _COMPARATIVES | _AS_MUCH or (base in {"induce", "cause"} and rest[0] in {"a", "an"}):
        return None
    return (*start, _third(other) if verb in _THIRD else other, *rest)


def _swapped(verb: str, rest: tuple[str, ...]) -> tuple[str, ...] | None:
    """What stands behind "is", "is associated with", "has" or "causes" with its direction changed."""
    tied = {"associated", "related", "correlated", "linked"}
    place = 0
    if verb in _BE and rest[0] in tied and len(rest) > 1 and rest[1] in {"with", "to"}:
        place = 2
    elif verb in {"results", "leads", "lead", "result"} and rest[0] in {"in", "to"}:
        place = 1
    elif verb not in _BE | _HAVE.keys() and "than" not in rest:
        return None
    if len(rest) > place + 1 and (rest[place] in {"a", "an"} or (_is_adverb(rest[place]) and rest[place] not in _KEPT_ADVERBS)):
        place += 1
    if len(rest) <= place + 1 or rest[place] not in _SWAPS or rest[place + 1] in {"and", "or"}:
        return None
    if rest[place].endswith("ly") and rest[place + 1] not in tied:
        return None
    new = _SWAPS[rest[place]]
    before = rest[:place]
    if before and before[-1] in {"a", "an"}:
        before = (*before[:-1], _article(new))
    return (*before, new, *rest[place + 1 :])


def _article(word: str) -> str:
    return "an" if word[0].lower() in "aeiou" else "a"

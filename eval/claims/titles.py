"""Titles that state a finding, the same titles reversed, and what an index's papers say of both.

A declarative title is a claim that its own paper makes, so it needs no label; reversed, it is a claim that its own paper
denies. The rules are narrow on purpose: a title is left out if its reversed form might not be a contradiction, or not be English.
(The opposites of `nli.training.flips` may change any word of a sentence, which is good enough for training, where a few wrong
pairs do little harm; these rules change only the verb or what directly follows it.)
"""

from __future__ import annotations

import hashlib
import heapq
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from eval.claims.measuring import ClaimOutcome, Outcome, ground_claims
from eval.claims.reading import PaperClaim
from eval.claims.report import ClaimsReport, Grouping, count_others, failures, provenance
from retrieval.core.errors import BadInput
from retrieval.core.values import Label
from retrieval.core.word_list import read_sections
from retrieval.store.documents import Documents
from service.grounding.ground import Grounder

Turning = Literal["negation", "opposite"]
TURNINGS: tuple[Turning, Turning] = ("negation", "opposite")
FEWEST_WORDS, MOST_WORDS = 6, 25
OWN, TURNED = "own title", "turned round"
_WORDS: Mapping[Label, Mapping[Outcome, str]] = {
    "support": {"right": "supported", "wrong": "contradicted", "unsure": "unsure", "absent": "absent"},
    "contradict": {"right": "contradicted", "wrong": "supported", "unsure": "unsure", "absent": "absent"},
}
_BATCH = 1000

LISTS = {name: " ".join(lines).split() for name, lines in read_sections(Path(__file__).with_suffix(".txt")).items()}
OPPOSITES, SWAPS = ({pair.partition(":")[0]: pair.partition(":")[2] for pair in LISTS[name]} for name in ("verbs", "swaps"))
BE, DO = {"is", "are", "was", "were"}, {"does", "do", "did"}
HAVE = {"has": "does not have", "have": "do not have", "had": "did not have"}
NO_FINDING, SUBORDINATE = set(LISTS["no finding"]), set(LISTS["subordinate"])
FINITE = BE | HAVE.keys() | DO | NO_FINDING | {"can", "cannot"}
PREPOSITIONS, NOUNS, NO_ADVERBS = set(LISTS["prepositions"]), set(LISTS["nouns"]), set(LISTS["no adverbs"])
ADJECTIVES = ("ive", "al", "ic", "able", "ous")
BETWEEN = {"also", "still", "further"}
LIMITS = re.compile(rf"\b({'|'.join(LISTS['limits'])})\b", re.IGNORECASE)
SUBTITLE = re.compile(r":\s|\s[-–—]{1,2}\s|--|—|(?<=[a-z)]{3})\.\s+(?=[A-Z])|;\s")
WORD = re.compile(r"[^\W_].*[^\W_]|[^\W_]")
HOW = re.compile(r"\s(?:by (?!means\b)\w+ing|via|through)\b.*$")


def plain_word(word: str) -> str:
    """The word in lower case, without punctuation."""
    match = WORD.search(word)
    return match.group().lower() if match else ""


def third_person(verb: str) -> str:
    """The third person singular of a verb."""
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")


THIRD = {third_person(verb): verb for verb in OPPOSITES}


def past_tense(verb: str) -> str:
    """The past tense of a regular verb."""
    if verb.endswith("y"):
        return verb[:-1] + "ied"
    return verb + ("d" if verb.endswith("e") else "ed")


def article(word: str) -> str:
    """The indefinite article before a word."""
    return "an" if word[0].lower() in "aeiou" else "a"


def is_plural(word: str) -> bool:
    """Whether a word looks like a noun in the plural."""
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))


def is_adverb(word: str) -> bool:
    """Whether a word is an adverb in -ly."""
    return word.islower() and word.endswith("ly") and word not in NO_ADVERBS


def of_a_noun(next_word: str) -> bool:
    """Whether a word that may be verb or noun is a noun, judging by what follows: "increases in", "increase associated with"."""
    return next_word in PREPOSITIONS or next_word.endswith("ed")


@dataclass(frozen=True, slots=True)
class TurnedStatement:
    """A reversed title, and how: its verb negated (or its negation removed), or a word replaced by its opposite."""

    text: str
    how: Turning


@dataclass(frozen=True, slots=True)
class _Parts:
    """The words of a title, and the position of its finite verb."""

    words: tuple[str, ...]
    verb: int

    @property
    def plain(self) -> str:
        """The verb in lower case, without punctuation."""
        return plain_word(self.words[self.verb])

    @property
    def rest(self) -> tuple[str, ...]:
        """The words after the verb."""
        return self.words[self.verb + 1 :]


def statement(title: str) -> str | None:
    """The title as a sentence without brackets, subtitle and full stop, if it states a finding; else None."""
    text = " ".join(title.split())
    if text.startswith("["):
        text = text.rstrip(".").removeprefix("[").removesuffix("]")
    text = SUBTITLE.split(text, maxsplit=1)[0].strip().rstrip(" .")
    if "?" in title or "!" in title or '"' in text or text.isupper() or re.search(r"\beffects? of\b", text, re.IGNORECASE):
        return None
    return f"{text}." if FEWEST_WORDS <= len(text.split()) <= MOST_WORDS and _parts(text) else None


def turn_round(sentence: str, first: Turning = "negation") -> TurnedStatement | None:
    """A statement reversed, in the `first` way where that is safe, else in the other; None where neither is safe."""
    parts = _parts(sentence.rstrip("."))
    if parts is None:
        return None
    for turning in sorted(TURNINGS, key=lambda one: one != first):
        words = _negate(parts) if turning == "negation" else _opposite(parts)
        if words:
            return TurnedStatement(f"{' '.join(words)}.", turning)
    return None


def _parts(text: str) -> _Parts | None:
    """The title's words and its first finite verb; None where it has none that the rules are sure of."""
    words = tuple(text.split())
    if not words or plain_word(words[0]) in {*LISTS["questions"]} | NO_FINDING:
        return None
    depth = 0
    for place, word in enumerate(words):
        in_brackets = depth > 0 or word.startswith(("(", "["))
        depth += sum(map(word.count, "([")) - sum(map(word.count, ")]"))
        if in_brackets or not place:
            continue
        if plain_word(word) in SUBORDINATE | NO_FINDING or "…" in word or "..." in word:
            return None
        if _is_finite(words, place):
            return _Parts(words, place)
    return None


def _is_finite(words: tuple[str, ...], place: int) -> bool:
    word, previous = words[place], words[place - 1]
    if not word.islower() or place + 1 == len(words) or word != plain_word(word):
        return False
    next_word, second_word = (plain_word(one) for one in (*words, "")[place + 1 : place + 3])
    if word in BE:
        return next_word not in {"being", "under", "to"}
    if word in HAVE:
        return next_word != "been" and not (
            next_word.endswith(("ed", "en")) and (next_word not in SWAPS or second_word in PREPOSITIONS)
        )
    if word in DO:
        return next_word == "not"
    if word in {"can", "cannot"}:
        return True
    if word in THIRD:
        if word == "results":
            return next_word == "in" and second_word in SWAPS
        if word in {"correlates", "leads", "contributes"}:
            return next_word in {"with", "to"}
        return THIRD[word] not in NOUNS or not of_a_noun(next_word)
    if word in OPPOSITES and word not in {"lower", "lead", "result"}:
        plural = plain_word(previous) in LISTS["plurals"] or is_plural(previous)
        conjunction = word not in NOUNS and any(plain_word(one) == "and" for one in words[1 : place - 1])
        # With "and" or "to" before it, it is part of a list or an infinitive.
        return (plural or conjunction) and plain_word(previous) not in {"and", "or", "to", "not"} and not of_a_noun(next_word)
    return False


def _is_sound(words: tuple[str, ...]) -> bool:
    """Whether the words around the verb contain no second verb and nothing that limits the finding."""
    for place, word in enumerate(words):
        plain, previous = plain_word(word), plain_word(words[place - 1]) if place else ""
        if plain in FINITE | THIRD.keys() | {*LISTS["also finite"]} | NO_FINDING | {
            "that",
            "which",
            "who",
            "whose",
            "because",
            "if",
        }:
            return False
        if previous in {"and", "or"} and (plain in LISTS["second"] or (is_plural(word) and place + 1 < len(words))):
            # "and controls glucose" has a second verb; "and symptoms in children" has none.
            next_word = plain_word(words[place + 1]) if place + 1 < len(words) else ""
            if plain in LISTS["second"] or not of_a_noun(next_word):
                return False
        # "is reduced in mice and associated with fever" are two findings too.
        if previous in {"and", "or"} and plain.endswith("ed") and plain_word((*words, "", "")[place + 1]) in {"with", "by", "to"}:
            return False
        if plain in OPPOSITES and plain != "lower" and previous != "to" and (plain not in NOUNS or previous in {"and", "or", ""}):
            return False
    return not LIMITS.search(" ".join(words))


def _subject(parts: _Parts) -> tuple[tuple[str, ...], str]:
    """The words before the verb without its adverbs ("strongly", "also"), and the adverb."""
    words = parts.words[: parts.verb]
    if (
        len(words) > 1
        and words[-1] not in NO_ADVERBS
        and (words[-1] in BETWEEN or (words[-1].endswith("ly") and words[-1].islower()))
    ):
        return words[:-1], words[-1]
    return words, ""


def _negate(parts: _Parts) -> tuple[str, ...] | None:
    """The words with the verb negated; where it is negated already, affirmed."""
    subject, adverb = _subject(parts)
    verb, rest = parts.plain, parts.rest
    if not _is_sound((*subject, adverb)):
        return None
    affirmation = _affirm(verb, rest)
    if affirmation is not None:
        return (*subject, *affirmation) if _is_sound(affirmation[1:]) else None
    if verb == "cannot" or not _is_sound(rest) or "both" in rest or _says_how(rest):
        return None
    if verb == "can":
        return (*subject, "cannot", *rest)
    if verb in BE:
        if is_adverb(rest[0]) and len(rest) > 1:
            rest = rest[1:]
        return (*subject, verb, "not", *rest)
    if verb in HAVE:
        return (*subject, *HAVE[verb].split(), *rest)
    shorter = tuple(HOW.sub("", " ".join(rest)).split())
    negation = ("does", "not", THIRD[verb]) if verb in THIRD else ("do", "not", verb)
    return (*subject, *negation, *(shorter or rest))


def _says_how(rest: tuple[str, ...]) -> bool:
    """Whether an adverb follows the object ("reduces pain safely in children"): a negation might apply to that alone."""
    return any(
        is_adverb(word) and (not next_word or next_word in PREPOSITIONS)
        for word, next_word in zip(rest, (*rest[1:], ""), strict=True)
    )


def _affirm(verb: str, rest: tuple[str, ...]) -> tuple[str, ...] | None:
    """The verb and what follows without their negation; None where there is none."""
    if verb == "cannot":
        return ("can", *rest)
    if verb in HAVE and rest[0] == "no":
        noun = next(
            (place for place in (1, 2, 3) if len(rest) > place and plain_word(rest[place]) in LISTS["denied nouns"]), None
        )
        if noun is None:
            return None
        plural = plain_word(rest[noun]).endswith("s")
        return (verb, *(() if plural else (article(rest[1]),)), *rest[1:])
    if "not" not in rest[:2] or (rest[0] != "not" and not is_adverb(rest[0])):
        return None
    position = rest.index("not")
    ending = rest[position + 1 :]
    if len(ending) > 1 and ending[0] in LISTS["stressed"]:
        ending = ending[1:]
    if verb in BE or verb == "can":
        return (verb, *rest[:position], *ending)
    bare = next((place for place, word in enumerate(ending[:2]) if not is_adverb(word)), None)
    if position or bare is None or not ending[bare].isalpha() or ending[bare] in {"be", "have"} | BETWEEN:
        return None
    if ending[bare].endswith(ADJECTIVES):
        return None
    if verb == "did" and ending[bare] not in OPPOSITES.keys() - {"lead"}:
        return None
    base = ending[bare]
    forms = {"does": third_person(base), "do": base, "did": past_tense(base)}
    return (*ending[:bare], forms[verb], *ending[bare + 1 :])


def _opposite(parts: _Parts) -> tuple[str, ...] | None:
    """The words with the verb, or a word directly after it, replaced by its opposite."""
    subject, adverb = _subject(parts)
    verb, rest = parts.plain, parts.rest
    if not _is_sound((*subject, adverb, *rest)):
        return None
    start = parts.words[: parts.verb]
    replacement = _swap_opposites(verb, rest)
    if replacement:
        return (*start, verb, *replacement)
    base = THIRD.get(verb, verb)
    other = OPPOSITES.get(base, "")
    if not other or adverb in SWAPS or adverb in {"adversely", "favorably", "favourably"} or {"than", "more", "less"} & set(rest):
        return None
    if plain_word(rest[0]) in (*LISTS["comparatives"], *LISTS["as much"]) or (
        base in {"induce", "cause"} and rest[0] in {"a", "an"}
    ):
        return None
    return (*start, third_person(other) if verb in THIRD else other, *rest)


def _swap_opposites(verb: str, rest: tuple[str, ...]) -> tuple[str, ...] | None:
    """The words after "is", "is associated with", "has" or "causes" with their direction reversed."""
    links = {"associated", "related", "correlated", "linked"}
    place = 0
    if verb in BE and rest[0] in links and len(rest) > 1 and rest[1] in {"with", "to"}:
        place = 2
    elif verb in {"results", "leads", "lead", "result"} and rest[0] in {"in", "to"}:
        place = 1
    elif verb not in BE | HAVE.keys() and "than" not in rest:
        return None
    if len(rest) > place + 1 and (
        rest[place] in {"a", "an"} or (is_adverb(rest[place]) and rest[place] not in SWAPS.keys() | {"equally"})
    ):
        place += 1
    if len(rest) <= place + 1 or rest[place] not in SWAPS or rest[place + 1] in {"and", "or"}:
        return None
    if rest[place].endswith("ly") and rest[place + 1] not in links:
        return None
    new = SWAPS[rest[place]]
    prefix = rest[:place]
    if prefix and prefix[-1] in {"a", "an"}:
        prefix = (*prefix[:-1], article(new))
    return (*prefix, new, *rest[place + 1 :])


def draw_titles(store: Documents, most: int, seed: int) -> list[tuple[str, str]]:
    """Up to `most` papers with an abstract and a declarative title: PMID and title as a sentence, in an order that depends only
    on seed and PMID."""
    # The heap's first item is the largest one kept, so most papers are rejected before their title is read.
    heap: list[tuple[int, str, str]] = []
    for batch in store.texts(_BATCH):
        for pmid, title, abstract in batch:
            place = -int.from_bytes(hashlib.sha256(f"{seed} {pmid}".encode()).digest())
            if not abstract or (len(heap) == most and place <= heap[0][0]):
                continue
            sentence = statement(title)
            if sentence:
                (heapq.heappush if len(heap) < most else heapq.heappushpop)(heap, (place, pmid, sentence))
    return [(pmid, sentence) for _, pmid, sentence in sorted(heap, reverse=True)]


def titles_as_claims(titles: Sequence[tuple[str, str]]) -> list[PaperClaim]:
    """Each title as a claim that its paper supports and, where a safe rule can reverse it, as one that its paper contradicts."""
    claims: list[PaperClaim] = []
    for number, (pmid, sentence) in enumerate(titles):
        claims.append(PaperClaim(pmid, sentence, "support", OWN))
        other = turn_round(sentence, first=TURNINGS[number % 2])
        if other:
            claims.append(PaperClaim(pmid, other.text, "contradict", other.how))
    return claims


def measure_titles(grounder: Grounder, most: int, seed: int, work: Path, command: str) -> ClaimsReport:
    """Measure which stance papers of the index are given on their own titles and on the reversed titles."""
    titles = draw_titles(grounder.index.store, most, seed)
    if not titles:
        raise BadInput(
            f"The index at {grounder.index.folder} contains no paper with an abstract and a title that states a finding, such as "
            "“Aspirin reduces fever in adults with influenza.”; name another index."
        )
    claims = titles_as_claims(titles)
    outcomes = ground_claims(claims, grounder, work)
    grouping = Grouping(outcomes)

    def words(one: ClaimOutcome) -> str:
        return f"{OWN if one.claim.stance == 'support' else TURNED}, {_WORDS[one.claim.stance][one.outcome]}"

    groups = [
        grouping.group(OWN, stance="support", words=_WORDS["support"]),
        grouping.group(TURNED, stance="contradict", words=_WORDS["contradict"]),
        *(grouping.group(f"by {turning}", kind=turning, words=_WORDS["contradict"]) for turning in TURNINGS),
        grouping.group("both"),
    ]
    fewer = f" ({most} were asked for)" if len(titles) < most else ""
    title = f"Own titles of {len(titles)} papers{fewer}, drawn with seed {seed}"
    rest = len(titles) - groups[1].claims
    notes = (
        f"{groups[1].claims} of them reversed; {rest} left out because no safe rule can reverse them.",
        count_others(outcomes),
    )
    return ClaimsReport(title, notes, tuple(groups), failures(outcomes, words), provenance(grounder, command))

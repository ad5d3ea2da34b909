"""Opposite words and differing numbers in a claim and a sentence, for display, not for deciding.

The stance model reads the same word list (nli/wording/marking.py), so these are part of its input, not what made it decide. A
user takes two opposite words shown together as the reason, so they are shown only where both apply to the same outcome:
"prevents bone loss" and "increases density" do not conflict, though "prevents" and "increases" are opposites.

What a word applies to is found without a parser: it is what follows the word, up to the next preposition or comma. Where nothing
follows, or where the word is a predicate ("was lower", "fell"), it is what stands before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path

from nli.wording.marking import DIRECTIONS, Lexicon, stem
from retrieval.core.characters import align_characters, unify_characters
from retrieval.words.lexical import split_terms

_TOKEN = re.compile(r"(?<![\w.-])\d+(?:[.,]\d+)*(?![\w-])|[^\W_]+(?:-[^\W_]+)*|[%.,;:()?!\[\]]")
_NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-])")
_REACH = 8
"""How many tokens on either side to search for what a word applies to, or for what a number counts."""
_BESIDE = 4

_MARKS = frozenset("%.,;:()?![]")
_CLAUSE = frozenset(
    "that which who whom whose when where while whereas whether although though because since if unless but than as so".split()
)
_JOINS = frozenset({"and", "or", "nor"})
_PREPOSITIONS = frozenset(
    "in on at by with without within for from to into onto during after before between among amongst through throughout "
    "under over versus vs compared despite against about across per via due toward towards until upon relative".split()
)
_BE = frozenset("is are was were be been being become became becomes remained remains remain stayed proved seems seemed".split())
_SMALL = frozenset(
    "has have had having do does did can could may might should would will must not no any all both each every either neither "
    "its his her our we he she who other another such same some several many most much more less least very also only still "
    "even far nearly almost too just again further about half twice one two three who percent per times fold".split()
)
"""Words that say nothing about the subject, besides those that retrieval.words.lexical leaves out."""
_GENERIC = frozenset(
    stem(word)
    for word in "risk rate level incidence prevalence frequency likelihood probability odds chance hazard ratio number amount "
    "proportion percentage concentration value score severity duration development occurrence onset progression extent degree "
    "effect outcome event episode case use group arm control placebo patient participant people person subject adult individual "
    "treatment therapy intervention drug trial study disease disorder condition total overall mean median average major severe "
    "significant marked substantial small large new year month week day hour minute time baseline serum plasma clinical".split()
)
_NOUNS = ("increase", "decrease", "rise", "fall", "drop", "decline", "gain", "loss", "reduction", "change")
_RELATIONS = (
    "associat", "correlat", "link", "unrelat", "independen", "dependen", "resist", "sensitiv", "insensitiv", "susceptib",
    "predispos", "protect", "benefi", "harm", "detriment", "toxic", "safe", "unsafe", "necessary", "unnecessary", "essential",
    "dispensable", "sufficient", "insufficient", "requir",
)  # fmt: skip
"""Predicates that apply to what follows their preposition: "is resistant to penicillin"."""
_OF = frozenset({"of", "in", "to", "with", "for", "against", "on", "at"})
_NEGATIONS = frozenset("fail fails failed failing failure unable cannot neither nor never without no not".split())
_UP, _DOWN = DIRECTIONS.index("up"), DIRECTIONS.index("down")
_CHANGES = frozenset(stem(word) for word in (*_NOUNS, "improvement", "difference"))
_COMPARATIVES = frozenset("lower higher less more fewer greater larger smaller longer shorter better worse".split())
_NOT_UNITS = _PREPOSITIONS | _JOINS | _BE | _SMALL


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        return self.text.lower()


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a word applies to: the stems of its content words, those that name the thing itself, and how many words say "loss"."""

    stems: frozenset[str]
    heads: frozenset[str]
    losses: int

    def same(self, other: _Outcome) -> bool:
        """Whether both name the same thing: a head of one is a word of the other, and their other words do not all differ."""
        common = self.stems & other.stems
        rest = (self.stems - common, other.stems - common)
        common_head = self.heads & other.stems | other.heads & self.stems
        # "breast cancer" and "colon cancer" share only the head; "the loss of bone" and "bone" have opposite directions.
        return bool(common_head) and (len(common) > 1 or not all(rest)) and self.losses % 2 == other.losses % 2


_NOTHING = _Outcome(frozenset(), frozenset(), 0)


@cache
def _load_lexicon() -> Lexicon:
    return Lexicon.read(Path(__file__).with_name("polarity.txt"))


def find_opposed(claim: str, sentence: str) -> tuple[tuple[str, int, int], ...]:
    """(word of the claim, start, end) of each place in the sentence where the word's opposite applies to the same outcome.

    A word of the claim that also occurs in the sentence is left out, as is a word that is negated on either side.
    """
    aligned = align_characters(sentence)
    lexicon, ours, theirs = _load_lexicon(), _tokenize(claim), _tokenize(aligned.text)
    their_stems = {stem(token.word) for token in theirs}
    matches: dict[_Outcome, dict[str, list[_Token]]] = {}
    for place, token in enumerate(ours):
        sides = lexicon.sides(token.word)
        if not sides or stem(token.word) in their_stems or _is_negated(ours, place):
            continue
        our_outcome = _find_outcome(ours, place)
        opposites: set[str] = set()
        for position, candidate in enumerate(theirs):
            if _is_negated(theirs, position) or not any(-side in sides for side in lexicon.sides(candidate.word)):
                continue
            outcome = _find_outcome(theirs, position)
            # "… and increased it again": the same word applied to something that was named before.
            if our_outcome.same(outcome) or (candidate.word in opposites and not outcome.stems):
                opposites.add(candidate.word)
                places = matches.setdefault(our_outcome, {}).setdefault(token.text, [])
                places.extend([candidate] if candidate not in places else [])
    # Two opposites about the same thing cancel out: "most are benign", "few are malignant".
    conflicts = [words for words in matches.values() if len(words) % 2]
    found = ((own, one) for words in conflicts for own, places in words.items() for one in places)
    return tuple((own, *aligned.locate(one.start, one.end)) for own, one in found)


def list_opposites(claim: str, sentence: str) -> tuple[tuple[str, str], ...]:
    """(word of the claim, its first opposite in the sentence) for each word of the claim that `find_opposed` returns."""
    pairs: dict[str, str] = {}
    for own, start, end in find_opposed(claim, sentence):
        pairs.setdefault(own, sentence[start:end])
    return tuple(pairs.items())


def find_other_numbers(claim: str, sentence: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The numbers of claim and sentence that count the same thing and differ; two empty tuples where they share any number."""
    sentence = unify_characters(sentence)
    if {*map(float, _NUMBER.findall(claim))} & {*map(float, _NUMBER.findall(sentence))}:
        return (), ()
    own, other = list(_find_amounts(_tokenize(claim))), list(_find_amounts(_tokenize(sentence)))
    pairs = [(one, another) for one in own for another in other if one.comparable(another)]
    kept_own = tuple(dict.fromkeys(one.text for one, _ in pairs))
    return kept_own, tuple(dict.fromkeys(another.text for another in other if any(another is one for _, one in pairs)))


def _tokenize(text: str) -> list[_Token]:
    return [_Token(match[0], *match.span()) for match in _TOKEN.finditer(text)]


def _is_number(token: _Token) -> bool:
    return token.text[0].isdigit()


def _is_adverb(word: str) -> bool:
    return word.endswith("ly") and len(word) > 4


def _is_content(token: _Token) -> bool:
    word = token.word
    small = word in _MARKS or word in _CLAUSE or word in _JOINS or word in _PREPOSITIONS or word in _BE or word in _SMALL
    return not (small or _is_number(token) or _is_adverb(word) or not split_terms(word) or stem(word) in _GENERIC)


def _ends_clause(token: _Token) -> bool:
    return (token.text in _MARKS and token.text != "%") or token.word in _CLAUSE


def _is_negated(tokens: Sequence[_Token], place: int) -> bool:
    """Whether a negation shortly precedes the word in the same clause: "did not significantly reduce", "failed to reduce"."""
    context = takewhile(lambda token: not _ends_clause(token), reversed(tokens[max(0, place - _BESIDE) : place]))
    return any(token.word in _NEGATIONS or token.word.endswith("n't") for token in context)


def _find_outcome(tokens: Sequence[_Token], place: int) -> _Outcome:
    """What the word at `place` applies to."""
    word = tokens[place].word
    behind = tokens[place + 1 : place + 1 + _REACH]
    next_word = behind[0].word if behind else ""
    is_relation = word.startswith(_RELATIONS) and next_word in _OF
    if is_relation or (next_word == "of" and not _is_predicate(tokens, place)) or (next_word in {"in", "at"} and _is_noun(word)):
        return _read(behind[1:]) or _find_subject(tokens, place)
    if _is_predicate(tokens, place):
        return _find_subject(tokens, place)
    return _read(behind) or _find_subject(tokens, place)


def _is_noun(word: str) -> bool:
    return word in _NOUNS or word.removesuffix("s") in _NOUNS or word.removesuffix("s").endswith(("tion", "ment", "tor", "ist"))


def _is_predicate(tokens: Sequence[_Token], place: int) -> bool:
    """Whether a form of "be" precedes the word, skipping amounts and adverbs: "was 28 percent lower", but not "there were"."""
    for at in range(place - 1, max(-1, place - 1 - _REACH), -1):
        word = tokens[at].word
        if word in _BE:
            return not (at and tokens[at - 1].word == "there")
        if not (_is_number(tokens[at]) or word in _SMALL or word == "%" or _is_adverb(word)):
            return False
    return False


def _find_subject(tokens: Sequence[_Token], place: int) -> _Outcome:
    """The subject of the clause: the words before `place`, without those after the first preposition."""
    window = tokens[max(0, place - _REACH - _BESIDE) : place]
    clause: list[_Token] = []
    for token in reversed(window):
        finite = token.word.endswith("ed") and _is_turning(token.word)
        if _ends_clause(token) or finite:
            break
        clause.insert(0, token)
    while clause and not _is_content(clause[0]) and clause[0].word not in _PREPOSITIONS:
        clause.pop(0)
    # "In men who smoked mortality rose": where the clause begins with a preposition, read all of it.
    return _read(clause) or _read([one for one in clause if one.word not in _PREPOSITIONS]) or _NOTHING


def _read(tokens: Sequence[_Token]) -> _Outcome | None:
    """The outcome that these tokens name, up to the first preposition, clause or further verb; None where they name none."""
    lexicon, stems, heads, losses, last, has_head = _load_lexicon(), set[str](), set[str](), 0, "", False
    for token in tokens:
        word, direction = token.word, _load_lexicon().direction(token.word)
        if _ends_clause(token) or word in _PREPOSITIONS or word in _BE:
            break
        if (word in _JOINS or word == "of") and last:
            # "survival of patients" is about survival; "stroke and death" is about both.
            if not has_head:
                heads.add(last)
            has_head, last = word == "of", ""
        elif _is_turning(word) and word.endswith("ed") and stems:
            break
        elif direction == _DOWN:
            losses += 1
        elif _is_content(token) and not (direction == _UP and lexicon.sides(word)):
            last = stem(word)
            stems.add(last)
    if last and not has_head:
        heads.add(last)
    return _Outcome(frozenset(stems), frozenset(heads), losses) if stems else None


@dataclass(frozen=True, slots=True, eq=False)
class _Amount:
    """A number, the unit after it, whether it is a change ("by 5", "5 lower"), and the content words near it."""

    text: str
    unit: str
    change: bool
    near: frozenset[str]

    def comparable(self, other: _Amount) -> bool:
        """Whether both measure the same thing: a share is a share of something, so percent alone is no common unit."""
        if self.change != other.change:
            return False
        return (bool(self.unit) and self.unit == other.unit and self.unit != "%") or bool(self.near & other.near)


def _find_amounts(tokens: Sequence[_Token]) -> Iterator[_Amount]:
    for place, token in enumerate(tokens):
        if not _NUMBER.fullmatch(token.text):
            continue
        end = place + 1
        # "5 to 12 days": the unit of a range follows its end.
        while end + 1 < len(tokens) and tokens[end].word in {"to", "or", "and"} and _is_number(tokens[end + 1]):
            end += 2
        behind = [*takewhile(lambda one: not _ends_clause(one), tokens[end : end + _BESIDE])]
        ahead = [*takewhile(lambda one: not _ends_clause(one), reversed(tokens[max(0, place - _BESIDE) : place]))]
        unit = behind[0].word if behind else ""
        if unit in {"%", "percent"}:
            unit = "%"
        elif unit in _NOT_UNITS or not split_terms(unit):
            unit = ""
        context = frozenset(stem(one.word) for one in (*ahead, *behind) if _is_content(one) and not _is_turning(one.word))
        yield _Amount(token.text, stem(unit), _is_change(ahead, behind), context)


def _is_turning(word: str) -> bool:
    return _load_lexicon().direction(word) in (_UP, _DOWN)


def _is_change(ahead: Sequence[_Token], behind: Sequence[_Token]) -> bool:
    """Whether a number is an effect rather than a level: "by 5", "a reduction of 5", "5 mm Hg lower"."""
    of_change = len(ahead) > 1 and ahead[0].word == "of" and stem(ahead[1].word) in _CHANGES
    is_comparison = any(one.word in _COMPARATIVES or stem(one.word) in _CHANGES for one in behind[:3])
    return (bool(ahead) and (ahead[0].word == "by" or of_change)) or is_comparison

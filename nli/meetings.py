"""How the words of a claim and of a sentence meet where they differ: opposites and numbers, for showing, not for deciding.

The stance model reads the same word list (nli/marking.py), so these are things that it was told, not what moved it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from nli.marking import Lexicon, stem

_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-])")


@cache
def _lexicon() -> Lexicon:
    return Lexicon.read(Path(__file__).with_name("polarity.txt"))


def opposites(claim: str, sentence: str) -> tuple[tuple[str, str], ...]:
    """(word of the claim, word of the sentence) for each word of the claim whose opposite, and not itself, is in the sentence."""
    lexicon, words = _lexicon(), list(dict.fromkeys(_WORD.findall(sentence)))
    said = {stem(word.lower()) for word in words}
    found = []
    for own in dict.fromkeys(_WORD.findall(claim)):
        sides = lexicon.sides(own.lower())
        if not sides or stem(own.lower()) in said:
            continue
        against = next((word for word in words if any(-side in sides for side in lexicon.sides(word.lower()))), None)
        if against:
            found.append((own, against))
    return tuple(found)


def places(word: str, text: str) -> tuple[tuple[int, int], ...]:
    """(start, end) in characters of each place in `text` where `word`, one that `opposites` named, stands by itself."""
    return tuple(found.span() for found in _WORD.finditer(text) if found[0].lower() == word.lower())


def other_numbers(claim: str, sentence: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The numbers of the claim and those of the sentence, where both have some and none is common; else two empty tuples."""
    own, other = tuple(_NUMBER.findall(claim)), tuple(_NUMBER.findall(sentence))
    return (own, other) if own and other and not {*map(float, own)} & {*map(float, other)} else ((), ())

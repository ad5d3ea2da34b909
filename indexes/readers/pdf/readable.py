"""Whether characters taken from a file are text: a font that does not say which letters it draws gives "%DFNJURXQG".

Three signs tell such characters from text in any language, from formulas and from lists of genes: they are no characters at all
(control codes, private use); the same distance in the alphabet makes common words of them; or their words repeat as a language's
do, but are not built of vowels and consonants as those of any language are.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from statistics import median

_CHUNK = 1000
_MOST_CHUNKS = 100
_UNREADABLE = 1 / 3
"""The share of a text that may be unreadable."""
_COMMON = frozenset(
    "the and was were with for that not this from are had than which have been but patients study their those between after "
    "der die das und den von mit für ist nicht les des une dans pour que est pas par los las del una con por como más "
    "della che per sono nel het een van voor niet dos uma com não och att som inte og til ikke".split()
)
_WORD = re.compile(r"(?<!\w)[^\W\d_]+(?!\w)")
_NUMERIC = re.compile(r"[(\[<>=+-]?\d[\d.,:%/-]*[)\],;]?")
_VOWELS = "aeiouywæœøı"
_STRANGE = re.compile(rf"[^{_VOWELS}]{{5}}|[{_VOWELS}]{{4}}|^[^{_VOWELS}]+$")
_LATIN = re.compile("[a-z]")


def is_readable(text: str) -> bool:
    """Whether no large part of a text is unreadable; a text of a few words always is, unless it has no characters at all."""
    step = max(1, len(text) // (_CHUNK * _MOST_CHUNKS)) * _CHUNK
    chunks = [text[start : start + _CHUNK] for start in range(0, len(text), step)]
    unreadable = sum(len(chunk) for chunk in chunks if _is_garbled(chunk))
    return unreadable <= _UNREADABLE * sum(map(len, chunks))


def _is_garbled(text: str) -> bool:
    shown = "".join(text.split())
    if sum(map(_is_no_character, shown)) > 0.15 * len(shown):
        return True
    words = _WORD.findall(text.lower())
    if not words or sum(word in _COMMON for word in words) > 0.03 * len(words):
        return False
    return _is_shifted(text) or _is_enciphered(text, words)


@lru_cache(maxsize=4096)
def _is_no_character(letter: str) -> bool:
    return letter == "\ufffd" or unicodedata.category(letter) in ("Cc", "Co", "Cn")


def _is_shifted(text: str) -> bool:
    """Whether the letters at some distance from these form common words."""
    for distance in range(-64, 65):
        moved = "".join(letter if letter.isspace() else chr(max(32, ord(letter) + distance)) for letter in text[:_CHUNK])
        words = _WORD.findall(moved.lower())
        found = [word for word in words if word in _COMMON]
        if len(set(found)) > 1 and len(found) > 0.1 * len(words):
            return True
    return False


def _is_enciphered(text: str, words: list[str]) -> bool:
    """Whether words repeat as a language's do, but look like none in Latin letters."""
    if _repeats(words):
        bare = ("".join(one for one in unicodedata.normalize("NFD", word) if not unicodedata.combining(one)) for word in words)
        long = [word for word in bare if len(word) > 3 and _LATIN.search(word)]
        return sum(bool(_STRANGE.search(word)) for word in long) > 0.1 * max(len(long), len(words) // 4)
    tokens = text.split() if text.isascii() else []
    if not _repeats(tokens):
        return False
    mixed = sum(not token.strip(".,;:()[]'\"").isalpha() for token in tokens) / len(tokens)
    numeric = sum(bool(_NUMERIC.fullmatch(token)) for token in tokens) / len(tokens)
    single = sum(len(token) == 1 for token in tokens) / len(tokens)
    return mixed > 0.6 and numeric < 0.2 and single < 0.2


def _repeats(words: list[str]) -> bool:
    """Whether a few of many words are frequent and most are rare, as in every language and in few lists."""
    counts = Counter(words)
    often = [count for _, count in counts.most_common(5)]
    return len(counts) >= 60 and 0.1 < sum(often) / len(words) < 0.3 and often[0] >= 4 * median(counts.values())

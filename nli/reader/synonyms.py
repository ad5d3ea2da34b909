"""A claim in the words of the text that it is read against: "Ritalin (methylphenidate)", "beta-blockers such as carvedilol".

A reader trained on papers does not know that hives are urticaria, or that a finding on lansoprazole is one on a proton pump
inhibitor: it calls such a paper silent. The groups of synonyms.txt say so, and behind such a name stands the one that the text
uses. Words of everyday language that mean much else ("helps") are left alone, and so are groups of words that only tell what a
paper is about ("live longer", "mortality").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from counterpoint.retrieval.words.terms import Group, Phrase, find_groups, find_rare_words, find_terms, split_terms

RARE = 4.5
"""The inverse document frequency from which a single word gets a synonym: "stomach" has more, "help" less."""
MOST = 3
"""The members of a class that are named."""
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")


def add_synonyms(claim: str, text: str) -> str:
    """The claim with the text's names for what it names; the claim itself where there are none.

    Behind a name that the text lacks stands one synonym in brackets, behind a class up to three treatments of it.
    """
    groups = {phrase: same for phrase, some in find_groups(claim).items() if (same := [one for one in some if one.same])}
    if not groups:
        return claim
    held, terms, ends = find_terms(text), *_split_words(claim)
    own = frozenset(terms)
    additions: dict[int, str] = {}
    for start, phrase in _locate_longest(terms, groups):
        added = "".join(_list_added(phrase, groups[phrase], own, held, text))
        if added:
            additions[ends[start + len(phrase) - 1]] = added
    for end in sorted(additions, reverse=True):
        claim = claim[:end] + additions[end] + claim[end:]
    return claim


def _split_words(text: str) -> tuple[list[str], list[int]]:
    """A text's terms, and where the word of each ends."""
    pairs = [(term, word.end()) for word in _WORD.finditer(text) for term in split_terms(word[0])]
    return [term for term, _ in pairs], [end for _, end in pairs]


def _locate_longest(terms: Sequence[str], phrases: Mapping[Phrase, object]) -> Iterator[tuple[int, Phrase]]:
    """Where the claim contains which phrase; of phrases that overlap, the longest: not the heart of "heart attack"."""
    taken: set[int] = set()
    for phrase in sorted(phrases, key=len, reverse=True):
        for start in range(len(terms) - len(phrase) + 1):
            places = range(start, start + len(phrase))
            if tuple(terms[start : start + len(phrase)]) == phrase and taken.isdisjoint(places):
                taken.update(places)
                yield start, phrase


def _list_added(phrase: Phrase, groups: Sequence[Group], own: frozenset[str], held: frozenset[str], text: str) -> Iterator[str]:
    def is_news(name: str) -> bool:
        parts = split_terms(name)
        return bool(parts) and held.issuperset(parts) and not own.issuperset(parts)

    if not held.issuperset(phrase) and (len(phrase) > 1 or find_rare_words(phrase[0]).get(phrase[0], RARE) >= RARE):
        others = (name for group in groups for name in group.names if is_news(name))
        if other := next(others, None):
            yield f" ({other})"
    members = dict.fromkeys(name for group in groups for name in group.treatments if is_news(name))
    if members and not any(own.issuperset(split_terms(name)) for group in groups for name in group.treatments):
        first = sorted(members, key=lambda name: _locate(name, text))[:MOST]
        yield f" such as {', '.join(first[:-1])} and {first[-1]}" if len(first) > 1 else f" such as {first[0]}"


def _locate(name: str, text: str) -> int:
    place = text.lower().find(name)
    return place if place >= 0 else len(text)

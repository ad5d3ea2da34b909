"""Words that an index does not contain, each with a similar one that it does: a suggestion, never a correction.

A name may be right although no paper of the index contains it. So nothing is changed automatically; a word with two spellings is
known in either; a word that is frequent in PubMed is right; and of two words that differ as opposites do ("hypotension",
"hypertension"), neither is suggested for the other.
"""

from __future__ import annotations

import re

from pydantic import BaseModel
from rapidfuzz.distance import OSA

from counterpoint.retrieval.core.characters import fold_accents, unify_characters
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.words.forms import list_british_forms, unify_text
from counterpoint.retrieval.words.terms import load_shipped_rarity, locate_term, split_terms

_WORD = re.compile(r"(?<![0-9A-Za-z])[^\W\d_]+(?![0-9A-Za-z])")
"""Letters alone: "HT2A" is no word that could be misspelt."""
_SHORTEST, _LONG = 5, 8
"""The fewest letters of a word that is checked, and of one in which two letters may be wrong."""
_MOST_WORDS, _MOST_TRIED, _PAPERS = 40, 3, 20
_RARE = 8.0
"""From this weight (retrieval.words.terms), a word does not occur in PubMed's usual texts. The table is hashed, so one
misspelling in ten passes for a word that does."""
_OPPOSITES = (
    ("hypo", "hyper"), ("intra", "inter"), ("pre", "post"), ("anti", "ante"), ("ab", "ad"), ("in", "un"), ("macro", "micro"),
    ("endo", "ecto"), ("hemi", "semi"), ("super", "supra"), ("uni", "bi"),
)  # fmt: skip


class SuggestionOut(BaseModel):
    """A word that no document in the index contains, and a similarly spelt word from the index to use instead."""

    word: str
    instead: str


def suggest_words(index: Index, text: str) -> tuple[SuggestionOut, ...]:
    """A suggestion for each word of a text that no document contains, if the index has a similar one."""
    unknown = [word for word in find_missing(index, text) if _is_word(word) and _is_rare(word)]
    offers = ((word, _find_offer(index, word.lower())) for word in unknown)
    return tuple(
        SuggestionOut(word=word, instead=offer.capitalize() if word[0].isupper() else offer) for word, offer in offers if offer
    )


def find_missing(index: Index, text: str) -> tuple[str, ...]:
    """The words of a text that no document contains, in either spelling."""
    words = [word for word in dict.fromkeys(_WORD.findall(unify_characters(text))) if len(word) > 1][:_MOST_WORDS]
    forms = [(word, (word.lower(), (low := unify_text(word.lower())), *list_british_forms(low))) for word in words]
    stems = index.vocabulary.stem([form for _, spellings in forms for form in spellings])
    counts = iter(index.vocabulary.count_documents(stems))
    return tuple(word for word, spellings in forms if not sum([next(counts) for _ in spellings]))


def _is_word(word: str) -> bool:
    """Whether a word may be misspelt: symbols with capitals ("CYP", "IgG") are taken as intended."""
    return word.isascii() and len(word) >= _SHORTEST and word[1:].islower()


def _is_rare(word: str) -> bool:
    rarity = load_shipped_rarity()
    return all(float(rarity[locate_term(term)]) >= _RARE for term in split_terms(word))


def _find_offer(index: Index, word: str) -> str:
    """The most similar word in the index's texts, or "" if none is similar."""
    (stem,) = index.vocabulary.stem([word])
    if not stem:
        return ""
    edits = 2 if len(word) >= _LONG else 1
    for neighbour in index.vocabulary.find_similar(stem, edits)[:_MOST_TRIED]:
        if neighbour.term.isalpha() and not _are_opposed(stem, neighbour.term):
            candidate = _find_written(index, neighbour.term, word)
            if candidate and not _are_opposed(word, candidate) and _count_edits(candidate, word) <= edits:
                return candidate
    return _find_parted(index, word, edits)


def _find_parted(index: Index, word: str, edits: int) -> str:
    """The most similar word that the index's papers write with a hyphen, "beta-carotene" for "betacarotine"; "" if none is."""
    places = range(_SHORTEST - 1, len(word) - _SHORTEST + 1)
    stems = index.vocabulary.stem([part for place in places for part in (word[:place], word[place:])])
    pairs = list(zip(places, stems[::2], stems[1::2], strict=True))
    counts = index.vocabulary.count_documents([stem for _, *both in pairs for stem in both])
    for (place, first, second), begun, ended in zip(pairs, counts[::2], counts[1::2], strict=True):
        known = first if begun else second if ended else ""
        for entry in index.entries(index.vocabulary.find_documents(known, _PAPERS)) if known else ():
            text = f"{entry.document.title} {entry.document.abstract}".lower()
            parted: list[str] = re.findall(rf"\b{word[:place]}-\w+" if begun else rf"\b\w+-{word[place:]}\b", text)
            near = [one for one in parted if OSA.distance(word, one.replace("-", "")) <= edits]
            if near and not _are_opposed(word, near[0]):
                return near[0]
    return ""


def _find_written(index: Index, term: str, like: str) -> str:
    """The word that an index stores as this term, in the form most like a word; of several, the one that its papers use most."""
    counts: dict[str, int] = {}
    for entry in index.entries(index.vocabulary.find_documents(term, _PAPERS)):
        for word in _WORD.findall(f"{entry.document.title} {entry.document.abstract}".lower()):
            if fold_accents(word[:2]) == fold_accents(term[:2]) and abs(len(word) - len(term)) < 6:
                counts[word] = counts.get(word, 0) + 1
    words = sorted(counts, key=lambda word: (-counts[word], word))
    stems = index.vocabulary.stem(words)
    forms = [word for word, stem in zip(words, stems, strict=True) if stem == term]
    return min(forms, key=lambda form: (_count_edits(form, like), OSA.distance(form, like)), default="")


def _count_edits(word: str, like: str) -> int:
    """How many letters apart two words are, whatever their accents."""
    return OSA.distance(fold_accents(word), fold_accents(like))


def _are_opposed(one: str, other: str) -> bool:
    """Whether two words differ by prefixes that say opposite or different things."""
    return any(
        (one.startswith(first) and other.startswith(second)) or (one.startswith(second) and other.startswith(first))
        for first, second in _OPPOSITES
        if not (one.startswith(first) and other.startswith(first)) and not (one.startswith(second) and other.startswith(second))
    )

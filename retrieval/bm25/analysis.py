"""How a text becomes the terms that BM25 matches: one description, of which Lucene's analyzers and OpenSearch's are both made.

An index's manifest names the analyzer of its text, and a query is analysed as the text was.

* `anserini`: Anserini's English analyzer with stop words kept, as in the paper's systems: Unicode's words without the possessive,
  lower case, Porter's stems.
* `biomedical`: the same after the characters are put in order. Greek letters are their names; a full stop, colon or underscore
  between letters ("recorded.Ninety", "arm_b") separates words, as a unit is separated from its number ("50mg"), while "0.05" and
  "v1.2" stay and "i.v." is "iv"; accents are folded. A word with a hyphen is its parts and the whole: "COVID-19" is found by
  "COVID", by "19" and by "COVID19".

A description that changes gets a new name: an index of the old one must not be searched with the new.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from counterpoint.retrieval.core.characters import unify_characters
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.words.forms import GLUED, GREEK

ANSERINI, BIOMEDICAL = "anserini", "biomedical"
TEXT_ANALYZERS = (BIOMEDICAL, ANSERINI)
"""The analyzers that the text of an index may have, the usual one first."""
PARTS, NAMES = "biomedical_parts", "names"
"""The biomedical analyzer without the wholes of words with hyphens, for queries; that of names and years, without stems."""
CONTENTS = "contents"
FIELDS: Mapping[str, str] = {"title": BIOMEDICAL, "authors": NAMES, "journal": NAMES, "year": NAMES}
"""The fields beside the text, with their analyzers. They are indexed, not stored, and play no part in the text's ranking."""
FIELD_WEIGHTS: Mapping[str, tuple[float, float]] = {
    "title": (1.0, 0.5), "authors": (1.2, 0.6), "journal": (0.6, 0.0), "year": (1.0, 0.0), CONTENTS: (0.3, 0.0),
}  # fmt: skip
"""What a word counts in each field, and one that is spelt almost so, where a paper is looked for by what it is called."""
SAME_BEGINNING = 1
"""Letters at the beginning of a word that are assumed to be right."""
WHOLE_WEIGHT = 0.2
"""What the whole of a word with a hyphen counts in a query, beside its parts: one word is not three (docs/research)."""


@dataclass(frozen=True, slots=True)
class Chain:
    """What is done to a text, in order: characters replaced by a table, then by patterns (Java's syntax), each with what is
    written instead; Unicode's words found in it; each word filtered (the keys of `FILTERS`)."""

    characters: Mapping[str, str]
    patterns: tuple[tuple[str, str], ...]
    filters: tuple[str, ...]


FILTERS: Mapping[str, tuple[str, str | dict[str, str]]] = {
    "possessive": ("englishPossessive", {"type": "stemmer", "language": "possessive_english"}),
    "lowercase": ("lowercase", "lowercase"),
    "folding": ("asciiFolding", "asciifolding"),
    "porter": ("porterStem", "porter_stem"),
}
"""The name of each filter in Lucene, and what it is in OpenSearch: another name, or a definition."""

_IN_WORD = r"[\p{L}\p{N}]"
_HYPHENS = "\u2010\u2011\u2012\u2013\u2212"
_DOTS = "\u00b7\u2027"
"""In decimals and between units: "0·05", "mg·kg"."""
_MICRO = "g l L m M mol s V A U IU"
_UNITS = "mg|kg|g|ug|mcg|ng|pg|ml|dl|ul|l|mm|cm|nm|um|mmol|umol|nmol|pmol|mol|iu|u|h|hr|min|kcal|mmhg"
_GREEK_NAMES = "|".join(GLUED)
_HYPHEN = "-"

_CHARACTERS = {
    # A combining accent that no letter has taken up.
    **dict.fromkeys(map(chr, range(0x300, 0x370)), ""),
    **{form: f"-{name}-" for letter, name in GREEK.items() for form in (letter, letter.upper())},
    **{f"μ{unit}": f"u{unit}" for unit in _MICRO.split()},
    **dict.fromkeys(_HYPHENS, _HYPHEN),
    **dict.fromkeys(_DOTS, "."),
}
_SEPARATE = (
    # "i.v.", "e.g." and "U.S." as one word; "B*27" as "B27".
    (
        rf"\.(?<=(?<!{_IN_WORD})\p{{L}}\.)(?=\p{{Ll}}(?!{_IN_WORD})|\p{{Lu}}\.)|\*(?<=\p{{L}}\*)(?=\d)",
        "",
    ),
    # "recorded.Ninety", "RESULTS:None", "arm_b"; "50mg".
    (
        r"[.:](?<=\p{L}[.:])(?=\p{L})|_(?:(?!\d)|(?<!\d_))"
        rf"|(\d)(?=(?i:{_UNITS})(?!{_IN_WORD}))(?<!\p{{L}}[\d.,]{{1,8}})",
        "$1 ",
    ),
    # "TNFalpha", "IL-1 beta"; "beta carotene", "alpha2", "kappaB".
    (
        rf"([A-Z]|[A-Z-]\d(?= )|\d(?! )) ?-*(?=(?:{_GREEK_NAMES})(?![a-z]))"
        rf"|(?<!\p{{L}})((?i:{_GREEK_NAMES}))(?:-* ?(?=\d)|(?=[A-Z])|-* (?=\p{{Ll}}{{4}}))",
        "$1$2-",
    ),
)
# Between two parts of a word, both as one; but no numbers alone ("10-20"), nor the end of a decimal ("2.5-fold").
_JOIN = (
    rf"-+(?<=(?<!{_IN_WORD}|[.,])({_IN_WORD}{{1,40}})-{{1,3}})(?!(?<=(?<!{_IN_WORD})\p{{N}}{{1,40}}-)\p{{N}}+(?!{_IN_WORD}))"
    rf"(?=({_IN_WORD}+))",
    " $1$2 ",
)
_STEMMED = ("possessive", "lowercase", "folding", "porter")
CHAINS: Mapping[str, Chain] = {
    ANSERINI: Chain({}, (), ("possessive", "lowercase", "porter")),
    BIOMEDICAL: Chain(_CHARACTERS, (*_SEPARATE, _JOIN), _STEMMED),
    PARTS: Chain(_CHARACTERS, _SEPARATE, _STEMMED),
    NAMES: Chain({**dict.fromkeys(_HYPHENS, _HYPHEN), "'": "", "&": " and "}, (_JOIN,), ("lowercase", "folding")),
}


def find_edits(word: str) -> int:
    """How many letters of a word may be wrong, of one with this many, for it to be taken for another."""
    return (len(word) >= 5) + (len(word) >= 9)


def check_analyzer(name: str) -> None:
    """Raise `BadInput` unless the text of an index may have the analyzer of this name."""
    if name not in TEXT_ANALYZERS:
        raise BadInput(f"The analyzer of an index should be {' or '.join(TEXT_ANALYZERS)}, not {name!r}.")


def make_contents(title: str, abstract: str) -> str:
    """The text of a document that BM25 searches: title and abstract in one field, in one form of characters."""
    return unify_characters(f"{title} {abstract}").strip()


def make_fields(title: str, authors: str, journal: str, year: int | None) -> dict[str, str]:
    """What each of `FIELDS` holds of a document, in one form of characters; `authors` is JSON, as the store keeps it."""
    names = " ".join(" ".join(names) for names in json.loads(authors))
    values = {"title": title, "authors": names, "journal": journal, "year": str(year or "")}
    return {name: text for name, value in values.items() if (text := unify_characters(value).strip())}


def write_mappings(characters: Mapping[str, str], form: str) -> list[str]:
    """A table of characters as lines in the given form: `"{}" => "{}"` for Lucene, `{} => {}` for OpenSearch.

    All is escaped, so that neither takes a blank or a quotation mark for its own.
    """
    return [form.format(_escape(old), _escape(new)) for old, new in characters.items()]


def _escape(text: str) -> str:
    return "".join(f"\\u{ord(letter):04x}" for letter in text)


def describe_for_opensearch(names: Sequence[str]) -> dict[str, Any]:
    """The analysis settings of an index on OpenSearch that has the chains of these names."""
    analysis: dict[str, Any] = {"char_filter": {}, "filter": {}, "analyzer": {}}
    for name in names:
        chain, before = CHAINS[name], []
        if chain.characters:
            before.append(f"{name}_characters")
            mappings = write_mappings(chain.characters, "{} => {}")
            analysis["char_filter"][before[-1]] = {"type": "mapping", "mappings": mappings}
        for number, (pattern, replacement) in enumerate(chain.patterns, 1):
            before.append(f"{name}_{number}")
            one = {"type": "pattern_replace", "pattern": pattern, "replacement": replacement}
            analysis["char_filter"][before[-1]] = one
        filters = []
        for one_filter in chain.filters:
            what = FILTERS[one_filter][1]
            if isinstance(what, dict):
                analysis["filter"][one_filter] = what
            filters.append(one_filter if isinstance(what, dict) else what)
        analysis["analyzer"][name] = {"type": "custom", "tokenizer": "standard", "filter": filters}
        if before:
            analysis["analyzer"][name]["char_filter"] = before
    # A cluster does not return what is empty.
    return {part: entries for part, entries in analysis.items() if entries}

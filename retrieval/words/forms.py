"""The forms of a word: one for comparing and for the models, British and American ones for a search, and a verb's.

British and American spellings are one word, a word with a hyphen is the same as without, and so are Greek letters and their
names: the spelling of a claim must not matter.

* "Metabolism" begins as "metabolise" does, so what follows "is" is looked at as well: only verb endings count.
* "TNF-α", "TNFα", "TNF alpha" and "TNFalpha" are one thing, "TNF-alpha". The micro sign before a unit is not a letter: "5 μg"
  stays. Single Latin letters that only look Greek are ignored.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path

from counterpoint.retrieval.core.characters import unify_characters
from counterpoint.retrieval.core.errors import ModelUnusable
from counterpoint.retrieval.core.word_list import read_word_list

_SPELLINGS = Path(__file__).with_name("spelling.txt")
_IRREGULAR = Path(__file__).with_name("irregular.txt")
OPPOSITES = Path(__file__).with_name("opposites.txt")
"""Verbs and words with their opposites, by section."""
_WORD = re.compile(r"([A-Za-z]+)")
_VERB = "(?=e$|ed$|es$|er$|ers$|ing$|able$|ability$|ation$|ations$)"
"""What may follow a stem in -is: "organised", but not "organism"."""
_Rule = tuple[re.Pattern[str], str]
"""What is looked for, and what is written in its place."""

GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta", "ι": "iota",
    "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi",
    "χ": "chi", "ψ": "psi", "ω": "omega",
}  # fmt: skip
_VARIANTS = {"ϵ": "ε", "ϑ": "θ", "ϕ": "φ", "ς": "σ", "ϰ": "κ", "ϱ": "ρ", "µ": "μ"}
"""Other forms of a letter, the micro sign among them."""
_GREEK_NAME = GREEK | {form: GREEK[letter] for form, letter in _VARIANTS.items()}
_GREEK_NAME |= {letter.upper(): name for letter, name in GREEK.items()}
_UNIT = r"(?:g|l|L|m|M|mol|s|V|A|U|IU|Ci|Sv|Gy|kat)\b"
_LETTER = re.compile(rf"(?P<micro>[µμ](?={_UNIT}))|(?P<before>(?<=[A-Za-z]))?(?P<letter>[{''.join(_GREEK_NAME)}])")
GLUED = ("alpha", "beta", "gamma", "delta", "epsilon", "kappa", "lambda", "sigma", "theta", "zeta", "omega")
"""Names that are written onto a symbol ("TNFalpha", "IL-1beta") and before a number ("alpha1")."""
_ANY_GLUED = "|".join(GLUED)
_ON_SYMBOL = re.compile(rf"\b([A-Z][A-Za-z]*[A-Z]|[A-Z]{{2,}}-?\d+[A-Z]?)[ -]?({_ANY_GLUED})(?=\d|\b|B\b)")
_NUMBERED = re.compile(rf"(?<![A-Za-z])({_ANY_GLUED})-?(\d{{1,2}})(?![\w.%])", re.IGNORECASE)
_BEHIND_WORD = re.compile(rf"(?<=[a-z]{{3}})-(?=(?:{_ANY_GLUED})\b)")
_KAPPA_B = re.compile(r"kappa[ -]B\b")


# Queries of one topic come back to the same texts.
@lru_cache(maxsize=512)
def unify_text(text: str) -> str:
    """The text in one form (`join_symbols`) and in American spelling; a capital at the start of a word stays."""
    return "".join(map(_americanise_piece, _WORD.split(join_symbols(text))))


def capitalise(text: str) -> str:
    """The text with its first letter in upper case, as a sentence begins; the others stay as they are."""
    return text[:1].upper() + text[1:]


def join_symbols(text: str) -> str:
    """The text with Greek letters as names, and without the hyphens of words that others write in one: "preeclampsia"."""
    text = _name_greek(text)
    return _load_hyphens().sub("", text) if "-" in text else text


def add_spellings(query: str) -> str:
    """The query in American spelling, followed by the British forms of its words, for a search that matches hyphens and Greek
    letters however they are written."""
    plain = "".join(map(_americanise_piece, _WORD.split(query)))
    words = dict.fromkeys(word.lower() for word in _WORD.findall(plain))
    spelt = dict.fromkeys(form for word in words for form in (americanise(word), *list_british_forms(americanise(word))))
    return " ".join([plain, *(form for form in spelt if form not in words)])


@lru_cache(maxsize=65536)
def americanise(word: str) -> str:
    """The American form of one lower-case word; the word itself if there is none."""
    any_part, _, rules = _load_rules()
    if any_part.search(word):
        for pattern, form in rules:
            word = pattern.sub(form, word)
    return word


@lru_cache(maxsize=65536)
def _americanise_piece(piece: str) -> str:
    """A word as it stands in a text, or what stands between two."""
    low = piece.lower()
    other = americanise(low)
    if other == low:
        return piece
    return other.capitalize() if piece[0].isupper() else other


@lru_cache(maxsize=4096)
def list_british_forms(word: str) -> tuple[str, ...]:
    """British forms of a lower-case word that are written back to it; empty where there is none."""
    found: dict[str, None] = {}
    # "Anaesthetised" has two parts that differ: what one of them makes is looked at again for the other.
    waiting = [word]
    while waiting:
        form = waiting.pop()
        for pattern, part in _load_rules()[1]:
            other = pattern.sub(part, form)
            if other != word and other not in found and americanise(other) == word:
                found[other] = None
                waiting.append(other)
    return tuple(found)


@cache
def _read_pairs() -> tuple[tuple[str, str], ...]:
    """Each line's two forms: British and American, or with a hyphen and without."""
    try:
        return tuple((first, second) for first, second in map(str.split, read_word_list(_SPELLINGS)))
    except ValueError as error:
        raise ModelUnusable(f"The word list {_SPELLINGS} cannot be read ({error}); reinstall the package.") from error


@cache
def _load_rules() -> tuple[re.Pattern[str], tuple[_Rule, ...], tuple[_Rule, ...]]:
    """All British parts in one pattern, so that most words are passed over at once; what writes British, what American."""
    pairs = [(british, american) for british, american in _read_pairs() if british.strip("^$") != american and "-" not in british]
    to_british, to_american = [], []
    for british, american in pairs:
        part, verb = british.strip("^$"), _VERB if british.endswith("is") else ""
        back = british[: british.index(part)] + re.escape(american) + verb + ("$" if british.endswith("$") else "")
        to_british.append((re.compile(back), part))
        to_american.append((re.compile(british + verb), american))
    return re.compile("|".join(british for british, _ in pairs)), tuple(to_british), tuple(to_american)


@cache
def _load_hyphens() -> re.Pattern[str]:
    """The hyphens that join the parts of one word."""
    parts = [parted.split("-") for parted, _ in _read_pairs() if "-" in parted]
    # It begins with the hyphen itself, so that texts are passed over quickly.
    return re.compile(f"-(?:{'|'.join(f'(?<={before}-)(?={behind})' for before, behind in parts)})", re.IGNORECASE)


def _name_greek(text: str) -> str:
    """The text with every Greek letter as its name, joined to a symbol before it and a number behind it by a hyphen, apart
    from a word before it; in one form of characters (retrieval.core.characters)."""
    if not text.isascii():
        text = _LETTER.sub(_name_letter, unify_characters(text))
    low = text.lower()
    if not any(name in low for name in GLUED):
        return text
    text = _BEHIND_WORD.sub(" ", text)
    text = _ON_SYMBOL.sub(r"\1-\2", text)
    return _NUMBERED.sub(r"\1-\2", _KAPPA_B.sub("kappaB", text))


def _name_letter(match: re.Match[str]) -> str:
    if match["micro"]:
        return match["micro"]
    return ("-" if match["before"] is not None else "") + _GREEK_NAME[match["letter"]]


_VOWELS = "aeiou"


def make_third_person(verb: str) -> str:
    """ "lower" as "lowers", "carry" as "carries"."""
    if verb in {"have", "be"}:
        return {"have": "has", "be": "is"}[verb]
    if verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else f"{verb}s"


def inflect_verb(verb: str) -> tuple[str, str, str, str]:
    """A verb in its base form, for one thing, of the past, and in -ing."""
    return verb, make_third_person(verb), make_past(verb), f"{verb.removesuffix('e')}ing"


def make_past(verb: str) -> str:
    """ "lower" as "lowered", "stop" as "stopped"."""
    if verb in load_irregular():
        return load_irregular()[verb][1]
    if verb.endswith("e"):
        return f"{verb}d"
    return f"{verb[:-1]}ied" if verb.endswith("y") and verb[-2:-1] not in _VOWELS else f"{verb}ed"


@cache
def load_irregular() -> dict[str, tuple[str, str, str]]:
    """The irregular verbs, by base form: base, past and participle."""
    found = {}
    for forms in (part for line in read_word_list(_IRREGULAR) for part in line.split("/")):
        base, was, been = forms.split()
        found[base] = (base, was, been)
    return found

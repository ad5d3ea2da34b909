"""Greek letters and their names: "TNF-α", "TNFα", "TNF alpha" and "TNFalpha" are one thing, "TNF-alpha".

The micro sign before a unit is not a letter: "5 μg" stays. Single Latin letters that only look Greek are ignored.
"""

from __future__ import annotations

import re

from retrieval.core.characters import unify_characters

_NAMES = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta", "ι": "iota",
    "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi",
    "χ": "chi", "ψ": "psi", "ω": "omega",
}  # fmt: skip
_SAME = {"ϵ": "ε", "ϑ": "θ", "ϕ": "φ", "ς": "σ", "ϰ": "κ", "ϱ": "ρ", "µ": "μ"}
"""Other forms of a letter, the micro sign among them."""
_LETTERS = _NAMES | {form: _NAMES[letter] for form, letter in _SAME.items()}
_LETTERS |= {letter.upper(): name for letter, name in _NAMES.items()}
_UNIT = r"(?:g|l|L|m|M|mol|s|V|A|U|IU|Ci|Sv|Gy|kat)\b"
_LETTER = re.compile(rf"(?P<micro>[µμ](?={_UNIT}))|(?P<before>(?<=[A-Za-z]))?(?P<letter>[{''.join(_LETTERS)}])")
_GLUED = "alpha|beta|gamma|delta|epsilon|kappa|lambda|sigma|theta|zeta|omega"
"""Names that are written onto a symbol ("TNFalpha", "IL-1beta") and before a number ("alpha1")."""
_ON_SYMBOL = re.compile(rf"\b([A-Z][A-Za-z]*[A-Z]|[A-Z]{{2,}}-?\d+[A-Z]?)[ -]?({_GLUED})(?=\d|\b|B\b)")
_NUMBERED = re.compile(rf"(?<![A-Za-z])({_GLUED})-?(\d{{1,2}})(?![\w.%])", re.IGNORECASE)
_BEHIND_WORD = re.compile(rf"(?<=[a-z]{{3}})-(?=(?:{_GLUED})\b)")
_KAPPA_B = re.compile(r"kappa[ -]B\b")
_PLAIN = tuple(_GLUED.split("|"))
_NAMED = re.compile(
    rf"(?:\b([A-Z][A-Za-z]*[A-Z]|[A-Z]{{2,}}-\d+[A-Z]?)-)?(?<![A-Za-z])((?i:{'|'.join(_NAMES.values())}))(?:-(\d{{1,2}})|(B))?\b"
)
_LETTER_OF = {name: letter for letter, name in _NAMES.items()}


def name_greek(text: str) -> str:
    """The text with every Greek letter as its name, joined to a symbol before it and a number behind it by a hyphen, apart
    from a word before it; in one form of characters (retrieval.core.characters)."""
    if not text.isascii():
        text = _LETTER.sub(_name_letter, unify_characters(text))
    low = text.lower()
    if not any(name in low for name in _PLAIN):
        return text
    text = _BEHIND_WORD.sub(" ", text)
    text = _ON_SYMBOL.sub(r"\1-\2", text)
    return _NUMBERED.sub(r"\1-\2", _KAPPA_B.sub("kappaB", text))


def list_greek_forms(text: str) -> list[str]:
    """The words under which an index may hold what a text (of `name_greek`) names by Greek letters, in lower case.

    An index matches words literally: "TNF-α" is "tnf" and "α" there, "TNFα" is one word.
    """
    found: dict[str, None] = {}
    for match in _NAMED.finditer(text):
        symbol, name, number, after = (part.lower() if part else "" for part in match.groups())
        # What is written onto a name is what stands before it up to the last hyphen: of "IL-1" the number.
        last, behind = symbol.rpartition("-")[2], number or after
        for form in (_LETTER_OF[name], name):
            for word in (form, f"{form}{behind}", f"{last}{form}", f"{last}{form}{behind}"):
                found[word] = None
    return list(found)


def _name_letter(match: re.Match[str]) -> str:
    if match["micro"]:
        return match["micro"]
    return ("-" if match["before"] is not None else "") + _LETTERS[match["letter"]]

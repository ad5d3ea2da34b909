"""Quoting sentences of abstracts: which can stand alone in an answer, and what is cut off in front of them.

A sentence stands alone if it is a finding or a statement, not an aim, a method, a question or a fragment. It is shown from its
first informative word on: a section's label, a connective ("However,") or a phrase that only says who found it ("We found that")
is cut off, and what is left stands word for word in the abstract. A phrase that weakens ("suggest that") goes only where the rest
is hedged itself. The phrases are data: generation/phrases.txt.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from retrieval.core.word_list import read_sections

SHORTEST, LONGEST = 8, 48
"""The fewest and the most words of a sentence that stands alone."""
LONGEST_QUOTE = 60
"""Words of a sentence that is still quoted."""

_PHRASES = Path(__file__).with_name("phrases.txt")
_LABELS = (
    "Aims?|Background|Objectives?|Introduction|Purpose|Context|Methods?|Design|Setting|Patients|Materials? and methods?|Results?"
    "|Findings|Main results|Interpretation|Discussion|Conclusions?|Summary|Significance|Relevance|Clinical significance"
    "|Implications|Limitations|Importance|Rationale|Measurements and main results|Authors['’] conclusions?"
)
_LABEL = re.compile(
    rf"^(?:\W{{0,2}}(?:[A-Z][A-Z ,/&'()-]{{2,60}}|(?:{_LABELS}))\s*[:.—–-]\s+"  # "CONCLUSIONS: …", "Results. …"
    rf"|[\[(](?:(?i:{_LABELS}))[\])]:?\s*"  # "[Conclusion] …"
    rf"|(?:{_LABELS.upper()})\s+(?=[A-Z][a-z ]))(?=\S)"  # "OBJECTIVES Vitamin D …"
)


def drop_label(sentence: str) -> str:
    """The sentence less the section label at its beginning; the rest stands word for word in the abstract."""
    match = _LABEL.match(sentence)
    return sentence[match.end() :] if match and match.end() < len(sentence) else sentence


def compile_phrases(section: str) -> re.Pattern[str]:
    """Finds any phrase of a section: at the beginning, in its own case, where the section is an opening; else anywhere."""
    begins, flags = ("^", 0) if section.endswith("(opening)") else (r"(?<!\w)", re.IGNORECASE)
    return re.compile(rf"{begins}{_list_alternatives(section)}(?!\w)", flags)


def _list_alternatives(section: str) -> str:
    """A section's phrases as one group of a regular expression."""
    return f"(?:{'|'.join(_load_phrases()[section])})"


@cache
def _load_phrases() -> dict[str, list[str]]:
    return {
        section: [phrase.strip().replace(" ", r"\s+") for line in lines for phrase in line.split(" / ")]
        for section, lines in read_sections(_PHRASES).items()
    }


_CONNECTIVE = re.compile(rf"^(?:{_list_alternatives('connective (opening)')}\s*,\s+)+")
_FINDER = rf"^{_list_alternatives('finder (opening)')}(?:\s+{_list_alternatives('finder aside')})*\s+"
_SURE = re.compile(rf"{_FINDER}{_list_alternatives('found')}\s+that\s+")
_WEAK = re.compile(rf"{_FINDER}{_list_alternatives('suggested')}\s+that\s+")
_HEDGE = compile_phrases("hedge")
_HEDGE_WITHIN = 7
"""A hedge must stand within so many words, before any comma, to weaken the statement itself and not a remark behind it."""
_CONTEXT_CUES = [compile_phrases(section) for section in ("anaphoric (opening)", "unanchored", "method (opening)", "method")]
"""A sentence that contains any of these depends on its context, or says how something was found rather than what."""
_BEGINS = re.compile(r"[“\"(\[]?(?:[A-ZÀ-ÖØ-Þα-ωΑ-Ω]|\d+(?:\.\d+)?\s?%|[a-z]{1,4}-?[A-Z0-9])")
_DAMAGE = re.compile(r"[\u00ad•�]|\\u[0-9a-f]{4}|&\w+;")
_JOINT = re.compile(r"(?<=[.!?]);\s+")
"""Some abstracts were put together from their sections with semicolons."""


def trim_sentence(sentence: str) -> str:
    """A sentence from its first informative word on, with a capital and a full stop."""
    text = drop_label(" ".join(sentence.split()))
    for _ in range(2):
        text = _CONNECTIVE.sub("", text)
        sure, weak = _SURE.match(text), _WEAK.match(text)
        if sure:
            text = text[sure.end() :]
        elif weak and _HEDGE.search(" ".join(text[weak.end() :].partition(",")[0].split()[:_HEDGE_WITHIN])):
            text = text[weak.end() :]
        text = text[:1].upper() + text[1:] if re.match(r"[a-z]+\b", text) else text
    return text if text.endswith((".", "!", "?")) else f"{text}."


def stands_alone(text: str) -> bool:
    """Whether the text can be read without its context, and says more than how something was found."""
    return bool(
        SHORTEST <= len(text.split()) <= LONGEST
        and _BEGINS.match(text)
        and text.endswith(".")
        and not _DAMAGE.search(text)
        and text.count("(") == text.count(")")
        and not any(pattern.search(text) for pattern in _CONTEXT_CUES)
    )


def choose_quotable(sentence: str) -> str:
    """Of several sentences that a source runs together, the last of usable length: it holds the finding."""
    pieces = [" ".join(piece.split()) for piece in _JOINT.split(sentence)]
    usable = [piece for piece in pieces if SHORTEST // 2 <= len(piece.split()) <= LONGEST_QUOTE]
    return usable[-1] if usable else " ".join(sentence.split())

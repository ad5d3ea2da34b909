"""Sentences of abstracts that can stand alone in an answer: findings and statements, not aims, methods, questions or fragments.

A sentence is shown from its first informative word on: a section's label, a connective ("However,") or a phrase that only says
who found it ("We found that") is cut off, and what is left stands word for word in the abstract. A phrase that weakens ("suggest
that") goes only where the rest is hedged itself. The phrases are data: generation/sentences/phrases.txt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generation.draft import Source
from generation.sentences.labels import find_label
from generation.sentences.phrases import compile_phrases, list_alternatives
from retrieval.core.paper import Role
from retrieval.core.values import Sentence

SHORTEST, LONGEST = 8, 48
"""The fewest and the most words that a sentence may have."""

_ROLES: tuple[tuple[Role, re.Pattern[str]], ...] = (
    (
        "conclusion",
        re.compile(r"conclusion|interpretation|discussion|summary|significance|implication|relevance", re.IGNORECASE),
    ),
    ("results", re.compile(r"result|finding|outcome\b", re.IGNORECASE)),
    ("methods", re.compile(r"method|design|setting|participant|patients|material|measure|intervention|objective", re.IGNORECASE)),
    ("methods", re.compile(r"aim|purpose|goal", re.IGNORECASE)),
    ("background", re.compile(r"background|introduction|context|importance|rationale", re.IGNORECASE)),
)
"""The role of sentences by a word anywhere in their label, which may name two; an aim counts as methods, which no answer quotes.

Answers are fitted to this. By nli's headings.yaml, 1,749 of 10,630 labels in 24,806 abstracts get another role, aims above all.
"""
_CONNECTIVE = re.compile(rf"^(?:{list_alternatives('connective (opening)')}\s*,\s+)+")
_FINDER = rf"^{list_alternatives('finder (opening)')}(?:\s+{list_alternatives('finder aside')})*\s+"
_SURE = re.compile(rf"{_FINDER}{list_alternatives('found')}\s+that\s+")
_WEAK = re.compile(rf"{_FINDER}{list_alternatives('suggested')}\s+that\s+")
_HEDGE = compile_phrases("hedge")
_HEDGE_WITHIN = 7
"""A hedge must stand within so many words, before any comma, to weaken the statement itself and not a remark behind it."""
_CONTEXT_CUES = [compile_phrases(section) for section in ("anaphoric (opening)", "unanchored", "method (opening)", "method")]
"""A sentence that contains any of these depends on its context, or says how something was found rather than what."""
_BEGINS = re.compile(r"[“\"(\[]?(?:[A-ZÀ-ÖØ-Þα-ωΑ-Ω]|\d+(?:\.\d+)?\s?%|[a-z]{1,4}-?[A-Z0-9])")
_DAMAGE = re.compile(r"[\u00ad•�]|\\u[0-9a-f]{4}|&\w+;")
_JOINT = re.compile(r"(?<=[.!?]);\s+")
"""Some abstracts were put together from their sections with semicolons."""
_FIGURE = re.compile(r"\d")
_ACRONYM = re.compile(r"\b[A-Z][A-Z0-9-]{1,}[a-z]?\b")


@dataclass(frozen=True, slots=True)
class QuotableSentence:
    """A sentence that can stand alone: `text` is how it is shown, `role` what it does in its abstract (None: unknown)."""

    source: Source
    sentence: Sentence
    text: str
    role: Role | None
    plainness: float


def find_candidates(source: Source) -> Iterator[QuotableSentence]:
    """The sentences of a source that can stand alone, in order."""
    for sentence, role in zip(source.sentences, find_roles(source), strict=True):
        if role != "methods":
            for piece in split_pieces(sentence.text):
                text = trim_sentence(piece)
                if stands_alone(text):
                    yield QuotableSentence(source, sentence, text, role, score_plainness(text))


def split_pieces(sentence: str) -> list[str]:
    """A stored sentence as its source wrote it: several where sections were joined with semicolons."""
    return _JOINT.split(sentence)


def find_roles(source: Source) -> list[Role | None]:
    """What each sentence does in the abstract: by its section, else by the last label in the text, else by its place."""
    labelled_sections = {section.start: section for section in source.document.sections if section.label}
    if labelled_sections:
        return [_find_section(source, sentence) for sentence in source.sentences]
    roles: list[Role | None] = []
    current: Role | None = None
    for sentence in source.sentences:
        label = find_label(sentence.text)
        current = _read_label(label) if label else current
        roles.append(current)
    if not any(roles) and len(roles) > 2:
        roles[0], roles[-2:] = "background", ["conclusion", "conclusion"]
    return roles


def _find_section(source: Source, sentence: Sentence) -> Role | None:
    labels = (section.label for section in source.document.sections if section.start <= sentence.start < section.end)
    return _read_label(next(labels, ""))


def _read_label(words: str) -> Role | None:
    return next((role for role, pattern in _ROLES if pattern.search(words)), None)


def trim_sentence(sentence: str) -> str:
    """A sentence from its first informative word on, with a capital and a full stop."""
    text = " ".join(sentence.split())
    text = text[len(find_label(text)) :]
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
    words = text.split()
    return bool(
        SHORTEST <= len(words) <= LONGEST
        and _BEGINS.match(text)
        and text.endswith(".")
        and not _DAMAGE.search(text)
        and text.count("(") == text.count(")")
        and not any(pattern.search(text) for pattern in _CONTEXT_CUES)
    )


def score_plainness(text: str) -> float:
    """A score from 0 to 1: 1 for plain prose, lower the more of the words are figures, brackets or acronyms."""
    words = text.split()
    heavy = sum(bool(_FIGURE.search(word)) + 0.7 * bool(_ACRONYM.search(word)) + ("(" in word) for word in words)
    return max(0.0, 1.0 - 1.5 * heavy / len(words))


def find_all_candidates(sources: Sequence[Source]) -> list[QuotableSentence]:
    """The candidates of all sources, no text twice."""
    candidates: dict[str, QuotableSentence] = {}
    for source in sources:
        for one in find_candidates(source):
            candidates.setdefault(one.text, one)
    return list(candidates.values())

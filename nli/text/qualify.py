"""Partial evidence: words that limit a sentence to less than the claim says.

A trial in mice, a benefit "only in women", a finding that "may" hold: each bears on the claim and none settles it. A qualifier
is a word of the sentence that narrows it and has no counterpart in the claim. It is found by rule, so that it can be shown in
place. It says nothing about the stance, and its absence does not prove that the sentence holds without conditions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from retrieval.core.characters import align_characters
from retrieval.core.values import Qualifier, QualifierKind, Sentence


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: QualifierKind
    found: re.Pattern[str]
    answered: re.Pattern[str]
    """Where the claim matches this, it states the qualification itself."""


def _compile_words(*forms: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(forms)})\b", re.IGNORECASE)


def _load_rule(kind: QualifierKind, *forms: str, answered: tuple[str, ...] = ()) -> _Rule:
    return _Rule(kind, _compile_words(*forms), _compile_words(*forms, *answered))


_RULES = (
    _load_rule(
        "hedge", "may", "might", "could", "possibl[ey]", "perhaps", "potentially", "(?:appear|seem)(?:s|ed)? to",
        "suggest(?:s|ed|ing)? that", "tend(?:s|ed)? to(?:ward)?", "(?:a|non-?significant) trend",
        "remains? (?:unclear|uncertain)", "preliminary",
        answered=("can", "potential", "possibly", "suggests?", "likely"),
    ),
    _load_rule(
        "subgroup", "sub-?groups?", "sub-?sets?", "sub-?populations?", "stratified", "stratification",
        "(?:only|particularly|especially|mainly|predominantly|exclusively) (?:in|among|for|with)",
        "(?:in|among) those (?:with|without|who|aged|treated|receiving)", "(?:but|and) not (?:in|among|for)",
        "except (?:in|for|among)", "interaction (?:with|between|by)",
    ),
    _load_rule(
        "population", "mice", "mouse", "murine", "rats?", "rodents?", "rabbits?", "pigs?", "monkeys?", "macaques?", "zebrafish",
        "drosophila", "animals?", "in vitro", "ex vivo", "cell lines?", "cultured",
        answered=("mammals?", "mammalian", "cells?", "knock-?outs?", "elegans", "yeast"),
    ),
    _load_rule(
        "population", "children", "infants?", "neonates?", "newborns?", "adolescents?", "pa?ediatric",
        answered=("child", "childhood", "bab(?:y|ies)", "young", "youth", "school"),
    ),
    _load_rule(
        "population", "elderly", "older (?:adults|people|men|women|patients)", "aged \\d+",
        answered=("old", "older", "ag(?:e|ed|ing)"),
    ),
    _load_rule(
        "population", "pregnan(?:t|cy|cies)", "postmenopausal",
        answered=("gestational", "maternal", "mothers?", "women", "birth"),
    ),
    _load_rule(
        "dose", "(?:high|low|higher|lower|moderate)[ -]doses?", "at (?:high|low|higher|lower) (?:doses?|concentrations?|levels?)",
        "doses? of", "dose-dependent(?:ly)?", "\\d+(?:\\.\\d+)? ?(?:mg|µg|μg|g|ml|iu)(?:/\\w+)*",
        answered=("doses?", "dosage", "mg", "concentrations?"),
    ),
    _load_rule(
        "condition", "in the (?:presence|absence) of", "in combination with", "when combined with",
        "depend(?:s|ed|ing)? (?:up)?on", "only (?:when|if|after|during)", "under (?:hypoxi[ac]|stress|fasting)(?: conditions)?",
        "unless", "short[- ]term", "long[- ]term", "transient(?:ly)?",
        answered=("combin\\w+", "presence", "absence", "depend\\w*", "when", "if"),
    ),
)  # fmt: skip


def find_qualifiers(claim: str, sentence: Sentence) -> tuple[Qualifier, ...]:
    """The qualifiers of the sentence that the claim does not have, in text order; offsets are into the abstract."""
    qualifiers: dict[tuple[int, int], Qualifier] = {}
    aligned = align_characters(sentence.text)
    for rule in _RULES:
        if rule.answered.search(claim):
            continue
        for match in rule.found.finditer(aligned.text):
            start, end = (sentence.start + place for place in aligned.locate(*match.span()))
            qualifiers.setdefault((start, end), Qualifier(rule.kind, start, end))
    return tuple(qualifiers[place] for place in sorted(qualifiers))

"""Rewordings whose effect on the label is known, beyond the opposites of `flips.txt`: reversed labelled pairs, sentences that
deny or assert a claim, aims and open questions that take no side, hedges, changed numbers.

A rule here puts one of our own frames around words that a person wrote.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from nli.training.flips import Flips
from nli.training.labelled import measure_overlap
from nli.training.pairs import CONTRADICT, NEUTRAL, SUPPORT, Pair
from nli.training.rules import read_abstracts, shorten

WRITTEN_AS_COUNTERCLAIMS = frozenset({"scifact"})
"""Sets whose refuted claims were mostly made by negating a true one: reversed again, they are supported."""

_DENIALS = (
    "It is not true that {}.",
    "It is not the case that {}.",
    "Our data rule out that {}.",
    "The results refute the idea that {}.",
    "We found no evidence that {}.",
    "There was no indication that {}.",
    "The hypothesis that {} was not confirmed.",
    "These findings contradict the view that {}.",
)
_ASSERTIONS = (
    "We show that {}.",
    "The data suggest that {}.",
    "There is strong evidence that {}.",
    "It cannot be denied that {}.",
    "No study failed to find that {}.",
    "There is no doubt that {}.",
    "The results confirm that {}.",
)
_DOUBTS = (
    "Whether {} is unknown.",
    "Whether {} remains to be determined.",
    "We investigated whether {}.",
    "The aim of this study was to test whether {}.",
    "It has been debated whether {}.",
    "Further studies are needed to establish whether {}.",
    "This trial will examine whether {}.",
    "Few studies have asked whether {}.",
)


def turn_pairs(pairs: Iterable[Pair], flips: Flips, rng: random.Random) -> list[Pair]:
    """Labelled pairs whose claim or text is reversed, with the resulting label."""
    turned_pairs = []
    for pair in pairs:
        if pair.label == NEUTRAL or (pair.label == CONTRADICT and pair.source not in WRITTEN_AS_COUNTERCLAIMS):
            continue
        label = SUPPORT + CONTRADICT - pair.label
        if pair.label == SUPPORT and rng.random() < 0.3:
            text = flips.make_opposite(pair.text, rng, met=pair.claim)
            if text:
                turned_pairs.append(Pair(pair.claim, text, pair.title, label, f"{pair.source}_turned"))
                continue
        rules = [flips.make_opposite, flips.negate] if rng.random() < 0.6 else [flips.negate, flips.make_opposite]
        claim = next((reversal for rule in rules if (reversal := rule(pair.claim, rng)) and reversal != pair.claim), None)
        if claim:
            turned_pairs.append(Pair(claim, pair.text, pair.title, label, f"{pair.source}_turned"))
    return turned_pairs


def _make_clause(claim: str) -> str:
    """The claim as it reads after "that": no full stop, its first word in lower case unless it is a name or an abbreviation."""
    text = claim.rstrip(" .")
    first = text.split(" ", 1)[0]
    return text[:1].lower() + text[1:] if first[1:].islower() else text


def frame_claims(claims: Sequence[str], flips: Flips, rng: random.Random) -> Iterator[Pair]:
    """Denials, assertions and open questions about each claim, and about its opposite."""
    for claim in claims:
        if len(claim.split()) > 18:
            continue
        opposite = flips.make_opposite(claim, rng) if rng.random() < 0.6 else flips.negate(claim, rng)
        if not opposite or opposite == claim:
            continue
        first, second = (claim, opposite) if rng.random() < 0.5 else (opposite, claim)
        kind = rng.random()
        if kind < 0.4:
            text = rng.choice(_DENIALS).format(_make_clause(second))
            yield Pair(first, text, "", SUPPORT, "rule_frames")
            yield Pair(second, text, "", CONTRADICT, "rule_frames")
        elif kind < 0.65:
            text = rng.choice(_ASSERTIONS).format(_make_clause(first))
            yield Pair(first, text, "", SUPPORT, "rule_frames")
            yield Pair(second, text, "", CONTRADICT, "rule_frames")
        else:
            yield Pair(first, rng.choice(_DOUBTS).format(_make_clause(rng.choice((first, second)))), "", NEUTRAL, "rule_frames")


def hedge(pair: Pair, flips: Flips, rng: random.Random) -> Pair:
    """The pair with a hedge such as "may" in its claim, where a rule finds the verb; the label stays the same."""
    claim = flips.hedge(pair.claim, rng.choice(("may", "might", "could", "can")))
    return Pair(claim, pair.text, pair.title, pair.label, pair.source) if claim else pair


def make_number_pairs(folder: Path, count: int, flips: Flips, rng: random.Random) -> list[Pair]:
    """Findings with a number, kept or changed on either side, and with the number of another sentence (neutral)."""
    pairs: list[Pair] = []
    documents = list(read_abstracts(folder))
    rng.shuffle(documents)
    for title, sentences in documents:
        findings = [s for s in sentences[1:] if 8 <= len(s.split()) <= 36 and re.search(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-])", s)]
        for sentence in rng.sample(findings, min(1, len(findings))):
            plain = shorten(sentence, rng, brackets=rng.random() < 0.5)
            other = flips.change_number(plain, rng)
            if other is None or not 5 <= len(plain.split()) <= 26:
                continue
            text, variant = sentence, flips.change_number(sentence, rng)
            if rng.random() < 0.3 and variant and len(re.findall(r"\d+(?:\.\d+)?", sentence)) == 1:
                pairs.append(Pair(plain, variant, title, CONTRADICT, "rule_numbers"))
            else:
                pairs.append(Pair(other, text, title, CONTRADICT, "rule_numbers"))
            pairs.append(Pair(plain, text, title, SUPPORT, "rule_numbers"))
            strangers = [s for s in findings if s != sentence and measure_overlap(plain, s) < 0.5]
            if strangers and rng.random() < 0.5:
                pairs.append(Pair(plain, rng.choice(strangers), title, NEUTRAL, "rule_numbers"))
        if len(pairs) >= count:
            break
    return pairs[:count]

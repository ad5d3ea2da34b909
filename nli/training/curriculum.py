"""What the stance model is trained on, and in which order: language and rules first, then biomedical claims, in rounds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from nli.training.flips import Flips
from nli.training.labelled import draw_confusions, find_scifact_rivals, read_labelled
from nli.training.pairs import CONTRADICT, LABELS, NEUTRAL, SUPPORT, Pair
from nli.training.rules import (
    frame_claims,
    hedge,
    make_finding_pairs,
    make_number_pairs,
    make_prompt_pairs,
    make_title_pairs,
    turn_pairs,
)

GENERAL = {"negation_nli": 3000, "conjnli": 2000, "breaking_nli": 2000, "fever_symmetric": 600}
FINDINGS, TITLES, PROMPTS, NUMBERS, FRAMED = 7_000, 2_000, 5_000, 1_500, 1_500
"""Pairs made by rule in the first stage (of FRAMED, the claims that frames are put around)."""
AGAIN = {"findings": 2000, "prompts": 1300, "numbers": 400, "framed": 500}
"""How many more of these each later round has, so that what the rules taught is not forgotten."""
ROUNDS = 2
BOTH = (SUPPORT, CONTRADICT)


def draw_pairs(pairs: Sequence[Pair], count: int, rng: random.Random, labels: Sequence[int] = range(len(LABELS))) -> list[Pair]:
    """At most `count` of the pairs with one of the labels, spread over those labels as evenly as the pairs allow."""
    kinds = [[pair for pair in pairs if pair.label == label] for label in labels]
    room, draws = count, []
    for place, kind in enumerate(sorted(kinds, key=len)):
        take = min(len(kind), room // (len(kinds) - place))
        draws += rng.sample(kind, take)
        room -= take
    return draws


class Curriculum:
    """Draws the stages; every draw comes from one seed, so another seed gives other findings and other neutrals."""

    def __init__(self, data: Path, exclusions: frozenset[str], seed: int) -> None:
        self._data, self._exclusions = data, exclusions
        self._rng, self._flips = random.Random(seed), Flips()
        self._rivals = find_scifact_rivals(data)

    def stages(self, rounds_alone: bool = False) -> list[list[Pair]]:
        """The first stage, then `ROUNDS` rounds over the biomedical sets.

        `rounds_alone`, for weights that have seen a first stage: only the rounds, with that stage's findings spread over them.
        """
        rng, flips = self._rng, self._flips
        findings = make_finding_pairs(self._data, FINDINGS + ROUNDS * AGAIN["findings"], flips, rng)
        prompts = make_prompt_pairs(self._data, PROMPTS + ROUNDS * AGAIN["prompts"], rng)
        numbers = make_number_pairs(self._data, NUMBERS + ROUNDS * AGAIN["numbers"], flips, rng)
        claims = sorted({pair.claim for pair in findings})
        rng.shuffle(claims)
        frames = [
            list(frame_claims(claims[at : at + AGAIN["framed"]], flips, rng))
            for at in range(FRAMED, len(claims), AGAIN["framed"])
        ]
        stages = [[
            *(pair for dataset, count in GENERAL.items() for pair in draw_pairs(self._read(dataset, 0), count, rng)),
            *findings[:FINDINGS], *prompts[:PROMPTS], *numbers[:NUMBERS],
            *frame_claims(claims[:FRAMED], flips, rng), *make_title_pairs(self._data, TITLES, flips, rng),
        ]]  # fmt: skip
        for number in range(ROUNDS):
            stage = self._make_biomedical_round()
            for pairs, kind, first in (
                (findings, "findings", FINDINGS),
                (prompts, "prompts", PROMPTS),
                (numbers, "numbers", NUMBERS),
            ):
                size = AGAIN[kind]
                stage += pairs[first + number * size : first + (number + 1) * size]
            if rounds_alone:
                stage += findings[number:FINDINGS:ROUNDS]
            stages.append(stage + frames[number])
        return [[hedge(pair, flips, rng) if rng.random() < 0.04 else pair for pair in stage] for stage in stages[rounds_alone:]]

    def _read(self, dataset: str, neutrals: int) -> list[Pair]:
        return [] if dataset in self._exclusions else read_labelled(self._data, dataset, neutrals, self._rng)

    def _make_biomedical_round(self) -> list[Pair]:
        """One round: the labelled sets with fresh neutrals, and their claims reversed."""
        rng, flips = self._rng, self._flips
        healthver, covid = self._read("healthver", 2), self._read("check_covid", 2)
        citint, scifact = draw_pairs(self._read("citint", 0), 1800, rng, BOTH), self._read("scifact", 4)
        stance_pairs = [pair for pair in scifact if pair.label != NEUTRAL]
        strangers = draw_confusions(self._rivals, 3, rng)
        turned_claims = {pair.claim: reversal.claim for pair in stance_pairs for reversal in turn_pairs([pair], flips, rng)}
        return [
            *draw_pairs(healthver, 6500, rng), *draw_pairs(turn_pairs(healthver, flips, rng), 800, rng, BOTH),
            *draw_pairs(covid, 1500, rng), *draw_pairs(turn_pairs(covid, flips, rng), 300, rng, BOTH),
            *citint, *stance_pairs, *stance_pairs, *turn_pairs([*stance_pairs, *stance_pairs], flips, rng),
            *draw_pairs(scifact, 2200, rng, [NEUTRAL]),
            # A paper about something else says as little about the reversed claim.
            *(
                Pair(turned_claims.get(pair.claim, pair.claim), pair.text, pair.title, NEUTRAL, pair.source)
                if rng.random() < 0.4 else pair for pair in strangers
            ),
        ]  # fmt: skip

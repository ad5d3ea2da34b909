"""Descriptions of the figures of a variant, in the order in which they are best read."""

from __future__ import annotations

from collections.abc import Iterator

from eval.measures.report_data import Measure
from eval.scifact.figures import CUT, DEPTHS, FORMULAS, OFFICIAL
from eval.scifact.observing import STANCES

_OF = {"support": "claims with supporting evidence", "contradict": "claims with contradicting evidence"}


def measures() -> tuple[Measure, ...]:
    """The description of every figure; the keys are those of `eval.scifact.figures.tallies`."""
    parts = (_rank_measures, _right_stance_measures, _listed_rank_measures, _pair_measures, _listed_measures, _silence_measures)
    return tuple(one for part in (*parts, _official_measures, _retrieval_measures) for one in part())


def _rank_measures() -> Iterator[Measure]:
    for key, cut in (("whole", "whole rankings"), ("at3", f"rankings cut at {CUT}")):
        for stance in STANCES:
            yield Measure(
                f"mrr.{key}.{stance}",
                f"MRR {stance}, {cut}",
                f"The paper's measure: reciprocal rank of the first gold document in all that the {stance} branch would return "
                f"if it were not cut, mean over the {_OF[stance]}; {cut}. Whether a stance was recognised does not matter.",
            )
        yield Measure(
            f"mrr.{key}.weighted", f"MRR weighted, {cut}", "The mean of both, weighted by their claims: the paper's equation 3."
        )


def _right_stance_measures() -> Iterator[Measure]:
    for stance in STANCES:
        yield Measure(
            f"mrr.stance_correct.{stance}",
            f"MRR@{CUT} of the right stance, {stance}",
            f"Reciprocal rank of the first document among the first {CUT} returned as {stance} that is gold for that stance, "
            f"mean over the {_OF[stance]}.",
        )
    yield Measure(
        "mrr.stance_correct.weighted", f"MRR@{CUT} of the right stance, weighted", "The mean over all claims with evidence."
    )


def _listed_rank_measures() -> Iterator[Measure]:
    for part in (*STANCES, "weighted"):
        yield Measure(
            f"mrr.listed.{part}",
            f"MRR@{CUT} of the right stance, the uncertain behind, {part}",
            "The same over what a reader is shown: what is called uncertain stands behind what is returned.",
        )


def _pair_measures() -> Iterator[Measure]:
    for stance in STANCES:
        for name in FORMULAS:
            yield Measure(
                f"pairs.{stance}.{name}",
                f"{name.capitalize()}@{CUT}, {stance}",
                f"Over all claims, those without evidence included: (claim, document) pairs among the first {CUT} returned as "
                f"{stance}, against the gold pairs of that stance; micro-averaged over pairs.",
            )


def _listed_measures() -> Iterator[Measure]:
    for stance in STANCES:
        yield Measure(
            f"listed.{stance}",
            f"Recall of {stance}, the uncertain included",
            f"Share of the gold pairs of that stance among all that is returned or called uncertain as {stance}.",
        )


def _silence_measures() -> Iterator[Measure]:
    yield Measure(
        "silence.without_evidence",
        "Silent without evidence",
        "Share of the claims without evidence for which nothing is returned.",
    )
    yield Measure(
        "silence.with_evidence", "Silent despite evidence", "Share of the claims with evidence for which nothing is returned."
    )


def _official_measures() -> Iterator[Measure]:
    for key, words in OFFICIAL.items():
        for name in FORMULAS:
            yield Measure(
                f"scifact.{key}_{name}",
                f"SciFact {key.replace('_', ' ')}, {name}",
                f"Official, {words}; micro-averaged over all claims (Wadden et al. 2020, arXiv 2004.14974, section 4.2).",
            )


def _retrieval_measures() -> Iterator[Measure]:
    for stance in STANCES:
        for depth in DEPTHS:
            yield Measure(
                f"retrieval.{stance}.{depth}",
                f"Recall of {stance} at {depth}",
                f"Share of the gold (claim, document) pairs of the stance among the first {depth} documents that the {stance} "
                "branch retrieves, before anything is reranked, filtered or judged; none where it retrieves fewer.",
            )

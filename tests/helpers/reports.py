"""A report of an evaluation, made up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from eval.measures.formulas import Point
from eval.measures.losses import FATES, Fate
from eval.measures.report_data import (
    Case,
    Claims,
    Difference,
    Figure,
    Passage,
    Provenance,
    Report,
    SideReport,
    VariantReport,
    Work,
)
from eval.scifact.measures import measures
from eval.variants.expected import PUBLISHED
from retrieval.core.values import Stance

KEYS = [one.key for one in measures()]
HOSTILE = '<script>alert("1")</script> & <img src=x> *a* _b_ [c](d) `e` | http://f.example | www.g.example ![h](i) <!-- j'
LISTS = "1. - # not a list"
POINTS = (Point(0.9, 1.0, 0.25, 1), Point(0.8, 0.5, 0.5, 4), Point(0.1, 0.375, 0.75, 8))


def figures(start: float) -> dict[str, Figure]:
    """Every figure another, so that one that stands in a wrong place is seen."""
    return {key: Figure(start + i / 1000, start + i / 1000 - 0.05, start + i / 1000 + 0.05) for i, key in enumerate(KEYS)}


def side(points: tuple[Point, ...] = POINTS, cases: tuple[Case, ...] = (), **fates: int) -> SideReport:
    every: dict[Fate, int] = dict.fromkeys(FATES, 0)
    return SideReport(Work(10, 20, 15, 5.5), {**every, **fates}, cases, points)  # type: ignore[dict-item]


def case(fate: Fate, claim: str, depth: int | None = 7) -> Case:
    return Case(fate, claim, HOSTILE, f"doc{claim}", LISTS, depth, (Passage(3, f"Gold sentence {claim}. {HOSTILE}"),))


def variant(name: str, start: float, against: Mapping[str, Difference] | None = None, **sides: SideReport) -> VariantReport:
    both: dict[Stance, SideReport] = {
        "support": sides.get("support", side(found=5, crowded_out=1)),
        "contradict": sides.get("contradict", side(found=3, filtered=1, cases=(case("filtered", "1"),))),
    }
    config = {"name": name, "contradict": {"filter": "negex"}}
    return VariantReport(name, f"What {name} is.", config, {"stance": "stance-1"}, "c0de", figures(start), against or {}, both)


def made(*variants: VariantReport, baseline: str | None = "v5", **changed: Any) -> Report:
    against = {key: Difference(0.125, 0.1, 0.2, 0.03125 if "contradict" in key else 0.5) for key in KEYS}
    shown = variants or (variant("v5", 0.1), variant("ours", 0.3, against, contradict=side(found=2, judged_neutral=2)))
    claims = Claims(300, 124, 64, 112, 6, 4, 0)
    provenance = Provenance(
        "0.1.0", "5a", "counterpoint eval scifact --json out.json", "claims.jsonl", "abc", "corpus.jsonl", "def", "def-1",
        {"name": "embedded", "skim": 64}, 7, 1000,
    )  # fmt: skip
    report = Report(claims, measures(), dict(FATES), baseline, figures(0.6), shown, PUBLISHED, provenance)
    return replace(report, **changed)

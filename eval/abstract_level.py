"""SciFact's own measure: which (claim, document, stance) triples are found, over all claims, those without evidence included.

Abstract-level, label only (Wadden et al. 2020, arXiv 2004.14974, section 4.2): a triple is right if the document is evidence for
the claim and the stance is its own. A stance-blind ranking cannot score well here.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from eval.scifact import LabelledClaim
from indexes.build import build
from retrieval.values import Stance
from service.assemble import assemble

Triples = Collection[tuple[str, Stance]]
"""Of one claim: (PMID, stance)."""
_SEED, _RESAMPLES = 20251121, 2000


@dataclass(frozen=True)
class Score:
    """Precision, recall and F1 in per cent, F1 with its 95 % interval by a bootstrap over claims."""

    precision: float
    recall: float
    f1: float
    low: float
    high: float


@dataclass(frozen=True)
class AbstractReport:
    """The scores over both stances and of each, and all that is needed to make them again."""

    claims: int
    scores: Mapping[str, Score]
    provenance: Mapping[str, Any]


def label_only(gold: Sequence[Triples], predicted: Sequence[Triples], stance: Stance | None = None) -> Score:
    """The score over claims, in their order; of one stance where one is named."""

    def counted(found: Triples) -> set[tuple[str, Stance]]:
        return {triple for triple in found if stance in (None, triple[1])}

    counts = np.array(
        [(len(counted(g) & counted(p)), len(counted(p)), len(counted(g))) for g, p in zip(gold, predicted, strict=True)]
    ).reshape(-1, 3)
    right, said, true = counts.sum(axis=0)
    draws = np.random.default_rng(_SEED).integers(0, len(counts), (_RESAMPLES, len(counts)))
    sums = counts[draws].sum(axis=1)
    values = 200.0 * sums[:, 0] / np.maximum(sums[:, 1] + sums[:, 2], 1)
    low, high = np.percentile(values, [2.5, 97.5])
    return Score(
        100.0 * float(right) / max(float(said), 1.0), 100.0 * float(right) / max(float(true), 1.0),
        200.0 * float(right) / max(float(said + true), 1.0), float(low), float(high),
    )  # fmt: skip


def evaluate(claims: Sequence[LabelledClaim], corpus: Path, config: str, profile: str) -> AbstractReport:
    """Index the corpus, ground every claim with the variant as a user would, and score what it says."""
    with tempfile.TemporaryDirectory(prefix="counterpoint-scifact-") as folder:
        index = Path(folder) / "index"
        build([corpus], index, format="scifact")
        grounder = assemble(index, config, profile)
        predicted: list[Triples] = []
        for one in tqdm(claims, desc=config, unit=" claims", disable=None):
            found = grounder.ground(one.claim)
            predicted.append({(e.document.pmid, e.stance) for e in (*found.contradicting, *found.supporting)})
        provenance = {
            "corpus_sha256": grounder.index.manifest.corpus_sha256,
            "config": grounder.config.model_dump(),
            "profile": profile,
            "models": grounder.models.names(),
            "bootstrap": {"resamples": _RESAMPLES, "seed": _SEED},
        }
        grounder.index.close()
    gold: list[Triples] = [{(pmid, one.stance) for pmid in one.gold} if one.stance else set() for one in claims]
    stances: tuple[Stance | None, ...] = (None, "support", "contradict")
    return AbstractReport(len(claims), {s or "all": label_only(gold, predicted, s) for s in stances}, provenance)


def report_json(report: AbstractReport) -> str:
    """The report as JSON."""
    return json.dumps(asdict(report), indent=2)


def report_lines(report: AbstractReport) -> list[str]:
    """The report as a table for people."""
    return [
        f"SciFact dev, {report.claims} claims, abstract level, label only, open retrieval.",
        "",
        f"{'stance':<12}{'precision':>10}{'recall':>8}{'F1':>8}   95 %",
        *(
            f"{name:<12}{score.precision:>10.1f}{score.recall:>8.1f}{score.f1:>8.1f}   {score.low:.1f} to {score.high:.1f}"
            for name, score in report.scores.items()
        ),
        "",
        "models: " + (", ".join(f"{role} {name}" for role, name in report.provenance["models"].items()) or "none"),
    ]

"""V5's contradiction branch at depth 1000: plain against ours, claim by claim in one process, stage by stage.

For each claim, ours (the shipped engine, every sentence judged until three documents are found) and the plain pipeline (torch)
are timed in turn, in alternating order; no verdict is kept on disk. Then ours is timed as it ships, and checked: with the torch
model behind our interface, both branches must return what the plain pipeline returns. Of all pairs that the plain pipeline
judged, the share to which the shipped engine gives another label is counted.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

from tqdm import tqdm

from bench.contenders.ours import every_sentence, run_side, v5, with_models
from bench.contenders.plain import RETURNED, Plain, PlainResult
from bench.contenders.shipped_in_torch import TorchJudge, TorchReranker
from bench.harness.setting import BenchOptions, BenchRow, cache_at, claims_of, ratio_row
from retrieval.core.result_cache import OFF
from retrieval.core.values import Claim
from service.grounding.ground import Grounder
from service.grounding.values import GroundStage
from service.grounding.variants import Side

OPTIONS = ("claims", "seed")
FLIPS = 0.005
"""The largest share of verdicts that the shipped engine may change."""


def run(options: BenchOptions) -> dict[str, Any]:
    """One record per claim."""
    with cache_at(OFF):
        ships = v5(options.index)
        ours = every_sentence(ships)
        plain = Plain(ours.index, TorchJudge(), TorchReranker())
        twin = with_models(ours, plain.judge, plain.reranker)
        # The last claim is only a warm-up.
        *claims, first = claims_of(ours.index, options.claims + 1, options.seed)
        time_branch(ours, first)
        plain.contradict(first, k=20)
        records = [
            record(claim, number % 2 == 0, ours, ships, plain, twin)
            for number, claim in enumerate(tqdm(claims, desc="contradiction branch", unit=" claims", disable=None))
        ]
        ours.index.close()
    return {"claims": records}


def record(claim: Claim, ours_first: bool, ours: Grounder, ships: Grounder, plain: Plain, twin: Grounder) -> dict[str, Any]:
    """All measurements of one claim."""
    if ours_first:
        seconds, side = time_branch(ours, claim)
    result = plain.contradict(claim)
    if not ours_first:
        seconds, side = time_branch(ours, claim)
    ships_seconds, ships_side = time_branch(ships, claim)
    twin_seconds, twin_side = time_branch(twin, claim)
    verdicts = list(ours.models.judges["stance"](claim.text, result.premises))
    says = [(plain.negspacy_says(one), one) for one in result.documents]
    stored_cues = [entry.cue_sentences() for entry in ours.index.entries([one.pmid for one in result.documents])]
    agreement = sum(
        flag == (place in {sentence.index for sentence in sentences})
        for (whole, _), sentences in zip(says, stored_cues, strict=True)
        for place, flag in enumerate(whole)
    )
    return {
        "claim": claim.id,
        "plain": result.seconds,
        "ours": seconds,
        "ours_as_it_ships": ships_seconds,
        "ours_with_torch": twin_seconds,
        "documents": len(result.documents),
        "pairs": len(result.premises),
        "judged": side.counts.judged,
        "identical_contradict": list_shown(twin_side) == list_found(result),
        "identical_support": same_support(claim, plain, twin, result),
        "same_with_shipped": list_shown(side) == list_found(result),
        "same_as_it_ships": list_shown(ships_side) == list_found(result),
        "contradictions": len(result.found),
        "flips": sum(a.label != b.label for a, b in zip(result.verdicts, verdicts, strict=True)),
        "sentences": sum(len(whole) for whole, _ in says),
        "negspacy_agrees": agreement,
    }


def time_branch(grounder: Grounder, claim: Claim) -> tuple[dict[str, float], Side]:
    """Our branch's seconds by stage and its result; time between two stages counts towards the first."""
    marks: list[tuple[str, float]] = []

    def tell(stage: GroundStage) -> None:
        marks.append((stage.name, time.perf_counter()))

    began = time.perf_counter()
    side = run_side(grounder, claim, "contradict", tell=tell)
    end = time.perf_counter()
    at = dict(marks)
    return {"retrieve": at["judge"] - began, "judge": end - at["judge"]}, side


def list_shown(side: Side) -> list[tuple[str, int | None]]:
    """What our branch returned: documents and the sentence of each."""
    return [(one.document.pmid, one.sentence.index if one.sentence else None) for one in side.evidence]


def list_found(result: PlainResult) -> list[tuple[str, int | None]]:
    """What the plain branch returned."""
    return [(pmid, sentence.index if sentence else None) for pmid, sentence in result.found]


def same_support(claim: Claim, plain: Plain, twin: Grounder, against: PlainResult) -> bool:
    """Whether the support branches return the same documents (the paper's returns no sentences)."""
    pmids = frozenset(pmid for pmid, _ in against.found)
    ours = run_side(twin, claim, "support", pmids)
    return [one.document.pmid for one in ours.evidence] == [pmid for pmid, _ in plain.support(claim, without=pmids).found]


def rows(result: dict[str, Any]) -> list[BenchRow]:
    """The whole branch, its stages, and what was checked."""
    records = result["claims"]
    n, pairs = len(records), sum(one["pairs"] for one in records)
    flips = sum(one["flips"] for one in records)
    same = sum(one["identical_contradict"] for one in records)
    support = sum(one["identical_support"] for one in records)
    matches = sum(one["same_with_shipped"] for one in records)
    skim_matches = sum(one["same_as_it_ships"] for one in records)
    full = sum(one["contradictions"] == RETURNED for one in records)
    agreement = sum(one["negspacy_agrees"] for one in records) / max(1, sum(one["sentences"] for one in records))
    pair_count = statistics.median(one["judged"] for one in records)

    def times(who: str, *stages: str) -> list[float]:
        return [sum(one[who][stage] for stage in stages or one[who]) for one in records]

    annotate = statistics.median(times("plain", "annotate"))
    return [
        ratio_row(f"V5, contradiction branch, k=1000, {n} claims", times("plain"), times("ours"), "s", bar=20),
        ratio_row("– retrieve: BM25 and the texts", times("plain", "retrieve"), times("ours", "retrieve"), "s"),
        BenchRow("– annotate: sentences and cues", f"{annotate:.3g} s", "stored", ""),
        ratio_row("– judge", times("plain", "judge"), times("ours", "judge"), "s"),
        ratio_row("– the same float model in torch behind both", times("plain"), times("ours_with_torch"), "s"),
        ratio_row("– ours as it ships: skim bounds what is judged", times("plain"), times("ours_as_it_ships"), "s"),
        BenchRow("– the same contradictions as plain, as it ships", "", "", f"{skim_matches} of {n} claims"),
        BenchRow("– claims with three contradictions, where ours can stop early", "", "", f"{full} of {n} claims"),
        BenchRow(
            "– pairs judged, median of a claim",
            f"{statistics.median(one['pairs'] for one in records):,.0f}", f"{pair_count:,.0f}", "",
        ),
        BenchRow("– identical output with the same model: contradictions", "", "", f"{same} of {n} claims", "all", same == n),
        BenchRow("– identical output with the same model: supports", "", "", f"{support} of {n} claims", "all", support == n),
        BenchRow("– the same contradictions with the shipped engine", "", "", f"{matches} of {n} claims"),
        BenchRow(
            "– verdicts that the shipped engine flips", "", "",
            f"{flips:,} of {pairs:,} ({100 * flips / max(1, pairs):.2f} %)", f"≤ {100 * FLIPS:g} %", flips <= FLIPS * pairs,
        ),
        BenchRow("– sentences where negspacy's own cue agrees with the stored one", "", "", f"{100 * agreement:.1f} %"),
    ]  # fmt: skip


def failed(result: dict[str, Any]) -> str | None:
    """What must not happen: a different output with the same model."""
    wrong = [one["claim"] for one in result["claims"] if not (one["identical_contradict"] and one["identical_support"])]
    return f"with the same model ours and plain differ on the claims of {', '.join(wrong)}" if wrong else None

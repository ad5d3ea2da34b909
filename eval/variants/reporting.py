"""From every variant's results for every claim to the report."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from eval.measures.formulas import Tally, precision_recall
from eval.measures.losses import FATES, Fate
from eval.measures.report_data import Case, Claims, Passage, Provenance, Report, SideReport, VariantReport, Work
from eval.measures.resampling import RESAMPLES, SEED, Resampler
from eval.scifact.figures import ranking_tallies, tallies
from eval.scifact.files import Files, LabelledClaim
from eval.scifact.measures import measures
from eval.scifact.observing import STANCES, ClaimResult
from eval.variants.expected import PUBLISHED
from retrieval.core.code_hash import hash_code
from retrieval.core.values import BranchCounts, Stance
from retrieval.index import Index
from service.configuration.config import GroundingConfig, Profile

BASELINE = "v5"
BLIND_DEPTH = 1000
CASES = 12


@dataclass(frozen=True)
class VariantRun:
    """A variant after its pass over the claims, with a result for each, in their order."""

    config: GroundingConfig
    models: Mapping[str, str]
    code: str
    results: tuple[ClaimResult, ...]


def make_report(
    claims: Sequence[LabelledClaim],
    variants: Sequence[VariantRun],
    index: Index,
    files: Files,
    profile: Profile,
    command: str,
) -> Report:
    """All figures, each with its interval and, where V5 is among the variants, against V5's."""
    resampler = Resampler(len(claims))
    by_variant = {one.config.name: _tallies(claims, one) for one in variants}
    baseline = BASELINE if BASELINE in by_variant else None
    baseline_tallies = by_variant[baseline] if baseline else {}
    return Report(
        claims=_count_claims(claims, index),
        measures=measures(),
        fates=dict(FATES),
        baseline=baseline,
        blind={key: resampler.figure(tally) for key, tally in blind_tallies(claims, index).items()},
        variants=tuple(
            VariantReport(
                name=name,
                description=one.config.description,
                config=one.config.model_dump(mode="json"),
                models=one.models,
                code=one.code,
                figures={key: resampler.figure(tally) for key, tally in by_variant[name].items()},
                against_baseline={
                    key: resampler.difference(by_variant[name][key], tally)
                    for key, tally in baseline_tallies.items()
                    if name != baseline
                },
                sides={stance: _side(stance, claims, one.results, index) for stance in STANCES},
            )
            for one in variants
            for name in [one.config.name]
        ),
        published=PUBLISHED,
        provenance=Provenance(
            counterpoint=version("counterpoint"),
            code=hash_code(["eval.variants.evaluation"]),
            command=command,
            claims_file=files.claims.name,
            claims_sha256=hashlib.sha256(files.claims.read_bytes()).hexdigest(),
            corpus_file=files.corpus.name,
            corpus_sha256=index.manifest.corpus_sha256,
            index=index.manifest.id,
            profile=profile.model_dump(mode="json"),
            bootstrap_seed=SEED,
            bootstrap_resamples=RESAMPLES,
        ),
    )


def _count_claims(claims: Sequence[LabelledClaim], index: Index) -> Claims:
    gold = {pmid for one in claims for pmid in one.gold}
    pairs: dict[Stance, list[int]] = {stance: [len(one.gold_of(stance)) for one in claims] for stance in STANCES}
    return Claims(
        all=len(claims),
        with_support=sum(map(bool, pairs["support"])),
        with_contradict=sum(map(bool, pairs["contradict"])),
        without_evidence=sum(not one.gold for one in claims),
        support_pairs=sum(pairs["support"]),
        contradict_pairs=sum(pairs["contradict"]),
        gold_not_in_corpus=len(gold - index.store.holds(sorted(gold))),
    )


def blind_tallies(claims: Sequence[LabelledClaim], index: Index) -> dict[str, Tally]:
    """Plain BM25, deep and blind to stance: the baseline with which every table of rankings must be compared."""
    rankings: list[dict[Stance, list[str]]] = []
    for one in claims:
        ranking = [hit.pmid for hit in index.search(one.claim.text, BLIND_DEPTH)] if one.gold else []
        rankings.append(dict.fromkeys(STANCES, ranking))
    return ranking_tallies(claims, rankings)


def _tallies(claims: Sequence[LabelledClaim], variant: VariantRun) -> dict[str, Tally]:
    config = variant.config
    depths = {side: config.path.find.k if config.path else config.branch(side).retrieve.k for side in STANCES}
    return tallies(claims, variant.results, depths)


def _side(stance: Stance, claims: Sequence[LabelledClaim], results: Sequence[ClaimResult], index: Index) -> SideReport:
    scores: list[tuple[float, bool]] = []
    fates: dict[Fate, int] = dict.fromkeys(FATES, 0)
    cases: dict[Fate, list[Case]] = {word: [] for word in FATES if word != "found"}
    for claim, result in zip(claims, results, strict=True):
        side, gold = result.side(stance), claim.gold_of(stance)
        scores += [(one.score, one.pmid in gold) for one in side.returned]
        for one in side.gold:
            fates[one.fate] += 1
            if one.fate != "found" and len(cases[one.fate]) < CASES:
                cases[one.fate].append(_case(claim, one.pmid, one.depth, one.fate, index))
    return SideReport(
        work=_work([result.side(stance).counts for result in results]),
        fates=fates,
        cases=tuple(case for of_fate in cases.values() for case in of_fate),
        precision_recall=precision_recall(scores, sum(len(claim.gold_of(stance)) for claim in claims)),
    )


def _work(counts: Sequence[BranchCounts]) -> Work:
    sums: dict[str, Any] = {key: sum(asdict(one)[key] for one in counts) / len(counts) for key in asdict(counts[0])}
    return Work(**sums)


def _case(claim: LabelledClaim, pmid: str, depth: int | None, fate: Fate, index: Index) -> Case:
    entry = index.store.get(pmid)
    texts = {sentence.index: sentence.text for sentence in entry.sentences()} if entry else {}
    places = sorted({place for rationale in claim.gold[pmid].rationales for place in rationale})
    return Case(
        fate=fate,
        claim=claim.claim.id,
        claim_text=claim.claim.text,
        pmid=pmid,
        title=entry.document.title if entry else "",
        depth=depth,
        rationale=tuple(Passage(place, texts.get(place, "")) for place in places),
    )

"""Every variant's results for every claim as a report: figures, published figures beside them.

All figures are fractions of 1; None stands where there is nothing to measure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files as resources
from typing import Any

import yaml

from counterpoint.eval.measures.figures import Difference, Figure, Resampler, Tally
from counterpoint.eval.measures.report import NOTHING, Report, Table, show
from counterpoint.eval.scifact.files import Files, LabelledClaim
from counterpoint.eval.scifact.measures import CUT, FORMULAS, measure, measure_rankings
from counterpoint.eval.scifact.observing import STANCES, ClaimResult
from counterpoint.retrieval.core.code_hash import hash_code
from counterpoint.retrieval.core.values import Stance
from counterpoint.retrieval.index import Index
from counterpoint.service.configuration.config import Profile, Variant

BASELINE = "v5"
BLIND_DEPTH = 1000
P_VALUE = 0.05
PUBLISHED: Mapping[str, Any] = yaml.safe_load(
    resources("counterpoint.eval.scifact").joinpath("published.yaml").read_text("utf-8")
)
_WHICH = (*STANCES, "weighted")
_TABLES: Mapping[str, Mapping[str, str]] = {
    f"Documents returned, the first {CUT} of each side": {
        f"{stance}, {name}": f"pairs.{stance}.{name}" for stance in reversed(STANCES) for name in FORMULAS
    },
    "SciFact's official F1": {
        "label": "scifact.abstract_label_only_f1",
        "label, rationale": "scifact.abstract_rationalized_f1",
        "sentence": "scifact.sentence_selection_f1",
        "sentence, label": "scifact.sentence_label_f1",
    },
    f"MRR at {CUT} of the right stance, and claims for which nothing is returned": {
        **{which: f"mrr.stance_correct.{which}" for which in _WHICH},
        "rightly silent": "silence.without_evidence",
        "wrongly silent": "silence.with_evidence",
    },
    "The same with what is called uncertain behind what is returned, and the share of gold shown": {
        **{which: f"mrr.listed.{which}" for which in _WHICH},
        **{f"{stance}, shown": f"listed.{stance}" for stance in STANCES},
    },
}
"""The tables in which variants are compared with the baseline: the title of each column and the key of its measure."""


@dataclass(frozen=True)
class VariantRun:
    """A variant after its pass over the claims, with a result for each, in their order."""

    config: Variant
    models: Mapping[str, str]
    code: str
    results: tuple[ClaimResult, ...]


@dataclass(frozen=True, slots=True)
class VariantReport:
    """One variant: its configuration and models, a hash of the source code that its grounding runs, its figures by measure, and
    the difference of each from the baseline's (empty for the baseline itself and where it was not evaluated)."""

    name: str
    description: str
    config: Mapping[str, Any]
    models: Mapping[str, str]
    code: str
    figures: Mapping[str, Figure]
    against_baseline: Mapping[str, Difference]


def make_report(
    claims: Sequence[LabelledClaim], variants: Sequence[VariantRun], index: Index, files: Files, profile: Profile
) -> Report:
    """All figures, each with its interval and, where V5 is among the variants, against V5's; plain BM25 and the paper beside
    them. The data have all that was measured, and the provenance what is needed to reproduce it."""
    resampler = Resampler(len(claims))
    counted = {variant.config.name: dict(measure(claims, variant.results)) for variant in variants}
    tallies = {name: {one.key: tally for one, tally in of_variant.items()} for name, of_variant in counted.items()}
    baseline = BASELINE if BASELINE in tallies else None
    counts, measures = _count_claims(claims, index), tuple(next(iter(counted.values())))
    blind = {key: resampler.figure(tally) for key, tally in blind_tallies(claims, index).items()}
    measured = tuple(
        VariantReport(
            name=name,
            description=variant.config.description,
            config=variant.config.model_dump(mode="json"),
            models=variant.models,
            code=variant.code,
            figures={key: resampler.figure(tally) for key, tally in tallies[name].items()},
            against_baseline={
                key: resampler.difference(tallies[name][key], tally)
                for key, tally in (tallies[baseline].items() if baseline else ())
                if name != baseline
            },
        )
        for variant in variants
        for name in [variant.config.name]
    )
    provenance = {
        "code": hash_code(["counterpoint.eval.scifact.evaluation"]),
        "claims_file": files.claims.name,
        "claims_sha256": hashlib.sha256(files.claims.read_bytes()).hexdigest(),
        "corpus_file": files.corpus.name,
        "corpus_sha256": index.manifest.corpus_sha256,
        "index": index.manifest.id,
        "analyzer": index.manifest.analyzer,
        "profile": profile.model_dump(mode="json"),
    }
    data = {
        "claims": counts,
        "measures": measures,
        "baseline": baseline,
        "blind": blind,
        "variants": measured,
        "published": PUBLISHED,
    }
    return Report("Counterpoint on SciFact", _show(counts, measured, blind, baseline), data, measures, provenance)


def _count_claims(claims: Sequence[LabelledClaim], index: Index) -> dict[str, int]:
    """How many claims, how many with evidence of each stance and with none, how many (claim, document) pairs of each stance, and
    how many of these documents are not in the corpus."""
    gold = {pmid for claim in claims for pmid in claim.gold}
    pairs: dict[Stance, list[int]] = {stance: [len(claim.gold_of(stance)) for claim in claims] for stance in STANCES}
    return {
        "all": len(claims),
        **{f"with_{stance}": sum(map(bool, own)) for stance, own in pairs.items()},
        "without_evidence": sum(not claim.gold for claim in claims),
        **{f"{stance}_pairs": sum(own) for stance, own in pairs.items()},
        "gold_not_in_corpus": len(gold - index.store.holds(sorted(gold))),
    }


def blind_tallies(claims: Sequence[LabelledClaim], index: Index) -> dict[str, Tally]:
    """Plain BM25, deep and blind to stance: the baseline with which every table of rankings must be compared."""
    rankings: list[dict[Stance, list[str]]] = []
    for one in claims:
        ranking = [hit.pmid for hit in index.search(one.claim.text, BLIND_DEPTH)] if one.gold else []
        rankings.append(dict.fromkeys(STANCES, ranking))
    return {one.key: tally for one, tally in measure_rankings(claims, rankings)}


def _show(
    claims: Mapping[str, int], variants: Sequence[VariantReport], blind: Mapping[str, Figure], baseline: str | None
) -> list[Table | str]:
    """The report for people: tables of the main figures, and the paper's beside them."""
    about = (
        f"{claims['all']} claims: {claims['with_support']} with supporting and {claims['with_contradict']} with contradicting "
        f"evidence, {claims['without_evidence']} with none. In brackets: 95 % intervals by a bootstrap over claims"
    )
    blocks: list[Table | str] = [about + (f"; * differs from {baseline}'s at p < {P_VALUE} (uncorrected)." if baseline else ".")]
    if claims["gold_not_in_corpus"]:
        blocks.append(f"{claims['gold_not_in_corpus']} of the documents to find are not in the corpus.")
    for title, columns in _TABLES.items():
        rows = [[variant.name, *(_compare(variant, key) for key in columns.values())] for variant in variants]
        blocks.append(Table(title, ["variant", *columns], rows))
    return [
        *blocks,
        _papers_measure(variants, blind),
        "The paper's measure, the rank of the first gold document, ignores stance: compare plain BM25; choose no variant by it.",
    ]


def _papers_measure(variants: Sequence[VariantReport], blind: Mapping[str, Figure]) -> Table:
    """The paper's measure for plain BM25 and every variant, with the published rows beneath."""
    keys = [f"mrr.{cut}.{which}" for cut in ("whole", "at3") for which in _WHICH]
    rows = [["plain BM25, no stance judged", *(show(blind.get(key)) for key in keys)]]
    rows += [[variant.name, *(_compare(variant, key) for key in keys)] for variant in variants]
    for name, row in {**PUBLISHED["table_1"], **PUBLISHED["appendix_a"]}.items():
        values = [f"{row[which]:.3f}" if which in row else NOTHING for which in _WHICH]
        rows.append([name, *values, *[NOTHING] * len(_WHICH)])
    columns = [f"{which}, {cut}" for cut in ("whole", f"at {CUT}") for which in _WHICH]
    return Table("The paper's measure, MRR of the first gold document", ["variant", *columns], rows)


def _compare(variant: VariantReport, key: str) -> str:
    difference = variant.against_baseline.get(key)
    return show(variant.figures[key], sure=difference is not None and difference.p is not None and difference.p < P_VALUE)

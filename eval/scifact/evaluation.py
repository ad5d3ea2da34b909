"""The evaluation: one index, and one pass of every variant over all claims, with results kept claim by claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from counterpoint.eval.measures.report import Report
from counterpoint.eval.measures.resuming import finish_each
from counterpoint.eval.retrieval.kept_index import open_index
from counterpoint.eval.scifact.files import Files, LabelledClaim, Predicted, read_claims
from counterpoint.eval.scifact.observing import ClaimResult, grounding_code, journal_of, recall
from counterpoint.eval.scifact.report import VariantRun, make_report
from counterpoint.retrieval.bm25.analysis import ANSERINI
from counterpoint.retrieval.core.errors import GO_ON, BadInput, translate_write_errors
from counterpoint.service.assembly import load_config, make_grounder
from counterpoint.service.configuration.config import Profile, Variant, load_profile
from counterpoint.service.configuration.files import list_shipped
from counterpoint.service.configuration.kinds import Options
from counterpoint.service.configuration.models import Models, load_models
from counterpoint.service.grounding.ground import Grounder

_REMEMBERED_MB = 600
"""Enough for the vectors of all of SciFact's abstracts."""


@dataclass(frozen=True)
class Evaluation:
    """The report, and each variant's predictions for each claim."""

    report: Report
    ids: tuple[str, ...]
    predicted: Mapping[str, tuple[Predicted, ...]]


def configurations(names: Sequence[str]) -> list[Variant]:
    """The variants with these names (or paths), without duplicates; `all` stands for every shipped one.

    Raises `BadInput` where two variants have the same name.
    """
    unique_names = dict.fromkeys(
        name for entry in names for name in (list_shipped("counterpoint.configs") if entry == "all" else [entry])
    )
    configs: dict[str, Variant] = {}
    for name in unique_names:
        config = load_config(name)
        if config.name in configs and configs[config.name] != config:
            raise BadInput(f"Two configurations have the name {config.name!r}; give {name} another name in its file.")
        configs[config.name] = config
    return list(configs.values())


def evaluate(files: Files, configs: Sequence[Variant], profile: str, folder: Path, analyzer: str = ANSERINI) -> Evaluation:
    """Index the corpus once, ground every claim with every variant, and measure.

    `folder` keeps the index and the result of each claim: the same evaluation resumes there after a stop, and another one over
    the same corpus reuses what it shares with this one. The usual `analyzer` is that of the paper's systems and of the published
    figures.
    """
    claims = read_claims(files.claims)
    stock = Models(_enlarge_caches(load_profile(profile)), {}, {})
    with translate_write_errors("the evaluation's results", folder, GO_ON):
        folder.mkdir(parents=True, exist_ok=True)
        # Load the models before the vectors are made: the reranker then keeps what the shipped encoder computes for them.
        models = [_load_shared(config, stock) for config in configs]
        encoders = [one for _, one in sorted(stock.encoders.items())]
        index = open_index(files.corpus, folder, encoders, format="scifact", analyzer=analyzer)
        try:
            grounders = [make_grounder(index, config, own) for config, own in zip(configs, models, strict=True)]
            variants = _run_variants(claims, grounders, stock, folder)
            report = make_report(claims, variants, index, files, stock.profile)
        finally:
            index.close()
    predictions = {variant.config.name: tuple(result.predicted() for result in variant.results) for variant in variants}
    return Evaluation(report, tuple(claim.claim.id for claim in claims), predictions)


def _enlarge_caches(profile: Profile) -> Profile:
    """The profile with a shipped reranker that caches more vectors, because claims share many documents."""

    def enlarge(options: Options) -> Options:
        if options.kind != "embedded":
            return options
        return type(options).model_validate({"remembered_mb": _REMEMBERED_MB, **options.model_dump()})

    return profile.model_copy(update={"rerankers": {name: enlarge(options) for name, options in profile.rerankers.items()}})


def _load_shared(config: Variant, stock: Models) -> Models:
    """The models that a variant needs, each loaded once for all variants: from then on they are in the `stock`."""
    models = load_models(config, stock.profile, stock)
    stock.rerankers.update(models.rerankers)
    stock.judges.update(models.judges)
    stock.encoders.update(models.encoders)
    return models


def _run_variants(
    claims: Sequence[LabelledClaim], grounders: Sequence[Grounder], models: Models, folder: Path
) -> list[VariantRun]:
    """One pass over all claims, each grounded by every variant before the next, so that no model is asked the same thing twice.

    `models` are all that any of the variants needs. Results of an earlier, stopped run are reused.
    """
    journals = [journal_of(grounder, folder) for grounder in grounders]

    def ground(claim: LabelledClaim) -> list[ClaimResult]:
        cached = models.with_caches()
        return [
            recall(journal, claim, make_grounder(grounder.index, grounder.config, cached))
            for grounder, journal in zip(grounders, journals, strict=True)
        ]

    results = finish_each(claims, ground, "grounding", "claims", folder)
    return [
        VariantRun(grounder.config, grounder.models.names(), grounding_code(), own)
        for grounder, own in zip(grounders, zip(*results, strict=True), strict=True)
    ]

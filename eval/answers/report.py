"""Make the report on runs, which `counterpoint eval answers --json` writes and its tables are made from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter
from tqdm import tqdm

from eval.answers.figures import content_measures, count_citations, draft_tallies, form_measures, tallies
from eval.answers.observing import Observed, Observer
from eval.answers.runs import Run
from eval.measures.report_data import Figure, Measure
from eval.measures.resampling import RESAMPLES, SEED, Resampler
from retrieval.core.values import Topic
from retrieval.store.manifest import Manifest

PUBLISHED: Mapping[str, Mapping[str, Mapping[str, float]]] = yaml.safe_load(
    files("eval.answers").joinpath("published.yaml").read_text("utf-8")
)


@dataclass(frozen=True, slots=True)
class NamedJudge:
    """A judge of citations: its key in an observation, its model and weights, and the prefixes of its keys and titles."""

    key: str
    model: str
    prefix: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class AnswersRunReport:
    """A run: its topics, those that it declined (no responses) or lacks, its citations, and its figures by key.

    `unjudged` counts citations of documents whose abstract the index does not hold; they neither support nor contradict.
    """

    name: str
    topics: int
    answered: int
    declined: tuple[str, ...]
    missing: tuple[str, ...]
    citations: int
    unjudged: int
    figures: Mapping[str, Figure]
    answers: tuple[Observed, ...]


@dataclass(frozen=True, slots=True)
class AnswersReport:
    """Every run's figures with 95 % bootstrap intervals over topics, published figures beside them, and their provenance."""

    runs: tuple[AnswersRunReport, ...]
    form: tuple[Measure, ...]
    content: tuple[Measure, ...]
    judges: tuple[NamedJudge, ...]
    published: Mapping[str, Mapping[str, Mapping[str, float]]]
    provenance: Mapping[str, Any]


_REPORT: TypeAdapter[AnswersReport] = TypeAdapter(AnswersReport)


def make_report(
    runs: Sequence[Run], topics: Sequence[Topic], observer: Observer, judges: Sequence[NamedJudge], provenance: Mapping[str, Any]
) -> AnswersReport:
    """Observe every answer and compute all figures; every run uses the same bootstrap samples of topics."""
    resampler = Resampler(len(topics))
    with_drafts = any(one.drafts for one in runs)
    descriptions = [(judge.model, judge.prefix, judge.title) for judge in judges]
    return AnswersReport(
        runs=tuple(_run(one, topics, observer, judges, resampler, with_drafts) for one in runs),
        form=form_measures(with_drafts),
        content=content_measures(descriptions),
        judges=tuple(judges),
        published=PUBLISHED,
        provenance={**provenance, "bootstrap_seed": SEED, "bootstrap_resamples": RESAMPLES},
    )


def provenance(topics: Path, manifest: Manifest, profile: Mapping[str, Any], encoder: str, command: str) -> dict[str, Any]:
    """The provenance of the figures, except for the judges, which the report names."""
    return {
        "counterpoint": version("counterpoint"),
        "command": command,
        "topics_file": topics.name,
        "topics_sha256": hashlib.sha256(topics.read_bytes()).hexdigest(),
        "index": manifest.id,
        "documents": manifest.counts.documents,
        "profile": profile,
        "encoder": encoder,
    }


def report_json(report: AnswersReport) -> str:
    """The report as JSON."""
    return _REPORT.dump_json(report, indent=2).decode() + "\n"


def _run(
    run: Run, topics: Sequence[Topic], observer: Observer, judges: Sequence[NamedJudge], resampler: Resampler, with_drafts: bool
) -> AnswersRunReport:
    observations: list[Observed | None] = []
    for topic in tqdm(topics, desc=f"judging {run.name}", unit=" topics", disable=None):
        responses = run.responses.get(topic.id, ())
        observations.append(observer.observe(topic, responses) if responses else None)
    citations, unjudged_count = count_citations(observations)
    by_key = tallies(observations, [(judge.key, judge.prefix) for judge in judges])
    if with_drafts:
        by_key |= draft_tallies([run.drafts.get(topic.id) for topic in topics])
    answers = tuple(one for one in observations if one)
    return AnswersRunReport(
        name=run.name,
        topics=len(topics),
        answered=len(answers),
        declined=tuple(topic.id for topic in topics if run.responses.get(topic.id) == ()),
        missing=tuple(topic.id for topic in topics if topic.id not in run.responses),
        citations=citations,
        unjudged=unjudged_count,
        figures={key: resampler.figure(tally) for key, tally in by_key.items()},
        answers=answers,
    )

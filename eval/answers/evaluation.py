"""One evaluation of answers, from files to the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from eval.answers.judges import Judges
from eval.answers.observing import Observer
from eval.answers.report import AnswersReport, make_report, provenance
from eval.answers.runs import Run
from retrieval.core.values import Topic
from retrieval.dense.encoder import Encoder
from retrieval.index import open_documents
from service.configuration.config import Profile


def evaluate(
    runs: Sequence[Run],
    topics: Sequence[Topic],
    topics_file: Path,
    index: Path,
    judges: Judges,
    encoder: Encoder,
    profile: Profile,
    command: str,
) -> AnswersReport:
    """Judge and measure every answer against the documents of the index, which is read but not searched."""
    store, manifest = open_documents(index)
    observer = Observer(store, judges.by_key, encoder)
    made_with = provenance(topics_file, manifest, profile.model_dump(mode="json"), encoder.name, command)
    try:
        report = make_report(runs, topics, observer, judges.named, made_with)
    finally:
        store.close()
    if judges.usage is None:
        return report
    return replace(report, provenance={**report.provenance, "llm_requests": judges.usage.requests})

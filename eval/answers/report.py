"""Task B runs measured: the form of the answers, whether their citations support them, and published figures beside them.

Every measure is counted topic by topic, as a numerator and a denominator, so that it can be resampled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Generic, TypeVar

import yaml
from tqdm import tqdm

from eval.answers.observing import Observed, Observer
from eval.answers.runs import Run
from eval.measures.figures import RESAMPLES, SEED, Figure, Resampler, Tally, share
from eval.measures.report import NOTHING, Measure, Report, Table, show
from nli.judge import Judge
from retrieval.core.english import format_count
from retrieval.core.values import Drafted, Label, Topic
from retrieval.dense.encoder import Encoder
from retrieval.index import open_documents
from service.configuration.config import Profile

PUBLISHED: Mapping[str, Mapping[str, Mapping[str, float]]] = yaml.safe_load(
    files("eval.answers").joinpath("published.yaml").read_text("utf-8")
)
Pair = tuple[float, float]
"""Numerator and denominator: (0, 0) where a topic has nothing to measure."""
_NOTHING: Pair = (0.0, 0.0)
_Seen = TypeVar("_Seen")


@dataclass(frozen=True, slots=True)
class Counted(Generic[_Seen]):
    """A measure, what it counts of a topic's answer, or of its draft, and its format."""

    measure: Measure
    pair: Callable[[_Seen], Pair]
    format: str = ".1%"

    def tally(self, seen: Sequence[_Seen | None], otherwise: Pair = _NOTHING) -> Tally:
        """The counts of every topic; None stands for a topic without an answer, or without a draft."""
        return Tally.of([otherwise if observed is None else self.pair(observed) for observed in seen], share)


def _rate(part: float, whole: float) -> Pair:
    """A topic's own rate, so that the average over topics gives each topic the same weight."""
    return (part / whole, 1.0) if whole else _NOTHING


def _mean_of(value: float | None) -> Pair:
    return (value, 1.0) if value is not None else _NOTHING


ANSWERED: Counted[Observed] = Counted(
    Measure("answered", "answered", "Topics with at least one sentence / topics. All other figures cover only these topics."),
    lambda one: (1.0, 1.0),
)
FORM: tuple[Counted[Observed], ...] = (
    Counted(Measure("sentences", "sentences", "Sentences per answered topic."), lambda one: (one.sentences, 1.0), ".2f"),
    Counted(Measure("words", "words", "Words per answered topic, split at white space."), lambda one: (one.words, 1.0), ".0f"),
    Counted(
        Measure(
            "coverage", "cited", "Sentences with a citation / sentences, averaged over topics: the paper's citation coverage."
        ),
        lambda one: _rate(one.cited, one.sentences),
    ),
    Counted(
        Measure("citations", "citations/sentence", "Citations / sentences, over all sentences."),
        lambda one: (len(one.citations), one.sentences),
        ".2f",
    ),
    Counted(
        Measure(
            "citations_cited", "citations/cited", "Citations / sentences with at least one citation, over all such sentences."
        ),
        lambda one: (len(one.citations), one.cited),
        ".2f",
    ),
)
"""The form of an answer, whatever it says: these include the columns of the paper's Table 2."""
DRAFT: tuple[Counted[Drafted], ...] = (
    Counted(
        Measure("drafted", "drafted", "Sentences that the generator wrote before our check, per topic with a draft."),
        lambda one: (one.sentences, 1.0),
        ".2f",
    ),
    Counted(
        Measure("drafted_coverage", "drafted, cited", "Of these, those with a citation, averaged over topics."),
        lambda one: _rate(one.cited, one.sentences),
    ),
    Counted(
        Measure("drafted_citations", "drafted, citations/cited", "Citations in drafts / sentences with one, over all of them."),
        lambda one: (one.citations, one.cited),
        ".2f",
    ),
)
"""The same of the text written before our check, which is what the paper's own figures describe."""
CONTENT: tuple[Counted[Observed], ...] = (
    Counted(
        Measure(
            "verbatim",
            "verbatim",
            "Citations whose document contains the sentence word for word / citations, averaged over topics.",
        ),
        lambda one: _rate(sum(citation.verbatim for citation in one.citations), len(one.citations)),
    ),
    Counted(
        Measure(
            "redundancy",
            "redundancy",
            "Mean cosine similarity between an answer's sentences, by the shipped encoder; answers of two or more sentences.",
        ),
        lambda one: _mean_of(one.redundancy),
        ".2f",
    ),
    Counted(
        Measure("narrative", "narrative", "Share of the narrative's words that occur in the answer, weighted by rarity."),
        lambda one: _mean_of(one.narrative),
    ),
)


def list_judged(judge: str) -> tuple[Counted[Observed], ...]:
    """The measures based on a judge of this name."""

    def count(label: Label) -> Callable[[Observed], Pair]:
        return lambda one: _rate(sum(cited.label == label for cited in one.citations), len(one.citations))

    def count_covered(one: Observed) -> Pair:
        return _rate(len({cited.sentence for cited in one.citations if cited.label == "support"}), one.sentences)

    covered = f"Sentences with a citation that supports them, by {judge} / sentences, averaged over topics: the track's coverage."
    support = f"Citations that support, by {judge} / citations, averaged over topics."
    contradict = f"Citations that contradict, by {judge} / citations, likewise."
    return (
        Counted(Measure("coverage_supported", "supported", covered), count_covered),
        Counted(Measure("support", "support", support), count("support")),
        Counted(Measure("contradict", "contradict", contradict), count("contradict")),
    )


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


def evaluate(
    runs: Sequence[Run],
    topics: Sequence[Topic],
    topics_file: Path,
    index: Path,
    judge: Judge,
    encoder: Encoder,
    profile: Profile,
    command: str,
) -> tuple[list[AnswersRunReport], Report]:
    """Judge and measure every answer against the documents of the index, which is read but not searched.

    Figures have 95 % bootstrap intervals; every run uses the same samples of topics. The report has a row for each run,
    the published figures beneath, and what to know when comparing them.
    """
    store, manifest = open_documents(index)
    observer, resampler = Observer(store, judge, encoder), Resampler(len(topics))
    content = (*list_judged(judge.name), *CONTENT)
    drafts = DRAFT if any(run.drafts for run in runs) else ()
    try:
        measured = [_measure_run(run, topics, observer, resampler, (*FORM, *content), drafts) for run in runs]
    finally:
        store.close()
    shown = {
        "form": (ANSWERED.measure, *(one.measure for one in FORM), *(draft.measure for draft in drafts)),
        "content": tuple(one.measure for one in content),
    }
    provenance = {
        "counterpoint": version("counterpoint"),
        "command": command,
        "topics_file": topics_file.name,
        "topics_sha256": hashlib.sha256(topics_file.read_bytes()).hexdigest(),
        "index": manifest.id,
        "documents": manifest.counts.documents,
        "profile": profile.model_dump(mode="json"),
        "encoder": encoder.name,
        "bootstrap_seed": SEED,
        "bootstrap_resamples": RESAMPLES,
    }
    blocks: list[Table | str] = [
        _table("Properties of the answers", shown["form"], measured, PUBLISHED["table_2"]),
        _table("Citation support", shown["content"], measured, PUBLISHED["official"]),
        *map(_count_topics, measured),
        f"In brackets: 95 % intervals by a bootstrap over topics. Averages cover only the answered topics. judge: {judge.name}.",
        "Published rows were measured by others, on other topics and with other judges: compare only their order of magnitude.",
    ]
    data = {"runs": measured, **shown, "judge": judge.name, "published": PUBLISHED, "provenance": provenance}
    return measured, Report("Evaluation of answers", blocks, data, (*shown["form"], *shown["content"]), provenance)


def _measure_run(
    run: Run,
    topics: Sequence[Topic],
    observer: Observer,
    resampler: Resampler,
    measures: Sequence[Counted[Observed]],
    drafts: Sequence[Counted[Drafted]],
) -> AnswersRunReport:
    seen: list[Observed | None] = []
    for topic in tqdm(topics, desc=f"judging {run.name}", unit=" topics", disable=None):
        responses = run.responses.get(topic.id, ())
        seen.append(observer.observe(topic, responses) if responses else None)
    tallies = {"answered": ANSWERED.tally(seen, otherwise=(0.0, 1.0))}
    tallies |= {measure.measure.key: measure.tally(seen) for measure in measures}
    tallies |= {draft.measure.key: draft.tally([run.drafts.get(topic.id) for topic in topics]) for draft in drafts}
    answers = tuple(observed for observed in seen if observed)
    citations = [citation for answer in answers for citation in answer.citations]
    return AnswersRunReport(
        name=run.name,
        topics=len(topics),
        answered=len(answers),
        declined=tuple(topic.id for topic in topics if run.responses.get(topic.id) == ()),
        missing=tuple(topic.id for topic in topics if topic.id not in run.responses),
        citations=len(citations),
        unjudged=sum(citation.label is None for citation in citations),
        figures={key: resampler.figure(tally) for key, tally in tallies.items()},
        answers=answers,
    )


def _table(
    title: str, measures: Sequence[Measure], runs: Sequence[AnswersRunReport], references: Mapping[str, Mapping[str, float]]
) -> Table:
    formats = {one.measure.key: one.format for group in (FORM, DRAFT, CONTENT) for one in group}
    columns = {measure.key: formats.get(measure.key, ".1%") for measure in measures}
    rows = [[run.name, *(show(run.figures[key], form) for key, form in columns.items())] for run in runs]
    for name, figures in references.items():
        rows.append([name, *(f"{figures[key]:{form}}" if key in figures else NOTHING for key, form in columns.items())])
    return Table(title, ["run", *(measure.title for measure in measures)], rows)


def _count_topics(run: AnswersRunReport) -> str:
    sentence = f"{run.name}: {run.answered} of {format_count(run.topics, 'topic')} answered, {len(run.declined)} declined"
    if run.missing:
        sentence += f", {len(run.missing)} missing from the run"
    sentence += f"; {format_count(run.citations, 'citation')}"
    return sentence + (f", {run.unjudged} of them to documents without an abstract in the index." if run.unjudged else ".")

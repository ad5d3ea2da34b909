"""The figures of a run, each as per-topic counts and a formula over their sums (eval.measures.formulas), ready for resampling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from eval.answers.observing import Observed
from eval.measures.formulas import Tally, share
from eval.measures.report_data import Measure
from retrieval.core.answers import Drafted
from retrieval.core.values import Label

Pair = tuple[float, float]
"""Numerator and denominator: (0, 0) where a topic has nothing to measure."""

_NOTHING: Pair = (0.0, 0.0)
_FORM = (
    Measure("answered", "answered", "Topics with at least one sentence / topics. All other figures cover only these topics."),
    Measure("sentences", "sentences", "Sentences per answered topic."),
    Measure("words", "words", "Words per answered topic, split at white space."),
    Measure("coverage", "cited", "Sentences with a citation / sentences, averaged over topics: the paper's citation coverage."),
    Measure("citations", "citations/sentence", "Citations / sentences, over all sentences."),
    Measure("citations_cited", "citations/cited", "Citations / sentences with at least one citation, over all such sentences."),
)
_DRAFT = (
    Measure("drafted", "drafted", "Sentences that the generator wrote before our check, per topic with a draft."),
    Measure("drafted_coverage", "drafted, cited", "Of these, those with a citation, averaged over topics."),
    Measure("drafted_citations", "drafted, citations/cited", "Citations in drafts / sentences with one, over all of them."),
)
_CONTENT = (
    Measure(
        "verbatim", "verbatim", "Citations whose document contains the sentence word for word / citations, averaged over topics."
    ),
    Measure(
        "redundancy",
        "redundancy",
        "Mean cosine similarity between an answer's sentences, by the shipped encoder; answers of two or more sentences.",
    ),
    Measure("narrative", "narrative", "Share of the narrative's words that occur in the answer, weighted by rarity."),
)


def judged_measures(judge: str, prefix: str = "", title: str = "") -> tuple[Measure, ...]:
    """The measures based on a judge; `prefix` goes before their keys and `title` before their titles."""
    return (
        Measure(
            f"{prefix}coverage_supported",
            f"{title}supported",
            f"Sentences with a citation that supports them, by {judge} / sentences, averaged over topics: the track's coverage.",
        ),
        Measure(f"{prefix}support", f"{title}support", f"Citations that support, by {judge} / citations, averaged over topics."),
        Measure(f"{prefix}contradict", f"{title}contradict", f"Citations that contradict, by {judge} / citations, likewise."),
    )


def form_measures(with_drafts: bool = False) -> tuple[Measure, ...]:
    """The form of an answer, whatever it says: these include the columns of the paper's Table 2. With `with_drafts`, also the
    same measures of the text written before our check, which is what the paper's own figures describe."""
    return (*_FORM, *_DRAFT) if with_drafts else _FORM


def draft_tallies(drafts: Sequence[Drafted | None]) -> dict[str, Tally]:
    """The figures of the drafts, as written before the check; None stands for a topic without a draft."""

    def each(pair: Callable[[Drafted], Pair]) -> Tally:
        return Tally.of([pair(one) if one else _NOTHING for one in drafts], share)

    return {
        "drafted": each(lambda one: (one.sentences, 1.0)),
        "drafted_coverage": each(lambda one: _rate(one.cited, one.sentences)),
        "drafted_citations": each(lambda one: (one.citations, one.cited)),
    }


def content_measures(judges: Sequence[tuple[str, str, str]]) -> tuple[Measure, ...]:
    """What an answer says and whether its citations support it; each judge is (its name, prefix of keys, prefix of titles)."""
    return (*(one for name, prefix, title in judges for one in judged_measures(name, prefix, title)), *_CONTENT)


def tallies(observations: Sequence[Observed | None], judges: Sequence[tuple[str, str]]) -> dict[str, Tally]:
    """Every figure of a run, by key; None stands for a topic without an answer. Each judge is (its key, prefix of keys)."""

    def each(pair: Callable[[Observed], Pair]) -> Tally:
        return Tally.of([pair(one) if one else _NOTHING for one in observations], share)

    figures = {
        "answered": Tally.of([(float(one is not None), 1.0) for one in observations], share),
        "sentences": each(lambda one: (one.sentences, 1.0)),
        "words": each(lambda one: (one.words, 1.0)),
        "coverage": each(lambda one: _rate(one.cited, one.sentences)),
        "citations": each(lambda one: (len(one.citations), one.sentences)),
        "citations_cited": each(lambda one: (len(one.citations), one.cited)),
        "verbatim": each(lambda one: _rate(sum(citation.verbatim for citation in one.citations), len(one.citations))),
        "redundancy": each(lambda one: _mean_of(one.redundancy)),
        "narrative": each(lambda one: _mean_of(one.narrative)),
    }
    for judge, prefix in judges:
        figures[f"{prefix}coverage_supported"] = each(_count_covered(judge))
        figures[f"{prefix}support"] = each(_count_labelled(judge, "support"))
        figures[f"{prefix}contradict"] = each(_count_labelled(judge, "contradict"))
    return figures


def _count_labelled(judge: str, label: Label) -> Callable[[Observed], Pair]:
    return lambda one: _rate(sum(citation.labels.get(judge) == label for citation in one.citations), len(one.citations))


def _count_covered(judge: str) -> Callable[[Observed], Pair]:
    def pair(one: Observed) -> Pair:
        sentences = {citation.sentence for citation in one.citations if citation.labels.get(judge) == "support"}
        return _rate(len(sentences), one.sentences)

    return pair


def _rate(part: float, whole: float) -> Pair:
    """A topic's own rate, so that the average over topics gives each topic the same weight."""
    return (part / whole, 1.0) if whole else _NOTHING


def _mean_of(value: float | None) -> Pair:
    return (value, 1.0) if value is not None else _NOTHING


def count_citations(observations: Iterable[Observed | None]) -> tuple[int, int]:
    """The number of citations, and how many of them cannot be judged because the index holds no abstract of the document."""
    citations = [citation for one in observations if one for citation in one.citations]
    return len(citations), sum(not citation.labels for citation in citations)

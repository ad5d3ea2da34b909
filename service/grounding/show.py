"""Show: the papers read for a claim as evidence, each in the one list where it belongs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import floor

from counterpoint.nli.text.negation import negation_scopes
from counterpoint.nli.text.qualify import find_qualifiers
from counterpoint.nli.text.trials import name_trials
from counterpoint.retrieval.core.values import Checked, Claim, Document, Evidence, Grounding, Sentence, Stance, Verdict
from counterpoint.retrieval.store.documents import Entry
from counterpoint.service.configuration.config import Show
from counterpoint.service.grounding.reasons import why
from counterpoint.service.grounding.values import PaperReading


def show(claim: Claim, readings: Sequence[PaperReading], entries: Mapping[str, Entry], looked_at: int, step: Show) -> Grounding:
    """Both sides of a claim, the most probable papers first, at most `step.n` a list; the rest of each list is in `more`.

    A retracted paper takes no side and is listed as uncertain; a known paper is neither shown nor counted as support. A paper
    that takes no side is uncertain if one has at least the probability `step.uncertain`, otherwise silent.
    """
    lists: dict[str, list[Evidence]] = {"contradict": [], "support": [], "uncertain": [], "silent": []}
    shown = [one for one in readings if one.verdict.label != "support" or one.pmid not in claim.known_pmids]
    for reading in shown:
        entry = entries[reading.pmid]
        lists[_choose_list(reading, entry.document, step.uncertain)].append(_make_evidence(claim, reading, entry))
    for side in ("contradict", "support"):
        trials = name_trials([one.document for one in lists[side]])
        lists[side] = [replace(one, trial=trial) for one, trial in zip(lists[side], trials, strict=True)]
    against, for_it, uncertain, silent = (_order(lists[name], step.recency) for name in lists)
    return Grounding(
        claim,
        _rank(against[: step.n]),
        _rank(for_it[: step.n]),
        Checked(looked_at, len(shown), sum(len(entries[one.pmid]) for one in shown)),
        _rank(uncertain[: step.n]),
        _rank([*against[step.n :], *for_it[step.n :], *uncertain[step.n :]], step.n + 1),
        _rank(silent),
    )


def list_papers(grounding: Grounding) -> tuple[Evidence, ...]:
    """Every paper that was decided on, those on a side first."""
    listed = (grounding.contradicting, grounding.supporting, grounding.uncertain, grounding.more, grounding.silent)
    return tuple(one for evidence in listed for one in evidence)


def restate(evidence: Evidence, claim: str, stance: Stance) -> Evidence:
    """A paper as it relates to another claim, on which it takes this side: what it says of the opposite is turned."""
    if evidence.stance == stance:
        return evidence
    turned = evidence_for(
        claim, stance, evidence.document, evidence.sentence, evidence.verdict.turn(), evidence.rank, evidence.score,
        evidence.scored_by,
    )  # fmt: skip
    return replace(turned, trial=evidence.trial)


def _choose_list(reading: PaperReading, document: Document, uncertain: float) -> str:
    verdict = reading.verdict
    if document.retracted:
        return "uncertain" if verdict.label != "neutral" else "silent"
    if verdict.label != "neutral":
        return verdict.label
    return "uncertain" if verdict.probability(verdict.leaning) >= uncertain else "silent"


def _make_evidence(claim: Claim, reading: PaperReading, entry: Entry) -> Evidence:
    verdict = reading.verdict
    stance = verdict.side
    score = verdict.probability(stance)
    evidence = evidence_for(claim.text, stance, entry.document, reading.sentence, verdict, 0, score, reading.by, reading.note)
    return replace(evidence, other=reading.other)


def _order(evidence: Sequence[Evidence], step: float) -> list[Evidence]:
    """The most probable first; of papers within the same `step` of probability, the newer one. Reports of one trial follow the
    first of them."""

    def place(one: Evidence) -> tuple[bool, float, int, float]:
        return one.document.retracted, -floor(one.score / step) if step else -one.score, -(one.document.year or 0), -one.score

    ordered = sorted(evidence, key=place)
    first = {one.trial: rank for rank, one in reversed([*enumerate(ordered)]) if one.trial}
    return [one for _, one in sorted(enumerate(ordered), key=lambda pair: first.get(pair[1].trial, pair[0]))]


def _rank(evidence: Sequence[Evidence], first: int = 1) -> tuple[Evidence, ...]:
    return tuple(replace(one, rank=rank) for rank, one in enumerate(evidence, first))


def evidence_for(
    claim: str,
    stance: Stance,
    document: Document,
    sentence: Sentence | None,
    verdict: Verdict,
    rank: int,
    score: float,
    scored_by: str,
    note: str = "",
) -> Evidence:
    """A document on one side of a claim, with the sentence that says so, its negations and its qualifiers."""
    scopes = negation_scopes(sentence) if sentence else ()
    qualifiers = find_qualifiers(claim, sentence) if sentence else ()
    return Evidence(
        document=document,
        stance=stance,
        sentence=sentence,
        rank=rank,
        score=score,
        scored_by=scored_by,
        verdict=verdict,
        negations=scopes,
        qualifiers=qualifiers,
        why=note or why(stance, sentence, verdict, scopes, qualifiers),
    )

"""What a branch did for a claim, seen from outside: the branch is run again with some steps left out or with a different cut-off;
and where a gold document was lost, in one word.

Only the claim's gold documents are looked for, and only after the claim was grounded: nothing here affects what is returned.
With models that cache (service.configuration.models), running a branch again costs little: most requests were made before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from nli.judge import Abstract, Judge, Reader, Reading
from retrieval.core.values import OPPOSITE, Claim, Evidence, Label, Premise, Stance, Verdict
from retrieval.store.documents import Entry
from service.configuration.config import Branch, PathStep
from service.configuration.models import Models
from service.grounding.find import find
from service.grounding.gate import gate
from service.grounding.ground import Grounder
from service.grounding.variants import Request, run

Fate = Literal[
    "found",
    "other_side",
    "not_retrieved",
    "beyond",
    "filtered",
    "not_asked",
    "judged_neutral",
    "judged_opposite",
    "crowded_out",
]
FATES: Mapping[Fate, str] = {
    "found": "returned on its own side",
    "other_side": "returned on the other side, so kept from this one (contradictions are decided first)",
    "not_retrieved": "not among the documents that the branch retrieves",
    "beyond": "retrieved, but behind the documents that the branch judges",
    "filtered": "no sentence of it passes the branch's filter (no negation cue)",
    "not_asked": "a sentence passes, but none is among the few that the profile lets the judge be asked about (skim)",
    "judged_neutral": "judged, and called neutral",
    "judged_opposite": "judged, and called the opposite stance",
    "crowded_out": "called the right stance, or of a branch that judges nothing, but not among the n returned",
}
"""In the order in which a document meets them."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What one branch did for a claim, as far as its gold documents need it.

    `retrieved` is the ranking before any model saw it; `ranked` is the ranking after reranking (the same where nothing reranks);
    `reads` is how many of `ranked` the judge may read (None: all); `passed` holds the gold documents with a sentence that passes
    the filter; `asked` those with a text that the judge was asked about; `labels` the judge's label for each of these (both are
    None where the branch judges nothing); `whole` the documents that the branch would return if it returned all it can, down to
    the last gold one.
    """

    retrieved: tuple[str, ...]
    ranked: tuple[str, ...]
    reads: int | None
    passed: frozenset[str]
    asked: frozenset[str] | None
    labels: Mapping[str, Label] | None
    whole: tuple[str, ...]


def fate(pmid: str, stance: Stance, trace: Trace, returned: Collection[str], elsewhere: Collection[str]) -> Fate:
    """What became of a gold document of a stance in the branch of that stance.

    `returned` is what the branch returned, `elsewhere` what the other branch returned. Contradictions are decided first
    (service.grounding.ground), so only a supporting document can be lost to the other side.
    """
    if pmid in returned:
        return "found"
    if stance == "support" and pmid in elsewhere:
        return "other_side"
    if pmid not in trace.retrieved:
        return "not_retrieved"
    # The reranker may have read only the first documents (`rerank.first`); those it did not see are not in its ranking.
    if pmid not in trace.ranked[: trace.reads]:
        return "beyond"
    if pmid not in trace.passed:
        return "filtered"
    if trace.asked is not None and pmid not in trace.asked:
        return "not_asked"
    label = stance if trace.labels is None else trace.labels.get(pmid, "neutral")
    if label == stance:
        return "crowded_out"
    return "judged_neutral" if label == "neutral" else "judged_opposite"


class NotingJudge:
    """A judge that records what it is asked about: (title, text)."""

    def __init__(self, judge: Judge, notes: set[tuple[str, str]]) -> None:
        self.name = judge.name
        self._judge, self._notes = judge, notes

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        """The judge's own verdicts."""

        def note_premises() -> Iterator[Premise]:
            for premise in premises:
                self._notes.add((premise.title, premise.text))
                yield premise

        return self._judge(claim, note_premises())


class NotingReader(NotingJudge):
    """The same for a reader: an abstract's sentences are recorded as asked about."""

    def __init__(self, reader: Reader, notes: set[tuple[str, str]]) -> None:
        super().__init__(reader, notes)
        self._reader, self.paper = reader, reader.paper

    def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
        """The reader's own readings."""
        abstracts = list(documents)
        self._notes.update((abstract.title, sentence) for abstract in abstracts for sentence in abstract.sentences)
        return self._reader.read_abstracts(claim, abstracts)


def note_questions(judge: Judge, notes: set[tuple[str, str]]) -> Judge:
    """The judge, wrapped to record what it is asked about."""
    return NotingReader(judge, notes) if isinstance(judge, Reader) else NotingJudge(judge, notes)


def trace(grounder: Grounder, claim: Claim, stance: Stance, gold: frozenset[str]) -> Trace:
    """What was done for one side of a claim, as far as the gold documents of that stance need it."""
    if grounder.config.path:
        return _trace_path(grounder, grounder.config.path, claim, stance, gold)
    branch = grounder.config.branch(stance)
    k, unread = branch.retrieve.k, {"filter": None, "judge": None}
    retrieval = _pmids(_run(grounder, claim, stance, branch, k, rule="top", rerank=None, **unread))
    ranking = _pmids(_run(grounder, claim, stance, branch, k, rule="top", **unread)) if branch.rerank else retrieval
    reads = branch.judge.documents if branch.judge else None
    ranks = [rank for rank, pmid in enumerate(ranking, 1) if pmid in gold]
    has_judge = branch.judge is not None
    if not ranks:
        nothing: dict[str, Label] = {}
        return Trace(
            retrieval, ranking, reads, frozenset(), frozenset() if has_judge else None, nothing if has_judge else None, ()
        )
    reach = ranks[-1] if branch.select.rule in ("first", "top") else len(ranking)
    branch = _stop_after_gold(grounder, branch, reach)
    notes: set[tuple[str, str]] = set()
    noting_grounder = _with_noting_judges(grounder, notes)
    evidence = _run(noting_grounder, claim, stance, branch, reach, label=branch.select.label or stance)
    whole = _pmids(evidence)
    last = max((rank for rank, pmid in enumerate(whole, 1) if pmid in gold), default=0)
    entries = list(grounder.index.entries([pmid for pmid in ranking if pmid in gold]))
    candidates = frozenset(entry.pmid for entry in entries if _passes(branch, entry))
    subjects = frozenset(entry.pmid for entry in entries if not notes.isdisjoint(_texts(entry))) if has_judge else None
    labels = _labels(grounder, claim, stance, branch, evidence, subjects & gold) if subjects is not None else None
    return Trace(retrieval, ranking, reads, candidates, subjects, labels, whole[:last])


def _trace_path(grounder: Grounder, path: PathStep, claim: Claim, stance: Stance, gold: frozenset[str]) -> Trace:
    """The same for our own path, which reads each paper once for both sides."""
    found = find(grounder.index, grounder.models, path.find, claim)
    ranked = gate(grounder.models.rerankers[path.gate], claim, found)
    readings = {one.pmid: one.verdict for one in grounder.read(claim, ranked[: path.read.papers])}
    sided = [pmid for pmid, one in readings.items() if one.label == stance]
    whole = sorted(sided, key=lambda pmid: -readings[pmid].probability(stance))
    last = max((rank for rank, pmid in enumerate(whole, 1) if pmid in gold), default=0)
    asked = frozenset(readings) & gold
    labels = {pmid: readings[pmid].label for pmid in asked}
    names = tuple(one.pmid for one in ranked)
    retrieved, passed = tuple(one.pmid for one in found), frozenset(names) & gold
    return Trace(retrieved, names, path.read.papers, passed, asked, labels, tuple(whole[:last]))


def _stop_after_gold(grounder: Grounder, branch: Branch, reach: int) -> Branch:
    """The branch, judging no document after the last gold one: under the `first` rule these cannot change its rank.

    Where the profile limits what is asked (skim), fewer documents would mean other sentences, so all are read as usual.
    """
    step = branch.judge
    if step is None or branch.select.rule != "first" or (step.skim and grounder.models.profile.skim):
        return branch
    return branch.model_copy(update={"judge": step.model_copy(update={"documents": min(reach, step.documents or reach)})})


def _with_noting_judges(grounder: Grounder, notes: set[tuple[str, str]]) -> Grounder:
    models = grounder.models
    judges = {name: note_questions(judge, notes) for name, judge in models.judges.items()}
    return Grounder(grounder.index, grounder.config, Models(models.profile, models.rerankers, judges, models.encoders))


def _labels(
    grounder: Grounder, claim: Claim, stance: Stance, branch: Branch, evidence: tuple[Evidence, ...], pmids: frozenset[str]
) -> dict[str, Label]:
    """The judge's labels, by the branch's rule, for the documents that it was asked about."""
    if branch.select.rule == "penalised":
        # This rule returns every document; those below its floor are backfill.
        verdicts = {one.document.pmid: one.verdict for one in evidence if one.verdict}
        floor = branch.select.penalty.floor
        return {pmid: "contradict" if one.contradict >= floor else one.label for pmid, one in verdicts.items() if pmid in pmids}
    own, opposite = stance, OPPOSITE[stance]
    of_own = set(_pmids(evidence))
    of_opposite: set[str] = set()
    if pmids - of_own:
        of_opposite = set(_pmids(_run(grounder, claim, stance, branch, branch.retrieve.k, label=opposite)))
    return {pmid: own if pmid in of_own else opposite if pmid in of_opposite else "neutral" for pmid in pmids}


def _passes(branch: Branch, entry: Entry) -> bool:
    if branch.filter:
        return entry.cue_sentence_count() > 0
    return branch.judge is None or len(entry) > 0


def _texts(entry: Entry) -> set[tuple[str, str]]:
    """All that a judge may be asked about a document: its sentences, or its abstract."""
    title = entry.document.title
    return {(title, entry.document.abstract), *((title, sentence.text) for sentence in entry.sentences())}


def _pmids(evidence: Iterable[Evidence]) -> tuple[str, ...]:
    return tuple(one.document.pmid for one in evidence)


def _run(
    grounder: Grounder,
    claim: Claim,
    stance: Stance,
    branch: Branch,
    n: int,
    rule: str | None = None,
    label: Stance | None = None,
    **steps: Any,
) -> tuple[Evidence, ...]:
    """What the branch returns with some steps changed; no model is asked which sentence to show."""
    ending = branch.select.model_copy(update={"n": n, "rule": rule or branch.select.rule, "label": label})
    variant = branch.model_copy(update={**steps, "select": ending, "evidence": None})
    config = grounder.config.model_copy(update={stance: variant})
    return run(Request(claim, stance, grounder.index, config, grounder.models.with_caches())).evidence

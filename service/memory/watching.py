"""The watch: saved claims are grounded again on an index that has changed, against its new and changed documents.

A claim is grounded outside any transaction; `SavedClaims.move_on` then keeps its new state and its alerts, both or neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from retrieval.core.values import Evidence, Grounding
from retrieval.index import Index
from service.grounding.coverage import format_count
from service.grounding.find import Only
from service.grounding.ground import Grounder
from service.grounding.schemas import EvidenceOut
from service.memory.changes import find_changes
from service.memory.links import make_link
from service.memory.saved import IndexState, SavedClaims, Turn, Watched
from service.memory.schemas import AlertData, KeptPaper, Kind, Saved
from service.schemas import Provenance

STRONG = 0.8
"""A further contradiction of a claim that already has one gives an alert from this probability on."""

_SAYS: dict[Kind, str] = {
    "first contradiction": "A paper contradicts this claim for the first time",
    "new contradiction": "Another paper contradicts this claim",
    "support retracted": "A paper that supports this claim was retracted",
}


@dataclass(frozen=True, slots=True)
class WatchReport:
    """How many claims were grounded again, how many alerts resulted, how many claims were up to date, and how many were saved on
    other indexes, which are not watched here."""

    grounded: int
    alerts: int
    up_to_date: int
    elsewhere: int


def watch(claims: SavedClaims, grounder: Grounder, on_claim: Callable[[Watched], object] = lambda _one: None) -> WatchReport:
    """Ground every claim that was saved on the grounder's index and not yet grounded on its present state.

    `on_claim` is called with each claim before it is grounded; an exception from it ends the watch there, and the next watch
    resumes with that claim.
    """
    folder, manifest = grounder.index.folder, grounder.index.manifest
    alerts, backlog = 0, claims.due(folder, manifest)
    for one in backlog:
        on_claim(one)
        alerts += watch_claim(claims, one, grounder)
    total, others = claims.count(folder)
    return WatchReport(len(backlog), alerts, max(0, total - len(backlog)), others)


def watch_claim(claims: SavedClaims, one: Watched, grounder: Grounder) -> int:
    """Ground one claim on the present state of the index, store its alerts, and return how many are new."""
    changes = find_changes(grounder.index, one.seen)
    grounding = grounder.ground(one.claim, only=changes)
    old_papers = _bring_up_to_date(one.saved.papers, grounder.index)
    turns = [*_retractions(one.saved.papers, old_papers), *_contradictions(old_papers, grounding)]
    papers = _join(old_papers, grounding, changes)
    provenance = Provenance.of(grounder)
    summary = _summarise(papers) if papers != one.saved.papers else one.saved.summary
    entry = one.saved.model_copy(update={"papers": papers, "provenance": provenance, "summary": summary})
    alerts = [_turn(kind, paper, entry, grounder) for kind, paper in turns]
    return claims.move_on(one, IndexState.of(grounder.index.manifest), entry, alerts)


def _bring_up_to_date(papers: Iterable[KeptPaper], index: Index) -> list[KeptPaper]:
    """The papers that the index still holds, each marked as retracted if it is by now."""
    result = []
    for paper in papers:
        if entry := index.store.get(paper.pmid):
            result.append(paper.model_copy(update={"retracted": entry.document.retracted}))
    return result


def _retractions(old_papers: Iterable[KeptPaper], new_papers: Iterable[KeptPaper]) -> list[tuple[Kind, KeptPaper]]:
    """The supporting papers that were not retracted before and are now."""
    sound = {one.pmid for one in old_papers if one.stance == "support" and not one.retracted}
    return [("support retracted", one) for one in new_papers if one.retracted and one.pmid in sound]


def _contradictions(old_papers: Sequence[KeptPaper], grounding: Grounding) -> list[tuple[Kind, KeptPaper]]:
    """The papers that contradict the claim now and did not before: the first one, and further ones that are strong."""
    pmids = {one.pmid for one in old_papers if one.stance == "contradict"}
    some = any(one.stance == "contradict" and not one.retracted for one in old_papers)
    turns: list[tuple[Kind, KeptPaper]] = []
    for evidence in grounding.contradicting:
        if not _is_sound(evidence) or evidence.document.pmid in pmids:
            continue
        if some and evidence.score < STRONG:
            continue
        turns.append(("new contradiction" if some else "first contradiction", _paper(evidence, grounding)))
        some = True
    return turns


def _is_sound(evidence: Evidence) -> bool:
    """Whether a model judged that the paper contradicts the claim, and the paper is not retracted."""
    is_contradiction = evidence.verdict is not None and evidence.verdict.label == "contradict"
    return is_contradiction and not evidence.document.retracted


def _join(old_papers: Sequence[KeptPaper], grounding: Grounding, changes: Only | None) -> list[KeptPaper]:
    """The papers on the claim's sides now: those found, and those from before that were not read again."""
    retracted = [one for one in grounding.uncertain if one.document.retracted]
    found = (*grounding.contradicting, *grounding.supporting, *retracted)
    new = [_paper(one, grounding) for one in found if one.verdict]
    if changes is None:
        return new
    reread = {*changes([one.pmid for one in old_papers]), *(one.pmid for one in new)}
    papers = [*new, *(one for one in old_papers if one.pmid not in reread)]
    return sorted(papers, key=lambda one: one.stance != "contradict")


def _summarise(papers: Sequence[KeptPaper]) -> str:
    against, retractions = sum(one.stance == "contradict" for one in papers), sum(one.retracted for one in papers)
    count = format_count(len(papers) - against, "document")
    sides = f"{format_count(against, 'document')} may contradict the claim, {count} may support it"
    return f"{sides}{f'; retracted: {retractions:,}' if retractions else ''}."


def _paper(evidence: Evidence, grounding: Grounding) -> KeptPaper:
    return KeptPaper.of(EvidenceOut.of(evidence))


def _turn(kind: Kind, paper: KeptPaper, entry: Saved, grounder: Grounder) -> Turn:
    where = ", ".join(str(one) for one in (paper.journal, paper.year) if one)
    detail = f"{_SAYS[kind]}: {paper.title or paper.pmid}{f' ({where})' if where else ''}"
    data = AlertData(
        claim=entry.text,
        detail=detail if detail.endswith(".") else f"{detail}.",
        paper=paper,
        link=make_link(entry),
        index=grounder.index.manifest.id,
        index_version=grounder.index.manifest.version,
        models=grounder.models.names(),
    )
    return Turn(kind, data)

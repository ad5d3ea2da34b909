"""The watch: saved claims are grounded again on an index that has changed, against its new and changed documents.

A claim is grounded outside any transaction; `SavedClaims.move_on` then keeps its new state and its alerts, both or neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from retrieval.core.values import Evidence, Grounding
from retrieval.index import Index
from service.grounding.coverage import format_count
from service.grounding.ground import Grounder
from service.grounding.request import Only
from service.grounding.schemas import EvidenceOut
from service.memory.changes import find_changes
from service.memory.links import make_link
from service.memory.saved import SavedClaims, Seen, Turn, Watched
from service.memory.schemas import AlertData, KeptPaper, Kind, Saved
from service.schemas.provenance import Provenance

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
    alerts, due = 0, claims.due(folder, manifest)
    for one in due:
        on_claim(one)
        alerts += watch_claim(claims, one, grounder)
    here, elsewhere = claims.count(folder)
    return WatchReport(len(due), alerts, max(0, here - len(due)), elsewhere)


def watch_claim(claims: SavedClaims, one: Watched, grounder: Grounder) -> int:
    """Ground one claim on the present state of the index, store its alerts, and return how many are new."""
    only = find_changes(grounder.index, one.seen)
    found = grounder.ground(one.claim, only=only)
    standing = _bring_up_to_date(one.saved.papers, grounder.index)
    turns = [*_retractions(one.saved.papers, standing), *_contradictions(standing, found)]
    papers = _join(standing, found, only)
    provenance = Provenance.of(grounder)
    summary = _summarise(papers) if papers != one.saved.papers else one.saved.summary
    saved = one.saved.model_copy(update={"papers": papers, "provenance": provenance, "summary": summary})
    told = [_turn(kind, paper, saved, grounder) for kind, paper in turns]
    return claims.move_on(one, Seen.of(grounder.index.manifest), saved, told)


def _bring_up_to_date(papers: Iterable[KeptPaper], index: Index) -> list[KeptPaper]:
    """The papers that the index still holds, each marked as retracted if it is by now."""
    now = []
    for paper in papers:
        if entry := index.store.get(paper.pmid):
            now.append(paper.model_copy(update={"retracted": entry.document.retracted}))
    return now


def _retractions(before: Iterable[KeptPaper], now: Iterable[KeptPaper]) -> list[tuple[Kind, KeptPaper]]:
    """The supporting papers that were not retracted before and are now."""
    sound = {one.pmid for one in before if one.stance == "support" and not one.retracted}
    return [("support retracted", one) for one in now if one.retracted and one.pmid in sound]


def _contradictions(standing: Sequence[KeptPaper], found: Grounding) -> list[tuple[Kind, KeptPaper]]:
    """The papers that contradict the claim now and did not before: the first one, and further ones that are strong."""
    known = {one.pmid for one in standing if one.stance == "contradict"}
    some = any(one.stance == "contradict" and not one.retracted for one in standing)
    turned: list[tuple[Kind, KeptPaper]] = []
    for evidence in found.contradicting:
        if not _is_sound(evidence) or evidence.document.pmid in known:
            continue
        if some and evidence.score < STRONG:
            continue
        turned.append(("new contradiction" if some else "first contradiction", _paper(evidence, found)))
        some = True
    return turned


def _is_sound(evidence: Evidence) -> bool:
    """Whether a model judged that the paper contradicts the claim, and the paper is not retracted."""
    judged = evidence.verdict is not None and evidence.verdict.label == "contradict"
    return judged and not evidence.document.retracted


def _join(standing: Sequence[KeptPaper], found: Grounding, only: Only | None) -> list[KeptPaper]:
    """The papers on the claim's sides now: those found, and those from before that were not read again."""
    new = [_paper(one, found) for one in (*found.contradicting, *found.supporting) if one.verdict]
    if only is None:
        return new
    reread = {*only([one.pmid for one in standing]), *(one.pmid for one in new)}
    kept = [*new, *(one for one in standing if one.pmid not in reread)]
    return sorted(kept, key=lambda one: one.stance != "contradict")


def _summarise(papers: Sequence[KeptPaper]) -> str:
    against, retracted = sum(one.stance == "contradict" for one in papers), sum(one.retracted for one in papers)
    count = format_count(len(papers) - against, "document")
    sides = f"{format_count(against, 'document')} may contradict the claim, {count} may support it"
    return f"{sides}{f'; retracted: {retracted:,}' if retracted else ''}."


def _paper(evidence: Evidence, found: Grounding) -> KeptPaper:
    return KeptPaper.of(EvidenceOut.of(evidence, found.claim.text))


def _turn(kind: Kind, paper: KeptPaper, saved: Saved, grounder: Grounder) -> Turn:
    where = ", ".join(str(one) for one in (paper.journal, paper.year) if one)
    detail = f"{_SAYS[kind]}: {paper.title or paper.pmid}{f' ({where})' if where else ''}"
    data = AlertData(
        claim=saved.text,
        detail=detail if detail.endswith(".") else f"{detail}.",
        paper=paper,
        link=make_link(saved),
        index=grounder.index.manifest.id,
        index_version=grounder.index.manifest.version,
        models=grounder.models.names(),
    )
    return Turn(kind, data)

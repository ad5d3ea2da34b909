"""The watch: saved claims are grounded again on an index that has changed, against its new and changed documents.

A claim is grounded outside any transaction; `SavedClaims.advance` then keeps its new state and its alerts, both or neither. In
the service, a thread beside the requests does so, active only while a saved claim lags behind the index.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from filelock import FileLock, Timeout

from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import CounterpointError, IndexUnusable
from counterpoint.retrieval.core.values import Document, Evidence, Grounding
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.store.documents import Store
from counterpoint.retrieval.store.manifest import STORE, Manifest
from counterpoint.service.grounding.find import Only
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.grounding.schemas import EvidenceOut
from counterpoint.service.memory.history import make_link
from counterpoint.service.memory.saved import IndexState, NewAlert, SavedClaims, Watched, hash_sources
from counterpoint.service.memory.schemas import AlertData, KeptPaper, Kind, Saved
from counterpoint.service.operating import metrics
from counterpoint.service.operating.libraries import Libraries, Library
from counterpoint.service.operating.live_index import LiveIndex, NotReady
from counterpoint.service.schemas import Provenance


def find_changes(index: Index, state: IndexState) -> Only | None:
    """Return a function that finds which of some documents are new or have changed texts since `state`.

    None if that cannot be known, so that all must be treated as changed.
    """
    if state.index == index.manifest.id:
        return lambda _pmids: ()
    if _is_update(index, state):
        return lambda pmids: [one for one, at in index.store.read_versions(pmids).items() if at > state.version]
    if (store := _open_version(index, state)) is None:
        return None
    store.close()
    return lambda pmids: _find_rewritten(index, state, pmids)


def _is_update(index: Index, state: IndexState) -> bool:
    """Whether only updates lead from the state seen to the index: they add to its sources, while a build starts afresh."""
    number = int(state.sources.partition(":")[0])
    manifest = index.manifest
    return manifest.version > state.version and len(manifest.sources) > number and hash_sources(manifest, number) == state.sources


def _open_version(index: Index, state: IndexState) -> Store | None:
    """Open the documents of an earlier version, which stay on disk until the next one."""
    folder = index.folder / f"v{state.version:04d}"
    if state.version == index.manifest.version or not (folder / STORE).is_file():
        return None
    try:
        return Store(folder / STORE)
    except IndexUnusable:
        return None


def _find_rewritten(index: Index, state: IndexState, pmids: Sequence[str]) -> list[str]:
    """Find the documents that the earlier version lacks or has with another title, abstract or full text."""
    store = _open_version(index, state)
    if store is None:  # it was removed meanwhile
        return list(pmids)
    try:
        stored_pmids = store.holds(pmids)
        old = {one.pmid: _text(one.document) for one in store.entries([pmid for pmid in pmids if pmid in stored_pmids])}
        before, now = store.hash_texts(pmids), index.store.hash_texts(pmids)
        return [
            one.pmid
            for one in index.entries(pmids)
            if old.get(one.pmid) != _text(one.document) or before.get(one.pmid) != now.get(one.pmid)
        ]
    finally:
        store.close()


def _text(document: Document) -> tuple[str, str]:
    return document.title, document.abstract


STRONG = 0.8
"""A further contradiction of a claim that already has one gives an alert from this probability on."""

_SAYS: dict[Kind, str] = {
    "first contradiction": "A paper contradicts this claim for the first time",
    "new contradiction": "Another paper contradicts this claim",
    "support retracted": "A paper that supports this claim was retracted",
    "paper removed": "A paper that was listed for this claim is no longer in the library",
}


@dataclass(frozen=True, slots=True)
class WatchReport:
    """How many claims were grounded again, how many alerts resulted, how many claims were up to date, and how many were saved on
    other indexes, which are not watched here."""

    grounded: int
    alerts: int
    up_to_date: int
    elsewhere: int


def watch(
    claims: SavedClaims, library: str, grounder: Grounder, on_claim: Callable[[Watched], object] = lambda _one: None
) -> WatchReport:
    """Ground every claim that was saved in a library and not yet grounded on the present state of the grounder's index, its own.

    `on_claim` is called with each claim before it is grounded; an exception from it ends the watch there, and the next watch
    resumes with that claim.
    """
    alerts, backlog = 0, claims.due(library, grounder.index.manifest)
    for one in backlog:
        on_claim(one)
        alerts += watch_claim(claims, one, grounder)
    total, others = claims.count(library)
    return WatchReport(len(backlog), alerts, max(0, total - len(backlog)), others)


def watch_claim(claims: SavedClaims, one: Watched, grounder: Grounder) -> int:
    """Ground one claim on the present state of the index, store its alerts, and return how many are new."""
    changes = find_changes(grounder.index, one.seen)
    grounding = grounder.ground(one.claim, only=changes)
    old_papers = _bring_up_to_date(one.saved.papers, grounder.index)
    left = {paper.pmid for paper in old_papers}
    removed: list[tuple[Kind, KeptPaper]] = [("paper removed", paper) for paper in one.saved.papers if paper.pmid not in left]
    changed = [*removed, *_retractions(one.saved.papers, old_papers), *_contradictions(old_papers, grounding)]
    papers = _join(old_papers, grounding, changes)
    provenance = Provenance.of(grounder)
    summary = _summarise(papers) if papers != one.saved.papers else one.saved.summary
    entry = one.saved.model_copy(update={"papers": papers, "provenance": provenance, "summary": summary})
    alerts = [_make_alert(kind, paper, entry, one.library, grounder) for kind, paper in changed]
    return claims.advance(one, IndexState.of(grounder.index.manifest), entry, alerts)


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
    found: list[tuple[Kind, KeptPaper]] = []
    for evidence in grounding.contradicting:
        if not _is_sound(evidence) or evidence.document.pmid in pmids:
            continue
        if some and evidence.score < STRONG:
            continue
        found.append(("new contradiction" if some else "first contradiction", KeptPaper.of(EvidenceOut.of(evidence))))
        some = True
    return found


def _is_sound(evidence: Evidence) -> bool:
    """Whether a model judged that the paper contradicts the claim, and the paper is not retracted."""
    return evidence.verdict.label == "contradict" and not evidence.document.retracted


def _join(old_papers: Sequence[KeptPaper], grounding: Grounding, changes: Only | None) -> list[KeptPaper]:
    """The papers on the claim's sides now: those found, and those from before that were not read again."""
    retracted = [one for one in grounding.uncertain if one.document.retracted]
    found = (*grounding.contradicting, *grounding.supporting, *retracted)
    new = [KeptPaper.of(EvidenceOut.of(one)) for one in found if one.document.retracted or one.verdict.label != "neutral"]
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


def _make_alert(kind: Kind, paper: KeptPaper, entry: Saved, library: str, grounder: Grounder) -> NewAlert:
    where = ", ".join(str(one) for one in (paper.journal, paper.year) if one)
    detail = f"{_SAYS[kind]}: {paper.title or paper.pmid}{f' ({where})' if where else ''}"
    data = AlertData(
        claim=entry.text,
        detail=detail if detail.endswith(".") else f"{detail}.",
        paper=paper,
        link=make_link(entry, library),
        index=grounder.index.manifest.id,
        index_version=grounder.index.manifest.version,
        models=grounder.models.names(),
    )
    return NewAlert(kind, data)


_log = logging.getLogger("counterpoint")
LOCK = "watch.lock"


class Watcher:
    """Grounds saved claims, one at a time, in the libraries whose index has changed; no other is opened for it.

    Only one of several processes does so at once.
    """

    def __init__(self, claims: SavedClaims, libraries: Libraries) -> None:
        self._claims, self._libraries = claims, libraries
        self._thread: threading.Thread | None = None
        self._stop_event = threading.Event()
        # A claim that cannot be grounded is skipped until the index changes again or the service is restarted.
        self._failures: set[tuple[str, int]] = set()

    def begin(self) -> None:
        """Start a thread that looks for claims to ground; if one is still running, leave it to go on."""
        if not self._stop_event.is_set() and not (self._thread and self._thread.is_alive()):
            self._thread = threading.Thread(target=self.run, name="watch", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop after the claim that is being grounded, and wait for that."""
        self._stop_event.set()
        if self._thread:
            self._thread.join()

    def run(self) -> int:
        """Ground the claims that are due, and return how many alerts resulted."""
        alerts = 0
        try:
            with (
                suppress(Timeout, NotReady),
                FileLock(self._claims.database.path.parent / LOCK, blocking=False, fallback_to_soft=False),
            ):
                watched = self._claims.libraries()
                for library in self._libraries.seen_by(None) if watched else ():
                    if library.id in watched and (manifest := library.with_manifest().manifest):
                        alerts += self._watch(library, manifest)
        except CounterpointError as error:
            _log.warning("saved claims were not checked: %s", error)
        except Exception:
            _log.exception("watching saved claims failed")
        return alerts

    def _watch(self, library: Library, manifest: Manifest) -> int:
        """Ground a library's claims until none lags behind its index, and return how many alerts are new."""
        alerts = 0
        while claims := [
            one for one in self._claims.due(library.id, manifest) if (one.id, manifest.version) not in self._failures
        ]:
            try:
                live = self._libraries.open(library)
                if live.ready().index.manifest != manifest:
                    break  # it will be, soon
                for one in claims:
                    if self._stop_event.is_set():
                        return alerts
                    alerts += self._ground(one, live)
            except NotReady:
                raise
            except CounterpointError as error:  # the other libraries are watched all the same
                _log.warning("the claims saved in the library %s were not checked: %s", library.id, error)
                break
        return alerts

    def _ground(self, one: Watched, live: LiveIndex) -> int:
        """Ground a claim on the index being served, and return how many alerts are new."""
        with live.lease() as service:
            try:
                alerts = watch_claim(self._claims, one, service.grounder)
            except Exception as error:
                self._note_failure(one, service.index.manifest.version, error)
                return 0
        metrics.WATCHED.inc()
        metrics.ALERTS.inc(alerts)
        return alerts

    def _note_failure(self, one: Watched, version: int, error: Exception) -> None:
        self._failures.add((one.id, version))
        if isinstance(error, CounterpointError):
            _log.warning("the saved claim %s was not checked: %s", one.id, error)
        else:
            _log.error("checking the saved claim %s failed", one.id, exc_info=error)

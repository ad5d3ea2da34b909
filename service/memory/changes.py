"""Which documents of an index are new or changed since a claim was last grounded on it.

Only those that are asked about are looked at: no index is read through.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from retrieval.core.errors import IndexUnusable
from retrieval.core.values import Document
from retrieval.index import Index
from retrieval.store.documents import RETRACTING, Store
from retrieval.store.manifest import STORE
from service.grounding.request import Only
from service.memory.saved import Seen, hash_sources

_NOTICES = frozenset({"Retraction of Publication", "Retraction Notice"})


def find_changes(index: Index, seen: Seen) -> Only | None:
    """Tells which of some documents are new or have other texts since `seen`, notices of retraction left out; None where that
    cannot be known and all must be taken for changed."""
    if seen.index == index.manifest.id:
        return _nothing
    if _is_update(index, seen):
        return lambda pmids: _without_notices(index, [one for one, at in index.store.written(pmids).items() if at > seen.version])
    if (before := _open_version(index, seen)) is None:
        return None
    before.close()
    return lambda pmids: _without_notices(index, _find_rewritten(index, seen, pmids))


def _nothing(_pmids: Sequence[str]) -> Collection[str]:
    return ()


def _is_update(index: Index, seen: Seen) -> bool:
    """Whether the index came from the state seen by updates alone: they add to its sources, a build begins anew."""
    number = int(seen.sources.partition(":")[0])
    manifest = index.manifest
    return manifest.version > seen.version and len(manifest.sources) > number and hash_sources(manifest, number) == seen.sources


def _open_version(index: Index, seen: Seen) -> Store | None:
    """The documents of an earlier version, which stay on the disk until the next one."""
    folder = index.folder / f"v{seen.version:04d}"
    if seen.version == index.manifest.version or not (folder / STORE).is_file():
        return None
    try:
        return Store(folder / STORE)
    except IndexUnusable:
        return None


def _find_rewritten(index: Index, seen: Seen, pmids: Sequence[str]) -> list[str]:
    """Those whose title or abstract differs from what the earlier version has, or which it lacks."""
    before = _open_version(index, seen)
    if before is None:  # it was removed meanwhile
        return list(pmids)
    try:
        held = before.holds(pmids)
        old = {one.pmid: _text(one.document) for one in before.entries([pmid for pmid in pmids if pmid in held])}
        return [one.pmid for one in index.entries(pmids) if old.get(one.pmid) != _text(one.document)]
    finally:
        before.close()


def _text(document: Document) -> tuple[str, str]:
    return document.title, document.abstract


def _without_notices(index: Index, pmids: Sequence[str]) -> list[str]:
    """A notice says of another paper that it is retracted, and finds nothing itself."""
    return [one.pmid for one in index.entries(pmids) if not _is_notice(one.document)]


def _is_notice(document: Document) -> bool:
    return any(one.kind in RETRACTING for one in document.notices) or not _NOTICES.isdisjoint(document.types)

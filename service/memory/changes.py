"""Which documents of an index are new or changed since a claim was last grounded on it.

Only the documents asked about are looked at; no index is read as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from retrieval.core.errors import IndexUnusable
from retrieval.core.values import Document
from retrieval.index import Index
from retrieval.store.documents import Store
from retrieval.store.manifest import STORE
from service.grounding.request import Only
from service.memory.saved import Seen, hash_sources


def find_changes(index: Index, seen: Seen) -> Only | None:
    """Return a function that finds which of some documents are new or have changed texts since `seen`.

    None if that cannot be known, so that all must be treated as changed.
    """
    if seen.index == index.manifest.id:
        return _nothing
    if _is_update(index, seen):
        return lambda pmids: [one for one, at in index.store.written(pmids).items() if at > seen.version]
    if (before := _open_version(index, seen)) is None:
        return None
    before.close()
    return lambda pmids: _find_rewritten(index, seen, pmids)


def _nothing(_pmids: Sequence[str]) -> Collection[str]:
    return ()


def _is_update(index: Index, seen: Seen) -> bool:
    """Whether only updates lead from the state seen to the index: they add to its sources, while a build starts afresh."""
    number = int(seen.sources.partition(":")[0])
    manifest = index.manifest
    return manifest.version > seen.version and len(manifest.sources) > number and hash_sources(manifest, number) == seen.sources


def _open_version(index: Index, seen: Seen) -> Store | None:
    """Open the documents of an earlier version, which stay on disk until the next one."""
    folder = index.folder / f"v{seen.version:04d}"
    if seen.version == index.manifest.version or not (folder / STORE).is_file():
        return None
    try:
        return Store(folder / STORE)
    except IndexUnusable:
        return None


def _find_rewritten(index: Index, seen: Seen, pmids: Sequence[str]) -> list[str]:
    """Find the documents that the earlier version lacks or has with another title or abstract."""
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

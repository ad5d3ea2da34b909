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
from service.grounding.find import Only
from service.memory.saved import IndexState, hash_sources


def find_changes(index: Index, state: IndexState) -> Only | None:
    """Return a function that finds which of some documents are new or have changed texts since `state`.

    None if that cannot be known, so that all must be treated as changed.
    """
    if state.index == index.manifest.id:
        return _nothing
    if _is_update(index, state):
        return lambda pmids: [one for one, at in index.store.read_versions(pmids).items() if at > state.version]
    if (store := _open_version(index, state)) is None:
        return None
    store.close()
    return lambda pmids: _find_rewritten(index, state, pmids)


def _nothing(_pmids: Sequence[str]) -> Collection[str]:
    return ()


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
    """Find the documents that the earlier version lacks or has with another title or abstract."""
    store = _open_version(index, state)
    if store is None:  # it was removed meanwhile
        return list(pmids)
    try:
        stored_pmids = store.holds(pmids)
        old = {one.pmid: _text(one.document) for one in store.entries([pmid for pmid in pmids if pmid in stored_pmids])}
        return [one.pmid for one in index.entries(pmids) if old.get(one.pmid) != _text(one.document)]
    finally:
        store.close()


def _text(document: Document) -> tuple[str, str]:
    return document.title, document.abstract

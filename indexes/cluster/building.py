"""Building an index on a cluster and updating it.

A build goes into an index with a new name, which nothing searches before it is complete; then the address's name, an alias, is
switched to it. An update writes document by document into the index that is being searched. At the end of either, retractions
are marked, documents are counted, and the manifest is written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from counterpoint.indexes import plan
from counterpoint.indexes.cluster.texts import TextsWriter
from counterpoint.indexes.cluster.writer import (
    BulkSender,
    ClusterWriter,
    Progress,
    WriteLock,
    drop_progress,
    index_action,
    list_cue_names,
    read_progress,
    refresh,
)
from counterpoint.indexes.readers import Columns
from counterpoint.indexes.sources import BuildReport, describe_emptiness, read_all
from counterpoint.retrieval.bm25.analysis import BIOMEDICAL, check_analyzer
from counterpoint.retrieval.cluster.client import Address, connect, read_access, translate_faults
from counterpoint.retrieval.cluster.mapping import (
    LIMBS,
    MANIFEST,
    VECTORS,
    add_up,
    derive,
    make_mapping,
    make_settings,
    read_state,
)
from counterpoint.retrieval.cluster.search import page_sources, run_search
from counterpoint.retrieval.cluster.texts import make_text_mapping, name_texts
from counterpoint.retrieval.core.errors import BadInput, IndexUnusable
from counterpoint.retrieval.store.documents import find_targets
from counterpoint.retrieval.store.manifest import FORMAT, WITH_TEXTS, IndexCounts, Manifest

_PAGE = 1000


def mark_retractions(address: Address, name: str) -> None:
    """Mark the documents that notices in the index point to, whichever came first, and unmark those that none points to.

    A document's own statement that it is retracted (1) stays. Needs a refresh before, and makes one after.
    """
    sources = _find(address, name, {"exists": {"field": "retracts"}}, ["notices", "pmid"])
    targets = {target for source in sources for target in find_targets(source["notices"])}
    additions = [source for ids in _split(sorted(targets)) for source in _find(address, name, _among(ids, 0))]
    retractions = _find(address, name, {"term": {"retracted": 2}})
    sender = BulkSender(address, name)
    try:
        _rewrite(sender, additions, 2)
        _rewrite(sender, (source for source in retractions if source["pmid"] not in targets), 0)
    finally:
        sender.close()
    refresh(address, name)


def count(address: Address, name: str) -> tuple[IndexCounts, str]:
    """The counts of an index and the hash of its texts, added up by the cluster; unrefreshed writes do not count."""
    fields = ["sentence_count", "cue_count", "cue_sentence_count", *(f"limbs.l{place}" for place in range(LIMBS))]
    body = {
        "query": {"exists": {"field": "pmid"}},
        "size": 0,
        "track_total_hits": True,
        "aggs": {field: {"sum": {"field": field}} for field in fields}
        | {"retracted": {"filter": {"range": {"retracted": {"gt": 0}}}}},
    }
    reply = run_search(address, name, body)
    sums = {field: float(reply["aggregations"][field]["value"]) for field in fields}
    sentences, cues, cue_sentences = (round(sums[field]) for field in fields[:3])
    retractions = int(reply["aggregations"]["retracted"]["doc_count"])
    counts = IndexCounts(int(reply["hits"]["total"]["value"]), sentences, cues, cue_sentences, retractions)
    return counts, add_up([sums[field] for field in fields[3:]])


def write_manifest(address: Address, name: str, manifest: Manifest, cue_names: Mapping[int, str]) -> None:
    """Put the manifest in place: from now on it describes the index."""
    source = {"manifest": json.dumps(manifest.to_json()), "cue_names": {str(number): cue for number, cue in cue_names.items()}}
    with translate_faults(address):
        connect(address).index(index=name, id=MANIFEST, body=source, params={"request_timeout": 60})


def _find(address: Address, name: str, query: dict[str, Any], fields: list[str] | bool = True) -> list[dict[str, Any]]:
    return [source for page in page_sources(address, name, query, fields, _PAGE) for source in page]


def _among(ids: list[str], mark: int) -> dict[str, Any]:
    return {"bool": {"filter": [{"terms": {"pmid": ids}}, {"term": {"retracted": mark}}]}}


def _split(ids: list[str]) -> Iterator[list[str]]:
    return (ids[at : at + _PAGE] for at in range(0, len(ids), _PAGE))


def _rewrite(sender: BulkSender, sources: Iterable[dict[str, Any]], mark: int) -> None:
    """Write documents again with another mark, at their own place in the order of writes."""
    revisions = [source | {"retracted": mark} | derive(source) for source in sources]
    sender.send([index_action(revision["pmid"], revision, revision["order"], again=True) for revision in revisions])
    sender.wait()


_MERGE_SECONDS, _COPY_SECONDS = 3600, 600
_VERSION = re.compile(r"-v(\d{4,})")
Files = Sequence[tuple[Path, str]]


def build_on_cluster(
    address: Address,
    files: Files,
    skip_bad: int = 0,
    overwrite: bool = False,
    columns: Columns | None = None,
    description: str = "",
    analyzer: str = BIOMEDICAL,
    full_texts: Sequence[Path] = (),
) -> BuildReport:
    """Build an index of these files (each with its format) and of full texts under an address.

    A build that was killed resumes where it stopped when it is started again with the same sources. Raises `BadInput` if the
    address already has an index (unless `overwrite`).
    """
    check_analyzer(analyzer)
    with translate_faults(address):
        name, version = choose_name(address, overwrite)
        progress = open_or_restart(address, name, plan.make_fingerprint(files, columns, analyzer, full_texts), version, analyzer)
    with WriteLock(address, name) as lock:
        if full_texts:
            open_texts(address, name, analyzer)
        with open_writer(address, name, progress, lock, bool(full_texts)) as writer:
            reading = read_all(writer, None, files, skip_bad, columns, full_texts)
            part = writer.finish_texts() if isinstance(writer, TextsWriter) else None
        finish_copies(address, name)
        if full_texts:
            finish_copies(address, name_texts(name))
        mark_retractions(address, name)
        summary = count(address, name)
        if not summary[0].documents:
            raise BadInput(describe_emptiness(reading))
        versions = {"opensearch": read_version(address)}
        manifest = plan.make_manifest(
            progress.version, name, summary, reading.sources, versions=versions, description=description, analyzer=analyzer,
            format=WITH_TEXTS if part else FORMAT, texts=part,
        )  # fmt: skip
        write_manifest(address, name, manifest, list_cue_names())
        put_in_place(address, name)
        drop_progress(address, name)
    return reading.report(manifest)


def update_on_cluster(
    address: Address, files: Files, skip_bad: int = 0, columns: Columns | None = None, full_texts: Sequence[Path] = ()
) -> BuildReport:
    """Replace documents by PMID, apply deletions, mark retractions, while searches go on; each sees whole documents, old or new.

    An update that was killed resumes where it stopped when it is started again with the same sources.
    """
    name = read_state(address).name
    with WriteLock(address, name) as lock:
        old = read_state(address).manifest
        plan.check_settings(old, str(address))
        progress, texts = _resume_update(address, name, old, files, columns, full_texts), bool(old.texts or full_texts)
        if texts:
            open_texts(address, name, old.analyzer)
        with open_writer(address, name, progress, lock, texts) as writer:
            reading = read_all(writer, None, files, skip_bad, columns, full_texts)
            part = writer.finish_texts() if isinstance(writer, TextsWriter) else None
        if part and not old.texts:
            finish_copies(address, name_texts(name))
        refresh(address, name)
        mark_retractions(address, name)
        summary, versions = count(address, name), {"opensearch": read_version(address)}
        manifest = plan.make_manifest(
            progress.version, name, summary, reading.sources, old, versions=versions,
            format=WITH_TEXTS if part else FORMAT, texts=part,
        )  # fmt: skip
        if manifest.dense and (reading.changes.touched or summary != (old.counts, old.corpus_sha256)):
            # Documents that were written have lost their vectors, even if their words are the same.
            manifest = replace(manifest, dense=replace(manifest.dense, corpus_sha256=""))
        write_manifest(address, name, manifest, read_state(address).cue_names)
        drop_progress(address, name)
    return reading.report(manifest, old)


@contextmanager
def open_writer(address: Address, name: str, progress: Progress, lock: WriteLock, texts: bool) -> Iterator[ClusterWriter]:
    """A writer, with `texts` of full texts too, whose last batch is in when the block ends without an error."""
    writer = (TextsWriter if texts else ClusterWriter)(address, name, progress, lock)
    try:
        yield writer
        writer.settle()
    finally:
        writer.close()


def choose_name(address: Address, overwrite: bool) -> tuple[str, int]:
    """The real name of an index to build, and its version; raises `BadInput` if the address may not be used."""
    client = connect(address)
    aliases = client.indices.get_alias(name=address.name, ignore=[404])
    current = [] if "error" in aliases else list(aliases)
    if not current and client.indices.exists(index=address.name):
        raise BadInput(f"{address.name} is an index on the cluster that Counterpoint did not build; name another address.")
    if current and not overwrite:
        raise BadInput(f"{address} already exists; name a new address, or add --overwrite to replace it when the build is done.")
    matches = [_VERSION.fullmatch(name.removeprefix(address.name)) for name in current]
    number = 1 + max([int(match[1]) for match in matches if match], default=0)
    version = number
    if current:
        # An update raises the version of an index, but not the number in its name.
        with suppress(IndexUnusable):
            version = max(number, read_state(address).manifest.version + 1)
    return f"{address.name}-v{number:04d}", version


def open_or_restart(address: Address, name: str, fingerprint: str, version: int, analyzer: str) -> Progress:
    """The progress of an earlier attempt at the same build, else that of a new one, in an index made for it."""
    client = connect(address)
    if client.indices.exists(index=name):
        progress = read_progress(address, name)
        if progress and progress.fingerprint == fingerprint:
            return progress
        with WriteLock(address, name):
            client.indices.delete(index=name)
    client.indices.delete(index=name_texts(name), ignore=[404])
    _create(client, name, {"settings": {"index": make_settings(read_access().shards)}, "mappings": make_mapping(analyzer)})
    progress = Progress(fingerprint, version)
    progress.write(address, name)
    return progress


def open_texts(address: Address, name: str, analyzer: str) -> None:
    """Make the index of full texts beside the index of documents of this name, unless it is there."""
    with translate_faults(address):
        client = connect(address)
        if not client.indices.exists(index=name_texts(name)):
            settings = {"index": make_settings(read_access().shards)}
            body = {"settings": settings, "mappings": make_text_mapping(analyzer)}
            params = {"wait_for_active_shards": "all", "request_timeout": 60}
            client.indices.create(index=name_texts(name), body=body, params=params)


def _create(client: Any, name: str, body: dict[str, Any]) -> None:
    """Create an index that can have vectors if the cluster has the plugin for them, which only a new index can be told."""
    from opensearchpy import RequestError

    params = {"wait_for_active_shards": "all", "request_timeout": 60}
    try:
        client.indices.create(
            index=name, body={**body, "settings": {"index": {**body["settings"]["index"], **VECTORS}}}, params=params
        )
    except RequestError as error:
        if "index.knn" not in str(error):
            raise
        client.indices.create(index=name, body=body, params=params)


def _resume_update(
    address: Address, name: str, old: Manifest, files: Files, columns: Columns | None, full_texts: Sequence[Path]
) -> Progress:
    fingerprint = plan.make_fingerprint(files, columns, old.analyzer, full_texts)
    progress = read_progress(address, name)
    if progress and progress.version > old.version:
        if progress.fingerprint != fingerprint:
            names = ", ".join(progress.files[:5])
            raise BadInput(f"An earlier update of {address} was stopped midway; run it again first, with its sources: {names}.")
        return progress
    progress = Progress(fingerprint, old.version + 1, [path.name for path in (*(path for path, _ in files), *full_texts)])
    progress.write(address, name)
    return progress


def finish_copies(address: Address, name: str) -> None:
    """Make a built index ready for searches: merge it, add its replicas, and refresh it every second."""
    with translate_faults(address):
        client, access = connect(address), read_access()
        merge_segments(address, name)
        ready = {"index": {"refresh_interval": "1s", "number_of_replicas": access.replicas}}
        client.indices.put_settings(index=name, body=ready, params={"request_timeout": 60})
        if client.cluster.health(index=name)["number_of_data_nodes"] > access.replicas:
            # A node that dies before its shards are copied would take them along.
            waiting = {"wait_for_status": "green", "timeout": f"{_COPY_SECONDS}s", "request_timeout": _COPY_SECONDS + 60}
            client.cluster.health(index=name, params=waiting, ignore=[408])
        client.indices.refresh(index=name, params={"request_timeout": _MERGE_SECONDS})


def merge_segments(address: Address, name: str) -> None:
    """Merge each shard into one segment, so that replaced or deleted documents no longer count in statistics.

    A cluster keeps those of the last half minute for replicas of the shard that may lag behind.
    """
    with translate_faults(address):
        client = connect(address)
        client.indices.flush(index=name, params={"request_timeout": _MERGE_SECONDS})
        client.indices.forcemerge(index=name, params={"max_num_segments": 1, "request_timeout": _MERGE_SECONDS})
        client.indices.refresh(index=name, params={"request_timeout": _MERGE_SECONDS})


def put_in_place(address: Address, name: str) -> None:
    """Point the address's name to this index, atomically; of the older indexes only the previous one is kept."""
    with translate_faults(address):
        client = connect(address)
        aliases = client.indices.get_alias(name=address.name, ignore=[404])
        old_names = sorted(other for other in ([] if "error" in aliases else aliases) if other != name)
        actions = [{"remove": {"index": other, "alias": address.name}} for other in old_names]
        actions.append({"add": {"index": name, "alias": address.name}})
        client.indices.update_aliases(body={"actions": actions}, params={"request_timeout": 60})
        # A service has the previous index open until it looks again.
        others = client.indices.get(index=f"{address.name}-v*", ignore=[404])
        for other in others if "error" not in others else []:
            if _VERSION.fullmatch(other.removeprefix(address.name)) and other not in (name, *old_names):
                client.indices.delete(index=other, ignore=[404])
                client.indices.delete(index=name_texts(other), ignore=[404])


def read_version(address: Address) -> str:
    """The version of the cluster."""
    with translate_faults(address):
        return str(connect(address).info()["version"]["number"])

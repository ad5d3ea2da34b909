"""Building an index on a cluster and updating it.

A build goes into an index with a new name, which nothing searches before it is complete; then the address's name, an alias, is
switched to it. An update writes document by document into the index that is being searched. At the end of either, retractions
are marked, documents are counted, and the manifest is written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any

from counterpoint.indexes import plan
from counterpoint.indexes.cluster.writer import (
    BulkSender,
    ClusterWriter,
    Progress,
    WriteLock,
    drop_progress,
    index_action,
    keep,
    list_cue_names,
    read_progress,
    refresh,
)
from counterpoint.indexes.plan import Inputs
from counterpoint.indexes.sources import BuildReport, SourcesRead, describe_emptiness, read_all
from counterpoint.retrieval.bm25.analysis import BIOMEDICAL, check_analyzer
from counterpoint.retrieval.cluster.client import Address, connect, load_library, read_access, translate_faults
from counterpoint.retrieval.cluster.mapping import (
    LIMBS,
    MANIFEST,
    VECTORS,
    add_up,
    derive,
    make_mapping,
    make_settings,
    make_text_mapping,
    name_texts,
    read_state,
)
from counterpoint.retrieval.cluster.search import page_sources, run_search
from counterpoint.retrieval.core.errors import BadInput, IndexUnusable
from counterpoint.retrieval.store.documents import find_targets
from counterpoint.retrieval.store.manifest import FORMAT, WITH_TEXTS, IndexCounts, Manifest

_PAGE = 1000


def mark_retractions(address: Address, name: str) -> None:
    """Mark the documents that notices in the index point to, whichever came first, and unmark those that none points to.

    A document's own statement that it is retracted (1) stays. Needs a refresh before, and makes one after.
    """
    sources = _find(address, name, {"exists": {"field": "retracts"}}, ["notices", "pmid"])
    pointed = {target for source in sources for target in find_targets(source["notices"])}
    targets, additions = sorted(pointed), list[dict[str, Any]]()
    for at in range(0, len(targets), _PAGE):
        among = [{"terms": {"pmid": targets[at : at + _PAGE]}}, {"term": {"retracted": 0}}]
        additions += _find(address, name, {"bool": {"filter": among}})
    retractions = [one for one in _find(address, name, {"term": {"retracted": 2}}) if one["pmid"] not in pointed]
    with closing(BulkSender(address, name)) as sender:
        for sources, mark in ((additions, 2), (retractions, 0)):
            # Each at its own place in the order of writes.
            revisions = [source | {"retracted": mark} | derive(source) for source in sources]
            sender.send([index_action(revision["pmid"], revision, revision["order"], again=True) for revision in revisions])
            sender.wait()
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
    names = {str(number): cue for number, cue in cue_names.items()}
    keep(address, name, MANIFEST, {"manifest": json.dumps(manifest.to_json()), "cue_names": names})


def _find(address: Address, name: str, query: dict[str, Any], fields: list[str] | bool = True) -> list[dict[str, Any]]:
    return [source for page in page_sources(address, name, query, fields, _PAGE) for source in page]


_MERGE_SECONDS, _COPY_SECONDS = 3600, 600
_VERSION = re.compile(r"-v(\d{4,})")


def build_on_cluster(
    address: Address, inputs: Inputs, overwrite: bool = False, description: str = "", analyzer: str = BIOMEDICAL
) -> BuildReport:
    """Build an index of these inputs under an address.

    A build that was killed resumes where it stopped when it is started again with the same sources. Raises `BadInput` if the
    address already has an index (unless `overwrite`).
    """
    check_analyzer(analyzer)
    with translate_faults(address):
        name, version = choose_name(address, overwrite)
        progress = open_or_restart(address, name, plan.make_fingerprint(inputs, analyzer), version, analyzer)
    with WriteLock(address, name) as lock:
        reading, manifest = _write(address, name, progress, lock, inputs, None, analyzer, description)
        write_manifest(address, name, manifest, list_cue_names())
        put_in_place(address, name)
        drop_progress(address, name)
    return reading.report(manifest)


def update_on_cluster(address: Address, inputs: Inputs) -> BuildReport:
    """Replace documents by PMID, apply deletions, mark retractions, while searches go on; each sees whole documents, old or new.

    An update that was killed resumes where it stopped when it is started again with the same sources.
    """
    name = read_state(address).name
    with WriteLock(address, name) as lock:
        state = read_state(address)
        old = state.manifest
        plan.check_settings(old, str(address))
        progress = _resume_update(address, name, old, inputs)
        reading, manifest = _write(address, name, progress, lock, inputs, old, old.analyzer)
        if manifest.dense and (
            reading.changes.touched or (manifest.counts, manifest.corpus_sha256) != (old.counts, old.corpus_sha256)
        ):
            # Documents that were written have lost their vectors, even if their words are the same.
            manifest = replace(manifest, dense=replace(manifest.dense, corpus_sha256=""))
        write_manifest(address, name, manifest, state.cue_names)
        drop_progress(address, name)
    return reading.report(manifest, old)


def _write(
    address: Address,
    name: str,
    progress: Progress,
    lock: WriteLock,
    inputs: Inputs,
    old: Manifest | None,
    analyzer: str,
    description: str = "",
) -> tuple[SourcesRead, Manifest]:
    """Write everything into an index, mark retractions and count: what was read, and the new manifest, made from `old` if there
    was one."""
    texts, had_texts = bool(inputs.full_texts or (old and old.texts)), bool(old and old.texts)
    if texts:
        open_texts(address, name, analyzer)
    with closing(ClusterWriter(address, name, progress, lock, texts)) as writer:
        reading = read_all(writer, None, inputs, old.counts.documents if old else 0)
        part = writer.finish_texts()
    if not old:
        finish_copies(address, name)
    if texts and not had_texts:
        finish_copies(address, name_texts(name))
    refresh(address, name)
    mark_retractions(address, name)
    summary = count(address, name)
    if not (old or summary[0].documents):
        raise BadInput(describe_emptiness(reading))
    return reading, plan.make_manifest(
        progress.version, name, summary, reading.sources, old, versions={"opensearch": read_version(address)},
        format=WITH_TEXTS if part else FORMAT, description=description, analyzer=analyzer, texts=part,
    )  # fmt: skip


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
    try:
        # Only a new index can be told that it may have vectors, and only if the cluster has the plugin for them.
        _create(address, name, make_mapping(analyzer), VECTORS)
    except load_library().RequestError as error:
        if "index.knn" not in str(error):
            raise
        _create(address, name, make_mapping(analyzer))
    progress = Progress(fingerprint, version)
    progress.write(address, name)
    return progress


def open_texts(address: Address, name: str, analyzer: str) -> None:
    """Make the index of full texts beside the index of documents of this name, unless it is there."""
    with translate_faults(address):
        if not connect(address).indices.exists(index=name_texts(name)):
            _create(address, name_texts(name), make_text_mapping(analyzer))


def _create(address: Address, name: str, mapping: dict[str, Any], more: Mapping[str, Any] = {}) -> None:
    body = {"settings": {"index": make_settings(read_access().shards) | dict(more)}, "mappings": mapping}
    params = {"wait_for_active_shards": "all", "request_timeout": 60}
    connect(address).indices.create(index=name, body=body, params=params)


def _resume_update(address: Address, name: str, old: Manifest, inputs: Inputs) -> Progress:
    fingerprint = plan.make_fingerprint(inputs, old.analyzer)
    progress = read_progress(address, name)
    if progress and progress.version > old.version:
        if progress.fingerprint != fingerprint:
            names = ", ".join(progress.files[:5])
            raise BadInput(f"An earlier update of {address} was stopped midway; run it again first, with its sources: {names}.")
        return progress
    paths = [*(path for path, _ in inputs.files), *inputs.full_texts]
    progress = Progress(fingerprint, old.version + 1, [path.name for path in paths])
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

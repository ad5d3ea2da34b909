"""Building an index on a cluster and updating it.

A build goes into an index with a new name, which nothing searches before it is complete; then the address's name, an alias, is
switched to it. An update writes document by document into the index that is being searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from indexes import plan
from indexes.cluster.finishing import count, mark_retractions, refresh, write_manifest
from indexes.cluster.progress import Progress, WriteLock, drop_progress, read_progress
from indexes.cluster.writer import ClusterWriter, list_cue_names
from indexes.readers import Columns
from indexes.report import BuildReport, describe_emptiness, read_all
from retrieval.cluster.address import Address
from retrieval.cluster.client import connect, read_access
from retrieval.cluster.faults import translate_faults
from retrieval.cluster.mapping import make_mapping, make_settings
from retrieval.cluster.state import read_state
from retrieval.core.errors import BadInput, IndexUnusable
from retrieval.store.manifest import Manifest

_LONG = 3600
_VERSION = re.compile(r"-v(\d{4,})")
Files = Sequence[tuple[Path, str]]


def build_on_cluster(
    address: Address,
    files: Files,
    skip_bad: int = 0,
    overwrite: bool = False,
    columns: Columns | None = None,
    description: str = "",
) -> BuildReport:
    """Build an index of these files (each with its format) under an address.

    A build that was killed resumes where it stopped when it is started again with the same sources. Raises `BadInput` if the
    address already has an index (unless `overwrite`).
    """
    with translate_faults(address):
        name, version = choose_name(address, overwrite)
        progress = open_or_restart(address, name, plan.make_fingerprint(files, columns), version)
    with WriteLock(address, name) as lock:
        with open_writer(address, name, progress, lock) as writer:
            reading = read_all(writer, None, files, skip_bad, columns)
        finish_copies(address, name)
        mark_retractions(address, name)
        summary = count(address, name)
        if not summary[0].documents:
            raise BadInput(describe_emptiness(reading.sources))
        versions = {"opensearch": read_version(address)}
        manifest = plan.make_manifest(
            progress.version, name, summary, reading.sources, versions=versions, description=description
        )
        write_manifest(address, name, manifest, list_cue_names())
        put_in_place(address, name)
        drop_progress(address, name)
    return reading.report(manifest)


def update_on_cluster(address: Address, files: Files, skip_bad: int = 0, columns: Columns | None = None) -> BuildReport:
    """Replace documents by PMID, apply deletions, mark retractions, while searches go on; each sees whole documents, old or new.

    An update that was killed resumes where it stopped when it is started again with the same sources.
    """
    name = read_state(address).name
    with WriteLock(address, name) as lock:
        old = read_state(address).manifest
        plan.check_settings(old, str(address))
        progress = _resume_update(address, name, old, files, columns)
        with open_writer(address, name, progress, lock) as writer:
            reading = read_all(writer, None, files, skip_bad, columns)
        refresh(address, name)
        mark_retractions(address, name)
        versions = {"opensearch": read_version(address)}
        manifest = plan.make_manifest(progress.version, name, count(address, name), reading.sources, old, versions=versions)
        write_manifest(address, name, manifest, read_state(address).cue_names)
        drop_progress(address, name)
    return reading.report(manifest, old)


@contextmanager
def open_writer(address: Address, name: str, progress: Progress, lock: WriteLock) -> Iterator[ClusterWriter]:
    """A writer whose last batch is in when the block ends without an error."""
    writer = ClusterWriter(address, name, progress, lock)
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


def open_or_restart(address: Address, name: str, fingerprint: str, version: int) -> Progress:
    """The progress of an earlier attempt at the same build, else that of a new one, in an index made for it."""
    client = connect(address)
    if client.indices.exists(index=name):
        progress = read_progress(address, name)
        if progress and progress.fingerprint == fingerprint:
            return progress
        with WriteLock(address, name):
            client.indices.delete(index=name)
    body = {"settings": {"index": make_settings(read_access().shards)}, "mappings": make_mapping()}
    client.indices.create(index=name, body=body, params={"wait_for_active_shards": "all", "request_timeout": 60})
    progress = Progress(fingerprint, version)
    progress.write(address, name)
    return progress


def _resume_update(address: Address, name: str, old: Manifest, files: Files, columns: Columns | None) -> Progress:
    fingerprint = plan.make_fingerprint(files, columns)
    progress = read_progress(address, name)
    if progress and progress.version > old.version:
        if progress.fingerprint != fingerprint:
            names = ", ".join(progress.files[:5])
            raise BadInput(f"An earlier update of {address} was stopped midway; run it again first, with its sources: {names}.")
        return progress
    progress = Progress(fingerprint, old.version + 1, [path.name for path, _ in files])
    progress.write(address, name)
    return progress


def finish_copies(address: Address, name: str) -> None:
    """Make a built index ready for searches: merge it, add its replicas, and refresh it every second."""
    with translate_faults(address):
        client, access = connect(address), read_access()
        merge_segments(address, name)
        ready = {"index": {"refresh_interval": "1s", "number_of_replicas": access.replicas}}
        client.indices.put_settings(index=name, body=ready, params={"request_timeout": 60})
        client.indices.refresh(index=name, params={"request_timeout": _LONG})


def merge_segments(address: Address, name: str) -> None:
    """Merge each shard into one segment, so that replaced or deleted documents no longer count in statistics.

    A cluster keeps those of the last half minute for replicas of the shard that may lag behind.
    """
    with translate_faults(address):
        client = connect(address)
        client.indices.flush(index=name, params={"request_timeout": _LONG})
        client.indices.forcemerge(index=name, params={"max_num_segments": 1, "request_timeout": _LONG})
        client.indices.refresh(index=name, params={"request_timeout": _LONG})


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


def read_version(address: Address) -> str:
    """The version of the cluster."""
    with translate_faults(address):
        return str(connect(address).info()["version"]["number"])

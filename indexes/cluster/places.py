"""Building, updating, copying and following an index wherever it is: in a folder or on a cluster.

A copy from one to the other is unchanged: no text is split or scanned again. `counterpoint index follow` applies new update
files as they come. They must be applied in the order of their numbers, once each; an index's manifest names the files that
went into it, so whatever dies in between, the next check finds what is left.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from counterpoint.indexes import build as embedded
from counterpoint.indexes import plan
from counterpoint.indexes import update as updating
from counterpoint.indexes.cluster.building import (
    build_on_cluster,
    choose_name,
    count,
    finish_copies,
    merge_segments,
    open_or_restart,
    open_texts,
    put_in_place,
    read_version,
    update_on_cluster,
    write_manifest,
)
from counterpoint.indexes.cluster.writer import Action, BulkSender, WriteLock, drop_progress, index_action
from counterpoint.indexes.full_texts import list_passages
from counterpoint.indexes.plan import hold_lock, report_interrupt
from counterpoint.indexes.readers import Columns
from counterpoint.indexes.sources import BuildReport
from counterpoint.indexes.writer import Change, LuceneWriters, StoreWriter, take_text
from counterpoint.retrieval.bm25.analysis import BIOMEDICAL
from counterpoint.retrieval.cluster.client import Address, ClusterBusy, is_address, read_address, translate_faults
from counterpoint.retrieval.cluster.mapping import (
    make_passage_source,
    make_source,
    make_text_source,
    name_texts,
    read_row,
    read_state,
    read_text,
)
from counterpoint.retrieval.cluster.search import ClusterDocuments
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadInput, IndexUnusable, Unfinished
from counterpoint.retrieval.core.progress import make_bar
from counterpoint.retrieval.index import read_index_manifest
from counterpoint.retrieval.store.documents import Store, open_read_only, read_rows
from counterpoint.retrieval.store.journal import hash_json
from counterpoint.retrieval.store.library import write_new_file
from counterpoint.retrieval.store.manifest import (
    FORMAT,
    STORE,
    WITH_TEXTS,
    IndexSource,
    Manifest,
    list_data_files,
    read_manifest,
)

_BATCH, _TEXTS_AT_ONCE = 1000, 50


def copy_to_cluster(folder: Path, address: Address, overwrite: bool = False) -> Manifest:
    """Copy an embedded index to a cluster, without its vectors; a stopped copy resumes where it was.

    Raises `IndexUnusable` for an index with another analysis, and if the copy differs in the end.
    """
    manifest = _renew(read_manifest(folder), str(folder))
    with translate_faults(address):
        name, _ = choose_name(address, overwrite)
        fingerprint = hash_json([manifest.corpus_sha256, manifest.version, manifest.created, str(folder.resolve())])
        progress = open_or_restart(address, name, fingerprint, manifest.version, manifest.analyzer)
    with (
        WriteLock(address, name) as lock,
        closing(BulkSender(address, name)) as sender,
        closing(open_read_only(folder / manifest.data / STORE)) as store,
        make_bar(f"Copying to {address}", "documents", manifest.counts.documents) as bar,
    ):
        for rows in read_rows(store, progress.last):
            sender.send([index_action(row[0], make_source(row, version, 1), 1) for row, version in rows])
            # What was sent earlier is in by now; a resumed copy sends the batch just sent again.
            progress.write(address, name)
            progress.last = rows[-1][0][0]
            lock.renew()
            bar.update(len(rows))
        sender.wait()
        if manifest.texts:
            _copy_texts(folder / manifest.data, address, name, manifest.analyzer, lock)
        finish_copies(address, name)
        versions = manifest.versions | {"opensearch": read_version(address)}
        new_manifest = replace(manifest, data=name, files={}, dense=None, versions=versions)
        _check_same(new_manifest, count(address, name), str(address))
        write_manifest(address, name, new_manifest, dict(store.execute("SELECT id, name FROM cue_names")))
        put_in_place(address, name)
        drop_progress(address, name)
    return new_manifest


def _copy_texts(data: Path, address: Address, name: str, analyzer: str, lock: WriteLock) -> None:
    """Copy the full texts of an index in a folder, and their passages; what is there already is sent again."""
    open_texts(address, name, analyzer)
    with (
        closing(BulkSender(address, name_texts(name))) as sender,
        closing(Store(data / STORE)) as store,
        make_bar("Copying full texts", "texts") as bar,
    ):
        for batch in store.texts(_TEXTS_AT_ONCE):
            titles, actions = {pmid: title for pmid, title, _ in batch}, list[Action]()
            texts = store.full_texts(list(titles))
            for pmid, text in texts.items():
                actions.append(index_action(pmid, make_text_source(text, titles[pmid], 1), 1, again=True))
                for passage, title, words, *_ in list_passages(text, titles[pmid]):
                    actions.append(index_action(passage, make_passage_source(passage, title, words), 1, again=True))
            sender.send(actions)
            lock.renew()
            bar.update(len(texts))
        sender.wait()
    finish_copies(address, name_texts(name))


def copy_to_folder(address: Address, out: Path) -> Manifest:
    """Copy an index from a cluster into a new folder; raises as `copy_to_cluster` does."""
    root = embedded.choose_root(out, overwrite=False)
    state = read_state(address)
    manifest = _renew(state.manifest, str(address))
    root.mkdir(parents=True, exist_ok=True)
    data = root / "v0001"
    with hold_lock(root):
        data.mkdir(exist_ok=True)
        (data / STORE).unlink(missing_ok=True)
        has_texts = bool(manifest.texts)
        store = StoreWriter(data / STORE, state.manifest.version, has_texts)
        lucene = LuceneWriters.open(data, False, state.manifest.analyzer, has_texts)
        try:
            store.name_cues(state.cue_names)
            with make_bar(f"Copying to {out}", "documents", state.manifest.counts.documents) as bar:
                for batch in ClusterDocuments(address, state).pages(_BATCH):
                    rows = [(read_row(source), int(source["written"])) for source in batch]
                    store.adopt(rows)
                    lucene.apply(Change([], [take_text(row) for row, _ in rows]))
                    bar.update(len(rows))
                for page in ClusterDocuments(address, state).text_pages():
                    lucene.apply(Change([], [], [], store.adopt_texts([read_text(source, state.cue_names) for source in page])))
            summary = store.summary()
            lucene.finish()
            store.finish()
        finally:
            lucene.abandon()
            store.close()
        new_manifest = replace(manifest, data=data.name, files=list_data_files(data), versions=plan.list_versions(), dense=None)
        _check_same(new_manifest, summary, str(out))
        write_new_file(root)
        new_manifest.write(root)
    (root / ".lock").unlink(missing_ok=True)
    os.rename(root, out.resolve())
    return new_manifest


def _renew(manifest: Manifest, place: str) -> Manifest:
    """The manifest of a copy: of today's format, with the same analyzer.

    Raises unless both sides search texts alike; a different cue list is copied unchanged, and refused by an update.
    """
    format = WITH_TEXTS if manifest.texts else FORMAT
    settings = plan.list_settings(manifest.analyzer, format)
    if any(manifest.settings.get(key) != settings[key] for key in ("analyzer", "bm25", "contents")):
        raise IndexUnusable(
            f"The index {place} was made by another version of Counterpoint (format {manifest.format}), which cannot be copied; "
            "build it again with `counterpoint index build`."
        )
    return replace(manifest, format=format, settings=settings | {"cues": manifest.settings["cues"]})


def _check_same(manifest: Manifest, summary: tuple[Any, str], place: str) -> None:
    counts, digest = summary
    if digest != manifest.corpus_sha256 or counts != manifest.counts:
        raise IndexUnusable(
            f"The copy at {place} is not the same ({format_count(counts.documents, 'document')} instead of "
            f"{manifest.counts.documents:,}, or other texts): the index was changed while it was copied; copy it again."
        )


def build_at(
    paths: Sequence[Path],
    out: Path,
    format: str = "auto",
    skip_bad: int = 0,
    overwrite: bool = False,
    columns: Columns | None = None,
    description: str = "",
    analyzer: str = BIOMEDICAL,
    full_texts: Sequence[Path] = (),
) -> BuildReport:
    """Build an index of every document in `paths` in the folder or at the address `out` (`indexes.build.build`)."""
    if not is_address(out):
        return embedded.build(paths, out, format, skip_bad, overwrite, True, columns, description, analyzer, full_texts)
    with report_interrupt("the index", "what was read so far is saved, and the same command resumes from there"):
        inputs = embedded.find_inputs(paths, format, skip_bad, columns, full_texts)
        return build_on_cluster(read_address(out), inputs, overwrite, description, analyzer)


def update_at(
    index: Path,
    paths: Sequence[Path],
    format: str = "auto",
    skip_bad: int = 0,
    columns: Columns | None = None,
    full_texts: Sequence[Path] = (),
) -> BuildReport:
    """Update the index in a folder or at an address (`indexes.update.update`)."""
    if not is_address(index):
        return updating.update(index, paths, format, skip_bad, alone=True, columns=columns, full_texts=full_texts)
    with report_interrupt("the update", "the same command resumes from there"):
        inputs = embedded.find_inputs(paths, format, skip_bad, columns, full_texts)
        return update_on_cluster(read_address(index), inputs)


def merge_at(index: Path, analyzer: str | None = None) -> None:
    """Merge the index in a folder or at an address, so that replaced and deleted documents no longer count in statistics.

    With `analyzer` an index in a folder gets that one (`indexes.update.merge`); one on a cluster keeps its own for good.
    """
    if is_address(index):
        if analyzer:
            raise BadInput(
                "An index on a cluster keeps its analyzer; build it again with `counterpoint index build --overwrite`."
            )
        address = read_address(index)
        state = read_state(address)
        for name in (state.name, *([name_texts(state.name)] if state.manifest.texts else ())):
            merge_segments(address, name)
    else:
        updating.merge(index, analyzer)


def check_target(out: Path, overwrite: bool) -> None:
    """Raise `BadInput`, as `build_at` would, if no index can be built at `out`."""
    if not is_address(out):
        embedded.choose_root(out, overwrite)
        return
    address = read_address(out)
    with translate_faults(address):
        choose_name(address, overwrite)


_NAME = re.compile(r"(?P<set>pubmed\d{2})n(?P<number>\d{4,})\.xml(\.gz)?")
_MD5 = re.compile(r"\b[0-9a-fA-F]{32}\b")


@dataclass(frozen=True, slots=True, order=True)
class UpdateFile:
    """A PubMed file: its yearly set, its number in that set, and its path."""

    set: str
    number: int
    path: Path


class OutOfOrder(BadInput):
    """A file should have come before those already applied, or one is missing between them."""


def find_new_files(source: Path, sources: Sequence[IndexSource]) -> list[UpdateFile]:
    """The files in a folder that are not in an index yet, in the order of their numbers.

    Raises `BadInput` if the folder cannot be read, `OutOfOrder` if a number is missing or came too late.
    """
    if not source.is_dir():
        raise BadInput(f"{source} is not a folder; name a folder or a mirror of PubMed's update files.")
    old_files = {file.path.name: file for source_read in sources if (file := read_name(Path(source_read.path)))}
    files = sorted(file for path in source.iterdir() if (file := read_name(path)))
    new = [file for file in files if file.path.name not in old_files]
    last: dict[str, int] = {}
    for file in old_files.values():
        last[file.set] = max(last.get(file.set, 0), file.number)
    for file in new:
        _check_order(file, last, source)
        last[file.set] = file.number
    return new


def read_name(path: Path) -> UpdateFile | None:
    """What a file's name says about it; None if it is not named as PubMed names its files."""
    match = _NAME.fullmatch(path.name)
    return UpdateFile(match["set"], int(match["number"]), path) if match else None


def check_whole(file: UpdateFile) -> None:
    """Compare a file with the .md5 beside it.

    Raises `Unfinished` if there is no .md5 yet (the file may still be arriving), `BadInput` if the two differ.
    """
    beside = file.path.with_name(f"{file.path.name}.md5")
    try:
        match = _MD5.search(beside.read_text("utf-8", errors="replace"))
    except FileNotFoundError:
        raise Unfinished(f"{file.path} has no checksum beside it ({beside.name}); it is applied once that is there.") from None
    except OSError as error:
        raise BadInput(f"{beside} cannot be read ({error.strerror}); fetch it again.") from None
    if not match:
        raise BadInput(f"{beside} contains no MD5 checksum (32 hexadecimal digits); fetch it again.")
    try:
        with file.path.open("rb") as stream:
            digest = hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    except OSError as error:
        raise BadInput(f"{file.path} cannot be read ({error.strerror}); fetch it again.") from None
    if digest != match[0].lower():
        raise BadInput(f"{file.path} is damaged: its MD5 is {digest} and should be {match[0].lower()}; fetch it again.")


def _check_order(file: UpdateFile, last: dict[str, int], source: Path) -> None:
    if not last:
        return
    if file.set not in last:
        raise OutOfOrder(
            f"{file.path.name} in {source} is of another year than the index's files ({', '.join(sorted(last))}); build "
            "that year's baseline into a new index."
        )
    if file.number < last[file.set]:
        raise OutOfOrder(
            f"{file.path.name} in {source} comes before number {last[file.set]:04d}, which the index has already; applying it "
            "now would undo later revisions: remove it, or build the index again."
        )
    if file.number > last[file.set] + 1:
        raise OutOfOrder(
            f"{source} has {file.path.name}, and number {last[file.set] + 1:04d} before it is missing; fetch that first."
        )


_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def read_interval(text: str) -> float:
    """The seconds that "30s", "10m", "1h" or "1d" stands for; raises `BadInput` for anything else."""
    number, unit = text[:-1], text[-1:]
    try:
        seconds = float(number) * _UNITS[unit]
    except (KeyError, ValueError):
        raise BadInput(f"--every {text!r} should be a number and a unit: 30s, 10m, 1h or 1d.") from None
    if not 1 <= seconds <= 30 * _UNITS["d"]:
        raise BadInput(f"--every {text!r} should be between 1s and 30d.")
    return seconds


def follow(
    index: Path,
    source: Path,
    every: float,
    say: Callable[[str], None],
    skip_bad: int = 0,
    once: bool = False,
    after: Callable[[], object] = lambda: None,
) -> int:
    """Apply the new files in a folder, then look again every `every` seconds; with `once`, stop after the first look.

    `after` is called after each look, whether or not there was something new: what an earlier run left undone is done then.
    Returns how many files were applied. A damaged or out-of-order file ends it with the reason (`BadInput`); if a cluster does
    not answer, it waits.
    """
    count = 0
    while True:
        try:
            count += apply_new(index, source, say, skip_bad)
            after()
        except (ClusterBusy, Unfinished) as error:
            if once:
                raise
            say(f"{error} Looking again in {every:.0f} s.")
        if once:
            return count
        time.sleep(every)


def apply_new(index: Path, source: Path, say: Callable[[str], None], skip_bad: int = 0) -> int:
    """Apply every new file in order, one update each, so that each is in the manifest once it is in the index."""
    count = 0
    for file in find_new_files(source, read_index_manifest(index).sources):
        check_whole(file)
        report = update_at(index, [file.path], skip_bad=skip_bad)
        held = format_count(report.manifest.counts.documents, "document")
        say(f"{file.path.name}: {report.read.changes}; version {report.manifest.version}, {held}.")
        count += 1
    return count

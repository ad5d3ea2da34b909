"""A collection of Zotero kept in a folder: fetched whole, then synced by versions, so that only what changed comes again.

The folder holds `records.jsonl`, the records as CSL-JSON; `texts`, the attached PDFs with the record of each; and the link, a
small file that is written last. Once an index was built from these (`mark_built`), a sync also writes `changes`: what it lacks.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any

from counterpoint.indexes.fetch.zotero import AT_ONCE, Changed, NoFile, Zotero, ZoteroSource
from counterpoint.indexes.full_texts import NAMED
from counterpoint.indexes.plan import make_folder, report_interrupt
from counterpoint.indexes.readers.base.fields import Omission, RecordError, is_retracted
from counterpoint.indexes.readers.json_formats import make_csl
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import GO_ON, BadInput, Unfinished, translate_write_errors
from counterpoint.retrieval.core.progress import make_bar
from counterpoint.retrieval.store.manifest import write_atomically

LINK, RECORDS, TEXTS, CHANGES, DELETED = ".zotero.json", "records.jsonl", "texts", "changes", "deleted.xml"
# Hidden: what has come of a fetch that is not finished.
_INCOMING = ".incoming.jsonl"
_TRIES, _SHOWN = 3, 20
_NO_RECORDS = ("attachment", "note", "annotation")
_JOURNAL = (
    "publicationTitle", "bookTitle", "proceedingsTitle", "encyclopediaTitle", "journalAbbreviation", "repository", "university",
    "institution", "websiteTitle", "publisher",
)  # fmt: skip


@dataclass(slots=True)
class Item:
    """An item as it was taken: its version (of the local interface, a hash of what it says).

    Of a record, `id` is that in the index, and `record` a hash of it; of a PDF, `of` is the item that it is attached to, and
    `pdf` tells the file that is here.
    """

    stamp: str
    id: str = ""
    record: str = ""
    of: str = ""
    pdf: str = ""


@dataclass(slots=True)
class Link:
    """A collection ("": the whole library) of a source, and what was taken from it at the library's `version`.

    `removed` are items that the user removed here: they never come back. `built` says that there is an index of the folder, which
    lacks the records with the ids `changed`, and has those with the ids `deleted`.
    """

    source: ZoteroSource
    collection: str = ""
    name: str = ""
    pdfs: bool = True
    version: int = 0
    items: dict[str, Item] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    built: bool = False
    changed: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Synced:
    """What a sync brought: `records` and `pdfs` are here now, of which some are new or changed.

    `repeated` items record a paper that another item records too; `others` are notes and the like. `incomplete` names records
    without a title or an abstract: without an abstract a paper is found by the text of its PDF alone. `left_out` names the items
    and PDFs that could not be had, and why.
    """

    records: int = 0
    added: int = 0
    changed: int = 0
    deleted: int = 0
    pdfs: int = 0
    new_pdfs: int = 0
    repeated: int = 0
    others: int = 0
    incomplete: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def list_lines(self) -> list[str]:
        """The counts, and what is not as a user would expect."""
        first = (
            f"{format_count(self.records, 'record')} in Zotero: {self.added:,} new, {self.changed:,} changed, {self.deleted:,} "
            f"deleted; {format_count(self.pdfs, 'PDF')}, {self.new_pdfs:,} new; left out: {self.others:,} notes and the like, "
            f"{self.repeated:,} repeated."
        )
        shown = [*(f"Incomplete: {one}." for one in self.incomplete), *(f"Left out: {one}." for one in self.left_out)]
        return [first, *shown[:_SHOWN], *([f"… and {len(shown) - _SHOWN:,} more."] if len(shown) > _SHOWN else [])]


def read_link(folder: Path) -> Link | None:
    """The link in a folder; None if there is none."""
    try:
        kept = json.loads((folder / LINK).read_text("utf-8"))
        items = {key: Item(**item) for key, item in kept.pop("items").items()}
        return Link(ZoteroSource(**kept.pop("source")), items=items, **kept)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        raise BadInput(f"The link to Zotero, {folder / LINK}, is damaged; delete it and fetch the collection anew.") from None


def sync(link: Link, folder: Path, backoff: float = 1.0) -> Synced:
    """Bring the folder up to date with the collection, the first time or again; a sync that was stopped resumes.

    The link in the folder counts, if there is one; of `link` then only where the key is, the address and `pdfs`. Raises
    `BadInput` if that is a link to something else or Zotero refuses, `Unfinished` if Zotero is closed, answers in part, or
    changes all the time: the records in the folder then are as they were.
    """
    advice = "what was fetched so far is saved, and the same sync goes on from there"
    with report_interrupt("the sync", advice), translate_write_errors("the collection", folder, GO_ON), make_folder(folder):
        link = _take_up(read_link(folder), link, folder)
        with closing(Zotero(link.source, backoff)) as remote:
            for _ in range(_TRIES):
                with suppress(Changed):
                    return _Sync(link, folder, remote).run()
        raise Unfinished(f"{remote.name} changed, or did not deliver what it lists, {_TRIES} times; sync again later.")


def list_sources(folder: Path, whole: bool) -> tuple[list[Path], list[Path]]:
    """What to build an index from (`whole`), or to update one from: sources in their order, and the folder of full texts; none
    where nothing has changed."""
    place = folder if whole else folder / CHANGES
    texts = place / TEXTS
    return [*place.glob("*.xml"), *place.glob(RECORDS)], [texts] if any(texts.glob("*.pdf")) else []


def mark_built(folder: Path) -> None:
    """Record that an index has all that is in the folder."""
    if link := read_link(folder):
        _write_link(replace(link, built=True, changed=[], deleted=[]), folder)
        (folder / DELETED).unlink(missing_ok=True)
        shutil.rmtree(folder / CHANGES, ignore_errors=True)


def remove_records(folder: Path, ids: Iterable[str]) -> None:
    """Leave records with these ids out of every later sync, as the user removed them from the index."""
    if link := read_link(folder):
        left_out = set(ids)
        gone = {key for key, item in link.items.items() if item.id in left_out}
        items = {key: item for key, item in link.items.items() if key not in gone and item.of not in gone}
        _write_link(replace(link, removed=sorted({*link.removed, *gone}), items=items), folder)


def _take_up(kept: Link | None, link: Link, folder: Path) -> Link:
    if kept is None:
        return link
    places = [f"{one.source.interface} {one.source.library} {one.collection}".strip() for one in (kept, link)]
    if places[0] != places[1]:
        raise BadInput(
            f"{folder} is linked to {places[0]} in Zotero, not to {places[1]}; name another folder for another source, as each "
            "counts versions in its own way."
        )
    return replace(kept, source=link.source, pdfs=link.pdfs)


def _write_link(link: Link, folder: Path) -> None:
    kept = asdict(replace(link, source=replace(link.source, address="")))
    write_atomically(folder / LINK, json.dumps(kept, ensure_ascii=False) + "\n")


class _Sync:
    """One attempt at a sync: `read` are the items that came, `new` those of the link to be, `lines` the records, by item."""

    def __init__(self, link: Link, folder: Path, remote: Zotero) -> None:
        self.link, self.folder, self.remote = link, folder, remote
        self.new: dict[str, Item] = {}
        self.read: dict[str, dict[str, Any]] = {}
        self.lines = {item["id"]: item for item in _read_lines(folder / RECORDS)}
        self.report = Synced()

    def run(self) -> Synced:
        old = self.link.items
        versions, version = self.remote.list_versions(self.link.collection, 0 if self.remote.is_local else self.link.version)
        if versions is None:
            versions = {key: int(item.stamp) for key, item in old.items()}
        elif not versions and old and not self.link.collection:
            raise BadInput(
                f"{self.remote.name} lists nothing any more; nothing was changed here. Delete the index if that is right."
            )
        self._read_items({key: version for key, version in versions.items() if key not in self.link.removed})
        for key, item in self.read.items():
            self._take_item(key, item)
        self._fetch_pdfs()
        self._write(version)
        return self.report

    def _read_items(self, versions: Mapping[str, int]) -> None:
        """Read every item that is not here in this version; the versions of the local interface do not show every change."""
        old, local, incoming = self.link.items, self.remote.is_local, self.folder / _INCOMING
        for key, version in versions.items():
            if not local and key in old and old[key].stamp == str(version) and (key in self.lines or not old[key].record):
                self.new[key] = replace(old[key])
        wanted = versions.keys() - self.new.keys()
        if not local:
            came = {item["key"]: item for item in _read_lines(incoming)}
            self.read = {key: came[key] for key in wanted & came.keys() if came[key].get("version") == versions[key]}
        left = sorted(wanted - self.read.keys())
        with (
            make_bar(self.remote.name, "items", len(wanted), len(self.read)) as bar,
            incoming.open("a", encoding="utf-8") as file,
        ):
            for start in range(0, len(left), AT_ONCE):
                batch = self.remote.read_items(left[start : start + AT_ONCE])
                self.read |= batch
                file.writelines(json.dumps(item) + "\n" for item in batch.values())
                file.flush()
                bar.update(len(batch))
        if local:
            parents = {item["data"].get("parentItem") for item in self.read.values()}
            for key in left:
                if key not in parents and self.read[key].get("meta", {}).get("numChildren"):
                    self.read |= self.remote.read_children(key)

    def _take_item(self, key: str, item: Mapping[str, Any]) -> None:
        data, before = item["data"], self.link.items.get(key)
        if data.get("deleted"):
            return  # to Zotero's trash
        taken = self.new[key] = Item(_hash(data) if self.remote.is_local else str(item.get("version")))
        self.lines.pop(key, None)
        if data.get("itemType") == "attachment" and data.get("parentItem") and _is_pdf(data):
            taken.of = str(data["parentItem"])
            # An edit of an attachment is often none of its file.
            if before and (before.stamp == taken.stamp or data.get("md5") == before.pdf):
                taken.pdf = before.pdf
        elif data.get("itemType") not in _NO_RECORDS:
            line = make_item(key, item)
            try:
                id = make_csl(line).pmid
            except RecordError as error:
                self.report.left_out.append(f"{_name(line)}: {error}")
                return
            # An id made of words needs some.
            taken.id = id if line["title"] or line["abstract"] or not id.startswith("ref-") else f"zotero-{key.lower()}"
            taken.record, self.lines[key] = _hash(line), line

    def _fetch_pdfs(self) -> None:
        """Fetch each PDF of a record that is not here; one that cannot be had is asked for again at the next sync."""
        (self.folder / TEXTS).mkdir(exist_ok=True)
        pdfs = {key: item for key, item in self.new.items() if item.of}
        for key in [key for key, item in pdfs.items() if item.of not in self.new or not self.new[item.of].record]:
            pdfs.pop(key).pdf = ""
        wanted = [key for key, item in pdfs.items() if self.link.pdfs and not (item.pdf and self._place(key).exists())]
        with make_bar(self.remote.name, "PDFs", len(wanted)) as bar:
            for key in wanted:
                item, pdfs[key].pdf = self.read.get(key) or self.remote.read_items([key])[key], ""
                md5, place = item["data"].get("md5"), self._place(key)
                try:
                    # It may have come before the last sync was stopped.
                    if not (md5 and place.exists() and hashlib.md5(place.read_bytes(), usedforsecurity=False).hexdigest() == md5):
                        self.remote.save_file(item, place)
                except NoFile as error:
                    self.report.left_out.append(f"the PDF of {_name(self.lines[pdfs[key].of])}: {error}")
                else:
                    pdfs[key].pdf = md5 or pdfs[key].stamp
                    self.report.new_pdfs += 1
                bar.update()

    def _place(self, key: str) -> Path:
        return self.folder / TEXTS / f"{key}.pdf"

    def _write(self, version: int) -> None:
        """Put everything in place, the link last."""
        link, new = self.link, self.new
        keys = sorted(key for key, item in new.items() if item.record)
        states, before = _describe_records(new), _describe_records(link.items)
        changed, gone = {id for id in states if states[id] != before.get(id)}, before.keys() - states.keys()
        bare = {key for key in keys if isinstance(make_csl(self.lines[key]), Omission)}
        # A record that has lost its abstract or a PDF is deleted before it is written again.
        poorer = {new[key].id for key in bare} | {id for id in changed & before.keys() if before[id][1] - states[id][1]}
        deleted = {*link.deleted, *gone, *(poorer & changed)}
        self._count(keys, bare, changed - before.keys(), changed & before.keys(), gone)
        link = replace(link, version=version, items=new, deleted=sorted(deleted))
        link.changed = sorted({*self.link.changed, *changed} & states.keys())
        self._write_records(self.folder, keys)
        _write_link(link, self.folder)
        for file in (self.folder / TEXTS).glob("*.pdf"):
            if file.stem not in new or not new[file.stem].pdf:
                file.unlink()
        (self.folder / _INCOMING).unlink(missing_ok=True)
        self._write_changes(link)

    def _count(self, keys: list[str], bare: set[str], added: set[str], changed: set[str], gone: set[str]) -> None:
        report, pdfs = self.report, {key: item for key, item in self.new.items() if item.of}
        report.records = len({self.new[key].id for key in keys})
        report.repeated = len(keys) - report.records
        report.added, report.changed, report.deleted = len(added), len(changed), len(gone)
        report.pdfs, report.others = sum(bool(item.pdf) for item in pdfs.values()), len(self.new) - len(keys) - len(pdfs)
        held = {item.of for item in pdfs.values() if item.pdf}
        for key in keys:
            missing = [
                part for part in ("title", "abstract") if (part == "abstract" and key in bare) or not self.lines[key][part]
            ]
            if missing:
                also = ", but a PDF" if key in held else ""
                report.incomplete.append(f"{_name(self.lines[key])}: no {' and '.join(missing)}{also}")

    def _write_records(self, folder: Path, keys: Iterable[str]) -> None:
        """Write these records and, for each of their PDFs, which it belongs to (`indexes.full_texts.name_records`)."""
        lines, items = {key: self.lines[key] for key in keys}, self.new.items()
        content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines.values())
        named = {f"{key}.pdf": [self.new[item.of].id, lines[item.of]] for key, item in items if item.pdf and item.of in lines}
        write_atomically(folder / RECORDS, content)
        write_atomically(folder / TEXTS / NAMED, json.dumps(named, ensure_ascii=False) + "\n")

    def _write_changes(self, link: Link) -> None:
        """What an index that was built from the folder before lacks, as sources for an update: deletions, records, and texts."""
        folder = self.folder / CHANGES
        shutil.rmtree(folder, ignore_errors=True)
        (self.folder / DELETED).unlink(missing_ok=True)
        if link.built and (link.changed or link.deleted):
            (folder / TEXTS).mkdir(parents=True)
        if link.deleted:
            pmids = "".join(f"<PMID>{escape(id)}</PMID>" for id in link.deleted)
            xml = f"<PubmedArticleSet><DeleteCitation>{pmids}</DeleteCitation></PubmedArticleSet>"
            # A build that died before it was marked may have left an index with what has been deleted since.
            write_atomically((folder if link.built else self.folder) / DELETED, xml)
        if not link.built:
            return
        if keys := sorted(key for key, item in self.new.items() if item.record and item.id in link.changed):
            for key, item in self.new.items():
                if item.pdf and item.of in keys:
                    shutil.copyfile(self._place(key), folder / TEXTS / f"{key}.pdf")
            self._write_records(folder, keys)


def _describe_records(items: Mapping[str, Item]) -> dict[str, tuple[set[str], set[str]]]:
    """The records of these items, by id: hashes of what they say, and of their PDFs."""
    found: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for key, item in items.items():
        if item.record:
            found[item.id][0].add(item.record)
        elif item.pdf and item.of in items and items[item.of].record:
            found[items[item.of].id][1].add(f"{key} {item.pdf}")
    return dict(found)


def make_item(key: str, item: Mapping[str, Any]) -> dict[str, Any]:
    """The record of an item as CSL-JSON, which `make_csl` reads."""
    data, meta = item["data"], item.get("meta", {})
    creators, tags = _list_objects(data.get("creators")), [str(tag.get("tag")) for tag in _list_objects(data.get("tags"))]
    kinds = [one.get("creatorType") for one in creators]
    main = "author" if "author" in kinds else next(iter(kinds), "")
    return {
        "id": key,
        "type": data.get("itemType"),
        "title": data.get("title") or data.get("caseName") or data.get("subject") or "",
        "abstract": data.get("abstractNote") or "",
        "container-title": next((data[name] for name in _JOURNAL if data.get(name)), ""),
        "issued": meta.get("parsedDate") or data.get("date") or "",
        "author": [
            {"family": one.get("lastName") or one.get("name") or "", "given": one.get("firstName") or ""}
            for one in creators
            if one.get("creatorType") == main
        ],
        "DOI": data.get("DOI") or "",
        "URL": data.get("url") or "",
        "note": data.get("extra") or "",
        "language": data.get("language") or "",
        "retracted": is_retracted("", notes=tags),
    }


def _list_objects(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _is_pdf(data: Mapping[str, Any]) -> bool:
    name = str(data.get("filename") or data.get("path") or "")
    is_file = data.get("linkMode") in ("imported_file", "imported_url", "linked_file")
    return is_file and (data.get("contentType") == "application/pdf" or name.lower().endswith(".pdf"))


def _name(line: Mapping[str, Any]) -> str:
    return f"{line['id']} ({line['title'] or 'no title'})"


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def _read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of our own, up to a line that was not written to its end."""
    found: list[dict[str, Any]] = []
    for line in path.read_text("utf-8").split("\n")[:-1] if path.exists() else ():
        try:
            found.append(json.loads(line))
        except ValueError:
            break
    return found

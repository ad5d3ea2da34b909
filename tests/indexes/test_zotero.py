"""Collections brought from Zotero over both interfaces: whole, again, stopped and resumed, and through the faults of each."""

from __future__ import annotations

import errno
import json
import logging
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from counterpoint.indexes.fetch import zotero_link
from counterpoint.indexes.fetch.zotero import ZoteroSource, find_collection, list_collections
from counterpoint.indexes.fetch.zotero_link import (
    CHANGES,
    LINK,
    RECORDS,
    TEXTS,
    Link,
    Synced,
    mark_built,
    read_link,
    remove_records,
    sync,
)
from counterpoint.indexes.full_texts import NAMED, name_records
from counterpoint.indexes.readers import Omission, read
from counterpoint.retrieval.core.errors import BadConfig, BadInput, CounterpointError, OutOfSpace, Unfinished
from counterpoint.retrieval.core.values import Author, Document, FullText
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.store.manifest import read_manifest, write_atomically
from counterpoint.service.cli.commands import app
from tests.helpers.full_texts import make_block
from tests.helpers.texts import pdf as make_pdf
from tests.helpers.zotero_server import KEY, Reply, Request, ZoteroServer, serving

INTERFACES = ("local", "web")


def pdf(words: str = "Zinc shortens colds.") -> bytes:
    return make_pdf([[words]])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ZoteroServer]:
    yield from serving(tmp_path / "Zotero")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_ZOTERO_KEY", KEY)


def of(server: ZoteroServer, interface: str) -> ZoteroSource:
    if interface == "local":
        return ZoteroSource(address=server.local)
    return ZoteroSource("web", "users/7", "TEST_ZOTERO_KEY", server.web)


def bring(server: ZoteroServer, folder: Path, interface: str = "web", collection: str = "", pdfs: bool = True) -> Synced:
    return sync(Link(of(server, interface), collection, pdfs=pdfs), folder, backoff=0.01)


def fill(server: ZoteroServer, count: int, pdfs: int = 0, collection: str = "") -> list[str]:
    """Records with abstracts; the first ones have a PDF, and every seventh a note."""
    keys = []
    for number in range(count):
        key = server.add(collection, title=f"Zinc and colds, trial {number}", abstractNote=f"Zinc cut colds by {number} days.",
                         DOI=f"10.5555/zinc.{number}", date="2019-05-03")  # fmt: skip
        keys.append(key)
        if number < pdfs:
            server.attach(key, pdf(f"Trial {number}."))
        if number % 7 == 0:
            server.add(kind="note", parentItem=key, note="<p>Read again.</p>")
    return keys


def records(folder: Path) -> dict[str, Document]:
    return {record.pmid: record for record in read(folder / RECORDS) if isinstance(record, Document)}


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def files_asked(server: ZoteroServer) -> int:
    return sum(one.path.endswith("/file") for one in server.asked)


@pytest.mark.parametrize("interface", INTERFACES)
def test_collections_are_a_tree(server: ZoteroServer, interface: str) -> None:
    top = server.add_collection("Vitamins")
    below = server.add_collection("Zinc", top)
    server.add_collection("Zinc")
    fill(server, 3, collection=below)
    found = list_collections(of(server, interface))
    assert [(one.path, one.items) for one in found] == [(("Vitamins",), 0), (("Vitamins", "Zinc"), 3), (("Zinc",), 0)]
    assert find_collection(found, "vitamins/zinc").key == below == find_collection(found, below).key
    with pytest.raises(BadInput, match="No collection is called 'Zink'; list the collections"):
        find_collection(found, "Zink")


def test_many_collections_come_in_pages(server: ZoteroServer) -> None:
    for number in range(230):
        server.add_collection(f"Project {number:03}")
    found = list_collections(of(server, "web"))
    assert len({one.key for one in found}) == 230
    assert [one.fields.get("start", "0") for one in server.asked] == ["0", "100", "200"]


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("quirk", ["", "zotero_7", "zotero_7 twice", "children_too", "as_list"])
def test_a_collection_of_300_with_40_pdfs_comes_whole_and_a_second_sync_moves_what_changed(
    server: ZoteroServer, tmp_path: Path, interface: str, quirk: str
) -> None:
    for name in quirk.split():
        setattr(server, name, True)
    top = server.add_collection("Zinc")
    keys = fill(server, 200, 40, top) + fill_below(server, top, 100)
    server.add(title="Elsewhere", abstractNote="Not in the collection.")
    folder = tmp_path / "zinc"
    first = bring(server, folder, interface, top)
    assert (first.records, first.added, first.pdfs, first.new_pdfs) == (300, 300, 40, 40)
    assert not first.left_out
    assert not first.incomplete
    assert len(records(folder)) == 300
    named = json.loads((folder / TEXTS / NAMED).read_text("utf-8"))
    texts = sorted((folder / TEXTS).glob("*.pdf"))
    assert {named[text.name][0] for text in texts} == {f"10.5555/zinc.{number}" for number in range(40)}
    for text in texts:
        parent = server.items[text.stem]["data"]["parentItem"]
        title = named[text.name][1]["title"]
        assert title == server.items[parent]["data"]["title"]
        assert f"(Trial {title.rpartition(' ')[2]}.)".encode() in text.read_bytes()
    mark_built(folder)

    server.asked.clear()
    before = snapshot(folder)
    again = bring(server, folder, interface, top)
    assert (again.records, again.added, again.changed, again.deleted, again.new_pdfs, again.pdfs) == (300, 0, 0, 0, 0, 40)
    assert snapshot(folder) == before
    assert files_asked(server) == 0
    if interface == "web":
        assert [one.path for one in server.asked] == ["collections"]

    server.edit(keys[3], title="Zinc and colds, corrected")
    server.delete(keys[5])
    new = server.add(top, title="Zinc once more", abstractNote="Nothing was found.", DOI="10.5555/new")
    server.attach(keys[100], pdf("New."))
    server.asked.clear()
    third = bring(server, folder, interface, top)
    assert (third.records, third.added, third.changed, third.deleted, third.new_pdfs, third.pdfs) == (300, 1, 2, 1, 1, 40)
    assert files_asked(server) == 1
    if interface == "web":
        (batch,) = [one.fields["itemKey"].split(",") for one in server.asked if "itemKey" in one.fields]
        assert {keys[3], new} < set(batch)
        assert len(batch) == 3
    changes = folder / CHANGES
    assert [record.pmid for record in read(changes / "deleted.xml")] == ["10.5555/zinc.5"]
    assert {record.pmid for record in read(changes / RECORDS)} == {"10.5555/zinc.3", "10.5555/new", "10.5555/zinc.100"}
    assert len(list((changes / TEXTS).glob("*.pdf"))) == 2


def fill_below(server: ZoteroServer, top: str, count: int) -> list[str]:
    below = server.add_collection("Trials", server.add_collection("Children", top))
    return [
        server.add(below, title=f"Zinc in children {number}", abstractNote=f"Colds fell by {number} %.", date="2021")
        for number in range(count)
    ]


def test_what_a_record_says(server: ZoteroServer, tmp_path: Path) -> None:
    server.add(
        title="Zinc for <i>colds</i>", abstractNote="BACKGROUND: Colds last.\nRESULTS: Zinc helped.", date="2017-03",
        publicationTitle="Journal of Invented Medicine", DOI="https://doi.org/10.5555/ABC", language="en",
        extra="PMID: 31234567\nPMCID: PMC7654321",
        creators=[{"creatorType": "editor", "lastName": "Not", "firstName": "An"},
                  {"creatorType": "author", "lastName": "Vermeer", "firstName": "Ana"},
                  {"creatorType": "author", "name": "Zinc Study Group"}],
    )  # fmt: skip
    server.add(
        kind="preprint", title="By its address", abstractNote="It is found.", url="https://pubmed.ncbi.nlm.nih.gov/29999999/"
    )
    server.add(kind="bookSection", title="A chapter", abstractNote="It says so.", bookTitle="The Book", date="May 1999",
               tags=[{"tag": "Retracted"}, {"tag": "zinc"}])  # fmt: skip
    server.add(kind="thesis", title="A thesis", abstractNote="Long.", university="Delft")
    server.add(kind="conferencePaper", title="RETRACTED: A talk", abstractNote="Short.", proceedingsTitle="Proceedings")
    server.add(kind="note", note="Not a record")
    server.attach("", pdf())
    report = bring(server, tmp_path / "one", "local")
    assert (report.records, report.others, report.pdfs) == (5, 2, 0)
    found = records(tmp_path / "one")
    first = found["31234567"]
    assert first.title == "Zinc for colds"
    assert [section.label for section in first.sections] == ["BACKGROUND", "RESULTS"]
    assert (first.year, first.journal, first.doi, first.pmcid) == (
        2017,
        "Journal of Invented Medicine",
        "10.5555/abc",
        "PMC7654321",
    )
    assert first.authors == (Author("Vermeer", "Ana"), Author("Zinc Study Group"))
    assert found["29999999"].types == ("Preprint",)
    by_title = {one.title: one for one in found.values()}
    assert (by_title["A chapter"].journal, by_title["A chapter"].retracted, by_title["A chapter"].year) == (
        "The Book",
        True,
        1999,
    )
    assert by_title["A chapter"].types == ("Book Chapter",)
    assert by_title["A thesis"].types == ("Academic Dissertation",)
    assert by_title["A thesis"].pmid.startswith("ref-")
    assert by_title["RETRACTED: A talk"].retracted
    assert not by_title["A thesis"].retracted
    line = json.loads((tmp_path / "one" / RECORDS).read_text("utf-8").splitlines()[0])
    assert "language" in line


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_record_without_title_or_abstract_is_named_and_its_pdf_taken(
    server: ZoteroServer, tmp_path: Path, interface: str
) -> None:
    bare = server.add(title="Without an abstract", DOI="10.5555/bare")
    held = server.add(title="With a PDF alone", date="2020")
    empty = server.add()
    untitled = server.add(abstractNote="Zinc shortened colds by a day.")
    texts = {server.attach(held, pdf()): held, server.attach(empty, pdf("Two.")): empty}
    report = bring(server, tmp_path / "one", interface)
    assert sorted(report.incomplete) == sorted(
        [
            f"{bare} (Without an abstract): no abstract",
            f"{held} (With a PDF alone): no abstract, but a PDF",
            f"{empty} (no title): no title and abstract, but a PDF",
            f"{untitled} (no title): no title",
        ]
    )
    assert (report.records, report.pdfs) == (4, 2)
    assert report.list_lines()[1].startswith("Incomplete: ")
    found = list(read(tmp_path / "one" / RECORDS))
    assert sum(isinstance(record, Omission) for record in found) == 3
    # Their texts make records of their own, which are called as in Zotero.
    own = Document("", "Of the PDF", "What the PDF says.")
    named = {
        key: next(name_records(tmp_path / "one" / TEXTS, [FullText(own, (make_block("Zinc."),), "pdf", f"{key}.pdf")])).record
        for key in texts
    }
    titles = {parent: named[key].title for key, parent in texts.items()}
    assert titles == {held: "With a PDF alone", empty: "Of the PDF"}
    assert {one.abstract for one in named.values()} == {"What the PDF says."}
    assert {named[key].pmid for key, parent in texts.items() if parent == empty} == {f"zotero-{empty.lower()}"}


def test_two_items_of_one_paper_are_one_record(server: ZoteroServer, tmp_path: Path) -> None:
    fill(server, 1)
    first, second = (server.add(title="Twice", abstractNote="The same.", DOI="10.5555/twice") for _ in range(2))
    report = bring(server, tmp_path / "one")
    assert (report.records, report.repeated) == (2, 1)
    mark_built(tmp_path / "one")
    server.delete(min(first, second))
    report = bring(server, tmp_path / "one")
    assert (report.records, report.repeated, report.deleted) == (2, 0, 0)
    server.delete(max(first, second))
    assert bring(server, tmp_path / "one").deleted == 1


@pytest.mark.parametrize("interface", INTERFACES)
def test_what_the_user_removed_stays_removed(server: ZoteroServer, tmp_path: Path, interface: str) -> None:
    keys = fill(server, 10, 3)
    folder = tmp_path / "one"
    bring(server, folder, interface)
    mark_built(folder)
    remove_records(folder, ["10.5555/zinc.1", "10.5555/zinc.8"])
    for _ in range(2):
        report = bring(server, folder, interface)
        assert (report.records, report.added, report.changed, report.deleted, report.pdfs) == (8, 0, 0, 0, 2)
    server.edit(keys[1], title="Edited in Zotero")
    server.edit(keys[2], title="Edited, too")
    report = bring(server, folder, interface)
    assert (report.records, report.added, report.changed, report.deleted, report.pdfs) == (8, 0, 1, 0, 2)
    assert not {"10.5555/zinc.1", "10.5555/zinc.8"} & records(folder).keys()


def test_an_edit_that_zotero_has_not_synced_is_noticed(server: ZoteroServer, tmp_path: Path) -> None:
    (key, _) = fill(server, 2)
    bring(server, tmp_path / "one", "local")
    server.edit(key, synced=False, abstractNote="Corrected on this machine.")
    report = bring(server, tmp_path / "one", "local")
    assert (report.changed, report.added, report.deleted) == (1, 0, 0)
    assert records(tmp_path / "one")["10.5555/zinc.0"].abstract == "Corrected on this machine."


@pytest.mark.parametrize("interface", INTERFACES)
def test_pdfs_that_change_go_and_come(server: ZoteroServer, tmp_path: Path, interface: str) -> None:
    folder = tmp_path / "one"
    key, _, _ = fill(server, 3)
    text = server.attach(key, pdf("Old."))
    lost = server.attach(key, None)
    report = bring(server, folder, interface)
    assert (report.pdfs, report.new_pdfs, len(report.left_out)) == (1, 1, 1)
    assert "there is no file" in report.left_out[0] or "its file is not at zotero.org" in report.left_out[0]
    mark_built(folder)
    server.store(text, pdf("New."))
    report = bring(server, folder, interface)
    assert (report.pdfs, report.new_pdfs, report.changed) == (1, 1, 1)
    assert b"(New.)" in (folder / TEXTS / f"{text}.pdf").read_bytes()
    server.store(lost, pdf("Found."))
    assert bring(server, folder, interface).new_pdfs == 1
    mark_built(folder)
    server.delete(text)
    report = bring(server, folder, interface)
    assert (report.pdfs, report.changed) == (1, 1)
    assert not (folder / TEXTS / f"{text}.pdf").exists()
    # Its text goes with the record, which is written again.
    assert [record.pmid for record in read(folder / CHANGES / "deleted.xml")] == ["10.5555/zinc.0"]
    assert [file.stem for file in (folder / CHANGES / TEXTS).glob("*.pdf")] == [lost]


def test_pdfs_may_be_left_and_taken_later(server: ZoteroServer, tmp_path: Path) -> None:
    fill(server, 5, 2)
    assert bring(server, tmp_path / "one", pdfs=False).pdfs == 0
    assert files_asked(server) == 0
    report = bring(server, tmp_path / "one", pdfs=True)
    assert (report.pdfs, report.changed) == (2, 2)


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("path", ["collections", "items", "file"])
def test_a_sync_that_stops_resumes(server: ZoteroServer, tmp_path: Path, interface: str, path: str) -> None:
    fill(server, 120, 5)
    folder = tmp_path / "one"
    seen = [0]

    def closes(request: Request) -> Reply | None:
        wanted = request.path.endswith(path) and ("itemKey" in request.fields or path != "items")
        seen[0] += wanted
        return Reply(b"", declared=100) if wanted and seen[0] > 1 - (path == "collections") else None

    server.faults.append(closes)
    with pytest.raises(
        Unfinished, match=r"^(Zotero|zotero\.org) cannot be reached at http.*nothing was changed here; sync again"
    ):
        bring(server, folder, interface)
    assert not (folder / LINK).exists()
    assert not (folder / RECORDS).exists()
    server.faults.clear()
    server.asked.clear()
    report = bring(server, folder, interface)
    assert (report.records, report.pdfs) == (120, 5)
    if interface == "web":
        batches = [one for one in server.asked if "itemKey" in one.fields]
        assert len(batches) == {"collections": 3, "items": 2, "file": 0}[path]
        assert files_asked(server) == {"collections": 5, "items": 5, "file": 4}[path]


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("step", range(1, 7))
def test_a_disk_that_is_full_in_any_step_loses_nothing(
    server: ZoteroServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interface: str, step: int
) -> None:
    keys, folder, written = fill(server, 6, 2), tmp_path / "one", [0]
    bring(server, folder, interface)
    mark_built(folder)
    server.edit(keys[0], title="New")
    server.delete(keys[5])
    server.attach(keys[3], pdf("Third."))

    def write(path: Path, content: str | bytes) -> None:
        written[0] += 1
        if written[0] == step:
            raise OSError(errno.ENOSPC, "No space left on device")
        write_atomically(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(zotero_link, "write_atomically", write)
        with pytest.raises(
            OutOfSpace, match=r"The disk under .* is full while writing the collection; what was done so far is saved"
        ):
            bring(server, folder, interface)
    report = bring(server, folder, interface)
    assert (report.records, report.pdfs) == (5, 3)
    assert records(folder).keys() == {f"10.5555/zinc.{number}" for number in range(5)}
    assert [record.pmid for record in read(folder / CHANGES / "deleted.xml")] == ["10.5555/zinc.5"]
    assert {record.pmid for record in read(folder / CHANGES / RECORDS)} == {"10.5555/zinc.0", "10.5555/zinc.3"}
    named = json.loads((folder / CHANGES / TEXTS / NAMED).read_text("utf-8"))
    assert named.keys() == {file.name for file in (folder / CHANGES / TEXTS).glob("*.pdf")}
    assert len(named) == 2


def test_a_zotero_that_is_closed_is_one_sentence(server: ZoteroServer, tmp_path: Path) -> None:
    server.close()
    with pytest.raises(Unfinished, match=r"Zotero cannot be reached .*; start Zotero on this machine; nothing was changed here"):
        bring(server, tmp_path / "one", "local")
    with pytest.raises(Unfinished, match="start Zotero"):
        list_collections(of(server, "local"))
    assert not (tmp_path / "one" / LINK).exists()


DAMAGED = {
    "half": b'{"ABCD2345": 12, "ABCD23',
    "a page": b"<html>Sign in to the hotel's network</html>",
    "other JSON": b'{"error": "no"}',
    "a path for a key": b'{"../../etc": 4}',
    "numbers": b"[1, 2]",
    "an item without data": b'[{"key": "ABCD2345"}]',
    "an item of another shape": b'[{"key": "ABCD2345", "version": "3", "meta": "none", "data": {}}]',
    "versions of another kind": b'{"ABCD2345": "three"}',
    "nothing": b"",
}


def test_what_lies_in_the_trash_is_not_there(server: ZoteroServer, tmp_path: Path) -> None:
    (key, _, _) = fill(server, 3, 1)
    top = server.add_collection("Old")
    bring(server, tmp_path / "one", "local")
    server.edit(key, deleted=1)
    server.collections[top]["deleted"] = True
    report = bring(server, tmp_path / "one", "local")
    assert (report.records, report.deleted, report.pdfs) == (2, 1, 0)
    assert list_collections(of(server, "local")) == []


def test_a_server_that_ignores_what_it_is_asked_for_is_read_all_the_same(server: ZoteroServer, tmp_path: Path) -> None:
    fill(server, 60, 2)

    def ignores(request: Request) -> Reply | None:
        asked = {name: value for name, value in request.fields.items() if name in ("start", "limit")}
        return (
            server.answer(replace(request, fields=asked))
            if request.path == "items" and len(asked) < len(request.fields)
            else None
        )

    server.faults.append(ignores)
    for interface in INTERFACES:
        report = bring(server, tmp_path / interface, interface)
        assert (report.records, report.pdfs, report.others) == (60, 2, 9)


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("damage", DAMAGED)
@pytest.mark.parametrize("what", ["versions", "itemKey"])
def test_a_damaged_answer_changes_nothing(server: ZoteroServer, tmp_path: Path, interface: str, damage: str, what: str) -> None:
    keys = fill(server, 5, 1)
    bring(server, tmp_path / "one", interface)
    server.delete(keys[4])
    server.edit(keys[0], title="New")
    before = snapshot(tmp_path / "one")

    def breaks(request: Request) -> Reply | None:
        return Reply(DAMAGED[damage]) if what in request.fields or request.fields.get("format") == what else None

    server.faults.append(breaks)
    with pytest.raises(Unfinished, match=r"gave no whole answer .* sync again to go on"):
        bring(server, tmp_path / "one", interface)
    after = snapshot(tmp_path / "one")
    assert {name: after[name] for name in before} == before
    server.faults.clear()
    report = bring(server, tmp_path / "one", interface)
    assert (report.records, report.changed, report.deleted) == (4, 1, 1)


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_list_that_is_not_whole_deletes_nothing(server: ZoteroServer, tmp_path: Path, interface: str) -> None:
    top = server.add_collection("Zinc")
    fill(server, 5, collection=top)
    bring(server, tmp_path / "one", interface, top)
    server.version += 1
    headers = {"Last-Modified-Version": str(server.version)}
    answers = [Reply(b"{}", headers={**headers, "Total-Results": "5"}), Reply(b"{}", headers=headers)]
    for answer in answers:
        server.faults[:] = [lambda request, answer=answer: answer if request.fields.get("format") else None]  # type: ignore[misc]
        with pytest.raises(Unfinished, match="lists"):
            bring(server, tmp_path / "one", interface, top)
        assert len(records(tmp_path / "one")) == 5


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_library_that_lists_nothing_any_more_deletes_nothing(server: ZoteroServer, tmp_path: Path, interface: str) -> None:
    for key in fill(server, 5):
        if not server.asked:
            bring(server, tmp_path / "one", interface)
        server.delete(key)
    with pytest.raises(BadInput, match="lists nothing any more; nothing was changed here"):
        bring(server, tmp_path / "one", interface)
    assert len(records(tmp_path / "one")) == 5


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_collection_that_is_gone_deletes_nothing(server: ZoteroServer, tmp_path: Path, interface: str) -> None:
    top = server.add_collection("Zinc")
    fill(server, 5, collection=top)
    bring(server, tmp_path / "one", interface, top)
    del server.collections[top]
    server.version += 1
    with pytest.raises(BadInput, match=f"no longer has the collection {top}; nothing was changed here"):
        bring(server, tmp_path / "one", interface, top)
    assert len(records(tmp_path / "one")) == 5


@pytest.mark.parametrize("status", [412, 0])
def test_a_library_that_changes_meanwhile_is_read_again(server: ZoteroServer, tmp_path: Path, status: int) -> None:
    keys = fill(server, 60)
    left = [2]

    def changes(request: Request) -> Reply | None:
        if "itemKey" in request.fields and left[0]:
            left[0] -= 1
            if status:
                return Reply(status=status)
            server.delete(keys[left[0]])
        return None

    server.faults.append(changes)
    assert bring(server, tmp_path / "one").records == (60 if status else 58)
    left[0] = 1000
    server.edit(keys[30], title="New")
    if status:
        with pytest.raises(Unfinished, match="3 times; sync again later"):
            bring(server, tmp_path / "one")


@pytest.mark.parametrize("status", [429, 503])
def test_zotero_org_is_asked_again_when_it_says(server: ZoteroServer, tmp_path: Path, status: int) -> None:
    fill(server, 3)
    first = [True]

    def busy(request: Request) -> Reply | None:
        if first[0]:
            first[0] = False
            return Reply(b"Slow down", status, {"Retry-After": "1"})
        return (
            Reply(b"[]", headers={"Backoff": "1", "Last-Modified-Version": str(server.version)})
            if len(server.asked) == 2
            else None
        )

    import time

    server.faults.append(busy)
    start = time.monotonic()
    assert bring(server, tmp_path / "one").records == 3
    assert time.monotonic() - start >= 2.0


def test_zotero_org_that_stays_busy_is_one_sentence(server: ZoteroServer, tmp_path: Path) -> None:
    server.faults.append(lambda request: Reply(b"", 502))
    with pytest.raises(Unfinished, match=r"^zotero\.org answers again and again with the error 502; nothing was changed here"):
        bring(server, tmp_path / "one")


def test_refusals(server: ZoteroServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_ZOTERO_KEY", "wrong")
    with pytest.raises(BadInput, match=r"does not let this key read users/7; make a key that may"):
        bring(server, tmp_path / "one")
    server.faults.append(lambda request: Reply(b"Local API is not enabled", 403))
    with pytest.raises(BadInput, match="in its settings, under Advanced, allow other applications"):
        bring(server, tmp_path / "one", "local")
    server.faults[:] = [lambda request: Reply(b"Not found", 404)]
    with pytest.raises(BadInput, match=r"Zotero has no collections in users/0; check the library"):
        bring(server, tmp_path / "one", "local")
    for library in ("users/me", "7", "users/7/../8"):
        with pytest.raises(BadInput, match="Expected users/ID or groups/ID"):
            sync(Link(replace(of(server, "local"), library=library)), tmp_path / "one")
    with pytest.raises(BadConfig, match="on this machine alone"):
        list_collections(ZoteroSource(address="http://192.0.2.1:23119/api"))
    with pytest.raises(BadConfig, match="https://"):
        list_collections(ZoteroSource("web", "users/7", address="http://192.0.2.1"))


def test_a_link_stays_with_its_source(server: ZoteroServer, tmp_path: Path) -> None:
    fill(server, 2)
    bring(server, tmp_path / "one", "local")
    with pytest.raises(BadInput, match="is linked to local users/0 in Zotero, not to web users/7; name another folder"):
        bring(server, tmp_path / "one", "web")
    (tmp_path / "one" / LINK).write_text("{", "utf-8")
    with pytest.raises(BadInput, match="is damaged; delete it and fetch the collection anew"):
        bring(server, tmp_path / "one", "local")


def test_the_key_goes_to_zotero_alone_and_is_kept_nowhere(
    server: ZoteroServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    fill(server, 2, 2)
    bring(server, tmp_path / "one")
    elsewhere = [one for one in server.asked if one.path.startswith("/bucket/")]
    assert len(elsewhere) == 2
    assert not any(KEY in value for one in elsewhere for value in one.headers.values())
    assert all(one.headers["zotero-api-key"] == KEY for one in server.asked if one not in elsewhere)
    assert not any(KEY.encode() in content for content in snapshot(tmp_path / "one").values())
    assert KEY not in caplog.text
    server.faults.append(lambda request: Reply(f"bad key {KEY}".encode(), 400))
    server.version += 1
    with pytest.raises(BadInput) as caught:
        bring(server, tmp_path / "one")
    assert KEY not in str(caught.value)


def test_a_key_may_lie_in_a_file_that_nobody_else_reads(server: ZoteroServer, tmp_path: Path) -> None:
    fill(server, 2)
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n", "utf-8")
    source = replace(of(server, "web"), key_from=str(file))
    file.chmod(0o644)
    with pytest.raises(BadConfig, match="can be read by others; run `chmod 600"):
        list_collections(source)
    file.chmod(0o600)
    assert sync(Link(source), tmp_path / "one").records == 2
    kept = read_link(tmp_path / "one")
    assert kept is not None
    assert kept.source.key_from == str(file)
    with pytest.raises(BadConfig, match="should hold a key"):
        list_collections(replace(source, key_from="NO_SUCH_VARIABLE"))
    with pytest.raises(BadConfig, match="cannot be read"):
        list_collections(replace(source, key_from=str(tmp_path / "none")))


def test_only_the_attachments_own_file_is_read_from_disk(server: ZoteroServer, tmp_path: Path) -> None:
    secret = tmp_path / "private" / "paper.pdf"
    secret.parent.mkdir()
    secret.write_bytes(pdf("Secret."))
    (key,) = fill(server, 1)
    attached = server.attach(key, pdf())
    link = server.attach(key, None, "link.pdf")
    (server.folder / "storage" / link).mkdir(parents=True)
    (server.folder / "storage" / link / "link.pdf").symlink_to(secret)
    picture = server.attach(key, b"\x89PNG")
    outside = server.add(kind="attachment", parentItem=key, linkMode="linked_file", contentType="application/pdf",
                         path=str(secret))  # fmt: skip
    report = bring(server, tmp_path / "one", "local")
    assert sorted(file.stem for file in (tmp_path / "one" / TEXTS).glob("*.pdf")) == sorted([attached, outside])
    assert sorted(line.rpartition(": ")[2] for line in report.left_out) == [
        "its file is no PDF",
        "its file is not where Zotero keeps it",
    ]
    for place in (
        secret.as_uri(),
        "http://192.0.2.1/paper.pdf",
        "file://server/share/paper.pdf",
        "file:///proc/self/environ",
        "",
    ):
        server.faults[:] = [lambda request, place=place: Reply(status=302, headers={"Location": place})  # type: ignore[misc]
                            if request.path.endswith("/file") else None]  # fmt: skip
        report = bring(server, tmp_path / f"two-{len(place)}", "local")
        assert {line for line in report.left_out if f"/{attached}" in line or "Secret" in line} == set()
        taken = {file.stem for file in (tmp_path / f"two-{len(place)}" / TEXTS).glob("*.pdf")}
        assert taken <= {outside}
    assert picture not in records(tmp_path / "one")


def test_a_pdf_that_comes_damaged_is_named_and_asked_for_again(server: ZoteroServer, tmp_path: Path) -> None:
    (key,) = fill(server, 1)
    text = server.attach(key, pdf("Whole."))
    path = server.folder / "storage" / text / "paper.pdf"
    path.write_bytes(pdf("Other."))
    report = bring(server, tmp_path / "one")
    assert report.left_out == [f"the PDF of {key} (Zinc and colds, trial 0): its file came damaged"]
    path.write_bytes(pdf("Whole."))
    assert bring(server, tmp_path / "one").new_pdfs == 1


def test_a_record_that_cannot_be_read_is_named(server: ZoteroServer, tmp_path: Path) -> None:
    fill(server, 2)
    odd: Any = {"a": 1}
    key = server.add(title=odd, creators="none", tags=7)
    report = bring(server, tmp_path / "one")
    assert report.records == 2
    assert report.left_out == [f"{key} ({{'a': 1}}): expected text in \"title\", got an object"]


def paper(number: int) -> bytes:
    groups = [
        f"In group {group} of trial {number} colds lasted {group + 3} days with zinc, {group + 5} without." for group in range(12)
    ]
    return make_pdf([["A paper", "Results", f"The purple lozenge {number} shortened colds by two days in adults.", *groups]])


@pytest.mark.parametrize("interface", INTERFACES)
def test_an_index_is_built_and_brought_up_to_date(
    server: ZoteroServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interface: str
) -> None:
    monkeypatch.setenv("COUNTERPOINT_ZOTERO_URL", server.web)
    monkeypatch.setenv("COUNTERPOINT_ZOTERO_LOCAL_URL", server.local)
    top = server.add_collection("Zinc", server.add_collection("Vitamins"))
    keys = fill(server, 4, collection=top)
    held = server.add(top, title="A paper that Zotero knows by its title alone")
    texts = [server.attach(key, paper(number)) for number, key in enumerate([*keys[:2], held])]
    where = ["--web", "--library", "users/7", "--key-from", "TEST_ZOTERO_KEY"] if interface == "web" else []
    out = tmp_path / "index"

    def call(*arguments: str) -> str:
        result = CliRunner().invoke(app, ["index", "zotero", *arguments, *where], env={"COLUMNS": "200"})
        assert result.exit_code == 0, result.output
        return result.output

    listed = call()
    assert f"{top}    Zinc (5)" in listed
    first = call("vitamins/zinc", "--out", str(out), "--no-examples")
    assert "5 records in Zotero: 5 new, 0 changed, 0 deleted; 3 PDFs, 3 new" in first
    assert f"Incomplete: {held} (A paper that Zotero knows by its title alone): no abstract, but a PDF." in first
    counts = read_manifest(out)
    assert (counts.counts.documents, counts.texts and counts.texts.texts) == (5, 3)
    assert "index stays as it is" in call(top, "--out", str(out), "--no-examples")

    server.edit(keys[0], abstractNote="Corrected: zinc did nothing.")
    server.delete(keys[3])
    server.delete(texts[1])
    server.edit(held, title="A paper with another title")
    again = call(top, "--out", str(out), "--no-examples")
    # A paper without any id is called by its title: with another it is another paper.
    assert "4 records in Zotero: 1 new, 2 changed, 2 deleted; 2 PDFs, 0 new" in again
    now = read_manifest(out)
    assert (now.version, now.counts.documents, now.texts and now.texts.texts) == (counts.version + 1, 4, 2)
    with closing(Index(out)) as index:
        found = {entry.document.pmid: entry.document for entry in index.store.sample(10)}
        assert found["10.5555/zinc.0"].abstract == "Corrected: zinc did nothing."
        (own,) = found.keys() - {f"10.5555/zinc.{number}" for number in range(3)}
        assert (found[own].title, found[own].abstract) == ("A paper with another title", "")
        assert index.store.full_texts([*found]).keys() == {"10.5555/zinc.0", own}


def test_what_zotero_deletes_after_a_build_that_died_at_its_end_leaves_the_index(
    server: ZoteroServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNTERPOINT_ZOTERO_URL", server.web)
    keys, out = fill(server, 4), tmp_path / "index"
    call = ["index", "zotero", "all", "--out", str(out), "--no-examples", "--web", "--library", "users/7"]
    call += ["--key-from", "TEST_ZOTERO_KEY"]

    def die(_: Path) -> None:
        raise SystemExit(9)

    with monkeypatch.context() as patch:
        patch.setattr("counterpoint.indexes.cluster.places.build_at", lambda *_, **__: die(out))
        assert CliRunner().invoke(app, call).exit_code == 9 and not out.exists()
    server.delete(server.add(title="Gone before there was an index", DOI="10.5555/gone"))
    server.delete(keys.pop())
    with monkeypatch.context() as patch:
        patch.setattr(zotero_link, "mark_built", die)
        assert CliRunner().invoke(app, call).exit_code == 9 and read_manifest(out).counts.documents == 3
    server.delete(keys[0])
    server.edit(keys[1], title="Another title")
    assert CliRunner().invoke(app, call).exit_code == 0
    with closing(Index(out)) as index:
        assert {one.document.pmid for one in index.store.sample(10)} == {"10.5555/zinc.1", "10.5555/zinc.2"}
    assert "stays as it is" in CliRunner().invoke(app, call).output


def test_what_cannot_be_built_is_refused_before_it_is_fetched(
    server: ZoteroServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNTERPOINT_ZOTERO_LOCAL_URL", server.local)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("Dear", "utf-8")
    for arguments, said in {
        ("all", "--out", str(tmp_path / "full")): "exists and is not an index",
        ("all", "--out", "opensearch://host/index"): "a folder",
        ("Zink", "--out", str(tmp_path / "new")): "No collection is called 'Zink'",
        ("all", "--library", "me", "--out", str(tmp_path / "new")): "Expected users/ID or groups/ID",
        ("all", "--web", "--key-from", "NOT_SET", "--out", str(tmp_path / "new")): "NOT_SET should hold a key for zotero.org",
    }.items():
        result = CliRunner().invoke(app, ["index", "zotero", *arguments], env={"COLUMNS": "300"})
        assert (result.exit_code, said in " ".join(result.output.split())) == (2, True), result.output
    assert not (tmp_path / "new.papers" / RECORDS).exists()


@pytest.mark.slow
def test_a_collection_of_20_000(server: ZoteroServer, tmp_path: Path) -> None:
    for number in range(20_000):
        server.add(title=f"Zinc {number}", abstractNote="Zinc helped.", DOI=f"10.5555/{number}")
    report = bring(server, tmp_path / "one")
    assert (report.records, report.added) == (20_000, 20_000)


def test_errors_are_ours(server: ZoteroServer, tmp_path: Path) -> None:
    fill(server, 2, 1)
    for status in (300, 302, 400, 401, 404, 405, 413, 428, 500, 501):
        server.faults[:] = [lambda request, status=status: Reply(b"?", status, {"Location": "http://192.0.2.9/"})]  # type: ignore[misc]
        for interface in INTERFACES:
            with pytest.raises(CounterpointError):
                bring(server, tmp_path / interface, interface)

"""A library as one file: what comes back is what was packed; whatever else a file is, it is refused and leaves nothing."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from counterpoint.indexes.build import build
from counterpoint.indexes.packing import NoPack, is_pack, read_pack, unpack, write_pack
from counterpoint.indexes.update import update
from counterpoint.retrieval.core.errors import BadInput, IndexUnusable
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.store.library import LibraryFile, read_library_file
from counterpoint.retrieval.store.manifest import read_manifest
from tests.helpers.commands import call, told
from tests.helpers.full_texts import write_jats

ID = "0a1b2c3d4e5f"
Member = tuple[tarfile.TarInfo, bytes]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with a full text, after an update, that one key alone may see."""
    folder = tmp_path_factory.mktemp("made")
    rows = [{"pmid": str(n), "title": f"Zeta {n}", "abstract": f"Zeta lowers pressure in {n} adults."} for n in range(1, 30)]
    records = folder / "records.jsonl"
    records.write_text("".join(f"{json.dumps(row)}\n" for row in rows[:-1]))
    texts = folder / "texts"
    texts.mkdir()
    write_jats(texts / "a.xml", "Zeta 3", {"Results": ["Zeta lowered pressure by nine."]}, pmid="3")
    build([records], folder / "Heart", full_texts=[texts])
    records.write_text(json.dumps(rows[-1]))
    update(folder / "Heart", [records])
    LibraryFile(ID, "Heart & vessels", "Of the department", keys=("clinic",)).write(folder / "Heart")
    return folder / "Heart"


@pytest.fixture(scope="module")
def packed(library: Path) -> bytes:
    size, pieces = write_pack(library)
    content = b"".join(pieces)
    assert len(content) == size
    return content


def put(folder: Path, content: bytes, name: str = "a.counterpoint") -> Path:
    (folder / name).write_bytes(content)
    return folder / name


def members(packed: bytes) -> list[Member]:
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        return [(one, archive.extractfile(one).read()) for one in archive]  # type: ignore[union-attr]


def make(parts: list[Member], with_sums: bool = True) -> bytes:
    """A tar archive of these, with checksums that fit, in place of its last."""
    made = io.BytesIO()
    if with_sums:
        sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {one.name}\n" for one, content in parts[:-1]).encode()
        parts = [*parts[:-1], (parts[-1][0], sums)]
    with tarfile.open(fileobj=made, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for info, content in parts:
            info.size = len(content) if info.isreg() else 0
            archive.addfile(info, io.BytesIO(content))
    return made.getvalue()


def test_what_comes_back_is_what_was_packed(library: Path, packed: bytes, tmp_path: Path) -> None:
    pack = put(tmp_path, packed)
    assert is_pack(pack) and is_pack(pack.rename(tmp_path / "b.tar"))
    restored = unpack(tmp_path / "b.tar", tmp_path / "back")
    assert restored.library == LibraryFile(ID, "Heart & vessels", "Of the department")
    assert read_library_file(tmp_path / "back") == restored.library
    old, new = read_manifest(library), read_manifest(tmp_path / "back")
    assert [one.path for one in new.sources] == ["records.jsonl", "texts", "records.jsonl"]
    assert {**old.to_json(), "sources": 0} == {**new.to_json(), "sources": 0}
    with closing(Index(library)) as before, closing(Index(tmp_path / "back")) as after:
        assert [hit.pmid for hit in before.search("zeta 29", 50)] == [hit.pmid for hit in after.search("zeta 29", 50)]
        assert after.passages("3")[0].sentences[0].text == "Zeta lowered pressure by nine."
    assert b"".join(write_pack(tmp_path / "back")[1]) == packed
    assert b"clinic" not in packed and str(library.parent).encode() not in packed
    update(tmp_path / "back", [put(tmp_path, b'{"pmid": "99", "title": "Eta", "abstract": "Eta."}', "new.jsonl")])
    assert read_manifest(tmp_path / "back").counts.documents == 30
    assert sorted(one.name for one in tmp_path.iterdir()) == ["b.tar", "back", "new.jsonl"]


def refused(tmp_path: Path, content: bytes) -> str:
    with pytest.raises(BadInput) as error:
        unpack(put(tmp_path, content), tmp_path / "back")
    assert [one.name for one in tmp_path.iterdir()] == ["a.counterpoint"]
    return str(error.value)


def test_a_pack_that_is_cut_is_refused_wherever_that_is(packed: bytes, tmp_path: Path) -> None:
    end = packed.rindex(b"sha256sums") + 513
    for at in (0, 1, 511, 512, 700, *range(1024, end, end // 25), end):
        assert "is not a whole pack of a library" in refused(tmp_path, packed[:at]), at


def test_one_wrong_byte_in_any_file_is_refused(packed: bytes, tmp_path: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        places = [(one.name, one.offset_data, one.size) for one in archive if one.size]
    assert len(places) > 12
    for name, begin, size in places:
        at = begin + size // 2
        assert refused(tmp_path, packed[:at] + bytes([packed[at] ^ 1]) + packed[at + 1 :]).count(".") < 6, name


def change_manifest(**values: Any) -> Callable[[list[Member]], list[Member]]:
    def change(parts: list[Member]) -> list[Member]:
        content = json.loads(parts[0][1])
        return [(parts[0][0], json.dumps({**content, **values}).encode()), *parts[1:]]

    return change


def replace_third(**values: Any) -> Callable[[list[Member]], list[Member]]:
    def change(parts: list[Member]) -> list[Member]:
        for name, value in values.items():
            setattr(parts[2][0], name, value)
        return parts

    return change


def claim_more(parts: list[Member]) -> list[Member]:
    content = json.loads(parts[0][1])
    content["counts"]["documents"] += 1
    return [(parts[0][0], json.dumps(content).encode()), *parts[1:]]


def name_more(name: str) -> Callable[[list[Member]], list[Member]]:
    def change(parts: list[Member]) -> list[Member]:
        content = json.loads(parts[0][1])
        content["files"][name] = 4
        more = tarfile.TarInfo(f"{content['data']}/{name}")
        return [(parts[0][0], json.dumps(content).encode()), *parts[1:-1], (more, b"evil"), parts[-1]]

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (claim_more, "its documents are not those"),
        (change_manifest(corpus_sha256="0" * 64), "its documents are not those"),
        (change_manifest(format=99), "it has format 99, and this Counterpoint reads formats 4 and 5"),
        (change_manifest(format=[1] * 100), "it has format"),
        (change_manifest(counts=None), "its first part cannot be read"),
        (change_manifest(data="../v0001"), "names files that no index has"),
        (change_manifest(data="/tmp"), "names files that no index has"),
        (change_manifest(files={}), "names files that no index has"),
        (name_more("../../evil"), "names files that no index has"),
        (name_more("/tmp/evil"), "names files that no index has"),
        (name_more("lucene/../../evil"), "names files that no index has"),
        (name_more(".hidden"), "names files that no index has"),
        (name_more("lucene/a\x00b"), "names files that no index has"),
        (replace_third(type=tarfile.SYMTYPE, linkname="/etc/passwd"), "something else stands where"),
        (replace_third(type=tarfile.LNKTYPE, linkname="manifest.json"), "something else stands where"),
        (replace_third(type=tarfile.CHRTYPE), "something else stands where"),
        (replace_third(type=tarfile.GNUTYPE_SPARSE), "something else stands where"),
        (replace_third(name="../evil"), "something else stands where"),
        (replace_third(name="/tmp/evil"), "something else stands where"),
        (replace_third(name="x" * 300), "something else stands where"),
        (lambda parts: [parts[0], parts[1], *reversed(parts[2:-1]), parts[-1]], "something else stands where"),
        (lambda parts: [*parts[:2], *parts[3:]], "something else stands where"),
        (lambda parts: [parts[0], parts[1], parts[2], parts[2], *parts[3:]], "something else stands where"),
        (lambda parts: [(parts[0][0], b""), *parts[1:]], "something else stands where manifest.json should"),
        (lambda parts: [parts[0], (parts[1][0], b'{"id": "x", "name": "a/b"}'), *parts[2:]], "no slash"),
        (lambda parts: [parts[0], (parts[1][0], b'{"id": 7}'), *parts[2:]], "its first part cannot be read"),
        (lambda parts: [parts[0], (parts[1][0], b'{"id": "x", "name": "a", "keys": "k"}'), *parts[2:]], "cannot be read"),
        (lambda parts: [parts[0], (parts[1][0], b"[" * 100_000), *parts[2:]], "its first part cannot be read"),
    ],
)
def test_what_no_pack_has_is_refused(
    packed: bytes, tmp_path: Path, change: Callable[[list[Member]], list[Member]], said: str
) -> None:
    assert said in refused(tmp_path, make(change(members(packed))))


def test_checksums_must_be_those_of_the_files(packed: bytes, tmp_path: Path) -> None:
    parts = members(packed)
    parts[-1] = (parts[-1][0], parts[-1][1].replace(b"a", b"b"))
    assert "its checksums are those of other files" in refused(tmp_path, make(parts, with_sums=False))


@pytest.mark.parametrize(
    "content", [b"", b"TY  - JOUR\n", gzip.compress(b"x" * 9000, mtime=0), b"\0" * 20_000, b"PK\x03\x04" + b"x" * 999]
)
def test_other_files_are_no_pack(tmp_path: Path, content: bytes) -> None:
    assert "a.counterpoint is not a whole pack of a library" in refused(tmp_path, content)
    assert not is_pack((tmp_path / "a.counterpoint").rename(tmp_path / "a.ris"))


def test_what_a_killed_attempt_left_is_no_hindrance(packed: bytes, tmp_path: Path) -> None:
    left = tmp_path / ".back.unpacking" / "library" / "v0002"
    left.mkdir(parents=True)
    (left / "store.sqlite").write_bytes(b"half")
    unpack(put(tmp_path, packed), tmp_path / "back")
    with pytest.raises(BadInput, match="already exists"):
        unpack(tmp_path / "a.counterpoint", tmp_path / "back")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.counterpoint", "back"]


def test_a_damaged_index_is_not_packed(packed: bytes, tmp_path: Path) -> None:
    unpack(put(tmp_path, packed), tmp_path / "back")
    manifest = read_manifest(tmp_path / "back")
    _, pieces = write_pack(tmp_path / "back")
    (tmp_path / "back" / manifest.data / "store.sqlite").write_bytes(b"x" * manifest.files["store.sqlite"])
    with open(tmp_path / "b.counterpoint", "wb") as file:
        file.writelines(pieces)
    with pytest.raises(NoPack, match="its documents are not those"):
        unpack(tmp_path / "b.counterpoint", tmp_path / "other")
    (tmp_path / "back" / manifest.data / "store.sqlite").write_bytes(b"")
    with pytest.raises(IndexUnusable, match="should have"):
        write_pack(tmp_path / "back")


def test_the_commands_pack_and_restore_with_an_id_of_its_own_where_it_is_taken(library: Path, tmp_path: Path) -> None:
    pack = str(tmp_path / "heart.counterpoint")
    assert call("index", "pack", str(library), "--out", pack).exit_code == 0
    assert "exists already" in told("index", "pack", str(library), "--out", pack)
    first = call("index", "unpack", pack, "--out", str(tmp_path / "one"), "--no-examples")
    second = call("index", "unpack", pack, "--out", str(tmp_path / "two"), "--no-examples")
    assert first.exit_code == second.exit_code == 0
    assert "29 documents" in first.stderr and "new id" not in first.stderr and "new id" in second.stderr
    one, two = read_library_file(tmp_path / "one"), read_library_file(tmp_path / "two")
    assert one and two and one.id == ID == read_pack(Path(pack)).library.id and two.id != ID
    assert "already exists" in told("index", "unpack", pack, "--out", str(tmp_path / "two"))

"""Files as they lie on disks: which are sources, how they are packed and encoded, and those that cannot be used."""

from __future__ import annotations

import errno
import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from counterpoint.indexes.readers import FORMATS, Record, SkipBad, detect_format, read, sources
from counterpoint.indexes.readers.base import source
from counterpoint.indexes.readers.base.fields import RecordError, make_records
from counterpoint.retrieval.core.errors import BadInput, BadRecord
from tests.indexes.readers.files import (
    ARTICLE,
    COUNTERPOINT,
    PYSERINI,
    SCIFACT,
    SET,
    documents,
    lines,
    read_one,
    write,
)  # fmt: skip

RIS = "TY  - JOUR\nAU  - Müller, Zoë\nTI  - Naïve T cells “in vivo”\nAB  - It fell by 5–6 µg.\nER  - \n"
BIBTEX = "@article{a, title={Naïve cells}, author={Müller, Zoë}, abstract={It fell by 5–6 µg.}}\n"
CSV = "Title,Abstract\nNaïve cells,It fell by 5–6 µg.\n"
NBIB = "PMID- 7\nTI  - Naïve\nAB  - It fell by 5–6 µg.\n"


def until_fault(path: Path, **options: Any) -> tuple[list[Record], str]:
    """What a source yields before it fails, and how; bad records are let pass, as such faults are never to be."""
    found: list[Record] = []
    with pytest.raises(BadInput) as caught:
        for record in read(path, on_bad=SkipBad(1000), **options):
            found.append(record)
    return found, str(caught.value)


# --- which files, how packed, and of which format


def test_sources_are_files_in_order_of_name_whatever_the_case_of_their_endings(tmp_path: Path) -> None:
    folder = tmp_path / "baseline"
    folder.mkdir()
    for name in ("b.xml.gz", "a.xml.gz", "a.xml.gz.md5", "README.txt", ".hidden.jsonl", "C.Bib", "D.NBIB.GZ"):
        (folder / name).touch()
    (folder / "deeper.xml").mkdir()
    single = write(tmp_path, lines(COUNTERPOINT), "any.name")
    assert sources([single, folder]) == [single, *(folder / name for name in ("C.Bib", "D.NBIB.GZ", "a.xml.gz", "b.xml.gz"))]


@pytest.mark.parametrize(
    ("content", "format"),
    [
        (json.dumps(PYSERINI), "pyserini"),
        (json.dumps(COUNTERPOINT), "counterpoint"),
        (json.dumps(SCIFACT), "scifact"),
        (SET.format(ARTICLE), "pubmed"),
        (f"\ufeff  <!-- x -->{SET.format(ARTICLE)}", "pubmed"),
        ("\ufeff" + json.dumps(COUNTERPOINT), "counterpoint"),
        (f"\r\n{json.dumps(COUNTERPOINT)}\r\n\n  \n", "counterpoint"),
    ],
)
def test_formats_are_told_by_content_and_gzip_by_its_first_bytes(tmp_path: Path, content: str, format: str) -> None:
    for name, written in (("plain", content.encode()), ("packed", gzip.compress(content.encode()))):
        for ending in ("", ".gz"):
            path = write(tmp_path, written, name + ending)
            assert detect_format(path) == format
            [document] = documents(path)
            assert (document.pmid, document.title) == ("7", "Rest")
            assert documents(path, format=format) == [document]


# --- encodings and line ends


@pytest.mark.parametrize("text", [RIS, BIBTEX, CSV])
@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "utf-8"])
def test_exports_are_read_in_windows_1252_and_utf_16_with_a_note(tmp_path: Path, text: str, encoding: str) -> None:
    for content in (text.encode(encoding), gzip.compress(text.encode(encoding))):
        skip = SkipBad(0)
        document = read_one(tmp_path, content, on_bad=skip)
        assert document.abstract == "It fell by 5–6 µg." and document.title.startswith("Naïve")
        assert len(skip.notes) == (not encoding.startswith("utf-8"))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            b"TY  - JOUR\nAB  - Caf\x81.\nER  - \n",
            "line 2: expected UTF-8 or Windows-1252, got the byte 0x81; save or export the file as UTF-8",
        ),
        (RIS.encode("utf-16")[:-1], "expected UTF-16, got truncated data; save or export the file as UTF-8"),
    ],
)
def test_text_in_no_encoding_is_named(tmp_path: Path, content: bytes, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        documents(write(tmp_path, content))


def test_json_lines_as_powershell_writes_them(tmp_path: Path) -> None:
    assert read_one(tmp_path, (json.dumps(COUNTERPOINT) + "\r\n").encode("utf-16")).title == "Rest"


@pytest.mark.parametrize("text", [RIS, BIBTEX.replace(", ", ",\n"), CSV, NBIB])
@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_every_line_end_is_read(tmp_path: Path, text: str, end: str) -> None:
    assert read_one(tmp_path, text.replace("\n", end)).abstract == "It fell by 5–6 µg."


# --- records that are left out


def test_skip_bad_counts_over_files_and_stops_after_its_limit(tmp_path: Path) -> None:
    first = write(tmp_path, lines(PYSERINI, "one", "two", PYSERINI), "a.jsonl")
    second = write(tmp_path, lines(PYSERINI, "three"), "b.jsonl")
    skip = SkipBad(2)
    assert len(documents(first, on_bad=skip)) == 2
    with pytest.raises(BadInput, match=r"More than 2 bad records.*line 2.*line 3.*line 2"):
        documents(second, on_bad=skip)
    with pytest.raises(BadRecord, match="line 2"):
        documents(first, on_bad=SkipBad(0))


@pytest.mark.parametrize(
    "error", [KeyError("x"), RecursionError(), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), IndexError("y")]
)
def test_whatever_a_library_raises_is_one_records_fault(error: Exception) -> None:
    def make(piece: int) -> int:
        if piece == 2:
            raise error
        if piece == 3:
            raise RecordError("expected a number below 3")
        return piece

    skip = SkipBad(2)
    assert list(make_records(Path("x"), [(f"record {n}", n) for n in (1, 2, 3, 4)], make, skip)) == [1, 4]
    assert [fault.record for fault in skip.faults] == ["record 2", "record 3"]
    assert all("\n" not in str(fault) for fault in skip.faults)


# --- files that cannot be used, whatever is skipped


def test_a_wrong_name_is_told_before_the_first_record(tmp_path: Path) -> None:
    for look in (lambda: read(tmp_path / "none.jsonl"), lambda: sources([tmp_path / "none.jsonl"])):
        with pytest.raises(BadInput, match="does not exist"):
            look()
    with pytest.raises(BadInput, match="is a directory"):
        read(tmp_path)
    with pytest.raises(BadInput, match=r"contains no source file: .*\.jsonl"):
        sources([tmp_path])


def pack(names: tuple[str, ...], kind: str = "zip") -> bytes:
    """An archive that holds exports of these names."""
    buffer = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w") as archive:
            for name in names:
                archive.writestr(name, RIS)
    else:
        with tarfile.open(fileobj=buffer, mode="w") as tar:
            for name in names:
                info = tarfile.TarInfo(name)
                info.size = len(RIS.encode())
                tar.addfile(info, io.BytesIO(RIS.encode()))
    return buffer.getvalue()


OTHER_FILES: list[tuple[bytes | Callable[[], bytes], str]] = [
    (b"", "is empty"),
    (gzip.compress(b"", mtime=0), "is empty"),
    (gzip.compress(gzip.compress(b"{}", mtime=0), mtime=0), "gzipped twice"),
    (b"\x7fELF\x00\x01\x02", "is binary: expected text"),
    (lambda: pack(("a.ris",), "tar"), "is a tar archive"),
    (gzip.compress(b"{}" * 100, mtime=0)[:5], "at its start: expected more gzip data"),
    (b"%PDF-1.4 \xe2\xe3", "is a PDF: expected a file of documents; export the papers"),
    (b'[{"id": "1", "content": "x"}]',
     "no known format: expected PubMed XML, .* or a JSON list .*; got an object with the keys content"),
    (b'[{"title": "T", "abstract": "A.", "year": 2011}]', "no known format: .*got an object with the keys"),
    (b"[]", "no known format: .*; got an empty list"),
    (b'[{"pmid": "1", "title": "x",', "line 1, column .*: expected valid JSON to the end"),
    (b'{\n "status": "ok",\n "papers": []\n}', "contains no list of papers: .*, got an object with the keys papers, status"),
    (b"pmid,title\n1,x\n", r"no column for abstracts.*its columns are pmid, title; name it with --column abstract=NAME"),
    (b"Titel,Kurzfassung\nx,y\n", "no known format.*CSV whose first row names a title.*got invalid JSON"),
    (b"<article><front/></article>", r"is a full text \(JATS\), not a record; give its file or folder as --full-text"),
    (b"<html><br></html>", "is a web page"),
    (b"<!DOCTYPE html>\n<html></html>", "is a web page"),
    (b"<<<<", "expected well-formed XML"),
    (lambda: pack(("a.ris",)), "is a zip archive: expected a file of documents; unpack it and name the files inside it"),
    (lambda: pack(("[Content_Types].xml", "word/document.xml")), "is a Word document"),
    (lambda: gzip.compress(pack(("a.ris",), "tar")), "is a tar archive"),
    (b"7z\xbc\xaf\x27\x1c\x00\x04", "is a 7-Zip archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "is an old Excel or Word file"),
    (b'<?xml version="1.0"?><xml><records><record/></records></xml>', "is EndNote's XML: .*export the library as RIS"),
    ("%0 Journal Article\n%T Naps\n%X Naps helped.\n".encode("utf-16"), r"is EndNote's import format \(.enw\): .*as RIS"),
    (b"31234567\n" * 2000, "is a list of PMIDs"),
    (rb"{\rtf1\ansi Naps helped.}", "is RTF"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "says"), OTHER_FILES)
def test_files_of_other_kinds_are_named(tmp_path: Path, content: bytes | Callable[[], bytes], says: str) -> None:
    path = write(tmp_path, content() if callable(content) else content)
    with pytest.raises(BadInput, match=says) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("content", "format", "says"),
    [
        (lines(PYSERINI), "pubmed", "not XML: expected PubMed XML"),
        (SET.format(ARTICLE), "scifact", "is XML: expected SciFact"),
        (lines(PYSERINI), "medline", "expected auto, pyserini, counterpoint, scifact, openalex, semanticscholar, lens, pubmed"),
        (lines(PYSERINI), "counterpoint", 'line 1: expected the key "pmid"'),
        *((lines(PYSERINI), name, "does not begin as .* does; use the format auto") for name, f in FORMATS.items() if f.begins),
    ],
)
def test_a_format_that_is_not_the_files_is_told(tmp_path: Path, content: str, format: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        documents(write(tmp_path, content), format=format)


TWO = lines(PYSERINI, PYSERINI).encode()
THOUSAND = gzip.compress(lines(*({"id": i, "contents": str(i * i)} for i in range(1000))).encode(), mtime=0)


@pytest.mark.parametrize(
    ("content", "count", "says"),
    [
        (gzip.compress(lines(PYSERINI).encode(), mtime=0)[:-4], 1, "after line 1: expected more gzip data"),
        (THOUSAND[:-8] + bytes(4) + THOUSAND[-4:], 1000, "after line 1000: expected valid gzip data"),
        (TWO[:-10], 1, "line 2: expected the object to end, reached the end of the file"),
    ],
)
def test_a_file_that_breaks_off_or_is_damaged_is_told_after_what_was_read(
    tmp_path: Path, content: bytes, count: int, says: str
) -> None:
    path = write(tmp_path, content)
    found, message = until_fault(path)
    assert len(found) == count and message.startswith(f"{path}, {says}")


def test_a_file_without_line_breaks_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, lines(PYSERINI, {"id": "8", "contents": "x" * 10_000}))
    monkeypatch.setattr(source, "LONGEST", 5000)
    found, message = until_fault(path, format="pyserini")
    assert len(found) == 1 and "line 2: expected one object per line" in message


def test_a_disk_that_fails_in_the_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = read(write(tmp_path, gzip.compress(lines(PYSERINI).encode())))

    def fail(self: gzip.GzipFile, size: int | None = -1) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(gzip.GzipFile, "readline", fail)
    with pytest.raises(BadRecord, match=r"got a disk error \(Input/output error\)"):
        list(records)

"""Files in other encodings and with other line ends are read, with a note; those that no reader reads are named."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from openpyxl import Workbook

from indexes.build import build
from indexes.readers import Note, SkipBad, detect_format, read, sources
from retrieval.core.errors import BadInput
from retrieval.core.values import Document

RIS = "TY  - JOUR\nAU  - Müller, Zoë\nTI  - Naïve T cells “in vivo”\nAB  - It fell by 5–6 µg.\nER  - \n"
BIBTEX = "@article{a, title={Naïve cells}, author={Müller, Zoë}, abstract={It fell by 5–6 µg.}}\n"
CSV = "Title,Abstract\nNaïve cells,It fell by 5–6 µg.\n"
JSONL = '{"pmid": "7", "title": "Naïve cells", "abstract": "It fell by 5–6 µg."}\n'


def write(folder: Path, content: bytes, name: str = "library") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def read_all(path: Path) -> tuple[list[Document], list[Note]]:
    skip = SkipBad(0)
    return [record for record in read(path, on_bad=skip) if isinstance(record, Document)], skip.notes


@pytest.mark.parametrize("text", [RIS, BIBTEX, CSV])
@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "utf-8"])
def test_exports_are_read_in_windows_1252_and_utf_16_with_a_note(tmp_path: Path, text: str, encoding: str) -> None:
    for name, content in (("plain", text.encode(encoding)), ("packed", gzip.compress(text.encode(encoding)))):
        [document], notes = read_all(write(tmp_path, content, name))
        assert document.abstract == "It fell by 5–6 µg."
        assert document.title.startswith("Naïve")
        assert len(notes) == (not encoding.startswith("utf-8"))


def test_the_note_names_the_first_line_and_counts_them(tmp_path: Path) -> None:
    _, [note] = read_all(write(tmp_path, RIS.encode("cp1252")))
    assert str(note).endswith(
        "library, line 2: the first of 3 lines that are not UTF-8, read as Windows-1252 instead; check names and signs there"
    )


def test_a_file_put_together_from_two_encodings_is_read(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + RIS.encode() + b"\xef\xbb\xbf" + RIS.replace("Naïve", "Naïver").encode("cp1252")
    documents, _ = read_all(write(tmp_path, content))
    assert [document.title for document in documents] == ["Naïve T cells “in vivo”", "Naïver T cells “in vivo”"]
    assert [document.authors[0].given for document in documents] == ["Zoë", "Zoë"]


def test_a_byte_that_windows_1252_has_not_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, b"TY  - JOUR\nAB  - Caf\x81.\nER  - \n")
    with pytest.raises(
        BadInput, match="line 2: expected UTF-8 or Windows-1252, got the byte 0x81; save or export the file as UTF-8"
    ):
        list(read(path))


def test_utf_16_that_breaks_off_in_a_character(tmp_path: Path) -> None:
    path = write(tmp_path, RIS.encode("utf-16")[:-1])
    with pytest.raises(BadInput, match="expected UTF-16, got truncated data; save or export the file as UTF-8"):
        list(read(path))


def test_json_lines_in_utf_16_are_read(tmp_path: Path) -> None:
    """As PowerShell's `>` writes them."""
    [document], _ = read_all(write(tmp_path, JSONL.replace("\n", "\r\n").encode("utf-16")))
    assert (document.pmid, document.title) == ("7", "Naïve cells")


@pytest.mark.parametrize("text", [RIS, BIBTEX.replace(", ", ",\n"), CSV, "PMID- 7\nTI  - Naïve\nAB  - It fell by 5–6 µg.\n"])
@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_every_line_end_is_read(tmp_path: Path, text: str, end: str) -> None:
    [document], _ = read_all(write(tmp_path, text.replace("\n", end).encode()))
    assert document.abstract == "It fell by 5–6 µg."


def test_a_folder_s_files_are_found_whatever_the_case_of_their_names(tmp_path: Path) -> None:
    for name in ("a.ris", "B.RIS", "C.Bib", "D.NBIB.GZ", "e.md5"):
        write(tmp_path, b"", name)
    assert [path.name for path in sources([tmp_path])] == ["B.RIS", "C.Bib", "D.NBIB.GZ", "a.ris"]


def test_a_build_reports_its_notes(tmp_path: Path) -> None:
    report = build([write(tmp_path, RIS.encode("cp1252"))], tmp_path / "index")
    assert [note.record for note in report.notes] == ["line 2"]
    assert not report.bad


def pack_zip(names: list[str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, RIS)
    return buffer.getvalue()


def pack_tar() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        info = tarfile.TarInfo("a.ris")
        info.size = len(RIS.encode())
        archive.addfile(info, io.BytesIO(RIS.encode()))
    return buffer.getvalue()


def make_workbook() -> bytes:
    buffer = io.BytesIO()
    Workbook().save(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: pack_zip(["a.ris"]), "is a zip archive: expected a file of documents; unpack it and name the files inside it"),
        (lambda: pack_zip(["[Content_Types].xml", "word/document.xml"]), "is a Word document"),
        (make_workbook, r"is an Excel workbook: .*save the sheet as CSV \(UTF-8\)"),
        (lambda: bz2.compress(RIS.encode()), "is a bzip2 archive"),
        (lambda: lzma.compress(RIS.encode()), "is an xz archive"),
        (pack_tar, "is a tar archive"),
        (lambda: gzip.compress(pack_tar()), "is a tar archive"),
        (lambda: b"7z\xbc\xaf\x27\x1c\x00\x04", "is a 7-Zip archive"),
        (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "is an old Excel or Word file"),
        (
            lambda: b'<?xml version="1.0"?><xml><records><record/></records></xml>',
            "is EndNote's XML: .*export the library as RIS",
        ),
        (
            lambda: "%0 Journal Article\n%T Naps\n%X Naps helped.\n".encode("utf-16"),
            r"is EndNote's import format \(.enw\): .*as RIS",
        ),
        (lambda: b"FN Clarivate Analytics Web of Science\nVR 1.0\nPT J\nTI Naps\n", "is Web of Science's plain text"),
        (lambda: b"31234567\r\n31234568\r\n", "is a list of PMIDs: .*search PubMed for these numbers"),
        (lambda: b"PMID\n31234567\n31234568", "is a list of PMIDs"),
        (lambda: b"PMID: 31234567\nPMID: 31234568\n", "is a list of PMIDs"),
        (lambda: b"31234567\n" * 2000, "is a list of PMIDs"),
        (lambda: b"<!DOCTYPE html>\n<html></html>", "is a web page"),
        (lambda: rb"{\rtf1\ansi Naps helped.}", "is RTF"),
    ],
)
def test_files_of_other_kinds_are_named(tmp_path: Path, make: Callable[[], bytes], says: str) -> None:
    path = write(tmp_path, make())
    with pytest.raises(BadInput, match=says):
        detect_format(path)

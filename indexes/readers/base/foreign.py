"""Files that no reader reads, told by their beginning: what each is, and what to do with it."""

from __future__ import annotations

import re

_UNPACK = "unpack it and name the files inside it"
_EXPORT = "export the papers as RIS or BibTeX, or from PubMed (Save, Format: PubMed)"
_BINARY: tuple[tuple[bytes, str, str], ...] = (
    (b"BZh", "a bzip2 archive", _UNPACK),
    (b"\xfd7zXZ\x00", "an xz archive", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", _UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (b"PK\x05\x06", "an empty zip archive", "zip it again"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Word file", "save it as CSV (UTF-8)"),
    (b"%PDF-", "a PDF", _EXPORT),
    (b"SQLite format 3\x00", "a database", _EXPORT),
)
# In an Office file, some of these names stand in the first few thousand bytes.
_ZIPPED = (
    (b"xl/", "an Excel workbook", "save the sheet as CSV (UTF-8)"),
    (b"opendocument.spreadsheet", "an OpenDocument spreadsheet", "save the sheet as CSV (UTF-8)"),
    (b"word/", "a Word document", _EXPORT),
    (b"", "a zip archive", _UNPACK),
)
_TEXTS = (
    (r"(?:<\?xml[^>]*>)?\s*<xml>\s*<records>", "EndNote's XML", "export the library as RIS (RefMan)"),
    (r"%[0AT] \S", "EndNote's import format (.enw)", "export the papers as RIS"),
    (r"(?:FN .*\n(?:VR .*\n)?)?PT [A-Z]\n", "Web of Science's plain text", "export the papers as RIS"),
    (r"(?:PMIDs?\n)?(?:(?:PMID:? ?)?[0-9]{1,9}[ ,;]*\n)*(?:PMID:? ?)?[0-9]{1,9}\s*\Z", "a list of PMIDs",
     "search PubMed for these numbers and save the papers (Save, Format: PubMed)"),
    (r"(?i)<!doctype html|<html", "a web page", _EXPORT),
    (r"\{\\rtf", "RTF", _EXPORT),
)  # fmt: skip


def name_binary(start: bytes) -> str:
    """What a binary file is and what to do, as the rest of a sentence; "" for none of these."""
    if start.startswith(b"PK\x03\x04"):
        return next(_say(name, todo) for part, name, todo in _ZIPPED if part in start)
    if start[257:262] == b"ustar":
        return _say("a tar archive", _UNPACK)
    return next((_say(name, todo) for magic, name, todo in _BINARY if start.startswith(magic)), "")


def name_text(head: str) -> str:
    """The same for a text; a list of numbers must go to the end of `head`."""
    head = head.lstrip()
    return next((_say(name, todo) for pattern, name, todo in _TEXTS if re.match(pattern, head)), "")


def _say(name: str, todo: str) -> str:
    return f"{name}: expected a file of documents; {todo}"

"""JSON in every shape and format that programs and services write: what is read, and what each fault says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterpoint.indexes.readers import Record, SkipBad, detect_format, read
from counterpoint.retrieval.core.errors import BadInput, BadRecord
from counterpoint.retrieval.core.values import Author, Document, Notice, Section
from tests.indexes.readers.files import (
    COUNTERPOINT,
    LONG,
    PYSERINI,
    SCIFACT,
    documents,
    lines,
    read_leniently,
    read_one,
    write,
)  # fmt: skip

CSL: dict[str, Any] = {"id": "a", "type": "article-journal", "title": "Pears", "abstract": "Pears eased it.", "PMID": "1"}
EUROPE: dict[str, Any] = {"id": "1", "source": "MED", "pmid": "1", "title": "Pears", "abstractText": "Pears eased it."}
RECORDS: dict[str, list[dict[str, Any]]] = {
    "counterpoint": [COUNTERPOINT | {"pmid": "1", "year": 2012, "doi": "10.5555/a"}, COUNTERPOINT | {"pmid": "2"}],
    "pyserini": [PYSERINI | {"id": 1}, PYSERINI | {"id": 2}],
    "scifact": [SCIFACT | {"doc_id": 1}, SCIFACT | {"doc_id": 2}],
    "csl": [CSL, CSL | {"id": "b", "PMID": 2}],
    "europepmc": [EUROPE, EUROPE | {"id": "2", "pmid": "2"}],
}
Shape = Callable[[list[Any]], str]
SHAPES: dict[str, Shape] = {
    "lines": lambda records: "\n".join(map(json.dumps, records)),
    "a list": json.dumps,
    "an indented list": lambda records: json.dumps(records, indent=1),
    "a list with a record per line": lambda records: "[\n" + ",\n".join(map(json.dumps, records)) + "\n]\n",
    "indented objects": lambda records: "\n".join(json.dumps(record, indent=2) for record in records),
    "Crossref's envelope": lambda records: json.dumps({"status": "ok", "message": {"facets": {}, "items": records}}),
    "an indented envelope": lambda records: json.dumps({"status": "ok", "message": {"items": records}}, indent=1),
    "Europe PMC's envelope": lambda records: json.dumps({"hitCount": 2, "request": {}, "resultList": {"result": records}}),
    "an envelope per line": lambda records: "\n".join(json.dumps({"results": [record]}) for record in records),
}


@pytest.mark.parametrize("format", RECORDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_format_is_read_in_every_shape(tmp_path: Path, format: str, shape: str) -> None:
    by_line = documents(write(tmp_path, SHAPES["lines"](RECORDS[format])))
    path = write(tmp_path, SHAPES[shape](RECORDS[format]))
    assert detect_format(path) == format
    assert documents(path) == documents(path, format=format) == by_line
    assert [document.pmid for document in by_line] == ["1", "2"]


LINK = {"id": "9", "source": "MED"}


def europe_link(kind: str) -> dict[str, Any]:
    return EUROPE | {"commentCorrectionList": {"commentCorrection": [LINK | {"type": kind}]}}


QUILL, VARRO = Author("Quill", "L"), Author("Varro", "N")
READ: list[tuple[dict[str, Any], dict[str, Any]]] = [
    # Pyserini: the first line is the title, if there is another.
    ({"id": 12, "contents": "Rest\nBed rest\ndid not help. "},
     {"pmid": "12", "title": "Rest", "abstract": "Bed rest did not help."}),
    ({"id": "a1", "contents": "Rest. It did not help."}, {"pmid": "a1", "title": "", "abstract": "Rest. It did not help."}),
    (COUNTERPOINT | {"title": "", "abstract": []}, {"title": "", "abstract": ""}),
    (COUNTERPOINT | {"title": None, "abstract": None}, {"title": "", "abstract": ""}),
    # A single part without a label is no section.
    (COUNTERPOINT | {"abstract": ["No gain."]}, {"sections": ()}),
    (COUNTERPOINT | {"abstract": [{"label": "AIM", "text": "Sleep."}]}, {"sections": (Section("AIM", 0, 6),)}),
    (COUNTERPOINT | {"abstract": [" We tried. ", {"label": "RESULTS", "text": "Ninety slept."}, "  ", {"text": "No gain.\n"}]},
     {"abstract": "We tried. Ninety slept. No gain.",
      "sections": (Section("", 0, 9), Section("RESULTS", 10, 23), Section("", 24, 32))}),
    # SciFact's spans are its sentences, and empty ones keep their index.
    (SCIFACT | {"abstract": ["", "Bed rest was tried.   \n", " ", "It did not help.", ""]},
     {"pmid": "7", "abstract": "Bed rest was tried. It did not help.",
      "spans": ((0, 0), (0, 19), (19, 19), (20, 36), (36, 36))}),
    # CSL, with keys in any case, and names as programs write them.
    ({"type": "article-journal", "title": "T", "abstract": "A.", "Pmid": 7, "doi": "10.5555/B", "year": 2011, "journal": "J"},
     {"pmid": "7", "doi": "10.5555/b", "year": 2011, "journal": "J"}),
    (CSL | {"author": ["Quill L", "Varro, Nell"]}, {"authors": (QUILL, Author("Varro", "Nell"))}),
    (CSL | {"author": "Quill L; Varro N"}, {"authors": (QUILL, VARRO)}),
    (CSL | {"author": {"family": "Quill"}}, {"authors": (Author("Quill"),)}),
    (CSL | {"author": [{"name": "Pear Group"}, {"literal": "Fig Group"}, {}]},
     {"authors": (Author("Pear Group"), Author("Fig Group"))}),
    (CSL | {"author": [{"family": "Quill", "given": "L", "suffix": "Jr"}, "Varro N"]},
     {"authors": (Author("Quill", "L", "Jr"), VARRO)}),
    (CSL | {"author": []}, {"authors": ()}),
    (CSL | {"author": None}, {"authors": ()}),
    (CSL | {"retracted": True}, {"retracted": True}),
    (CSL | {"updated-by": [{"type": "erratum"}, {"type": "retraction", "DOI": "10.5555/r"}]}, {"retracted": True}),
    (CSL | {"updated-by": [{"type": "erratum"}]}, {"retracted": False}),
    ({"message": {"type": "journal-article", "title": ["P"], "abstract": "<jats:p>It did.</jats:p>", "DOI": "10.5555/A"}},
     {"title": "P", "abstract": "It did.", "doi": "10.5555/a"}),
    (europe_link("Retraction in"), {"retracted": True, "notices": (Notice("RetractionIn", "9"),)}),
    (europe_link("Expression of concern in"), {"retracted": False, "notices": (Notice("ExpressionOfConcernIn", "9"),)}),
    (europe_link("Retraction of"), {"retracted": False, "notices": (Notice("RetractionOf", "9"),)}),
    (europe_link("Erratum in"), {"retracted": False}),
]  # fmt: skip


@pytest.mark.parametrize(("record", "facts"), READ)
def test_facts(tmp_path: Path, record: dict[str, Any], facts: dict[str, Any]) -> None:
    for text in (json.dumps(record), json.dumps(record, indent=1)):
        # CSL is a list; a line of another format stands alone.
        document = read_one(tmp_path, f"[{text}]" if "type" in record else text)
        assert {name: getattr(document, name) for name in facts} == facts


def test_counterpoint_reads_every_key(tmp_path: Path) -> None:
    record = {
        "pmid": 7, "title": " Rest ", "abstract": "Bed rest did not help.", "year": 1999, "journal": "Sleep",
        "types": ["Clinical Trial"], "retracted": True, "authors": ["O'Neil, Mary A, Jr", "Rest Group"],
        "doi": "https://doi.org/10.1000/Rest", "pmcid": "pmc9", "mesh": ["Bed Rest"], "source": "elsewhere",
    }  # fmt: skip
    assert read_one(tmp_path, lines(record)) == Document(
        "7", "Rest", "Bed rest did not help.", year=1999, journal="Sleep", types=("Clinical Trial",), retracted=True,
        authors=(Author("O'Neil", "Mary A", "Jr"), Author("Rest Group")), doi="10.1000/rest", pmcid="PMC9", mesh=("Bed Rest",),
    )  # fmt: skip


# --- faults


GOOD = {"counterpoint": COUNTERPOINT, "pyserini": PYSERINI, "scifact": SCIFACT}
FAULTS: list[tuple[str, dict[str, Any] | str, str]] = [
    ("counterpoint", "nonsense", "expected one JSON object, got invalid JSON"),
    ("counterpoint", '{"pmid": "1"', "expected one JSON object, got invalid JSON"),
    ("counterpoint", "3", "got a bare value"),
    ("counterpoint", {"title": "", "abstract": ""}, 'expected the key "pmid", got an object with the keys abstract'),
    ("counterpoint", {"pmid": "1", "abstract": ""}, 'expected the key "title"'),
    ("counterpoint", {"pmid": "1", "title": ""}, 'expected the key "abstract"'),
    *(("counterpoint", COUNTERPOINT | {key: value}, says) for key, value, says in (
        ("pmid", None, 'whole number, in "pmid", got null'),
        ("pmid", True, "got true"),
        ("pmid", 1.5, "got the number 1.5"),
        ("pmid", ["1"], "got a list"),
        ("pmid", " ", "got an empty text"),
        ("pmid", "1 2", "without blanks"),
        ("pmid", "1\n2", "without blanks"),
        ("pmid", "\ud800", "without blanks or control characters"),
        *(("pmid", id, "expected an id of at most 500 characters") for id in ("x" * 501, int("9" * 501))),
        ("title", 5, 'expected text in "title", got the number 5'),
        ("abstract", 5, 'in "abstract", got the number 5'),
        ("abstract", {"text": ""}, 'in "abstract", got an object'),
        ("abstract", ["", None], 'in the list "abstract", got null'),
        ("abstract", [{"label": "AIM"}], 'expected the key "text"'),
        ("abstract", [{"label": 1, "text": ""}], 'expected text in "label"'),
        ("year", "1999", "got the text '1999'"),
        ("year", True, 'in "year", got true'),
        ("year", 19990101, 'in "year", got the number 19990101'),
        ("types", "Letter", 'expected a list of texts in "types"'),
        ("types", [1], 'in the list "types", got the number 1'),
        ("authors", "Smith", 'expected a list of texts in "authors"'),
        ("doi", "none", "expected a DOI such as 10.1000/xyz123"),
        ("retracted", "yes", 'expected true or false in "retracted"'),
        ("Journal", "Sleep", 'expected the key "journal", got "Journal"'),
        ("retraced", True, 'expected the key "retracted", got "retraced"'),
    )),
    ("pyserini", {"contents": "x"}, 'expected the key "id"'),
    ("pyserini", {"id": "1"}, 'expected the key "contents"'),
    ("pyserini", {"id": "1", "contents": ["x"]}, 'expected text in "contents", got a list'),
    ("pyserini", {"id": "", "contents": "x"}, "got an empty text"),
    ("scifact", SCIFACT | {"abstract": "x"}, "expected a list of sentences"),
    ("scifact", SCIFACT | {"abstract": ["x", 1]}, 'expected texts in the list "abstract", got the number 1'),
    ("scifact", {"title": "", "abstract": []}, 'expected the key "doc_id"'),
    ("scifact", SCIFACT | {"doc_id": None}, "got null"),
]  # fmt: skip


@pytest.mark.parametrize(("format", "bad", "says"), FAULTS)
def test_a_bad_line_is_named_and_can_be_left_out(tmp_path: Path, format: str, bad: dict[str, Any] | str, says: str) -> None:
    path = write(tmp_path, lines(GOOD[format], bad, GOOD[format]))
    with pytest.raises(BadRecord) as caught:
        list(read(path, format))
    message = str(caught.value)
    assert message.startswith(f"{path}, line 2: ")
    assert says in message and "--skip-bad" in message
    message.encode("utf-8")
    found, skip = read_leniently(path)
    assert [record.pmid for record in found] == ["7", "7"]
    assert [(fault.record, says in fault.expected) for fault in skip.faults] == [("line 2", True)]


def test_a_line_that_is_not_utf8_is_a_bad_record(tmp_path: Path) -> None:
    good = json.dumps(COUNTERPOINT).encode()
    found, skip = read_leniently(write(tmp_path, b"\n".join([good, good.replace(b"Rest", b"Caf\xe9"), good])))
    assert len(found) == 2
    assert skip.faults[0].record == "line 2"
    assert "expected UTF-8, got the byte 0xe9" in skip.faults[0].expected


@pytest.mark.parametrize("shape", ["a list", "an indented list", "an indented envelope"])
def test_a_bad_item_is_named_and_can_be_left_out(tmp_path: Path, shape: str) -> None:
    path = write(tmp_path, SHAPES[shape]([COUNTERPOINT, {"pmid": "3", "title": "T"}, 7, COUNTERPOINT]))
    with pytest.raises(BadInput, match=r'item 2: expected the key "abstract".*--skip-bad'):
        list(read(path))
    found, skip = read_leniently(path)
    assert len(found) == 2
    assert [fault.record for fault in skip.faults] == ["item 2", "item 3"]
    assert skip.faults[1].expected == "expected an object, got the number 7"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (json.dumps([CSL])[:-30], "line 1, column .*expected valid JSON to the end"),
        (json.dumps([CSL, 7]), "item 2: expected an object, got the number 7"),
        (json.dumps([{"type": "article", "abstract": {}}]), 'item 1: expected text in "abstract", got an object'),
        (json.dumps([{"type": "article", "author": 7}]), 'item 1: expected a list of names in "author", got the number 7'),
        (json.dumps([{"type": "article", "author": [["Smith"]]}]), "item 1: expected names as objects or texts .*, got a list"),
        # Brackets nested too deeply.
        ("[" * 100_000, "^[^\n]*$"),
        ('[{"type": "article", "title": ' + "[" * 100_000, "^[^\n]*$"),
        (json.dumps(COUNTERPOINT) + "\n" + "[" * 100_000, "^[^\n]*$"),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        list(read(write(tmp_path, text)))


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    lambda inside: st.one_of(st.lists(inside, max_size=3), st.dictionaries(st.text(max_size=6), inside, max_size=3)),
    max_leaves=5,
)
KEYS = {format: sorted(set().union(*map(set, records))) for format, records in RECORDS.items()}
KEYS["csl"] += ["author", "issued", "container-title", "note", "URL", "DOI", "updated-by"]
KEYS["europepmc"] += ["authorList", "journalInfo", "pubTypeList", "meshHeadingList", "commentCorrectionList", "pubYear", "doi"]
KEYS["counterpoint"] += ["authors", "types", "mesh", "journal", "pmcid"]
NESTED = {
    "authorList": "author", "pubTypeList": "pubType", "meshHeadingList": "meshHeading",
    "commentCorrectionList": "commentCorrection", "journalInfo": "journal", "issued": "date-parts",
}  # fmt: skip


@st.composite
def libraries(draw: st.DrawFn) -> tuple[str, list[Any]]:
    """A format, and records of it in which some values are replaced by others."""
    format = draw(st.sampled_from(sorted(RECORDS)))
    records = []
    for _ in range(draw(st.integers(1, 5))):
        record: dict[str, Any] = dict(draw(st.sampled_from(RECORDS[format])))
        for key in draw(st.lists(st.sampled_from(KEYS[format]), max_size=2, unique=True)):
            value = draw(VALUES)
            record[key] = {NESTED[key]: [value]} if key in NESTED and draw(st.booleans()) else value
        records.append(record)
    return format, records


@LONG
@given(libraries(), st.sampled_from(["lines", "a list", "an indented list"]))
def test_every_record_is_read_or_counted(
    tmp_path_factory: pytest.TempPathFactory, library: tuple[str, list[Any]], shape: str
) -> None:
    format, records = library
    skip = SkipBad(100)
    found: list[Record] = list(read(write(tmp_path_factory.getbasetemp(), SHAPES[shape](records)), format=format, on_bad=skip))
    assert len(found) + len(skip.faults) == len(records)
    assert not any("\n" in str(fault) or "a fault (" in str(fault) for fault in skip.faults)
    for record in found:
        if isinstance(record, Document):
            json.dumps(record.title + record.abstract + record.journal).encode()


OPENALEX = {
    "id": "https://openalex.org/W4", "doi": "https://doi.org/10.5555/Pear", "title": "Pears", "publication_year": 2021,
    "type": "article", "ids": {"pmid": "https://pubmed.ncbi.nlm.nih.gov/77"}, "is_retracted": True,
    "authorships": [{"author": {"display_name": "Nell B. Varro"}}],
    "abstract_inverted_index": {"Pears": [0], "eased": [1, 4], "it,": [2], "figs": [3], "none.": [5]},
}  # fmt: skip
SCHOLAR = {
    "paperId": "a1", "title": "Pears", "abstract": "Pears eased it.", "year": 2021, "authors": [{"name": "Nell Varro"}],
    "externalIds": {"PubMed": "77", "DOI": "10.5555/pear"},
}  # fmt: skip
LENS = {
    "lens_id": "1-2", "title": "Pears", "abstract": "Pears eased it.", "year_published": 2021,
    "external_ids": [{"type": "pmid", "value": "77"}], "authors": [{"first_name": "Nell", "last_name": "Varro"}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("format", "record", "abstract"),
    [
        ("openalex", OPENALEX, "Pears eased it, figs eased none."),
        ("semanticscholar", SCHOLAR, "Pears eased it."),
        ("lens", LENS, "Pears eased it."),
    ],
)
@pytest.mark.parametrize("key", ["", "results", "data"])
def test_what_other_services_export_is_read(tmp_path: Path, format: str, record: dict[str, Any], abstract: str, key: str) -> None:
    path = write(tmp_path, json.dumps({"meta": {"count": 1}, key: [record]} if key else record))
    assert detect_format(path) == format
    [document] = documents(path)
    assert (document.pmid, document.abstract, document.year, document.authors[0].family) == ("77", abstract, 2021, "Varro")
    assert document.retracted == (format == "openalex")


def test_a_summary_of_pubmed_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, json.dumps({"result": {"uids": ["7"], "7": {"uid": "7", "pubdate": "2020", "title": "Pears"}}}))
    with pytest.raises(BadInput, match=r"is a summary of PubMed \(ESummary\), which has no abstracts; save the papers as PubMed"):
        detect_format(path)

"""JSON in every shape that programs and services write: lines, lists and envelopes; as many records come out as went in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexes.readers import Record, SkipBad, detect_format, read
from retrieval.core.errors import BadInput
from retrieval.core.values import Author, Document, Notice

OURS: list[dict[str, Any]] = [
    {"pmid": "1", "title": "Pears", "abstract": "Pears eased it.", "year": 2012, "retracted": True, "doi": "10.5555/a"},
    {"pmid": "2", "title": "Figs", "abstract": "Figs did not."},
]
PYSERINI: list[dict[str, Any]] = [{"id": 1, "contents": "Pears\nPears eased it."}, {"id": 2, "contents": "Figs\nFigs did not."}]
SCIFACT: list[dict[str, Any]] = [
    {"doc_id": 1, "title": "Pears", "abstract": ["Pears eased it."]},
    {"doc_id": 2, "title": "F", "abstract": ["No."]},
]
CSL: list[dict[str, Any]] = [
    {"id": "a", "type": "article-journal", "title": "Pears", "abstract": "Pears eased it.", "PMID": "1"},
    {"id": "b", "type": "article-journal", "title": "Figs", "abstract": "Figs did not.", "PMID": 2},
]
EUROPE: list[dict[str, Any]] = [
    {"id": "1", "source": "MED", "pmid": "1", "title": "Pears", "abstractText": "Pears eased it."},
    {"id": "2", "source": "MED", "pmid": "2", "title": "Figs", "abstractText": "Figs did not."},
]
RECORDS = {"counterpoint": OURS, "pyserini": PYSERINI, "scifact": SCIFACT, "csl": CSL, "europepmc": EUROPE}

Shape = Callable[[list[Any]], str]
SHAPES: dict[str, Shape] = {
    "lines": lambda records: "\n".join(map(json.dumps, records)),
    "a list": json.dumps,
    "an indented list": lambda records: json.dumps(records, indent=1),
    "a list with a record per line": lambda records: "[\n" + ",\n".join(map(json.dumps, records)) + "\n]\n",
    "indented objects": lambda records: "\n".join(json.dumps(one, indent=2) for one in records),
    "Crossref's envelope": lambda records: json.dumps({"status": "ok", "message": {"facets": {}, "items": records}}),
    "an indented envelope": lambda records: json.dumps({"status": "ok", "message": {"items": records}}, indent=1),
    "Europe PMC's envelope": lambda records: json.dumps({"hitCount": 2, "request": {}, "resultList": {"result": records}}),
    "an envelope per line": lambda records: "\n".join(json.dumps({"results": [one]}) for one in records),
}


def write(folder: Path, text: str) -> Path:
    path = folder / "library.json"
    path.write_text(text, "utf-8")
    return path


def read_all(path: Path, **options: Any) -> list[Document]:
    return [record for record in read(path, **options) if isinstance(record, Document)]


@pytest.mark.parametrize("format", RECORDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_format_is_read_in_every_shape(tmp_path: Path, format: str, shape: str) -> None:
    lines = read_all(write(tmp_path, SHAPES["lines"](RECORDS[format])))
    path = write(tmp_path, SHAPES[shape](RECORDS[format]))
    assert detect_format(path) == format
    assert read_all(path) == read_all(path, format=format) == lines
    assert [document.pmid for document in lines] == ["1", "2"]


@pytest.mark.parametrize("shape", ["a list", "an indented list", "an indented envelope"])
def test_a_bad_item_is_named_and_can_be_left_out(tmp_path: Path, shape: str) -> None:
    path = write(tmp_path, SHAPES[shape]([OURS[0], {"pmid": "3", "title": "T"}, 7, OURS[1]]))
    with pytest.raises(BadInput, match=r'item 2: expected the key "abstract".*--skip-bad'):
        list(read(path))
    skip = SkipBad(2)
    assert [document.pmid for document in read_all(path, on_bad=skip)] == ["1", "2"]
    assert [fault.record for fault in skip.faults] == ["item 2", "item 3"]
    assert skip.faults[1].expected == "expected an object, got the number 7"


def test_one_work_of_crossref(tmp_path: Path) -> None:
    work = {"type": "journal-article", "title": ["Pears"], "abstract": "<jats:p>Pears eased it.</jats:p>", "DOI": "10.5555/A"}
    for text in (json.dumps({"message": work}), json.dumps({"message": work}, indent=1)):
        [document] = read_all(write(tmp_path, text))
        assert (document.title, document.abstract, document.doi) == ("Pears", "Pears eased it.", "10.5555/a")


@pytest.mark.parametrize("key", ["retracted", "updated-by"])
def test_csl_and_crossref_tell_of_a_retraction(tmp_path: Path, key: str) -> None:
    value = True if key == "retracted" else [{"type": "erratum"}, {"type": "retraction", "DOI": "10.5555/r"}]
    [document] = read_all(write(tmp_path, json.dumps([CSL[0] | {key: value}])))
    assert document.retracted
    [document] = read_all(write(tmp_path, json.dumps([CSL[0] | {"updated-by": [{"type": "erratum"}]}])))
    assert not document.retracted


def test_europe_pmc_tells_of_a_retraction_by_its_links(tmp_path: Path) -> None:
    def link(kind: str, id: str = "9") -> dict[str, Any]:
        return {"commentCorrectionList": {"commentCorrection": [{"id": id, "source": "MED", "type": kind}]}}

    def only(more: dict[str, Any]) -> Document:
        [document] = read_all(write(tmp_path, json.dumps(EUROPE[0] | more)))
        return document

    assert only(link("Retraction in")).retracted
    assert only(link("Retraction in")).notices == (Notice("RetractionIn", "9"),)
    assert only(link("Expression of concern in")).notices == (Notice("ExpressionOfConcernIn", "9"),)
    assert only(link("Retraction of")).notices == (Notice("RetractionOf", "9"),)
    assert not only(link("Erratum in")).retracted


@pytest.mark.parametrize(
    ("value", "authors"),
    [
        (["Quill L", "Varro, Nell"], [Author("Quill", "L"), Author("Varro", "Nell")]),
        ("Quill L; Varro N", [Author("Quill", "L"), Author("Varro", "N")]),
        ({"family": "Quill"}, [Author("Quill")]),
        ([{"name": "Pear Group"}, {"literal": "Fig Group"}, {}], [Author("Pear Group"), Author("Fig Group")]),
        ([{"family": "Quill", "given": "L", "suffix": "Jr"}, "Varro N"], [Author("Quill", "L", "Jr"), Author("Varro", "N")]),
        ([], []),
        (None, []),
    ],
)
def test_csl_reads_names_as_programs_write_them(tmp_path: Path, value: object, authors: list[Author]) -> None:
    [document] = read_all(write(tmp_path, json.dumps([CSL[0] | {"author": value}])))
    assert list(document.authors) == authors


def test_csl_reads_keys_in_other_cases(tmp_path: Path) -> None:
    item = {
        "type": "article-journal", "title": "T", "abstract": "A.", "Pmid": 7, "doi": "10.5555/B", "year": 2011, "journal": "J",
    }  # fmt: skip
    [document] = read_all(write(tmp_path, json.dumps([item])))
    assert (document.pmid, document.doi, document.year, document.journal) == ("7", "10.5555/b", 2011, "J")


@pytest.mark.parametrize(
    "text", ['[{"title": "T", "abstract": "A.", "year": 2011}]', '{"items": [{"title": "T", "journal": "J"}]}']
)
def test_records_without_an_id_or_a_type_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput, match=r"no known format: .*got an object with the keys"):
        read(write(tmp_path, text))


def test_brackets_nested_too_deeply_are_one_sentence(tmp_path: Path) -> None:
    deep = "[" * 100_000
    for text in (deep, '[{"type": "article", "title": ' + deep, json.dumps(OURS[0]) + "\n" + deep):
        with pytest.raises(BadInput) as caught:
            list(read(write(tmp_path, text)))
        assert "\n" not in str(caught.value)


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


@settings(max_examples=300, deadline=None)
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

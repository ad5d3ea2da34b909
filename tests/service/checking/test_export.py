"""A checked text taken along: every format holds the same, and text stays text in each."""

from __future__ import annotations

import csv
import io
from html.parser import HTMLParser

import pytest
from openpyxl import load_workbook

from counterpoint.service.checking.check import Checker, ReadText
from counterpoint.service.checking.export import COLUMNS, export_text
from counterpoint.service.checking.parse import read_text
from counterpoint.service.checking.schemas import CheckedText
from tests.helpers.fakes import make_index, make_reading_grounder
from tests.helpers.texts import DOCUMENTS, HOSTILE, TEXT


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> CheckedText:
    grounder = make_reading_grounder(make_index(tmp_path_factory.mktemp("export"), DOCUMENTS))
    return Checker(grounder).check(ReadText.of(read_text(TEXT, "text")))


class _Parsed(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loaded: list[str] = []
        self.shown = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loaded += [
            value or "" for name, value in attrs if name in ("src", "srcset", "data") or (tag == "link" and name == "href")
        ]

    def handle_data(self, data: str) -> None:
        self.shown += data


def test_a_paper_that_a_language_model_reads_in_part_is_marked(checked: CheckedText) -> None:
    partly = CheckedText.model_validate_json(checked.model_dump_json().replace('"standing":"plain"', '"standing":"partial"'))
    assert "(in part)" in export_text(partly, "markdown").decode()
    assert "in part" not in export_text(checked, "markdown").decode()


def test_the_page_shows_all_and_runs_nothing(checked: CheckedText) -> None:
    page = _Parsed()
    page.feed(export_text(checked, "html", HOSTILE).decode())
    assert "script" not in page.tags and not page.loaded
    words = " ".join(page.shown.split())
    assert f"A {HOSTILE} title" in words and f"Against it {HOSTILE}" in words
    assert "Zeta is against pressure." in words and "PMID 1" in words
    # Beside the claim's verdict in the text, and again where the papers are listed.
    assert words.count("✗ says the opposite") == 2 and words.count("not in the index") == 3
    assert "✗ says the opposite PMID 1 · Against it" in words and "[3] is in no list of references" in words
    assert "Does zeta help? (a question)" in words


def test_the_table_has_a_row_a_sentence_and_no_formula(checked: CheckedText) -> None:
    rows = list(csv.DictReader(io.StringIO(export_text(checked, "csv").decode())))
    assert [(one["row"], one["verdict"]) for one in rows] == [("2", "not a claim"), ("3", "contradicted"), ("4", "mixed")]
    assert rows[0]["why"] == "a question."
    against = rows[1]
    assert (against["against_pmid"], against["against_year"], against["papers_against"]) == ("1", "1999", "1")
    assert against["against_link"] == "https://pubmed.ncbi.nlm.nih.gov/1/"
    assert against["citations"] == "✗ says the opposite – PMID 1: “Zeta is against pressure.”; not in the index – PMID 77"
    assert rows[2]["sentence"].startswith("'=Omega") and rows[2]["citations"] == "[3] is in no list of references"


def test_the_spreadsheet_holds_the_same_as_text(checked: CheckedText) -> None:
    sheet = load_workbook(io.BytesIO(export_text(checked, "xlsx"))).active
    assert sheet is not None
    rows = list(sheet.iter_rows())
    assert tuple(cell.value for cell in rows[0]) == COLUMNS and len(rows) == 4
    omega = rows[3][1]
    assert (omega.data_type, str(omega.value)[:6]) == ("s", "=Omega")
    assert rows[2][12].hyperlink is not None and sheet.freeze_panes == "A2"


def test_markdown_means_what_it_says(checked: CheckedText) -> None:
    text = export_text(checked, "markdown").decode()
    assert "## 1. ✗ Contradicted" in text and "## 2. ± Mixed" in text
    assert "<script>" not in text and "[PMID 1](https://pubmed.ncbi.nlm.nih.gov/1/)" in text
    assert "- Does zeta help? *(a question)*" in text

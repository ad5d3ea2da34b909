"""PDFs as full texts: what stands where on the page becomes sections, paragraphs, captions and rows, each with its page."""

from __future__ import annotations

import textwrap
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from counterpoint.indexes.readers.full_text import read_full_texts
from counterpoint.retrieval.core.errors import BadRecord
from counterpoint.retrieval.core.values import FullText
from tests.helpers.full_texts import write_jats
from tests.helpers.texts import Drawn, draw_pdf, pdf

TITLE = "Zinc lozenges for keepers of lighthouses with frequent colds"
ABSTRACT = "We asked whether zinc shortens colds. Sixty keepers took lozenges or chalk. Colds were two days shorter with zinc."
INTRODUCTION = (
    "Colds are frequent in lighthouses, where the wind finds every window and the stairs are long. Keepers have tried "
    "onions, wool and rum, and none of these has been studied with care or with a control group that deserves the name."
)
METHODS = (
    "Sixty keepers were randomised by the toss of a coin to lozenges with zinc or to chalk, five times a day for a week. "
    "Neither they nor those who counted their sneezes knew which lozenge was which, and all kept a diary of every cold."
)
RESULTS = (
    "Colds lasted four days with zinc and six days with chalk, a difference that was unlikely to come about by chance. "
    "Three keepers disliked the taste of zinc and stopped; nobody disliked the chalk, although two of them complained of it."
)
DISCUSSION = (
    "Zinc shortened colds in keepers of lighthouses, whose colds may differ from those of others who live closer together. "
    "Whether it prevents colds too cannot be told from this trial, since every keeper already had one when it began."
)


def set_lines(text: str, left: float, top: float, wide: int, size: float = 10, indent: float = 0) -> list[Drawn]:
    """A text in lines of at most `wide` characters, from this height downwards."""
    lines = textwrap.wrap(text, wide)
    return [(left + indent * (row == 0), top - 12 * row, size, line) for row, line in enumerate(lines)]


def set_section(heading: str, text: str, left: float, top: float, wide: int) -> list[Drawn]:
    return [(left, top, -12.0, heading), *set_lines(text, left, top - 20, wide)]


def front(doi: str = "10.1000/zinc.1") -> list[Drawn]:
    return [
        (60, 790, 8, f"Journal of Lighthouses 2019; 3: 14-18. doi: {doi}"),
        (60, 750, -17, TITLE),
        (60, 730, 10, "Ana Vermeer1, Jan van der Berg2 and Mei Lin1*"),
        (60, 700, -10, "Abstract"),
        *set_lines(ABSTRACT, 60, 686, 100),
    ]


def read(folder: Path, raw: bytes, name: str = "paper.pdf") -> tuple[list[FullText], list[str]]:
    """The texts in a file of these bytes, and what is said of those that cannot be read."""
    (folder / name).write_bytes(raw)
    bad: list[BadRecord] = []
    return list(read_full_texts(folder / name, bad.append)), [str(one) for one in bad]


def read_one(folder: Path, pages: Sequence[Sequence[Drawn]], **said: str) -> FullText:
    texts, bad = read(folder, draw_pdf(pages, said))
    assert not bad
    [text] = texts
    return text


def describe(text: FullText) -> list[tuple[str, str, str]]:
    """Kind, place and words of each block."""
    return [(block.location.kind, str(block.location), block.text) for block in text.blocks]


def test_two_columns_drawn_in_any_order_are_read_in_theirs(tmp_path: Path) -> None:
    left = [*set_section("Introduction", INTRODUCTION, 60, 620, 48), *set_section("Methods", METHODS, 60, 480, 48)]
    right = [*set_section("Results", RESULTS, 310, 620, 48), *set_section("Discussion", DISCUSSION, 310, 480, 48)]
    text = read_one(tmp_path, [[*right, *front(), *left]])
    assert describe(text) == [
        ("introduction", "Introduction, paragraph 1, p. 1", INTRODUCTION),
        ("methods", "Methods, paragraph 1, p. 1", METHODS),
        ("results", "Results, paragraph 1, p. 1", RESULTS),
        ("discussion", "Discussion, paragraph 1, p. 1", DISCUSSION),
    ]
    record = text.record
    assert (record.title, record.abstract, record.doi, record.year) == (TITLE, ABSTRACT, "10.1000/zinc.1", 2019)
    assert [(one.family, one.given) for one in record.authors] == [("Vermeer", "Ana"), ("van der Berg", "Jan"), ("Lin", "Mei")]


def test_a_table_between_two_halves_of_a_sentence_is_rows_with_heads_and_interrupts_nothing(tmp_path: Path) -> None:
    lines = set_lines(RESULTS, 60, 600, 95)
    first, rest = lines[:2], [(left, 720 - 12 * row, size, words) for row, (left, _, size, words) in enumerate(lines[2:])]
    table: list[Drawn] = [(60, 300, -9, "Table 1."), (100, 300, 9, "Colds by group.")]
    for row, cells in enumerate(
        [("Outcome", "Zinc", "Chalk"), ("Days with a cold", "4.1", "6.0"), ("Sneezes an hour", "12", "19")]
    ):
        table += [(left, 285 - 11 * row, 9, cell) for left, cell in zip((60, 250, 330), cells, strict=True)]
    table.append((60, 250, 8, "Means of all keepers who kept their diary."))
    page = [*front(), (60, 620, -12, "Results"), *first, *table]
    text = read_one(tmp_path, [page, [*rest, *set_section("Discussion", DISCUSSION, 60, 650, 95)]])
    assert describe(text) == [
        ("results", "Results, paragraph 1, p. 1", RESULTS),
        ("caption", "Table 1, p. 1", "Colds by group."),
        ("table", "Table 1, row 1, p. 1", "Days with a cold | Zinc 4.1 | Chalk 6.0"),
        ("table", "Table 1, row 2, p. 1", "Sneezes an hour | Zinc 12 | Chalk 19"),
        ("caption", "Table 1, notes, paragraph 1, p. 1", "Means of all keepers who kept their diary."),
        ("discussion", "Discussion, paragraph 1, p. 2", DISCUSSION),
    ]


def test_what_is_set_around_the_text_is_left_out(tmp_path: Path) -> None:
    pages = []
    for number, (heading, words) in enumerate((("Methods", METHODS), ("Results", RESULTS), ("Discussion", DISCUSSION)), 1):
        body = [(60.0, 700.0, -12.0, heading), *set_lines(words, 60, 680, 95)]
        counted: list[Drawn] = [(40, height, 7, str(20 * number + row)) for row, (_, height, _, _) in enumerate(body)]
        edges: list[Drawn] = [
            (60, 810, 8, "Vermeer et al."),
            (400, 810, 8, "J Lighthouses 2019"),
            (290, 40, 8, f"Page {number} of 3"),
        ]
        note: Drawn = (60, 70, 7, f"{number} This is a note at the foot of the page, in small print.")
        pages.append([*edges, *(one for pair in zip(counted, body, strict=True) for one in pair), note])
    pages[0] += [(60, 760, -17, TITLE)]
    text = read_one(tmp_path, pages)
    assert [words for _, _, words in describe(text)] == [METHODS, RESULTS, DISCUSSION]
    assert [block.location.page for block in text.blocks] == [1, 2, 3]


def test_marks_of_references_and_their_list_are_left_out_and_hyphens_at_ends_of_lines_too(tmp_path: Path) -> None:
    page: list[Drawn] = [
        *front(),
        (60, 620, -12, "Results"),
        (60, 600, 10, "Colds were shorter with zinc"),
        (178.5, 604, 6, "3,4"),
        (187, 600, 10, "than with chalk, and the treat-"),
        (60, 588, 10, "ment was well liked in this placebo-"),
        (60, 576, 10, "controlled trial."),
        *set_section(
            "References", "1. Adams B. Zinc cures everything. J Tall Tales 1999; 1: 1-2. doi: 10.1000/tale", 60, 540, 95
        ),
        *set_section("Appendix", METHODS, 60, 480, 95),
    ]
    text = read_one(tmp_path, [page])
    assert describe(text) == [
        (
            "results",
            "Results, paragraph 1, p. 1",
            "Colds were shorter with zinc than with chalk, and the treatment was well liked in this placebo-controlled trial.",
        ),
        ("other", "Appendix, paragraph 1, p. 1", METHODS),
    ]


def test_a_list_of_references_longer_than_the_text_does_not_make_headings_of_it(tmp_path: Path) -> None:
    entries = [
        (60.0, 500.0 - 10 * row, 8.0, f"{row}. Adams B, Zinc cures everything. J Tall Tales 1999; {row}: 1-2.")
        for row in range(8)
    ]
    page = [*front(), *set_section("Results", RESULTS, 60, 600, 95), (60, 515, -12, "References"), *entries]
    assert describe(read_one(tmp_path, [page])) == [("results", "Results, paragraph 1, p. 1", RESULTS)]


def test_an_abstract_with_headings_of_its_own_ends_before_the_body(tmp_path: Path) -> None:
    parts = {"Background": "Colds are frequent.", "Methods": "Sixty keepers took zinc or chalk.", "Results": "Zinc was better."}
    page: list[Drawn] = [(60, 750, -17, TITLE), (60, 720, -12, "Abstract")]
    for row, (label, words) in enumerate(parts.items()):
        page += [(60, 700 - 30 * row, -10, label), (60, 688 - 30 * row, 10, words)]
    page += [(60, 600, 9, "Keywords: zinc, colds")]
    page += set_section("Background", INTRODUCTION, 60, 560, 95)
    page += set_section("Methods", METHODS, 60, 480, 95)
    text = read_one(tmp_path, [page])
    assert text.record.abstract == " ".join(parts.values())
    assert [section.label for section in text.record.sections] == list(parts)
    assert [(kind, words) for kind, _, words in describe(text)] == [("introduction", INTRODUCTION), ("methods", METHODS)]


def test_the_title_that_the_file_names_counts_only_if_the_page_has_it(tmp_path: Path) -> None:
    page = [*front(), *set_section("Results", RESULTS, 60, 600, 95)]
    assert (
        read_one(tmp_path, [page], Title="Microsoft Word - a_final_version_of_the_paper.doc", Author="Admin").record.title
        == TITLE
    )
    said = read_one(tmp_path, [page], Title=TITLE.replace("Zinc", "ZINC"), Author="Mei Lin").record
    assert (said.title, [one.family for one in said.authors]) == (TITLE.replace("Zinc", "ZINC"), ["Lin"])


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"%PDF-1.7\nrubbish", "is damaged: it cannot be read as PDF"),
        (pdf([[], []]), "has no text layer, only images"),
        (pdf([["Secret."]], password="x"), "has a password; save it without one"),
        (pdf([[f"Page {n}."] for n in range(501)]), "has 501 pages and at most 500 are read"),
        (pdf([["A letter.", "Yours."]]), "expected a paper, got a PDF of fewer than 50 words"),
        (
            draw_pdf([[(60, 400, 40, f"Slide {n}"), (60, 300, 24, "Zinc is good")] for n in range(5)], size=(842, 595)),
            "got slides: 5 wide",
        ),
        (
            b"<html><body>Please log in.</body></html>",
            "expected a PDF, got another kind of file, perhaps a web page; fetch it again",
        ),
    ],
)
def test_what_is_no_paper_is_told_in_a_sentence(raw: bytes, told: str, tmp_path: Path) -> None:
    texts, bad = read(tmp_path, raw)
    assert not texts and len(bad) == 1
    assert told in bad[0] and bad[0].startswith(f"{tmp_path}/paper.pdf, the file: ")


def test_a_pdf_beside_the_xml_of_its_paper_is_not_read_and_others_are(tmp_path: Path) -> None:
    raw = draw_pdf([[*front(), *set_section("Results", RESULTS, 60, 600, 95)]])
    xml = write_jats(tmp_path / "a.nxml", TITLE, {"Results": [RESULTS]}).read_bytes()
    for archive, names in (("some.zip", ("a.nxml", "a.pdf", "b.pdf")), ("package.zip", ("PMC7/a.nxml", "PMC7/supplement.pdf"))):
        with zipfile.ZipFile(tmp_path / archive, "w") as packed:
            for name in names:
                packed.writestr(name, xml if name.endswith("nxml") else raw)
    bad: list[BadRecord] = []
    found = [
        one.source.rpartition("!/")[2]
        for path in ("some.zip", "package.zip")
        for one in read_full_texts(tmp_path / path, bad.append)
    ]
    assert found == ["a.nxml", "b.pdf", "PMC7/a.nxml"] and not bad

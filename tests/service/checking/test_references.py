"""References without a PMID or DOI: by the exact title of a paper of the index, or by author and year that fit just one."""

from __future__ import annotations

from typing import Any

import pytest

from counterpoint.retrieval.index import Index
from counterpoint.service.checking.check import Checker, ReadText
from counterpoint.service.checking.citations import CitedPaper, named_in
from counterpoint.service.checking.parse import read_text
from counterpoint.service.checking.references import find_reference
from counterpoint.service.checking.sentences import sentences_of
from tests.helpers.fakes import make_index, make_reading_grounder

TITLE = "Zeta against high pressure in older adults: a randomised trial"


def paper(pmid: str, title: str, year: int, *families: str, abstract: str = "Zeta is for pressure.") -> dict[str, Any]:
    authors = [f"{family}, A." for family in families]
    return {"pmid": pmid, "title": title, "abstract": abstract, "year": year, "authors": authors, "journal": "Lancet"}


DOCUMENTS = [
    paper("1", TITLE, 2002, "Rossi", "Berg", abstract="Zeta is against pressure."),
    paper("2", "Zeta for pressure", 2010, "van der Meer", "Ito"),
    paper("3", "Omega and sugar in children at school", 2010, "Ito", abstract="Omega is for sugar."),
    paper("4", "Omega and sugar in children at home", 2010, "Ito", "Berg", abstract="Omega is against sugar."),
    paper("5", "Pain in Sjögren's disease", 2015, "Sørensen"),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(tmp_path_factory.mktemp("references"), DOCUMENTS)


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        (f"Rossi A, Berg A. {TITLE}. Lancet. 2002;1:2-9.", ["1"]),
        (f"Somebody else ({'2003'}) {TITLE.upper()}.", ["1"]),
        ("Sorensen A. Pain in Sjogren's disease. Lancet 2015.", ["5"]),
        (f"Rossi A. {TITLE}. Lancet. 1987;1:2-9.", []),
        ("Rossi A. Zeta against high pressure in older adults. Lancet. 2002;1:2-9.", ["1"]),
        ("Rossi A. Zeta against high pressure in older adults. Lancet. 2004;1:2-9.", []),
        (f"Berg A. {TITLE}: reply to comments. Lancet. 2003.", []),
        ("A. van der Meer and B. Ito, “Zeta for pressure,” Lancet, vol. 3, no. 2, pp. 4–9, 2010.", ["2"]),
        ("van der Meer A, Ito B. Zeta for presure. Lancet. 2010;3(2):4-9.", ["2"]),
        ("Rossi A, Unknown B. Lancet. 2002;1(4):2-9.", []),
        ("Berg A. Lancet. 2002;1(4):2-9.", []),
        ("Rossi A. Gut. 2002;1(4):2-9.", []),
        ("Rossi XM. Lancet. 2002;1(4):2-9.", []),
        ("Berg A, Rossi A. Lancet. 2002;1(4):2-9.", []),
        ("Rossi A. Zeta against high-pressure in older-adults: a randomized trial. Lancet 2002", ["1"]),
        ("Rossi A, Berg A. Lancet. 2002;1(4):2-9.", ["1"]),
        ("Rossi A, Berg A. A different paper on eta and sleep among nurses. Lancet. 2002;1(4):2-9.", []),
        ("Rossi A, Berg A. Eta And Sleep Among Night Nurses In Rome. Lancet. 2002;1(4):2-9.", []),
        ("Rossi A, Berg A. Pain after eta in women. Lancet. 2002;1(4):2-9.", []),
        ("Ito A. Lancet 2010;2:3.", ["3", "4"]),
        ("Nobody N. Lancet 2010;2:3.", []),
    ],
)
def test_an_entry_of_a_list_of_references_is_resolved(index: Index, entry: str, found: list[str]) -> None:
    assert [one.pmid for one in find_reference(index, CitedPaper("title", entry, entry))] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Zeta raises pressure (Rossi et al., 2002).", {"Rossi et al. 2002": ["1"]}),
        (
            "Zeta raises pressure [see Rossi & Berg 2002; van der Meer, 2010a].",
            {"Rossi & Berg 2002": ["1"], "van der Meer 2010a": ["2"]},
        ),
        ("Rossi (2002) found that zeta raises pressure.", {"Rossi 2002": ["1"]}),
        ("Ito et al. (2010) found that omega raises sugar.", {"Ito et al. 2010": ["3", "4"]}),
        ("Ito and Berg (2010) found that omega raises sugar.", {"Ito and Berg 2010": ["4"]}),
        ("Rossi et al. (2003) found that zeta raises pressure.", {"Rossi et al. 2003": []}),
        ("In March 2020 and since Denmark 2015 zeta raised pressure.", {}),
    ],
)  # fmt: skip
def test_an_author_with_a_year_is_resolved_where_just_one_paper_fits(
    index: Index, text: str, found: dict[str, list[str]]
) -> None:
    assert {one.id: [entry.pmid for entry in find_reference(index, one)] for one in named_in(text)} == found


def test_a_doi_that_the_index_lacks_does_not_hide_the_title(index: Index) -> None:
    entry = f"Rossi A. {TITLE}. doi:10.1000/none"
    assert [one.pmid for one in find_reference(index, CitedPaper("doi", "10.1000/none", entry))] == ["1"]


TEXT = f"""Zeta raises pressure [1]. Zeta lowers pressure (Rossi et al., 2002; Nobody et al., 1999; May 2019).
Omega raises sugar (Ito et al., 2010).

References

1. Rossi A, Berg A. {TITLE}. Lancet. 2002;1:2-9.
2. Nobody N. Of nothing that is known. Lancet. 1999."""


def test_a_text_is_checked_with_what_its_references_name(index: Index) -> None:
    checked = Checker(make_reading_grounder(index)).check(ReadText.of(read_text(TEXT, "text")))
    found = [[(one.kind, one.pmid, one.status) for one in row.result.cited] for row in checked.sentences if row.result]
    assert found == [
        [("title", "1", "contradicts it")],
        [("title", "1", "contradicts it"), ("title", "", "not in the index")],
        [("author", "", "several fit")],
    ]
    assert "4 citations: 2 say the opposite, 1 not in the index, 1 fits several papers." in checked.summary


def test_a_list_of_references_without_numbers_has_an_entry_a_line_and_lines_that_run_on() -> None:
    listed = "Berg, B. (2001). Of eta\nand theta. Lancet.\nRossi, A. (2002). Of zeta.\nLancet 3."
    text = f"Zeta lowers pressure (Rossi, 2002).\n\nReferences\n\n{listed}"
    entry = "Rossi, A. (2002). Of zeta. Lancet 3."
    assert sentences_of(read_text(text, "text"))[0].cited == (CitedPaper("title", entry, entry),)

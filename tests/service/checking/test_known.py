"""Papers named as people type them: found first, and with what names them; words about a subject name no paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from counterpoint.retrieval.index import Index
from counterpoint.service.queries.papers import describe_search, search_words
from tests.helpers.fakes import make_index


def paper(pmid: str, title: str, year: int, journal: str, *authors: str, abstract: str = "", **ids: str) -> dict[str, Any]:
    known = {"title": title, "abstract": abstract or f"{title}.", "year": year, "journal": journal, "authors": list(authors)}
    return {"pmid": pmid, **known, **ids}


SUBJECTS = ("sleep", "gait", "pain", "mood", "falls", "sugar", "bone", "lungs", "teeth", "skin")
PAPERS = [
    paper(
        "20111111", "Zetalol versus placebo for resistant hypertension in adults over seventy: a randomised trial", 2009, "BMJ",
        "Smith, Jane A", "O’Rourke, Tom", doi="10.1136/bmj.z9", pmcid="PMC2711111",
    ),
    paper("20222222", "Zetalol and kidney stones", 2009, "Journal of Renal Care", "Smith, Karl", "Møller-Hansen, Ida"),
    paper("20333333", "Walking speed after omegatide", 2014, "New England Journal of Medicine", "van der Meer, Lotte", "Wu, Li"),
    paper("20444444", "Omegatide for gout", 2015, "The Lancet", "Wu, Li", "van der Meer, Lotte", abstract="Urate fell by half."),
    paper("20555555", "Smoking among young nurses", 2012, "Nurse Education", "Young, Ann"),
    paper("20666666", "Training at home for adults with chronic low back pain", 2011, "Spine Journal", "Qureshi, Amna"),
    paper("20777777", "Sulfates in urine", 2013, "Kidney Notes", "Oh, Min", abstract="The OH groups fell."),
    *(
        paper(f"3000000{number}", f"Exercise at home and {subject} in young adults with hypertension", 2000 + number, "Trials",
              f"Author{'abcdefghij'[number]}, B", abstract=f"A trial of exercise in adults. It changed {subject} in some.")
        for number, subject in enumerate(SUBJECTS)
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(tmp_path_factory.mktemp("known"), PAPERS)


@pytest.mark.parametrize(
    ("typed", "pmid", "why"),
    [
        ("Smith 2009 hypertension", "20111111", "author, year and title"),
        ("Smith BMJ 2009 hypertension", "20111111", "author, year, journal and title"),
        ("smith ja 2009", "20111111", "author and year"),
        ("jane smith zetalol", "20111111", "author and title"),
        ("orourke 2009 bmj", "20111111", "author, year and journal"),
        ("Moller-Hansen stones", "20222222", "author and title"),
        ("van der Meer et al., 2014", "20333333", "author and year"),
        ("Meer NEJM 2014", "20333333", "author, year and journal"),
        ("Oh 2013 urine", "20777777", "author, year and title"),
        ("Wu 2015 Lancet urate", "20444444", "author, year, journal and text"),
        ("Qureshi 2012 back pain", "20666666", "author and title"),
        ("Quresi 2011", "20666666", "author and year"),
        ("training at home for adults with cronic low back", "20666666", "title"),
        ("zetalol versus placebo for resistant hypertension in adults", "20111111", "title"),
        ("BMJ 2009 hypertension", "20111111", "year, journal and title"),
        ("Smith J, O'Rourke T. Zetalol vs placebo for resistant hypertension in adults over 70. BMJ 2009;338:b12.", "20111111",
         "author, year, journal and title"),
        ("Wu L, van der Meer L (2015) Omegatide for gout. Lancet 385(2), 12-19", "20444444", "author, year, journal and title"),
        (" PMID : 20222222 ", "20222222", "PMID"),
        ("2022 2222", "20222222", "PMID"),
        ("PMID: 2022 2222", "20222222", "PMID"),
        ("https://pubmed.ncbi.nlm.nih.gov/20222222/?from=x", "20222222", "PMID"),
        ("pmc 2711111", "20111111", "PMCID"),
        ("https://pmc.ncbi.nlm.nih.gov/articles/PMC2711111/", "20111111", "PMCID"),
        ("https://doi.org/10.1136/BMJ.Z9", "20111111", "DOI"),
        ("10.1136 / bmj.z9", "20111111", "DOI"),
        ("zetalol placebo resistant hypertention adults seventy trial", "20111111", "title"),
        ("https://www.bmj.com/content/10.1136/bmj.z9.full.pdf?download=true", "20111111", "DOI"),
    ],
)  # fmt: skip
def test_what_names_a_paper_finds_it_first(index: Index, typed: str, pmid: str, why: str) -> None:
    first = search_words(index, typed, 5)[0]
    assert (first.document.pmid, first.why) == (pmid, why)


@pytest.mark.parametrize(
    "topic",
    [
        "exercise hypertension adults",
        "young adults exercise",
        "home exercise in young adults with hypertension",
        "young adults 2012 exercise lungs skin",
        "back pain training",
        "hypertension trials",
        "smith machine squat",
        "kidney stones in adults",
    ],
)
def test_words_about_a_subject_rank_as_by_their_words_alone(index: Index, topic: str) -> None:
    found = search_words(index, topic, 20)
    assert [(one.document.pmid, one.hit.score) for one in found] == [
        (hit.pmid, hit.score) for hit in index.search(topic, 20, spellings=True)
    ]
    assert not any(one.why for one in found)


def test_several_papers_of_an_author_and_a_year_come_the_first_author_first(index: Index) -> None:
    assert [one.document.pmid for one in search_words(index, "Wu 2014", 9) if one.why] == ["20333333"]
    assert {one.document.pmid for one in search_words(index, "Smith 2009", 9) if one.why} == {"20111111", "20222222"}
    assert [one.document.pmid for one in search_words(index, "Wu omegatide", 9) if one.why] == ["20444444", "20333333"]


def test_an_id_that_the_index_lacks_finds_nothing_else(index: Index) -> None:
    assert search_words(index, "PMID 9999999", 5) == []
    assert describe_search(index, "PMID 9999999") == "PMID 9999999 is not among the 17 documents of this index."
    assert describe_search(index, "10.1/none and exercise") == describe_search(index, "exercise") == ""


def test_pages_of_a_named_paper_and_of_words_go_on_without_gap_or_repeat(index: Index) -> None:
    whole = [one.document.pmid for one in search_words(index, "Smith 2009 hypertension", 20)]
    assert whole == [one.document.pmid for begin in range(0, 20, 3) for one in search_words(
        index, "Smith 2009 hypertension", begin + 3, begin)]  # fmt: skip
    assert len({*whole}) == len(whole) > 10


def test_bad_input_finds_nothing_and_breaks_nothing(index: Index, tmp_path: Path) -> None:
    for text in (
        "et al.",
        "2009",
        "PMID",
        "doi:",
        "(((",
        "“”",
        "the of and",
        "a" * 4000,
        "Smith " * 500,
        "éà" * 50,
        "10.1/" * 200,
    ):
        search_words(index, text, 5)

"""Grounding on our own path: what is read, on which list each paper is shown, and what is told on the way."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from counterpoint.nli.judge import Abstract, Reading
from counterpoint.nli.reader.paper import PaperRead
from counterpoint.retrieval.core.errors import ModelUnusable
from counterpoint.retrieval.core.values import Checked, Claim, Contrast, Evidence, Grounding, Hit
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.store.documents import Entry
from counterpoint.service.grounding.coverage import summary
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.grounding.read import read
from counterpoint.service.grounding.schemas import GroundResponse
from counterpoint.service.grounding.values import GroundStage
from counterpoint.service.grounding.weigh import place_papers
from counterpoint.service.output.export import markdown
from counterpoint.service.schemas import Provenance
from tests.helpers.fakes import WordReader, make_index, make_reading_grounder

CLAIM = Claim("zeta lowers pressure")
TEXT = "Zeta and pressure were measured."


class CountingReader(WordReader):
    """Keeps the titles of the papers that it reads, each time."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
        for one in documents:
            self.read.append(one.title)
            yield from super().read_abstracts(claim, [one])


def paper(pmid: str, title: str, abstract: str = TEXT, **facts: Any) -> dict[str, Any]:
    return {"pmid": pmid, "title": title, "abstract": abstract, **facts}


def pmids(evidence: Sequence[Evidence]) -> list[str]:
    return [one.document.pmid for one in evidence]


def lists_of(found: Grounding) -> dict[str, list[str]]:
    sides = {"contradict": found.contradicting, "support": found.supporting, "uncertain": found.uncertain, "silent": found.silent}
    return {name: pmids(side) for name, side in sides.items() if side}


PAPERS = [
    # title, further facts, the list where it is shown ("" for none), whether it is read
    ("Zeta speaks for lower pressure", {}, "support", True),
    ("Zeta speaks against lower pressure", {}, "contradict", True),
    ("Zeta is silent on pressure", {}, "silent", True),
    ("Zeta and pressure", {"abstract": "Zeta is against pressure, it was found."}, "contradict", True),
    ("Zeta speaks for lower pressure", {"abstract": "Zeta is against pressure, it was found."}, "uncertain", True),
    ("Zeta speaks against lower pressure", {"retracted": True}, "uncertain", True),
    ("Zeta is silent on pressure", {"retracted": True}, "silent", True),
    ("Zeta speaks for lower pressure", {"pmid": "known"}, "", True),
    ("Zeta speaks against lower pressure", {"pmid": "known"}, "contradict", True),
    ("Zeta speaks for lower pressure", {"abstract": ""}, "", False),
    ("Zeta for pressure", {"types": ["Clinical Trial Protocol"]}, "", False),
    ("Retraction: Zeta against pressure", {}, "", False),
    ("Zeta", {"types": ["Published Erratum"]}, "", False),
]  # fmt: skip


@pytest.mark.parametrize(("title", "facts", "place", "is_read"), PAPERS)
def test_where_a_paper_is_shown_and_whether_it_is_read(
    tmp_path: Path, title: str, facts: dict[str, Any], place: str, is_read: bool
) -> None:
    claim, reader = Claim("zeta lowers pressure quickly in mountaineers", known_pmids=("known",)), CountingReader()
    filler = [paper(f"x{number}", "", "Another thing entirely.") for number in range(9)]
    with closing(make_index(tmp_path, [paper(**{"pmid": "1", "title": title, **facts}), *filler])) as index:
        found = make_reading_grounder(index, reader).ground(claim)
    assert lists_of(found) == ({place: [facts.get("pmid", "1")]} if place else {})
    assert reader.read == [title] * is_read
    assert found.checked.read == (is_read and place != ""), "what is listed is what is counted"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Seven papers on the claim, of which the reranker likes best those that say "best" most often; one with another title."""
    sides = ["for it", "against it", "", "for it", "for it", "for it", "silent"]
    papers = [
        paper(
            str(number), f"Zeta {number} and pressure, {side}", f"{TEXT} The {'best ' * (9 - number)}of all.", year=2000 + number
        )
        for number, side in enumerate(sides)
    ]
    with closing(make_index(tmp_path_factory.mktemp("ground"), [*papers, paper("other", "Another thing")])) as opened:
        yield opened


def test_the_best_papers_are_read_once_for_both_sides_and_found_by_one_search(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[str] = []
    fetched: list[str] = []
    search, entries = Index.search, Index.entries

    def count_search(self: Index, query: str, k: int, spellings: bool = False) -> list[Hit]:
        searched.append(query)
        return search(self, query, k, spellings)

    def count_entries(self: Index, pmids: Sequence[str]) -> Iterator[Entry]:
        fetched.extend(pmids)
        return entries(self, pmids)

    monkeypatch.setattr(Index, "search", count_search)
    monkeypatch.setattr(Index, "entries", count_entries)
    reader = CountingReader()
    grounder = make_reading_grounder(index, reader)
    found = grounder.ground(CLAIM)
    assert lists_of(found) == {"contradict": ["1"], "support": ["4", "3", "0"], "uncertain": ["2"]}
    assert len(reader.read) == len(set(reader.read)) == 5
    assert (len(searched), len(fetched)) == (1, len(set(fetched)))
    assert found.checked == Checked(len(fetched), read=5, sentences=10)
    grounder.ground(CLAIM)
    assert len(searched) == 2, "nothing outlives its claim"


# After a reranker, the small reader reads the best four only: it never sees paper 4.
@pytest.mark.parametrize(
    ("gate", "chosen"), [(["relevance"], ["0", "1"]), (["sentences"], ["3", "4"]), (["relevance", "sentences"], ["0", "3"])]
)
def test_papers_that_take_a_side_are_read_first_where_a_small_reader_chooses_too(
    tmp_path: Path, gate: list[str], chosen: list[str]
) -> None:
    sides = ["silent", "silent", "silent", "for it", "against it"]
    papers = [
        paper(str(number), f"Zeta and pressure, {side}", f"{TEXT} The {'best ' * (6 - number)}of all.")
        for number, side in enumerate(sides)
    ]
    with closing(make_index(tmp_path, papers)) as index:
        found = make_reading_grounder(index, gate=gate, papers=2).ground(CLAIM)
    assert sorted(pmid for side in (*lists_of(found).values(),) for pmid in side) == chosen


@pytest.mark.parametrize(("papers", "more", "silent"), [(1, [], []), (6, ["0"], []), (7, ["0"], ["6"])])
def test_more_papers_are_read_if_asked_for_and_each_has_one_place(
    index: Index, papers: int, more: list[str], silent: list[str]
) -> None:
    found = make_reading_grounder(index).ground(CLAIM, papers=papers)
    assert (pmids(found.more), pmids(found.silent)) == (more, silent)
    assert [one.rank for one in found.more] == [4] * len(more)
    placed = [one.evidence.document.pmid for one in place_papers(found)]
    assert sorted(placed) == sorted(set(placed)) == [str(number) for number in range(papers)]


def test_the_newer_of_near_equals_stands_first(tmp_path: Path) -> None:
    years = {"1": 1999, "2": 2020, "3": None}
    papers = [paper(pmid, "Zeta speaks for lower pressure", year=year) for pmid, year in years.items()]
    with closing(make_index(tmp_path, papers)) as index:
        assert pmids(make_reading_grounder(index).ground(CLAIM).supporting) == ["2", "1", "3"]


def test_each_step_is_told_and_an_exception_from_it_ends_the_work(index: Index) -> None:
    told: list[GroundStage] = []
    grounder = make_reading_grounder(index)
    grounder.ground(CLAIM, told.append)
    assert [one.name for one in told] == ["find", "gate", *["read"] * 6, "weigh"]
    assert (told[-1].contradicting, told[-1].supporting) == (1, 3)
    assert told[0].documents == 8
    assert all((one.documents, one.sentences) == (5, 10) for one in told if one.name == "read")
    read = {one.paper.pmid: one.paper.stance for one in told if one.paper}
    assert read == {"0": "support", "1": "contradict", "2": "neutral", "3": "support", "4": "support"}

    def refuse(stage: GroundStage) -> None:
        told.append(stage)
        if told[-2].name == "read":  # the second paper's turn
            raise InterruptedError

    told.clear()
    told.append(GroundStage("find", 0))
    with pytest.raises(InterruptedError):
        grounder.ground(CLAIM, refuse)
    assert [one.name for one in told[1:]] == ["find", "gate", "read", "read"]


def test_one_paper_that_cannot_be_read_is_told_and_the_others_stand(index: Index) -> None:
    class Failing(WordReader):
        def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
            for one in documents:
                if "against" in one.title:
                    raise ModelUnusable("the service did not respond.")
                yield from super().read_abstracts(claim, [one])

    found = make_reading_grounder(index, Failing()).ground(CLAIM)
    assert lists_of(found) == {"support": ["4", "3", "0"], "uncertain": ["2"], "silent": ["1"]}
    assert found.silent[0].why == "it could not be read: the service did not respond."


def test_from_its_time_on_no_paper_is_waited_for_and_what_was_read_counts(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[float] = []

    class Slow(WordReader):
        """Reads the first paper at once, and the others only after the time is up."""

        def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
            for one in documents:
                while "against" in one.title and len(looked) < 2:
                    time.sleep(0.01)
                time.sleep(0.3 * ("against" in one.title))
                yield from super().read_abstracts(claim, [one])

    def look() -> float:
        looked.append(100.0 * len(looked))
        return looked[-1]

    monkeypatch.setattr("counterpoint.service.grounding.read.time", SimpleNamespace(monotonic=look))
    monkeypatch.setattr("counterpoint.service.grounding.read.os", SimpleNamespace(cpu_count=lambda: 2))
    entries = list(index.entries(["0", "1", "3", "4", "2"]))
    # Two are read at a time: when the time is up, those are finished, and the last ones are not begun.
    found = [one.pmid for one in read(Slow(), [CLAIM] * 5, entries, until=60.0)]
    assert found[:2] == ["0", "1"]
    assert "2" not in found


def test_every_sentence_is_verbatim_and_every_cue_inside_it(tmp_path: Path) -> None:
    texts = ["Zeta was not against pressure. Zeta was given.", "There was no zeta for pressure, not at all."]
    with closing(make_index(tmp_path, [paper(str(n), "Zeta and pressure", text) for n, text in enumerate(texts)])) as index:
        found = make_reading_grounder(index).ground(CLAIM)
    assert len(found.contradicting) == len(found.supporting) == 1
    for one in (*found.contradicting, *found.supporting):
        assert one.sentence is not None and one.document.abstract[one.sentence.start : one.sentence.end] == one.sentence.text
        assert one.negations
        for scope in one.negations:
            assert one.sentence.start <= scope.cue.start < scope.cue.end <= one.sentence.end


def test_what_was_found_and_checked_is_said_in_words(index: Index) -> None:
    def say(grounder: Grounder, claim: str, papers: int) -> str:
        return GroundResponse.of(grounder.ground(Claim(claim), papers=papers), Provenance.of(grounder)).summary

    grounder = make_reading_grounder(index)
    assert say(grounder, "qwertz", 5).startswith("No document of the index shares a word")
    assert say(grounder, CLAIM.text, 1) == (
        "No contradiction found among 2 sentences checked in 1 of 8 documents. "
        "1 document found that may support it, among 1 of 8 documents."
    )
    assert summary(grounder.ground(CLAIM)).endswith("1 document is listed as uncertain.")


@pytest.mark.parametrize(
    ("sides", "most", "known", "is_read"),
    [
        (0, None, (), ["0", "1"]),  # both take a side
        (3, 7, (), ["0", "1", "2", "3"]),
        (9, 7, (), ["0", "1", "2", "3", "4", "5", "6"]),  # never more than `most`, nor than were found
        (9, 3, (), ["0", "1", "2"]),
        (3, 3, ("0",), ["0", "1", "2", "3"]),  # a known paper is read besides, and takes a side like any other
    ],
)
def test_more_papers_are_read_while_too_few_have_taken_a_side(
    index: Index, sides: int, most: int | None, known: tuple[str, ...], is_read: list[str]
) -> None:
    grounder = make_reading_grounder(index, papers=2, sides=sides, most=most)
    told: list[GroundStage] = []
    found = grounder.ground(Claim(CLAIM.text, known_pmids=known), told.append)
    assert sorted([*(one.evidence.document.pmid for one in place_papers(found)), *known]) == is_read
    judged = [(one.read, one.documents) for one in told if one.name == "read"]
    assert [done for done, _ in judged] == sorted(done for done, _ in judged)
    assert judged[-1] == (len(is_read), len(is_read))


class GradingReader(WordReader):
    """A reader with its own way of reading papers: half of what each says, in part, and what differs between two."""

    name, at_once = "grading@1", 3

    def read_paper(self, claim: str, paper: Abstract) -> PaperRead:
        (found,) = self.read_abstracts(claim, [paper])
        return PaperRead(replace(found.document, of="document", partial=True, reason="only in adults"), 0, "grading@1 alone")

    def contrast(self, claim: str, first: Abstract, second: Abstract) -> list[Contrast]:
        return [Contrast("dose", first.title, second.title)]


def test_a_reader_with_its_own_way_of_reading_is_asked_for_papers_and_for_what_differs(tmp_path: Path) -> None:
    papers = [paper("1", "Zeta speaks against pressure"), paper("2", "Zeta speaks for pressure")]
    grounder = make_reading_grounder(make_index(tmp_path, papers), GradingReader())
    found = grounder.ground(CLAIM)
    assert [one.scored_by for one in (*found.contradicting, *found.supporting)] == ["grading@1 alone"] * 2
    assert {one.standing for one in (*found.contradicting, *found.supporting)} == {"partial"}
    assert found.supporting[0].why.startswith("70% likely that the paper supports the claim in part; only in adults")
    assert found.contrasts == (Contrast("dose", papers[0]["title"], papers[1]["title"]),)
    assert "differ in dose (“Zeta speaks against pressure” against “Zeta speaks for pressure”)." in markdown(found)
    response = GroundResponse.of(found, Provenance.of(grounder))
    assert response.contrasts[0].aspect == "dose"
    (one,) = grounder.read(CLAIM, list(grounder.index.entries(["2"])))
    assert one.by == "grading@1 alone", "a cited paper is read in the same way"


def test_further_words_find_the_papers_that_use_them_and_are_not_read(tmp_path: Path) -> None:
    papers = [paper("1", "Zeta and pressure, for it"), paper("2", "Hypertension in adults", "Readings fell.")]
    with closing(make_index(tmp_path, papers)) as index:
        grounder = make_reading_grounder(index)
        assert [one.pmid for one in grounder.find(CLAIM)] == ["1"]
        assert [one.pmid for one in grounder.find(replace(CLAIM, words="hypertension"))] == ["1", "2"]
        assert grounder.ground(replace(CLAIM, words="hypertension")).supporting[0].document.pmid == "1"

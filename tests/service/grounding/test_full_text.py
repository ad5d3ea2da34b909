"""Full texts: which of their sentences are read for a claim, and what they say together with the abstract."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path

import pytest

from counterpoint.indexes.build import build
from counterpoint.nli.judge import Abstract, FullTextRule, Reader
from counterpoint.nli.long_text import Window, cut_windows
from counterpoint.nli.reader.judge import LARGE, DocumentReader
from counterpoint.nli.reader.paper import PaperRead
from counterpoint.retrieval.core.values import Claim, Label, Location, SectionKind, Sentence, Usage, Verdict
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.runtime.chat import CHARACTERS_A_TOKEN
from counterpoint.retrieval.runtime.usage import REPLY, Budget, count_usage, find_room, record, spend
from counterpoint.retrieval.store.documents import Entry
from counterpoint.service.grounding.full_text import DISAGREE, ROW_ONLY, find_windows, join_readings, keep_within
from counterpoint.service.grounding.schemas import GroundResponse
from counterpoint.service.grounding.values import PaperReading
from counterpoint.service.output.export import markdown
from counterpoint.service.schemas import Provenance
from tests.helpers.fakes import WordReader, make_reading_grounder
from tests.helpers.full_texts import write_jats

CLAIM = Claim("zeta changes pressure")
TITLE = "Zeta and pressure in adults who live on houseboats"
FOR, AGAINST, NEITHER = "Pressure spoke for zeta.", "Pressure spoke against zeta.", "On zeta and pressure all are silent."
TABLE = (("Outcome", "Zeta", "Placebo"), ("Pressure against zeta", "12", "14"))


def make_index(folder: Path, abstract: str, sections: Mapping[str, Sequence[str]], table: Sequence[Sequence[str]] = ()) -> Index:
    """An index of one paper with a full text."""
    (folder / "texts").mkdir()
    write_jats(folder / "texts" / "1.nxml", TITLE, sections, pmid="1", abstract=abstract, table=table)
    build([], folder / "index", full_texts=[folder / "texts"])
    return Index(folder / "index")


def ground(index: Index) -> GroundResponse:
    with closing(index):
        grounder = make_reading_grounder(index)
        return GroundResponse.of(grounder.ground(CLAIM), Provenance.of(grounder))


@pytest.mark.parametrize(
    ("abstract", "sections", "supporting", "contradicting", "where"),
    [
        (NEITHER, {"Results": [f"{FOR} It rained."]}, 1, 0, "Results, paragraph 1"),
        ("", {"Results": [AGAINST]}, 0, 1, "Results, paragraph 1"),
        (FOR, {"Results": [NEITHER]}, 1, 0, None),
        # What others found, what was done and what may be are no findings of this paper.
        (NEITHER, {"Introduction": [FOR], "Methods": [FOR], "Discussion": [FOR]}, 0, 0, None),
    ],
)
def test_a_paper_is_read_where_its_evidence_stands(
    tmp_path: Path, abstract: str, sections: dict[str, list[str]], supporting: int, contradicting: int, where: str | None
) -> None:
    response = ground(make_index(tmp_path, abstract, sections))
    assert (len(response.supporting), len(response.contradicting)) == (supporting, contradicting)
    for one in (*response.supporting, *response.contradicting):
        assert one.sentence is not None
        assert (one.sentence.location.text if one.sentence.location else None) == where
        assert one.read_from == ("full text" if where else "abstract")
        assert any(one.sentence.text in paragraph for paragraph in (abstract, *chain.from_iterable(sections.values())))


def test_an_abstract_and_results_that_disagree_are_both_shown(tmp_path: Path) -> None:
    index = make_index(tmp_path, FOR, {"Results": [AGAINST]})
    grounding = make_reading_grounder(index).ground(CLAIM)
    response = ground(index)
    (one,) = response.uncertain
    assert one.sentence and one.other and one.other.location
    assert (one.sentence.text, one.other.text, one.other.location.text) == (FOR, AGAINST, "Results, paragraph 1")
    assert DISAGREE in one.why and not response.supporting
    assert f"“{FOR}”; but its full text says “{AGAINST}” (Results, paragraph 1)" in markdown(grounding)


def test_a_row_alone_gives_no_side_and_is_shown_with_its_caption(tmp_path: Path) -> None:
    response = ground(make_index(tmp_path, NEITHER, {"Results": ["Boats were dry."]}, TABLE))
    (one,) = response.uncertain
    assert one.sentence and one.sentence.location and one.sentence.location.text == "Table 1, row 1"
    assert "against" in one.sentence.text and "Outcomes at one year" in one.sentence.context and ROW_ONLY in one.why


def test_without_full_texts_nothing_changes(tmp_path: Path) -> None:
    index = make_index(tmp_path, NEITHER, {"Results": [FOR]})
    with closing(index):
        grounding = make_reading_grounder(index).for_answers(None, None).ground(CLAIM)
    assert not grounding.supporting and [one.document.pmid for one in grounding.silent] == ["1"]


def test_a_reader_of_papers_gets_abstract_and_passage_at_once(tmp_path: Path) -> None:
    class WholeReader(WordReader):
        at_once = 1

        def read_paper(self, claim: str, paper: Abstract) -> PaperRead:
            seen.append(paper.sentences)
            return PaperRead(Verdict(0.9, 0.05, 0.05, decided="support", of="document"), len(paper.sentences) - 1, self.name)

        def contrast(self, claim: str, first: Abstract, second: Abstract) -> list[object]:
            return []

    seen: list[tuple[str, ...]] = []
    index = make_index(tmp_path, NEITHER, {"Results": [FOR]})
    with closing(index):
        (one,) = make_reading_grounder(index, WholeReader()).ground(CLAIM).supporting
    assert seen == [(NEITHER, FOR)]
    assert one.sentence and str(one.sentence.location) == "Results, paragraph 1"


def make_sentence(text: str, kind: SectionKind = "results", number: int = 1, context: str = "") -> Sentence:
    return Sentence("1", 0, 0, len(text), text, location=Location(kind, "Results", number), context=context)


def make_reading(label: Label, sure: float, kind: SectionKind | None = None) -> PaperReading:
    rest = (1 - sure) / 2
    shares = {"support": (sure, rest, rest), "neutral": (rest, sure, rest), "contradict": (rest, rest, sure)}[label]
    sentence = make_sentence(label, kind) if kind else Sentence("1", 0, 0, len(label), label)
    return PaperReading("1", Verdict(*shares, decided=label, of="document"), sentence, "reader")


@pytest.mark.parametrize(
    ("abstract", "text", "kind", "label", "from_text"),
    [
        (("support", 0.8), ("support", 0.9), "results", "support", True),
        (("support", 0.9), ("support", 0.8), "results", "support", False),
        (("support", 0.8), ("support", 0.9), "table", "support", False),
        (("support", 0.8), ("contradict", 0.9), "table", "support", False),
        (("support", 0.8), ("contradict", 0.9), "results", "neutral", False),
        (("neutral", 0.8), ("contradict", 0.9), "results", "contradict", True),
        (("neutral", 0.8), ("contradict", 0.9), "table", "neutral", True),
        (("contradict", 0.8), ("neutral", 0.9), "results", "contradict", False),
    ],
)
def test_abstract_and_full_text_give_one_reading(
    abstract: tuple[Label, float], text: tuple[Label, float], kind: SectionKind, label: Label, from_text: bool
) -> None:
    joined = join_readings(make_reading(*abstract), make_reading(*text, kind), row_decides=False)
    assert joined.verdict.label == label
    assert joined.sentence is not None and (joined.sentence.location is not None) == from_text


@pytest.mark.parametrize(("tokens", "kept"), [(250, ["1", "2"]), (200, ["1", "2"]), (199, ["1"]), (99, []), (-1, [])])
def test_windows_are_sent_as_far_as_there_is_room(tokens: int, kept: list[str]) -> None:
    windows = {pmid: (make_sentence("x" * 50 * CHARACTERS_A_TOKEN),) for pmid in ("1", "2")}
    with count_usage() as tally:
        assert [*keep_within(windows, tokens, sent=2)] == kept
    assert tally.total.shortened == (len(kept) < 2)


def test_the_narrowest_budget_of_a_context_says_what_room_there_is() -> None:
    with count_usage(Budget(tokens=900)), count_usage():
        record(Usage(1, 100, 50))
        assert find_room() == 750
        with count_usage(Budget(tokens=500)), spend(100):
            assert find_room() == 500 - 100 - REPLY


def test_windows_are_short_and_a_row_is_one() -> None:
    long = tuple(make_sentence(" ".join([f"word{number}"] * 40)) for number in range(5))
    assert [len(window) for window in cut_windows(long, 95)] == [2, 2, 1]
    rows = tuple(make_sentence(f"row {number} | 3", "table", number) for number in (1, 2, 3))
    assert list(cut_windows(rows, 95)) == [(row,) for row in rows]
    assert list(cut_windows([make_sentence("Others found it.", "discussion")], 95)) == []


def test_the_card_says_whether_a_row_decides() -> None:
    silent, row = make_reading("neutral", 0.8), make_reading("contradict", 0.9, "table")
    assert [join_readings(silent, row, decides).verdict.label for decides in (False, True)] == ["neutral", "contradict"]
    decision = DocumentReader().paper
    assert decision.full_text == FullTextRule(**json.loads((LARGE / "model.json").read_text())["full_text"])


def test_the_window_of_a_paper_without_an_abstract_is_chosen_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[str] = []

    def choose(index: Index, reader: Reader, rule: FullTextRule, claim: str, entries: Sequence[Entry]) -> Mapping[str, Window]:
        chosen.extend(entry.pmid for entry in entries)
        return find_windows(index, reader, rule, claim, entries)

    monkeypatch.setattr("counterpoint.service.grounding.ground.find_windows", choose)
    response = ground(make_index(tmp_path, "", {"Results": [FOR]}))
    assert (len(response.supporting), chosen) == (1, ["1"])

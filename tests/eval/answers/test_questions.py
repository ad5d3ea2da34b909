"""`eval questions`: reading the file, what counts as misleading, the figures, and the command."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from counterpoint.eval.answers.questions import (
    AskedQuestion,
    GivenAnswer,
    answer_all,
    figures,
    is_misleading,
    name_fault,
    read_questions,
    show_questions,
)
from counterpoint.nli.judge import Abstract, Reading
from counterpoint.retrieval.core.errors import BadInput, BadRecord
from counterpoint.retrieval.core.values import Topic
from counterpoint.retrieval.index import Index
from counterpoint.service.answering.answer import Answerer
from tests.helpers.answer_fakes import make_answerer
from tests.helpers.commands import call
from tests.helpers.fakes import SILENT, WordReader, make_index

FILE = """question,answer,pmids,note
Does zeta lower blood pressure in anaemic adults?,yes,1,x
Does eta lower blood pressure in adults?,no,2,
Does theta lower blood pressure in adults?,none,,
"""
SAID = "Zeta speaks for lower blood pressure in anemic adults", "Eta speaks against lower blood pressure in adults"
DOCUMENTS: list[dict[str, Any]] = [
    *({"pmid": str(pmid), "title": said, "abstract": f"CONCLUSIONS: {said}."} for pmid, said in enumerate(SAID, 1)),
    *({"pmid": f"x{i}", "title": "", "abstract": f"Filler number {i} on something else."} for i in range(20)),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(tmp_path_factory.mktemp("eval-questions"), DOCUMENTS)


def written(folder: Path, text: str = FILE) -> Path:
    path = folder / "questions.csv"
    path.write_text(text, "utf-8")
    return path


class SubjectReader(WordReader):
    """Goes by the words of a paper that names the claim's subject, its first word; any other paper says nothing."""

    def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
        for one in documents:
            (reading,) = super().read_abstracts(claim, [one])
            named = claim.split()[0].lower() in one.title.lower().split()
            yield reading if named else Reading(SILENT, tuple(SILENT for _ in one.sentences))


def reading_answerer(index: Index) -> Answerer:
    return make_answerer(index, reader=SubjectReader(), verdict={"grounding": "counterpoint"})


def given(verdict: str, supporting: str = "", contradicting: str = "", answered: bool = True) -> GivenAnswer:
    sides = tuple(supporting.split()), tuple(contradicting.split())
    return GivenAnswer(answered, verdict, 0.9, *sides, sides[0] + sides[1], ("Zeta.",), "")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        ("question,answer,pmids\n", "contains no question"),
        ("question,answer,pmids\n,yes,1\n", "line 2"),
        ("question,answer,pmids\nDoes it?,perhaps,1\n", "got 'perhaps'"),
        ("question,answer,pmids\nDoes it?,yes,\n", "expected the PMIDs"),
        ("question,answer,pmids\nDoes it?,none,1\n", "none where none does"),
    ],
)
def test_a_file_at_fault_is_told(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises((BadInput, BadRecord), match=told):
        read_questions(written(tmp_path, text))
    with pytest.raises(BadInput, match="cannot be read"):
        read_questions(tmp_path / "missing.csv")


def test_what_misleads() -> None:
    asked = AskedQuestion("Does zeta help?", "yes", ("1",))
    assert is_misleading(asked, given("no", "", "2"))
    assert is_misleading(asked, given("mixed", "2", "1")), "a paper is counted for what it did not find"
    assert not is_misleading(asked, given("mixed", "1", "2"))
    assert not is_misleading(asked, given("yes", "1"))
    assert not is_misleading(asked, given("", answered=False))
    assert not is_misleading(AskedQuestion("Does zeta help?", "none", ()), given("yes", "1"))


def test_the_figures() -> None:
    asked = [
        AskedQuestion("a", "yes", ("1",)),
        AskedQuestion("b", "no", ("2",)),
        AskedQuestion("c", "yes", ("3",)),
        AskedQuestion("d", "none", ()),
        AskedQuestion("e", "none", ()),
    ]
    found = {
        "a": given("yes", "1"), "b": given("yes", "2"),
        "c": given("", answered=False), "d": given("", answered=False), "e": given("unclear"),
    }  # fmt: skip
    expected = {
        "answered, of the answerable": 2 / 3, "declined, of the others": 1 / 2, "verdict right, of the answered": 1 / 2,
        "verdict wrong, of the answered": 1 / 2, "known paper cited, of the answered": 1.0,
        "misleading, of the answerable": 1 / 3,
    }  # fmt: skip
    assert {name: figure.value for name, figure in figures(asked, found).items()} == pytest.approx(expected)
    faults = [name_fault(one, found) for one in asked]
    assert faults == ["", "misleading (verdict yes, known no)", "declined", "", "answered, though nothing answers it"]
    assert "declined: c" in show_questions("t", asked, found).text().splitlines()


def test_answers_are_kept_and_asked_once(index: Index, tmp_path: Path) -> None:
    answerer, asked = reading_answerer(index), read_questions(written(tmp_path))
    found = answer_all(asked, answerer, tmp_path / "work", {})
    assert [found[one.question].verdict for one in asked] == ["yes", "no", ""]
    assert found[asked[0].question].cited == ["1"]
    assert "Nearest papers" in found[asked[2].question].note
    assert {name_fault(one, found) for one in asked} == {""}

    class Silent(Answerer):
        def answer(self, topic: Topic, on_event: Any = None, fill: bool = False) -> Any:
            raise AssertionError("asked again")

    silent = Silent(answerer.index, answerer.config, answerer.models, answerer.grounder)
    assert answer_all(asked, silent, tmp_path / "work", {}) == found


def test_the_command_measures_and_writes(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterpoint.service.assembly.assemble_answerer", lambda *_: reading_answerer(index))
    out, file = tmp_path / "out.json", written(tmp_path)
    done = call("eval", "questions", file, "--index", index.folder, "--work", tmp_path / "work", "--json", out)
    assert done.exit_code == 0, done.output
    assert "3 questions, 1 of them unanswerable" in done.stdout
    report = json.loads(out.read_text("utf-8"))
    assert report["figures"]["verdict right, of the answered"]["value"] == 1.0
    assert "zeta lowers blood pressure in anaemic adults" in report["questions"][0]["given"]["sentences"][0]

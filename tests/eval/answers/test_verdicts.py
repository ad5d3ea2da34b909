"""`eval verdicts`: reading questions whose answer is known, the figures, and going on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from counterpoint.eval.answers.verdicts import KnownQuestion, MeasuredVerdict, figures, read_known, show_verdicts, weigh_all
from counterpoint.nli.judge import Abstract, Reading
from counterpoint.retrieval.core.errors import BadInput, BadRecord
from counterpoint.retrieval.index import Index
from tests.helpers.commands import call
from tests.helpers.fakes import WordReader, make_index, make_reading_grounder

PUBMEDQA = '{"pmid": "1", "QUESTION": "Does zeta lower pressure?", "final_decision": "yes", "CONTEXTS": ["x"]}\n'
OURS = '{"question": "Does eta lower pressure?", "answer": "no", "pmids": ["2", "3"]}\n'
DOCUMENTS: list[dict[str, Any]] = [
    {"pmid": "1", "title": "Zeta speaks for lower pressure", "abstract": "Zeta is for lower pressure."},
    {"pmid": "2", "title": "Eta speaks against lower pressure", "abstract": "Eta is against lower pressure."},
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(tmp_path_factory.mktemp("eval-verdicts"), DOCUMENTS)


def questions(path: Path) -> Path:
    path.write_text(PUBMEDQA + OURS, "utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "contains no question"),
        ('{"question": "Does zeta work?", "answer": "perhaps"}\n', "got 'perhaps'"),
        ('{"question": "Does zeta work?", "answer": "yes", "pmids": "1"}\n', "expected a list of PMIDs"),
    ],
)
def test_a_file_at_fault_is_told(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "known.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises((BadInput, BadRecord), match=told):
        read_known(path)


def known(answers: str) -> list[KnownQuestion]:
    names = {"y": "yes", "n": "no", "m": "maybe"}
    return [KnownQuestion(str(i), "Does zeta work?", names[one], ("1",)) for i, one in enumerate(answers)]  # type: ignore[arg-type]


def test_the_figures_count_mixed_unclear_and_none_as_maybe() -> None:
    said = ["yes", "no", "no", "mixed", "unclear", ""]
    found = [
        MeasuredVerdict(str(i), verdict, 0.75 if verdict in ("yes", "no") else 0.0, 1, i == 0) for i, verdict in enumerate(said)
    ]
    told = figures(known("ynymmn"), found)
    expected = {
        "accuracy": 4 / 6, "said yes or no": 3 / 6, "these right": 2 / 3, "F1 yes": 2 / 3, "F1 no": 1 / 2, "F1 maybe": 4 / 5,
        "macro-F1": (2 / 3 + 1 / 2 + 4 / 5) / 3, "own paper read": 1 / 6,
        # One bin of three at 0.75, of which two are right.
        "ECE": 0.75 - 2 / 3,
    }  # fmt: skip
    assert {name: told[name].value for name in expected} == pytest.approx(expected)
    assert "accuracy         0.667 (" in show_verdicts("t", known("ynymmn"), found).text()


class Counting(WordReader):
    """Counts what it reads."""

    asked = 0

    def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
        for one in documents:
            Counting.asked += 1
            yield from super().read_abstracts(claim, [one])


def test_a_stopped_run_goes_on_and_other_facts_begin_anew(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts, asked = make_reading_grounder(index, Counting()), read_known(questions(tmp_path / "known.jsonl"))
    first = weigh_all(asked[:1], verdicts, True, tmp_path / "work", "corpus", {"a": 1})
    assert Counting.asked == 1
    (kept,) = (tmp_path / "work").iterdir()
    with kept.open("a", encoding="utf-8") as file:
        file.write('{"id": "2", "verd')
    again = weigh_all(asked, verdicts, True, tmp_path / "work", "corpus", {"a": 1})
    assert Counting.asked == 2, "the first is kept, the torn line is asked again"
    assert again[0] == first[0]
    assert [one.outcome for one in again] == ["yes", "no"]
    weigh_all([replace(asked[0], question="Does zinc help?")], verdicts, True, tmp_path / "work", "corpus", {"a": 1})
    weigh_all(asked[:1], verdicts, True, tmp_path / "work", "another corpus", {"a": 2})
    monkeypatch.setattr("counterpoint.eval.answers.verdicts.code_of", lambda *_: "edited")
    weigh_all(asked[:1], verdicts, True, tmp_path / "work", "corpus", {"a": 1})
    assert Counting.asked == 5, "another question under a known id, other facts and other code are asked"


def test_the_command_measures_and_writes(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterpoint.service.assembly.assemble", lambda *_: make_reading_grounder(Index(index.folder)))
    out, file = tmp_path / "out.json", questions(tmp_path / "known.jsonl")
    arguments = ["eval", "verdicts", file, "--index", index.folder, "--given", "--work", tmp_path / "work"]
    done = call(*arguments, "--json", out)
    assert done.exit_code == 0, done.output
    assert "2 questions; always giving the most common answer is right for 50.0%" in done.stdout
    assert json.loads(out.read_text("utf-8"))["figures"]["accuracy"]["value"] == 1.0
    none = call(*arguments, "--skip", 2)
    assert (none.exit_code, "leaves no question" in none.stderr) == (2, True)
    other = call(*arguments, "--answers", "paper-v4")
    assert (other.exit_code, "has no verdict" in other.stderr) == (2, True)

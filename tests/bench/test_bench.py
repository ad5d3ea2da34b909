"""The benchmark: what it compares is the same work, and what it writes is what was measured."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bench import __main__ as bench
from bench import report
from bench.harness import BenchOptions, NotHere, Part, claims_of
from bench.plain import Plain, cue_sentences
from bench.report import BenchRow, ratio_row
from retrieval.core.errors import BadInput
from retrieval.core.values import Claim, Stance
from retrieval.index import Index
from service.configuration.models import Models
from service.grounding.variants import Request, Side, run
from tests.helpers.fakes import SUPPORTS, WordJudge, WordReranker, make_grounder

CLAIM = Claim("Hormone therapy reduces mortality after infarction.", question="Does hormone therapy help?")


class NotJudge(WordJudge):
    """Contradiction in what says "not" or "no", which is more often than the demo corpus says "against"."""

    def __call__(self, claim: str, premises: Any) -> Iterator[Any]:
        for premise, verdict in ((one, SUPPORTS) for one in premises):
            found = {"not", "no"} & set(premise.text.lower().split())
            yield next(super().__call__(claim, [type(premise)("against")])) if found else verdict


def plain_over(index: Index, judge: WordJudge) -> Plain:
    return Plain(index, judge, WordReranker(), lambda query, k: [hit.pmid for hit in index.search(query, k)])


def test_the_plain_pipeline_finds_the_sentences_and_cues_that_the_index_holds(demo_index: Index) -> None:
    plain = plain_over(demo_index, WordJudge())
    documents = plain.documents(CLAIM, 1000)
    stored = list(demo_index.entries([one.pmid for one in documents]))
    assert sum(map(len, (one.cue_sentences() for one in stored))) > 20
    for document, entry in zip(documents, stored, strict=True):
        found = [(one.index, one.start, one.end, one.text) for one in cue_sentences(document)]
        assert found == [(one.index, one.start, one.end, one.text) for one in entry.cue_sentences()]


def test_plain_and_ours_return_the_same_with_the_same_judge(demo_index: Index) -> None:
    judge = NotJudge()
    plain, ours = plain_over(demo_index, judge), make_grounder(demo_index)[0]
    profile = ours.models.profile.model_copy(update={"skim": None})
    models = Models(profile, {"relevance": WordReranker()}, {"stance": judge})

    def run_side(stance: Stance, without: frozenset[str] = frozenset()) -> Side:
        return run(Request(CLAIM, stance, demo_index, ours.config, models, without=without))

    against = plain.contradict(CLAIM)
    assert len(against.found) == 3
    side = run_side("contradict")
    assert [(one.document.pmid, one.sentence.index if one.sentence else None) for one in side.evidence] == [
        (pmid, sentence.index if sentence else None) for pmid, sentence in against.found
    ]
    taken = frozenset(pmid for pmid, _ in against.found)
    supporting = plain.support(CLAIM, without=taken).found
    assert [one.document.pmid for one in run_side("support", taken).evidence] == [pmid for pmid, _ in supporting]
    assert set(against.seconds) == {"retrieve", "annotate", "judge"}
    # Every sentence with a cue is judged, though three contradictions were there long before.
    assert len(against.verdicts) == len(against.premises) > side.counts.judged


def test_claims_are_drawn_by_seed_and_too_few_are_told(demo_index: Index) -> None:
    drawn = claims_of(demo_index, 10, seed=1)
    assert drawn == claims_of(demo_index, 10, seed=1) != claims_of(demo_index, 10, seed=2)
    assert len({one.text for one in drawn}) == 10
    with pytest.raises(BadInput, match="gives only"):
        claims_of(demo_index, 10_000, seed=1)


def test_a_ratio_is_that_of_medians_and_says_whether_the_bar_is_met() -> None:
    slower = ratio_row("seconds", [9.0, 10.0, 300.0], [0.5, 0.4, 0.6], "s", bar=20)
    assert (slower.theirs, slower.ours, slower.figure, slower.met) == ("10 s", "0.5 s", "20 ×", True)
    rate = ratio_row("pairs", [100.0], [250.0], "a second", bar=3)
    assert (rate.figure, rate.bar, rate.met) == ("2.5 ×", "3 ×", False)


def test_the_table_replaces_what_stands_between_the_markers(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n", "utf-8")
    report.write_into_page(page, report.table([BenchRow("speed", "1 s", "0.1 s", "10 ×", "20 ×", False)]))
    written = page.read_text("utf-8")
    assert "| speed | 1 s | 0.1 s | 10 × | 20 × | no |" in written
    assert "old" not in written and written.startswith("before\n") and written.endswith(f"{report.END}\nafter\n")
    page.write_text("no markers", "utf-8")
    with pytest.raises(BadInput, match="lacks the lines"):
        report.write_into_page(page, "table")
    assert page.read_text("utf-8") == "no markers"


class CountedPart:
    """A part that counts how often it is measured."""

    runs = 0
    missing = False

    def run(self, options: BenchOptions) -> dict[str, Any]:
        if self.missing:
            raise NotHere("There is nothing to measure.")
        self.runs += 1
        return {"ratio": self.runs}


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> dict[str, CountedPart]:
    """Two parts, measured here and not in a process of their own."""
    made = {"one": CountedPart(), "two": CountedPart()}

    def rows(name: str) -> Callable[[dict[str, Any]], list[BenchRow]]:
        return lambda result: [BenchRow(name, "", "", f"{result['ratio']} ×")]

    monkeypatch.setattr(bench, "PARTS", {name: Part(("claims",), part.run, rows(name)) for name, part in made.items()})
    monkeypatch.setattr(bench, "run_alone", lambda work, options: work(options))
    monkeypatch.setattr(bench, "commit", lambda: "abc")
    return made


def test_a_part_that_was_measured_is_measured_again_only_when_asked_or_changed(
    demo_folder: Path, tmp_path: Path, parts: dict[str, CountedPart], capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--index", str(demo_folder), "--out", str(tmp_path / "out")]
    parts["two"].missing = True
    assert bench.main(asked) == 0
    assert "nothing to measure" in capsys.readouterr().err
    parts["two"].missing = False
    assert bench.main(asked) == 0
    assert (parts["one"].runs, parts["two"].runs) == (1, 1)
    assert bench.main([*asked, "--claims", "7", "--only", "one"]) == 0
    assert bench.main([*asked, "--claims", "7", "--only", "one", "--fresh"]) == 0
    assert (parts["one"].runs, parts["two"].runs) == (3, 1)
    written = json.loads((tmp_path / "out" / report.ALL).read_text("utf-8"))
    assert {name: record["result"]["ratio"] for name, record in written.items()} == {"one": 3, "two": 1}
    assert written["one"]["facts"]["options"] == {"claims": 7}
    assert "| one |  |  | 3 × |  |  |" in capsys.readouterr().out


def test_what_cannot_be_used_is_told_in_a_sentence(
    demo_folder: Path, tmp_path: Path, parts: dict[str, CountedPart], capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench.main(["--index", str(tmp_path / "none")]) == 2
    assert bench.main(["--index", str(demo_folder), "--claims", "0"]) == 2
    assert "--claims is 0" in capsys.readouterr().err
    assert bench.main(["--index", str(demo_folder), "--out", str(tmp_path), "--table", str(tmp_path / "none.md")]) == 2
    assert parts["one"].runs == 0


@pytest.mark.slow
def test_the_torch_twins_agree_with_the_shipped_engine(demo_index: Index) -> None:
    import numpy as np

    from bench.torch_models import TorchJudge, TorchReranker
    from nli.judge import Abstract
    from nli.reader.judge import DocumentReader
    from retrieval.core.values import Premise
    from retrieval.rerank.embedded import RELEVANCE_MODEL
    from retrieval.rerank.reranker import make_passage
    from retrieval.runtime.engine import TextEncoder

    entries = list(demo_index.entries([hit.pmid for hit in demo_index.search(CLAIM.text, 6)]))
    premises = [Premise(one.text, entry.document.title) for entry in entries for one in entry.sentences()][:24]
    texts = [make_passage(entry.document) for entry in entries]
    # ONNX Runtime computes in float32 on every processor; OpenVINO in bfloat16 where the processor has it.
    reader = DocumentReader(engine="onnxruntime", size="small")
    abstracts = [Abstract(one.title, (one.text,)) for one in premises]
    shipped = np.array([rows[0] for rows in reader.logits(CLAIM.text, abstracts)])
    assert np.abs(shipped - TorchJudge().logits(CLAIM.text, premises)).max() < 1e-4
    encoder = TextEncoder(RELEVANCE_MODEL, engine="onnxruntime")
    for text, (ids, vectors) in zip(texts, TorchReranker().vectors(texts), strict=True):
        shipped_ids, shipped_vectors = encoder.vectors(text)
        assert ids.tolist() == shipped_ids.tolist()
        assert np.abs(vectors - shipped_vectors).max() < 1e-4


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_pyserinis_own_searcher_ranks_as_the_index_does(demo_index: Index) -> None:
    from bench.plain import pyserini_search

    ours = [hit.pmid for hit in demo_index.search(CLAIM.text, 1000)]
    assert ours and pyserini_search(demo_index)(CLAIM.text, 1000) == ours

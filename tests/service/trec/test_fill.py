"""Runs that leave nothing empty: the citations with the highest expected F1, and what is never cited."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterpoint.retrieval.core.errors import BadInput, Interrupted
from counterpoint.retrieval.core.values import Checked, Claim, Document, Evidence, Grounding, Verdict
from counterpoint.retrieval.store.corpus import Corpus
from counterpoint.service.trec.fill import choose_best, expect_f1
from counterpoint.service.trec.task_a import check, read_items, run
from tests.helpers.fakes import StoppingJudge, WordReader, make_grounder, make_index, make_reading_grounder

Chances = Sequence[tuple[float, float]]
"""The probabilities of support and of contradiction, by paper."""


def ground(papers: Chances, known: Sequence[str] = (), retracted: Sequence[str] = ()) -> Grounding:
    """A grounding in which these papers, "0", "1" …, were read and took no side."""
    silent = tuple(
        Evidence(
            Document(str(place), "", "", retracted=str(place) in retracted), "support", None, 1, 0.0, "reader",
            Verdict(support, 1 - support - contradict, contradict, decided="neutral", of="document"),
        )
        for place, (support, contradict) in enumerate(papers)
    )  # fmt: skip
    return Grounding(Claim("Zeta.", known_pmids=tuple(known)), (), (), Checked(len(papers), len(papers), 0), silent=silent)


def chosen(grounding: Grounding) -> tuple[list[str], list[str]]:
    best = choose_best(grounding)
    support, contradict = ([one.document.pmid for one in best[side]] for side in ("support", "contradict"))
    return support, contradict


@pytest.mark.parametrize(
    ("papers", "expected"),
    [
        ([(0.01, 0.0)], (["0"], [])),
        ([(0.5, 0.0), (0.33, 0.0)], (["0"], [])),  # 0.5 / (2 - 0.5) is a third
        ([(0.5, 0.0), (0.34, 0.0)], (["0", "1"], [])),
        ([(0.9, 0.0), (0.9, 0.0), (0.84, 0.0)], (["0", "1"], [])),  # 5.76 / 6.63 is 0.869
        ([(0.9, 0.0), (0.87, 0.0), (0.9, 0.0)], (["0", "2", "1"], [])),
        ([(0.9, 0.0)] * 4, (["0", "1", "2"], [])),
        ([(0.0, 0.4), (0.0, 0.3)], ([], ["0", "1"])),
        ([(0.1, 0.8), (0.05, 0.0)], (["1"], ["0"])),  # on one side only, where it is worth more
        ([(0.3, 0.6)], ([], ["0"])),
        ([], ([], [])),
    ],
)
def test_the_citations_expected_to_score_best_are_chosen(papers: Chances, expected: tuple[list[str], list[str]]) -> None:
    assert chosen(ground(papers)) == expected


@given(st.lists(st.floats(0.01, 0.99), min_size=3, max_size=3))
@settings(max_examples=50, deadline=None)
def test_the_rules_for_a_second_and_a_third_are_those_of_the_docstring(probabilities: list[float]) -> None:
    p1, p2, p3 = sorted(probabilities, reverse=True)
    gains = expect_f1([p1, p2]) - p1, expect_f1([p1, p2, p3]) - expect_f1([p1, p2])
    bars = p1 / (2 - p1), (5 * (p1 + p2) - 4 * p1 * p2) / (15 - 6 * (p1 + p2) + 3 * p1 * p2)
    for gain, probability, bar in zip(gains, (p2, p3), bars, strict=True):
        assert abs(gain) < 1e-9 or (gain > 0) == (probability > bar)


def test_known_and_retracted_papers_are_on_neither_side() -> None:
    papers = [(0.9, 0.05), (0.8, 0.1), (0.02, 0.7), (0.03, 0.01)]
    assert chosen(ground(papers, known=["0"], retracted=["2"])) == (["1"], ["3"])


DOCUMENTS = [
    {"pmid": "11", "title": "", "abstract": "Zeta is for lower pressure."},
    {"pmid": "12", "title": "", "abstract": "Zeta is silent on pressure."},
    {"pmid": "13", "title": "", "abstract": "Zeta is safe with pressure."},
]
ITEMS = [
    {
        "meta_data": {"qa_id": str(number), "question": "Zeta?"},
        "answer": [{"text": "Zeta lowers pressure.", "existing_supported_citations": citations}],
    }
    for number, citations in enumerate((None, ["11"], [11, " 13 "]))
]


def test_a_filled_run_leaves_no_sentence_empty_and_passes_the_check(tmp_path: Path) -> None:
    index, source = make_index(tmp_path / "index", DOCUMENTS), tmp_path / "input.json"
    source.write_text(json.dumps(ITEMS))
    items, grounder = read_items(source), make_reading_grounder(index)
    cited = {}
    for fill in (False, True):
        out = tmp_path / f"{fill}.jsonl"
        run(items, source, grounder, out, "team", "run", fill=fill)
        assert check(out, items, index.store) == []
        assert json.loads(out.with_name(f"{fill}.jsonl.manifest.json").read_text())["fill"] is fill
        answers = [json.loads(line)["answer"][0] for line in out.read_text().splitlines()]
        cited[fill] = [(one["supported_citations"], one["contradicted_citations"]) for one in answers]
    assert cited[False] == [([11], []), ([], []), ([], [])]
    assert cited[True] == [([11], [13]), ([13], [12]), ([12], [])]


def test_an_unfinished_run_is_not_filled_halfway(tmp_path: Path) -> None:
    index, source, out = make_index(tmp_path / "index", DOCUMENTS), tmp_path / "input.json", tmp_path / "run.jsonl"
    source.write_text(json.dumps(ITEMS))

    class Stopping(WordReader):
        stopping = StoppingJudge(5)

        def read_abstracts(self, claim, documents):  # type: ignore[no-untyped-def]
            self.stopping(claim, [])
            return super().read_abstracts(claim, documents)

    with pytest.raises(Interrupted):
        run(read_items(source), source, make_reading_grounder(index, Stopping()), out, "team", "run")
    with pytest.raises(BadInput, match="fill differ"):
        run(read_items(source), source, make_reading_grounder(index), out, "team", "run", fill=True)


def test_a_variant_without_probabilities_cannot_fill(tmp_path: Path) -> None:
    index, source = make_index(tmp_path / "index", DOCUMENTS), tmp_path / "input.json"
    source.write_text(json.dumps(ITEMS))
    with pytest.raises(BadInput, match="the variant v5 gives none"):
        run(read_items(source), source, make_grounder(index)[0], tmp_path / "run.jsonl", "team", "run", fill=True)


def test_only_the_tracks_corpus_is_cited(tmp_path: Path) -> None:
    index, source, pmids, out = (
        make_index(tmp_path / "index", DOCUMENTS),
        tmp_path / "input.json",
        tmp_path / "pmids",
        tmp_path / "o",
    )
    source.write_text(json.dumps(ITEMS))
    pmids.write_text("13\r\n12\n")
    items, grounder = read_items(source), make_reading_grounder(index)
    run(items, source, grounder, out, "team", "run", fill=True)
    corpus = Corpus.read(pmids)
    assert check(out, items, index.store, corpus) == [
        "item 0, sentence 1: supported_citations contains 11, which is not in the track's corpus"
    ]
    index.within = corpus
    run(items, source, grounder, out, "team", "run", fill=True)
    assert check(out, items, index.store, corpus) == []
    assert json.loads(out.with_name("o.manifest.json").read_text())["within_sha256"] == corpus.sha256


@pytest.mark.parametrize(
    ("text", "told"),
    [("", "contains no PMIDs"), ("1\n\nx2\n", "line 3: expected a PMID, not 'x2'"), ('{"id": 3}', "line 1: expected a PMID")],
)
def test_a_corpus_that_is_no_list_of_pmids_is_told(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "pmids").write_text(text)
    with pytest.raises(BadInput, match=told):
        Corpus.read(tmp_path / "pmids")

"""The variants of the paper: V5, bm25, and the steps that only branches have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from counterpoint.retrieval.core.values import Claim
from counterpoint.retrieval.index import Index
from counterpoint.service.baseline.config import BaselineConfig, Branch
from counterpoint.service.baseline.grounder import BaselineGrounder, Side
from counterpoint.service.configuration.models import Models
from counterpoint.service.grounding.ground import Grounder
from tests.helpers.fakes import WordJudge, make_grounder, make_index

CLAIM = Claim("zeta lowers pressure")


def document(pmid: str, *sentences: str, title: str = "") -> dict[str, object]:
    return {"pmid": pmid, "title": title, "abstract": " ".join(sentences)}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Ranked by BM25 for the claim: the shorter a document and the more often it says zeta, the higher."""
    opened = make_index(
        tmp_path_factory.mktemp("ground"),
        [
            document("1", "Zeta zeta zeta zeta did not matter.", "Zeta is against pressure."),
            document("2", "Zeta zeta zeta is against it, without doubt cast.", "No effect of zeta against pressure."),
            document("3", "Zeta zeta stands for lower pressure, best of all best.", "It was not measured against zeta."),
            document("4", "Zeta was never against pressure.", "This is for zeta, the best."),
            document("5", "Zeta was not against anything here, said many people in the long hall of words.", "Best."),
            document("6", "Zeta speaks for lower pressure best best best."),
            document("7", "Another thing entirely."),
        ],
    )
    yield opened
    opened.close()


@pytest.fixture
def grounder(index: Index) -> Grounder:
    return make_grounder(index)[0]


def pmids(evidence: object) -> list[str]:
    return [one.document.pmid for one in evidence]  # type: ignore[attr-defined]


def test_contradictions_are_the_first_three_in_bm25_order_with_a_cue_sentence_so_labelled(
    index: Index, grounder: Grounder
) -> None:
    ranked = [hit.pmid for hit in index.search(CLAIM.text, 1000)]
    # Document 1's only contradicting sentence has no negation cue: the gate loses it, as the paper's does.
    allowed = [pmid for pmid in ranked if pmid in {"2", "3", "4", "5"}]
    grounding = grounder.ground(CLAIM)
    assert pmids(grounding.contradicting) == allowed[:3]
    assert all(one.sentence and one.sentence.cues and "against" in one.sentence.text for one in grounding.contradicting)


def test_supports_are_the_top_three_of_the_reranker_and_never_on_both_lists(grounder: Grounder) -> None:
    grounding = grounder.ground(CLAIM)
    against = set(pmids(grounding.contradicting))
    supporting = pmids(grounding.supporting)
    assert supporting[0] == "6"  # "best" three times
    assert not against & set(supporting)
    assert len(supporting) == 3
    scores = [one.score for one in grounding.supporting]
    assert scores == sorted(scores, reverse=True)


def test_known_pmids_are_dropped_from_support_alone(index: Index, grounder: Grounder) -> None:
    first = grounder.ground(CLAIM)
    known = (*pmids(first.supporting)[:1], *pmids(first.contradicting)[:1])
    second = grounder.ground(Claim(CLAIM.text, known_pmids=known))
    assert not set(known) & set(pmids(second.supporting))
    assert pmids(second.contradicting) == pmids(first.contradicting)


def test_the_judge_stops_after_the_third_contradiction(tmp_path: Path) -> None:
    many = make_index(tmp_path, [document(str(i), "Zeta is not against pressure.") for i in range(50)])
    grounder, judge = make_grounder(many)
    grounding = grounder.ground(CLAIM)
    # Three documents, and the sentence that tells that the third one is over; the supports' three follow.
    assert (grounding.checked.documents, grounding.checked.sentences) == (50, 4)
    assert len(judge.read) <= 4 + 3
    many.close()


def test_a_document_without_sentences_can_be_returned_and_says_so(tmp_path: Path) -> None:
    index = make_index(tmp_path, [{"pmid": "1", "title": "Zeta lowers pressure", "abstract": ""}])
    grounder, _ = make_grounder(index)
    (only,) = grounder.ground(CLAIM).supporting
    assert only.sentence is None
    assert "no sentence" in only.why
    index.close()


def varied(
    index: Index, change: dict[str, object], profile: dict[str, object] | None = None
) -> tuple[BaselineGrounder, WordJudge]:
    """V5 with another contradiction branch, over the stand-ins."""
    grounder, judge = make_grounder(index)
    config = grounder.config
    assert isinstance(config, BaselineConfig)
    branch = Branch.model_validate({**config.contradict.model_dump(), **change})
    models = Models(grounder.models.profile.model_copy(update={"skim": None}), grounder.models.rerankers, grounder.models.judges)
    return BaselineGrounder(index, config.model_copy(update={"contradict": branch}), models), judge


def test_the_penalised_score_orders_whole_documents_read_both_ways(index: Index) -> None:
    grounder, judge = varied(
        index,
        {
            "filter": None,
            "level": "document",
            "rule": "penalised",
            "n": 6,
        },
    )
    evidence = Side(grounder, CLAIM, "contradict").choose()
    assert judge.read.count(CLAIM.text) == 6, "once for each document, as the premise of the way back"
    scores = {one.document.pmid: one.score for one in evidence}
    # Forth each abstract that holds "against" is a contradiction (0.8), back the claim is neutral (0.2): mean 0.5, support 0.15.
    assert scores["1"] == pytest.approx(0.5 - 0.5 * 0.15 + 0.1 * 1 / 6)
    led = [one.document.pmid for one in evidence if one.verdict.contradict >= 0.35]
    assert [one.document.pmid for one in evidence][: len(led)] == led, "those above the floor lead, the others are backfill"

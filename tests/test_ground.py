"""Grounding: V5 as the paper has it, and what holds for every variant."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from retrieval.index import Index
from retrieval.values import Claim
from service.claims import checked_claim
from service.ground import Grounder
from service.schemas import GroundResponse, Provenance
from tests.fakes import make_grounder, make_index

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


def test_support_shows_the_sentence_its_judge_likes_best(grounder: Grounder) -> None:
    first = grounder.ground(CLAIM).supporting[0]
    assert first.sentence is not None
    assert "for" in first.sentence.text.split()
    assert first.verdict is not None
    assert first.verdict.label == "support"


def test_known_pmids_are_dropped_from_support_alone(index: Index, grounder: Grounder) -> None:
    first = grounder.ground(CLAIM)
    known = (*pmids(first.supporting)[:1], *pmids(first.contradicting)[:1])
    second = grounder.ground(Claim(CLAIM.text, known_pmids=known))
    assert not set(known) & set(pmids(second.supporting))
    assert pmids(second.contradicting) == pmids(first.contradicting)


def test_every_sentence_is_verbatim_and_every_cue_inside_it(grounder: Grounder) -> None:
    grounding = grounder.ground(CLAIM)
    for one in (*grounding.contradicting, *grounding.supporting):
        assert one.sentence is not None
        assert one.document.abstract[one.sentence.start : one.sentence.end] == one.sentence.text
        for scope in one.negations:
            assert one.sentence.start <= scope.cue.start < scope.cue.end <= one.sentence.end
            assert one.sentence.start <= scope.scope_start <= scope.scope_end <= one.sentence.end


def test_the_judge_stops_after_the_third_contradiction(tmp_path: Path) -> None:
    many = make_index(tmp_path, [document(str(i), "Zeta is not against pressure.") for i in range(50)])
    grounder, judge = make_grounder(many)
    grounding = grounder.ground(CLAIM)
    # Three documents, and the sentence that tells that the third one is over; the supports' three follow.
    assert grounding.checked["contradict"].judged == 4
    assert grounding.checked["contradict"].candidates == 50
    assert len(judge.read) <= 4 + 3
    many.close()


def test_nothing_found_is_said_with_what_was_checked(index: Index) -> None:
    grounder, _ = make_grounder(index)
    provenance = Provenance.of(grounder)
    response = GroundResponse.of(grounder.ground(Claim("another entirely")), provenance)
    assert response.contradicting == []
    assert "No contradiction found among" in response.summary
    nothing = GroundResponse.of(grounder.ground(Claim("qwertz")), provenance)
    assert nothing.summary.startswith("No document of the index shares a word")


def test_document_level_reads_whole_abstracts_and_still_shows_a_sentence(index: Index) -> None:
    grounder, judge = make_grounder(index)
    contradict = grounder.config.contradict
    assert contradict.judge is not None
    level = contradict.model_copy(update={"judge": contradict.judge.model_copy(update={"level": "document"})})
    grounder.config = grounder.config.model_copy(update={"contradict": level})
    evidence, _ = grounder.run_branch(CLAIM, "contradict")
    assert judge.read[0].count(".") >= 2
    assert all(one.sentence for one in evidence)


def test_bm25_alone_follows_the_index_and_says_that_no_stance_was_judged(index: Index) -> None:
    grounder, judge = make_grounder(index, "bm25")
    grounding = grounder.ground(CLAIM)
    ranked = [hit.pmid for hit in index.search(CLAIM.text, 100)]
    assert pmids(grounding.supporting) == [p for p in ranked if p not in set(pmids(grounding.contradicting))][:3]
    assert not judge.read
    assert all("not judged" in one.why for one in grounding.supporting)


def test_the_question_widens_the_search(index: Index, grounder: Grounder) -> None:
    assert grounder.ground(Claim("zeta", question="Another thing?")).checked["contradict"].documents == 7


def test_the_same_claim_gives_the_same_answer_from_many_threads(grounder: Grounder) -> None:
    from concurrent.futures import ThreadPoolExecutor

    claims = [checked_claim(text) for text in ("zeta lowers pressure", "another thing", "people in the hall")] * 8
    alone = [json.dumps(asdict(grounder.ground(claim)), default=str) for claim in claims]
    with ThreadPoolExecutor(8) as pool:
        together = [json.dumps(asdict(found), default=str) for found in pool.map(grounder.ground, claims)]
    assert together == alone


def test_a_document_without_sentences_can_be_returned_and_says_so(tmp_path: Path) -> None:
    index = make_index(tmp_path, [{"pmid": "1", "title": "Zeta lowers pressure", "abstract": ""}])
    grounder, _ = make_grounder(index)
    (only,) = grounder.ground(CLAIM).supporting
    assert only.sentence is None
    assert "no sentence" in only.why
    index.close()


def test_the_likeliest_are_decided_by_the_whole_document_on_either_side(index: Index) -> None:
    grounding = make_grounder(index, "calibrated")[0].ground(CLAIM)
    against, for_it = pmids(grounding.contradicting), pmids(grounding.supporting)
    # 1 has no negation cue in its only contradicting sentence: without a gate it is found. 4 says both, each as surely as the
    # other, and is called for what is above its threshold by more.
    assert "1" not in for_it
    assert not set(against) & set(for_it)
    assert len(against) <= 3
    for side in (grounding.contradicting, grounding.supporting):
        scores = [one.score for one in side]
        assert scores == sorted(scores, reverse=True)
        assert all(one.sentence is not None and 0.0 <= one.score <= 1.0 for one in side)


def test_only_so_many_documents_are_judged_and_no_sentence_twice(index: Index) -> None:
    grounder, judge = make_grounder(index, "calibrated")
    grounding = grounder.ground(CLAIM)
    read = grounder.config.contradict.judge
    assert read is not None
    assert read.documents == 5
    assert len(judge.read) == len(set(judge.read)), "both sides read the same sentences: each is judged once"
    assert grounding.checked["contradict"].judged == len(judge.read)
    assert grounding.checked["contradict"].documents == 6

"""Grounding: V5 as the paper has it, and what holds for every variant."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from nli.decision.document import PLAIN
from retrieval.core.values import BranchCounts, Claim, Hit, Verdict
from retrieval.index import Index
from retrieval.rerank.reranker import make_passage
from retrieval.words.lexical import find_most_alike
from service.configuration.config import Branch, Rerank
from service.configuration.models import Models
from service.grounding.claims import check_claim
from service.grounding.coverage import summary
from service.grounding.ground import Grounder
from service.grounding.request import GroundStage
from service.grounding.schemas import GroundResponse
from service.schemas.provenance import Provenance
from tests.helpers.fakes import SUPPORTS, WordJudge, make_grounder, make_index, make_reading_grounder

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


@pytest.mark.parametrize("reads", [True, False])
@pytest.mark.parametrize(
    "notice",
    [
        {"title": "Retraction: Zeta against pressure"},
        {"title": "Erratum for Smith et al., Zeta against pressure"},
        {"title": "Expression of concern about zeta"},
        {"title": "Zeta", "types": ["Published Erratum"]},
    ],
)
def test_a_notice_about_another_paper_is_on_no_side(tmp_path: Path, notice: dict[str, object], reads: bool) -> None:
    said = {"2": "Zeta zeta is not against pressure.", "3": "Zeta zeta is best for pressure, the best."}
    notices = [{"pmid": pmid, "abstract": text} | notice for pmid, text in said.items()]
    paper = document("1", "Zeta was not against lower pressure, as was found.", title="Zeta")
    filler = [document(f"x{place}", "Another thing entirely.") for place in range(9)]
    with closing(make_index(tmp_path, [paper, *notices, *filler])) as index:
        assert {"2", "3"} <= {hit.pmid for hit in index.search(CLAIM.text, 10)}
        grounder = make_reading_grounder(index) if reads else make_grounder(index)[0]
        found = grounder.ground(CLAIM)
    listed = [*found.contradicting, *found.supporting, *found.uncertain, *found.more, *found.silent]
    assert pmids(found.contradicting) == ["1"]
    assert not {"2", "3"} & set(pmids(listed))


def test_a_paper_that_does_not_mention_what_the_claim_names_is_uncertain(tmp_path: Path) -> None:
    about = "Memory is for this, said the trial of older people with dementia."
    papers = [document("1", about, title="Ginger and memory"), document("2", about, title="Ginkgo and memory")]
    with closing(make_index(tmp_path, papers)) as index:
        found = make_reading_grounder(index).ground(Claim("Ginkgo improves memory in older people with dementia"))
    assert pmids(found.supporting) == ["2"]
    (apart,) = found.uncertain
    assert apart.document.pmid == "1"
    assert apart.verdict is not None
    assert apart.verdict.support == pytest.approx(SUPPORTS.support), "its probability stays what was computed"
    assert apart.verdict.reason == "title and abstract do not mention “Ginkgo”"


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


def test_known_documents_cost_no_support_its_place(tmp_path: Path) -> None:
    # BM25 puts the known ones first: with the twenty that the variant fetches, they alone would be left to drop.
    known = [document(f"k{i}", "Zeta zeta zeta lowers pressure for all.") for i in range(25)]
    others = [document(f"o{i}", "Zeta stands for lower pressure, as many people said in a long hall of words.") for i in range(3)]
    index = make_index(tmp_path, [*known, *others])
    claim = Claim(CLAIM.text, known_pmids=tuple(f"k{i}" for i in range(25)))
    for config in ("counterpoint", "v5"):
        grounder = make_grounder(index, config)[0]
        found = grounder.ground(claim)
        assert sorted(pmids(found.supporting)) == ["o0", "o1", "o2"]
        assert found.checked["support"].documents == 3
        assert found.checked["contradict"] == grounder.ground(CLAIM).checked["contradict"], "the other side is as it was"
    index.close()


def test_the_best_match_is_the_same_on_both_sides_though_it_is_known(tmp_path: Path) -> None:
    index = make_index(
        tmp_path,
        [
            document("1", "Zeta stands for lower pressure, best best best best best."),
            document("2", "Zeta stands for lower pressure, best."),
        ],
    )
    behind: dict[str, set[float]] = {}

    class Decides:
        """Keeps how far each document lies behind the best match."""

        gap, most, thresholds = -1.0, math.inf, (0.5, 0.5)

        def __call__(self, verdicts: Sequence[Verdict], gap: float = 0.0, about: float = 0.0) -> Verdict:
            behind.setdefault(side[0], set()).add(gap)
            return PLAIN(verdicts)

        def reach(self, gap: float, about: float) -> float:
            behind.setdefault(side[0], set()).add(gap)
            return 1.0

    grounder, judge = make_grounder(index, "counterpoint")
    judge.decision = Decides()  # type: ignore[assignment]
    side = ["contradict"]

    def tell(stage: GroundStage) -> None:
        side[0] = stage.side

    known = Claim(CLAIM.text, known_pmids=("1",))
    assert pmids(grounder.ground(known, tell).supporting) == ["2"]
    assert behind == {"contradict": {0.0, 4.0}, "support": {4.0}}
    index.close()


def test_known_documents_cost_one_search_more_even_where_the_decision_weighs_the_gap(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    def searches(gap: float) -> int:
        grounder, judge = make_grounder(index, "counterpoint")
        judge.decision = replace(PLAIN, gap=gap)
        depths: list[int] = []

        def search(query: str, k: int) -> list[Hit]:
            depths.append(k)
            return Index.search(index, query, k)

        monkeypatch.setattr(index, "search", search)
        grounder.ground(replace(CLAIM, known_pmids=("3",)))
        return len(depths)

    assert searches(gap=0.0) == 2, "with the known one, and one deeper without it"
    assert searches(gap=-1.0) == 2, "the known one may be the best match, and the other side has found it"


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
    evidence = grounder.run_branch(CLAIM, "contradict").evidence
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

    claims = [check_claim(text) for text in ("zeta lowers pressure", "another thing", "people in the hall")] * 8
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
    grounding = make_grounder(index, "counterpoint")[0].ground(CLAIM)
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
    grounder, judge = make_grounder(index, "counterpoint")
    grounding = grounder.ground(CLAIM)
    read = grounder.config.contradict.judge
    assert read is not None
    assert read.documents == 5
    assert len(judge.read) == len(set(judge.read)), "both sides read the same sentences: each is judged once"
    assert grounding.checked["contradict"].judged == len(judge.read)
    assert grounding.checked["contradict"].documents == 6


def test_what_cannot_be_called_any_more_is_not_judged_but_the_best_match_always_is(index: Index) -> None:
    def grounded(most: float) -> tuple[GroundResponse, list[str]]:
        grounder, judge = make_grounder(index, "counterpoint")
        # Each step behind the best match costs 4, and a sentence of this judge is worth 2.1 at most: two steps are too far.
        judge.decision = replace(PLAIN, gap=-4.0, most=most)
        return GroundResponse.of(grounder.ground(CLAIM), Provenance.of(grounder)), judge.read

    every, all_read = grounded(math.inf)
    frugal, read = grounded(2.2)
    assert [[one.pmid for one in side] for side in (frugal.contradicting, frugal.supporting, frugal.uncertain)] == [
        [one.pmid for one in side] for side in (every.contradicting, every.supporting, every.uncertain)
    ]
    assert 0 < len(read) < len(all_read)
    assert set(read) < set(all_read)
    assert frugal.checked.contradict.judged == len(read)
    none, only = grounded(-math.inf)
    best = index.entries(["6"])
    assert only == [sentence.text for entry in best for sentence in entry.sentences()]
    assert none.checked.contradict.judged == len(only)


def test_a_document_is_read_whole_only_where_its_telling_sentences_leave_hope(tmp_path: Path) -> None:
    def silent(name: str) -> list[str]:
        return [f"Number {number} of {name}." for number in range(4)]

    without = document("1", *silent("one"), "Zeta was measured with pressure.")
    hopeful = document("2", *silent("two"), "Zeta stands for lower pressure.")
    index = make_index(tmp_path, [without, hopeful])
    grounder, judge = make_grounder(index, "counterpoint")
    judge.decision = replace(PLAIN, support=-3.0, contradict=-3.0)  # a neutral sentence leaves 2 %, a supporting one 15 %
    grounder.ground(CLAIM)
    read = {*silent("one")[:2], "Zeta was measured with pressure.", *silent("two"), "Zeta stands for lower pressure."}
    assert sorted(judge.read) == sorted(read)
    index.close()


def test_only_those_most_alike_are_reranked(index: Index) -> None:
    whole, _ = make_grounder(index, "counterpoint")
    rerank = Rerank(model="relevance", first=2)
    sides = {name: getattr(whole.config, name).model_copy(update={"rerank": rerank}) for name in ("contradict", "support")}
    found = Grounder(index, whole.config.model_copy(update=sides), whole.models).ground(CLAIM)
    ranked = [hit.pmid for hit in index.search(CLAIM.text, 20)]
    alike = find_most_alike(CLAIM.text, [make_passage(entry.document) for entry in index.entries(ranked)], 2)
    listed = {one.document.pmid for one in (*found.supporting, *found.contradicting, *found.uncertain)}
    counts = found.checked["contradict"]
    assert (counts.documents, counts.read) == (len(ranked), 2), "what was retrieved and put aside is counted as retrieved"
    assert listed == {ranked[place] for place in alike}


def test_frugal_needs_a_decision_to_ask() -> None:
    with pytest.raises(ValueError, match="frugal needs a decision"):
        Branch.model_validate(
            {
                "retrieve": {"sources": ["bm25"], "k": 20, "query": "claim"}, "drop_known": False,
                "judge": {"model": "stance", "frugal": True}, "select": {"rule": "first"},
            }
        )  # fmt: skip


def test_the_likeliest_put_the_newer_of_near_equals_first_and_the_retracted_last(tmp_path: Path) -> None:
    text = "Zeta zeta stands for lower pressure."
    papers = [
        {"pmid": "1", "title": "", "abstract": text, "year": 1999},
        {"pmid": "2", "title": "", "abstract": text, "year": 2020},
        {"pmid": "3", "title": "", "abstract": text, "year": 2024, "retracted": True},
    ]
    index = make_index(tmp_path, papers)
    grounder, _ = make_grounder(index, "counterpoint")
    supporting = grounder.ground(CLAIM).supporting
    assert pmids(supporting) == ["2", "1", "3"]
    assert [one.standing for one in supporting] == ["plain", "plain", "retracted"]
    index.close()


def test_a_protocol_is_on_no_side_whatever_it_hopes_for(tmp_path: Path) -> None:
    hope = "Zeta zeta stands for lower pressure."
    papers = [
        {"pmid": "1", "title": "Zeta for pressure", "abstract": hope},
        {"pmid": "2", "title": "Zeta for pressure: study protocol for a randomised trial", "abstract": hope},
        {"pmid": "3", "title": "Zeta for pressure", "abstract": f"Patients will be randomised to zeta or placebo. {hope}"},
    ]
    index = make_index(tmp_path, papers)
    grounder, _ = make_grounder(index, "counterpoint")
    found = grounder.ground(CLAIM)
    assert pmids(found.supporting) == ["1"]
    assert found.contradicting == found.uncertain == ()
    index.close()


def test_what_came_close_is_told_apart_and_never_on_two_sides(index: Index) -> None:
    grounder, judge = make_grounder(index, "counterpoint")
    # Nothing but the surest is called now: what the judge finds likely, at 0.7 and 0.8, came close.
    judge.decision = replace(PLAIN, thresholds=(0.9, 0.9))
    grounding = grounder.ground(CLAIM)
    assert not grounding.contradicting
    assert not grounding.supporting
    stances = [one.stance for one in grounding.uncertain]
    assert stances == sorted(stances), "contradictions stand first"
    assert {"support", "contradict"} == set(stances)
    assert len(pmids(grounding.uncertain)) == len(set(pmids(grounding.uncertain)))
    assert all(one.sentence is not None and one.score >= 0.1 for one in grounding.uncertain)
    assert "listed as uncertain" in GroundResponse.of(grounding, Provenance.of(grounder)).summary
    # A document that is called for one side came close on neither.
    called = make_grounder(index, "counterpoint")[0].ground(CLAIM)
    assert not {*pmids(called.contradicting), *pmids(called.supporting)} & set(pmids(called.uncertain))


def test_what_is_as_likely_on_either_side_is_uncertain_once(tmp_path: Path) -> None:
    index = make_index(tmp_path, [document(str(i), "Zeta was measured with pressure.") for i in range(3)])
    grounder, _ = make_grounder(index, "counterpoint")
    uncertain = grounder.ground(CLAIM).uncertain
    assert {one.verdict.support == one.verdict.contradict for one in uncertain if one.verdict} == {True}
    assert sorted(pmids(uncertain)) == ["0", "1", "2"]
    assert [one.rank for one in uncertain] == [1, 2, 3]
    assert {one.stance for one in uncertain} == {"contradict"}
    index.close()


def test_one_is_not_told_as_many(index: Index) -> None:
    grounder, judge = make_grounder(index, "counterpoint")
    judge.decision = replace(PLAIN, thresholds=(0.9, 0.9))
    found = grounder.ground(CLAIM)
    counts = {side: BranchCounts(2, 9, 9, judged=1, read=1) for side in found.checked}
    alone = replace(found, uncertain=found.uncertain[:1], checked=counts)
    assert summary(alone) == (
        "No contradiction found among 1 sentence checked in 1 of 2 documents. No support found among 1 of 2 documents. "
        "1 document is listed as uncertain."
    )


def varied(index: Index, change: dict[str, object], profile: dict[str, object] | None = None) -> tuple[Grounder, WordJudge]:
    """V5 with another contradiction branch, over the stand-ins."""
    grounder, judge = make_grounder(index)
    branch = Branch.model_validate({**grounder.config.contradict.model_dump(), **change})
    models = Models(
        grounder.models.profile.model_copy(update=profile or {"skim": None}), grounder.models.rerankers, grounder.models.judges
    )
    return Grounder(index, grounder.config.model_copy(update={"contradict": branch}), models), judge


def test_a_profile_may_bound_how_many_sentences_are_asked_about(index: Index) -> None:
    everything = {"filter": None, "select": {"rule": "first", "label": "contradict", "n": 9}}
    whole, read_all = varied(index, {**everything, "judge": {"model": "stance", "skim": True}})
    whole.run_branch(CLAIM, "contradict")
    bounded, read_some = varied(index, {**everything, "judge": {"model": "stance", "skim": True}}, {"skim": 4})
    counts = bounded.run_branch(CLAIM, "contradict").counts
    assert len(read_all.read) == 11
    assert len(read_some.read) == counts.judged == 4
    assert set(read_some.read) <= set(read_all.read)
    unbounded, read = varied(index, {**everything, "judge": {"model": "stance"}}, {"skim": 4})
    unbounded.run_branch(CLAIM, "contradict")
    assert len(read.read) == 11, "the variant must allow it"


def test_the_penalised_score_orders_whole_documents_read_both_ways(index: Index) -> None:
    grounder, judge = varied(
        index,
        {
            "filter": None,
            "judge": {"model": "stance", "level": "document", "directions": 2},
            "select": {"rule": "penalised", "n": 6},
        },
    )
    evidence = grounder.run_branch(CLAIM, "contradict").evidence
    assert judge.read.count("Zeta lowers pressure.") == 6, "once for each document, as the premise of the way back"
    scores = {one.document.pmid: one.score for one in evidence}
    # Forth each abstract that holds "against" is a contradiction (0.8), back the claim is neutral (0.2): mean 0.5, support 0.15.
    assert scores["1"] == pytest.approx(0.5 - 0.5 * 0.15 + 0.1 * 1 / 6)
    led = [one.document.pmid for one in evidence if one.verdict and one.verdict.contradict >= 0.35]
    assert [one.document.pmid for one in evidence][: len(led)] == led, "those above the floor lead, the others are backfill"


def test_a_contradiction_says_which_words_are_opposed_and_what_is_reserved(tmp_path: Path) -> None:
    index = make_index(tmp_path, [{"pmid": "1", "title": "", "abstract": "In mice zeta increased pressure, against all."}])
    grounder, _ = make_grounder(index, "counterpoint")
    (only,) = grounder.ground(Claim("zeta reduces pressure")).contradicting
    assert "opposite words: “reduces” / “increased”" in only.why
    assert "population: “mice”" in only.why
    assert only.standing == "partial"
    index.close()

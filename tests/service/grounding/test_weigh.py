"""The verdict at a glance: which papers count where, what their designs weigh, how certain it is, and the words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace

import pytest

from counterpoint.nli.text.designs import find_design
from counterpoint.retrieval.core.values import Checked, Claim, Document, Evidence, Grounding, Label, Sentence, Stance, Verdict
from counterpoint.retrieval.index import Index
from counterpoint.service.grounding.weigh import BY_DESIGN, SURE, Outcome, describe_certainty, find_side, weigh
from tests.helpers.fakes import make_grounder, make_index

TYPES = {"trial": ("Randomized Controlled Trial",), "review": ("Meta-Analysis",), "case": ("Case Reports",)}
MICE = Document("1", "Zeta in obese mice", "Mice were fed zeta. Gene expression in the liver was measured.")


def paper(
    stance: Stance, design: str = "trial", label: Label | None = None, retracted: bool = False,
    score: float = 0.6,
) -> Evidence:  # fmt: skip
    document = MICE if design == "animal" else Document("1", "Zeta", "Zeta.", types=TYPES[design], retracted=retracted)
    rest = (1 - score) / 2
    shares = (score, rest, rest) if stance == "support" else (rest, rest, score)
    verdict = Verdict(*shares, decided=label or stance, of="document")
    return Evidence(document, stance, Sentence("1", 0, 0, 5, "Zeta."), 1, score, "judge@1", verdict)


def grounded(*listed: Evidence, silent: Sequence[Evidence] = (), found: int = 9) -> Grounding:
    against = tuple(one for one in listed if one.stance == "contradict")
    for_it = tuple(one for one in listed if one.stance == "support")
    return Grounding(Claim("x"), against, for_it, Checked(found, 3, 9), silent=tuple(silent))


AGAINST, FOR = paper("contradict"), paper("support")
QUIET = paper("support", label="neutral")
ZETA = replace(FOR, trial="ZETA-1")


@pytest.mark.parametrize(
    ("grounding", "outcome", "says"),
    [
        (grounded(AGAINST), "contradict", "One paper contradicts this claim."),
        (grounded(FOR, silent=[QUIET]), "support", "One paper supports this claim; none of the 2 papers read contradicts it."),
        (grounded(FOR, FOR), "support", "Both papers that take a side support this claim."),
        (grounded(FOR, FOR, FOR), "support", "All 3 papers that take a side support this claim."),
        (grounded(AGAINST, AGAINST, AGAINST, FOR), "contradict", "Most evidence found contradicts this claim."),
        (grounded(AGAINST, FOR, FOR), "mixed", "The evidence found is mixed"),
        # More papers, of less weight: most of what was found is neither.
        (grounded(paper("contradict", "review"), paper("support", "animal"), paper("support", "animal")), "mixed", "mixed"),
        (grounded(ZETA, ZETA, ZETA), "support", "One trial, in 3 reports, supports this claim; none of the 3 papers"),
        (grounded(ZETA, ZETA, FOR), "support", "Both studies that take a side support this claim, in 3 papers."),
        # Three reports of one trial do not outnumber two papers.
        (grounded(ZETA, ZETA, ZETA, AGAINST, AGAINST, AGAINST), "contradict", "Most evidence found contradicts this claim."),
        (grounded(QUIET), "uncertain", "No paper found clearly"),
        (grounded(silent=[QUIET]), "silent", "The papers read say nothing"),
        (grounded(), "nothing", "No paper found is about this claim."),
        (grounded(found=0), "nothing", "No paper in the index matches this claim."),
    ],
)  # fmt: skip
def test_the_verdict_says_where_the_evidence_lies(grounding: Grounding, outcome: Outcome, says: str) -> None:
    found = weigh(grounding)
    assert found.outcome == outcome
    assert says in found.text


def test_papers_are_counted_once_and_weighed_by_their_design_and_probability() -> None:
    review, mice = paper("contradict", "review"), paper("support", "animal", score=0.9)
    found = weigh(grounded(review, AGAINST, mice, QUIET, paper("support", retracted=True), silent=[mice, mice]))
    assert (found.papers.contradict, found.papers.uncertain, found.papers.support, found.papers.silent) == (2, 1, 1, 2)
    weights = {name: find_design(paper("support", name).document).weight for name in ("animal", "review", "trial")}
    assert found.weights.contradict == pytest.approx(0.6 * (weights["review"] + weights["trial"]))
    assert found.weights.support == pytest.approx(0.9 * weights["animal"])
    assert found.weights.silent == pytest.approx(2 * weights["animal"])
    assert (found.strong.contradict, found.strong.support, found.strong.uncertain, found.strong.silent) == (2, 0, 1, 0)
    assert (found.retracted, found.looked_at, found.read) == (1, 9, 3)
    assert found.detail.startswith(
        "Of 9 papers found and 6 read, 2 contradict it, 1 is uncertain or mixed, 1 supports it and 2 say nothing about it."
    )
    assert "1 paper is retracted and not counted." in found.detail


def test_one_small_paper_is_never_sure_and_opposition_and_doubt_make_a_verdict_less_certain() -> None:
    def certainty(*listed: Evidence) -> float:
        return weigh(grounded(*listed)).certainty

    small, large = paper("support", "case", score=0.999), paper("support", "review", score=0.999)
    assert certainty(small) < SURE <= certainty(large)
    assert describe_certainty(certainty(small)) == "probable"
    assert certainty(small, small) > SURE
    assert certainty(large, AGAINST) < certainty(large)
    assert certainty(FOR) < certainty(large)
    assert certainty(FOR, QUIET) == certainty(FOR), "a paper that takes no side makes none surer"
    assert certainty() == certainty(QUIET) == certainty(paper("support", retracted=True)) == 0.0


def test_nothing_is_on_a_side_that_its_own_label_does_not_name() -> None:
    assert find_side(AGAINST) == "contradict"
    assert find_side(QUIET) == "uncertain"
    assert find_side(paper("support", label="contradict")) == "uncertain"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    texts = [*(f"Zeta is against pressure {'best ' * place}." for place in range(4)), "Zeta was measured with pressure."]
    papers = [{"pmid": str(place), "title": "", "abstract": text} for place, text in enumerate(texts)]
    with closing(make_index(tmp_path_factory.mktemp("weigh"), papers)) as opened:
        yield opened


def test_a_side_filled_by_rank_alone_counts_for_no_side(index: Index) -> None:
    found = make_grounder(index, "bm25")[0].ground(Claim("zeta changes pressure"))
    weighed = weigh(found)
    assert (weighed.outcome, weighed.papers.total) == ("uncertain", weighed.papers.uncertain)
    assert weighed.papers.uncertain == len(found.supporting) + len(found.contradicting)


NOTHING = Sentence("1", 0, 0, 9, "Gout came back in 4 with zeta and 8 with placebo (P=0.44).")


@pytest.mark.parametrize(
    ("papers", "most"),
    [
        ([paper("support", score=0.999)], 1.0),
        ([replace(paper("contradict", score=0.999), sentence=NOTHING)], SURE - 0.01),
        ([replace(paper("contradict", score=0.999), sentence=NOTHING)] * 3, BY_DESIGN),
        ([replace(paper("contradict", "review", score=0.999), sentence=NOTHING)], 1.0),
        ([replace(paper("support", score=0.999), verdict=Verdict(0.9, 0.1, 0.0, of="document", partial=True))] * 2, SURE - 0.01),
    ],
    ids=["a trial", "a null trial", "null trials", "a null review", "in part"],
)
def test_designs_and_findings_limit_the_certainty(papers: list[Evidence], most: float) -> None:
    weighed = weigh(grounded(*papers))
    assert weighed.certainty == most if most < 1 else weighed.certainty > BY_DESIGN
    assert ("so it is not sure" in weighed.detail or "at most 90%" in weighed.detail) == (most < 1)

"""The verdict at a glance: which papers count where, what their designs weigh, and the words."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from nli.text.designs import find_design
from retrieval.core.values import BranchCounts, Claim, Document, Evidence, Grounding, Label, Sentence, Stance, Verdict
from retrieval.index import Index
from service.balance.weighing import Leaning, find_place, place_papers, weigh_balance
from tests.helpers.fakes import make_grounder, make_index, make_reading_grounder

TITLES = {"trial": "A randomised trial", "review": "A meta-analysis", "animal": "Zeta in mice", "case": "A case of gout"}
COUNTS = BranchCounts(9, 9, 9, 9, 3)


def paper(
    stance: Stance, design: str = "trial", label: Label | None = None, retracted: bool = False, judged: bool = True
) -> Evidence:
    document = Document("1", TITLES[design], "Zeta.", retracted=retracted)
    verdict = Verdict(0.2, 0.2, 0.6, decided=label or stance, of="document") if judged else None
    return Evidence(document, stance, Sentence("1", 0, 0, 5, "Zeta."), 1, 0.6, "judge@1", verdict)


def grounded(*listed: Evidence, silent: Sequence[Evidence] = (), found: int = 9) -> Grounding:
    counts = BranchCounts(found, 9, 9, 9, 3)
    against = tuple(one for one in listed if one.stance == "contradict")
    for_it = tuple(one for one in listed if one.stance == "support")
    return Grounding(Claim("x"), against, for_it, {"contradict": counts, "support": counts}, silent=tuple(silent))


AGAINST, FOR = paper("contradict"), paper("support")
QUIET = paper("support", label="neutral")


@pytest.mark.parametrize(
    ("grounding", "leans", "says"),
    [
        (grounded(AGAINST), "contradict", "One paper contradicts this claim; none supports it."),
        (grounded(FOR, FOR), "support", "Both papers that take a side support this claim."),
        (grounded(FOR, FOR, FOR), "support", "All 3 papers that take a side support this claim."),
        (grounded(AGAINST, AGAINST, AGAINST, FOR), "contradict", "Most evidence found contradicts this claim."),
        (grounded(AGAINST, FOR, FOR), "mixed", "The evidence found is mixed"),
        (grounded(AGAINST, FOR, FOR, FOR), "support", "Most evidence found supports this claim."),
        # More papers, of less weight: most of what was found is neither.
        (grounded(paper("contradict", "review"), paper("support", "animal"), paper("support", "animal")), "mixed", "mixed"),
        (grounded(paper("contradict", "review"), paper("support", "animal")), "mixed", "mixed"),
        (grounded(QUIET), "uncertain", "No paper found clearly"),
        (grounded(silent=[QUIET]), "silent", "The papers read say nothing"),
        (grounded(paper("support", retracted=True)), "nothing", "Only retracted papers were found for this claim."),
        (grounded(), "nothing", "No paper found is about this claim."),
        (grounded(found=0), "nothing", "No paper in the index matches this claim."),
        (grounded(paper("support", judged=False)), "unjudged", "no model judged"),
        (grounded(paper("contradict", retracted=True), FOR), "support", "One paper supports this claim; none contradicts it."),
    ],
)  # fmt: skip
def test_the_verdict_says_where_the_evidence_lies(grounding: Grounding, leans: Leaning, says: str) -> None:
    found = weigh_balance(grounding)
    assert found.leans == leans
    assert says in found.says


def test_papers_are_counted_once_and_weighed_by_their_design() -> None:
    review, mice = paper("contradict", "review"), paper("support", "animal")
    found = weigh_balance(grounded(review, AGAINST, mice, QUIET, paper("support", retracted=True), silent=[mice, mice]))
    assert (found.papers.contradict, found.papers.uncertain, found.papers.support, found.papers.silent) == (2, 1, 1, 2)
    weigh = {name: find_design(Document("1", title, "")).weight for name, title in TITLES.items()}
    assert found.weights.contradict == pytest.approx(weigh["review"] + weigh["trial"])
    assert found.weights.support == pytest.approx(weigh["animal"])
    assert (found.strong.contradict, found.strong.support, found.strong.uncertain, found.strong.silent) == (2, 0, 1, 0)
    assert found.retracted == 1
    assert found.detail.startswith(
        "Of 6 papers read, 2 contradict it, 1 is uncertain or mixed, 1 supports it and 2 say nothing about it."
    )
    assert "1 paper is retracted and not counted." in found.detail


def test_nothing_is_on_a_side_that_its_own_label_does_not_name() -> None:
    assert find_place(AGAINST) == "contradict"
    assert find_place(QUIET) == "uncertain"
    assert find_place(paper("support", label="contradict")) == "uncertain"
    assert find_place(paper("support", judged=False)) == "unjudged"


def document(pmid: str, text: str) -> dict[str, str]:
    return {"pmid": pmid, "title": "", "abstract": text}


@pytest.fixture
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    texts = [f"Zeta is against pressure {'best ' * place}." for place in range(4)]
    return make_index(
        tmp_path_factory.mktemp("balance"),
        [*(document(str(place), text) for place, text in enumerate(texts)), document("9", "Zeta was measured with pressure.")],
    )


def test_every_paper_that_was_read_has_one_place(index: Index) -> None:
    found = make_reading_grounder(index).ground(Claim("zeta changes pressure"))
    placed = place_papers(found)
    pmids = [one.evidence.document.pmid for one in placed]
    assert len(pmids) == len(set(pmids)) == found.checked["contradict"].read == 5
    assert [one.evidence.document.pmid for one in placed if one.place == "contradict"] == [
        one.document.pmid for one in (*found.contradicting, *found.more)
    ]
    assert (len(found.contradicting), len(found.more)) == (3, 1)
    assert found.more[0].rank == 4
    assert weigh_balance(found).papers.contradict == 4
    index.close()


def test_a_side_filled_by_rank_alone_counts_for_no_side(index: Index) -> None:
    found = make_grounder(index, "bm25")[0].ground(Claim("zeta changes pressure"))
    balance = weigh_balance(found)
    assert (balance.leans, balance.papers.total) == ("unjudged", 0)
    assert balance.unjudged == len(found.supporting) + len(found.contradicting)
    index.close()

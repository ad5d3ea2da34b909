"""Where a gold document was lost, from traces made by hand and from branches that ran."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from eval.scifact.files import Gold, LabelledClaim
from eval.scifact.observing import FATES, Fate, Trace, find_fate, observe
from retrieval.core.values import Claim, Stance
from retrieval.index import Index
from service.configuration.config import GroundingConfig, Profile, load_config
from service.configuration.models import Models
from service.grounding.ground import Grounder
from tests.helpers.fakes import WordJudge, WordReranker, make_index

JUDGED = Trace(
    retrieved=("a", "b", "c"), ranked=("b", "a", "c"), reads=2, passed=frozenset("ab"), called=frozenset("ab"), whole=("a", "b")
)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, "crowded_out"),
        ({"retrieved": ("a", "c")}, "not_retrieved"),
        ({"ranked": ("a", "c", "b")}, "beyond"),
        ({"passed": frozenset("a")}, "filtered"),
        ({"called": frozenset("a")}, "not_called"),
        ({"reads": None}, "crowded_out"),
    ],
)
def test_each_way_to_be_lost(changed: dict[str, Any], expected: Fate) -> None:
    assert find_fate("b", "contradict", replace(JUDGED, **changed), returned=["a"], elsewhere=[]) == expected
    assert find_fate("b", "contradict", replace(JUDGED, **changed), returned=["a", "b"], elsewhere=[]) == "found"
    assert expected in FATES


# In the order in which BM25 finds them for "zeta pressure": the rarer the other words, the higher.
DOCUMENTS = {
    "1": "Zeta zeta zeta pressure is not for it.",
    "2": "Zeta zeta pressure is never against it in some words.",
    "3": "Zeta pressure speaks against it in some more words than this.",
    "4": "Zeta pressure is not against it, in many, many more words than that.",
    "5": "Zeta pressure does not say much about it, in many, many more words than all of the others have.",
    "6": "Zeta pressure is not against it either, in many, many more words than even the longest of all of the others have.",
    "9": "Nothing of that.",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(
        tmp_path_factory.mktemp("losses"),
        ({"pmid": pmid, "title": "", "abstract": text} for pmid, text in DOCUMENTS.items()),
    )


Variant = Callable[..., Grounder]


@pytest.fixture
def variant(index: Index) -> Variant:
    """A shipped variant, its path or its contradiction branch changed, with the judge and the reranker that go by words."""

    def make(name: str, skim: int | None = None, **steps: Any) -> Grounder:
        config: GroundingConfig = load_config(name)
        part = "path" if config.path else "contradict"
        for step, keys in steps.items():
            changed = getattr(getattr(config, part), step).model_copy(update=keys)
            config = config.model_copy(update={part: getattr(config, part).model_copy(update={step: changed})})
        models = Models(Profile(name="words", skim=skim), {"relevance": WordReranker()}, {"stance": WordJudge()})
        return Grounder(index, config, models)

    return make


CLAIM = Claim("zeta pressure", id="1")


def fates(grounder: Grounder, stance: Stance = "contradict") -> dict[str, Fate]:
    everything = {pmid: Gold(stance, ((0,),)) for pmid in DOCUMENTS}
    result = observe(grounder, LabelledClaim(CLAIM, everything))
    return {one.pmid: one.fate for one in result.side(stance).gold}


def test_the_branch_of_v5(variant: Variant) -> None:
    assert fates(variant("v5", select={"n": 2})) == {
        "1": "not_called",
        "2": "found",
        "3": "filtered",
        "4": "found",
        "5": "not_called",
        "6": "crowded_out",
        "9": "not_retrieved",
    }


def test_the_penalised_rule_returns_more_than_it_calls_contradictions(variant: Variant) -> None:
    plain = load_config("v5").branch("contradict").retrieve.model_copy(update={"k": 10})
    grounder = variant("v4", select={"n": 1})
    branch = grounder.config.branch("contradict").model_copy(update={"retrieve": plain})
    grounder.config = grounder.config.model_copy(update={"contradict": branch})
    support = load_config("v5").support
    grounder.config = grounder.config.model_copy(update={"support": support})
    found = fates(grounder)
    assert sorted(found.values()).count("found") == 1
    assert sorted(found.values()).count("crowded_out") == 3
    assert (found["5"], found["9"]) == ("not_called", "not_retrieved")
    assert found["1"] == "not_called"

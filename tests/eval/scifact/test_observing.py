"""How deep gold documents would be returned, by branches that ran."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from counterpoint.eval.scifact.files import Gold, LabelledClaim
from counterpoint.eval.scifact.observing import observe, rank_to_gold
from counterpoint.retrieval.core.values import Claim
from counterpoint.retrieval.index import Index
from counterpoint.service.assembly import load_config, make_grounder
from counterpoint.service.configuration.config import GroundingConfig, Profile
from counterpoint.service.configuration.models import Models
from counterpoint.service.grounding.ground import Grounder
from tests.helpers.fakes import WordJudge, WordReranker, make_index

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
        config: Any = load_config(name)
        part = "path" if isinstance(config, GroundingConfig) else "contradict"
        for step, keys in steps.items():
            value = getattr(getattr(config, part), step)
            changed = value.model_copy(update=keys) if isinstance(keys, dict) else keys
            config = config.model_copy(update={part: getattr(config, part).model_copy(update={step: changed})})
        models = Models(Profile(name="words", skim=skim), {"relevance": WordReranker()}, {"stance": WordJudge()})
        return make_grounder(index, config, models)

    return make


CLAIM = Claim("zeta pressure", id="1")


def test_whole_rankings_go_down_to_the_last_gold_document(variant: Variant) -> None:
    assert rank_to_gold(variant("v5", n=1), CLAIM, "contradict", frozenset({"4"})) == ("2", "4")
    assert rank_to_gold(variant("v5"), CLAIM, "contradict", frozenset({"9"})) == ()
    path = rank_to_gold(variant("counterpoint", read={"papers": 3}), CLAIM, "contradict", frozenset({"3", "4"}))
    assert path[-1] == "3", "4 is not among the three that are read"


def test_results_hold_what_was_returned(variant: Variant) -> None:
    result = observe(variant("v5"), LabelledClaim(CLAIM, {"2": Gold("contradict", ((0,),))}))
    first = result.contradict.returned[0]
    assert (first.pmid, first.sentence, first.score) == ("2", 0, 0.8)
    assert first.verdict == (0.1, 0.1, 0.8)
    assert (result.contradict.whole, result.support.whole) == (("2",), ())
    said = result.predicted()
    assert said["2"].stance == "contradict"
    assert {one.stance for one in said.values()} == {"contradict", "support"}

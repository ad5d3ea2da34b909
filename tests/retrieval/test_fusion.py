"""Reciprocal rank fusion, adversarial queries, and the step of a branch that uses them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import yaml

from counterpoint.indexes.vectors import add_vectors
from counterpoint.retrieval.core.errors import BadConfig, IndexUnusable
from counterpoint.retrieval.core.values import Hit
from counterpoint.retrieval.index import Index, reciprocal_rank_fusion
from counterpoint.service.assembly import assemble, load_config
from counterpoint.service.baseline.choosing import make_adversarial_queries
from counterpoint.service.baseline.config import Retrieve
from counterpoint.service.configuration.config import GroundingConfig, load_profile
from counterpoint.service.configuration.models import Models
from counterpoint.service.grounding.find import retrieve
from counterpoint.service.grounding.ground import Grounder
from tests.helpers.fake_encoder import WordEncoder
from tests.helpers.fakes import WordReader, WordReranker, make_index

# --- fusion


def hits(*pmids: str) -> list[Hit]:
    return [Hit(pmid, float(len(pmids) - i)) for i, pmid in enumerate(pmids)]


def test_a_document_scores_the_sum_of_its_reciprocal_ranks() -> None:
    fused = reciprocal_rank_fusion([hits("a", "b", "c"), hits("c", "a")])
    assert [hit.pmid for hit in fused] == ["a", "c", "b"]
    assert [hit.score for hit in fused] == pytest.approx([1 / 61 + 1 / 62, 1 / 63 + 1 / 61, 1 / 62])
    assert [hit.pmid for hit in reciprocal_rank_fusion([hits("b", "a"), hits("a", "b")])] == ["b", "a"], "of equals, the first"
    assert reciprocal_rank_fusion([]) == reciprocal_rank_fusion([[], []]) == []
    weighed = reciprocal_rank_fusion([hits("a", "b"), hits("b", "c")], weights=[1, 2])
    assert [hit.pmid for hit in weighed] == ["b", "c", "a"], "a rank of the second counts twice"
    # a leads one ranking; b is fourth in both.
    rankings = [hits("a", "x", "y", "b"), hits("v", "w", "z", "b")]
    assert [reciprocal_rank_fusion(rankings, k=k)[0].pmid for k in (60, 1)] == ["b", "a"]
    rankings = [hits("a"), hits("x", "a"), hits("x", "y", "z", "a"), hits(*"uvwxyz", "a")]
    sums = {hit.score for order in permutations(rankings) for hit in reciprocal_rank_fusion(order) if hit.pmid == "a"}
    assert len(sums) == 1, "plain addition would not promise that in every order"


# --- adversarial queries


def test_a_claim_is_set_into_every_template_without_its_full_stop() -> None:
    queries = make_adversarial_queries(" Zinc {claim} helps. ")
    assert len(queries) == len(set(queries)) == 25
    assert queries[0] == "There is no evidence that Zinc {claim} helps"
    assert "Zinc {claim} helps: this was not confirmed" in queries


# --- the step

DENSE: dict[str, Any] = {"sources": ["dense"], "encoder": "dense"}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"sources": []}, "sources should name bm25, dense or both, each once"),
        ({"encoder": "other"}, "add dense to the sources, or leave out encoder"),
        ({"sources": ["dense"], "vectors": "if-present"}, "use it with sources: [bm25, dense]"),
        ({"sources": ["bm25", "dense"], "queries": "adversarial"}, "use them with sources: [dense]"),
        ({**DENSE, "rrf": 20}, "rrf and each fuse several rankings"),
        ({"sources": ["pubmed"]}, "contradict.retrieve.sources"),
    ],
)
def test_an_unknown_combination_is_refused_in_one_sentence(tmp_path: Path, options: dict[str, Any], told: str) -> None:
    branch = {"retrieve": {"k": 10, **options}, "rule": "top"}
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({"name": "mine", "contradict": branch, "support": branch}))
    with pytest.raises(BadConfig, match=r"mine\.yaml") as error:
        load_config(str(path))
    assert told in str(error.value)
    assert "\n" not in str(error.value)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("fusion")
    make_index(folder, DOCUMENTS).close()
    add_vectors(folder / "index", WordEncoder())
    opened = Index(folder / "index")
    yield opened
    opened.close()


ENCODERS = {"dense": WordEncoder()}
TEXTS = ["Zinc zinc zinc helps.", "Zinc was not confirmed.", "No evidence that iron helps.", "Iron.", "Zinc and iron help."]
DOCUMENTS = [{"pmid": str(number), "title": "", "abstract": text} for number, text in enumerate(TEXTS, 1)]


def test_each_step_gives_its_ranking_and_name(index: Index) -> None:
    def dense(k: int, *queries: str) -> list[list[Hit]]:
        return index.dense("words@1").search(ENCODERS["dense"].queries(queries), k)

    zinc = "zinc helps"
    both: dict[str, Any] = {"sources": ["bm25", "dense"], "encoder": "dense", "rrf": 60}
    adversarial = Retrieve(queries="adversarial", rrf=60, each=2, k=4, **DENSE)
    asked = make_adversarial_queries(zinc)
    steps: list[tuple[Retrieve, list[str], Any, str]] = [
        (Retrieve(k=3), [zinc], index.search(zinc, 3), "bm25"),
        (Retrieve(k=3, **DENSE), [zinc], dense(3, zinc)[0], "words@1"),
        (Retrieve(k=2, each=4, **both), [zinc], [index.search(zinc, 4), *dense(4, zinc)], "rrf(bm25, words@1)"),
        (Retrieve(k=1, **both), [zinc], [index.search(zinc, 1), *dense(1, zinc)], "rrf(bm25, words@1)"),
        (adversarial, asked, dense(2, *asked), "rrf(words@1)"),
    ]
    for step, queries, expected, name in steps:
        ranking = expected if "rrf" not in name else reciprocal_rank_fusion(expected, 60)[: step.k]
        assert retrieve(step, queries, index, ENCODERS) == ranking
        assert Retrieve.model_validate(step.model_dump()) == step, "as it is dumped, with its defaults, it is read"


# --- grounding with it


def grounder(index: Index, retrieve: dict[str, Any], encoder: WordEncoder) -> Grounder:
    """Our own path with another first step."""
    config = load_config("counterpoint")
    assert isinstance(config, GroundingConfig)
    config = config.model_copy(update={"path": config.path.model_copy(update={"find": Retrieve(**retrieve)})})
    models = Models(load_profile("embedded"), {"relevance": WordReranker()}, {"stance": WordReader()}, {"dense": encoder})
    return Grounder(index, config, models)


def test_an_index_that_does_not_fit_is_told_when_the_service_is_put_together(index: Index, tmp_path: Path) -> None:
    branch = {"retrieve": {"k": 3, **DENSE}, "rule": "top"}
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({"name": "mine", "contradict": branch, "support": branch}))
    with pytest.raises(IndexUnusable, match="made by words@1, and this search uses relevance-minilm"):
        assemble(index.folder, str(path), "embedded")
    bare = make_index(tmp_path / "bare", [{"pmid": "1", "title": "", "abstract": "Zinc."}])
    bare.close()
    with pytest.raises(IndexUnusable, match="has no vectors, which this search needs"):
        assemble(bare.folder, str(path), "embedded")


IF_PRESENT: dict[str, Any] = {"sources": ["bm25", "dense"], "vectors": "if-present", "k": 5}


def test_vectors_if_present_are_searched_only_where_the_index_has_them(index: Index, tmp_path: Path) -> None:
    with_vectors = grounder(index, IF_PRESENT, WordEncoder())
    bare = make_index(tmp_path / "bare", DOCUMENTS)
    without = with_vectors.over(bare)
    assert without.path.find.sources == ["bm25"]
    assert "dense" in with_vectors.models.names() and "dense" not in without.models.names(), "provenance names what is used"
    add_vectors(bare.folder, WordEncoder())
    bare.close()
    again = Index(bare.folder)
    assert without.over(again).config == with_vectors.config
    again.close()

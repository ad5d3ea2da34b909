"""A profile of local model folders, through the whole service: what a user of the paper's models would run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from counterpoint.retrieval.core.errors import ModelUnusable
from counterpoint.retrieval.core.values import Claim
from counterpoint.retrieval.index import Index
from counterpoint.service.assembly import assemble
from tests.helpers.fakes import make_index
from tests.helpers.tiny_models import tiny_classifier, tiny_t5


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(
        tmp_path_factory.mktemp("profiles"),
        [{"pmid": str(i), "title": f"Trial {i}", "abstract": f"Aspirin did not reduce pain {i}."} for i in range(5)],
    )


def profile(folder: Path, judge: Mapping[str, object], reranker: Path) -> str:
    path = folder / "mine.yaml"
    models = {
        "name": "mine",
        "rerankers": {"relevance": {"kind": "cross-encoder", "model": str(reranker), "max_tokens": 32}},
        "judges": {"stance": dict(judge)},
    }
    path.write_text(yaml.safe_dump(models))
    return str(path)


def test_t5_and_classifier_profiles_ground_a_claim(index: Index, tmp_path: Path) -> None:
    reranker = tiny_classifier(tmp_path / "reranker", ["score"])
    t5, classifier = tiny_t5(tmp_path / "t5"), tiny_classifier(tmp_path / "nli", ["entailment", "neutral", "contradiction"])
    for judge in ({"kind": "t5", "model": str(t5), "max_tokens": 64}, {"kind": "classifier", "model": str(classifier)}):
        grounder = assemble(index.folder, "v5", profile(tmp_path, judge, reranker))
        grounding = grounder.ground(Claim("Aspirin reduces pain"))
        # What tiny random models say is noise; that every part was asked, and by which name, is not.
        assert grounding.checked.sentences > 0
        assert {one.scored_by for one in grounding.supporting} == {grounder.models.names()["relevance"]}
        assert grounder.models.names()["stance"].startswith(Path(str(judge["model"])).name)
        grounder.index.close()


def test_a_model_that_is_not_there_is_told(index: Index, tmp_path: Path) -> None:
    reranker = tiny_classifier(tmp_path / "reranker", ["score"])
    mine = profile(tmp_path, {"kind": "t5", "model": str(tmp_path / "nowhere")}, reranker)
    with pytest.raises(ModelUnusable, match="nowhere"):
        assemble(index.folder, "v5", mine)

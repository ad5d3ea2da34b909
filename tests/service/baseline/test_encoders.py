"""The encoders of dense search: the shipped one, and Hugging Face's on tiny random models that are saved here."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterpoint.retrieval.core.errors import BadConfig, ModelUnusable
from counterpoint.retrieval.core.values import Document
from counterpoint.retrieval.dense.embedded_encoder import EmbeddedEncoder
from counterpoint.retrieval.dense.encoder import Vectors
from counterpoint.retrieval.rerank.reranker import make_passage
from counterpoint.service.baseline.hub import identify_model
from counterpoint.service.baseline.hub_models import BiEncoder, MedCPTEncoder
from counterpoint.service.configuration.config import load_profile
from counterpoint.service.configuration.models import load_encoder
from tests.helpers.tiny_models import tiny_classifier, tiny_encoder, tiny_t5

QUERIES = ["aspirin reduces risk of stroke", "statin", ""]
DOCUMENTS = [
    Document("1", "Hormone therapy in women", "heart disease in women with placebo and hormone therapy"),
    Document("2", "", "aspirin does not prevents stroke in men with heart disease and the risk was increases"),
    Document("3", "Statin trial", ""),
    Document("4", "Aspirin", "no effect on mortality " * 40),
]


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("encoders")
    tiny_encoder(folder / "one")
    tiny_encoder(folder / "query", seed=1)
    tiny_encoder(folder / "article", seed=2)
    return folder


def reference(folder: Path, *texts: str, limit: int = 64) -> Vectors:
    """The last layer of one text, or of a pair, computed by transformers alone: [tokens, width]."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModel.from_pretrained(folder)
    encoded = tokenizer(*([text] for text in texts), truncation=True, max_length=limit, return_tensors="pt")
    with torch.no_grad():
        tokens: Vectors = model(**encoded).last_hidden_state[0].numpy()
    return tokens


def unit(vector: Any) -> list[float]:
    return list((vector / np.linalg.norm(vector)).tolist())


# --- the shipped one


@pytest.fixture(scope="module")
def embedded() -> EmbeddedEncoder:
    return EmbeddedEncoder()


def test_the_shipped_encoder_places_what_answers_nearest(embedded: EmbeddedEncoder) -> None:
    documents = [
        Document("1", "Malaria vaccines", "A trial of a vaccine in children in Kenya."),
        Document("2", "Aspirin and stroke", "Aspirin prevented stroke in a randomised trial."),
        Document("3", "Sleep", "Adolescents slept less in summer."),
    ]
    [query] = embedded.queries(["Does aspirin prevent stroke?"])
    vectors = embedded.documents(documents)
    assert vectors.dtype == np.float32
    assert vectors.shape == (3, 384)
    assert int(np.argmax(vectors @ query)) == 1
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)
    alone = embedded.queries([make_passage(one) for one in documents])
    assert (vectors * alone).sum(axis=1) == pytest.approx([1, 1, 1], abs=1e-3), "in a batch as alone, rounding apart"
    assert embedded.name.startswith("relevance-minilm-") and embedded.name.endswith("/mean")


# --- one network for both sides


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_vectors_are_the_pooled_last_layer_at_length_one(models: Path, pooling: Any) -> None:
    encoder = BiEncoder(str(models / "one"), pooling=pooling, batch_size=2)

    def expected(text: str) -> list[float]:
        tokens = reference(models / "one", text)
        return unit(tokens[0] if pooling == "cls" else tokens.mean(axis=0))

    for vectors, texts in (
        (encoder.queries(QUERIES), QUERIES),
        (encoder.documents(DOCUMENTS), [make_passage(document) for document in DOCUMENTS]),
    ):
        assert vectors.dtype == np.float32
        for vector, text in zip(vectors, texts, strict=True):
            assert vector.tolist() == pytest.approx(expected(text), abs=1e-4)
    assert np.abs(encoder.queries(QUERIES[:2]) @ encoder.queries(QUERIES[:2]).T - 1).max() > 0.01  # or any would pass


def test_a_model_or_an_option_that_cannot_work_is_told(models: Path, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    assert BiEncoder(str(tiny_classifier(tmp_path / "one", ["one"]))).queries(["statin"]).shape == (1, 16), "without its head"
    with pytest.raises(ModelUnusable, match="is an encoder-decoder, and dense retrieval needs an encoder only"):
        BiEncoder(str(tiny_t5(tmp_path / "t5")))
    cut = shutil.copytree(models / "one", tmp_path / "cut")
    weights = load_file(cut / "model.safetensors")
    del weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, cut / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelUnusable, match=r"no trained encoder\.layer\.1\.output\.dense\.weight, which a Encoder model"):
        BiEncoder(str(cut))


# --- MedCPT's two


def test_medcpt_reads_queries_and_articles_by_networks_of_their_own(models: Path) -> None:
    encoder = MedCPTEncoder(str(models / "query"), str(models / "article"), batch_size=3)
    for vector, query in zip(encoder.queries(QUERIES), QUERIES, strict=True):
        assert vector.tolist() == pytest.approx(reference(models / "query", query)[0].tolist(), abs=1e-4)
    for vector, document in zip(encoder.documents(DOCUMENTS), DOCUMENTS, strict=True):
        expected = reference(models / "article", document.title, document.abstract)[0]
        assert vector.tolist() == pytest.approx(expected.tolist(), abs=1e-4)
    assert np.linalg.norm(encoder.queries(["statin"])) != pytest.approx(1, abs=0.01)
    query, article = encoder.name.split("+")
    assert query.startswith("query@")
    assert article.startswith("article@")


# --- code that a repository brings along

CODE = """
from transformers import BertConfig, BertModel


class OwnConfig(BertConfig):
    model_type = "own"


class OwnModel(BertModel):
    config_class = OwnConfig

    def __init__(self, config):
        super().__init__(config, add_pooling_layer=False)

    def forward(self, *args, **kwargs):
        output = super().forward(*args, **kwargs)
        output.last_hidden_state = -output.last_hidden_state
        return output
"""


@pytest.fixture
def own_code(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tiny model, turned round by Python code of its own."""
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    folder = shutil.copytree(models / "one", tmp_path / "own")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "coded.OwnConfig", "AutoModel": "coded.OwnModel"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "coded.py").write_text(CODE)
    return folder


def test_a_models_own_code_is_run_only_where_it_is_allowed(own_code: Path, models: Path) -> None:
    with pytest.raises(ModelUnusable, match=r"needs its own Python code to run; .* trust_remote_code: true"):
        BiEncoder(str(own_code))
    trusted = BiEncoder(str(own_code), trust_remote_code=True)
    plain = BiEncoder(str(models / "one"))
    assert np.allclose(trusted.queries(QUERIES), -plain.queries(QUERIES), atol=1e-5)
    names = [identify_model(own_code, code=code) for code in (True, False)]
    (own_code / "coded.py").write_text(f"{CODE}\n# changed\n")
    same = [identify_model(own_code, code=code) == name for code, name in zip((True, False), names, strict=True)]
    assert same == [False, True], "the code counts among the files where it is run"


# --- profiles


def profile(folder: Path, encoders: str) -> str:
    path = folder / "mine.yaml"
    path.write_text(f"name: mine\nencoders: {encoders}\n")
    return str(path)


@pytest.mark.parametrize(
    ("encoders", "told"),
    [
        ("{}", "no encoder called 'dense'; it has none"),
        ("{dense: {kind: best}}", "known kinds are embedded, medcpt, bi-encoder"),
        ("{dense: {kind: bi-encoder}}", "the key 'encoders.dense.model' is missing"),
        ("{dense: {kind: embedded, colour: red}}", "unknown key 'colour' in encoders.dense"),
    ],
)
def test_a_wrong_encoder_is_told(tmp_path: Path, encoders: str, told: str) -> None:
    with pytest.raises(BadConfig, match=told):
        load_encoder("dense", load_profile(profile(tmp_path, encoders)))


def test_importing_the_models_loads_neither_torch_nor_faiss() -> None:
    code = (
        "import sys, service.baseline.hub_models\n"
        "import counterpoint.retrieval.dense.embedded_encoder, counterpoint.retrieval.index, counterpoint.indexes.vectors\n"
        "print(sorted({'torch', 'transformers', 'faiss', 'huggingface_hub'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd())
    assert done.stdout.strip() == "[]"

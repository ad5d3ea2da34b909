"""The shipped models of the profile `fast` in torch, for the plain pipeline.

A shipped `model.onnx` stores its matrices as int8 with a scale and computes in float32 (retrieval/training/export.py). Here the
matrices are converted back to float32 and put into a `BertModel`, where they came from, or, for the small reader, into the module
that it was trained as. Logits agree with the shipped engine's to about 1e-4 where that computes in float32
(tests/bench/test_bench.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from tokenizers import Tokenizer
from torch import nn
from transformers import BertConfig, BertModel

from nli.judge import judge_lazily
from nli.reader.encode import DocumentTokenizer
from nli.reader.judge import SMALL, Calibration
from nli.text.sentences import sentence_spans
from nli.training.reader.encoder import ReaderEncoder, find_size
from retrieval.core.values import Premise, Verdict
from retrieval.rerank.embedded import PARTS as RELEVANCE_PARTS
from retrieval.rerank.embedded import RELEVANCE_MODEL, score_best_stretch, score_rare_words
from retrieval.runtime.engine import EncodedPair, collate, make_model_name, read_card
from retrieval.training.encoder import HEADS, INNER, LAYERS, POSITIONS, VOCABULARY, WIDTH
from retrieval.training.export import restore_weights
from retrieval.words.terms import read_rarity_tables, score_lexically

BATCH = 32
"""Texts per batch, in the order of arrival: the usual choice, and sentence-transformers' default."""

_MATRIX = re.compile(r"/layers\.(\d+)/(qkv|out|up|down)/MatMul$")
_NAMES = {
    "out": "attention.output.dense", "out_norm": "attention.output.LayerNorm", "up": "intermediate.dense",
    "down": "output.dense", "down_norm": "output.LayerNorm",
}  # fmt: skip


def weights(folder: Path) -> dict[str, NDArray[np.float32]]:
    """The float32 tensors of a shipped model by the names of `retrieval.training.encoder`, matrices [outputs, inputs].

    "marks" is the whole table of token types, [types, width].
    """
    graph = onnx.load(folder / "model.onnx").graph
    tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    arrays = {name: values for name, values in tensors.items() if not name.endswith(("_int8", "_scale"))}
    for name, values in tensors.items():
        if name.endswith("_int8"):
            plain = name.removesuffix("_int8")
            arrays[plain] = values.astype(np.float32) * tensors[f"{plain}_scale"]
    for node in graph.node:
        matrix = _MATRIX.search(node.name)
        if node.op_type == "MatMul" and matrix:
            arrays[f"layers.{matrix[1]}.{matrix[2]}.weight"] = np.ascontiguousarray(arrays.pop(node.input[1]).T)
        if node.op_type == "Gather" and node.input[1] == "token_type_ids":
            arrays["marks"] = arrays.pop(node.input[0])
    return arrays


def bert(arrays: dict[str, NDArray[np.float32]], types: Sequence[int]) -> BertModel:
    """The encoder as Hugging Face's own module, ready to run.

    `arrays` are the weights by our names, each of the shape that it has in the shipped file; `types` are the rows of the table
    of token types [all types, width] that it gets.
    """
    config = BertConfig(
        vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=INNER, max_position_embeddings=POSITIONS, type_vocab_size=len(types), layer_norm_eps=1e-12,
        hidden_act="gelu",
    )  # fmt: skip
    state = {
        "embeddings.word_embeddings.weight": arrays["words.weight"],
        "embeddings.position_embeddings.weight": arrays["positions.weight"],
        "embeddings.token_type_embeddings.weight": arrays["marks"][list(types)],
    }
    for part in ("weight", "bias"):
        state[f"embeddings.LayerNorm.{part}"] = arrays[f"norm.{part}"]
        for layer in range(LAYERS):
            source, target = f"layers.{layer}", f"encoder.layer.{layer}"
            thirds = np.split(arrays[f"{source}.qkv.{part}"], 3)
            state |= {
                f"{target}.attention.self.{name}.{part}": third
                for name, third in zip(("query", "key", "value"), thirds, strict=True)
            }
            state |= {f"{target}.{name}.{part}": arrays[f"{source}.{own}.{part}"] for own, name in _NAMES.items()}
    model = BertModel(config, add_pooling_layer=False)
    model.load_state_dict({name: torch.tensor(values) for name, values in state.items()})
    nn.Module.eval(model)
    return model


class TorchJudge:
    """The small reader in torch: batches of 32 in the order of arrival, padded to their longest text."""

    def __init__(self, folder: Path = SMALL) -> None:
        card, tokens = read_card(folder), Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.name = f"{make_model_name(card)}/torch-float32"
        self.calibration = Calibration(**card["calibration"]["alone"])
        self._tokenize = DocumentTokenizer(tokens, int(card["max_tokens"]))
        state = restore_weights(folder / "model.onnx")
        self._model = ReaderEncoder(tokens.get_vocab_size(), size=find_size(state))
        self._model.load_state_dict(state)
        self._model.eval()

    def logits(self, claim: str, premises: Sequence[Premise]) -> NDArray[np.float32]:
        """[premises, 3] of one batch, before calibration."""
        texts = [(one.title, [one.text[start:end] for start, end in sentence_spans(one.text)]) for one in premises]
        encodings = [self._tokenize(" ".join(claim.split()), title, sentences) for title, sentences in texts]
        batch = collate([EncodedPair(encoding.ids, encoding.types) for encoding in encodings])
        with torch.inference_mode():
            logits: NDArray[np.float32] = self._model(*(torch.from_numpy(array) for array in batch))[:, 0].numpy()
        return logits

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        """One verdict per premise, in order, a batch at a time."""

        def predict(chunk: Sequence[Premise]) -> list[Verdict]:
            return [Verdict(*row) for row in self.calibration.probabilities(self.logits(claim, chunk)).tolist()]

        return judge_lazily(predict, premises, BATCH)


class TorchReranker:
    """The shipped reranker's model in torch: the same three parts, the vectors made in batches of 32 and never kept."""

    def __init__(self, folder: Path = RELEVANCE_MODEL) -> None:
        card = read_card(folder)
        self.name = f"{make_model_name(card)}/torch-float32"
        self._max = int(card["max_tokens"])
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(self._max)
        self._tokenizer.no_padding()
        self._model = bert(weights(folder), [0])
        self._weights = np.array([float(card["calibration"][part]) for part in RELEVANCE_PARTS])
        self._pieces, self._words = read_rarity_tables(folder / "rarity.npz")

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score per text, in order."""
        [(ids, vectors)] = self.vectors([query])
        rarity = self._pieces[ids]
        parts = np.zeros((len(texts), len(RELEVANCE_PARTS)))
        parts[:, 0] = score_lexically(query, texts, self._words)
        for start in range(0, len(texts), BATCH):
            for row, (_, text) in enumerate(self.vectors(texts[start : start + BATCH]), start):
                parts[row, 1:] = score_rare_words(vectors, text, rarity), score_best_stretch(vectors, text)
        return [float(score) for score in parts @ self._weights]

    def vectors(self, texts: Sequence[str]) -> list[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """For each text of one batch, the token ids [tokens] and their unit vectors [tokens, width]."""
        ids = [np.array(encoding.ids, dtype=np.int64) for encoding in self._tokenizer.encode_batch(list(texts))]
        input_ids, mask, types = (
            torch.from_numpy(a) for a in collate([EncodedPair(tokens, np.zeros_like(tokens)) for tokens in ids])
        )
        with torch.inference_mode():
            states = self._model(input_ids=input_ids, attention_mask=mask, token_type_ids=types).last_hidden_state
            unit_vectors = nn.functional.normalize(states, dim=-1).numpy()
        return [(tokens, unit_vectors[row, : len(tokens)]) for row, tokens in enumerate(ids)]

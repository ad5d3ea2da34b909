"""Running a shipped model on OpenVINO or ONNX Runtime, without torch: texts to logits, or a text to its vectors.

A model folder holds `model.onnx`, `tokenizer.json` and `model.json` (name, labels, max_tokens, calibration, base, sha256).
The graph takes input_ids, attention_mask and token_type_ids, all int64 [batch, tokens], and gives logits [batch, labels] or
vectors [batch, tokens, width].
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController
from tokenizers import Tokenizer

from counterpoint.retrieval.core.errors import ModelUnusable

Engine = Literal["auto", "openvino", "onnxruntime"]
Batch = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]

_CHARACTERS_A_TOKEN = 40
"""Texts are cut to this many characters per token before they are tokenised: nothing that would be kept is lost."""
_BATCH_TOKENS = 512
"""Tokens, with padding, of texts that are run together: larger batches leave the processor's cache and are slower."""


@dataclass(frozen=True, slots=True)
class EncodedPair:
    """One tokenised pair: `ids` and `types`, each [tokens]."""

    ids: NDArray[np.int64]
    types: NDArray[np.int64]


def collate(pairs: Sequence[EncodedPair]) -> Batch:
    """Ids, mask and types, each int64 [pairs, longest], padded with 0 on the right."""
    longest = max(len(pair.ids) for pair in pairs)
    ids, mask, types = (np.zeros((len(pairs), longest), dtype=np.int64) for _ in range(3))
    for row, pair in enumerate(pairs):
        length = len(pair.ids)
        ids[row, :length], types[row, :length], mask[row, :length] = pair.ids, pair.types, 1
    return ids, mask, types


def batch_by_length(
    lengths: Sequence[int], most_tokens: int, most_texts: int = sys.maxsize, sizes: Sequence[int] | None = None
) -> list[list[int]]:
    """The places of texts of these lengths in batches, the shortest first.

    A batch has at most `most_tokens` tokens, padding included, and `most_texts` texts, unless one text has more; `sizes` says for
    how many texts each place stands.
    """
    batches: list[list[int]] = []
    texts = 0
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        size = sizes[place] if sizes else 1
        if not batches or texts + size > most_texts or lengths[place] * (texts + size) > most_tokens:
            batches.append([])
            texts = 0
        batches[-1].append(place)
        texts += size
    return batches


class Graph:
    """A model ready to run. One thread runs a batch, and as many batches run in parallel as there are threads.

    Two threads on one batch gain less than they cost: they wait for each other at every layer, and for whatever else the machine
    does (docs/research/training.md has the figures). The outputs are the same.
    """

    def __init__(self, run: Callable[[Batch], NDArray[np.float32]], threads: int) -> None:
        self._run = run
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="model")

    def __call__(self, batch: Batch) -> NDArray[np.float32]:
        """What the model gives for one batch, on the calling thread; its first axis is the batch's."""
        return self._run(batch)

    def each(self, batches: Iterable[Batch]) -> Iterator[NDArray[np.float32]]:
        """What it gives for each batch, in order."""
        return self._pool.map(self._run, batches)


class TextEncoder:
    """A shipped encoder of single texts."""

    def __init__(self, folder: Path, engine: Engine = "auto", threads: int = 0) -> None:
        self.card = read_card(folder)
        self.name = make_model_name(self.card)
        self._tokenizer = read_tokenizer(folder)
        self._max = int(self.card["max_tokens"])
        self._graph = open_graph(folder / "model.onnx", engine, threads)

    def vectors(self, text: str) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The text's token ids [tokens], cut at `max_tokens`, and their vectors [tokens, width] of length 1.

        It is run alone, so that the vectors depend on nothing but the text.
        """
        [pair] = self._tokenize([text])
        return pair.ids, self._graph(collate([pair]))[0]

    def means(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """[texts, width]: the mean of each text's token vectors, many texts at once; rounding apart, as if each were run alone.

        Texts of like length share a batch, so that little is padding, and every core runs a batch of its own.
        """
        pairs = self._tokenize(texts)
        batches = batch_by_length([len(pair.ids) for pair in pairs], _BATCH_TOKENS)
        inputs = [collate([pairs[row] for row in batch]) for batch in batches]
        rows: dict[int, NDArray[np.float32]] = {}
        for batch, (_, mask, _), vectors in zip(batches, inputs, self._graph.each(inputs), strict=True):
            sums = np.einsum("btw,bt->bw", vectors, mask.astype(np.float32))
            rows.update(zip(batch, sums / mask.sum(axis=1, keepdims=True), strict=True))
        return np.stack([rows[row] for row in range(len(texts))]).astype(np.float32)

    def _tokenize(self, texts: Sequence[str]) -> list[EncodedPair]:
        encodings = self._tokenizer.encode_batch([text[: self._max * _CHARACTERS_A_TOKEN] for text in texts])
        rows = [np.array(encoding.ids, dtype=np.int64) for encoding in encodings]
        rows = [np.append(ids[: self._max - 1], ids[-1]) if len(ids) > self._max else ids for ids in rows]
        return [EncodedPair(ids, np.zeros_like(ids)) for ids in rows]


BY_HAND = "chosen by hand"
"""What a card says of numbers that are fitted to no weights."""
_NUMBERS = ("calibration", "paper", "full_text", "certainty", "answers")
"""The parts of a card that hold numbers; `fitted_to` says for each to the weights of which sha256 it was fitted, or `BY_HAND`."""


def make_model_name(card: Mapping[str, Any]) -> str:
    """A model's name plus a hash of what determines its scores: the weights and, for a judge, its calibration and decision, and
    whether it reads claims in each paper's words.

    A refitted judge is a different one: results cached under the old name are not reused.
    """
    if "paper" not in card:
        return f"{card['name']}-{card['sha256'][:8]}"
    named = ["synonyms"] if card.get("synonyms") else []
    identity = json.dumps([card["sha256"], card["calibration"], card["paper"], *named], sort_keys=True)
    return f"{card['name']}-{hashlib.sha256(identity.encode()).hexdigest()[:8]}"


def read_tokenizer(folder: Path) -> Tokenizer:
    """`tokenizer.json` of a model folder, neither cutting nor padding. Raises `ModelUnusable` if it is missing or damaged."""
    path = folder / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises bare Exception
        raise ModelUnusable(f"{path} cannot be read ({error}); reinstall the package.") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def read_card(folder: Path) -> dict[str, Any]:
    """`model.json` of a model folder, with the weights checked against its sha256.

    Raises `ModelUnusable` if a file is missing or damaged, the hash differs, or numbers were fitted to other weights.
    """
    try:
        card: dict[str, Any] = json.loads((folder / "model.json").read_text("utf-8"))
        weights = (folder / "model.onnx").read_bytes()
        missing_keys = [key for key in ("name", "labels", "max_tokens", "calibration", "sha256") if key not in card]
    except (OSError, ValueError) as error:
        raise ModelUnusable(
            f"{folder} does not contain a usable model ({error}); expected model.onnx, tokenizer.json and model.json, "
            "reinstall the package or name another folder."
        ) from error
    if missing_keys:
        raise ModelUnusable(f"{folder / 'model.json'} lacks {', '.join(missing_keys)}; reinstall the package.")
    if hashlib.sha256(weights).hexdigest() != card["sha256"]:
        raise ModelUnusable(f"{folder / 'model.onnx'} does not have the sha256 of model.json; reinstall the package.")
    check_numbers(card, folder)
    return card


def check_numbers(card: Mapping[str, Any], folder: Path) -> None:
    """Raise `ModelUnusable` where numbers of a card were fitted to other weights than its own, or do not say to which."""
    for part in [part for part in _NUMBERS if part in card]:
        fitted_to = card.get("fitted_to", {}).get(part, "unknown weights")
        if fitted_to not in (card["sha256"], BY_HAND):
            raise ModelUnusable(
                f"{folder / 'model.json'} has numbers ({part}) that were fitted to {fitted_to[:15]}; expected its own weights, "
                f"{card['sha256'][:15]}: fit a reader anew (`python -m counterpoint.nli.training.reader.fit`), or "
                "reinstall the package."
            )


def open_graph(weights: Path, engine: Engine, threads: int = 0) -> Graph:
    """The graph on the requested engine; "auto" takes the one that is faster on this processor, or the other if that fails.

    It runs `threads` batches in parallel, one per core if that is 0.
    Raises `ModelUnusable` if no engine can load it.
    """
    threads = threads or os.cpu_count() or 1
    _limit_numpy_threads()
    openers = {"openvino": _load_openvino, "onnxruntime": _load_onnxruntime}
    names = [engine] if engine != "auto" else sorted(openers, reverse=_computes_bfloat16())
    reasons = []
    for name in names:
        try:
            return Graph(openers[name](weights, threads), threads)
        except Exception as error:  # engines raise their own, undocumented types
            reasons.append(f"{name}: {error}")
    raise ModelUnusable(f"{weights} cannot be run ({'; '.join(reasons)}); reinstall the package.")


@cache
def _limit_numpy_threads() -> None:
    """Let numpy multiply on one thread: OpenBLAS's others busy-wait on the cores that run models at the same time.

    On two cores, reranking reads 20 abstracts a second with this limit and 14 without. No large product here is left to numpy.
    """
    ThreadpoolController().select(internal_api="openblas").limit(limits=1)


@cache
def _computes_bfloat16() -> bool:
    """Whether the processor has instructions for bfloat16 (AVX-512, AMX), which OpenVINO uses and ONNX Runtime does not.

    With them OpenVINO judges three times as many pairs a second as ONNX Runtime, without them a fifth fewer
    (docs/research/training.md).
    """
    try:
        import openvino

        return "BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    except Exception:  # no OpenVINO for this machine: there is nothing to prefer
        return False


_FIRST_RUN = threading.Lock()


def _load_openvino(weights: Path, threads: int) -> Callable[[Batch], NDArray[np.float32]]:
    """Load with one stream, and so one thread, per concurrent batch; each calling thread has its own infer request."""
    import openvino

    settings = {"PERFORMANCE_HINT": "THROUGHPUT", "NUM_STREAMS": threads, "INFERENCE_NUM_THREADS": threads}
    model = openvino.Core().compile_model(str(weights), "CPU", settings)
    own = threading.local()

    def run(batch: Batch) -> NDArray[np.float32]:
        request = getattr(own, "request", None)
        if request is None:
            request = own.request = model.create_infer_request()
        request.infer(dict(zip(("input_ids", "attention_mask", "token_type_ids"), batch, strict=True)))
        # A copy: the tensor is the request's own and the next batch overwrites it.
        return np.array(request.get_output_tensor(0).data, dtype=np.float32)

    # OpenVINO sets up its access to numpy on first use, and two threads that do this at once wait for each other for ever.
    with _FIRST_RUN:
        run((np.ones((1, 2), dtype=np.int64),) * 3)
    return run


def _load_onnxruntime(weights: Path, threads: int) -> Callable[[Batch], NDArray[np.float32]]:
    """Load one session, which starts no threads of its own: its `run` may be called from several."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])

    def run(batch: Batch) -> NDArray[np.float32]:
        feeds = dict(zip(("input_ids", "attention_mask", "token_type_ids"), batch, strict=True))
        output: NDArray[np.float32] = session.run(None, feeds)[0]
        return output

    return run

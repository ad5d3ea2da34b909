"""Reranking with a Hugging Face cross-encoder: query and text are read together and give one number.

Made for ncbi/MedCPT-Cross-Encoder (Jin et al. 2023, https://doi.org/10.1093/bioinformatics/btad651), which reads
[query, "Title. Abstract"] within 512 tokens. It also works with every model with one logit, such as
cross-encoder/ms-marco-MiniLM-L-6-v2. docs/models.md says how to fetch them.
"""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.core.errors import ModelUnusable
from retrieval.runtime.torch_runtime import Precision, Runtime, refuse_below


class HuggingFaceReranker:
    """A `Reranker`: the raw logit of each (query, text) pair. The text is truncated to fit, never the query.

    `model` is a hub name or a local folder; `max_tokens` counts query, text and special tokens; `batch_size` is in
    pairs.
    Raises `ModelUnusable` for a model with more than one output.
    """

    name: str

    def __init__(
        self,
        model: str,
        max_tokens: int = 512,
        batch_size: int = 16,
        device: str = "auto",
        revision: str | None = None,
        precision: Precision = "float32",
    ) -> None:
        refuse_below(1, batch_size=batch_size)
        refuse_below(8, max_tokens=max_tokens)
        self._runtime = Runtime(model, "SequenceClassification", device, precision, revision)
        self.name = self._runtime.name
        self._max_tokens, self._batch_size = max_tokens, batch_size
        outputs = self._runtime.config.num_labels
        if outputs != 1:
            raise ModelUnusable(
                f"The reranker {model} gives {outputs} scores for a pair; expected one: choose a cross-encoder "
                "with a single output, such as ncbi/MedCPT-Cross-Encoder (a classifier belongs under judge)."
            )

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """One logit per text, in order; unbounded, higher is more relevant."""
        rows = self._runtime.pairs(query, texts, self._max_tokens, kept_first=True)
        return [score for (score,) in self._runtime.logits(rows, self._batch_size)]

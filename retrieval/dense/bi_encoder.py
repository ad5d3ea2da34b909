"""Dense retrieval with Hugging Face encoders: query and document are encoded separately and ranked by inner product.

docs/models.md says how to fetch them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from retrieval.core.errors import BadConfig, ModelUnusable
from retrieval.core.values import Document
from retrieval.dense.encoder import Vectors, normalise
from retrieval.rerank.reranker import make_passage
from retrieval.runtime.torch_runtime import Pooling, Precision, Runtime, refuse_below

_QUERY_TOKENS, _ARTICLE_TOKENS = 64, 512
"""What MedCPT was trained to read (Jin et al. 2023, https://doi.org/10.1093/bioinformatics/btad651)."""


class BiEncoder:
    """An `Encoder` with one network for both sides and vectors of length 1; made for Snowflake/snowflake-arctic-embed-m-v2.0.

    `query_prefix` precedes every query, as in the model's training; `pooling` turns the vectors of a text's tokens into one: the
    first token's (`cls`) or their `mean`. `max_tokens` includes special tokens.
    Raises `BadConfig` for options out of range.
    """

    name: str

    def __init__(
        self,
        model: str,
        query_prefix: str = "",
        pooling: Pooling = "cls",
        max_tokens: int = 512,
        batch_size: int = 16,
        device: str = "auto",
        revision: str | None = None,
        precision: Precision = "float32",
        trust_remote_code: bool = False,
    ) -> None:
        refuse_below(1, batch_size=batch_size)
        refuse_below(8, max_tokens=max_tokens)
        if pooling not in get_args(Pooling):
            raise BadConfig(f"Unknown pooling {pooling!r}; expected one of {', '.join(get_args(Pooling))}.")
        self._runtime = _load_encoder(model, device, precision, revision, trust_remote_code)
        self._prefix, self._pooling, self._max_tokens, self._batch_size = query_prefix, pooling, max_tokens, batch_size
        self.name = f"{self._runtime.name}/{pooling}{max_tokens}"

    def queries(self, texts: Sequence[str]) -> Vectors:
        """[texts, width]: one vector of length 1 per query."""
        return self._vectors([self._prefix + text for text in texts])

    def documents(self, documents: Sequence[Document]) -> Vectors:
        """[documents, width]: one vector of length 1 per document, of "Title. Abstract"."""
        return self._vectors([make_passage(document) for document in documents])

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        rows = self._runtime.tokenize_singles(texts, self._max_tokens)
        return normalise(self._runtime.vectors(rows, self._batch_size, self._pooling))


class MedCPTEncoder:
    """MedCPT's pair of networks, one for queries and one for articles: the first token's vector, its length left as it is."""

    name: str

    def __init__(
        self,
        query_model: str = "ncbi/MedCPT-Query-Encoder",
        article_model: str = "ncbi/MedCPT-Article-Encoder",
        batch_size: int = 16,
        device: str = "auto",
        precision: Precision = "float32",
    ) -> None:
        refuse_below(1, batch_size=batch_size)
        self._query, self._article = (_load_encoder(model, device, precision) for model in (query_model, article_model))
        self._batch_size = batch_size
        self.name = f"{self._query.name}+{self._article.name}"

    def queries(self, texts: Sequence[str]) -> Vectors:
        """[texts, width]: one vector per query."""
        return self._query.vectors(self._query.tokenize_singles(texts, _QUERY_TOKENS), self._batch_size, "cls")

    def documents(self, documents: Sequence[Document]) -> Vectors:
        """[documents, width]: one vector per document, read as the pair of title and abstract."""
        rows = [
            row
            for document in documents
            for row in self._article.pairs(document.title, [document.abstract], _ARTICLE_TOKENS, kept_first=True)
        ]
        return self._article.vectors(rows, self._batch_size, "cls")


def _load_encoder(model: str, device: str, precision: Precision, revision: str | None = None, code: bool = False) -> Runtime:
    runtime = Runtime(model, "Encoder", device, precision, revision, trust_remote_code=code)
    if getattr(runtime.config, "is_encoder_decoder", False):
        raise ModelUnusable(
            f"The model {model} is an encoder-decoder, and dense retrieval needs an encoder only; choose one such as "
            "Snowflake/snowflake-arctic-embed-m-v2.0."
        )
    return runtime

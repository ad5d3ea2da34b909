"""The kinds of models that a profile may name: one class per kind, with its options and their defaults.

The options are those of the class that `loader` names; a test compares the two. That class is imported when the model is built,
so that reading a profile loads no model's library. It is named as text rather than imported by a statement, so that a kind that
a profile does not use is not part of the code that its results depend on (retrieval.core.code_hash).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, cast, get_args

from pydantic import Field, ModelWrapValidatorHandler, PrivateAttr, model_serializer, model_validator

from generation.draft import Generator
from nli.judges.judge import Judge
from retrieval.dense.encoder import Encoder
from retrieval.rerank.reranker import Reranker
from service.configuration.files import KIND, Strict

Engine = Literal["auto", "openvino", "onnxruntime"]
Precision = Literal["auto", "float32", "bfloat16"]
Folder = Annotated[Path, Field(strict=False)]
"""A path, written as text in YAML; None means the model that the package ships."""
_CONNECTION = ("model", "base_url", "key_env", "timeout", "retries", "per_minute", "budget", "price")
"""The options of a chat model that belong to its connection (retrieval.runtime.chat.Chat)."""


class Options(Strict):
    """The options of one kind of model. An option that is not given is left to the model, whose defaults are those named here."""

    loader: ClassVar[str]
    """The module and the class of the model, as "module:class"."""
    kind: str
    _source: dict[str, Any] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _keep_what_is_written(cls, data: Any, handler: ModelWrapValidatorHandler[Options]) -> Options:
        options = handler(data)
        if isinstance(data, Mapping):
            options._source = dict(data)
        return options

    @model_serializer
    def _as_written(self) -> dict[str, Any]:
        """The options as written in the file: runs and reports record what was chosen."""
        return self._source

    def list_options(self) -> dict[str, Any]:
        """The checked options that were given, by name, without the kind."""
        return {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set - {KIND}}

    @classmethod
    def model_class(cls) -> Any:
        """Import and return the class behind this kind."""
        module, name = cls.loader.split(":")
        return getattr(import_module(module), name)


class _RerankerKind(Options):
    def build(self) -> Reranker:
        """Load the reranker."""
        return cast(Reranker, self.model_class()(**self.list_options()))


class _JudgeKind(Options):
    alone: ClassVar[bool] = True
    """Whether the verdict on a pair is independent of the other pairs asked about; only such verdicts may be kept on disk."""

    def build(self) -> Judge:
        """Load the judge."""
        return cast(Judge, self.model_class()(**self.list_options()))


class _EncoderKind(Options):
    def build(self) -> Encoder:
        """Load the encoder."""
        return cast(Encoder, self.model_class()(**self.list_options()))


class _GeneratorKind(Options):
    def build(self, reranker: Reranker | None = None) -> Generator:
        """Load the generator; `reranker` is the one that its options name."""
        arguments = self.list_options() | ({"reranker": reranker} if reranker else {})
        return cast(Generator, self.model_class()(**arguments))


class _ShippedKind(Options):
    folder: Folder | None = None
    engine: Engine = "auto"
    threads: int = 0


class EmbeddedRerankerOptions(_RerankerKind, _ShippedKind):
    """The shipped relevance model, or another of the same design in `folder`."""

    loader = "retrieval.rerank.embedded:EmbeddedReranker"
    kind: Literal["embedded"]
    remembered_mb: float = 16


class CrossEncoderOptions(_RerankerKind):
    """A cross-encoder from the Hugging Face hub, or from a local folder."""

    loader = "retrieval.rerank.cross_encoder:HuggingFaceReranker"
    kind: Literal["cross-encoder"]
    model: str
    max_tokens: int = 512
    batch_size: int = 16
    device: str = "auto"
    revision: str | None = None
    precision: Precision = "float32"


class EmbeddedJudgeOptions(_JudgeKind, _ShippedKind):
    """The shipped stance model for sentences, or another of the same design in `folder`."""

    loader = "nli.judges.embedded:EmbeddedJudge"
    kind: Literal["embedded"]


class DocumentReaderOptions(_JudgeKind, _ShippedKind):
    """The shipped reader of whole abstracts, or another of the same design in `folder`."""

    loader = "nli.reader.judge:DocumentReader"
    kind: Literal["reader"]


class ClassifierOptions(_JudgeKind):
    """A three-way classifier from the Hugging Face hub, or from a local folder."""

    loader = "nli.judges.classifier:ClassifierJudge"
    kind: Literal["classifier"]
    model: str
    max_tokens: int = 512
    context: Literal["sentence", "title"] = "sentence"
    batch_size: int = 16
    window: int = 32
    device: str = "auto"
    revision: str | None = None
    precision: Precision = "float32"
    labels: Mapping[str, str] | None = None


class T5Options(_JudgeKind):
    """A T5 that was tuned on MedNLI, from the Hugging Face hub or a local folder."""

    loader = "nli.judges.t5:T5Judge"
    kind: Literal["t5"]
    model: str
    prefix: str = "mednli: sentence1: {premise} sentence2: {hypothesis}"
    max_tokens: int = 256
    decode_tokens: int = 8
    batch_size: int = 16
    window: int = 32
    device: str = "auto"
    revision: str | None = None
    precision: Precision = "float32"


class ChatJudgeOptions(_JudgeKind):
    """A chat model that judges what the shipped stance model leaves undecided."""

    loader = "nli.judges.chat:ChatJudge"
    alone = False
    kind: Literal["chat"]
    model: str
    base_url: str | None = None
    key_env: str = "OPENAI_API_KEY"
    timeout: float = 60.0
    retries: int = 3
    per_minute: int | None = None
    budget: int | None = None
    worth: float = 0.05
    sure: float = 0.9
    most: int = 30
    at_once: int = 4


class EmbeddedEncoderOptions(_EncoderKind, _ShippedKind):
    """The vectors of the shipped relevance model, or of another of the same design in `folder`."""

    loader = "retrieval.dense.embedded_encoder:EmbeddedEncoder"
    kind: Literal["embedded"]


class MedCPTOptions(_EncoderKind):
    """MedCPT's two networks, from the Hugging Face hub or local folders."""

    loader = "retrieval.dense.bi_encoder:MedCPTEncoder"
    kind: Literal["medcpt"]
    query_model: str = "ncbi/MedCPT-Query-Encoder"
    article_model: str = "ncbi/MedCPT-Article-Encoder"
    batch_size: int = 16
    device: str = "auto"
    precision: Precision = "float32"


class BiEncoderOptions(_EncoderKind):
    """One network for queries and documents, from the Hugging Face hub or a local folder."""

    loader = "retrieval.dense.bi_encoder:BiEncoder"
    kind: Literal["bi-encoder"]
    model: str
    query_prefix: str = ""
    pooling: Literal["cls", "mean"] = "cls"
    max_tokens: int = 512
    batch_size: int = 16
    device: str = "auto"
    revision: str | None = None
    precision: Precision = "float32"
    trust_remote_code: bool = False


class ExtractiveOptions(_GeneratorKind):
    """A generator that only quotes; `reranker` names one of the profile's."""

    loader = "generation.generators.extractive:ExtractiveGenerator"
    kind: Literal["extractive"]
    reranker: str | None = None
    sentences: int = 7
    words: int = 170
    each: int = 2
    subject: float = 0.5
    novelty: float = 0.6
    same: float = 0.5


class ChatGeneratorOptions(_GeneratorKind):
    """A chat model behind a server."""

    loader = "generation.generators.chat:ChatGenerator"
    kind: Literal["chat"]
    model: str
    base_url: str | None = None
    key_env: str = "OPENAI_API_KEY"
    timeout: float = 120.0
    retries: int = 3
    per_minute: int | None = None
    budget: int | None = None
    price: Sequence[float] | None = None
    max_tokens: int = 1000
    temperature: float = 0.0
    seed: int | None = None
    stop: Sequence[str] = ()
    stream: bool = True
    document_words: int | None = None

    def connection(self) -> dict[str, Any]:
        """The given options that say how the model is reached, in the form that `retrieval.runtime.chat.Chat` takes."""
        return {name: value for name, value in self.list_options().items() if name in _CONNECTION}


class CausalOptions(_GeneratorKind):
    """A causal language model from the Hugging Face hub or a local folder, run in this process."""

    loader = "generation.generators.causal:CausalGenerator"
    kind: Literal["causal"]
    model: str
    max_tokens: int = 600
    document_words: int = 400
    device: str = "auto"
    revision: str | None = None
    precision: Precision = "auto"


RerankerOptions = Annotated[EmbeddedRerankerOptions | CrossEncoderOptions, Field(discriminator=KIND)]
JudgeOptions = Annotated[
    EmbeddedJudgeOptions | DocumentReaderOptions | ClassifierOptions | T5Options | ChatJudgeOptions, Field(discriminator=KIND)
]
EncoderOptions = Annotated[EmbeddedEncoderOptions | MedCPTOptions | BiEncoderOptions, Field(discriminator=KIND)]
GeneratorOptions = Annotated[ExtractiveOptions | ChatGeneratorOptions | CausalOptions, Field(discriminator=KIND)]
KINDS: tuple[type[Options], ...] = tuple(
    kind
    for options in (RerankerOptions, JudgeOptions, EncoderOptions, GeneratorOptions)
    for kind in get_args(get_args(options)[0])
)
"""Every kind of every model."""

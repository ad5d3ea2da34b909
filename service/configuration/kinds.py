"""The kinds of models that a profile may name; the options of a kind are the arguments of its class, with types and defaults.

A class is imported when a profile names its kind. Its name is text and not an import statement, so that a kind that a profile
does not use is not part of the code that its results depend on (retrieval.core.code_hash).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_type_hints

from pydantic import (
    BeforeValidator,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    create_model,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticKnownError

from counterpoint.nli.judge import Reader
from counterpoint.retrieval.core.addresses import split_login
from counterpoint.retrieval.rerank.reranker import Reranker
from counterpoint.service.configuration.files import KIND, Strict

KINDS: Mapping[str, Mapping[str, str]] = {
    "rerankers": {
        "embedded": "counterpoint.retrieval.rerank.embedded:EmbeddedReranker",
        "cross-encoder": "counterpoint.service.baseline.hub_models:CrossEncoder",
    },
    "judges": {
        "reader": "counterpoint.nli.reader.judge:DocumentReader",
        "classifier": "counterpoint.service.baseline.hub_models:ClassifierJudge",
        "t5": "counterpoint.service.baseline.hub_models:T5Judge",
        "chat": "counterpoint.nli.reader.chat:ChatReader",
    },
    "encoders": {
        "embedded": "counterpoint.retrieval.dense.embedded_encoder:EmbeddedEncoder",
        "medcpt": "counterpoint.service.baseline.hub_models:MedCPTEncoder",
        "bi-encoder": "counterpoint.service.baseline.hub_models:BiEncoder",
    },
    "generators": {
        "extractive": "counterpoint.generation.extractive:ExtractiveGenerator",
        "chat": "counterpoint.generation.language_models:ChatGenerator",
        "causal": "counterpoint.service.baseline.hub_models:CausalGenerator",
    },
}
"""For each section of a profile, the kinds of models in it and the class of each, as "module:class"."""
MODULES = tuple(loader.split(":")[0] for kinds in KINDS.values() for loader in kinds.values())
"""The module of every kind."""
_WRITTEN: Mapping[Any, Any] = {
    Path: Annotated[Path, Field(strict=False)],
    Path | None: Annotated[Path, Field(strict=False)] | None,
    Reranker | None: str | None,  # the name of one of the profile's
}
"""What a file holds for an argument of a type that YAML has no words for."""


class Options(Strict):
    """The options of one model, checked. One that is not given is left to the model, whose default holds."""

    loader: ClassVar[str]
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
        """The options as written in the file, without the password of an address: runs and reports record what was chosen."""
        return {name: split_login(value)[0] if name == "base_url" and value else value for name, value in self._source.items()}

    def list_options(self) -> dict[str, Any]:
        """The checked options that were given, by name, without the kind."""
        return {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set - {KIND}}

    def build(self, **models: Any) -> Any:
        """Load the model; `models` are those that its options only name."""
        return _import_class(self.loader)(**self.list_options() | models)


def _import_class(loader: str) -> Any:
    module, name = loader.split(":")
    return getattr(import_module(module), name)


@cache
def options_of(section: str, kind: str) -> type[Options]:
    """Make the options of a kind from the arguments of its class; a reader is an argument that only code can give."""
    loader = KINDS[section][kind]
    model = _import_class(loader)
    types = get_type_hints(model.__init__, include_extras=True)
    options: dict[str, Any] = {KIND: (Literal[kind], ...)} | {
        name: (_WRITTEN.get(types[name], types[name]), ... if argument.default is Parameter.empty else argument.default)
        for name, argument in signature(model).parameters.items()
        if types[name] != Reader | None
    }
    made = create_model(f"{model.__name__}Options", __base__=Options, **options)
    made.loader = loader
    return made


def choose_kind(section: str) -> BeforeValidator:
    """The check of one model in a section of a profile: by the options of the kind that it names."""
    known = KINDS[section]

    def read(data: Any) -> Any:
        if isinstance(data, Options):
            return data
        if not isinstance(data, Mapping):
            raise PydanticKnownError("dict_type")
        if KIND not in data:
            raise PydanticKnownError("union_tag_not_found", {"discriminator": KIND})
        if (kind := str(data[KIND])) not in known:
            tags = {"discriminator": KIND, "tag": kind, "expected_tags": ", ".join(known)}
            raise PydanticKnownError("union_tag_invalid", tags)
        return options_of(section, kind).model_validate(data)

    return BeforeValidator(read)

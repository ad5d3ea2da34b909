"""Turning a profile's names into loaded models, each imported only when it is asked for (service.configuration.kinds)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import cast

from counterpoint.generation.draft import Generator
from counterpoint.nli import judge
from counterpoint.nli.judge import Judge
from counterpoint.nli.reader.answers import AnswerFinder
from counterpoint.retrieval.core.errors import BadConfig
from counterpoint.retrieval.core.result_cache import open_cache
from counterpoint.retrieval.dense import encoder
from counterpoint.retrieval.dense.encoder import Encoder
from counterpoint.retrieval.rerank import reranker as rerank
from counterpoint.retrieval.rerank.reranker import Reranker
from counterpoint.service.configuration.config import SENTENCES, AnswerConfig, Profile, Variant
from counterpoint.service.configuration.kinds import Options

STANCE = "stance"
"""The name of the judge that grounds claims; a profile without one for single sentences uses it for both."""
FINDER = "answers"
"""The name of the model that finds what papers answer to an open question: the small reader that ships, whatever the profile."""
FALLBACK = "extractive fallback"
"""The name of the embedded generator when it stands in for another."""


@dataclass
class Models:
    """The loaded models that a configuration needs, by the names it uses; nothing else is loaded."""

    profile: Profile
    rerankers: dict[str, Reranker]
    judges: dict[str, Judge]
    encoders: dict[str, Encoder] = field(default_factory=dict)
    generators: dict[str, Generator] = field(default_factory=dict)
    finder: AnswerFinder | None = None

    def with_caches(self) -> Models:
        """The same models with caches: both sides of a claim often read the same documents."""
        return replace(
            self,
            rerankers={name: rerank.CachingReranker(reranker) for name, reranker in self.rerankers.items()},
            judges={name: judge.cache_verdicts(one) for name, one in self.judges.items()},
            encoders={name: encoder.CachingEncoder(one) for name, one in self.encoders.items()},
        )

    def names(self) -> dict[str, str]:
        """Which model, with which weights, each name stands for."""
        models: dict[str, Reranker | Judge | Encoder | Generator | AnswerFinder] = {
            **self.rerankers, **self.judges, **self.encoders, **self.generators, **({FINDER: self.finder} if self.finder else {}),
        }  # fmt: skip
        return {role: models[role].name for role in sorted(models)}


def load_models(config: Variant, profile: Profile, stock: Models | None = None) -> Models:
    """Load what `config` names, as `profile` says; a model that is in `stock` under the same name is reused.

    Raises `BadConfig` for a name or option that does not exist.
    """
    return _load(profile, stock or Models(profile, {}, {}), *config.needs(profile))


def load_answer_models(config: AnswerConfig, profile: Profile, stock: Models | None = None) -> Models:
    """Load what an answer variant names; a model that is in `stock` under the same name is reused."""
    rerankers = {config.gate.model} if config.gate else set()
    stock = stock or Models(profile, {}, {})
    models = _load(profile, stock, rerankers, {config.attribute.model}, generators={config.generate.generator})
    if config.open_questions:
        models.finder = load_finder()
    if (config.generate.fallback or config.budget) and not models.generators[config.generate.generator].extractive:
        from counterpoint.generation.extractive import ExtractiveGenerator

        models.generators[FALLBACK] = ExtractiveGenerator(next(iter(models.rerankers.values()), None))
    return models


def _load(
    profile: Profile,
    stock: Models,
    rerankers: Collection[str],
    judges: Collection[str],
    encoders: Collection[str] = (),
    generators: Collection[str] = (),
) -> Models:
    """The models of these names, from the stock where it has them."""
    ranking = {name: stock.rerankers.get(name) or load_reranker(name, profile) for name in sorted(rerankers)}
    read: dict[str, Judge] = {}
    for name in sorted(judges, reverse=True):  # "stance" before "sentences", which may stand for it
        read[name] = stock.judges.get(name) or read.get(judge_name(name, profile)) or load_judge(name, profile)
    encode = {name: stock.encoders.get(name) or load_encoder(name, profile) for name in sorted(encoders)}
    write = {name: _load_generator(name, profile, {**stock.rerankers, **ranking}) for name in sorted(generators)}
    return Models(profile, ranking, read, encode, write)


def _load_generator(name: str, profile: Profile, rerankers: Mapping[str, Reranker]) -> Generator:
    """Load the generator of this name, and the profile's reranker that its option `reranker` names, if not yet loaded."""
    options = _options(name, profile.generators, "generator", profile)
    choice = options.list_options().get("reranker")
    return cast(
        Generator, options.build(**{"reranker": rerankers.get(choice) or load_reranker(choice, profile)} if choice else {})
    )


def load_reranker(name: str, profile: Profile) -> Reranker:
    """Load the reranker that `profile` has under this name; raises `BadConfig` if it has none."""
    return cast(Reranker, _options(name, profile.rerankers, "reranker", profile).build())


@cache
def load_finder() -> AnswerFinder:
    """The small reader that ships, loaded once."""
    from counterpoint.nli.reader.judge import DocumentReader

    return DocumentReader(size="small")


def judge_name(name: str, profile: Profile) -> str:
    """The name under which `profile` has the judge that a configuration asks for."""
    return STANCE if name == SENTENCES and SENTENCES not in profile.judges else name


def load_judge(name: str, profile: Profile) -> Judge:
    """Load the judge that `profile` has under this name; raises `BadConfig` if it has none.

    Verdicts are kept on disk; a chat model keeps its own replies.
    """
    options = _options(judge_name(name, profile), profile.judges, "judge", profile)
    model = cast(Judge, options.build())
    verdicts = open_cache("verdicts") if options.kind != "chat" else None
    return judge.cache_verdicts_on_disk(model, verdicts) if verdicts else model


def load_encoder(name: str, profile: Profile) -> Encoder:
    """Load the encoder that `profile` has under this name; raises `BadConfig` if it has none."""
    return cast(Encoder, _options(name, profile.encoders, "encoder", profile).build())


def _options(name: str, options: Mapping[str, Options], what: str, profile: Profile) -> Options:
    if name not in options:
        names = ", ".join(sorted(options)) or "none"
        raise BadConfig(f"The profile {profile.name} has no {what} called {name!r}; it has {names}.")
    return options[name]

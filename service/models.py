"""Turning a profile's names into loaded models: a table of kinds, each imported only when it is asked for."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, cast

from nli import judge
from nli.judge import Judge
from retrieval import encoder, rerank
from retrieval.encoder import Encoder
from retrieval.errors import BadConfig
from retrieval.rerank import Reranker
from service.config import Branch, GroundingConfig, Profile

RERANKER_KINDS = {
    "embedded": "retrieval.embedded:EmbeddedReranker",
    "cross-encoder": "retrieval.cross_encoder:HuggingFaceReranker",
}
JUDGE_KINDS = {
    "embedded": "nli.embedded:EmbeddedJudge",
    "classifier": "nli.classifier:ClassifierJudge",
    "t5": "nli.t5:T5Judge",
    "chat": "nli.chat:ChatJudge",
}
ENCODER_KINDS = {
    "embedded": "retrieval.embedded_encoder:EmbeddedEncoder",
    "medcpt": "retrieval.bi_encoder:MedCPTEncoder",
    "bi-encoder": "retrieval.bi_encoder:BiEncoder",
}


class Models:
    """The loaded models that a configuration needs, by the names it uses; nothing else is loaded."""

    def __init__(
        self,
        profile: Profile,
        rerankers: Mapping[str, Reranker],
        judges: Mapping[str, Judge],
        encoders: Mapping[str, Encoder] = MappingProxyType({}),
    ) -> None:
        self.profile = profile
        self.rerankers = dict(rerankers)
        self.judges = dict(judges)
        self.encoders = dict(encoders)

    def remembering(self) -> Models:
        """The same models, each asked once for the same thing: both sides of a claim often read the same documents."""
        return Models(
            self.profile,
            {name: rerank.Remembering(reranker) for name, reranker in self.rerankers.items()},
            {name: judge.Remembering(one) for name, one in self.judges.items()},
            {name: encoder.Remembering(one) for name, one in self.encoders.items()},
        )

    def names(self) -> dict[str, str]:
        """Which model, with which weights, stands behind each name."""
        named: dict[str, Reranker | Judge | Encoder] = {**self.rerankers, **self.judges, **self.encoders}
        return {role: named[role].name for role in sorted(named)}


def load_models(config: GroundingConfig, profile: Profile) -> Models:
    """Load what `config` names, as `profile` says; raises `BadConfig` for a name or option that does not exist."""
    branches = (config.contradict, config.support)
    rerankers = {b.rerank.model for b in branches if b.rerank}
    judges = {name for b in branches for name in _judges_of(b)}
    encoders = {b.retrieve.encoder for b in branches if "dense" in b.retrieve.sources}
    return Models(
        profile,
        {name: cast(Reranker, _load(name, profile.rerankers, RERANKER_KINDS, "reranker", profile)) for name in sorted(rerankers)},
        {name: cast(Judge, _load(name, profile.judges, JUDGE_KINDS, "judge", profile)) for name in sorted(judges)},
        {name: load_encoder(name, profile) for name in sorted(encoders)},
    )


def load_encoder(name: str, profile: Profile) -> Encoder:
    """Load the encoder that `profile` has under this name."""
    return cast(Encoder, _load(name, profile.encoders, ENCODER_KINDS, "encoder", profile))


def _judges_of(branch: Branch) -> set[str]:
    names = {branch.judge.model} if branch.judge else set()
    if branch.evidence and branch.evidence.by != "overlap":
        names.add(branch.evidence.by)
    return names


def _load(name: str, listed: Mapping[str, dict[str, Any]], kinds: Mapping[str, str], what: str, profile: Profile) -> Any:
    if name not in listed:
        known = ", ".join(sorted(listed)) or "none"
        raise BadConfig(f"The profile {profile.name} has no {what} called {name!r}; it has {known}.")
    options = dict(listed[name])
    kind = options.pop("kind", None)
    if kind not in kinds:
        raise BadConfig(f"The {what} {name!r} of profile {profile.name} has kind {kind!r}; known kinds are {', '.join(kinds)}.")
    module, attribute = kinds[kind].split(":")
    loader = getattr(import_module(module), attribute)
    accepted = inspect.signature(loader).parameters
    for option in options:
        if option not in accepted:
            raise BadConfig(
                f"The {what} {name!r} of profile {profile.name} has the unknown option {option!r}; "
                f"a {kind} {what} knows {', '.join(accepted)}."
            )
    missing = [n for n, parameter in accepted.items() if parameter.default is parameter.empty and n not in options]
    if missing:
        raise BadConfig(f"The {what} {name!r} of profile {profile.name} lacks {', '.join(missing)}; a {kind} {what} needs it.")
    return loader(**options)

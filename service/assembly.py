"""Putting a service together from an index, a configuration and a profile."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from counterpoint.retrieval.index import Index
from counterpoint.service.baseline.config import BaselineConfig
from counterpoint.service.baseline.grounder import BaselineGrounder
from counterpoint.service.configuration import defaults
from counterpoint.service.configuration.config import GroundingConfig, Variant, load_profile
from counterpoint.service.configuration.files import load_yaml, read_yaml
from counterpoint.service.configuration.models import Models, load_answer_models, load_models
from counterpoint.service.grounding.ground import Grounder

if TYPE_CHECKING:
    from counterpoint.service.answering.answer import Answerer
    from counterpoint.service.evidence.finder import EvidenceFinder


class Opened:
    """An index with what works on it (`service.calls.calls.Serving`); each part is opened or loaded when it is first needed."""

    def __init__(
        self,
        place: Path,
        config: str = defaults.CONFIG,
        answers: str = defaults.ANSWERS,
        profile: str = defaults.PROFILE,
        under_answers: str | None = None,
    ) -> None:
        """`under_answers` is a grounding variant to use in place of the one that the answer variant names."""
        self._place, self._config, self._answers, self._profile = place, config, answers, profile
        self._under_answers = under_answers

    @cached_property
    def index(self) -> Index:
        """The index."""
        return Index(self._place)

    @cached_property
    def grounder(self) -> Grounder:
        """What grounds claims."""
        variant, models_profile = load_config(self._config), load_profile(self._profile)
        return make_grounder(self.index, variant, load_models(variant, models_profile))

    def answering(self) -> Answerer:
        """What answers questions; it shares the models of the grounder, if that is loaded."""
        return self._answerer

    def finding(self) -> EvidenceFinder:
        """What finds evidence in a paper; it shares them too."""
        return self._finder

    @cached_property
    def _answerer(self) -> Answerer:
        if "grounder" in vars(self):
            return assemble_answerer_beside(self.grounder, self._answers)
        # The names of variants are looked up before the index is opened.
        place = vars(self).get("index", self._place)
        return assemble_answerer(place, self._answers, self._profile, self._under_answers)

    @cached_property
    def _finder(self) -> EvidenceFinder:
        from counterpoint.service.evidence.finder import EvidenceFinder, make_finder_beside

        if "grounder" in vars(self):
            return make_finder_beside(self.grounder.models)
        return EvidenceFinder(load_profile(self._profile))


def load_config(name: str) -> GroundingConfig | BaselineConfig:
    """Load a shipped grounding variant by name, or any by the path of its YAML file: the product's path, or branches.

    Raises `BadConfig`.
    """
    data = read_yaml(name, "counterpoint.configs", "configuration")
    branches = isinstance(data, dict) and not data.keys().isdisjoint(("contradict", "support"))
    model: type[GroundingConfig] | type[BaselineConfig] = BaselineConfig if branches else GroundingConfig
    return load_yaml(model, name, "counterpoint.configs", "configuration")


def make_grounder(index: Index, config: Variant, models: Models) -> Grounder:
    """What grounds claims on an index as a variant says, with its models."""
    if isinstance(config, BaselineConfig):
        return BaselineGrounder(index, config, models)
    assert isinstance(config, GroundingConfig)
    return Grounder(index, config, models)


def assemble(index: Path | Index, config: str, profile: str, *, records_only: bool = False, full_texts: bool = True) -> Grounder:
    """Open the index, if it is not, and load the models that the configuration names; anything missing raises one clear error.

    With `records_only` no document is found that a full text made of itself; without `full_texts` none is used.
    """
    variant, models_profile = load_config(config), load_profile(profile)
    return make_grounder(_open(index, records_only, full_texts), variant, load_models(variant, models_profile))


def _open(place: Path | Index, records_only: bool, full_texts: bool) -> Index:
    index = place if isinstance(place, Index) else Index(place)
    if records_only and index.has_texts:
        index.leave_out_own_records()
    if not full_texts:
        index.leave_out_texts()
    return index


def assemble_answerer(
    index: Path | Index,
    answers: str,
    profile: str,
    grounding: str | None = None,
    *,
    records_only: bool = False,
    full_texts: bool = True,
) -> Answerer:
    """Do the same for an answer variant: load its own models, and a grounder for leads and conflicts if it looks for any.

    `grounding` is a grounding variant to use in place of the one that the answer variant names.
    """
    from counterpoint.service.answering.answer import Answerer
    from counterpoint.service.configuration.config import load_answer_config

    answer_config, models_profile = load_answer_config(answers, grounding), load_profile(profile)
    variant = load_config(answer_config.grounding) if answer_config.grounding else None
    corpus = _open(index, records_only, full_texts)
    grounder = make_grounder(corpus, variant, load_models(variant, models_profile)) if variant else None
    models = load_answer_models(answer_config, models_profile, grounder.models if grounder else None)
    return Answerer(corpus, answer_config, models, grounder)


def assemble_answerer_beside(grounder: Grounder, config: str) -> Answerer:
    """Make an answerer that shares the index and the models of an already loaded grounder, under the same profile."""
    from counterpoint.service.answering.answer import Answerer
    from counterpoint.service.configuration.config import load_answer_config

    answer_config, answer_grounder = load_answer_config(config), grounder
    if answer_config.grounding is None or load_config(answer_config.grounding) == grounder.asked_config:
        models = load_answer_models(answer_config, grounder.models.profile, grounder.models)
    else:
        variant = load_config(answer_config.grounding)
        answer_grounder = make_grounder(grounder.index, variant, load_models(variant, grounder.models.profile))
        models = load_answer_models(answer_config, grounder.models.profile, answer_grounder.models)
    return Answerer(grounder.index, answer_config, models, answer_grounder if answer_config.grounding else None)

"""Putting a service together from an index, a configuration and a profile."""

from __future__ import annotations

from pathlib import Path

from retrieval.index import Index
from service.config import load_config, load_profile
from service.ground import Grounder
from service.models import load_models


def assemble(index: Path, config: str, profile: str) -> Grounder:
    """Open the index and load the models that the configuration names; anything missing is one clear error."""
    grounding_config, models_profile = load_config(config), load_profile(profile)
    opened = Index(index)
    models = load_models(grounding_config, models_profile)
    for encoder in models.encoders.values():
        opened.dense(encoder.name)
    return Grounder(opened, grounding_config, models)

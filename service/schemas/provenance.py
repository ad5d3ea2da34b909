"""The configuration, models and index that a response comes from."""

from __future__ import annotations

from typing import Annotated, Any, Protocol

from pydantic import BaseModel, BeforeValidator

from retrieval.index import Index
from service.configuration.models import Models


class NamedConfiguration(Protocol):
    """A configuration of any kind."""

    @property
    def name(self) -> str:
        """Its name."""

    def model_dump(self) -> dict[str, Any]:
        """All its values, as JSON-compatible data."""


class Service(Protocol):
    """A grounder or an answerer: an index, a configuration and models."""

    index: Index
    models: Models

    @property
    def config(self) -> NamedConfiguration:
        """The configuration of what it does."""


_MOST_MODELS = 100


def _check_few(models: object) -> object:
    """Refuse too many at once, since a body may hold tens of thousands of wrong ones and each would be described."""
    if isinstance(models, dict) and len(models) > _MOST_MODELS:
        raise ValueError(f"has {len(models):,} models but may have at most {_MOST_MODELS}")
    return models


class Provenance(BaseModel):
    """The configuration, models and index behind the response."""

    config: str
    profile: str
    models: Annotated[dict[str, str], BeforeValidator(_check_few)]
    index: str
    documents: int

    @classmethod
    def of(cls, service: Service) -> Provenance:
        """The provenance of a loaded service's results."""
        index = service.index
        return cls(
            config=service.config.name,
            profile=service.models.profile.name,
            models=service.models.names(),
            index=index.manifest.id,
            documents=index.manifest.counts.documents,
        )

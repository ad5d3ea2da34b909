"""The configuration, models and index that a response comes from."""

from __future__ import annotations

from typing import Any, Protocol

from pydantic import BaseModel

from retrieval.index import Index
from service.configuration.models import Models


class Named(Protocol):
    """A configuration, whatever it configures."""

    @property
    def name(self) -> str:
        """What it is called."""

    def model_dump(self) -> dict[str, Any]:
        """All that it says, as anything that JSON can hold."""


class Service(Protocol):
    """What grounds or answers: an index, a configuration and models."""

    index: Index
    models: Models

    @property
    def config(self) -> Named:
        """What it does, and how."""


class Provenance(BaseModel):
    """The configuration, models and index behind the response."""

    config: str
    profile: str
    models: dict[str, str]
    index: str
    documents: int

    @classmethod
    def of(cls, service: Service) -> Provenance:
        """Of a loaded service."""
        index = service.index
        return cls(
            config=service.config.name,
            profile=service.models.profile.name,
            models=service.models.names(),
            index=index.manifest.id,
            documents=index.manifest.counts.documents,
        )

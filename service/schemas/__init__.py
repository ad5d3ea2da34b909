"""What the JSON bodies of several calls share: values as they are shown, papers, and where a result comes from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Protocol, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Document, FollowUpKind, Location, SectionKind, Sentence, Usage

if TYPE_CHECKING:
    from counterpoint.retrieval.index import Index
    from counterpoint.service.configuration.models import Models

Rounded = Annotated[float, AfterValidator(lambda value: round(value, 6))]
"""A score or a probability as it is shown."""
Figure = Annotated[float, AfterValidator(lambda value: round(value, 4))]
"""A count, a sum of weights or a certainty as it is shown."""

MOST_NAME = 255
"""The most characters of a file's name, as in most file systems."""


class Sent(BaseModel):
    """The body of a request. An optional field that is null is one left out. Unknown fields are refused, but only the first is
    looked at, however many there are."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _keep_what_counts(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        known = cls.model_fields
        unknown = next((name for name in data if name not in known), None)
        kept = {name: value for name, value in data.items() if name in known or name == unknown}
        return {name: value for name, value in kept.items() if value is not None or name == unknown or known[name].is_required()}

    @classmethod
    def of(cls, **fields: Any) -> Self:
        """The request with these fields; raises `BadInput` for the first fault."""
        from counterpoint.service.schemas import faults

        try:
            return cls.model_validate(fields)
        except ValidationError as error:
            raise BadInput(faults.sentence(error.errors(), cls)) from None


class OfValue(BaseModel):
    """Made from a value that has the same attributes: `model_validate(value)`."""

    model_config = ConfigDict(from_attributes=True)


class Problem(BaseModel):
    """What went wrong, in the format of RFC 9457; `error` repeats `detail` for clients of the first version."""

    type: str = Field(description="The kind of problem: `urn:counterpoint:problem:` and one word.")
    title: str = Field(description="The kind in words.")
    status: int
    detail: str = Field(description="What went wrong, in one sentence.")
    request_id: str
    error: str


AUTHORS = "Each author as family name, given name; a group's name has no comma. Empty if the source names none."


def facts_of(document: Document) -> dict[str, Any]:
    """The fields that every response that shows a document has for it."""
    return {
        "pmid": document.pmid,
        "title": document.title,
        "year": document.year,
        "journal": document.journal,
        "authors": [str(author) for author in document.authors],
        "doi": document.doi,
        "pmcid": document.pmcid,
        "mesh": list(document.mesh),
        "types": list(document.types),
        "retracted": document.retracted,
    }


class RankedPaper(BaseModel):
    """A paper in a list, by its rank from 1."""

    rank: int
    pmid: str
    title: str
    year: int | None
    journal: str
    authors: list[str] = Field(description=AUTHORS)
    doi: str
    pmcid: str
    types: list[str]
    retracted: bool


class LocationOut(OfValue):
    """Where words stand in a full text."""

    kind: SectionKind
    section: str = Field(description="The nearest heading as printed or, of a row or caption, the table's or figure's label.")
    number: int = Field(description="The section's paragraphs or the table's rows, counted from 1; 0 for a caption.")
    page: int | None = Field(description="Where pages are known, counted from 1.")
    text: str = Field(description="In words, such as “Results, paragraph 4”.")

    @classmethod
    def of(cls, at: Location) -> LocationOut:
        """From the value."""
        return cls(kind=at.kind, section=at.section, number=at.number, page=at.page, text=str(at))


class FollowUpOut(OfValue):
    """What may be asked next."""

    text: str
    kind: FollowUpKind = Field(description="Whether it is a claim to ground or a question to answer.")
    why: str = Field(description="Why it is offered, in a sentence.")
    papers: int = Field(description="How many papers on it a short search finds: 2 to 5.")


FollowUpsField = Annotated[
    list[FollowUpOut],
    Field(default_factory=list, description="At most five claims and questions to go on with, each with papers here."),
]


class SentenceOut(OfValue):
    """A sentence exactly as in the abstract: `abstract[start:end] == text`; `index` counts from 0.

    If it has a `location`, it stands in the full text, the offsets are into the paragraph or row there, and `context` is what it
    needs to be understood: a table's caption and its group of rows.
    """

    index: int
    start: int
    end: int
    text: str
    location: LocationOut | None = Field(None, exclude_if=lambda location: location is None)
    context: str = Field("", exclude_if=lambda context: not context)

    @classmethod
    def of(cls, sentence: Sentence) -> SentenceOut:
        """From the value."""
        location = LocationOut.of(sentence.location) if sentence.location else None
        return cls(
            index=sentence.index, start=sentence.start, end=sentence.end, text=sentence.text, location=location,
            context=sentence.context,
        )  # fmt: skip


class UsageOut(OfValue):
    """Use of language models: every request that was sent, to read, write, correct or compare, the refused and repeated ones too.

    Tokens are the server's own counts; `cost` is in US dollars, if a price is configured.
    """

    requests: int
    prompt_tokens: int
    completion_tokens: int
    cost: Rounded | None
    cached: int = Field(
        0, description="Replies that were there from earlier: nothing was sent for them.", exclude_if=lambda cached: not cached
    )
    estimated: bool = Field(
        False,
        description="Whether a server does not count tokens, so that some are estimated, four characters each.",
        exclude_if=lambda estimated: not estimated,
    )
    spent: bool = Field(
        False,
        description="Whether the budget left no room for a request: the embedded models did the rest.",
        exclude_if=lambda spent: not spent,
    )
    shortened: bool = Field(
        False,
        description="Whether the budget left no room for passages of full texts: of some papers only the abstract was sent.",
        exclude_if=lambda shortened: not shortened,
    )

    @classmethod
    def of(cls, usage: Usage) -> UsageOut | None:
        """From the value; None if there was no language model to ask."""
        return cls.model_validate(usage) if usage.requests or usage.cached else None

    @classmethod
    def add(cls, parts: Iterable[UsageOut | None]) -> UsageOut | None:
        """The sum of several."""
        return cls.of(sum((Usage(**dict(one)) for one in parts if one), Usage()))


UsageField = Annotated[
    UsageOut | None,
    Field(description="What language models were asked; left out if none was.", exclude_if=lambda usage: usage is None),
]


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

"""The requests of all calls, with everything that the doors say of them and need for them.

A field's type, bounds, default and description hold for HTTP, the command line, both Python clients, MCP and the reference page.
With `kw_only=False` it may be given by its place in Python; if it is also required, it is the command's argument.
`Shown` says what is left. This is loaded for --help: methods import what is heavy.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, StrictInt, model_validator
from pydantic.fields import FieldInfo

from counterpoint.retrieval.core.errors import BadInput
from counterpoint.service.configuration.defaults import MOST_KNOWN, MOST_READ
from counterpoint.service.schemas import MOST_NAME, Sent

if TYPE_CHECKING:
    from collections.abc import Sequence as Many

    from counterpoint.indexes.readers.prose.passage import Passage
    from counterpoint.retrieval.core.values import Claim, FullText, Topic
    from counterpoint.retrieval.index import Index
    from counterpoint.service.checking.check import ReadText
else:
    Many = list  # pydantic stops at the first fault in a list alone

MOST_CHARACTERS = 200_000
"""The most characters of a text that is sent."""
MOST_TEXT_CLAIMS = 100
"""The most claims in one request; the command line checks more."""
MOST_HITS = 1000
"""The most hits that a search can be paged through."""


class TooLarge(BadInput):
    """More was sent than is read at once."""

    status = 413


@dataclass(frozen=True, slots=True)
class Shown:
    """How the doors show a field: `option` of the command (by default its name, None for none) and what help calls its value; its
    name in a URL; whether language models are told of it."""

    option: str | None = ""
    metavar: str | None = None
    in_url: str = ""
    to_models: bool = True


_FOR_PROGRAMS = Shown(option=None, to_models=False)


class Request(Sent):
    """What is asked; the docstring describes the call at every door."""

    def check(self) -> dict[str, str | int]:
        """What a log may say of it; raises `BadInput` for what cannot be asked of a service."""
        return {}


class GroundRequest(Request):
    """Find the papers that contradict a claim and those that support it, each with its exact sentence."""

    claim: str = Field(
        kw_only=False, description="One sentence that can be true or false; or a PMID or DOI, for what that paper finds."
    )
    question: str = Field(default="", description="The question that the claim answers; its words are added to the search.")
    known_pmids: Annotated[Many[str | StrictInt], Shown("--known", "PMID,...")] = Field(
        default_factory=list,
        max_length=MOST_KNOWN,
        fail_fast=True,
        description="Papers already known to support the claim; never returned as support.",
    )
    read: Annotated[int | None, Shown(metavar="N")] = Field(
        default=None,
        ge=1,
        le=MOST_READ,
        strict=True,
        description="How many papers to read, the best first; without it, as many as configured.",
    )
    full_text: bool = Field(default=False, strict=True, description="Only papers whose full text the index holds.")

    def statement(self) -> Claim:
        """The claim as it was typed; raises `BadInput` for what cannot be one."""
        from counterpoint.service.grounding.claims import check_claim

        return check_claim(self.claim, self.question, self.known_pmids)

    def check(self) -> dict[str, str | int]:
        """The claim."""
        return {"claim": self.statement().text}


class AnswerRequest(Request):
    """Answer a question in at most 250 words, every citation checked, and list the papers that contradict the answer."""

    question: str = Field(kw_only=False, description="The question to answer.")
    narrative: str = Field(
        default="", description="Who is asking, and why; used to rank documents that fit the question equally well."
    )
    topic: str = Field(default="", description="The subject in a few words.")
    id: Annotated[str, _FOR_PROGRAMS] = Field(
        default="", max_length=200, description="Your own id for the topic; returned unchanged."
    )

    def subject(self) -> Topic:
        """The topic; raises `BadInput` for what cannot be one."""
        from counterpoint.service.grounding.claims import check_topic

        return check_topic(self.question, self.topic, self.narrative, self.id)

    def check(self) -> dict[str, str | int]:
        """The question."""
        return {"question": self.subject().question}


class EvidenceRequest(Request):
    """Find the sentences of one paper that together carry the most evidence for or against a hypothesis."""

    hypothesis: str = Field(kw_only=False, description="One sentence that the paper may support or contradict.")
    pmid: Annotated[str | StrictInt | None, Shown(option=None)] = Field(
        default=None,
        description="The PMID, DOI or id of a paper of the index, which is read with its full text if the index has it.",
    )
    sentences: Annotated[Many[str] | None, _FOR_PROGRAMS] = Field(
        default=None, kw_only=False, fail_fast=True, description="The paper's sentences in order, including any headings."
    )
    text: Annotated[str | None, Shown(option=None)] = Field(
        default=None, description="The paper as plain text, each heading on its own line, or as Markdown."
    )
    jats: Annotated[str | None, _FOR_PROGRAMS] = Field(
        default=None, description="The paper as JATS XML, as PubMed Central provides it."
    )
    k: Annotated[int, Shown("-k")] = Field(default=5, strict=True, description="How many sentences to choose.")
    results_only: bool = Field(
        default=False, description="Choose only sentences about what the study found, not about how it was done."
    )

    @model_validator(mode="after")
    def _one_paper(self) -> Self:
        count = sum(one is not None for one in (self.pmid, self.sentences, self.text, self.jats))
        if count != 1:
            fault = "is missing" if not count else f"is given {count} times"
            raise ValueError(f"The paper {fault}; give the paper once: by its pmid, or as text, sentences or jats")
        return self

    def check(self) -> dict[str, str | int]:
        """The hypothesis."""
        from counterpoint.service.grounding.claims import check_hypothesis

        return {"hypothesis": check_hypothesis(self.hypothesis)}

    def paper(self, index: Index) -> FullText:
        """The paper that was sent or named; raises `BadInput` if it cannot be read."""
        from counterpoint.indexes.readers.prose.article import read_article, read_sentences
        from counterpoint.retrieval.core.characters import replace_surrogates
        from counterpoint.service.checking.parse import read_text
        from counterpoint.service.evidence.papers import parse_jats, take_paper

        if self.pmid is not None:
            return take_paper(index.store, str(self.pmid), index.manifest.counts.documents)
        if self.sentences is not None:
            return read_sentences([replace_surrogates(one) for one in self.sentences])
        if self.text is not None:
            return read_article(read_text(self.text, name="The paper"))
        return parse_jats(replace_surrogates(self.jats or "").encode())


class SearchRequest(Request):
    """Find a paper by what names it, or list the documents whose title, abstract or full text match words, by BM25, best first.

    A paper is found by authors, year, journal, words of its title, a pasted reference, or its PMID, PMCID or DOI; it comes first,
    with what names it. British and American spellings match each other.
    """

    query: Annotated[str, Shown(in_url="q")] = Field(
        kw_only=False, description="Words, or what names a paper.", examples=["beta-carotene lung cancer"]
    )
    limit: Annotated[int, Shown(option=None)] = Field(default=20, ge=1, le=100, description="How many documents to list.")
    cursor: Annotated[str, _FOR_PROGRAMS] = Field(default="", max_length=200, description="`next_cursor` of the previous page.")

    def check(self) -> dict[str, str | int]:
        """Nothing; words are not logged."""
        self.words()
        return {}

    def words(self) -> str:
        """The query on one line; raises `BadInput` if it is empty or too long."""
        from counterpoint.service.grounding.claims import check_query

        return check_query(self.query)


class DocumentRequest(Request):
    """Show a document of the index: title, abstract, where its sentences begin and end and, if there is one, its full text."""

    pmid: Annotated[str, Field(max_length=200)] | StrictInt = Field(
        kw_only=False,
        description="A PMID, a DOI, or the id of a document of the index.",
        examples=["demo-glucose-leuven-2001"],
    )


class ClassifyRequest(Request):
    """Say what kind of input this is (claim, question, keywords, paper, text or another language), and what can be done."""

    text: str = Field(kw_only=False, description="A claim, a question, keywords, a PMID or DOI, or a text.")

    def check(self) -> dict[str, str | int]:
        """Nothing, for a text that is not empty and not too long."""
        if not self.text.strip():
            raise BadInput("The text is empty; give a claim, a question, keywords, a PMID or DOI, or a text.")
        if len(self.text) > MOST_CHARACTERS:
            raise BadInput(f"The text has {len(self.text):,} characters; the limit is {MOST_CHARACTERS:,}, so shorten it.")
        return {}


class TextRequest(Request):
    """Check each sentence of a text: whether it makes a claim, what papers say, and whether its citations bear it out."""

    text: str = Field(
        default="",
        kw_only=False,
        description=f"Plain text or Markdown, at most {MOST_CHARACTERS:,} characters and {MOST_TEXT_CLAIMS} claims.",
    )
    format: Annotated[Literal["auto", "text", "markdown"], _FOR_PROGRAMS] = Field(
        default="auto", description="`auto` reads a text as Markdown if it has Markdown syntax in at least two places."
    )
    file: Annotated[str, _FOR_PROGRAMS] = Field(
        default="",
        description="Instead of `text`, a file in base64: DOCX, PDF with a text layer, CSV or TSV with a column `claim`, "
        "plain text, Markdown or HTML.",
    )
    name: Annotated[str, _FOR_PROGRAMS] = Field(
        default="", max_length=MOST_NAME, description="The file's name; its ending may show the format, and errors use the name."
    )

    def check(self) -> dict[str, str | int]:
        """How many claims it makes."""
        _check_length(self.text)
        _check_length(self.reading.passage.text)
        return {"claims": len(self.reading.at_most(MOST_TEXT_CLAIMS).claims)}

    @cached_property
    def reading(self) -> ReadText:
        """The text split into classified sentences."""
        from counterpoint.service.checking.check import ReadText

        return ReadText.of(self._passage())

    def _passage(self) -> Passage:
        from counterpoint.service.checking.parse import read_bytes, read_text

        if self.text and self.file:
            raise BadInput("The request has a text and a file; send one of them.")
        if not self.text and not self.file:
            raise BadInput("The text is empty; give a text or a file.")
        if not self.file:
            return read_text(self.text, self.format)
        try:
            raw = base64.b64decode(self.file, validate=True)
        except (binascii.Error, ValueError):
            raise BadInput("The file is not in base64; encode its bytes so, or send its text as `text`.") from None
        return read_bytes(raw, self.name or "The file", self.format)


def _check_length(text: str) -> None:
    if len(text) > MOST_CHARACTERS:
        raise TooLarge(
            f"The text has {len(text):,} characters and at most {MOST_CHARACTERS:,} are read; send it in parts, or use "
            "`counterpoint check`."
        )


def shown(field: FieldInfo) -> Shown:
    """What the doors need of a field beside its type, bounds, default and description."""
    return next((one for one in field.metadata if isinstance(one, Shown)), Shown())


def list_parameters(model: type[Request], keep: Callable[[FieldInfo], bool] = lambda _: True) -> Iterator[Parameter]:
    """The fields of a request as parameters of a function, those that may be given by their place first."""
    for kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY):
        for name, one in model.model_fields.items():
            if (one.kw_only is False) == (kind is Parameter.POSITIONAL_OR_KEYWORD) and keep(one):
                default = Parameter.empty if one.is_required() else one.get_default(call_default_factory=True)
                yield Parameter(name, kind, default=default, annotation=one.annotation)

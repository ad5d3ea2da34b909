"""What the doors return for a document and a search, and the stages of a grounding."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from itertools import islice
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Label, Passage
from counterpoint.retrieval.index import Documents
from counterpoint.retrieval.store.documents import Entry
from counterpoint.retrieval.store.texts import StoredText, write_passage
from counterpoint.service.calls.requests import MOST_HITS
from counterpoint.service.grounding.values import GroundStage
from counterpoint.service.queries.papers import FoundPaper
from counterpoint.service.schemas import AUTHORS, LocationOut, RankedPaper, Rounded, SentenceOut, facts_of


class GroundStageEvent(BaseModel):
    """A step begins, a paper was read, or (`weigh`) all is done (event "stage")."""

    name: Literal["find", "gate", "read", "weigh"]
    detail: str = Field(description="The stage in words.")
    documents: int = Field(description="For `find`, the documents of the index; afterwards, the documents found.")
    sentences: int = Field(description="The sentences in these documents; 0 until this is known.")
    read: int = Field(description="The papers read so far.")
    contradicting: int = Field(description="The documents listed as contradicting, once all is done.")
    supporting: int = Field(description="The documents listed as supporting, once all is done.")
    pmid: str | None = Field(None, description="For `read`, the paper that was just read, if papers are read whole.")
    title: str | None = Field(None, description="Its title.")
    stance: Label | None = Field(None, description="The side that it takes; neutral for none, and for a retracted paper.")

    @classmethod
    def of(cls, stage: GroundStage) -> GroundStageEvent:
        """From the value."""
        documents = format_count(stage.documents, "document")
        details = {
            "find": f"Searching {documents}.",
            "gate": f"Choosing the papers to read among {stage.documents:,}.",
            "read": f"Read {stage.read:,} of {format_count(stage.documents, 'paper')}.",
            "weigh": f"Of {documents}, {stage.contradicting:,} contradict the claim and {stage.supporting:,} support it.",
        }
        counts = asdict(stage)
        paper = counts.pop("paper") or {}
        return cls(detail=details[stage.name], **counts, **paper)


class FullTextBlockOut(BaseModel):
    """A paragraph, a caption or a table's row; a sentence is `text[start:end]`, and `index` counts through the whole text."""

    location: LocationOut
    text: str
    context: str = Field(description="Of a row, what it needs to be understood: the table's caption, heads and group of rows.")
    sentences: list[SentenceOut]


class FullTextOut(BaseModel):
    """The full text of a document, without its abstract."""

    format: str = Field(description="jats or pdf.")
    source: str = Field(description="The name of its file.")
    licence: str = Field(description="What the file says of its licence.")
    pictures: int = Field(description="Tables that are pictures, which cannot be read.")
    own_record: bool = Field(description="Whether title, authors and abstract are from this text: there was no record of it.")
    blocks: list[FullTextBlockOut] = Field(
        description="In reading order; a section is a run of blocks of one `location.section`."
    )

    @classmethod
    def of(cls, text: StoredText) -> FullTextOut:
        """From what is stored."""
        sentences = iter(text.sentences)
        blocks = [
            FullTextBlockOut(
                location=LocationOut.of(block.location),
                text=block.text,
                context=block.context,
                sentences=[
                    SentenceOut(index=one.index, start=one.start, end=one.end, text=one.text, location=None, context="")
                    for one in islice(sentences, len(block.spans))
                ],
            )
            for block in text.blocks
        ]
        return cls(
            format=text.format,
            source=text.source,
            licence=text.licence,
            pictures=text.pictures,
            own_record=text.own_record,
            blocks=blocks,
        )


class DocumentOut(BaseModel):
    """A document as stored in the index; a sentence is `abstract[start:end]`."""

    pmid: str
    title: str
    abstract: str
    year: int | None
    journal: str
    authors: list[str] = Field(description=AUTHORS)
    doi: str
    pmcid: str
    types: list[str]
    retracted: bool
    mesh: list[str] = Field(description="The descriptors of PubMed's MeSH headings.")
    sentences: list[SentenceOut]
    full_text: FullTextOut | None = Field(
        None, description="Where the index holds the paper's full text.", exclude_if=lambda text: text is None
    )

    @classmethod
    def of(cls, entry: Entry, text: StoredText | None = None) -> DocumentOut:
        """From what is stored."""
        document = entry.document
        return cls(
            **facts_of(document),
            abstract=document.abstract,
            sentences=[SentenceOut.of(sentence) for sentence in entry.sentences()],
            full_text=FullTextOut.of(text) if text else None,
        )

    @classmethod
    def read(cls, store: Documents, entry: Entry) -> DocumentOut:
        """With the full text, if the store has one."""
        return cls.of(entry, store.full_texts([entry.pmid]).get(entry.pmid))


class PassageOut(BaseModel):
    """A passage of a full text: a few sentences or rows that stand together."""

    location: LocationOut = Field(description="Where it begins.")
    text: str = Field(description="Its sentences; a table's rows begin with their caption and heads.")

    @classmethod
    def of(cls, passage: Passage) -> PassageOut:
        """From the value."""
        return cls(location=LocationOut.of(passage.location), text=write_passage(passage))


class HitOut(RankedPaper):
    """A document that the query names, or that contains words of it."""

    score: Rounded = Field(
        description="BM25 over title and abstract or, with a `passage`, over that; 0 where they have none of the words."
    )
    why: str = Field(
        "", description="What names this paper in the query, such as “author and year”.", exclude_if=lambda why: not why
    )
    passage: PassageOut | None = Field(
        None,
        description="The best passage of the full text, where it ranks higher than title and abstract.",
        exclude_if=lambda passage: passage is None,
    )

    @classmethod
    def of(cls, rank: int, found: FoundPaper) -> HitOut:
        """From the values."""
        passage = PassageOut.of(found.passage) if found.passage else None
        return cls(rank=rank, **facts_of(found.document), score=found.hit.score, why=found.why, passage=passage)


class SearchResponse(BaseModel):
    """A page of hits, best first."""

    query: str = Field(description="The query as the service read it.")
    hits: list[HitOut]
    next_cursor: str | None = Field(
        description=f"Pass it as `cursor` to get the next page; null on the last page or after {MOST_HITS:,} hits."
    )
    index: str
    note: str = Field(
        "",
        description="Which ids the index lacks, or that it cannot be searched by author.",
        exclude_if=lambda note: not note,
    )

    @classmethod
    def of(
        cls, query: str, first: int, page: Sequence[FoundPaper], more: Cursor | None, index: str, note: str = ""
    ) -> SearchResponse:
        """From the values; `first` is the rank of the page's first hit."""
        hits = [HitOut.of(rank, found) for rank, found in enumerate(page, first)]
        return cls(query=query, hits=hits, next_cursor=more.write() if more else None, index=index, note=note)


class Cursor(BaseModel):
    """Where a page of hits begins, for which query, and in which version of which index."""

    model_config = ConfigDict(frozen=True)

    offset: int = Field(ge=0, le=MOST_HITS)
    query: str
    index: str

    def write(self) -> str:
        """Write it as the text that a client keeps; the query by its hash."""
        return urlsafe_b64encode(f"{self.offset} {_hash(self.query)} {self.index}".encode()).decode().rstrip("=")

    @classmethod
    def read(cls, text: str, query: str, index: str) -> Cursor:
        """Read what a client gave back; raises `BadInput` if it is not a cursor, or is one of another query or index."""
        try:
            offset, made_for, made_in = urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode().split(" ", 2)
            cursor = cls(offset=int(offset), query=query, index=index)
        except ValueError:
            raise BadInput("The cursor cannot be read; pass next_cursor of an earlier page unchanged.") from None
        if made_in != index:
            raise BadInput("The index has changed since this cursor was made; start again without a cursor.")
        if made_for != _hash(query):
            raise BadInput(
                "The cursor was made for another query; pass it with the query of its page, or start without a cursor."
            )
        return cursor


def _hash(query: str) -> str:
    return sha256(query.encode()).hexdigest()[:16]

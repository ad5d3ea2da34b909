"""A stored document as a row of a table: what is read from it, and how rows are counted.

Boundaries and cues are packed integers, found when the index was built, so that a query never splits or scans a text. Counts and
the hash of the texts are kept as sums, so that an update counts only what it changed.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

from retrieval.core.errors import IndexUnusable
from retrieval.core.values import Author, Cue, Document, Notice, Section, Sentence, Span
from retrieval.store.manifest import IndexCounts

RETRACTING = frozenset({"RetractionOf", "RetractedandRepublishedFrom"})
"""The notices by which one record says that another is retracted (PubMed's RefTypes)."""

Row = tuple[str, str, str, int | None, str, str, str, str, int, int, bytes, bytes, str, str, str, str]


def pack(numbers: Iterable[Sequence[int]]) -> bytes:
    """Tuples of offsets as little-endian uint32."""
    flat = list(chain.from_iterable(numbers))
    return struct.pack(f"<{len(flat)}I", *flat)


def unpack(blob: bytes, width: int) -> list[tuple[int, ...]]:
    """The inverse of `pack`: tuples of `width` numbers."""
    return list(struct.iter_unpack(f"<{width}I", blob))


_Part = TypeVar("_Part")


def _refuse_damage(read: Callable[[Entry], _Part]) -> Callable[[Entry], _Part]:
    """Say in one sentence that a row is damaged in a way that SQLite itself does not see."""

    def reading(self: Entry) -> _Part:
        try:
            return read(self)
        except (ValueError, TypeError, KeyError, struct.error) as error:
            raise IndexUnusable(f"Document {self.pmid} is damaged in the index's store ({error}): build it again.") from error

    return reading


class Entry:
    """A stored document with its sentences and cues, unpacked only as far as they are asked for."""

    def __init__(self, row: Row, cue_names: dict[int, str]) -> None:
        self._row, self._cue_names = row, cue_names
        self.pmid = row[0]

    @cached_property
    @_refuse_damage
    def document(self) -> Document:
        """The document as its reader gave it, but for `spans`, which are here, and a retraction that came later."""
        pmid, title, abstract, year, journal, types, notices, sections, version, retracted, *_ = self._row
        authors, doi, pmcid, mesh = self._row[12:]
        return Document(
            pmid=pmid,
            title=title,
            abstract=abstract,
            year=year,
            journal=journal,
            types=tuple(json.loads(types)),
            notices=tuple(Notice(*notice) for notice in json.loads(notices)),
            sections=tuple(Section(*section) for section in json.loads(sections)),
            version=version,
            retracted=bool(retracted),
            authors=tuple(Author(*author) for author in json.loads(authors)),
            doi=doi,
            pmcid=pmcid,
            mesh=tuple(json.loads(mesh)),
        )

    def __len__(self) -> int:
        """How many sentences the document has."""
        return len(self._row[10]) // 8

    def __bool__(self) -> bool:
        # A document without a sentence is there nonetheless: `if store.get(pmid)` asks for that.
        return True

    @cached_property
    @_refuse_damage
    def spans(self) -> list[Span]:
        """Every sentence's (start, end) in the abstract."""
        return [(start, end) for start, end in unpack(self._row[10], 2)]

    @cached_property
    @_refuse_damage
    def _cues(self) -> dict[int, tuple[Cue, ...]]:
        """The cues of each sentence that holds any."""
        cues: dict[int, tuple[Cue, ...]] = {}
        for index, cue, start, end in unpack(self._row[11], 4):
            cues[index] = (*cues.get(index, ()), Cue(self._cue_names[cue], start, end))
        return cues

    def sentences(self) -> tuple[Sentence, ...]:
        """All sentences, in order."""
        return tuple(self._make_sentence(index) for index in range(len(self)))

    def cue_sentences(self) -> tuple[Sentence, ...]:
        """The sentences that hold a negation cue, in order."""
        return tuple(self._make_sentence(index) for index in sorted(self._cues))

    def cue_sentence_count(self) -> int:
        """How many sentences hold a negation cue."""
        return len(self._cues)

    def cue_count(self) -> int:
        """How many negation cues the document holds."""
        return sum(map(len, self._cues.values()))

    def _make_sentence(self, index: int) -> Sentence:
        start, end = self.spans[index]
        return Sentence(self.pmid, index, start, end, self._row[2][start:end], self._cues.get(index, ()))


TALLIED = "pmid, title, abstract, boundaries, cues, retracted"
"""The columns of a row that counts."""
_MODULUS = 2**256


class Tally:
    """Counts and a sum of hashes, of no documents or of those that a manifest counted (`IndexCounts`, `corpus_sha256`)."""

    def __init__(self, counts: IndexCounts | None = None, digest: str = "0") -> None:
        base = counts or IndexCounts(0, 0, 0, 0, 0)
        self._documents, self._sentences, self._cues, self._cue_sentences = (
            base.documents, base.sentences, base.cues, base.cue_sentences,
        )  # fmt: skip
        self.retracted = base.retracted
        self._total = int(digest, 16)

    def add(self, row: Sequence[Any], times: int = 1) -> None:
        """Count a row of `TALLIED`; with -1, take it out again."""
        pmid, title, abstract, boundaries, cues, retracted = row
        # A sum of hashes: the same texts give the same figure in whatever order they came, and none need be sorted.
        digest = hashlib.sha256("\x1f".join((pmid, title, abstract)).encode())
        self._total += times * int.from_bytes(digest.digest())
        cue_rows = unpack(cues, 4)
        self._documents += times
        self._sentences += times * (len(boundaries) // 8)
        self._cues += times * len(cue_rows)
        self._cue_sentences += times * len({cue[0] for cue in cue_rows})
        self.retracted += times * (retracted > 0)

    @property
    def counts(self) -> IndexCounts:
        """What was counted."""
        return IndexCounts(self._documents, self._sentences, self._cues, self._cue_sentences, self.retracted)

    @property
    def digest(self) -> str:
        """The sum of the hashes, as a manifest has it."""
        return f"{self._total % _MODULUS:064x}"


def find_targets(notices: str) -> list[str]:
    """The documents that a row's notices (JSON) say are retracted."""
    if "Retract" not in notices:
        return []
    return [target for kind, target in json.loads(notices) if kind in RETRACTING]

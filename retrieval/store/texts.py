"""Full texts beside the documents: their blocks, sentences and passages in SQLite, in tables that only an index with texts has.

What every text is asked for at once (how many there are, their licences, their hashes) is in one table; what is read of a single
text, compressed, in another. Sentences, cues and passages are packed integers, found when the index was built.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, get_args

from counterpoint.retrieval.core.errors import IndexUnusable
from counterpoint.retrieval.core.values import Block, Cue, FullText, Location, Passage, SectionKind, Sentence
from counterpoint.retrieval.store.manifest import TextPart
from counterpoint.retrieval.store.packing import pack, unpack

TEXTS, BLOCKS, REPLACED_TEXTS = "texts", "blocks", "replaced_texts"
TEXT_COLUMNS = "pmid, own, format, source, licence, pictures, sentences, passages, digest, written"
BLOCK_COLUMNS = "pmid, content, boundaries, cues, passages"
# One row a text. own: 1 if the document was made from the text, since no record of it was there. digest: the SHA-256 of its id
# and content. blocks.content: zlib-compressed JSON, a list of [kind, section, number, page, text, context] for each block.
# boundaries: uint32 triples (block, start, end), one a sentence; cues: uint32 quadruples (sentence, cue, start, end), with
# offsets into the block; passages: uint32 pairs (first sentence, the one after the last).
TEXT_SCHEMA = """
CREATE TABLE IF NOT EXISTS texts (
    pmid TEXT PRIMARY KEY,
    own INTEGER NOT NULL,
    format TEXT NOT NULL,
    source TEXT NOT NULL,
    licence TEXT NOT NULL,
    pictures INTEGER NOT NULL,
    sentences INTEGER NOT NULL,
    passages INTEGER NOT NULL,
    digest TEXT NOT NULL,
    written INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS blocks (
    pmid TEXT PRIMARY KEY,
    content BLOB NOT NULL,
    boundaries BLOB NOT NULL,
    cues BLOB NOT NULL,
    passages BLOB NOT NULL
);
"""
REPLACED_TEXTS_SCHEMA = "CREATE TABLE IF NOT EXISTS replaced_texts (pmid TEXT PRIMARY KEY) WITHOUT ROWID;"
"""In a file of changes: the texts of older files that no longer count."""
_MODULUS = 1 << 256
_KINDS = frozenset(get_args(SectionKind))


def write_content(text: FullText) -> bytes:
    """The blocks of a text as JSON: what the store keeps, and what its hash is made of."""
    rows = [
        (at.kind, at.section, at.number, at.page, block.text, block.context) for block in text.blocks for at in (block.location,)
    ]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def hash_text(pmid: str, content: bytes) -> str:
    """The SHA-256 of a document's id and its text."""
    return hashlib.sha256(pmid.encode() + b"\x1f" + content).hexdigest()


def compress(content: bytes) -> bytes:
    """The content of a text as the store keeps it."""
    return zlib.compress(content)


def name_passage(pmid: str, number: int | str = "") -> str:
    """The id of a passage in Lucene, or what those of a document begin with; no document's id contains a blank."""
    return f"{pmid} {number}"


def read_passage_name(name: str) -> tuple[str, int]:
    """The inverse of `name_passage`."""
    pmid, _, number = name.rpartition(" ")
    return pmid, int(number)


class StoredText:
    """The full text of a document, unpacked only as far as it is asked for."""

    def __init__(self, row: Sequence[Any], blocks: Sequence[Any], cue_names: Mapping[int, str]) -> None:
        """From the rows of `TEXT_COLUMNS` and `BLOCK_COLUMNS`."""
        self.pmid, own, self.format, self.source, self.licence, self.pictures = row[:6]
        self.own_record, self.written = bool(own), int(row[9])
        self.row, self.packed = row, blocks
        _, self._content, self._boundaries, self._cues, self._passages = blocks
        self._cue_names = cue_names

    def __len__(self) -> int:
        """How many sentences the text has."""
        return len(self._boundaries) // 12

    def __bool__(self) -> bool:
        return True

    @property
    def content(self) -> bytes:
        """The JSON of its blocks."""
        return zlib.decompress(self._content)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Its paragraphs, captions and rows, in order."""
        try:
            rows = json.loads(self.content)
            spans: list[list[tuple[int, int]]] = [[] for _ in rows]
            for block, start, end in unpack(self._boundaries, 3):
                spans[block].append((start, end))
            return tuple(
                Block(Location(kind if kind in _KINDS else "other", section, number, page), text, tuple(own), context)
                for (kind, section, number, page, text, context), own in zip(rows, spans, strict=True)
            )
        except (ValueError, TypeError, IndexError, zlib.error, struct.error) as error:
            raise IndexUnusable(
                f"The full text of {self.pmid} is damaged in the index's store ({error}): build it again."
            ) from error

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """All its sentences in order, each with its location; offsets are into the block there."""
        cues: dict[int, list[Cue]] = {}
        for index, cue, start, end in unpack(self._cues, 4):
            cues.setdefault(index, []).append(Cue(self._cue_names[cue], start, end))
        blocks = self.blocks
        return tuple(
            Sentence(
                self.pmid, index, start, end, blocks[block].text[start:end], tuple(cues.get(index, ())),
                blocks[block].location, blocks[block].context,
            )
            for index, (block, start, end) in enumerate(unpack(self._boundaries, 3))
        )  # fmt: skip

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        """Its passages in order."""
        return tuple(
            Passage(self.pmid, number, self.sentences[first:end]) for number, (first, end) in enumerate(unpack(self._passages, 2))
        )


def write_passage(passage: Passage) -> str:
    """The words of a passage for a search or a reader: what its sentences need to be understood, and the sentences.

    The context of a row is written once, of a later row only the part in which it differs.
    """
    parts, before = list[str](), list[str]()
    for sentence in passage.sentences:
        context = sentence.context.split()
        shared = next(
            (place for place, (one, other) in enumerate(zip(before, context, strict=False)) if one != other), len(before)
        )
        parts += [*(context[shared:] if context != before else ()), sentence.text]
        before = context
    return " ".join(parts)


MOST_WORDS = 200
"""The words of a passage with its context, at most, unless a single sentence has more."""


def cut_passages(text: FullText) -> list[tuple[int, int]]:
    """The passages of a text: the number of the first sentence of each, and of the one after its last.

    A passage never crosses a section, a table or a caption; where a paragraph does not fit into what is left of one, a new one
    begins there, and only a paragraph that is too long itself is parted, between its sentences.
    """
    ranges: list[tuple[int, int]] = []
    first = number = words = 0
    section: tuple[str, str, bool] | None = None
    context = ""
    for block in text.blocks:
        at = block.location
        here = (at.kind, at.section, at.kind == "table" and at.number == 0)
        sizes = [len(block.text[start:end].split()) for start, end in block.spans]
        heading = len(block.context.split()) if block.context != context else 0
        if number > first and (here != section or words + heading + sum(sizes) > MOST_WORDS):
            ranges.append((first, number))
            first, words = number, 0
        if number == first:
            heading = len(block.context.split())
        section, context = here, block.context
        words += heading
        for size in sizes:
            if number > first and words + size > MOST_WORDS:
                ranges.append((first, number))
                first, words = number, len(context.split())
            words += size
            number += 1
    if number > first:
        ranges.append((first, number))
    return ranges


_LICENCE_LETTERS = 200


def make_part(rows: Iterable[Sequence[Any]]) -> TextPart | None:
    """What a manifest says of the texts with these rows of `TEXT_COLUMNS`; None if there are none."""
    texts = own = pictures = sentences = passages = total = 0
    formats, licences = Counter[str](), Counter[str]()
    for _, is_own, format, _, licence, has_pictures, has_sentences, has_passages, digest, _ in rows:
        texts += 1
        own += is_own
        pictures += has_pictures
        sentences += has_sentences
        passages += has_passages
        formats[format] += 1
        licences[licence[:_LICENCE_LETTERS]] += 1
        total += int(digest, 16)
    if not texts:
        return None
    digest = f"{total % _MODULUS:064x}"
    return TextPart(
        texts, own, passages, sentences, pictures, dict(sorted(formats.items())), dict(licences.most_common()), digest
    )


def has_texts(db: sqlite3.Connection, layer: str = "main") -> bool:
    """Whether a file that is open under this name has tables of texts."""
    return bool(db.execute(f"SELECT 1 FROM {layer}.sqlite_master WHERE name = '{TEXTS}'").fetchone())


def pack_boundaries(text: FullText) -> bytes:
    """Where the sentences of a text are."""
    return pack((number, start, end) for number, block in enumerate(text.blocks) for start, end in block.spans)


def count_sentences(text: FullText) -> int:
    """How many sentences a text has."""
    return sum(len(block.spans) for block in text.blocks)

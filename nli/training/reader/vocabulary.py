"""The words of the readers: 15,000 of their bases' 30,500, which biomedical literature, claims and questions use.

Both bases have the same words. Those that were left out are spelt with smaller pieces: 99.4 % of the pieces of the literature and
98.9 % of those of claims and questions stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer

from counterpoint.nli.reader.encode import CLOSE, START

SPECIAL = (START, "<pad>", CLOSE, "[UNK]")
BERT_SPECIAL = ("[CLS]", "[PAD]", "[SEP]", "[UNK]")
"""What stands for these in BERT's word table, which has the same words otherwise."""
VOCABULARY_HELP = "the folder of a reader, whose words the model keeps (default: the shipped large one)"


def read_words(model: Path) -> list[str]:
    """The words of a reader's folder, in the order of its word table, without the special tokens."""
    words = Tokenizer.from_file(str(model / "tokenizer.json")).get_vocab()
    return sorted(words, key=words.__getitem__)[len(SPECIAL) :]


def find_base_rows(base: Path, words: Sequence[str]) -> list[int]:
    """The rows of the base's word table for the special tokens and these words, in order."""
    rows: dict[str, int] = Tokenizer.from_file(str(base / "tokenizer.json")).get_vocab()
    special = SPECIAL if START in rows else BERT_SPECIAL
    return [rows[one] for one in (*special, *words)]

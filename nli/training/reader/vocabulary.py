"""Choose the words of the base to keep: `python -m nli.training.reader.vocabulary --data DIR --base DIR --out FILE`.

Half of MPNet's words hardly occur in biomedical literature or in questions about it; words left out are spelt with smaller
pieces. With 15,000 words, 99.4 % of the pieces of the literature and 98.9 % of those of claims and questions stay as they are.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tokenizers import Tokenizer

from nli.reader.encode import CLOSE, START
from retrieval.training.command import return_exit_code
from retrieval.training.data import read_rows

SIZE = 15_000
SPECIAL = (START, "<pad>", CLOSE, "[UNK]")
BERT_SPECIAL = ("[CLS]", "[PAD]", "[SEP]", "[UNK]")
"""What stands for these in BERT's word table, which has the same words otherwise."""
VOCABULARY_HELP = "the words that the model keeps: a JSON file of nli.training.reader.vocabulary, or the folder of a reader"
CLAIMS_COUNT = 20
"""The weight of a piece in a claim or a question, relative to one in the literature."""
PASSAGES = 0.2
_CHUNK = 2000


def read_texts(data: Path) -> Iterator[str]:
    """Titles and abstracts, and a share of the passages."""
    for row in read_rows(data, "pubmed/abstracts.jsonl.gz"):
        yield " ".join([row["title"] or "", *row["abstract"]])
    for row in read_rows(data, "scifact/corpus.jsonl.gz"):
        yield " ".join([row["title"], *row["abstract"]])
    rng = random.Random(0)
    for row in read_rows(data, "passages/evidence_inference.jsonl.gz"):
        if rng.random() < PASSAGES:
            yield row["text"]


def read_questions(data: Path) -> Iterator[str]:
    """Claims and questions of train splits."""
    for row in read_rows(data, "stance/ordinary.jsonl.gz"):
        if row["split"] == "train":
            yield from (row[name] for name in ("true", "false", "neutral"))
    for row in read_rows(data, "stance/pairs.jsonl.gz"):
        if row["split"] == "train" and row.get("claim"):
            yield row["claim"]
    for row in read_rows(data, "relevance/bioasq_questions.jsonl.gz"):
        yield row["body"]


def count_pieces(tokenizer: Tokenizer, texts: Iterable[str]) -> Counter[int]:
    """How often each piece occurs."""
    tally: Counter[int] = Counter()
    chunk: list[str] = []
    for text in texts:
        chunk.append(text)
        if len(chunk) == _CHUNK:
            tally.update(piece for encoding in tokenizer.encode_batch(chunk, add_special_tokens=False) for piece in encoding.ids)
            chunk = []
    tally.update(piece for encoding in tokenizer.encode_batch(chunk, add_special_tokens=False) for piece in encoding.ids)
    return tally


def read_words(path: Path) -> list[str]:
    """The words to keep, from the JSON file that this command writes or from a reader's folder, without the special tokens."""
    if path.is_dir():
        return read_tokens(path)
    words: list[str] = json.loads(path.read_text("utf-8"))
    return words


def find_base_rows(base: Path, words: Sequence[str]) -> list[int]:
    """The rows of the base's word table for the special tokens and these words, in order."""
    rows: dict[str, int] = Tokenizer.from_file(str(base / "tokenizer.json")).get_vocab()
    special = SPECIAL if START in rows else BERT_SPECIAL
    return [rows[one] for one in (*special, *words)]


def read_tokens(model: Path) -> list[str]:
    """The words of an existing reader, in the order of its word table, without the special tokens."""
    words = Tokenizer.from_file(str(model / "tokenizer.json")).get_vocab()
    return sorted(words, key=words.__getitem__)[len(SPECIAL) :]


@return_exit_code
def main(arguments: Sequence[str] | None = None) -> None:
    """Write the kept words and their rows in the base."""
    parser = argparse.ArgumentParser(prog="python -m nli.training.reader.vocabulary", description="Choose the reader's words.")
    parser.add_argument("--data", type=Path, required=True, help="choose the words that the texts of this data folder use")
    parser.add_argument("--base", type=Path, required=True, help="the folder of all-mpnet-base-v2")
    parser.add_argument("--out", type=Path, required=True, help="the JSON file to write")
    options = parser.parse_args(arguments)
    tokenizer = Tokenizer.from_file(str(options.base / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    score = count_pieces(tokenizer, read_texts(options.data))
    for piece, count in count_pieces(tokenizer, read_questions(options.data)).items():
        score[piece] += CLAIMS_COUNT * count
    words = {row: word for word, row in tokenizer.get_vocab().items() if not (word.startswith("[") and word.endswith("]"))}
    words = {row: word for row, word in words.items() if not (word.startswith("<") and word.endswith(">"))}
    ranking = sorted(words, key=lambda row: (-score[row], row))
    # Keep single characters, so that every word can be spelt.
    letters = [row for row in ranking if len(words[row].removeprefix("##")) == 1 and (score[row] or words[row][-1].isascii())]
    first = set(letters)
    kept_rows = [*letters, *(row for row in ranking if row not in first)][: SIZE - len(SPECIAL)]
    options.out.write_text(json.dumps([words[row] for row in kept_rows]), "utf-8")
    print(f"{SIZE:,} words, the rarest with a score of {score[kept_rows[-1]]:,}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

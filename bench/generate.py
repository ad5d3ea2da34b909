"""A corpus of any size for measuring how builds and searches grow: `python -m bench.generate N OUT.jsonl.gz --like INDEX`.

The texts mean nothing, but are as long as real ones, with as many sentences, and their words are as frequent. They are drawn
from a given index (or the demonstration corpus): a document has the sentence lengths of one of its documents, and each word is
drawn by its frequency there. A corpus of 27 million abstracts has words that a small one lacks. By the Good-Turing estimate
(Good 1953), a new word comes as often as the words that occur once there; such a word is made up, its rank drawn by Zipf's
law with exponent 1, so that the vocabulary keeps growing with the corpus. The same seed and source give the same documents, and
a shorter corpus is the beginning of a longer one.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

from indexes.readers import detect_format, read
from nli.text.sentences import sentence_spans
from retrieval.core.errors import BadInput, CounterpointError, translate_write_errors
from retrieval.store.documents import Store
from retrieval.store.manifest import STORE, read_manifest

DEMO = Path(__file__).parent.parent / "indexes" / "demo" / "corpus.jsonl"
FIRST_ID = 10_000_000
"""Ids count from here, so that they sort like today's PMIDs."""
_SAMPLE = 25_000
_BATCH = 1000
# None of our corpora comes near this many different words; the rank of a made-up word stays below it.
_RANKS = 10_000_000
_STRIPPED = ".,;:?!()[]{}\"'"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Likeness:
    """What a generated corpus is drawn by.

    `words` and `chances` [words] (their cumulative shares, of which the last is 1) come from the source; `unseen` is the share of
    words that it does not have; a shape is a document's lengths in words: its title's, then each sentence's.
    """

    words: list[str]
    chances: np.ndarray
    unseen: float
    shapes: list[list[int]]


def likeness(texts: Iterable[tuple[str, str]]) -> Likeness:
    """The likeness of (title, abstract) pairs; raises `BadInput` where they hold no word."""
    counts: Counter[str] = Counter()
    shapes = []
    for title, abstract in texts:
        sentences = [title, *(abstract[start:end] for start, end in sentence_spans(abstract))]
        split = [[word for token in sentence.split() if (word := token.strip(_STRIPPED))] for sentence in sentences]
        shapes.append([len(split[0]), *(len(words) for words in split[1:] if words)])
        # Lower case, as within a sentence: a generated sentence gets its own capital.
        counts.update(word if word.isupper() else word.lower() for words in split for word in words)
    total = counts.total()
    if not total:
        raise BadInput("There is no word to draw a corpus from; name an index or a file of documents with text.")
    words = sorted(counts)
    chances = np.cumsum([counts[word] for word in words]) / total
    singles = sum(count == 1 for count in counts.values())
    return Likeness(words, chances, singles / total, shapes)


def documents(like: Likeness, n: int, seed: int = 0) -> Iterator[dict[str, str]]:
    """`n` documents in Counterpoint's own format, one after the other."""
    for batch, first in enumerate(range(0, n, _BATCH)):
        # Each batch has its own random generator and is drawn whole, so that no document depends on how many follow.
        random = np.random.default_rng([seed, batch])
        shapes = [like.shapes[at] for at in random.integers(len(like.shapes), size=_BATCH)]
        words = iter(_draw(like, random, sum(map(sum, shapes))))
        for number, (title, *sentences) in enumerate(shapes[: n - first], first):
            yield {
                "pmid": str(FIRST_ID + number),
                "title": _sentence(words, title),
                "abstract": " ".join(_sentence(words, length) for length in sentences),
            }


def _draw(like: Likeness, random: np.random.Generator, n: int) -> Iterator[str]:
    places = np.searchsorted(like.chances, random.random(n), side="right").tolist()
    new = (random.random(n) < like.unseen).tolist()
    ranks = np.exp(random.random(n) * np.log(_RANKS)).astype(np.int64).tolist()
    for place, made_up, rank in zip(places, new, ranks, strict=True):
        yield _make_word(rank) if made_up else like.words[place]


def _make_word(rank: int) -> str:
    """A distinct word for each rank, which exists in no language."""
    letters = ""
    while rank:
        rank, at = divmod(rank, len(_LETTERS))
        letters += _LETTERS[at]
    return f"xq{letters}"


def _sentence(words: Iterator[str], length: int) -> str:
    text = " ".join(next(words) for _ in range(length))
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def likeness_of(source: Path) -> Likeness:
    """The likeness of a built index, or of a file of documents in any format; of its first 25,000 documents at most."""
    return likeness((title, abstract) for title, abstract in _texts(source))


def _texts(source: Path) -> Iterator[tuple[str, str]]:
    if source.is_dir():
        store = Store(source / read_manifest(source).data / STORE)
        rest = _SAMPLE
        for batch in store.texts(_BATCH):
            yield from ((title, abstract) for _, title, abstract in batch[:rest])
            rest -= len(batch)
            if rest <= 0:
                break
        store.close()
    else:
        for record, _ in zip(read(source, detect_format(source)), range(_SAMPLE), strict=False):
            yield getattr(record, "title", ""), getattr(record, "abstract", "")


def generate(n: int, out: Path, source: Path = DEMO, seed: int = 0) -> None:
    """Write `n` documents like those of `source` to `out`, gzipped where its name ends in .gz, whole or not at all."""
    if n < 1:
        raise BadInput(f"A corpus has at least 1 document, not {n}.")
    partial = out.with_name(f".{out.name}.partial")
    with translate_write_errors("the corpus", out):
        like = likeness_of(source)
        try:
            with open(partial, "wb") as raw:
                # No name and no time of day in the header: the same corpus, the same bytes.
                stream = gzip.GzipFile("", "wb", 1, raw, mtime=0) if out.suffix == ".gz" else raw
                with io.TextIOWrapper(stream, "utf-8") as file:
                    for document in tqdm(documents(like, n, seed), total=n, desc=out.name, unit=" documents", disable=None):
                        file.write(json.dumps(document, ensure_ascii=False) + "\n")
            os.replace(partial, out)
        finally:
            partial.unlink(missing_ok=True)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Write a corpus of N made-up documents, for measuring.")
    parser.add_argument("n", type=int, metavar="N")
    parser.add_argument("out", type=Path, metavar="OUT", help="JSON lines; gzipped where the name ends in .gz")
    parser.add_argument("--like", type=Path, default=DEMO, metavar="SOURCE", help="an index or a file of documents")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    try:
        generate(options.n, options.out, options.like, options.seed)
    except CounterpointError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()

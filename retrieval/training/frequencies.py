"""Inverse document frequencies of words and of word pieces, counted on the PubMed abstracts of the data folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from counterpoint.retrieval.training.data import read_rows
from counterpoint.retrieval.words.terms import PLACES, locate_term, split_terms


def compute_word_weights(folder: Path) -> NDArray[np.float16]:
    """[PLACES]: the idf of every place of the table behind `retrieval.words.terms`."""
    return _compute_idf(({locate_term(term) for term in split_terms(text)} for text in _read_texts(folder)), PLACES)


def compute_piece_weights(folder: Path, tokenizer: Path) -> NDArray[np.float16]:
    """[vocabulary]: the idf of every word piece; 0 for [CLS] and [SEP], which are in every text."""
    pieces = Tokenizer.from_file(str(tokenizer))
    pieces.no_truncation()
    pieces.no_padding()
    weights = _compute_idf((set(pieces.encode(text).ids) for text in _read_texts(folder)), pieces.get_vocab_size())
    for special in ("[CLS]", "[SEP]"):
        weights[pieces.token_to_id(special)] = 0.0
    return weights


def _read_texts(folder: Path) -> Iterator[str]:
    for record in read_rows(folder, "pubmed/abstracts.jsonl.gz"):
        yield f"{record['title'] or ''}. {' '.join(record['abstract'])}"


def _compute_idf(texts: Iterable[set[int]], size: int) -> NDArray[np.float16]:
    """[size]: Lucene's idf, ln(1 + (N - df + 0.5) / (df + 0.5))."""
    counts, total = np.zeros(size), 0
    for ids in texts:
        total += 1
        counts[list(ids)] += 1
    return np.log(1 + (total - counts + 0.5) / (counts + 0.5)).astype(np.float16)

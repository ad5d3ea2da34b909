"""How a claim and an abstract become tokens: <s> claim </s> title </s> sentence </s> sentence </s> …

The token that closes a sentence stands for the sentence, the first token for the document. Each part is cut to its own limit, so
that a long title or sentence never pushes out another. Words are read in American spelling and Greek letters by their names, so
that a spelling never changes a stance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from nli.reader.abridge import choose_fitting, score_for_reading
from retrieval.words.forms import unify_text

START, CLOSE = "<s>", "</s>"
CLAIM, TITLE, SENTENCE = range(3)
"""Token types: which part a token belongs to."""
MOST_CLAIM, MOST_TITLE, MOST_SENTENCE = 72, 40, 96
"""The most tokens of each part that are read."""
_CHARACTERS_A_TOKEN = 24


@dataclass(frozen=True, slots=True)
class EncodedDocument:
    """`ids` and `types` [tokens]; `ends` [sentences] is where each sentence closes, -1 for one that is not read."""

    ids: NDArray[np.int64]
    types: NDArray[np.int64]
    ends: NDArray[np.int64]


class DocumentTokenizer:
    """Lays out claims and abstracts in at most `max_tokens` tokens."""

    def __init__(self, tokenizer: Tokenizer, max_tokens: int) -> None:
        self._tokenizer, self.max_tokens = tokenizer, max_tokens
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._start, self._close = tokenizer.token_to_id(START), tokenizer.token_to_id(CLOSE)

    def __call__(
        self, claim: str, title: str, sentences: Sequence[str], must: Sequence[int] = (), max_tokens: int = 0
    ) -> EncodedDocument:
        """Encode one document for one claim. `must` are the sentences that come before all others (only training names any)."""
        most = [MOST_CLAIM, MOST_TITLE, *[MOST_SENTENCE] * len(sentences)]
        texts = [
            unify_text(text[: limit * _CHARACTERS_A_TOKEN]) for text, limit in zip((claim, title, *sentences), most, strict=True)
        ]
        encodings = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        parts = [encoding.ids[:limit] for encoding, limit in zip(encodings, most, strict=True)]
        head, body = parts[:2], parts[2:]
        room = (max_tokens or self.max_tokens) - 1 - sum(len(part) + 1 for part in head)
        lengths = [len(part) + 1 for part in body]
        places = list(range(len(body)))
        if sum(lengths) > room:
            worth = score_for_reading(claim, sentences)
            worth[list(must)] += 10.0
            places = choose_fitting(worth, lengths, room)
        ids, types = [self._start], [CLAIM]
        ends = np.full(len(body), -1, dtype=np.int64)
        layout = [(CLAIM, -1, head[0]), (TITLE, -1, head[1]), *((SENTENCE, place, body[place]) for place in places)]
        for kind, place, part in layout:
            ids += [*part, self._close]
            types += [kind] * (len(part) + 1)
            if place >= 0:
                ends[place] = len(ids) - 1
        return EncodedDocument(np.array(ids, dtype=np.int64), np.array(types, dtype=np.int64), ends)

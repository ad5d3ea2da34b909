"""How a claim and an abstract become tokens: <s> claim </s> title </s> sentence </s> sentence </s> …

The token that closes a sentence stands for the sentence, the first token for the document. Each part is cut to its own limit, so
that a long title or sentence never pushes out another. Words are read in American spelling and Greek letters by their names, so
that a spelling never changes a stance.

An abstract that is too long to read whole is read in part: its conclusion, and the sentences nearest to the claim. Of 816
ordinary claims with longer abstracts, 256 tokens keep an evidence sentence for 99 %, and 91 % of all evidence sentences; without
a bonus for short findings of no difference, which share few words with the claim, 98 and 85 % (docs/research/experiments.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from counterpoint.nli.text.roles import ROLES, load_role_model, locate_stretch
from counterpoint.retrieval.core.characters import unify_characters
from counterpoint.retrieval.words.forms import unify_text
from counterpoint.retrieval.words.terms import find_rare_words, find_terms, weigh_share, weigh_shared_terms

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

    def parts(self) -> Iterator[tuple[int, int, int]]:
        """What is read of the title, 0, and of each sentence, from 1, with the places of its first token and behind its last."""
        start = int(np.argmax(self.types == TITLE))
        end = start + int(np.sum(self.types == TITLE)) - 1
        yield 0, start, end
        for place, close in enumerate(self.ends.tolist(), 1):
            if close >= 0:
                start, end = end + 1, close
                yield place, start, end


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

    def find_words(self, text: str) -> list[int]:
        """The place of the word, parted by spaces, that each token of a title or sentence belongs to."""
        words = [unify_text(word) for word in text.split()]
        places = self._tokenizer.encode(words, is_pretokenized=True, add_special_tokens=False).word_ids
        return [place for place in places if place is not None]


RESULTS, CONCLUSION = ROLES.index("results"), ROLES.index("conclusion")
RESULTS_WEIGHT, CONCLUSION_WEIGHT = 0.4, 0.3
"""The weight of being a result or a conclusion, in shares of the claim's rare words."""
NO_DIFFERENCE_WEIGHT = 0.2
"""The bonus for saying that nothing differed: such sentences are short and name little of what the claim names."""
LENGTH_WEIGHT = 0.0008
"""The cost of each character: of two sentences that say as much, the shorter leaves room for another."""
LAST, BEFORE_LAST = 0.2, 0.12
"""The bonus for being last, or last but one: there the authors say what they found."""
_NO_DIFFERENCE = re.compile(
    r"\b(?:similar|comparable|unchanged|unaffected|equivalent|equally"
    r"|no(?: \w+){0,3} (?:difference|effect|change|benefit|improvement|association|correlation|increase|reduction)s?"
    r"|(?:did|was|were|does|do|is|are) not(?: \w+)? (?:differ\w*|affect\w*|chang\w+|improv\w+|reduc\w+|increas\w+|associat\w+"
    r"|correlat\w+|alter\w*|influenc\w+|significant\w*))\b",
    re.IGNORECASE,
)


def score_for_reading(claim: str, sentences: Sequence[str]) -> NDArray[np.float64]:
    """[sentences]: the priority of reading each one for the claim; comparable within one abstract only."""
    terms, roles, count = find_rare_words(claim), load_role_model(), len(sentences)
    scores = np.zeros(count)
    for row, sentence in enumerate(sentences):
        shares = roles.score_text(sentence, locate_stretch(row, count))
        scores[row] = (
            weigh_share(terms, find_terms(sentence))
            + RESULTS_WEIGHT * shares[RESULTS]
            + CONCLUSION_WEIGHT * shares[CONCLUSION]
            + NO_DIFFERENCE_WEIGHT * bool(_NO_DIFFERENCE.search(unify_characters(sentence)))
            - LENGTH_WEIGHT * len(sentence)
        )
    scores[-1:] += LAST
    scores[-2:-1] += BEFORE_LAST
    return scores


def score_findings(claim: str, sentences: Sequence[str]) -> NDArray[np.float64]:
    """[sentences]: how suitable each is to be shown as what the paper found: a result or conclusion on the subject of the claim.

    The square of the reader's own probability for a sentence is multiplied by this: background that uses the claim's words often
    scores as high as the finding, but is not what the paper found (docs/research/experiments.md compares other ways).
    """
    terms, roles, count = find_rare_words(claim), load_role_model(), len(sentences)
    scores = np.zeros(count)
    for row, sentence in enumerate(sentences):
        shares = roles.score_text(sentence, locate_stretch(row, count))
        scores[row] = (shares[RESULTS] + shares[CONCLUSION]) * (0.5 + weigh_shared_terms(claim, terms, sentence))
    return scores


def choose_fitting(worth: NDArray[np.float64], lengths: Sequence[int], room: int) -> list[int]:
    """The places of the sentences of highest `worth` [sentences] whose `lengths` add up to at most `room` (tokens), ascending.

    At least one sentence is chosen, even where none fits.
    """
    places: list[int] = []
    for place in np.argsort(-worth, kind="stable").tolist():
        if lengths[place] <= room:
            places.append(place)
            room -= lengths[place]
    return sorted(places) or [int(np.argmax(worth))][: len(lengths)]

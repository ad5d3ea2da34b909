"""Whether a text states something, asks something, or only names things, as keywords, titles and headings do: by a model.

One verb makes a statement of a long text, so the model looks at five words at a time and keeps, for each sign that it has
learnt, the place where the sign is clearest (nli.training.forms). A word is itself, if it is frequent, and its endings. Neither
capitals nor the last stop are seen: a claim typed in haste has neither, and keywords may have both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from counterpoint.nli.text.model_file import read_model
from counterpoint.retrieval.core.characters import unify_characters
from counterpoint.retrieval.core.probabilities import softmax

Form = Literal["statement", "question", "phrase"]
FORMS: tuple[Form, ...] = get_args(Form)
FORMS_MODEL = Path(__file__).parent.parent / "models" / "forms" / "forms.npz"
WIDTH = 5
"""The words that are looked at together."""
MOST_WORDS = 120
"""Of a longer text, only the beginning is looked at."""
_TOKEN = re.compile(r"\d[\d.,]*%?|[^\W\d_][^\W_]*(?:['’\-/][^\W_]+)*|[^\s\w]")
_END = re.compile(r"[\s.!?…\"'”’»]+$")


def split_tokens(text: str) -> list[tuple[str, ...]]:
    """What is known of each word of a text: itself and its endings; every number is "#". There is at least one."""
    words = _TOKEN.findall(_END.sub("", unify_characters(text)).lower())[:MOST_WORDS] or [""]
    return [_list_parts("#" if word[:1].isdigit() else word) for word in words]


def _list_parts(word: str) -> tuple[str, ...]:
    _, joined, last = word.rpartition("-")
    endings = [f"{joined}~{last[-length:]}" for length in (2, 3, 4) if len(last) > length]
    return (word, f"-{last}", *endings) if joined else (word, *endings)


@dataclass(frozen=True, slots=True, eq=False)
class FormModel:
    """The place of each part of a word in `parts` [parts + 1, size], whose last row stands for either end of a text; `signs`
    [WIDTH * size, signs] with `bias` [signs]; `weights` [signs, forms] with `shares` [forms]."""

    words: Mapping[str, int]
    parts: NDArray[np.float32]
    signs: NDArray[np.float32]
    bias: NDArray[np.float32]
    weights: NDArray[np.float32]
    shares: NDArray[np.float32]

    def score(self, text: str) -> dict[Form, float]:
        """The probability of each form."""
        known = [[self.words[part] for part in parts if part in self.words] for parts in split_tokens(text)]
        end = [self.parts[-1]] * (WIDTH // 2)
        rows = np.array([*end, *(self.parts[places].sum(axis=0) for places in known), *end])
        windows = np.array([rows[place : place + WIDTH].ravel() for place in range(len(known))])
        found = np.maximum(windows @ self.signs + self.bias, 0).max(axis=0)
        return dict(zip(FORMS, softmax(found @ self.weights + self.shares).tolist(), strict=True))

    def choose(self, text: str) -> Form:
        """The most probable form."""
        scores = self.score(text)
        return max(FORMS, key=lambda form: scores[form])


@cache
def load_form_model() -> FormModel:
    """The shipped model, read once; raises `ModelUnusable` where the file is missing or damaged."""
    words, *arrays = read_model(FORMS_MODEL, "words", "parts", "signs", "bias", "weights", "shares")
    return FormModel({word: place for place, word in enumerate(words)}, *arrays)

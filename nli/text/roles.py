"""The role of each sentence in a paper (retrieval.core.values), by a model.

A linear model over words and pairs of words, trained on abstracts whose publishers label their sections (nli.training.roles).
Within an abstract, position is more informative than any word, so there the probabilities are multiplied by a table of positions.

Signs that a sentence reports a measurement are numbers, and the words of reporting.txt. An abstract that its source does not mark
is found by its layout: a structured abstract, which goes through the kinds of section once before the paper does; sentences
before the introduction's heading; or sentences before the first other heading, of which the first are the abstract and the rest
an introduction without a heading.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from counterpoint.nli.text.headings import Part, find_heading_kind
from counterpoint.nli.text.model_file import read_model
from counterpoint.retrieval.core.characters import unify_characters
from counterpoint.retrieval.core.probabilities import softmax
from counterpoint.retrieval.core.values import ROLE_OF, Role, Sentence
from counterpoint.retrieval.core.word_list import read_word_list

ROLES: tuple[Role, ...] = get_args(Role)
ROLES_MODEL = Path(__file__).parent.parent / "models" / "roles" / "roles.npz"
PLACES = 6
"""The number of stretches into which an abstract is cut; each has its own shares of the roles."""
FINDING = 0.4
"""The least probability of being a result or a conclusion at which a sentence counts as a finding of the paper."""
_LABEL_TRUST = 0.95
"""How reliable a label over the sentence is: publishers put some aims under BACKGROUND and some findings under CONCLUSIONS."""
_TOKEN = re.compile(r"[a-z]+|\d+(?:\.\d+)?|[%=<>±]")
_SAYS = re.compile(
    r"(?:(?:The|Our|These) )?(?:results|findings|data) (?:\w+ )?(?:show|indicate|suggest|demonstrate|confirm)"
    r"|We (?:found|observed)\b",
    re.IGNORECASE,
)
"""How a sentence that reports a finding begins, wherever it stands."""
_AIMS = re.compile(
    r"(?:[A-Z]{3,}: )?(?:we (?:aimed|sought|hypothesi[sz]ed|set out|wanted)|(?:the|our) (?:aim|objective|purpose|goal)s?\b"
    r"|(?:this|the present) (?:study|trial|review) (?:aim|was (?:designed|undertaken|conducted) to)"
    r"|to (?:assess|determine|evaluate|examine|investigate|compare|test|study)\b)",
    re.IGNORECASE,
)
"""How a sentence that gives the aim begins."""
_LABEL = re.compile(r"^([A-Z][A-Za-z’',/&() -]{2,60}?)\s*[:.]\s+(?=\S)")


def find_role_tokens(text: str) -> frozenset[str]:
    """The words, their pairs, and the first word and pair marked as such; every number is "#"."""
    words = ["#" if word[0].isdigit() else word for word in _TOKEN.findall(unify_characters(text).lower())]
    pairs = [f"{one} {other}" for one, other in pairwise(words)]
    return frozenset([*words, *pairs, *(f"^{first}" for first in (*words[:1], *pairs[:1]))])


def locate_stretch(position: int, length: int) -> int:
    """The stretch of an abstract of `length` sentences that the one at `position` lies in."""
    return min(PLACES - 1, position * PLACES // max(1, length - 1)) if length > 1 else 0


@dataclass(frozen=True, slots=True, eq=False)
class RoleModel:
    """`weights` [words, roles] and `bias` [roles] give logits from words alone; `places` [PLACES, roles] is added by position."""

    words: dict[str, int]
    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    places: NDArray[np.float32]

    @classmethod
    def read(cls, path: Path = ROLES_MODEL) -> RoleModel:
        """The shipped model. Raises `ModelUnusable` where its file is missing or damaged."""
        words, *arrays = read_model(path, "words", "weights", "bias", "places")
        return cls({word: row for row, word in enumerate(words)}, *arrays)

    def probabilities(self, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
        """[sentences, roles]: the probability of each role in a paper, in the order of `ROLES`."""
        shares = np.zeros((len(sentences), len(ROLES)))
        abstract = [row for row, sentence in enumerate(sentences) if sentence.in_abstract]
        places = {row: locate_stretch(position, len(abstract)) for position, row in enumerate(abstract)}
        for row, sentence in enumerate(sentences):
            shares[row] = self.score_text(sentence.in_context, places.get(row))
            role = _read_label(sentence)
            if role:
                shares[row] = shares[row] * (1 - _LABEL_TRUST) + _LABEL_TRUST * (np.array(ROLES) == role)
        return shares

    def score_text(self, text: str, place: int | None = None) -> NDArray[np.float64]:
        """[roles]: probabilities for one sentence, in the stretch `place` of an abstract or (None) in the body of a paper."""
        rows = [self.words[token] for token in sorted(find_role_tokens(text)) if token in self.words]
        logits = self.bias.astype(np.float64) + self.weights[rows].sum(axis=0)
        if place is not None:
            logits += self.places[place]
        return softmax(logits)


def _read_label(sentence: Sentence) -> Role | None:
    """The role named by a label over or in a sentence of an abstract: "RESULTS", "Conclusions: …"."""
    if not sentence.in_abstract:
        return None
    kind = find_heading_kind(sentence.location.section) if sentence.location else None
    if kind in (None, "abstract") and (label := _LABEL.match(sentence.text)):
        kind = find_heading_kind(label.group(1))
    return ROLE_OF.get(kind) if kind else None


def find_findings(sentences: Sequence[str]) -> list[int]:
    """The places of the sentences that state results or conclusions; the last sentence where an abstract has none."""
    roles, count = load_role_model(), len(sentences)
    shares = np.array([roles.score_text(text, locate_stretch(row, count)) for row, text in enumerate(sentences)]).reshape(
        count, len(ROLES)
    )
    mask = shares[:, ROLES.index("results")] + shares[:, ROLES.index("conclusion")] >= FINDING
    places = [row for row, text in enumerate(sentences) if mask[row] or _SAYS.match(text)]
    return places or list(range(count))[-1:]


BACKGROUND = 0.6
"""The least probability of being background, an aim included, at which a sentence tells nothing of what the paper found."""


def find_background(sentences: Sequence[str]) -> list[int]:
    """The places of the sentences that give the background or the aim: what others found, or what is to be found.

    The last sentence never does, and of an abstract of fewer than `SHORTEST` sentences none can be told.
    """
    roles, count = load_role_model(), len(sentences)
    shares = [roles.score_text(text, locate_stretch(row, count))[ROLES.index("background")] for row, text in enumerate(sentences)]
    behind = [
        row for row, text in enumerate(sentences) if _AIMS.match(text) or (shares[row] >= BACKGROUND and not _SAYS.match(text))
    ]
    return [row for row in behind if row < count - 1] if count >= SHORTEST else []


@cache
def load_role_model() -> RoleModel:
    """The shipped model, read once."""
    return RoleModel.read()


_WORDS = Path(__file__).parent / "reporting.txt"
_FIGURE = re.compile(r"\d+(?:[.,·]\d+)*")


def count_figures(text: str) -> int:
    """How many numbers the text contains; "0.85 (0.65-1.12)" is three, "1,250" one."""
    return len(_FIGURE.findall(text))


def is_report(text: str) -> bool:
    """Whether the text contains words that report findings."""
    return _compile_pattern().search(text.lower()) is not None


@cache
def _compile_pattern() -> re.Pattern[str]:
    entries = [
        re.escape(word.removesuffix("*")) + (r"\w*" if word.endswith("*") else r"(?!\w)") for word in read_word_list(_WORDS)
    ]
    return re.compile(rf"(?<!\w)(?:{'|'.join(entries)})")


LONGEST = 25
"""The most sentences that an abstract may have, headings included."""
_LONGEST_CONCLUSION = 2
"""The most sentences that a conclusion may have where nothing marks its end."""
SHORTEST = 3
"""The fewest sentences that an unmarked abstract must have."""
_BACKGROUND = 0.17
"""The share of background among the sentences that the role model was trained on (1,959 of 11,182 in PubMedQA)."""


def find_abstract_end(parts: Sequence[Part]) -> int:
    """The number of parts up to the end of the abstract, including any that precede it; 0 where no abstract is recognised."""
    headings = [(row, find_heading_kind(part.text)) for row, part in enumerate(parts) if part.heading]
    sections = [(row, kind) for row, kind in headings if kind and kind != "other"]
    if not sections:
        return 0
    end = _find_structured_end(sections, parts)
    if end:
        return end
    first, kind = sections[0]
    if kind == "introduction":
        return first if first <= LONGEST else 0
    return _find_end_before_introduction(parts[:first])


def _find_structured_end(sections: Sequence[tuple[int, str | None]], parts: Sequence[Part]) -> int:
    """The end of a structured abstract: results and a short conclusion, before any section that is marked as one."""
    kinds: list[str | None] = []
    for at, (row, kind) in enumerate(sections):
        if row > LONGEST or parts[row].marked:
            return 0
        kinds.append(kind)
        if kind in ("conclusion", "discussion") and "results" in kinds:
            next_row = sections[at + 1][0] if at + 1 < len(sections) else len(parts)
            return min(next_row, row + 1 + _LONGEST_CONCLUSION)
    return 0


def _find_end_before_introduction(parts: Sequence[Part]) -> int:
    """The likeliest end of an abstract followed by an introduction, by the role of each sentence.

    An abstract's sentences have the roles typical of their positions, an introduction's give background; each term is a
    likelihood ratio against a sentence about which nothing is known.
    """
    sentences = [(row, part) for row, part in enumerate(parts) if not part.heading]
    if len(sentences) < SHORTEST:
        return 0
    model = load_role_model()
    shares = np.array([model.score_text(part.text) for _, part in sentences])
    behind = np.log(np.maximum(shares[:, ROLES.index("background")], 1e-6) / _BACKGROUND)
    place = np.exp(model.places.astype(np.float64))

    def fit(end: int) -> float:
        likelihoods = (shares[:end] * place[[locate_stretch(row, end) for row in range(end)]]).sum(axis=1)
        return float(np.log(np.maximum(likelihoods, 1e-6)).sum() + behind[end:].sum())

    best = max(range(SHORTEST, min(LONGEST, len(sentences)) + 1), key=lambda end: (fit(end), -end))
    return sentences[best - 1][0] + 1

"""The order of an answer: context, mechanism, significance, intervention; where a sentence belongs, by simple cue words."""

from __future__ import annotations

from typing import Literal, get_args

from generation.sentences.phrases import compile_phrases

Place = Literal["context", "mechanism", "significance", "intervention"]

ORDER: tuple[Place, ...] = get_args(Place)
_CUES = {place: compile_phrases(place) for place in ORDER}


def find_place(text: str) -> Place:
    """The place most of whose cue words the text holds; of equals the later one in an answer."""
    counts = {one: len(cues.findall(text)) for one, cues in _CUES.items()}
    return max(ORDER, key=lambda one: (counts[one], ORDER.index(one)))

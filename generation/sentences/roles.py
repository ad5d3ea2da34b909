"""What a sentence does in an answer: context, mechanism, significance or intervention, by simple cue words."""

from __future__ import annotations

from typing import Literal, get_args

from generation.sentences.phrases import compile_phrases

Role = Literal["context", "mechanism", "significance", "intervention"]

ORDER: tuple[Role, ...] = get_args(Role)
_CUES = {role: compile_phrases(role) for role in ORDER}


def find_role(text: str) -> Role:
    """The role most of whose cue words the text holds; of equals the later one in an answer."""
    counts = {one: len(cues.findall(text)) for one, cues in _CUES.items()}
    return max(ORDER, key=lambda one: (counts[one], ORDER.index(one)))

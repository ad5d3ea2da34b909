"""Sentences that do not state what a study found on its question: subgroups, single patients, costs, safety, earlier work.

The cues are data (generation/sentences/phrases.txt). A cue that the question itself holds is no aside.
"""

from __future__ import annotations

from generation.sentences.phrases import compile_phrases

_SUBGROUP, _SAFETY = compile_phrases("subgroup"), compile_phrases("safety")
_OTHERS, _PATIENTS = compile_phrases("others' findings (opening)"), compile_phrases("single patients (opening)")
_BASELINE, _COST = compile_phrases("baseline"), compile_phrases("cost")
LEAST = 0.2
"""The share of the asked outcome that a sentence on safety must hold to be about more than safety."""


def is_aside(text: str, question: str, outcome: float) -> bool:
    """Whether a sentence is beside the question; `outcome` (0 to 1) is the share of the asked outcome that it holds."""
    for cues in (_SUBGROUP, _BASELINE, _COST):
        if cues.search(text) and not cues.search(question):
            return True
    if _OTHERS.search(text) or _PATIENTS.search(text):
        return True
    return outcome < LEAST and _SAFETY.search(text) is not None and not _SAFETY.search(question)

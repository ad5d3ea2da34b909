"""What an open question asks for: how common, how long, how accurate, which is better, what helps, what causes it, what harms,
what shows it, and what comes of leaving it alone.

A sentence without any of an aspect's words may be about the same things and still answer nothing. The words are data
(generation/sentences/phrases.txt).
"""

from __future__ import annotations

from generation.sentences.phrases import compile_phrases

_ASPECTS = ("no treatment", "frequency", "duration", "harm", "which is better", "accuracy", "cause", "treatment", "symptoms")
"""In order of precedence: a question asks for the first aspect whose words it contains."""
_ASKS = {one: compile_phrases(f"asks {one}") for one in _ASPECTS}
_ADVICE, _ADVISES = compile_phrases("advice"), {"treatment", "harm", "which is better"}
_TELLS = {one: compile_phrases(f"tells {one}") for one in _ASPECTS}


def find_aspect(question: str) -> str:
    """What a question asks for; "" where its words do not say."""
    return next((one for one in _ASPECTS if _ASKS[one].search(question)), "")


def tells_aspect(aspect: str, text: str) -> bool:
    """Whether a text contains an aspect's words, and is not advice unless advice is asked for; always true without an aspect."""
    is_advice = aspect not in _ADVISES and _ADVICE.search(text) is not None
    return not aspect or (not is_advice and _TELLS[aspect].search(text) is not None)

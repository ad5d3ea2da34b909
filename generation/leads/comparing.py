"""Whether a finding compares as the question does: "both zeta and eta are effective" does not say which is better.

The cues are data (generation/sentences/phrases.txt).
"""

from __future__ import annotations

from generation.sentences.phrases import compile_phrases

_ASKS = compile_phrases("asks comparison")
_TOGETHER, _COMPARES = compile_phrases("together"), compile_phrases("compares")
_ALONE, _COMBINED = compile_phrases("asks for one alone"), compile_phrases("combined")


def is_joint(finding: str, question: str) -> bool:
    """Whether a finding says one thing of two treatments ("both were effective") where the question compares them."""
    return bool(_ASKS.search(question) and _TOGETHER.search(finding) and not _COMPARES.search(finding))


def is_combined(finding: str, question: str) -> bool:
    """Whether a finding (with its paper's title) is on a combination where the question asks for one treatment alone."""
    if not _ALONE.search(question) or _COMBINED.search(question) or _ASKS.search(question):
        return False
    return _COMBINED.search(finding) is not None and not _ALONE.search(finding)

"""Whether a finding only compares two treatments: "no difference between zeta and eta" does not deny that zeta helps.

Where a study had no untreated group, a finding of no difference between its arms does not tell whether either works, unless
the question compares them. The cues are data (generation/sentences/phrases.txt).
"""

from __future__ import annotations

from generation.sentences.phrases import compile_phrases

_NO_DIFFERENCE, _UNTREATED = compile_phrases("no difference"), compile_phrases("untreated")
_ASKS = compile_phrases("asks comparison")


def is_draw(finding: str, question: str, paper: str) -> bool:
    """Whether a finding tells of no difference between treatments, in a `paper` (title, abstract) without an untreated group."""
    return bool(_NO_DIFFERENCE.search(finding) and not _ASKS.search(question) and not _UNTREATED.search(paper))

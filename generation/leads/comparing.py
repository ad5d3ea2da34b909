"""Whether a finding compares as the question does: "no difference between zeta and eta" does not deny that zeta helps, and "both
zeta and eta are effective" does not say which is better.

If a study had no untreated group, a finding of no difference between its arms does not show whether either works, unless
the question compares them. The cues are data (generation/sentences/phrases.txt).
"""

from __future__ import annotations

from generation.sentences.phrases import compile_phrases
from retrieval.words.subject import find_subject
from retrieval.words.synonyms import weigh_shared_terms

_NO_DIFFERENCE, _UNTREATED = compile_phrases("no difference"), compile_phrases("untreated")
_ASKS, _OUTDOES = compile_phrases("asks comparison"), compile_phrases("outdoes")
_TOGETHER, _COMPARES = compile_phrases("together"), compile_phrases("compares")
_ALONE, _COMBINED = compile_phrases("asks for one alone"), compile_phrases("combined")
_COMPARED = 8
"""The number of words after a comparison in which the comparator is looked for."""


def is_draw(finding: str, question: str, paper: str) -> bool:
    """Whether a finding reports no difference between treatments, in a `paper` (title, abstract) without an untreated group."""
    return bool(_NO_DIFFERENCE.search(finding) and not _ASKS.search(question) and not _UNTREATED.search(paper))


def is_joint(finding: str, question: str) -> bool:
    """Whether a finding says one thing of two treatments ("both were effective") where the question compares them."""
    return bool(_ASKS.search(question) and _TOGETHER.search(finding) and not _COMPARES.search(finding))


def is_combined(finding: str, question: str) -> bool:
    """Whether a finding (with its paper's title) is on a combination where the question asks for one treatment alone."""
    if not _ALONE.search(question) or _COMBINED.search(question) or _ASKS.search(question):
        return False
    return _COMBINED.search(finding) is not None and not _ALONE.search(finding)


def is_outdone(finding: str, question: str, subject: str) -> bool:
    """Whether a finding says that something else does better than the subject: that does not show whether the subject helps."""
    wanted = find_subject(subject)
    if _ASKS.search(question) or not wanted:
        return False
    behind = (" ".join(finding[place.end() :].split()[:_COMPARED]) for place in _OUTDOES.finditer(finding))
    return any(weigh_shared_terms(question, wanted, words) >= 0.5 for words in behind)

"""What a paper must mention to be cited for a sentence: the names and figures in it, and enough of its words.

A reader that knows what a sentence is about lends it to any paper on the subject: a trial of exercise passes for "Caffeine raises
cortisol". Words alone show no support, but their absence shows that there is none.
"""

from __future__ import annotations

import re

from retrieval.core.values import Document
from retrieval.rerank.reranker import make_passage
from retrieval.words.names import find_unnamed
from retrieval.words.synonyms import find_shared_terms
from retrieval.words.terms import find_rare_words, weigh_share

SHARE = 0.5
"""The share of a sentence's words, weighted by rarity, that its paper contains, in any form, spelling or synonym
(docs/research/answers.md says how it was chosen)."""
_FIGURE = re.compile(r"(?<![\w.-])\d+(?:,\d{3})*(?:\.\d+)?(?!\w)")
_IN_WORDS = {
    word: number for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}
_ANY_FIGURE = re.compile(rf"\d+(?:,\d{{3}})*(?:\.\d+)?|\b(?:{'|'.join(_IN_WORDS)})\b", re.IGNORECASE)


def find_missing_content(text: str, document: Document) -> str:
    """What the document lacks that the sentence says, as the end of a reason ("does not mention caffeine"); "" for nothing."""
    passage = make_passage(document)
    if unnamed := find_unnamed(text, passage):
        return f"does not mention {' or '.join(unnamed)}"
    if figures := find_other_figures(text, passage):
        return f"does not give the figure {' or '.join(figures)}"
    if weigh_share(find_rare_words(text), find_shared_terms(text, passage)) < SHARE:
        return "has too few of its words"
    return ""


def find_other_figures(text: str, passage: str) -> tuple[str, ...]:
    """The figures in a sentence that a passage does not give, not even rounded, as a percentage or as what remains of a whole."""
    given = {_read_figure(figure) for figure in _ANY_FIGURE.findall(passage)}
    given |= {share for one in given if 0 < one < 1 for share in (100 * one, 100 - 100 * one)}
    return tuple(dict.fromkeys(one for one in _FIGURE.findall(text) if not any(_rounds_to(number, one) for number in given)))


def _rounds_to(number: float, figure: str) -> bool:
    """Whether the number is the figure, to the last of its digits that is not a rounding zero ("39,000")."""
    zeros = len(figure) - len(figure.rstrip("0,")) if "." not in figure else 0
    unit: float = 10.0 ** (figure[-zeros:].count("0") if zeros > 1 else -len(figure.partition(".")[2]))
    return abs(number - _read_figure(figure)) <= 0.5 * unit + 1e-9


def _read_figure(figure: str) -> float:
    return float(figure.replace(",", "")) if figure[0].isdigit() else float(_IN_WORDS[figure.lower()])

"""From a language model's reply to draft sentences: reading and removing its marks, splitting its text, dropping its extras."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from generation.draft import CitedSource, DraftSentence, Source
from generation.replies.citations import Mark, find_marks
from generation.replies.cleaning import clean_reply
from retrieval.core.values import Span

Splitter = Callable[[str], Sequence[Span]]

# A mark is carried through the splitting as its number in the list of marks, between two private-use characters.
_OPEN, _CLOSE = "\ue000", "\ue001"
_PLACEHOLDER = re.compile(rf"\s*{_OPEN}(\d+){_CLOSE}")
_BEHIND = re.compile(rf"([.?!][”\"’')]?)((?:\s*{_OPEN}\d+{_CLOSE})+)(?=\s*(?:$|[A-Z0-9À-ÖØ-Þ“\"(]))", re.MULTILINE)
# After these words, or at the beginning, a mark stands for the paper itself: "[1] reports that …, while [2] found no …".
_BEFORE_NOUN = re.compile(
    r"(?:^|[.;:!?]\s+|\b(?:while|whereas|although|though|but|and|or|in|by|from|per|to|of|with|against|unlike|that)\s+)$",
    re.IGNORECASE,
)
_AFTER_NOUN = re.compile(r"\s*(?:,\s*)?[a-z]")
_IN_PAPER = re.compile(r"\b(?:in|by|from|per|to)\s+$", re.IGNORECASE)
"""Before a mark that a sentence cannot do without, wherever it stands: "as shown in [1]."."""
_REPORTS = re.compile(
    r"^[\s,:]*(?:(?:also|however)\s+)?(?:(?:and|with)\s+)?(?:report|find|found|show|suggest|observe|note|conclude|indicate|demonstrate|state|describe)"
    r"(?:s|ed|d|n)?\b\s*(?:that\b)?\s*",
    re.IGNORECASE,
)
_TAIL = re.compile(r"[\s,;:]*\b(?:while|whereas|although|though|but|and|in contrast to|unlike)?[\s,;:]*$", re.IGNORECASE)
_FEWEST = 3
"""A line of fewer words and without a citation is taken for a heading."""


def parse_sentences(text: str, split: Splitter, sources: Sequence[Source]) -> list[DraftSentence]:
    """The sentences of a reply with the sources that each cites; `split` gives the sentences' offsets in a text."""
    numbers = {source.document.pmid: source.number for source in sources}
    pmids = {source.number: source.document.pmid for source in sources}
    text = clean_reply(text)
    marks = find_marks(text, numbers)
    marked_text = _BEHIND.sub(lambda match: f"{match.group(2)}{match.group(1)}", _replace_marks(text, marks, pmids))
    sentences = [one for block in marked_text.split("\n") for one in _parse_block(block, split, marks)]
    return [one for one in sentences if one.cited or len(one.text.split()) >= _FEWEST]


def _replace_marks(text: str, marks: Sequence[Mark], pmids: dict[int, str]) -> str:
    """The text with each mark replaced by its number; marks that stand for a paper also leave its PMID in their place."""
    parts, at = [], 0
    for place, mark in enumerate(marks):
        stretch = text[at : mark.start]
        parts.append(stretch)
        line = text[: mark.start].rsplit("\n", 1)[-1]
        noun = _IN_PAPER.search(line) or (_BEFORE_NOUN.search(line) and _AFTER_NOUN.match(text[mark.end :]))
        cited_pmids = [pmids[number] for number in mark.numbers if number in pmids]
        if noun and cited_pmids:
            parts.append(" and ".join(f"PMID {pmid}" for pmid in cited_pmids) + f"{_OPEN}{place}{_CLOSE}")
        else:
            parts.append(f" {_OPEN}{place}{_CLOSE}")
        at = mark.end
    return "".join(parts) + text[at:]


def _parse_block(block: str, split: Splitter, marks: Sequence[Mark]) -> Iterator[DraftSentence]:
    for start, end in split(block):
        sentence = block[start:end]
        places = list(_PLACEHOLDER.finditer(sentence))
        text = _tidy(_PLACEHOLDER.sub("", sentence))
        if not re.search(r"\w", text):
            continue
        parts_by_number: dict[int, str] = {}
        for order, match in enumerate(places):
            part = _cut_part(sentence, places, order) if _names_paper(sentence, match) else ""
            for number in marks[int(match.group(1))].numbers:
                parts_by_number.setdefault(number, part)
        yield DraftSentence(text, tuple(CitedSource(number, part) for number, part in parts_by_number.items()))


def _names_paper(sentence: str, match: re.Match[str]) -> bool:
    """Whether the mark stands for the paper, its PMID being written out before it."""
    return re.search(r"PMID \S+$", sentence[: match.start()]) is not None


def _cut_part(sentence: str, places: Sequence[re.Match[str]], order: int) -> str:
    """What the sentence reports of the paper: its words up to the next paper, without the reporting verb."""
    for place in range(order, len(places)):
        end = next((m.start() for m in places[place + 1 :] if _names_paper(sentence, m)), len(sentence))
        clause = re.sub(r"PMID \S+\s*$", "", _PLACEHOLDER.sub("", sentence[places[place].end() : end]))
        clause = _TAIL.sub("", _REPORTS.sub("", clause))
        if len(clause.split()) >= _FEWEST:
            return _tidy(clause)
    return ""


def _tidy(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r"\(\s*\)", "", re.sub(r"\s+([.,;:!?])", r"\1", text)).strip()

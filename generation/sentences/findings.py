"""Stating what papers found in their own words: a sentence that can stand alone as it is, any other as a quotation.

A finding that leans on what stood before it ("This trial found no benefit") is no less a finding: it is quoted whole, and the
frame around it says what kind of study says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from generation.draft import CitedSource, DraftSentence, Finding, Source
from generation.sentences.candidates import LONGEST, SHORTEST, split_pieces, stands_alone, trim_sentence
from generation.sentences.labels import drop_label
from retrieval.words.abbreviations import find_acronyms

LONGEST_QUOTE = 60
"""Words of a sentence that is still quoted."""
_BY_CONTRAST = "By contrast, "


def write_findings(sources: Sequence[Source], most: int, words: int) -> Iterator[DraftSentence]:
    """A sentence for each source that has a finding, in their order, at most `most` and of at most `words` words in all.

    The first that takes the opposite side to the first source is introduced as a contrast; it is included before any of the
    others. If all are too long to be quoted, the first that has room is quoted nevertheless.
    """
    reporters = [source for source in sources if source.finding]
    lead = next((source.finding.stance for source in reporters if source.finding), None)
    contrast = next((one for one in reporters if one.finding and lead and one.finding.stance not in (None, lead)), None)
    first = [one for one in (*reporters[:1], contrast) if one]
    sentences: dict[int, DraftSentence] = {}
    for source in [*first, *(one for one in reporters if one not in first)]:
        assert source.finding
        sentence = write_finding(source, source.finding, source is contrast)
        length = sum(len(one.text.split()) for one in sentences.values())
        new = sentence and sentence.text not in {one.text for one in sentences.values()}
        if sentence and new and len(sentences) < most and length + len(sentence.text.split()) <= words:
            sentences[source.number] = sentence
    yield from (sentences[source.number] for source in reporters if source.number in sentences)
    if not sentences:
        quotes = (write_finding(one, one.finding, longest=words) for one in reporters if one.finding)
        yield from list(filter(None, quotes))[:1]


def write_finding(source: Source, finding: Finding, contrast: bool = False, longest: int = LONGEST_QUOTE) -> DraftSentence | None:
    """The finding as it stands or as a quotation; None where it is too long or too short to be either."""
    quote = choose_quotable(source.sentences[finding.sentence].text)
    statement = trim_sentence(quote)
    if stands_alone(statement) and not contrast and explain_acronyms(statement, source) == statement:
        return DraftSentence(statement, (CitedSource(source.number),))
    quote = drop_label(quote).strip().rstrip(".").rstrip()
    if not 3 <= len(quote.split()) <= longest:
        return None
    study = finding.study if contrast else finding.study[:1].upper() + finding.study[1:]
    return DraftSentence(
        f"{_BY_CONTRAST if contrast else ''}{study} reports: “{explain_acronyms(quote, source)}”.",
        (CitedSource(source.number, quote),),
    )


def explain_acronyms(quote: str, source: Source) -> str:
    """A quotation with the long form, in square brackets, after each acronym that its abstract introduces elsewhere."""
    for acronym, words in find_acronyms(source.document.abstract):
        if words.lower() not in quote.lower():
            quote = f"{acronym} [{words}]".join(re.split(rf"(?<![\w-]){re.escape(acronym)}(?![\w-])", quote, maxsplit=1))
    return quote


def choose_quotable(sentence: str) -> str:
    """Of several sentences that a source runs together, the last of usable length: it holds the finding."""
    pieces = [" ".join(piece.split()) for piece in split_pieces(sentence)]
    candidates = [piece for piece in pieces if SHORTEST // 2 <= len(piece.split()) <= LONGEST + 12]
    return candidates[-1] if candidates else " ".join(sentence.split())

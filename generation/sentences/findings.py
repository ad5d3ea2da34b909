"""Stating what papers found in their own words: a sentence that can stand alone as it is, any other as a quotation.

A finding that leans on what stood before it ("This trial found no benefit") is no less a finding: it is quoted whole, and the
frame around it says what kind of study says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from generation.draft import Cited, DraftSentence, Finding, Source
from generation.sentences.candidates import LONGEST, SHORTEST, split_pieces, stands_alone, trim_sentence
from generation.sentences.labels import drop_label
from retrieval.words.acronyms import find_acronyms

LONGEST_QUOTE = 60
"""Words of a sentence that is still quoted."""
_BY_CONTRAST = "By contrast, "


def write_findings(sources: Sequence[Source], most: int, words: int) -> Iterator[DraftSentence]:
    """A sentence for each source that has a finding, in their order, at most `most` and of at most `words` words in all.

    The first that takes the opposite side to the first source is introduced as a contrast; it is included before any of the
    others.
    """
    telling = [source for source in sources if source.finding]
    leading = next((source.finding.stance for source in telling if source.finding), None)
    turning = next((one for one in telling if one.finding and leading and one.finding.stance not in (None, leading)), None)
    first = [one for one in (*telling[:1], turning) if one]
    kept: dict[int, DraftSentence] = {}
    for source in [*first, *(one for one in telling if one not in first)]:
        assert source.finding
        sentence = write_finding(source, source.finding, source is turning)
        used = sum(len(one.text.split()) for one in kept.values())
        new = sentence and sentence.text not in {one.text for one in kept.values()}
        if sentence and new and len(kept) < most and used + len(sentence.text.split()) <= words:
            kept[source.number] = sentence
    yield from (kept[source.number] for source in telling if source.number in kept)


def write_finding(source: Source, finding: Finding, contrast: bool = False) -> DraftSentence | None:
    """The finding as it stands or as a quotation; None where it is too long or too short to be either."""
    quote = choose_quotable(source.sentences[finding.sentence].text)
    alone = trim_sentence(quote)
    if stands_alone(alone) and not contrast and explain_acronyms(alone, source) == alone:
        return DraftSentence(alone, (Cited(source.number),))
    quote = drop_label(quote).strip().rstrip(".").rstrip()
    if not 3 <= len(quote.split()) <= LONGEST_QUOTE:
        return None
    study = finding.study if contrast else finding.study[:1].upper() + finding.study[1:]
    return DraftSentence(
        f"{_BY_CONTRAST if contrast else ''}{study} reports: “{explain_acronyms(quote, source)}”.", (Cited(source.number, quote),)
    )


def explain_acronyms(quote: str, source: Source) -> str:
    """A quotation with the long form, in square brackets, after each acronym that its abstract introduces elsewhere."""
    for acronym, words in find_acronyms(source.document.abstract):
        if words.lower() not in quote.lower():
            quote = re.sub(rf"(?<![\w-]){re.escape(acronym)}(?![\w-])", f"{acronym} [{words}]", quote, count=1)
    return quote


def choose_quotable(sentence: str) -> str:
    """Of several sentences that a source runs together, the last of usable length: it holds the finding."""
    written = [" ".join(piece.split()) for piece in split_pieces(sentence)]
    telling = [piece for piece in written if SHORTEST // 2 <= len(piece.split()) <= LONGEST + 12]
    return telling[-1] if telling else " ".join(sentence.split())

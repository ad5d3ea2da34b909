"""The embedded generator: an answer quoted from the papers. No network, no language model, the same bytes every time.

A sentence is quoted alone if it is a finding or a statement, not an aim, a method, a question or a fragment. It is shown from its
first informative word on: a section's label, a connective ("However,") or a phrase that only says who found it ("We found that")
is cut off, and what is left stands word for word in the abstract. A phrase that weakens ("suggest that") goes only where the rest
is hedged itself. The phrases are data: generation/phrases.txt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from counterpoint.generation.draft import CitedSource, Draft, DraftSentence, Failed, Finding, Limits, Source
from counterpoint.retrieval.core.errors import BadConfig
from counterpoint.retrieval.core.values import Topic
from counterpoint.retrieval.core.word_list import read_sections
from counterpoint.retrieval.rerank.reranker import Reranker
from counterpoint.retrieval.words.acronyms import find_acronyms
from counterpoint.retrieval.words.forms import capitalise
from counterpoint.retrieval.words.terms import find_subject, find_terms, weigh_share

SHORTEST, LONGEST = 8, 48
"""The fewest and the most words of a sentence that stands alone."""
LONGEST_QUOTE = 60
"""Words of a sentence that is still quoted."""

_PHRASES = Path(__file__).with_name("phrases.txt")
_LABELS = (
    "Aims?|Background|Objectives?|Introduction|Purpose|Context|Methods?|Design|Setting|Patients|Materials? and methods?|Results?"
    "|Findings|Main results|Interpretation|Discussion|Conclusions?|Summary|Significance|Relevance|Clinical significance"
    "|Implications|Limitations|Importance|Rationale|Measurements and main results|Authors['’] conclusions?"
)
_LABEL = re.compile(
    rf"^(?:\W{{0,2}}(?:[A-Z][A-Z ,/&'()-]{{2,60}}|(?:{_LABELS}))\s*[:.—–-]\s+"  # "CONCLUSIONS: …", "Results. …"
    rf"|[\[(](?:(?i:{_LABELS}))[\])]:?\s*"  # "[Conclusion] …"
    rf"|(?:{_LABELS.upper()})\s+(?=[A-Z][a-z ]))(?=\S)"  # "OBJECTIVES Vitamin D …"
)


def drop_label(sentence: str) -> str:
    """The sentence less the section label at its beginning; the rest stands word for word in the abstract."""
    match = _LABEL.match(sentence)
    return sentence[match.end() :] if match and match.end() < len(sentence) else sentence


def compile_phrases(section: str) -> re.Pattern[str]:
    """Finds any phrase of a section: at the beginning, in its own case, where the section is an opening; else anywhere."""
    begins, flags = ("^", 0) if section.endswith("(opening)") else (r"(?<!\w)", re.IGNORECASE)
    return re.compile(rf"{begins}{_list_alternatives(section)}(?!\w)", flags)


def _list_alternatives(section: str) -> str:
    """A section's phrases as one group of a regular expression."""
    return f"(?:{'|'.join(_load_phrases()[section])})"


@cache
def _load_phrases() -> dict[str, list[str]]:
    return {
        section: [phrase.strip().replace(" ", r"\s+") for line in lines for phrase in line.split(" / ")]
        for section, lines in read_sections(_PHRASES).items()
    }


_CONNECTIVE = re.compile(rf"^(?:{_list_alternatives('connective (opening)')}\s*,\s+)+")
_FINDER = rf"^{_list_alternatives('finder (opening)')}(?:\s+{_list_alternatives('finder aside')})*\s+"
_FOUND_THAT = re.compile(rf"{_FINDER}{_list_alternatives('found')}\s+that\s+")
_WEAK = re.compile(rf"{_FINDER}{_list_alternatives('suggested')}\s+that\s+")
_HEDGE = compile_phrases("hedge")
_HEDGE_WITHIN = 7
"""A hedge must stand within so many words, before any comma, to weaken the statement itself and not a remark behind it."""
_CONTEXT_CUES = [compile_phrases(section) for section in ("anaphoric (opening)", "unanchored", "method (opening)", "method")]
"""A sentence that contains any of these depends on its context, or says how something was found rather than what."""
_BEGINS = re.compile(r"[“\"(\[]?(?:[A-ZÀ-ÖØ-Þα-ωΑ-Ω]|\d+(?:\.\d+)?\s?%|[a-z]{1,4}-?[A-Z0-9])")
_DAMAGE = re.compile(r"[\u00ad•�]|\\u[0-9a-f]{4}|&\w+;")
_JOINT = re.compile(r"(?<=[.!?]);\s+")
"""Some abstracts were put together from their sections with semicolons."""


def trim_sentence(sentence: str) -> str:
    """A sentence from its first informative word on, with a capital and a full stop."""
    text = drop_label(" ".join(sentence.split()))
    for _ in range(2):
        text = _CONNECTIVE.sub("", text)
        sure, weak = _FOUND_THAT.match(text), _WEAK.match(text)
        if sure:
            text = text[sure.end() :]
        elif weak and _HEDGE.search(" ".join(text[weak.end() :].partition(",")[0].split()[:_HEDGE_WITHIN])):
            text = text[weak.end() :]
        text = capitalise(text) if re.match(r"[a-z]+\b", text) else text
    return text if text.endswith((".", "!", "?")) else f"{text}."


def stands_alone(text: str) -> bool:
    """Whether the text can be read without its context, and says more than how something was found."""
    return bool(
        SHORTEST <= len(text.split()) <= LONGEST
        and _BEGINS.match(text)
        and text.endswith(".")
        and not _DAMAGE.search(text)
        and text.count("(") == text.count(")")
        and not any(pattern.search(text) for pattern in _CONTEXT_CUES)
    )


def choose_quotable(sentence: str) -> str:
    """Of several sentences that a source runs together, the last of usable length: it holds the finding."""
    pieces = [" ".join(piece.split()) for piece in _JOINT.split(sentence)]
    usable = [piece for piece in pieces if SHORTEST // 2 <= len(piece.split()) <= LONGEST_QUOTE]
    return usable[-1] if usable else " ".join(sentence.split())


_SHARE = 0.5
"""The share of the question's content words that a sentence must hold to be quoted from a paper that was not read for it."""


class ExtractiveGenerator:
    """A `Generator` that only quotes: a sentence of each paper, at most `sentences` and `words` in all.

    If the papers were read for the question, these are their findings, and nothing else is written. If not, they are the
    sentences that can stand alone and come nearest to the question by the reranker, in the papers' order.
    """

    extractive = True

    def __init__(self, reranker: Reranker | None = None, sentences: int = 7, words: int = 170) -> None:
        if sentences < 1 or words < 1:
            raise BadConfig(f"sentences {sentences}, words {words} do not fit; expected two counts of at least 1.")
        self._reranker, self._sentences, self._words = reranker, sentences, words
        self.name = f"extractive with {reranker.name}" if reranker else "extractive"

    def __call__(self, topic: Topic, sources: Sequence[Source], limits: Limits, prompt: str, first: str = "") -> Draft:
        """The quotations, each citing its paper; `prompt` and `first` are for language models."""
        words = min(self._words, limits.words)
        if any(source.finding for source in sources):
            return Draft(sentences=tuple(write_findings(sources, self._sentences, words)))
        return Draft(sentences=tuple(self._quote_nearest(topic.question, sources, words)))

    def correct(self, failed: Sequence[Failed], topic: Topic, sources: Sequence[Source]) -> list[Draft]:
        """A quotation cannot be corrected."""
        return [Draft()] * len(failed)

    def _quote_nearest(self, question: str, sources: Sequence[Source], words: int) -> Iterator[DraftSentence]:
        """The sentence of each paper nearest to the question, in their order; the nearest have a place first, no text twice."""
        wanted = find_subject(question)
        numbers: dict[str, int] = {}
        for source in sources:
            for text in _list_quotable(source):
                numbers.setdefault(text, source.number)
        shares = {text: share for text in numbers if (share := weigh_share(wanted, find_terms(text))) >= _SHARE}
        scores = self._reranker(question, list(shares)) if self._reranker else shares.values()
        nearest: dict[int, str] = {}
        for text, _ in sorted(zip(shares, scores, strict=True), key=lambda pair: -pair[1]):
            length = sum(len(other.split()) for other in nearest.values())
            if numbers[text] not in nearest and len(nearest) < self._sentences and length + len(text.split()) <= words:
                nearest[numbers[text]] = text
        yield from (DraftSentence(text, (CitedSource(number),)) for number, text in sorted(nearest.items()))


def _list_quotable(source: Source) -> Iterator[str]:
    """The sentences of a source that can stand alone, as they are shown; only its own findings, if these are known. A row of a
    table is none."""
    for place, sentence in enumerate(source.sentences):
        text = trim_sentence(choose_quotable(sentence.text))
        if not sentence.is_row and stands_alone(text) and (source.own_findings is None or place in source.own_findings):
            yield text


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
        sentence = _write_finding(source, source.finding, source is contrast)
        length = sum(len(one.text.split()) for one in sentences.values())
        new = sentence and sentence.text not in {one.text for one in sentences.values()}
        if sentence and new and len(sentences) < most and length + len(sentence.text.split()) <= words:
            sentences[source.number] = sentence
    yield from (sentences[source.number] for source in reporters if source.number in sentences)
    if not sentences:
        quotes = (_write_finding(one, one.finding, longest=words) for one in reporters if one.finding)
        yield from list(filter(None, quotes))[:1]


def _write_finding(
    source: Source, finding: Finding, contrast: bool = False, longest: int = LONGEST_QUOTE
) -> DraftSentence | None:
    """The finding as it stands if it stands alone, else as a quotation; None if it is too long or too short to be either, and for
    a row of a table.

    A finding that leans on what stood before it ("This trial found no benefit") is no less a finding: it is quoted whole, and the
    frame around it says what kind of study says so.
    """
    if finding.sentence.is_row:
        return None
    quote = choose_quotable(finding.sentence.text)
    statement = trim_sentence(quote)
    if stands_alone(statement) and not contrast and _explain_acronyms(statement, source) == statement:
        return DraftSentence(statement, (CitedSource(source.number),))
    quote = drop_label(quote).strip().rstrip(".").rstrip()
    if not 3 <= len(quote.split()) <= longest:
        return None
    study = f"By contrast, {finding.study}" if contrast else capitalise(finding.study)
    text = f"{study} reports: “{_explain_acronyms(quote, source)}”."
    return DraftSentence(text, (CitedSource(source.number, quote),))


def _explain_acronyms(quote: str, source: Source) -> str:
    """A quotation with the long form, in square brackets, after each acronym that its abstract introduces elsewhere."""
    for acronym, words in find_acronyms(source.document.abstract):
        if words.lower() not in quote.lower():
            quote = f"{acronym} [{words}]".join(re.split(rf"(?<![\w-]){re.escape(acronym)}(?![\w-])", quote, maxsplit=1))
    return quote

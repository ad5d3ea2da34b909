"""Full texts: the few sentences of a paper's text that are read for a claim, and what abstract and text say together.

Only sections that tell what the paper found are read: an introduction or a discussion also tells what others found, and methods
tell no finding. Of the passages that BM25 finds, the gate's reader takes the one that most surely takes a side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from nli.judge import Abstract, Reader, compute_margins, drop_question
from retrieval.core.values import Passage, SectionKind, Sentence
from retrieval.index import Index
from retrieval.store.documents import Entry
from service.grounding.values import PaperReading

Window = tuple[Sentence, ...]
"""Sentences that stand together, few enough to be read beside a claim and a title."""
Windows = Mapping[str, Window]
"""The window to read of each paper, by PMID."""
FINDINGS: frozenset[SectionKind] = frozenset({"results", "conclusion", "table", "caption", "other"})
MOST_PASSAGES = 10
"""Passages of a paper that the gate's reader looks at."""
_MOST_WORDS, _MOST_CONTEXT = 95, 40
"""Words of a window, some 140 tokens, and those of a row's caption and group of rows that are read with it."""
DISAGREE = "its abstract and its full text disagree"
ROW_ONLY = "only a row of a table says so"


def choose_windows(index: Index, reader: Reader, claim: str, entries: Sequence[Entry]) -> dict[str, Window]:
    """By PMID, the sentences to read of each paper that has a full text with a passage on the claim."""
    if not index.has_texts or not entries:
        return {}
    pmids = [entry.pmid for entry in entries]
    texts, windows = index.store.full_texts(pmids), list[tuple[Entry, Window]]()
    for entry, hits in zip(entries, index.find_passages(claim, pmids, MOST_PASSAGES), strict=True):
        # On a cluster a text may have been replaced since.
        passages = texts[entry.pmid].passages if entry.pmid in texts else ()
        found = [passages[hit.number] for hit in hits if hit.number < len(passages)]
        windows += [(entry, window) for passage in found for window in cut_windows(passage)]
    readings = reader.read_abstracts(claim, [make_abstract_of(entry, window) for entry, window in windows])
    best: dict[str, tuple[float, Window]] = {}
    for (entry, window), reading in zip(windows, readings, strict=True):
        sure = float(compute_margins([reading.document]).max())
        if entry.pmid not in best or sure > best[entry.pmid][0]:
            best[entry.pmid] = sure, window
    return {pmid: window for pmid, (_, window) in best.items()}


def cut_windows(passage: Passage) -> Iterator[Window]:
    """The sentences of a passage as windows; none if its section tells no finding of the paper. A row is a window of its own."""
    if passage.location.kind not in FINDINGS:
        return
    window: list[Sentence] = []
    words = 0
    for sentence in passage.sentences:
        size = len(sentence.text.split())
        if window and (words + size > _MOST_WORDS or is_row(sentence)):
            yield tuple(window)
            window, words = [], 0
        window.append(sentence)
        words += size
    yield tuple(window)


def is_row(sentence: Sentence) -> bool:
    """Whether a sentence is a row of a table."""
    return sentence.location is not None and sentence.location.kind == "table"


def make_abstract_of(entry: Entry, window: Window) -> Abstract:
    """A window as readers get it: like an abstract, each sentence behind the beginning of what it needs to be understood."""
    return Abstract(drop_question(entry.document.title), tuple(write_in_context(sentence) for sentence in window))


def write_in_context(sentence: Sentence) -> str:
    """The words of a sentence as they are read."""
    context = " ".join(sentence.context.split()[:_MOST_CONTEXT])
    return f"{context}: {sentence.text}" if context else sentence.text


def join_readings(abstract: PaperReading, text: PaperReading) -> PaperReading:
    """What a paper says by its abstract and by its full text.

    Where one is silent, the other stands, and the surer where they agree. Where they are opposed, the paper is uncertain, with a
    sentence of each. A row alone, which may be of a subgroup, gives a paper no side and denies no abstract.
    """
    ours, theirs = abstract.verdict, text.verdict
    row = text.sentence is not None and is_row(text.sentence)
    if theirs.label == "neutral":
        nearer = max(theirs.support, theirs.contradict) > max(ours.support, ours.contradict)
        return text if abstract.sentence is None or (ours.label == "neutral" and nearer) else abstract
    if ours.label == "neutral":
        return replace(text, verdict=replace(theirs, decided="neutral", reason=ROW_ONLY)) if row else text
    if ours.label == theirs.label:
        return text if theirs.probability(theirs.side) > ours.probability(ours.side) and not row else abstract
    if row:
        return abstract
    return replace(abstract, verdict=replace(ours, decided="neutral", reason=DISAGREE), other=text.sentence)

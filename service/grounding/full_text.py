"""Full texts: the few sentences of a paper's text that are read for a claim, and what abstract and text say together.

Of the passages that BM25 finds, the gate's reader takes the window that most surely takes a side. What a language model is sent
of them has to fit into its budget, beside the abstracts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from counterpoint.nli.judge import FullTextRule, Reader
from counterpoint.nli.long_text import Window, choose_windows, cut_windows
from counterpoint.retrieval.core.values import Usage
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.runtime.chat import CHARACTERS_A_TOKEN
from counterpoint.retrieval.runtime.usage import record
from counterpoint.retrieval.store.documents import Entry
from counterpoint.service.grounding.values import PaperReading

Windows = Mapping[str, Window]
"""The window to read of each paper, by PMID."""
DISAGREE = "its abstract and its full text disagree"
ROW_ONLY = "only a row of a table says so"


def find_windows(index: Index, reader: Reader, rule: FullTextRule, claim: str, entries: Sequence[Entry]) -> dict[str, Window]:
    """By PMID, the sentences to read of the full text of each paper; none of one that has no passage on the claim."""
    if not index.has_texts or not entries:
        return {}
    pmids = [entry.pmid for entry in entries]
    texts, papers = index.store.full_texts(pmids), dict[str, tuple[str, list[Window]]]()
    for entry, hits in zip(entries, index.find_passages(claim, pmids, rule.passages), strict=True):
        # On a cluster a text may have been replaced since.
        stored = texts[entry.pmid].passages if entry.pmid in texts else ()
        passages = [stored[hit.number].sentences for hit in hits if hit.number < len(stored)]
        papers[entry.pmid] = entry.document.title, [window for one in passages for window in cut_windows(one, rule.words)]
    return {pmid: one.window for pmid, one in choose_windows(reader, claim, papers).items()}


def keep_within(windows: Windows, tokens: int, sent: int) -> Windows:
    """The first of these windows, as many as can be sent so many times within so many tokens; that others are left out is counted
    in the usage."""
    kept = dict[str, Window]()
    for pmid, window in windows.items():
        tokens -= sent * sum(len(sentence.in_context) for sentence in window) // CHARACTERS_A_TOKEN
        if tokens < 0:
            record(Usage(shortened=True))
            break
        kept[pmid] = window
    return kept


def join_readings(abstract: PaperReading, text: PaperReading, row_decides: bool) -> PaperReading:
    """What a paper says by its abstract and by its full text.

    Where one is silent, the other stands, and the surer where they agree. Where they are opposed, the paper is uncertain, with a
    sentence of each. Unless `row_decides`, a row alone gives a paper no side and denies no abstract.
    """
    ours, theirs = abstract.verdict, text.verdict
    row = text.sentence is not None and text.sentence.is_row and not row_decides
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

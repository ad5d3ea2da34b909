"""Papers by their words, or typed in place of a claim: which document it is, and its finding as a claim."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from counterpoint.generation.extractive import drop_label
from counterpoint.nli.reader.encode import score_for_reading
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Claim, Document, Hit, Passage, Sentence
from counterpoint.retrieval.index import Documents, Index, PassageHit, lead_to_papers
from counterpoint.retrieval.store.documents import Entry
from counterpoint.service.checking.checkable import claim_in
from counterpoint.service.checking.citations import CitedPaper, cited_in, find_cited, list_ids
from counterpoint.service.checking.known import find_known
from counterpoint.service.grounding.claims import MAX_CHARACTERS


@dataclass(frozen=True, slots=True)
class FoundPaper:
    """A document that matches words; `passage` of its full text, if that matches better than title and abstract do; `why` says
    what names it, such as "author and year", if it was typed as one paper."""

    hit: Hit
    document: Document
    passage: Passage | None = None
    why: str = ""


def search_words(index: Index, query: str, end: int, begin: int = 0) -> list[FoundPaper]:
    """The documents from place `begin` (from 0) up to place `end` that match the query's words, best first: those that it names
    (`find_known`), then each by its abstract or its best passage, whichever ranks higher. Ids alone find what they name alone."""
    known = {fit.entry.pmid: fit.why for fit in find_known(index, query)}
    alone = list_ids(query, index.store)[1]
    hits = [] if alone else index.search(query, end, spellings=True)
    passages = [] if alone else index.search_passages(query, end, spellings=True)
    best = {hit.pmid: hit for hit in reversed(passages)}
    ranked: list[tuple[float, Hit | PassageHit]] = [*enumerate(hits)]
    ranked += [(rank + 0.5, best[hit.pmid]) for rank, hit in enumerate(lead_to_papers(passages))]
    joined: dict[str, Hit | PassageHit] = {}
    for _, hit in sorted(ranked, key=lambda row: row[0]):
        joined.setdefault(hit.pmid, hit)
    order = dict.fromkeys((*known, *joined))
    found = [joined.get(pmid, Hit(pmid, 0.0)) for pmid in order][begin:end]
    entries = index.entries([hit.pmid for hit in found])
    return [
        FoundPaper(Hit(hit.pmid, hit.score), entry.document, _read_passage(index, hit), known.get(hit.pmid, ""))
        for hit, entry in zip(found, entries, strict=True)
    ]


def describe_search(index: Index, query: str) -> str:
    """What a reader of `search_words` should know: which ids the index lacks; or ""."""
    ids, alone = list_ids(query, index.store)
    if alone and (missing := [one for one in ids if find_cited(index.store, one) is None]):
        return " ".join(_say_missing(one, index.manifest.counts.documents) for one in missing)
    return ""


def _say_missing(citation: CitedPaper, documents: int) -> str:
    return f"{citation.kind.upper()} {citation.id} is not among the {format_count(documents, 'document')} of this index."


def _read_passage(index: Index, hit: Hit | PassageHit) -> Passage | None:
    if not isinstance(hit, PassageHit):
        return None
    # On a cluster the text may have been replaced since, and have fewer.
    return next(iter(index.passages(hit.pmid)[hit.number :]), None)


def open_paper(store: Documents, citation: CitedPaper, documents: int) -> Entry:
    """The paper that is meant; raises `BadInput` if the index, which has `documents` documents, does not hold it."""
    entry = find_cited(store, citation)
    if entry is None:
        raise BadInput(
            f"{_say_missing(citation, documents).rstrip('.')}; state the claim in a sentence, or add the paper to the index."
        )
    return entry


def find_paper(store: Documents, text: str, documents: int) -> Entry:
    """The paper that a PMID, a DOI or a document's id names; raises `BadInput` if the index has none of that name."""
    name = " ".join(text.split())
    ids, alone = list_ids(name, store) if len(name) <= MAX_CHARACTERS else ((), False)
    if alone and len(ids) == 1:
        return open_paper(store, ids[0], documents)
    if entry := store.get(name):
        return entry
    raise BadInput(
        f"“{name[:200]}” is not a PMID, a DOI, or the id of one of the {format_count(documents, 'document')} of this index."
    )


def check_known(claim: Claim, store: Documents) -> Claim:
    """The claim with its known papers by their ids; raises `BadInput` for one that is neither a PMID nor in the index.

    A PMID that the index lacks may be known all the same. "PMID 123", an address at PubMed or a DOI names a paper too.
    """
    return replace(claim, known_pmids=tuple(dict.fromkeys(_identify(one, store) for one in claim.known_pmids)))


def _identify(known: str, store: Documents) -> str:
    if re.fullmatch(r"[0-9]+", known) or store.get(known):
        return known
    citations = cited_in(known)
    if len(citations) == 1:
        entry = find_cited(store, citations[0])
        if entry or re.fullmatch(r"[0-9]+", citations[0].id):
            return entry.document.pmid if entry else citations[0].id
    raise BadInput(
        f"“{known[:200]}” is given as a known paper, but is neither a PMID nor the id of a document of this index; give PMIDs, "
        "such as 19564453."
    )


def find_finding(entry: Entry) -> tuple[Sentence, str] | None:
    """The sentence in which a paper says what it found, and the claim in it; None for a paper without an abstract.

    It is the best conclusion or result that stands alone; if none does, the best as it is.
    """
    sentences = entry.sentences()
    if not sentences:
        return None
    worth = score_for_reading(entry.document.title, [one.text for one in sentences])
    order = np.argsort(-worth, kind="stable").tolist()
    for place in order:
        claim, _ = claim_in(sentences[place].text, "abstract")
        if claim:
            return sentences[place], claim
    return sentences[order[0]], drop_label(sentences[order[0]].text)

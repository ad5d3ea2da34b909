"""Claims with papers whose stance is known: what calibration, decision and figures are computed from.

Retrieval is BM25 in memory and the shipped reranker, at the depths of the variant `counterpoint`; the service itself searches
with Lucene and vectors. A paper that a claim names is a case whether or not it was found.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from counterpoint.nli.judge import Abstract, drop_question
from counterpoint.nli.training.reader.examples import LESSONS, NAMES, phrase_claim, read_ordinary, read_written
from counterpoint.nli.training.reader.lesson import CONTRADICT, LABELS, NEUTRAL, SUPPORT
from counterpoint.retrieval.core.values import Document
from counterpoint.retrieval.rerank.embedded import EmbeddedReranker
from counterpoint.retrieval.rerank.reranker import make_passage
from counterpoint.retrieval.training.bm25 import TextIndex
from counterpoint.retrieval.training.data import read_rows
from counterpoint.retrieval.training.folds import is_fitted_on, is_held_out

RETRIEVED, READ = 20, 5
"""How many papers are searched for, and how many of them are read."""


@dataclass(frozen=True, slots=True)
class ReaderPaper:
    """A document of a collection."""

    id: str
    abstract: Abstract


@dataclass(frozen=True, slots=True)
class ReaderCase:
    """A claim and one document.

    `gold` is its label, and `named` says whether the claim's source names it; `open` says whether open retrieval reads it;
    `labels` [sentences] are -1 where unlabelled.
    """

    claim: str
    paper: str
    abstract: Abstract
    gold: int
    named: bool
    cited: bool
    open: bool
    labels: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class NamedPapers:
    """A paper that a claim's source names: its label and the places of its evidence sentences."""

    label: int
    evidence: tuple[int, ...] = ()


class PaperCollection:
    """Papers in memory with BM25 and the reranker over them."""

    def __init__(self, papers: Sequence[ReaderPaper], reranker: EmbeddedReranker) -> None:
        self.papers, self._reranker = papers, reranker
        self.place = {paper.id: row for row, paper in enumerate(papers)}
        self._texts = [make_passage(Document("", one.abstract.title, " ".join(one.abstract.sentences))) for one in papers]
        self._index = TextIndex(self._texts)

    def cases(
        self, claim: str, named_papers: Mapping[str, NamedPapers], cited_ids: frozenset[str] = frozenset(), away: bool = False
    ) -> list[ReaderCase]:
        """What open retrieval reads for a claim, and every named or cited paper; `away` removes these from the collection."""
        ids = {*named_papers, *cited_ids}
        hidden_rows = {self.place[one] for one in ids if one in self.place} if away else set()
        hits = [row for row in self._index.top(claim, RETRIEVED + len(hidden_rows)) if row not in hidden_rows][:RETRIEVED]
        scores = self._reranker(claim, [self._texts[row] for row in hits])
        read = [hits[place] for place in sorted(range(len(hits)), key=lambda place: -scores[place])][:READ]
        others = [] if away else [self.place[one] for one in sorted(ids) if one in self.place and self.place[one] not in read]
        return [
            self._make_case(claim, row, named_papers.get(self.papers[row].id), cited_ids, row in read) for row in (*read, *others)
        ]

    def _make_case(self, claim: str, row: int, named: NamedPapers | None, cited_ids: frozenset[str], is_open: bool) -> ReaderCase:
        paper = self.papers[row]
        labels = np.full(len(paper.abstract.sentences), NEUTRAL)
        labels[list(named.evidence) if named else []] = named.label if named else NEUTRAL
        gold = named.label if named else NEUTRAL
        return ReaderCase(
            phrase_claim(claim), paper.id, paper.abstract, gold, named is not None, paper.id in cited_ids, is_open, labels
        )


def read_scifact_papers(data: Path) -> list[ReaderPaper]:
    """SciFact's abstracts."""
    corpus = read_rows(data, "scifact/corpus.jsonl.gz")
    return [ReaderPaper(str(row["doc_id"]), Abstract(drop_question(row["title"]), tuple(row["abstract"]))) for row in corpus]


def make_scifact_cases(data: Path, collection: PaperCollection, most: int, away: bool = False) -> list[list[ReaderCase]]:
    """The cases of each held-out claim of SciFact's train split."""
    cases = []
    claims = [one for one in read_rows(data, "scifact/claims_train.jsonl.gz") if is_held_out(one["claim"])]
    for row in tqdm(claims[:most], desc="SciFact"):
        papers = {}
        for doc, entries in row["evidence"].items():
            label = SUPPORT if entries[0]["label"] == "SUPPORT" else CONTRADICT
            papers[str(doc)] = NamedPapers(label, tuple(sorted({place for entry in entries for place in entry["sentences"]})))
        cases.append(collection.cases(row["claim"], papers, frozenset(map(str, row["cited_doc_ids"])), away))
    return cases


def make_stranger_cases(data: Path, collection: PaperCollection, most: int) -> list[list[ReaderCase]]:
    """The cases of HealthVer's held-out claims, none of whose papers is in the collection."""
    claims = _draw({row["claim"] for row in _read_healthver(data, "train")}, most)
    return [collection.cases(claim, {}) for claim in tqdm(claims, desc="HealthVer's claims, strangers here")]


def make_cases_of_papers(papers: Sequence[dict[str, Any]]) -> list[ReaderCase]:
    """Each paper with its three claims, as if each search had ranked it first."""
    return [
        make_case(paper, paper[name], label)
        for paper in papers
        for name, label in (("true", SUPPORT), ("false", CONTRADICT), ("neutral", NEUTRAL))
    ]


def read_search_cases(data: Path, most: int) -> list[ReaderCase]:
    """The labelled papers of our own searches held out of training, for at most `most` claims."""
    rows = [row for row in read_written(LESSONS, data) if row["from"] == "searches" and is_held_out(row["claim"])]
    claims = set(_draw({row["claim"] for row in rows}, most))
    return [make_case(row, row["claim"], LABELS.index(row["label"])) for row in rows if row["claim"] in claims]


def _draw(claims: set[str], most: int) -> list[str]:
    """At most `most` of the claims, always the same ones, in an order that has nothing to do with what they say."""
    return sorted(claims, key=lambda claim: hashlib.sha256(claim.encode()).digest())[:most]


def make_case(paper: Mapping[str, Any], claim: str, label: int) -> ReaderCase:
    """One paper (`pmid`, `title`, `sentences`, and `evidence`, None where unlabelled) for one claim."""
    abstract = Abstract(drop_question(paper["title"] or ""), tuple(paper["sentences"]))
    labels = np.full(len(abstract.sentences), -1 if paper["evidence"] is None else NEUTRAL)
    labels[paper["evidence"] or []] = label
    has_side = label != NEUTRAL
    return ReaderCase(phrase_claim(claim), str(paper["pmid"]), abstract, label, has_side, has_side, True, labels)


def _read_healthver(data: Path, split: str) -> list[dict[str, Any]]:
    """The rows of the dev split, or those of train's held-out claims."""
    rows = (row for row in read_rows(data, "stance/pairs.jsonl.gz") if row["dataset"] == "healthver" and row["split"] == split)
    return [row for row in rows if split == "dev" or is_held_out(row["claim"])]


def read_healthver_cases(data: Path, split: str, most: int) -> list[ReaderCase]:
    """HealthVer's rows, each abstract whole: which sentence is the evidence is not told."""
    cases = []
    for row in [row for row in _read_healthver(data, split) if row["label"] in NAMES][:most]:
        evidence = [place for place in row["evidence"] or () if place < len(row["sentences"])]
        paper = {"pmid": row.get("title") or "", **row, "title": row.get("title"), "evidence": evidence}
        cases.append(make_case(paper, row["claim"], NAMES[row["label"]]))
    return cases


def read_dev_papers(data: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The dev papers of stance/ordinary, split by PMID into two halves: one to fit on, one to measure on."""
    papers = read_ordinary(data, "dev")
    first = [paper for paper in papers if is_fitted_on(str(paper["pmid"]))]
    return first, [paper for paper in papers if paper not in first]

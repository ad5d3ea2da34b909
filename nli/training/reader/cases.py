"""Documents read for claims whose answer is known: the input of calibration, decision and figures.

Retrieval is BM25 in memory and the shipped reranker, at the depths of the variant `counterpoint`; the service itself searches
with Lucene. A paper that a claim names is read whether or not it was found, and its rank, if any, is recorded.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from nli.judges.judge import Abstract
from nli.reader.judge import DocumentReader
from nli.text.sentences import sentence_spans
from nli.training.labelled import NAMES, clean_claim
from nli.training.pairs import CONTRADICT, LABELS, NEUTRAL, SUPPORT
from nli.training.reader.examples import SEARCHES, read_ordinary, read_written
from retrieval.core.values import Document
from retrieval.rerank.embedded import EmbeddedReranker
from retrieval.rerank.reranker import make_passage
from retrieval.training.bm25 import TextIndex
from retrieval.training.data import read_rows
from retrieval.training.folds import is_fitted_on, is_held_out
from retrieval.words.aboutness import measure_aboutness

RETRIEVED, READ = 20, 5


@dataclass(frozen=True, slots=True)
class ReaderPaper:
    """A document of a collection."""

    id: str
    abstract: Abstract


@dataclass(frozen=True, slots=True)
class ReaderCase:
    """One document read for one claim.

    `gold` is its label, and `named` says whether the claim's source names it; `rank` is its rank after reranking (infinite where
    it was not reranked), `bm25_rank` that before; `labels` [sentences] are -1 where unlabelled; `logits` [1 + sentences, 3].
    """

    claim: str
    paper: str
    gold: int
    named: bool
    cited: bool
    rank: float
    bm25_rank: float
    gap: float
    about: float
    labels: NDArray[np.int64]
    logits: NDArray[np.float32]

    @property
    def open(self) -> bool:
        """Whether open retrieval reads it."""
        return self.rank < READ


@dataclass(frozen=True, slots=True)
class NamedPapers:
    """A paper that a claim's source names: its label and the places of its evidence sentences."""

    label: int
    evidence: tuple[int, ...] = ()


class PaperCollection:
    """Papers in memory with BM25 and the reranker over them."""

    def __init__(self, papers: Sequence[ReaderPaper], reader: DocumentReader, reranker: EmbeddedReranker) -> None:
        self.papers, self._reader, self._reranker = papers, reader, reranker
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
        ranking, scores = self.rerank(claim, hits)
        rows_ = ranking[:READ]
        if not away:
            rows_ = [*rows_, *(self.place[one] for one in sorted(ids) if one in self.place and self.place[one] not in rows_)]
        logits = self._reader.logits(clean_claim(claim), [self.papers[row].abstract for row in rows_])
        return [
            self._make_case(claim, row, named_papers, cited_ids, hits, ranking, scores, one)
            for row, one in zip(rows_, logits, strict=True)
        ]

    def rerank(self, claim: str, rows: Sequence[int]) -> tuple[list[int], list[float]]:
        """These papers, best first, with the reranker's scores."""
        scores = self._reranker(claim, [self._texts[row] for row in rows])
        order = sorted(range(len(rows)), key=lambda place: -scores[place])
        return [rows[place] for place in order], [scores[place] for place in order]

    def _make_case(
        self, claim: str, row: int, named_papers: Mapping[str, NamedPapers], cited_ids: frozenset[str], hits: Sequence[int],
        ranking: Sequence[int], scores: Sequence[float], logits: NDArray[np.float32],
    ) -> ReaderCase:  # fmt: skip
        paper = self.papers[row]
        about_it = named_papers.get(paper.id)
        labels = np.full(len(paper.abstract.sentences), NEUTRAL)
        for place in about_it.evidence if about_it else ():
            labels[place] = about_it.label if about_it else NEUTRAL
        rank = ranking.index(row) if row in ranking else math.inf
        gap = scores[0] - scores[int(rank)] if rank < math.inf else math.inf
        return ReaderCase(
            claim, paper.id, about_it.label if about_it else NEUTRAL, about_it is not None, paper.id in cited_ids, rank,
            hits.index(row) if row in hits else math.inf, gap, measure_aboutness(claim, self._texts[row]), labels, logits,
        )  # fmt: skip


def read_scifact_papers(data: Path) -> list[ReaderPaper]:
    """SciFact's abstracts."""
    corpus = read_rows(data, "scifact/corpus.jsonl.gz")
    return [ReaderPaper(str(row["doc_id"]), Abstract(row["title"], tuple(row["abstract"]))) for row in corpus]


def read_pubmed_papers(data: Path) -> list[ReaderPaper]:
    """The abstracts of pubmed/; those of stance/ordinary with the sentences to which its evidence indices refer."""
    splits = {str(row["pmid"]): tuple(row["sentences"]) for row in read_rows(data, "stance/ordinary.jsonl.gz")}
    papers = []
    for row in read_rows(data, "pubmed/abstracts.jsonl.gz"):
        pmid = str(row["pmid"])
        sentences = splits.get(pmid) or tuple(part[start:end] for part in row["abstract"] for start, end in sentence_spans(part))
        papers.append(ReaderPaper(pmid, Abstract(row["title"] or "", sentences)))
    return papers


def make_scifact_cases(
    data: Path,
    collection: PaperCollection,
    split: str,
    test: Callable[[str], bool] = lambda _: True,
    away: bool = False,
    most: int = 10_000,
) -> list[list[ReaderCase]]:
    """The cases of each claim of SciFact's train or dev split."""
    cases = []
    claims = [one for one in read_rows(data, f"scifact/claims_{split}.jsonl.gz") if test(one["claim"])]
    for row in tqdm(claims[:most], desc=f"SciFact {split}"):
        papers = {}
        for doc, entries in row["evidence"].items():
            label = SUPPORT if entries[0]["label"] == "SUPPORT" else CONTRADICT
            papers[str(doc)] = NamedPapers(label, tuple(sorted({place for entry in entries for place in entry["sentences"]})))
        cases.append(collection.cases(row["claim"], papers, frozenset(map(str, row["cited_doc_ids"])), away))
    return cases


def make_stranger_cases(data: Path, collection: PaperCollection, dataset: str, most: int) -> list[list[ReaderCase]]:
    """The cases of claims of another set's held-out fold, none of whose papers is in the collection."""
    texts = {
        row["claim"] for row in read_rows(data, "stance/pairs.jsonl.gz")
        if row["dataset"] == dataset and row["split"] == "train" and is_held_out(row["claim"])
    }  # fmt: skip
    claims = _draw(texts, most)
    return [collection.cases(claim, {}) for claim in tqdm(claims, desc=f"{dataset} claims, strangers here")]


def make_ordinary_cases(collection: PaperCollection, papers: Sequence[dict[str, Any]]) -> list[list[ReaderCase]]:
    """The true and the false claim of each paper in an open search: two lists per paper, in the order of the papers."""
    cases = []
    for paper in tqdm(papers, desc="ordinary claims"):
        for name, label in (("true", SUPPORT), ("false", CONTRADICT)):
            cases.append(collection.cases(paper[name], {str(paper["pmid"]): NamedPapers(label, tuple(paper["evidence"]))}))
    return cases


def read_cases_of_papers(reader: DocumentReader, papers: Sequence[dict[str, Any]]) -> list[ReaderCase]:
    """Each paper read for its three claims, as if each search had ranked it first."""
    return [
        read_case(reader, paper, paper[name], label)
        for paper in tqdm(papers, desc="ordinary claims, paper given")
        for name, label in (("true", SUPPORT), ("false", CONTRADICT), ("neutral", NEUTRAL))
    ]


def read_search_cases(reader: DocumentReader, data: Path, most: int) -> list[ReaderCase]:
    """The labelled papers of our own searches (`searches/*.jsonl`) held out of training, for at most `most` claims."""
    rows = [row for row in read_written(SEARCHES, data) if is_held_out(row["claim"])]
    claims = set(_draw({row["claim"] for row in rows}, most))
    rows = [row for row in rows if row["claim"] in claims]
    return [
        read_case(reader, row, row["claim"], LABELS.index(row["label"])) for row in tqdm(rows, desc="our searches, papers given")
    ]


def _draw(claims: set[str], most: int) -> list[str]:
    """At most `most` of the claims, always the same ones, in an order that has nothing to do with what they say."""
    return sorted(claims, key=lambda claim: hashlib.sha256(claim.encode()).digest())[:most]


def read_case(reader: DocumentReader, paper: Mapping[str, Any], claim: str, label: int) -> ReaderCase:
    """One paper (`pmid`, `title`, `sentences`, and `evidence`, None where unlabelled) read for one claim."""
    abstract = Abstract(paper["title"] or "", tuple(paper["sentences"]))
    text = make_passage(Document("", abstract.title, " ".join(abstract.sentences)))
    labels = np.full(len(abstract.sentences), -1 if paper["evidence"] is None else NEUTRAL)
    labels[paper["evidence"] or []] = label
    logits, has_side = reader.logits(claim, [abstract])[0], label != NEUTRAL
    about = measure_aboutness(claim, text)
    return ReaderCase(claim, str(paper["pmid"]), label, has_side, has_side, 0, 0, 0.0, about, labels, logits)


Given = tuple[int, NDArray[np.int64], NDArray[np.float32]]
"""A gold label, the gold labels [sentences] and the logits [1 + sentences, 3] of an abstract that is given with its claim."""


def read_labelled_given(
    data: Path,
    reader: DocumentReader,
    dataset: str,
    split: str,
    test: Callable[[str], bool] = lambda _: True,
    most: int = 10_000,
) -> list[Given]:
    """The rows of a labelled set, each abstract read whole: the reader does not know which sentence is the evidence."""
    abstracts: list[Given] = []
    rows = [
        row for row in read_rows(data, "stance/pairs.jsonl.gz")
        if row["dataset"] == dataset and row["split"] == split and row["label"] in NAMES and test(row["claim"])
    ]  # fmt: skip
    for row in tqdm(rows[:most], desc=f"{dataset} {split}"):
        label, labels = NAMES[row["label"]], np.full(len(row["sentences"]), NEUTRAL)
        labels[[place for place in row["evidence"] or () if place < len(labels)]] = label
        abstract = Abstract(row.get("title") or "", tuple(row["sentences"]))
        abstracts.append((label, labels, reader.logits(clean_claim(row["claim"]), [abstract])[0]))
    return abstracts


def read_dev_papers(data: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The dev papers of stance/ordinary, split by PMID into two halves: one to fit on, one to measure on."""
    papers = read_ordinary(data, "dev")
    first = [paper for paper in papers if is_fitted_on(str(paper["pmid"]))]
    return first, [paper for paper in papers if paper not in first]

"""The training data of the relevance model: queries, each with a document that answers it, cut by the tokenizer.

Papers of `pubmed/reserved_pmids.txt` are left out of every set that names its papers by PMID.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterpoint.retrieval.core.values import Document
from counterpoint.retrieval.rerank.reranker import make_passage
from counterpoint.retrieval.training.data import read_lines, read_reserved_pmids, read_rows
from counterpoint.retrieval.training.folds import is_held_out


@dataclass(frozen=True, slots=True)
class Relevant:
    """`key` names the document, so that two queries of one document do not serve as each other's negatives."""

    query: str
    title: str
    abstract: str
    key: str

    @property
    def passage(self) -> str:
        """The whole text."""
        return make_passage(Document("", self.title, self.abstract))

    @property
    def end(self) -> str:
        """The title and the last sentence, nearly what an index of short vectors holds (`indexes.vectors`)."""
        return make_passage(Document("", self.title, self.abstract.rstrip(". ").rpartition(". ")[2]))


def read_scifact(folder: Path) -> Iterator[Relevant]:
    """SciFact train claims and the abstracts they cite, without the held-out fold, which serves to weigh the score's parts."""
    corpus = {int(row["doc_id"]): row for row in read_rows(folder, "scifact/corpus.jsonl.gz")}
    for claim in read_rows(folder, "scifact/claims_train.jsonl.gz"):
        for doc_id in claim["cited_doc_ids"]:
            document = corpus.get(int(doc_id))
            if document is not None and not is_held_out(claim["claim"]):
                yield Relevant(claim["claim"], document["title"], " ".join(document["abstract"]), f"scifact {doc_id}")


def read_bioasq(folder: Path, rng: random.Random) -> Iterator[Relevant]:
    """BioASQ questions and the snippets of one of their papers."""
    reserved = read_reserved_pmids(folder)
    for question in read_rows(folder, "relevance/bioasq_questions.jsonl.gz"):
        snippets: dict[str, list[str]] = defaultdict(list)
        for snippet in question["snippets"]:
            if snippet["pmid"] not in reserved:
                snippets[snippet["pmid"]].append(snippet["text"])
        if snippets:
            pmid = rng.choice(sorted(snippets))
            yield Relevant(question["body"], "", " ".join(snippets[pmid]), f"pubmed {pmid}")


def read_pubmedqa(folder: Path) -> Iterator[Relevant]:
    """PubMedQA's questions and the abstracts they were asked about; the dataset itself removes the conclusions."""
    reserved = read_reserved_pmids(folder)
    for row in read_rows(folder, "relevance/pubmedqa.jsonl.gz"):
        if str(row["pmid"]) not in reserved:
            yield Relevant(row["QUESTION"], "", " ".join(row["CONTEXTS"]), f"pubmed {row['pmid']}")


def read_stance_claims(folder: Path, datasets: frozenset[str]) -> Iterator[Relevant]:
    """Train claims of stance sets and the abstracts judged for them (once a claim)."""
    keys: set[tuple[str, str]] = set()
    for row in read_rows(folder, "stance/pairs.jsonl.gz"):
        if row["dataset"] not in datasets or row["split"] != "train" or (row["dataset"], row["claim"]) in keys:
            continue
        if row["label"] == "NEI":
            continue
        keys.add((row["dataset"], row["claim"]))
        abstract = " ".join(row["sentences"])
        yield Relevant(row["claim"], row["title"] or "", abstract, row["title"] or abstract[:80])


def read_ordinary(folder: Path, claims: Path, most: int, rng: random.Random) -> Iterator[Relevant]:
    """Claims in people's own words and the abstracts that they were written about, at most `most` of each paper.

    They come from `stance/ordinary.jsonl.gz` (train) and, about PubMed, from `claims.jsonl`. A false claim is as relevant as a
    true one; claims that a paper leaves open are not read.
    """
    written = read_lines(claims)
    ordinary = [row for row in read_rows(folder, "stance/ordinary.jsonl.gz") if row["split"] == "train"]
    reserved = read_reserved_pmids(folder)
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in [*ordinary, *written]:
        if "pmid" in row and str(row["pmid"]) not in reserved:
            rows[str(row["pmid"])].append(row)
    for record in read_rows(folder, "pubmed/abstracts.jsonl.gz"):
        options = [row[side] for row in rows.get(record["pmid"], []) for side in ("true", "false")]
        for claim in rng.sample(options, min(most, len(options))):
            yield Relevant(claim, record["title"] or "", " ".join(record["abstract"]), f"pubmed {record['pmid']}")


def read_conclusions(folder: Path, count: int, rng: random.Random) -> Iterator[Relevant]:
    """The last sentence of PubMed abstracts as the claim, the title and the rest as its passage."""
    reserved = read_reserved_pmids(folder)
    records = [
        record for record in read_rows(folder, "pubmed/abstracts.jsonl.gz") if record["title"] and record["pmid"] not in reserved
    ]
    for record in rng.sample(records, min(count, len(records))):
        text = " ".join(record["abstract"])
        rest, _, last = text.rstrip(". ").rpartition(". ")
        if len(rest) > 300 and 60 < len(last) < 260:
            yield Relevant(last + ".", record["title"], f"{rest}.", f"pubmed {record['pmid']}")

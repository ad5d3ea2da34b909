"""Test collections for retrieval: documents, queries, and which documents answer which query.

BEIR's layout (Thakur et al. 2021, arXiv 2104.08663) is read as distributed: corpus.jsonl with _id, title and text,
queries.jsonl with _id and text, and qrels either as its tab-separated table with a header or as TREC's four columns.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexes.readers.base import jsonl
from indexes.readers.base.fields import RecordError, check_required, raise_bad, read_id, read_text
from indexes.readers.base.jsonl import read_documents
from indexes.readers.json_formats import make_scifact
from retrieval.core.code_hash import hash_code
from retrieval.core.errors import BadInput, BadRecord, translate_write_errors
from retrieval.core.values import Document
from retrieval.store.journal import Origin, hash_file
from retrieval.store.manifest import write_atomically

Qrels = Mapping[str, Mapping[str, int]]
"""For each query, the grades of its judged documents; a grade above 0 means relevant."""


@dataclass(frozen=True)
class Collection:
    """Queries by id, their qrels, and the file of documents in Counterpoint's own format."""

    name: str
    documents: Path
    queries: Mapping[str, str]
    qrels: Qrels


def read_beir(corpus: Path, queries: Path, qrels: Path, work: Path) -> Collection:
    """A collection in BEIR's layout, plain or gzipped; its documents are written into `work` in our own format.

    Only queries with a relevant document count, as in BEIR. Raises a one-sentence `BadInput` for a file of another form.
    """
    grades = read_qrels(qrels)
    texts = {one: words for one, words in jsonl.read_records(queries, _query) if one in grades}
    lacking = next((query for query in grades if query not in texts), None)
    if lacking is not None:
        raise BadInput(f"{qrels} judges the query {lacking}, which is not in {queries}; name the matching queries.")
    documents = write_documents(corpus, work, lambda: (document for _, document in jsonl.read_records(corpus, _document)))
    return Collection(corpus.name, documents, texts, grades)


def read_scifact_as_beir(claims: Path, corpus: Path, work: Path) -> Collection:
    """SciFact as in BEIR: the 300 claims of the dev set are the queries, and every document that a claim cites is relevant."""
    texts: dict[str, str] = {}
    grades: dict[str, dict[str, int]] = {}
    for one, (claim, documents) in jsonl.read_records(claims, _claim):
        texts[one], grades[one] = claim, dict.fromkeys(documents, 1)
    if not texts:
        raise BadInput(f"{claims} holds no claims that cite a document.")
    return Collection(
        "SciFact", write_documents(corpus, work, lambda: read_documents(corpus, make_scifact, raise_bad)), texts, grades
    )


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Relevant documents by query: BEIR's table (query-id, corpus-id, score) or TREC's (query, 0, document, grade).

    Raises `BadRecord` for an invalid line and `BadInput` where no document is relevant.
    """
    grades: dict[str, dict[str, int]] = {}
    for number, line in jsonl.read_lines(path):
        parts = line.decode("utf-8", "replace").split()
        if number == 1 and parts[:2] == ["query-id", "corpus-id"]:
            continue
        try:
            query, document, grade = parts if len(parts) == 3 else (parts[0], *parts[2:])
            if int(grade) > 0:
                grades.setdefault(query, {})[document] = int(grade)
        except (ValueError, IndexError):
            hint = "expected a query, a document and a grade, or TREC's four columns with a 0 between the first two"
            raise BadRecord(path, f"line {number}", f"{hint}; got {len(parts)} columns.") from None
    if not grades:
        raise BadInput(f"{path} names no relevant document; expected a table of queries, documents and grades.")
    return grades


def write_documents(source: Path, work: Path, documents: Any) -> Path:
    """The documents of `source` in Counterpoint's format in `work`, written once for each content of the file."""
    path = Origin(hash_file(source), source.name, hash_code([documents.__module__])).path(work, "documents", ".jsonl")
    if not path.exists():
        with translate_write_errors("the documents", work):
            work.mkdir(parents=True, exist_ok=True)
            write_atomically(path, "".join(_lines(documents())))
    return path


def _lines(documents: Iterable[Document]) -> Iterator[str]:
    pmids = set()
    for one in documents:
        if one.pmid in pmids:
            raise BadInput(f"The document {one.pmid} appears twice; every id must be unique.")
        pmids.add(one.pmid)
        yield json.dumps({"pmid": one.pmid, "title": one.title, "abstract": one.abstract}) + "\n"
    if not pmids:
        raise BadInput("The corpus contains no document; an index needs at least one.")


def _query(record: Mapping[str, Any], _number: int) -> tuple[str, str]:
    check_required(record, "_id", "text")
    return read_id(record["_id"], "_id"), read_text(record, "text")


def _document(record: Mapping[str, Any], _number: int) -> tuple[str, Document]:
    check_required(record, "_id", "text")
    one = read_id(record["_id"], "_id")
    return one, Document(one, read_text(record, "title"), read_text(record, "text"))


def _claim(record: Mapping[str, Any], _number: int) -> tuple[str, tuple[str, list[str]]]:
    check_required(record, "id", "claim", "cited_doc_ids")
    documents = record["cited_doc_ids"]
    if not isinstance(documents, list):
        raise RecordError('expected a list in "cited_doc_ids"')
    return read_id(record["id"], "id"), (read_text(record, "claim"), [str(document) for document in documents])

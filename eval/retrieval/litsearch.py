"""LitSearch (Ajith et al. 2024, arXiv 2407.18940): researchers' questions, and the papers that they look for.

A question is specific (at most five papers are relevant) or broad (up to twenty); the measure is the share of its papers among
the first 5 or 20. Retrieval is over title and abstract or the full text. A language model may rerank the hits: as they are
(vanilla), or together with the papers that the first ones cite (one-hop). The data is at
https://github.com/princeton-nlp/LitSearch.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from eval.measures.resuming import answer_or
from eval.retrieval.collection import write_documents
from eval.retrieval.kept_index import KEPT, by_vectors, ids, open_index, show_progress
from eval.retrieval.paper_order import Order, ask_for_order, order_papers
from eval.retrieval.ranking import RankingReport, Run, make_report
from indexes.guard import report_interrupt
from indexes.readers.base import jsonl
from indexes.readers.base.fields import check_required, read_id, read_text
from indexes.readers.base.records import RecordError
from retrieval.core.code_hash import hash_code
from retrieval.core.errors import BadInput
from retrieval.core.values import Document
from retrieval.dense.encoder import Encoder
from retrieval.index import Index
from retrieval.runtime.chat import Chat
from retrieval.store.journal import Journal, Origin, hash_json

_log = logging.getLogger("counterpoint")
Reading = Literal["title-abstract", "full"]
DEPTH = 200
"""The depth of retrieval, and the most candidates that one hop leads to."""
CITING = 50
"""How many of the first papers add their citations to the candidates."""
ORDERED = {"vanilla": 100, "onehop": DEPTH}
"""How many candidates the language model orders, by their origin: as found, or widened by citations."""


@dataclass(frozen=True, slots=True)
class Question:
    """A researcher's question and its relevant papers."""

    id: str
    text: str
    specific: bool
    papers: tuple[str, ...]


@dataclass(frozen=True)
class Library:
    """The papers: the file of them in our own format, and which of the others each one cites."""

    documents: Path
    cites: Mapping[str, Sequence[str]]


def read_questions(path: Path) -> list[Question]:
    """LitSearch's queries as JSON lines: query, specificity (1 specific, 0 broad), corpusids.

    Raises `BadInput` for a file without a question or with an invalid line.
    """
    return jsonl.read_some(path, _question, "question", "query, specificity and corpusids")


def _question(record: Mapping[str, Any], number: int) -> Question:
    check_required(record, "query", "specificity", "corpusids")
    words, specific, papers = read_text(record, "query"), record["specificity"], record["corpusids"]
    if not words:
        raise RecordError('expected words in "query", got an empty text')
    if specific not in (0, 1) or not isinstance(papers, list) or not papers:
        raise RecordError('expected 0 or 1 in "specificity" and a list of ids, not empty, in "corpusids"')
    return Question(str(number), words, specific == 1, tuple(dict.fromkeys(read_id(one, "corpusids") for one in papers)))


def read_library(path: Path, work: Path, reading: Reading) -> Library:
    """LitSearch's corpus as JSON lines: corpusid, title, abstract, citations (ids), and full_paper for `full`."""
    records = list(jsonl.read_records(path, lambda record, _number: _paper(record, reading)))
    cites = {paper.pmid: references for paper, references in records}
    citations = {one: [other for other in others if other in cites and other != one] for one, others in cites.items()}
    return Library(write_documents(path, work / reading, lambda: [paper for paper, _ in records]), citations)


def _paper(record: Mapping[str, Any], reading: Reading) -> tuple[Document, list[str]]:
    body = "full_paper" if reading == "full" else "abstract"
    check_required(record, "corpusid", "title", "abstract", body)
    references = record.get("citations") or []
    if not isinstance(references, list):
        raise RecordError('expected a list of ids in "citations"')
    paper = Document(read_id(record["corpusid"], "corpusid"), read_text(record, "title"), read_text(record, body))
    return paper, [str(other) for other in references]


def hops(names: Sequence[str]) -> list[str]:
    """These ways of reordering, without duplicates; raises `BadInput` for one that does not exist."""
    for name in names:
        if name not in ORDERED:
            raise BadInput(f"There is no reordering {name!r}; it is {' or '.join(ORDERED)}.")
    return list(dict.fromkeys(names))


def widen(pmids: Sequence[str], cites: Mapping[str, Sequence[str]], citing: int = CITING, most: int = DEPTH) -> list[str]:
    """The first `citing` papers and those that they cite, in the order of the citing papers, `most` in all."""
    first = list(dict.fromkeys(pmids[:citing]))
    return list(dict.fromkeys([*first, *(other for one in first for other in cites.get(one, ()))]))[:most]


class KeptOrders:
    """A chat model's orders, kept one per line: a resumed run asks for no window twice.

    Where the model's answer is unusable the papers keep their order; `unanswered` of `asked` windows did.
    """

    def __init__(self, chat: Chat, work: Path) -> None:
        self._chat = chat
        self.asked = self.unanswered = 0
        origin = Origin(None, [chat.model, chat.base_url], hash_code(["eval.retrieval.paper_order"]))
        self._journal = Journal.of(origin, work, "orders")

    def __call__(self, question: str, papers: Sequence[Document]) -> list[int]:
        """The order of these papers, from the journal or from the model; raises `ChatUnanswered` where the server is gone."""
        key = hash_json([question, [(one.pmid, one.title, one.abstract) for one in papers]])
        order: list[int] = self._journal.fill(key, lambda: answer_or([], lambda: [*ask_for_order(self._chat, question, papers)]))
        self.asked += 1
        self.unanswered += not order
        return order or list(range(len(papers)))


@report_interrupt("the benchmark", KEPT)
def measure(
    questions: Sequence[Question],
    library: Library,
    work: Path,
    command: str,
    title: str,
    encoder: Encoder | None = None,
    chat: Chat | None = None,
    reorderings: Sequence[str] = (),
) -> tuple[RankingReport, ...]:
    """Make a table for specific questions and one for broad ones: BM25, vectors, both fused, and the last of these reordered."""
    lacking = next((one for question in questions for one in question.papers if one not in library.cites), None)
    if lacking is not None:
        raise BadInput(f"A question asks for the paper {lacking}, which is not in the corpus; name the matching corpus.")
    index = open_index(library.documents, work, [encoder] if encoder else [])
    try:
        runs = _search_all(questions, index, encoder)
        name, start = list(runs.items())[-1]
        if chat:
            order = KeptOrders(chat, work)
            for hop in reorderings:
                runs[f"{name}, {hop} by {chat.model}"] = _order(questions, start, library, index, order, hop)
            if order.unanswered:
                _log.warning(
                    "%s gave no usable order of %d of %d lists of papers; these stay as they were.",
                    chat.model, order.unanswered, order.asked,
                )  # fmt: skip
    finally:
        index.close()
    tables = []
    for kind, specific, measures in (("Specific", True, ("R@5", "R@20")), ("Broad", False, ("R@20",))):
        qrels = {one.id: dict.fromkeys(one.papers, 1) for one in questions if one.specific is specific}
        if qrels:
            tables.append(make_report(f"{kind} questions, {title}", qrels, runs, measures, command))
    return tuple(tables)


def _search_all(questions: Sequence[Question], index: Index, encoder: Encoder | None) -> dict[str, Run]:
    queries = {one.id: one.text for one in questions}
    words = {one: index.search(text, DEPTH) for one, text in show_progress("BM25", queries)}
    return {"BM25": ids(words)} | (by_vectors(index, encoder, queries, words, DEPTH) if encoder else {})


def _order(
    questions: Sequence[Question], start: Run, library: Library, index: Index, order: Order, hop: str
) -> dict[str, list[str]]:
    run: dict[str, list[str]] = {}
    queries = {one.id: one.text for one in questions}
    for one, text in show_progress(f"{hop} reranking", queries):
        candidates = widen(start[one], library.cites) if hop == "onehop" else list(start[one])
        papers = [entry.document for entry in index.entries(candidates[: ORDERED[hop]])]
        run[one] = [*(paper.pmid for paper in order_papers(order, text, papers)), *candidates[ORDERED[hop] :]]
    return run

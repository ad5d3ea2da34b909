"""The plain pipeline: V5 the way the paper and the TREC starter kit do it, with none of our shortcuts.

BM25 through Pyserini on the same Lucene index, spaCy and negspacy over the text of every retrieved document at query time, every
sentence with a cue judged by a Hugging Face model in batches of 32 in the order of arrival, no early stop, nothing stored, one
step after the other. Its logic is written independently here, so that the comparison with `service.grounding.ground` can fail.

**Sentences and cues.** No term set can make negspacy's notion of a cue match ours: spaCy's tokenizer cuts "no-reflow" into
three tokens and finds "no", it knows neither the acronym NO nor "no. 5", and a pseudo-negation also swallows the cue after it.
So spaCy and negspacy run with our 23 cues *only for their cost*, and are timed. The sentences, and which of them hold a cue, are
then taken from `nli.text.sentences` and `nli.text.negation`, computed from the text at query time and not timed, so that both
pipelines judge the same sentences.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import spacy
from negspacy import negation as _registers_negex  # noqa: F401
from spacy.tokens import Doc

from nli.judge import Judge
from nli.text.negation import find_cues_by_sentence, make_termset
from nli.text.sentences import split_document
from retrieval.bm25.lucene import K1, B, load_pyserini
from retrieval.core.values import Claim, Document, Premise, Sentence, Span, Verdict
from retrieval.index import Index
from retrieval.rerank.reranker import Reranker, make_passage
from retrieval.store.manifest import LUCENE

Search = Callable[[str, int], list[str]]
"""Maps a query and a depth to the PMIDs found, best first."""
CONTRADICT_DEPTH, SUPPORT_DEPTH, RETURNED = 1000, 100, 3
"""The paper's: arXiv 2603.17580, V5."""


@dataclass
class PlainResult:
    """What one branch returned and all it examined; `seconds` by stage."""

    documents: list[Document] = field(default_factory=list)
    found: list[tuple[str, Sentence | None]] = field(default_factory=list)
    premises: list[Premise] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time of a block to a stage."""
        began = time.perf_counter()
        yield
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - began


class Plain:
    """The plain pipeline over one of our indexes: its Lucene part, and its texts without anything else stored with them."""

    def __init__(self, index: Index, judge: Judge, reranker: Reranker, search: Search | None = None) -> None:
        self.index, self.judge, self.reranker = index, judge, reranker
        self._search = search or pyserini_search(index)
        self._nlp = spacy.blank("en")
        self._nlp.add_pipe("sentencizer")
        self._nlp.add_pipe("negex", config={"neg_termset": make_termset()})

    def seconds(self, claim: Claim) -> float:
        """The seconds that both branches take for a claim."""
        began = time.perf_counter()
        self.support(claim, without=frozenset(pmid for pmid, _ in self.contradict(claim).found))
        return time.perf_counter() - began

    def contradict(self, claim: Claim, k: int = CONTRADICT_DEPTH) -> PlainResult:
        """The first three documents in BM25's order with a sentence whose most probable class is contradiction."""
        result = PlainResult()
        with result.timed("retrieve"):
            result.documents = self.documents(claim, k)
        with result.timed("annotate"):
            self.annotate(result.documents)
        sentences = [sentence for document in result.documents for sentence in cue_sentences(document)]
        titles = {document.pmid: document.title for document in result.documents}
        result.premises = [Premise(sentence.text, titles[sentence.pmid]) for sentence in sentences]
        with result.timed("judge"):
            result.verdicts = list(self.judge(claim.text, result.premises))
        best: dict[str, tuple[float, Sentence]] = {}
        for sentence, verdict in zip(sentences, result.verdicts, strict=True):
            likelier = sentence.pmid not in best or verdict.contradict > best[sentence.pmid][0]
            if verdict.label == "contradict" and likelier:
                best[sentence.pmid] = (verdict.contradict, sentence)
        result.found = [(pmid, sentence) for pmid, (_, sentence) in list(best.items())[:RETURNED]]
        return result

    def support(self, claim: Claim, without: frozenset[str] = frozenset(), k: int = SUPPORT_DEPTH) -> PlainResult:
        """The reranker's top three of BM25's first hundred documents that are not known, excluding those in `without`."""
        result, exclusions = PlainResult(), set(claim.known_pmids)
        with result.timed("retrieve"):
            candidates = [document for document in self.documents(claim, k + len(exclusions)) if document.pmid not in exclusions][
                :k
            ]
            result.documents = [document for document in candidates if document.pmid not in without]
        with result.timed("rerank"):
            scores = self.reranker(claim.text, [make_passage(document) for document in result.documents])
        order = sorted(range(len(scores)), key=lambda place: -scores[place])
        result.found = [(result.documents[place].pmid, None) for place in order[:RETURNED]]
        return result

    def documents(self, claim: Claim, k: int) -> list[Document]:
        """BM25's best documents for question and claim, with their texts."""
        pmids = self._search(f"{claim.question} {claim.text}".strip(), k)
        return [entry.document for entry in self.index.entries(pmids)]

    def annotate(self, documents: Sequence[Document]) -> list[Doc]:
        """spaCy's sentences and negspacy's negations in every abstract."""
        return list(self._nlp.pipe(document.abstract for document in documents))


def open_plain(index: Index, warm_up: Claim) -> Plain:
    """The plain pipeline with the shipped models in torch, after a first, shallow search that warms it up."""
    from bench.torch_models import TorchJudge, TorchReranker

    plain = Plain(index, TorchJudge(), TorchReranker())
    plain.contradict(warm_up, k=20)
    return plain


def pyserini_search(index: Index) -> Search:
    """BM25 by Pyserini's own searcher on the Lucene part of an index, with the paper's constants."""
    load_pyserini()  # starts Java and silences it; Pyserini's modules must come after that
    # On import they create an OpenAI client, which fails without a key. It is never used.
    os.environ.setdefault("OPENAI_API_KEY", "none")
    from pyserini.analysis import get_lucene_analyzer
    from pyserini.search.lucene import LuceneSearcher

    searcher = LuceneSearcher(str(index.folder / index.manifest.data / LUCENE))
    searcher.set_bm25(K1, B)
    searcher.set_analyzer(get_lucene_analyzer(stopwords=False))
    return lambda query, k: [hit.docid for hit in searcher.search(query, k)]


def cue_sentences(document: Document) -> list[Sentence]:
    """The sentences of a document that hold a cue, found in its text at query time."""
    spans: Sequence[Span] = split_document(document)
    places = {index for index, _ in find_cues_by_sentence(document.abstract, spans)}
    return [Sentence(document.pmid, i, *spans[i], document.abstract[slice(*spans[i])]) for i in sorted(places)]

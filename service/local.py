"""Counterpoint in this process, over one index: the same calls and results as the HTTP client, without a server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from pathlib import Path

from service.answering.answer import Answerer
from service.answering.schemas import AnswerResponse
from service.assembly import assemble, assemble_answerer_beside
from service.checking.check import Checker, Reading
from service.checking.reading import read_text
from service.checking.schemas import CheckedText
from service.configuration import defaults
from service.grounding.claims import check_claim, check_query, check_topic
from service.grounding.ground import Grounder
from service.http.schemas import HitOut, SearchResponse
from service.operating.libraries import find_index
from service.queries.grounding import check_written, describe_query, ground_query
from service.queries.papers import search_words
from service.queries.schemas import TypedGroundResponse, TypedOut
from service.reading.evidence import EvidenceFinder, make_finder_beside
from service.reading.schemas import EvidenceRequest, EvidenceResponse, name_paper


class LocalService:
    """An opened index with its models; use it in a `with` block, or `close` it. Every fault is a `CounterpointError`.

    Models that only answers or evidence need are loaded at the first call that needs them.
    """

    def __init__(self, grounder: Grounder, answers: str = defaults.ANSWERS) -> None:
        self._grounder, self._answers = grounder, answers

    def __enter__(self) -> LocalService:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index's files."""
        self._grounder.index.close()

    def ground(
        self,
        claim: str,
        question: str = "",
        known_pmids: Iterable[str | int] = (),
        read: int | None = None,
        full_text: bool = False,
    ) -> TypedGroundResponse:
        """Both sides of a claim; `typed` says what the input was taken for, and `read` how many papers are read at most, with
        `full_text` only of those whose full text the index holds.

        Raises `BadInput` for what cannot be a claim.
        """
        statement = check_claim(claim, question, known_pmids)
        return ground_query(self._grounder, statement, partial(self._grounder.ground, papers=read, full_text=full_text))[0]

    def typed(self, text: str) -> TypedOut:
        """What a text is: a claim, a question, keywords, a paper, a whole text or another language."""
        return describe_query(self._grounder.index, check_written(text))

    def answer(self, question: str, narrative: str = "", topic: str = "", id: str = "") -> AnswerResponse:
        """A short answer that begins with its lead; each citation says how it was checked."""
        request = check_topic(question, topic, narrative, id)
        return AnswerResponse.of(self._answerer.answer(request), self._answerer)

    def search(self, query: str, most: int = 20) -> list[HitOut]:
        """The papers that a query names, then those that hold its words, best first."""
        index, words = self._grounder.index, check_query(query)
        return SearchResponse.of(words, 1, search_words(index, words, most), None, index.manifest.id).hits

    def evidence(
        self,
        hypothesis: str,
        sentences: Sequence[str] | None = None,
        text: str | None = None,
        jats: str | None = None,
        k: int = 5,
        results_only: bool = False,
        pmid: str | int | None = None,
    ) -> EvidenceResponse:
        """The `k` sentences of one paper that together carry the most evidence; the paper is given in one of its forms, or by its
        PMID, DOI or id in the index.

        Raises `BadInput` if it is given in none or several of them, or has fewer sentences than `k`.
        """
        paper = name_paper(sentences, text, jats, pmid)
        request = EvidenceRequest.check(hypothesis=hypothesis, **paper, k=k, results_only=results_only)
        found = self._finder.find(request.hypothesis, request.paper(self._grounder.index), request.k, request.results_only)
        return EvidenceResponse.of(found)

    def text(self, text: str) -> CheckedText:
        """A text (plain or Markdown, of any length) with the verdict on each of its sentences."""
        return Checker(self._grounder).check(Reading.of(read_text(text)))

    @cached_property
    def _answerer(self) -> Answerer:
        return assemble_answerer_beside(self._grounder, self._answers)

    @cached_property
    def _finder(self) -> EvidenceFinder:
        return make_finder_beside(self._grounder.models)


def open_local(
    index: str | Path, config: str = defaults.CONFIG, answers: str = defaults.ANSWERS, profile: str = defaults.PROFILE
) -> LocalService:
    """Open a built index, or a library by its name, with a grounding variant, an answer variant and a set of models.

    Each of these three is a name or a YAML file.

    Raises `CounterpointError`, with a one-sentence message, if the index or a model cannot be used.
    """
    return LocalService(assemble(find_index(Path(index)), config, profile), answers)

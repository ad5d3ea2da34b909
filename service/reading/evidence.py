"""Evidence inside one paper: from a paper and a hypothesis to the chosen sentences, with embedded models or a language model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from typing import Literal

from generation.prompting import ask_for_evidence
from nli.evidence import EvidenceReader, EvidenceSentence, check_count, choose_sentences
from retrieval.core.errors import BadConfig
from retrieval.core.values import FullText, Usage
from retrieval.rerank.reranker import Reranker
from retrieval.runtime.chat import Chat
from retrieval.runtime.usage import count_usage
from service.configuration.config import Profile
from service.configuration.models import Models, judge_name, load_encoder, load_judge, load_reranker
from service.grounding.claims import check_hypothesis, state_claim
from service.reading.papers import list_candidates

RERANKER, JUDGE, ENCODER, WRITER = "relevance", "sentences", "dense", "writer"
"""The names of the models in a profile."""
How = Literal["embedded", "model"]
"""The embedded models choose, or the profile's language model does (generation.prompting)."""


@dataclass(frozen=True, slots=True)
class PaperEvidence:
    """What was found in a paper: the sentences in the order in which they were chosen, how, and by which models.

    `read` counts the sentences that could be chosen.
    """

    hypothesis: str
    paper: FullText
    evidence: tuple[EvidenceSentence, ...]
    how: How
    results_only: bool
    models: str
    read: int
    usage: Usage = field(default_factory=Usage)


def _continue() -> None:
    """Never stop the work."""


class _CheckingReranker:
    """A reranker that checks before each call whether anyone is still waiting for the result."""

    def __init__(self, reranker: Reranker, check: Callable[[], None]) -> None:
        self.name, self._reranker, self._check = reranker.name, reranker, check

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score for each text, in order."""
        self._check()
        return self._reranker(query, texts)


class EvidenceFinder:
    """Finds evidence in papers, with the models of a profile; one may serve many requests."""

    def __init__(self, models: Models) -> None:
        encoder = models.encoders.get(ENCODER) or load_encoder(ENCODER, models.profile)
        self._profile = models.profile
        self._models = models.rerankers[RERANKER], models.judges[JUDGE], encoder
        self.reader = EvidenceReader(*self._models)

    def find(
        self,
        hypothesis: str,
        paper: FullText,
        k: int = 5,
        results_only: bool = False,
        how: How = "embedded",
        check: Callable[[], None] = _continue,
    ) -> PaperEvidence:
        """The `k` sentences that together carry the most evidence; a language model may name fewer.

        `check` is called every few hundred sentences and may raise to stop the work. Raises `BadInput` for an empty hypothesis
        or a `k` that the paper does not allow.
        """
        statement, sentences = check_hypothesis(hypothesis), list_candidates(paper)
        check_count(sentences, k)
        chat = self._chat if how == "model" else None
        reranker, judge, encoder = self._models
        reader, claim = EvidenceReader(_CheckingReranker(reranker, check), judge, encoder), state_claim(statement)
        reading, models = reader.read(claim, paper.record.title, sentences), self.reader.name
        with count_usage() as tally:
            if chat:
                rows: Sequence[int] = ask_for_evidence(chat, statement, sentences, k, results_only)
                models = f"{chat.model}, {models}"
            else:
                rows = choose_sentences(sentences, reading, k, results_only)
        chosen = reader.describe(claim, paper.record.title, sentences, reading, rows, results_only)
        return PaperEvidence(statement, paper, chosen, how, results_only, models, len(sentences), tally.total)

    @cached_property
    def _chat(self) -> Chat:
        """The client for all requests."""
        return chat_of(self._profile)


def make_finder_beside(grounding: Models, answering: Models | None = None) -> EvidenceFinder:
    """A finder that shares the models loaded for grounding and for answers; the rest are loaded from the profile."""
    if answering is None:
        return load_finder(grounding.profile, grounding)
    judges, rerankers = {**answering.judges, **grounding.judges}, {**answering.rerankers, **grounding.rerankers}
    return load_finder(grounding.profile, Models(grounding.profile, rerankers, judges, grounding.encoders))


def load_finder(profile: Profile, models: Models | None = None) -> EvidenceFinder:
    """A finder with the profile's models; those in `models` are taken from there."""
    stock = models or Models(profile, {}, {})
    reranker = stock.rerankers.get(RERANKER) or load_reranker(RERANKER, profile)
    judge = stock.judges.get(judge_name(JUDGE, profile)) or load_judge(JUDGE, profile)
    return EvidenceFinder(Models(profile, {RERANKER: reranker}, {JUDGE: judge}, stock.encoders))


def chat_of(profile: Profile) -> Chat:
    """The language model that writes answers in this profile; raises `BadConfig` if it has none behind a server."""
    writer = profile.generators.get(WRITER)
    if writer is None or writer.kind != "chat":
        raise BadConfig(
            f"The profile {profile.name} has no language model behind a server: expected a {WRITER} of kind chat, such as the "
            "profile chat has; name it with --profile, or let the embedded models choose."
        )
    connection = signature(Chat).parameters
    return Chat(**{name: value for name, value in writer.list_options().items() if name in connection})

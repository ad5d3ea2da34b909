"""Evidence inside one paper: from a paper and a hypothesis to the chosen sentences, with embedded models or a language model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Literal

from generation.prompting import STRATEGIES, ask_for_evidence
from indexes.readers.paper import parse_paper, read_paper
from nli.evidence import EvidenceReader, EvidenceSentence, check_count, choose_sentences, describe_chosen
from retrieval.core.errors import BadConfig
from retrieval.core.values import Paper, Usage
from retrieval.rerank.reranker import Reranker
from retrieval.runtime.chat import Chat
from retrieval.runtime.usage import count_usage
from service.checking.reading import is_document, read_file
from service.configuration.config import Profile
from service.configuration.models import Models, judge_name, load_encoder, load_judge, load_reranker
from service.grounding.claims import check_hypothesis, state_claim


def read_paper_file(path: Path, format: str = "auto") -> Paper:
    """The paper in a file, also one of Word's or a PDF, whose headings begin its sections; raises `BadInput` if there is none."""
    if format != "auto" or not is_document(path):
        return read_paper(path, format)
    passage = read_file(path)
    lines = (f"{'# ' * (one.kind == 'heading')}{' '.join(passage.text[one.start : one.end].split())}" for one in passage.blocks)
    return parse_paper("\n\n".join(lines).encode(), "text", str(path))


RERANKER, JUDGE, ENCODER, WRITER = "relevance", "sentences", "dense", "writer"
"""The names of the models in a profile."""
How = Literal["embedded", "plain", "shots", "sections"]
"""The embedded models, or a strategy of a language model (generation.prompting)."""


@dataclass(frozen=True, slots=True)
class PaperEvidence:
    """What was found in a paper: the sentences in the order in which they were chosen, how, and by which models.

    `read` counts the sentences that could be chosen, `judged` those that the small reader judged.
    """

    hypothesis: str
    paper: Paper
    evidence: tuple[EvidenceSentence, ...]
    how: How
    results_only: bool
    models: str
    read: int
    judged: int
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
        paper: Paper,
        k: int = 5,
        results_only: bool = False,
        how: How = "embedded",
        check: Callable[[], None] = _continue,
    ) -> PaperEvidence:
        """The `k` sentences that together carry the most evidence; a language model may name fewer.

        `check` is called every few hundred sentences and may raise to stop the work. Raises `BadInput` for an empty hypothesis
        or a `k` that the paper does not allow.
        """
        statement = check_hypothesis(hypothesis)
        check_count(paper, k)
        chat = self._chat if how != "embedded" else None
        reranker, judge, encoder = self._models
        reading = EvidenceReader(_CheckingReranker(reranker, check), judge, encoder).read(state_claim(statement), paper)
        models = self.reader.name
        with count_usage() as tally:
            if chat is None or how == "embedded":
                sentences = choose_sentences(paper, reading, k, results_only)
            else:
                chosen = ask_for_evidence(chat, how, statement, paper, k, results_only)
                sentences = describe_chosen(paper, reading, chosen, results_only)
                models = f"{chat.model} ({how}), {models}"
        judged_count = sum(verdict is not None for verdict in reading.verdicts)
        read = len(paper.body)
        return PaperEvidence(statement, paper, tuple(sentences), how, results_only, models, read, judged_count, tally.total)

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
            f"The profile {profile.name} has no language model behind a server; {', '.join(STRATEGIES)} need a {WRITER} of kind "
            "chat, such as the profile chat has: name it with --profile, or leave the strategy embedded."
        )
    connection = signature(Chat).parameters
    return Chat(**{name: value for name, value in writer.list_options().items() if name in connection})

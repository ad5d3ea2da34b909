"""Evidence inside one paper: from a paper and a hypothesis to the chosen sentences, with the models of a profile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from counterpoint.nli.evidence import EvidenceReader, EvidenceSentence, choose_sentences
from counterpoint.retrieval.core.values import FullText
from counterpoint.service.configuration.config import Profile
from counterpoint.service.configuration.models import Models, judge_name, load_encoder, load_judge, load_reranker
from counterpoint.service.evidence.papers import list_candidates
from counterpoint.service.grounding.claims import check_hypothesis, state_claim

RERANKER, JUDGE, ENCODER = "relevance", "sentences", "dense"
"""The names of the models in a profile."""


@dataclass(frozen=True, slots=True)
class PaperEvidence:
    """What was found in a paper: the sentences in the order in which they were chosen, and by which models.

    `read` counts the sentences that could be chosen.
    """

    hypothesis: str
    paper: FullText
    evidence: tuple[EvidenceSentence, ...]
    results_only: bool
    models: str
    read: int


class EvidenceFinder:
    """Finds evidence in papers, with the models of a profile; one may serve many requests."""

    def __init__(self, profile: Profile, models: Models | None = None) -> None:
        """The models that are in `models` are taken from there, the others loaded."""
        stock = models or Models(profile, {}, {})
        self.reader = EvidenceReader(
            stock.rerankers.get(RERANKER) or load_reranker(RERANKER, profile),
            stock.judges.get(judge_name(JUDGE, profile)) or load_judge(JUDGE, profile),
            stock.encoders.get(ENCODER) or load_encoder(ENCODER, profile),
        )

    def find(
        self, hypothesis: str, paper: FullText, k: int = 5, results_only: bool = False, check: Callable[[], None] = lambda: None
    ) -> PaperEvidence:
        """The `k` sentences that together carry the most evidence.

        `check` is called every few hundred sentences and may raise to stop the work. Raises `BadInput` for an empty hypothesis
        or a `k` that the paper does not allow.
        """
        statement, sentences, title = check_hypothesis(hypothesis), list_candidates(paper, k), paper.record.title
        claim = state_claim(statement)
        reading = self.reader.read(claim, title, sentences, check)
        rows = choose_sentences(sentences, reading, k, results_only)
        chosen = self.reader.describe(claim, title, sentences, reading, rows, results_only)
        return PaperEvidence(statement, paper, chosen, results_only, self.reader.name, len(sentences))


def make_finder_beside(grounding: Models, answering: Models | None = None) -> EvidenceFinder:
    """A finder that shares the models loaded for grounding and for answers; the rest are loaded from the profile."""
    if answering is None:
        return EvidenceFinder(grounding.profile, grounding)
    judges, rerankers = {**answering.judges, **grounding.judges}, {**answering.rerankers, **grounding.rerankers}
    return EvidenceFinder(grounding.profile, Models(grounding.profile, rerankers, judges, grounding.encoders))

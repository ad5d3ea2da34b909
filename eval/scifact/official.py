"""SciFact's official measures, counted claim by claim (Wadden et al. 2020, arXiv 2004.14974, section 4.2).

Where the paper leaves a choice, the official evaluator's is taken (https://github.com/allenai/scifact-evaluator): a document
counts as rationalized by its first three predicted sentences, whatever the length of the gold rationales; a sentence counts only
together with all others of its rationale; every predicted sentence counts at sentence level, however many there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eval.scifact.files import Gold
from eval.scifact.predictions import Predicted

MAX_ABSTRACT_SENTENCES = 3


@dataclass(frozen=True, slots=True)
class ClaimCounts:
    """For one claim: its gold documents, the predicted ones, those with the right stance, and those also correctly rationalized;
    its gold sentences, the predicted ones, those correctly selected, and those also in a document with the right stance."""

    documents: int = 0
    predicted_documents: int = 0
    labelled: int = 0
    rationalized: int = 0
    sentences: int = 0
    predicted_sentences: int = 0
    selected: int = 0
    selected_and_labelled: int = 0


def count(gold: Mapping[str, Gold], predictions: Predicted) -> ClaimCounts:
    """The counts of one claim."""
    labelled = rationalized = selected = selected_and_labelled = 0
    for pmid, one in predictions.items():
        if pmid not in gold:
            continue
        right = gold[pmid].stance == one.stance
        hits = selected_sentences(gold[pmid], one.sentences)
        labelled += right
        rationalized += right and proves(gold[pmid], one.sentences[:MAX_ABSTRACT_SENTENCES])
        selected += hits
        selected_and_labelled += hits if right else 0
    return ClaimCounts(
        documents=len(gold),
        predicted_documents=len(predictions),
        labelled=labelled,
        rationalized=rationalized,
        sentences=sum(len(rationale) for one in gold.values() for rationale in one.rationales),
        predicted_sentences=sum(len(one.sentences) for one in predictions.values()),
        selected=selected,
        selected_and_labelled=selected_and_labelled,
    )


def proves(gold: Gold, sentences: tuple[int, ...]) -> bool:
    """Whether some gold rationale lies wholly within the sentences."""
    return any(set(rationale) <= set(sentences) for rationale in gold.rationales)


def selected_sentences(gold: Gold, sentences: tuple[int, ...]) -> int:
    """How many of the sentences belong to a gold rationale all of whose sentences are there."""
    indices = set(sentences)
    whole = [set(rationale) for rationale in gold.rationales if set(rationale) <= indices]
    return sum(any(index in rationale for rationale in whole) for index in indices)

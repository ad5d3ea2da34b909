"""Stand-ins for answering: a judge that goes by shared words, and an answerer over an index of a few lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from counterpoint.generation.draft import Draft, Failed, Generator, Limits
from counterpoint.generation.extractive import ExtractiveGenerator
from counterpoint.nli.judge import Abstract, Decide, DecideAsRead, Reader, Reading
from counterpoint.nli.reader.answers import AnswerFinder, Answers
from counterpoint.retrieval.core.errors import CounterpointError
from counterpoint.retrieval.core.values import Premise, Topic, Verdict
from counterpoint.retrieval.index import Index
from counterpoint.service.answering.answer import Answerer
from counterpoint.service.assembly import load_config, make_grounder
from counterpoint.service.configuration.config import AnswerConfig, load_answer_config, load_profile
from counterpoint.service.configuration.models import FALLBACK, Models
from tests.helpers.fakes import WordReranker

SUPPORTED, NONE = Verdict(0.9, 0.05, 0.05), Verdict(0.05, 0.9, 0.05)


class OverlapJudge:
    """Support where most words of the claim stand in the premise, contradict where only one of the two says "not"."""

    name = "overlap-judge@1"

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        said = set(re.findall(r"[a-z]+", claim.lower()))
        for premise in premises:
            there = set(re.findall(r"[a-z]+", premise.text.lower()))
            denied = ("not" in said) != ("not" in there)
            if len((said & there) - {"not"}) < 0.7 * len(said - {"not"}):
                yield Verdict(0.1, 0.8, 0.1)
            else:
                yield Verdict(0.05, 0.05, 0.9) if denied else Verdict(0.9, 0.05, 0.05)


class DirectionReader:
    """Takes any finding for an answer, but tells a statement that something improves from one that it worsens."""

    name = "direction-reader@1"
    paper: Decide = DecideAsRead()

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        signs = ("improved", "worsened") if "?" in claim else ("worsened",) if "worsens" in claim else ("improved",)
        for premise in premises:
            yield SUPPORTED if any(sign in premise.text for sign in signs) else NONE

    def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
        for document in documents:
            own = tuple(self(claim, [Premise(text) for text in document.sentences]))
            yield Reading(max(own, key=lambda one: one.support), own)


class TitleFinder:
    """Names the first word of a title that shares a word with the question, which it answers the better the longer the title."""

    name = "title-finder@1"

    def find_answers(self, question: str, documents: Sequence[Abstract]) -> list[Answers]:
        asked = set(question.lower().rstrip("?").split())
        shared = [asked & set(one.title.lower().replace(":", "").split()) - {"for", "in"} for one in documents]
        names = [one.title.partition(" ")[0] if words else "" for one, words in zip(documents, shared, strict=True)]
        return [
            Answers(0.7 + len(one.title) / 1000, ((name.lower(), 0.9),) if name else ())
            for one, name in zip(documents, names, strict=True)
        ]


class ScriptedGenerator:
    """Says what it is told to, or fails as told; counts nothing."""

    extractive = False

    def __init__(self, text: str = "", rewrites: str = "", error: CounterpointError | None = None) -> None:
        self.name, self.text, self.rewrites, self.error = "scripted", text, rewrites, error
        self.asked: list[str] = []

    def __call__(self, topic: Topic, sources: Any, limits: Limits, prompt: str, first: str = "") -> Draft:
        if self.error:
            raise self.error
        return Draft(self.text)

    def correct(self, failed: Sequence[Failed], topic: Topic, sources: Any) -> list[Draft]:
        self.asked += [one.sentence.text for one in failed]
        return [Draft(self.rewrites)] * len(failed)


def config(**changes: Any) -> AnswerConfig:
    """Our answers with no verdict, no conflicts and no rules for open questions, unless `changes` say otherwise."""
    plain = {"verdict": None, "conflicts": None, "open_questions": None, **changes}
    return AnswerConfig.model_validate({**load_answer_config("counterpoint").model_dump(), **plain})


def make_answerer(
    index: Index,
    generator: Generator | None = None,
    reader: Reader | None = None,
    finder: AnswerFinder | None = None,
    **changes: Any,
) -> Answerer:
    """An answerer with the stand-ins for models; `generator` writes, else quotations, and `reader` reads papers."""
    settings = config(**changes)
    models = Models(
        load_profile("embedded"), {"relevance": WordReranker()},
        {"stance": reader or OverlapJudge(), "sentences": OverlapJudge()},
        generators={"writer": generator or ExtractiveGenerator()}, finder=finder,
    )  # fmt: skip
    if settings.generate.fallback or settings.budget:
        models.generators[FALLBACK] = ExtractiveGenerator()
    grounder = make_grounder(index, load_config(settings.grounding), models) if settings.grounding else None
    return Answerer(index, settings, models, grounder)

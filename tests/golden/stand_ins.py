"""Stand-ins for the four kinds of models, the same on every processor, in place of those that any profile names."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

from counterpoint.generation.extractive import ExtractiveGenerator
from counterpoint.nli.judge import Abstract, Reading, drop_question
from counterpoint.retrieval.core.values import Premise, Verdict
from tests.helpers.answer_fakes import ScriptedGenerator, TitleFinder
from tests.helpers.fake_encoder import WordEncoder

WRITTEN = (
    "Zelatine lowers blood pressure in adults with hypertension [1][2]. Nobody should ever take it [99]. It may cause dry cough."
)
"""What the stand-in for a language model writes, whatever it is asked: it cites, cites what is not there, and does not cite."""
DIE = "STAND_INS_DIE"
"""Where the environment has this, reading a claim that contains its value ends the process as `kill -9` does."""
_TURNS = ("no", "not", "neith"), ("lower", "reduc", "short", "worse", "disap")
"""Words that deny and words for less: each kind turns what a sentence says round once."""


def _words(text: str) -> set[str]:
    """The first five letters of each word, without a final s, so that inflected words meet."""
    return {word[:5].removesuffix("s") for word in re.findall(r"[a-z]+", text.lower()) if len(word) > 3 or word in _TURNS[0]}


def _share(claim: str, text: str) -> float:
    return len(_words(claim) & _words(text)) / max(len(_words(claim)), 1)


def _turned(text: str) -> bool:
    return sum(bool(_words(text).intersection(kind)) for kind in _TURNS) % 2 == 1


class OverlapReader:
    """Takes a side where a text shares half of the claim's words, the surer the more; the other if one is turned round."""

    name = "overlap-reader@1"

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        if os.environ.get(DIE, "\0") in claim:
            os.kill(os.getpid(), signal.SIGKILL)
        for premise in premises:
            share = _share(claim, premise.text)
            sure, rest = (round(0.3 + 0.64 * share, 2), 0.03) if share >= 0.5 else (round(0.2 * share, 2), 0.02)
            sides = (rest, sure) if _turned(claim) != _turned(premise.text) else (sure, rest)
            yield Verdict(sides[0], round(1 - sure - rest, 2), sides[1])

    def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
        """A paper is what its surest sentence says, its title among them; of equals, what the later says."""
        for document in documents:
            title, *own = self(claim, [Premise(text) for text in (drop_question(document.title), *document.sentences)])
            yield Reading(max([*reversed(own), title], key=lambda one: max(one.support, one.contradict)), tuple(own))


class OverlapReranker:
    """The more of the query's words a text has, the better it is."""

    name = "overlap-reranker@1"

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        return [round(8 * _share(query, text) - 4, 2) for text in texts]


def use_stand_ins(patch: pytest.MonkeyPatch) -> None:
    """Whatever model is named, its stand-in is loaded; the profile `embedded` quotes, others have the scripted language model."""

    def generator(name: str, profile: Any, rerankers: Any) -> Any:
        return ExtractiveGenerator(OverlapReranker()) if profile.name == "embedded" else ScriptedGenerator(WRITTEN, WRITTEN)

    patch.setattr("counterpoint.service.configuration.models._load_generator", generator)
    patch.setattr("counterpoint.service.configuration.models.load_finder", TitleFinder)
    for kind, stand_in in (("judge", OverlapReader), ("reranker", OverlapReranker), ("encoder", WordEncoder)):
        for module in ("counterpoint.service.configuration.models", "counterpoint.service.evidence.finder"):
            patch.setattr(f"{module}.load_{kind}", lambda name, profile, make=stand_in: make())


if __name__ == "__main__":  # the command line with the stand-ins, as a process of its own
    from counterpoint.service.cli.commands import main

    with pytest.MonkeyPatch.context() as patched:
        use_stand_ins(patched)
        main()

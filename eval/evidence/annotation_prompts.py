"""Asking a language model to annotate a paper as EvidenceBench does: hypothesis, aspects, and the sentences that show each.

The steps are those of Wang et al. 2025 (arXiv 2504.18736, section 3): a review's words about a study give the hypothesis and are
taken apart into aspects, and every sentence of the paper is held against every aspect. The prompts are our own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, create_model

from generation.prompts.evidence import list_sentences
from generation.prompts.filling import Prompt, strip_markup
from retrieval.core.paper import Paper, PaperSentence
from retrieval.runtime.chat import Chat, ChatUnanswered

AspectKind = Literal["methods", "results"]
KINDS: tuple[AspectKind, ...] = get_args(AspectKind)
SHOWN_AT_ONCE = 12
"""Sentences per request: few, since a model overlooks some of many."""
MOST_ASPECTS = 40
MOST_SHOWN = 5
"""Aspects that a sentence may show. In EvidenceBench's dev part 98 % of the sentences that show any show at most five; a small
model without a limit lists all aspects for every sentence."""
_TOKENS = {"hypothesis": 200, "aspects": 1500, "sentences": 800}
_BREAK = "\n---\n"


@dataclass(frozen=True, slots=True)
class Aspect:
    """One fact about a study that can be looked up in its paper."""

    text: str
    kind: AspectKind


class _Form(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Hypothesis(_Form):
    hypothesis: str = Field(min_length=1, max_length=1000)


class _Aspect(_Form):
    text: str = Field(min_length=1, max_length=600)
    kind: AspectKind


class _Aspects(_Form):
    aspects: list[_Aspect] = Field(max_length=MOST_ASPECTS)


class _ShownAspects(_Form):
    sentence: int
    aspects: list[int] = Field(max_length=MOST_ASPECTS, json_schema_extra={"maxItems": MOST_SHOWN})


class _Alignment(_Form):
    shown: list[_ShownAspects] = Field(max_length=2 * SHOWN_AT_ONCE)


def _form_for(count: int) -> type[_Alignment]:
    """The form for `count` sentences: its schema requires all of them, since a model that may leave some out leaves out all."""
    entries: Any = Field(max_length=2 * SHOWN_AT_ONCE, json_schema_extra={"minItems": count, "maxItems": count})
    return create_model("Alignment", __base__=_Alignment, shown=(list[_ShownAspects], entries))


def ask_for_hypothesis(chat: Chat, summary: str) -> str:
    """The hypothesis that the study tests, from what a review says of it; raises `ChatUnanswered` where the model gives none."""
    prompt = _fill("annotate-hypothesis", summary=strip_markup(summary))
    hypothesis = chat.complete_structured(prompt.system, prompt.user, _Hypothesis, _TOKENS["hypothesis"]).hypothesis
    return " ".join(hypothesis.split())


def ask_for_aspects(chat: Chat, hypothesis: str, summary: str) -> list[Aspect]:
    """The facts that the review states about the study, each once; raises `ChatUnanswered` if the model names none."""
    prompt = _fill("annotate-aspects", hypothesis=strip_markup(hypothesis), summary=strip_markup(summary))
    entries = chat.complete_structured(prompt.system, prompt.user, _Aspects, _TOKENS["aspects"]).aspects
    aspects = {" ".join(one.text.split()): one.kind for one in entries}
    aspects.pop("", None)
    if not aspects:
        raise ChatUnanswered(f"The model {chat.model} named no aspect of the study.")
    return [Aspect(text, kind) for text, kind in aspects.items()]


def split_paper(paper: Paper) -> Iterator[tuple[PaperSentence, ...]]:
    """The sentences that can be evidence, at most `SHOWN_AT_ONCE` at a time, and never from two sections together."""
    part: list[PaperSentence] = []
    for sentence in paper.body:
        if part and (len(part) == SHOWN_AT_ONCE or (sentence.kind, sentence.section) != (part[0].kind, part[0].section)):
            yield tuple(part)
            part = []
        part.append(sentence)
    if part:
        yield tuple(part)


def ask_for_alignment(
    chat: Chat, hypothesis: str, aspects: Sequence[Aspect], sentences: Sequence[PaperSentence]
) -> Mapping[int, frozenset[int]]:
    """The aspects (places from 0) that each of these sentences shows, by its index in the paper; none is left out.

    Numbers that stand for nothing are dropped. Raises `ChatUnanswered` where the model gives nothing usable, which includes the
    same row of aspects for every sentence.
    """
    aspect_list = "\n".join(f"({place}) {strip_markup(one.text)}" for place, one in enumerate(aspects, 1))
    prompt = _fill(
        "annotate-sentences",
        hypothesis=strip_markup(hypothesis),
        aspects=aspect_list,
        sentences="\n".join(list_sentences(sentences)),
        count=str(len(sentences)),
    )
    alignment: dict[int, frozenset[int]] = {}
    indices = {one.index for one in sentences}
    for one in chat.complete_structured(prompt.system, prompt.user, _form_for(len(sentences)), _TOKENS["sentences"]).shown:
        places = frozenset(number - 1 for number in one.aspects if 1 <= number <= len(aspects))
        if one.sentence in indices and places:
            alignment[one.sentence] = alignment.get(one.sentence, frozenset()) | places
    if _is_same_row(alignment, len(sentences), len(aspects)):
        raise ChatUnanswered(f"The model {chat.model} gave the same aspects for every sentence.")
    return alignment


def _is_same_row(alignment: Mapping[int, frozenset[int]], sentences: int, aspects: int) -> bool:
    """Whether each of several sentences shows the same aspects, as many as there are or as are allowed."""
    most, rows = min(MOST_SHOWN, aspects), set(alignment.values())
    return min(sentences, most) > 2 and len(alignment) == sentences and len(rows) == 1 and all(len(row) == most for row in rows)


def _fill(name: str, **values: str) -> Prompt:
    system, _, task = files("eval.evidence").joinpath(f"{name}.md").read_text("utf-8").partition(_BREAK)
    return Prompt(system.strip(), Template(task).substitute(values).strip())

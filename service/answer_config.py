"""Answer variants: YAML in, checked values out, as for grounding variants (service.config)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from service.config import Count, Strict, load_yaml

Share = Annotated[float, Field(ge=0, le=1)]


class AnswerRetrieve(Strict):
    """The best `k` documents by BM25 for the topic's question, with or without its other parts in the query."""

    k: Count
    query: Literal["question", "question+topic", "question+narrative"] = "question"


class AnswerRerank(Strict):
    """Which reranker of the profile orders the candidates, what it takes for the query, and how many of the best it reads: all,
    unless `depth` says otherwise."""

    model: str
    query: Literal["question", "narrative", "question+narrative"]
    depth: Count | None = None


class Enough(Strict):
    """When the index holds too little: when the best of the answer's documents are about the question to less than `about`, a
    share of the question's rare words (service.relevance), counted over the `among` that hold most."""

    about: Share
    among: Count = 3


class Generate(Strict):
    """Which generator of the profile writes, by which prompt (generation/prompts); `fallback: extractive` lets the embedded one
    write where that generator cannot be had, and the answer says so."""

    generator: str
    prompt: Literal["one-shot", "zero-shot"] = "one-shot"
    fallback: Literal["extractive"] | None = None


class AnswerLimits(Strict):
    """Words of the whole answer, counted at white space, and citations of a sentence: enforced whatever the generator does."""

    words: Count = 250
    citations: Annotated[int, Field(ge=1, le=10)] = 3


class Attribute(Strict):
    """How citations are checked: a judge of the profile reads each sentence of a cited document against the answer's sentence.

    A citation holds when its best sentence supports with a probability of at least `support`, and none of the document's
    sentences contradicts with one of at least `contradict` that is higher still. For a sentence that is left with fewer than
    `least` citations, `replace` other documents are tried, those first that share most of its rare words; then it is rewritten
    once if `rewrite`.
    """

    model: str
    support: Share
    contradict: Share
    least: Annotated[int, Field(ge=1, le=10)] = 1
    replace: Annotated[int, Field(ge=0, le=100)] = 3
    rewrite: bool = True


class Conflicts(Strict):
    """Where disagreement is looked for: the contradiction branch of a grounding variant runs for the `most` sentences nearest
    to the question; what it gives a probability of at least `at_least` is a conflict, and the strongest is told in the
    answer if `tell`."""

    grounding: str
    most: Annotated[int, Field(ge=1, le=100)]
    at_least: Share
    tell: bool = True


class AnswerConfig(Strict):
    """One answer variant: retrieve → rerank → enough? → generate → attribute → limits → conflicts."""

    name: str
    description: str = ""
    retrieve: AnswerRetrieve
    rerank: AnswerRerank | None = None
    documents: Annotated[int, Field(ge=1, le=100)]
    enough: Enough | None = None
    generate: Generate
    limits: AnswerLimits = AnswerLimits()
    attribute: Attribute
    conflicts: Conflicts | None = None


def load_answer_config(name: str) -> AnswerConfig:
    """A shipped answer variant by name, or any by the path of its YAML file."""
    return load_yaml(AnswerConfig, name, "configs.answers", "answer configuration")

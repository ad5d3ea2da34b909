"""Answer variants: YAML in, checked values out, as for grounding variants (service.configuration.config)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from retrieval.core.errors import BadConfig
from service.configuration.files import Count, Strict, is_path, list_shipped, load_yaml, read_yaml

Share = Annotated[float, Field(ge=0, le=1)]


class AnswerRetrieve(Strict):
    """The best `k` documents by BM25 for the topic's question, with or without its other parts in the query.

    With `spellings`, British and American spelling count as the same: the search looks for both, and every other step reads the
    American one.
    """

    k: Count
    spellings: bool = False
    query: Literal["question", "question+topic", "question+narrative"] = "question"


class AnswerRerank(Strict):
    """Which reranker of the profile orders the candidates, what it takes as the query, and how many of the best it reads: all,
    unless `depth` says otherwise."""

    model: str
    query: Literal["question", "narrative", "question+narrative"]
    depth: Count | None = None


class OpenQuestions(Strict):
    """When a question that asks for more than yes or no is answered: if a paper with at least the share `coverage` of the
    question's content words states what it asks for (service.answering.open_questions); papers with fewer are not cited."""

    coverage: Share


class LeadStep(Strict):
    """How the first sentence answers a yes-or-no question: the question is grounded as a claim by this grounding variant."""

    grounding: str


class Generate(Strict):
    """Which generator of the profile writes, and with which prompt (generation/prompts); with `fallback: extractive` the embedded
    one writes if that generator is unavailable, and the answer says so."""

    generator: str
    prompt: Literal["one-shot", "zero-shot"] = "one-shot"
    fallback: Literal["extractive"] | None = None


class AnswerLimits(Strict):
    """Limits on the words of the whole answer, split at white space, and on the citations per sentence: always enforced."""

    words: Count = 250
    citations: Annotated[int, Field(ge=1, le=10)] = 3


class Attribute(Strict):
    """How citations are checked: a judge of the profile reads each sentence of a cited document against the answer's sentence.

    A citation holds if the document's best sentence supports the answer's with a probability of at least `support`, and none of
    its sentences contradicts it with a higher probability that is at least `contradict`. For a sentence left with fewer than
    `least` citations, `replace` other documents are tried, starting with those that share most of its rare words; then, if
    `rewrite` is set, it is rewritten once.
    """

    model: str
    support: Share
    contradict: Share
    least: Annotated[int, Field(ge=1, le=10)] = 1
    replace: Annotated[int, Field(ge=0, le=100)] = 3
    rewrite: bool = True


class Conflicts(Strict):
    """Where disagreement is looked for: the contradiction branch of a grounding variant runs for the `most` sentences nearest
    to the question; a paper with a probability of at least `at_least` is a conflict, and the answer mentions the strongest if
    `report` is set."""

    grounding: str
    most: Annotated[int, Field(ge=1, le=100)]
    at_least: Share
    report: bool = True


class AnswerConfig(Strict):
    """One answer variant: retrieve → rerank → lead or open question → generate → attribute → limits → conflicts."""

    name: str
    description: str = ""
    retrieve: AnswerRetrieve
    rerank: AnswerRerank | None = None
    documents: Annotated[int, Field(ge=1, le=100)]
    open_questions: OpenQuestions | None = None
    lead: LeadStep | None = None
    generate: Generate
    limits: AnswerLimits = AnswerLimits()
    attribute: Attribute
    conflicts: Conflicts | None = None

    @property
    def grounding(self) -> str | None:
        """The grounding variant used to look for leads and conflicts; None if neither is looked for."""
        return self.lead.grounding if self.lead else self.conflicts.grounding if self.conflicts else None

    @model_validator(mode="after")
    def _one_grounding(self) -> AnswerConfig:
        if self.lead and self.conflicts and self.lead.grounding != self.conflicts.grounding:
            raise ValueError("lead and conflicts name different grounding variants; name the same one for both")
        return self


def load_answer_config(name: str, grounding: str | None = None) -> AnswerConfig:
    """Load a shipped answer variant by name, or any by the path of its YAML file, with the grounding variant that it names.

    `grounding` names another one to use instead. Raises `BadConfig`, also if the answer variant uses no grounding variant.
    """
    config = load_yaml(AnswerConfig, name, "configs.answers", "answer configuration")
    if grounding is None:
        return config
    if config.grounding is None:
        raise BadConfig(f"The answer configuration {name} uses neither a lead nor conflicts: leave out the grounding variant.")
    parts = {"lead": config.lead, "conflicts": config.conflicts}
    return config.model_copy(
        update={key: part.model_copy(update={"grounding": grounding}) for key, part in parts.items() if part is not None}
    )


def is_answer_variant(name: str) -> bool:
    """Whether this name or file is that of an answer variant and not of a grounding variant.

    Raises `BadConfig` for a file that cannot be read.
    """
    if is_path(name):
        data = read_yaml(name, "configs", "configuration")
        return isinstance(data, dict) and "generate" in data
    return name in list_shipped("configs.answers") and name not in list_shipped("configs")

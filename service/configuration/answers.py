"""Answer variants: YAML in, checked values out, as for grounding variants (service.configuration.config)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from retrieval.core.errors import BadConfig
from service.configuration.files import Count, Strict, is_path, list_shipped, load_yaml, read_yaml

Share = Annotated[float, Field(ge=0, le=1)]
MIXED = 0.5
"""The share of the heavier side's weight from which the lighter side makes a verdict mixed."""


class AnswerRetrieve(Strict):
    """The best `k` documents by BM25 for the topic's question, with or without its other parts in the query.

    With `spellings` British and American spelling are one: the search looks for both, everything else reads the American one.
    """

    k: Count
    spellings: bool = False
    query: Literal["question", "question+topic", "question+narrative"] = "question"


class AnswerRerank(Strict):
    """Which reranker of the profile orders the candidates, what it takes for the query, and how many of the best it reads: all,
    unless `depth` says otherwise."""

    model: str
    query: Literal["question", "narrative", "question+narrative"]
    depth: Count | None = None


class Enough(Strict):
    """When a question that asks for more than yes or no is answered: when a paper that holds at least the share `about` of its
    telling words tells what it asks for (service.answering.evidence); papers that hold less are not cited."""

    about: Share


class Certainty(Strict):
    """How sure a lead is, as log odds: a constant, a part for how far the sides agree (`agreement`, 0 where they weigh the same
    and 1 where nothing opposes), and one for the log odds of the strongest paper (`strongest`); fitted on questions whose answer
    is known (docs/answers.md)."""

    constant: float
    agreement: float
    strongest: float


class LeadStep(Strict):
    """How a question that asks for yes or no is answered in the first sentence: as a claim, grounded on both sides.

    A grounding variant finds and judges `read` papers, of those that hold the share `met` of the telling words of what the claim
    speaks of, and of what it says of it, in whatever spelling or synonym. Those count to which it gives a side with the
    probability `near` or more. `leaning` is how much the reader leans to saying yes, as log odds of yes against no (`eval
    leads --fit`). A paper takes a side from the probability `takes` on; it weighs by that, by its design, by how much of the
    question it holds, and half as much for every `halves` years that it is older than the newest. The verdict is mixed where
    the lighter side has the share `mixed` of the heavier one's weight or more, and unclear where no paper takes a side.
    """

    grounding: str
    read: Count = 8
    near: Share = 0.2
    met: Share = 0.5
    leaning: Annotated[float, Field(ge=-5, le=5)] = 0.0
    takes: Share = 0.5
    mixed: Share = MIXED
    halves: Annotated[float, Field(gt=0)] = 20.0
    certainty: Certainty


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
    """One answer variant: retrieve → rerank → lead or enough? → generate → attribute → limits → conflicts."""

    name: str
    description: str = ""
    retrieve: AnswerRetrieve
    rerank: AnswerRerank | None = None
    documents: Annotated[int, Field(ge=1, le=100)]
    enough: Enough | None = None
    lead: LeadStep | None = None
    generate: Generate
    limits: AnswerLimits = AnswerLimits()
    attribute: Attribute
    conflicts: Conflicts | None = None

    @property
    def grounding(self) -> str | None:
        """The grounding variant that leads and conflicts are looked for with; None where neither is."""
        return self.lead.grounding if self.lead else self.conflicts.grounding if self.conflicts else None

    @model_validator(mode="after")
    def _one_grounding(self) -> AnswerConfig:
        if self.lead and self.conflicts and self.lead.grounding != self.conflicts.grounding:
            raise ValueError("lead and conflicts name different grounding variants; name the same one for both")
        return self


def load_answer_config(name: str, grounding: str | None = None) -> AnswerConfig:
    """A shipped answer variant by name, or any by the path of its YAML file, over the grounding variant that it names.

    `grounding` names another in its place. Raises `BadConfig`, also where there is no place for one.
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
    """Whether an answer variant, and no grounding variant, has this name or lies in this file.

    Raises `BadConfig` for a file that cannot be read.
    """
    if is_path(name):
        data = read_yaml(name, "configs", "configuration")
        return isinstance(data, dict) and "generate" in data
    return name in list_shipped("configs.answers") and name not in list_shipped("configs")

"""Grounding variants, answer variants and profiles: YAML in, checked values out."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Literal, NamedTuple

from pydantic import BeforeValidator, Field, model_validator

from counterpoint.retrieval.core.errors import BadConfig
from counterpoint.retrieval.runtime.usage import Budget
from counterpoint.retrieval.store.manifest import DensePart, View
from counterpoint.service.configuration.defaults import MOST_READ
from counterpoint.service.configuration.files import Count, Strict, load_yaml
from counterpoint.service.configuration.kinds import Options, choose_kind

SENTENCES = "sentences"
"""The name of the judge for single sentences and for the gate."""


class Retrieve(Strict):
    """Where candidates come from: the best `k` documents for the claim, with or without its question in the query.

    `dense` searches the vectors that the profile's `encoder` made. Several rankings are fused by reciprocal rank with the
    constant `rrf`; each is `each` deep, or `k` if that is not given. A rank among the vectors counts as many times as much as one
    of BM25's as `dense_weight` says for the index's view of documents.
    With `spellings`, BM25 searches for the British and the American form of every word.
    `vectors` says what `dense` means for an index without vectors of the encoder, or for a profile without the encoder: they are
    `required`, or used `if-present` and BM25 searches alone otherwise (`service.grounding.ground.adapt`).
    With `passages: if-present` BM25 also searches the passages of full texts, where there are any, until they are of as many
    papers; of a paper's two ranks the better counts.
    """

    sources: list[Literal["bm25", "dense"]] = Field(default=["bm25"])
    k: Count
    query: Literal["question+claim", "claim"] = "question+claim"
    encoder: str = "dense"
    vectors: Literal["required", "if-present"] = "required"
    rrf: Count = 60
    dense_weight: dict[View, Annotated[float, Field(gt=0)]] = Field(default={})
    each: Count | None = None
    spellings: bool = False
    passages: Literal["ignored", "if-present"] = Field(default="ignored", exclude_if=lambda value: value == "ignored")

    @property
    def fused(self) -> bool:
        """Whether there is more than one ranking."""
        return len(self.sources) > 1

    def weigh(self, source: str, dense: DensePart | None) -> float:
        """How much a rank of this source counts, in an index with these vectors."""
        return self.dense_weight.get(dense.view, 1.0) if source == "dense" and dense else 1.0

    def without_vectors(self) -> Retrieve:
        """The same step by BM25 alone."""
        own = {"sources": ["bm25"], "encoder": "dense", "vectors": "required", "rrf": 60, "dense_weight": {}, "each": None}
        return self.model_copy(update=own)

    @model_validator(mode="after")
    def _combination_is_known(self) -> Retrieve:
        if not self.sources or len(set(self.sources)) < len(self.sources):
            raise ValueError("sources should name bm25, dense or both, each once")
        if self.spellings and "bm25" not in self.sources:
            raise ValueError("spellings are for lexical search: use them with the source bm25")
        if self.passages != "ignored" and "bm25" not in self.sources:
            raise ValueError("passages are found by lexical search: use them with the source bm25")
        # Compare values, not which keys were set: a configuration dumped with its defaults can then be read again.
        if self.encoder != "dense" and "dense" not in self.sources:
            raise ValueError("encoder is for the source dense: add dense to the sources, or leave out encoder")
        if self.vectors == "if-present" and set(self.sources) != {"bm25", "dense"}:
            raise ValueError("vectors: if-present is for two sources: use it with sources: [bm25, dense]")
        if self.dense_weight and len(self.sources) < 2:
            raise ValueError("dense_weight weighs two sources: use it with sources: [bm25, dense], or leave it out")
        if (self.rrf != 60 or self.each) and not self.fused:
            raise ValueError("rrf and each fuse several rankings: use two sources, or leave them out")
        return self


class ReadStep(Strict):
    """Which judge of the profile reads the papers, and how many: the best `papers` and, while fewer than `sides` of those read
    have taken a side, as many again, up to `most`."""

    model: str
    papers: Annotated[int, Field(ge=1, le=100)] = 5
    sides: Annotated[int, Field(ge=0, le=100)] = 0
    most: Annotated[int, Field(ge=1, le=100)] | None = None


class Show(Strict):
    """How papers are listed: at most `n` a list, the most probable first; within steps of `recency` the newer paper comes first.

    A paper on neither side is listed as uncertain if one of them has at least the probability `uncertain`.
    """

    n: Count = 3
    recency: Annotated[float, Field(ge=0, le=1)] = 0.0
    uncertain: Annotated[float, Field(gt=0, le=1)] = 0.1


class PathStep(Strict):
    """find → gate → read → weigh → show: one reading of each paper serves both sides.

    `gate` names the profile's models that choose what is read: rerankers, and `sentences`, its small reader, if it has one.
    """

    find: Retrieve
    gate: Annotated[list[str], Field(min_length=1), BeforeValidator(lambda names: [names] if isinstance(names, str) else names)]
    read: ReadStep
    show: Show = Show()


class Needs(NamedTuple):
    """The names of the models that a grounding variant takes from a profile."""

    rerankers: Collection[str]
    judges: Collection[str]
    encoders: Collection[str]


class Variant(Strict):
    """A grounding variant.

    `budget` is what a claim may ask of a language model, and `text_budget` what all claims of a text may ask together; without
    them the only limit is the model's own.
    """

    name: str
    description: str = ""
    budget: Budget | None = Field(default=None, exclude_if=lambda value: value is None)
    text_budget: Budget | None = Field(default=None, exclude_if=lambda value: value is None)

    def needs(self, profile: Profile) -> Needs:
        """The models that it takes from the profile."""
        raise NotImplementedError


class GroundingConfig(Variant):
    """A variant of the product's own path."""

    path: PathStep

    def needs(self, profile: Profile) -> Needs:
        """The reader and the gate's models; vectors that are not required only if the profile has their encoder."""
        path, rerankers = self.path, set(self.path.gate) - {SENTENCES}
        # Beside a reranker the small reader may be missing; alone, what stands for it chooses.
        able = {SENTENCES} & set(profile.judges) if rerankers else {SENTENCES}
        find = path.find
        dense = "dense" in find.sources and (find.vectors == "required" or find.encoder in profile.encoders)
        return Needs(rerankers, {path.read.model} | (able & set(path.gate)), {find.encoder} if dense else ())


class Profile(Strict):
    """Which models stand behind the names that configurations use: `kind` says which model, the other keys are its options.

    `skim` is how many texts the judge of a variant of the paper is asked about for a side; without it, all.
    """

    name: str
    description: str = ""
    skim: Count | None = None
    rerankers: dict[str, Annotated[Options, choose_kind("rerankers")]] = Field(default_factory=dict)
    judges: dict[str, Annotated[Options, choose_kind("judges")]] = Field(default_factory=dict)
    encoders: dict[str, Annotated[Options, choose_kind("encoders")]] = Field(default_factory=dict)
    generators: dict[str, Annotated[Options, choose_kind("generators")]] = Field(default_factory=dict)


def load_profile(name: str) -> Profile:
    """Load a shipped profile by name, or any by the path of its YAML file; raises `BadConfig`."""
    return load_yaml(Profile, name, "counterpoint.configs.profiles", "profile")


Share = Annotated[float, Field(ge=0, le=1)]


class AnswerFind(Strict):
    """The best `k` documents by BM25 for the topic's question, with or without its other parts in the query.

    With `spellings`, British and American spelling count as the same: the search looks for both, and every other step reads the
    American one.
    """

    k: Count
    spellings: bool = False
    query: Literal["question", "question+topic", "question+narrative"] = "question"


class AnswerGate(Strict):
    """Which reranker of the profile orders the candidates, what it takes as the query, and how many of the best it reads: all,
    unless `depth` says otherwise."""

    model: str
    query: Literal["question", "narrative", "question+narrative"]
    depth: Count | None = None


class OpenQuestions(Strict):
    """How a question that asks for more than yes or no is answered (service.answering.table): from the `papers` of the `found`
    papers that most probably answer it.

    Papers that hold less than the share `subject` of the question's informative words are left out. A paper is in the table if it
    is at least as probable as `likely` that it answers the question with these words; if it supports question and answer with at
    least `asked`, and their plain statement with at least `stated`; and if it supports the statement's opposite with at most
    `opposite`. Where no statement can be made, or only one that names a kind of thing, it must support question and answer with
    at least `unstated`. At most `others` of the other papers are listed. A language model that reads papers is sent at most
    `requests` of them, one a request.
    """

    found: Annotated[int, Field(ge=1, le=100)] = 20
    subject: Share = 0.0
    papers: Annotated[int, Field(ge=1, le=100)] = 8
    likely: Share = 0.0
    asked: Share = 0.5
    stated: Share = 0.5
    opposite: Share = 0.5
    unstated: Share = 0.7
    others: Annotated[int, Field(ge=0, le=100)] = 8
    requests: Annotated[int, Field(ge=1, le=20)] = 8


class VerdictStep(Strict):
    """How the first sentence answers a yes-or-no question: the question is grounded as a claim by this grounding variant.

    Where a language model writes, it chooses `papers` of the `found` to read, and writes from these alone; else as many are found
    and read as the variant says.
    """

    grounding: str
    found: Annotated[int, Field(ge=1, le=100)] | None = None
    papers: Annotated[int, Field(ge=1, le=MOST_READ)] | None = None


class Generate(Strict):
    """Which generator of the profile writes, and with which prompt (generation/prompts); with `fallback: extractive` the embedded
    one writes if that generator is unavailable, and the answer says so."""

    generator: str
    prompt: Literal["write", "one-shot", "zero-shot"] = "one-shot"
    fallback: Literal["extractive"] | None = None


class AnswerLimits(Strict):
    """Limits on the words of the whole answer, split at white space, and on the citations per sentence: always enforced."""

    words: Count = 250
    citations: Annotated[int, Field(ge=1, le=10)] = 3


class Attribute(Strict):
    """How citations are checked: a judge of the profile reads each sentence of a cited document against the answer's sentence.

    A citation holds if the document's best sentence supports the answer's with a probability of at least `support`, and none of
    its sentences contradicts it with a higher probability that is at least `contradict`. If the judge reads documents, one of the
    paper's sentences must support it with at least `stated` when it is read alone. From the probability `side`, the answer's
    sentence takes a side on the question, and may not contradict its paper or the verdict. For a sentence left with fewer than
    `least` citations, `replace` other documents are tried, starting with those that share most of its rare words; then, if
    `rewrite` is set, it is rewritten once.
    """

    model: str
    support: Share
    contradict: Share
    stated: Share = 0.5
    side: Share = 0.7
    least: Annotated[int, Field(ge=1, le=10)] = 1
    replace: Annotated[int, Field(ge=0, le=100)] = 3
    rewrite: bool = True


class Conflicts(Strict):
    """Where disagreement is looked for: the contradiction branch of a grounding variant runs for the `most` sentences nearest
    to the question; a paper that is judged to contradict one is a conflict, and the answer mentions the strongest if `report` is
    set."""

    grounding: str
    most: Annotated[int, Field(ge=1, le=100)]
    report: bool = True


class AnswerConfig(Strict):
    """One answer variant: find → gate → verdict or open question → generate → attribute → limits → conflicts.

    `budget` is what an answer may ask of language models, the claims that it grounds included, and `reading` what of it
    reading the papers may take.
    """

    name: str
    description: str = ""
    find: AnswerFind
    gate: AnswerGate | None = None
    documents: Annotated[int, Field(ge=1, le=100)]
    open_questions: OpenQuestions | None = None
    verdict: VerdictStep | None = None
    generate: Generate
    limits: AnswerLimits = AnswerLimits()
    attribute: Attribute
    conflicts: Conflicts | None = None
    reading: Budget | None = Field(default=None, exclude_if=lambda value: value is None)
    budget: Budget | None = Field(default=None, exclude_if=lambda value: value is None)

    @property
    def grounding(self) -> str | None:
        """The grounding variant used to look for verdicts and conflicts; None if neither is looked for."""
        return self.verdict.grounding if self.verdict else self.conflicts.grounding if self.conflicts else None

    @model_validator(mode="after")
    def _one_grounding(self) -> AnswerConfig:
        if self.verdict and self.conflicts and self.verdict.grounding != self.conflicts.grounding:
            raise ValueError("verdict and conflicts name different grounding variants; name the same one for both")
        return self


def load_answer_config(name: str, grounding: str | None = None) -> AnswerConfig:
    """Load a shipped answer variant by name, or any by the path of its YAML file, with the grounding variant that it names.

    `grounding` names another one to use instead. Raises `BadConfig`, also if the answer variant uses no grounding variant.
    """
    config = load_yaml(AnswerConfig, name, "counterpoint.configs.answers", "answer configuration")
    if grounding is None:
        return config
    if config.grounding is None:
        raise BadConfig(f"The answer configuration {name} uses neither a verdict nor conflicts: leave out the grounding variant.")
    parts = {"verdict": config.verdict, "conflicts": config.conflicts}
    return config.model_copy(
        update={key: part.model_copy(update={"grounding": grounding}) for key, part in parts.items() if part is not None}
    )

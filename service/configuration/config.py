"""Grounding variants and profiles: YAML in, checked values out."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from nli.decision.select import Penalty
from service.configuration.files import Count, Strict, load_yaml
from service.configuration.kinds import EncoderOptions, GeneratorOptions, JudgeOptions, RerankerOptions


class Retrieve(Strict):
    """Where candidates come from: the best `k` documents for the claim, with or without its question in the query.

    `dense` searches the vectors that the profile's `encoder` made. Several rankings, from two sources or from the many queries
    of `adversarial`, are fused by reciprocal rank with the constant `rrf`; each is `each` deep, or `k` if that is not given.
    With `spellings`, BM25 searches for the British and the American form of every word; with `synonyms`, also for its synonyms
    (retrieval/words/synonyms.txt).
    `vectors` says what `dense` means for an index without vectors of the encoder, or for a profile without the encoder: they are
    `required`, or used `if-present` and BM25 searches alone otherwise (`service.grounding.ground.adapt`).
    """

    sources: list[Literal["bm25", "dense"]] = Field(default=["bm25"])
    k: Count
    query: Literal["question+claim", "claim"] = "question+claim"
    queries: Literal["plain", "adversarial"] = "plain"
    encoder: str = "dense"
    vectors: Literal["required", "if-present"] = "required"
    rrf: Count = 60
    each: Count | None = None
    spellings: bool = False
    synonyms: bool = False

    @property
    def fused(self) -> bool:
        """Whether there is more than one ranking."""
        return len(self.sources) > 1 or self.queries == "adversarial"

    def without_vectors(self) -> Retrieve:
        """The same step by BM25 alone."""
        own = {"sources": ["bm25"], "encoder": "dense", "vectors": "required", "rrf": 60, "each": None}
        return self.model_copy(update=own)

    @model_validator(mode="after")
    def _combination_is_known(self) -> Retrieve:
        if not self.sources or len(set(self.sources)) < len(self.sources):
            raise ValueError("sources should name bm25, dense or both, each once")
        if self.queries == "adversarial" and self.sources != ["dense"]:
            raise ValueError("adversarial queries are for dense retrieval: use them with sources: [dense]")
        if (self.spellings or self.synonyms) and "bm25" not in self.sources:
            raise ValueError("spellings and synonyms are for lexical search: use them with the source bm25")
        # Compare values, not which keys were set: a configuration dumped with its defaults can then be read again.
        if self.encoder != "dense" and "dense" not in self.sources:
            raise ValueError("encoder is for the source dense: add dense to the sources, or leave out encoder")
        if self.vectors == "if-present" and set(self.sources) != {"bm25", "dense"}:
            raise ValueError("vectors: if-present is for two sources: use it with sources: [bm25, dense]")
        if (self.rrf != 60 or self.each) and not self.fused:
            raise ValueError("rrf and each fuse several rankings: use two sources or adversarial queries, or leave them out")
        return self


class Rerank(Strict):
    """Which reranker of the profile orders the candidates, and what it takes as the query.

    With `first` it reads only that many, those with most of the query's rare words (`retrieval.words.lexical.most_alike`); the
    others are dropped.
    """

    model: str
    query: Literal["claim", "question+claim"] = "claim"
    first: Count | None = None


class JudgeStep(Strict):
    """Which judge of the profile reads the documents, and how many from the ranking: all, unless `documents` says otherwise.

    `level` says what the judge is given: each `sentence`, the whole `document` as one text, or, with the rule "likeliest", the
    `abstract` as title and sentences, which a judge that reads documents takes in one pass (any other reads its sentences).
    With two `directions` each pair is read both ways round.

    `skim` lets the profile bound how many texts the judge is asked about (its key `skim`); the rest counts as neutral.
    `frugal`, for the rule "likeliest", skips the documents to which the decision could give no side whatever their sentences said
    (`nli.decision.document.Decision.reach`), but never the first. A judge of sentences then reads the most telling ones first
    (`nli.decision.skim.telling`), and the rest only if the document can still get a side.
    """

    model: str
    documents: Count | None = None
    level: Literal["sentence", "abstract", "document"] = "sentence"
    directions: Literal[1, 2] = 1
    skim: bool = False
    frugal: bool = False


_PAPER = Penalty()


class PenaltyStep(Strict):
    """The constants of the penalised score; the paper's, unless set here (nli.decision.select.Penalty)."""

    entailment: float = _PAPER.entailment
    cues: float = _PAPER.cues
    most_cues: Count = _PAPER.most_cues
    floor: Annotated[float, Field(ge=0, le=1)] = _PAPER.floor


class Select(Strict):
    """Which candidates are returned: the `top` n of the ranking, the `first` n in its order with a sentence of the label, the
    `likeliest` n of those to which the judge's decision about the whole document gives the label, or the n with the best
    `penalised` score (the paper's appendix B, for contradictions).

    The likeliest are sorted by probability, retracted papers last; within steps of `recency` the newer paper comes first. Those
    that the decision leaves neutral, but with a probability of at least `uncertain`, are listed separately.
    """

    rule: Literal["top", "first", "likeliest", "penalised"]
    label: Literal["support", "contradict"] | None = None
    n: Count = 3
    recency: Annotated[float, Field(ge=0, le=1)] = 0.0
    uncertain: Annotated[float, Field(gt=0, le=1)] | None = None
    penalty: PenaltyStep = PenaltyStep()


class EvidenceStep(Strict):
    """Which sentence of a chosen document is shown: a judge's highest score, or the one with the largest word overlap."""

    by: str = "overlap"


class Branch(Strict):
    """retrieve → drop known → rerank → filter → judge → select → show, every step but the first and last optional."""

    retrieve: Retrieve
    drop_known: bool
    rerank: Rerank | None = None
    filter: Literal["negex"] | None = None
    judge: JudgeStep | None = None
    select: Select
    evidence: EvidenceStep | None = None

    @model_validator(mode="after")
    def _rule_has_what_it_reads(self) -> Branch:
        if (self.select.rule == "top") == (self.judge is not None):
            raise ValueError(
                "the rules first, likeliest and penalised need a judge and the rule top takes none: give judge with those "
                "three only"
            )
        if self.select.uncertain is not None and self.select.rule != "likeliest":
            raise ValueError("uncertain lists what the rule likeliest leaves out: use it with that rule only")
        by_decision = self.select.rule == "likeliest" and (self.judge is None or self.judge.level != "document")
        if self.judge and self.judge.frugal and not by_decision:
            raise ValueError("frugal needs a decision: use it with the rule likeliest and level sentence or abstract")
        if self.judge and self.judge.level == "abstract" and not by_decision:
            raise ValueError("reading whole abstracts needs a decision: use the level abstract with the rule likeliest")
        if self.select.rule == "penalised" and self.judge is not None and self.judge.level != "document":
            raise ValueError("the rule penalised scores whole documents: give judge the level document")
        return self


class GroundingConfig(Strict):
    """One grounding variant."""

    name: str
    description: str = ""
    contradict: Branch
    support: Branch


class Profile(Strict):
    """Which models stand behind the names that configurations use: `kind` says which model, the other keys are its options.

    `skim` is how many texts a branch may ask its judge about if its configuration allows such a limit; without it, all.
    """

    name: str
    description: str = ""
    skim: Count | None = None
    rerankers: dict[str, RerankerOptions] = Field(default_factory=dict)
    judges: dict[str, JudgeOptions] = Field(default_factory=dict)
    encoders: dict[str, EncoderOptions] = Field(default_factory=dict)
    generators: dict[str, GeneratorOptions] = Field(default_factory=dict)


def load_config(name: str) -> GroundingConfig:
    """Load a shipped configuration by name, or any by the path of its YAML file; raises `BadConfig`."""
    return load_yaml(GroundingConfig, name, "configs", "configuration")


def load_profile(name: str) -> Profile:
    """Load a shipped profile by name, or any by the path of its YAML file; raises `BadConfig`."""
    return load_yaml(Profile, name, "configs.profiles", "profile")

"""The variants of the paper as checked values: a branch for either side of a claim."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from counterpoint.retrieval.core.values import Stance
from counterpoint.service.configuration import config
from counterpoint.service.configuration.config import Needs, Profile, Variant
from counterpoint.service.configuration.files import Count, Strict


class Retrieve(config.Retrieve):
    """The product's first step or, with the `queries` of V4, many dense rankings, one for each wording of a denial, fused."""

    queries: Literal["plain", "adversarial"] = "plain"

    @property
    def fused(self) -> bool:
        """Whether there is more than one ranking."""
        return super().fused or self.queries == "adversarial"

    @model_validator(mode="after")
    def _denials_are_dense(self) -> Retrieve:
        if self.queries == "adversarial" and self.sources != ["dense"]:
            raise ValueError("adversarial queries are for dense retrieval: use them with sources: [dense]")
        return self


class Branch(Strict):
    """One side: retrieve → rerank → filter → judge → choose `n` documents by a rule → show a sentence of each.

    `rerank` and `judge` name models of the profile, `level` says what the judge reads. The rules: `top`, the ranking's own order;
    `first`, its first documents with a text that the judge puts on this side; `penalised`, the best scores of appendix B, by
    whole documents judged both ways. Where the rule names no sentence, the judge `sentence` chooses it or, without one, the words
    that it shares with the claim.
    """

    retrieve: Retrieve
    rerank: str | None = None
    filter: Literal["negex"] | None = None
    judge: str | None = None
    level: Literal["sentence", "document"] = "sentence"
    rule: Literal["top", "first", "penalised"]
    n: Count = 3
    sentence: str | None = None

    @model_validator(mode="after")
    def _rule_has_what_it_reads(self) -> Branch:
        if (self.rule == "top") == (self.judge is not None):
            raise ValueError(
                "the rules first and penalised need a judge and the rule top takes none: give judge with those two only"
            )
        if self.rule == "penalised" and self.level != "document":
            raise ValueError("the rule penalised scores whole documents: give the level document")
        return self


class BaselineConfig(Variant):
    """A variant of the paper: contradictions are chosen first, and no document is on both sides."""

    contradict: Branch
    support: Branch

    def branch(self, stance: Stance) -> Branch:
        """The branch of a side."""
        return self.support if stance == "support" else self.contradict

    def needs(self, profile: Profile) -> Needs:
        """The models that the branches name."""
        both = self.contradict, self.support
        return Needs(
            {one.rerank for one in both if one.rerank},
            {name for one in both for name in (one.judge, one.sentence) if name},
            {one.retrieve.encoder for one in both if "dense" in one.retrieve.sources},
        )

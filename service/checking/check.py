"""Checking a text: each claim is grounded on the index, the papers that it cites are read, and the results are put together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from retrieval.core.errors import BadInput
from retrieval.core.values import Claim, Grounding
from service.checking.cited import cited_paper
from service.checking.readers.passage import Passage
from service.checking.schemas import (
    BlockOut,
    CheckedText,
    CitedStatus,
    ClaimDone,
    ClaimResult,
    TextPlan,
    TextSentenceOut,
    count_verdicts,
)
from service.checking.sentences import TextSentence, sentences_of
from service.checking.verdicts import TextVerdict, explain, find_verdict, split_sides
from service.grounding.coverage import format_count
from service.grounding.ground import Grounder
from service.grounding.schemas import CheckedOut, EvidenceOut
from service.schemas import Provenance

Ground = Callable[[Claim], Grounding]


@dataclass(frozen=True)
class Reading:
    """A text split into classified sentences; nothing is grounded yet."""

    passage: Passage
    sentences: tuple[TextSentence, ...]

    @classmethod
    def of(cls, passage: Passage) -> Reading:
        """The sentences of a text."""
        return cls(passage, sentences_of(passage))

    @cached_property
    def claims(self) -> tuple[TextSentence, ...]:
        """The sentences that make a claim."""
        return tuple(one for one in self.sentences if one.claim)

    @property
    def plan(self) -> TextPlan:
        """How much there is to do."""
        sentences = sum(one.reason != "heading" for one in self.sentences)
        detail = f"{format_count(len(self.claims), 'claim')} to check{_where(len(self.claims), sentences)}."
        return TextPlan(sentences=sentences, claims=len(self.claims), detail=detail)

    def at_most(self, claims: int) -> Reading:
        """This reading; raises `BadInput` if it makes more claims than may be checked at once."""
        if len(self.claims) > claims:
            raise BadInput(
                f"The text makes {len(self.claims):,} claims and at most {claims} are checked at once; "
                "send it in parts, or use `counterpoint check`."
            )
        return self


def key_of(sentence: TextSentence) -> str:
    """A hash of what the result of a claim depends on besides the index and the models: its words and what it cites."""
    facts = [sentence.claim, [[one.kind, one.id] for one in sentence.cited]]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]


def _silent(_claim: ClaimDone) -> None:
    """Report to nobody."""


class Checker:
    """Checks texts on one index with one grounding variant and its models; safe to use from several threads at once."""

    def __init__(self, grounder: Grounder, ground: Ground | None = None) -> None:
        """`ground` replaces the grounder's own method, for callers that count or time groundings."""
        self.grounder = grounder
        self._ground = ground or grounder.ground

    def check(self, passage: Passage, tell: Callable[[ClaimDone], None] = _silent) -> CheckedText:
        """Check every claim of a text, one after the other; `tell` is called for each, and an exception from it ends the work."""
        return self.check_claims(Reading.of(passage), tell)

    def check_claims(self, reading: Reading, tell: Callable[[ClaimDone], None] = _silent) -> CheckedText:
        """The same for a text that is already split into sentences."""
        results: dict[str, ClaimResult] = {}
        for number, sentence in enumerate(reading.claims, 1):
            key = key_of(sentence)
            if key not in results:
                results[key] = self.result(sentence)
            tell(_report(number, len(reading.claims), sentence, results[key].verdict))
        return self.join_results(reading, results)

    def result(self, sentence: TextSentence) -> ClaimResult:
        """What is found for one claim, and what the papers that it cites say of it."""
        grounding = self._ground(Claim(sentence.claim))
        sides = split_sides(grounding)
        against, in_favour, uncertain = ([EvidenceOut.of(one) for one in papers] for papers in sides)

        return ClaimResult(
            verdict=find_verdict(grounding),
            why=explain(sides, grounding),
            against=against,
            in_favour=in_favour,
            uncertain=uncertain,
            checked=CheckedOut.model_validate(grounding.checked),
            cited=[cited_paper(self.grounder, sentence.claim, one) for one in sentence.cited],
        )

    def join_results(self, reading: Reading, results: Mapping[str, ClaimResult]) -> CheckedText:
        """The text with the results of its claims, each by its `key_of`."""
        sentences = [_sentence(one, results[key_of(one)] if one.claim else None) for one in reading.sentences]
        counts = count_verdicts([one.verdict for one in sentences])
        return CheckedText(
            text=reading.passage.text,
            blocks=[BlockOut(start=one.start, end=one.end, kind=one.kind) for one in reading.passage.blocks],
            sentences=sentences,
            counts=counts,
            summary=_summary(reading.plan, counts, sentences),
            provenance=Provenance.of(self.grounder),
        )


def _sentence(one: TextSentence, result: ClaimResult | None) -> TextSentenceOut:
    return TextSentenceOut(
        index=one.index, block=one.block, start=one.start, end=one.end, verdict=result.verdict if result else "not a claim",
        reason=one.reason, claim=one.claim, unresolved=list(one.unresolved), row=one.row, result=result,
    )  # fmt: skip


def _report(number: int, claims: int, sentence: TextSentence, verdict: TextVerdict) -> ClaimDone:
    detail = f"{number} of {format_count(claims, 'claim')}: {verdict}."
    return ClaimDone(done=number, claims=claims, index=sentence.index, claim=sentence.claim, verdict=verdict, detail=detail)


def _where(claims: int, sentences: int) -> str:
    """Among how many sentences the claims are; "" for a list of claims."""
    return "" if claims == sentences else f" in {format_count(sentences, 'sentence')}"


def _summary(plan: TextPlan, counts: Mapping[TextVerdict, int], sentences: list[TextSentenceOut]) -> str:
    """The outcome, in one or two sentences."""
    if not plan.claims:
        return f"No claim that papers could support or contradict was found in {format_count(plan.sentences, 'sentence')}."
    verdicts = ", ".join(f"{counts[one]} {one}" for one in counts if counts[one] and one != "not a claim")
    opening = f"{format_count(plan.claims, 'claim')}{_where(plan.claims, plan.sentences)}: {verdicts}."
    statuses = [one.status for sentence in sentences if sentence.result for one in sentence.result.cited]
    return f"{opening} {_tell_citations(statuses)}" if statuses else opening


def _tell_citations(statuses: list[CitedStatus]) -> str:
    """How many citations the index holds, and how many of those support what they are cited for."""
    outcomes = [one for one in statuses if one != "not in the index"]
    right, rest = outcomes.count("bears it out"), outcomes.count("not judged")
    wrong = len(outcomes) - right - rest
    what = "" if right else f" bear out {'its claim' if wrong == 1 else 'their claims'}"
    parts = [f"{right} {'bears out its claim' if right == 1 else 'bear out their claims'}"] * bool(right)
    parts += [f"{wrong} {'does' if wrong == 1 else 'do'} not{what}"] * bool(wrong)
    parts += [f"{rest} not judged"] * bool(rest)
    counts = f"{format_count(len(statuses), 'citation')}, {len(outcomes) or 'none'} in the index"
    return f"{counts}: {', '.join(parts)}." if parts else f"{counts}."

"""Checking a text: each claim is grounded on the index, the papers that it cites are read, and the results are put together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

from counterpoint.indexes.readers.prose.passage import Passage
from counterpoint.nli.text.designs import has_findings
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadInput, Interrupted
from counterpoint.retrieval.core.values import Claim, Evidence, Grounding, Label
from counterpoint.retrieval.runtime.usage import Budget, count_usage
from counterpoint.service.checking.citations import CitedPaper, read_named
from counterpoint.service.checking.references import find_itself, find_reference
from counterpoint.service.checking.schemas import (
    CITED,
    VERDICTS,
    BlockOut,
    CheckedText,
    CitedOut,
    CitedStatus,
    ClaimDone,
    ClaimResult,
    TextPlan,
    TextSentenceOut,
    TextVerdict,
)
from counterpoint.service.checking.sentences import TextSentence, sentences_of
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.grounding.schemas import CheckedOut, EvidenceOut
from counterpoint.service.grounding.weigh import Outcome, find_side, weigh
from counterpoint.service.runs.journal import Job, RunJournal, code_of, facts_of_service, journal, work
from counterpoint.service.schemas import Provenance, SentenceOut, UsageOut, facts_of

_WORDS: Mapping[Outcome, TextVerdict] = {
    "contradict": "contradicted",
    "support": "supported",
    "mixed": "mixed",
    "uncertain": "uncertain",
    "silent": "nothing found",
    "nothing": "nothing found",
}


def find_verdict(grounding: Grounding) -> TextVerdict:
    """The verdict on a claim; retracted papers alone leave it uncertain."""
    outcome = weigh(grounding)
    return "uncertain" if outcome.outcome == "nothing" and outcome.retracted else _WORDS[outcome.outcome]


def split_sides(grounding: Grounding) -> tuple[list[Evidence], list[Evidence], list[Evidence]]:
    """The listed papers that contradict, those that support, and the uncertain ones: a retracted paper takes no side."""

    def takes_side(evidence: Evidence) -> bool:
        return evidence.standing != "retracted" and find_side(evidence) == evidence.stance

    against, in_favour = ([one for one in side if takes_side(one)] for side in (grounding.contradicting, grounding.supporting))
    rest = [one for one in (*grounding.contradicting, *grounding.supporting) if not takes_side(one)]
    return against, in_favour, [*rest, *grounding.uncertain]


def explain(sides: tuple[Sequence[Evidence], Sequence[Evidence], Sequence[Evidence]], grounding: Grounding) -> str:
    """How many papers take each side (`split_sides`), in words."""
    against, in_favour, uncertain = sides
    parts = [
        f"{format_count(len(side), 'paper')} {verb}{'s' if len(side) == 1 else ''} it{_partial_note(side)}"
        for side, verb in ((against, "contradict"), (in_favour, "support"))
        if side
    ]
    if uncertain:
        retractions = sum(one.standing == "retracted" for one in uncertain)
        close = len(uncertain) - retractions
        parts += [f"{close} {'is' if close == 1 else 'are'} uncertain"] * bool(close)
        parts += [f"{retractions} retracted and not counted"] * bool(retractions)
    if parts:
        return "; ".join(parts) + "."
    weighed = weigh(grounding)
    if not weighed.looked_at:
        return "No paper of the index shares a word with it."
    return f"{weighed.read:,} of {format_count(weighed.looked_at, 'paper')} read, none takes a side."


def _partial_note(side: Sequence[Evidence]) -> str:
    """How many of the papers say less than the claim: hedged, in a subgroup, in animals."""
    partial = sum(one.standing == "partial" for one in side)
    if not partial:
        return ""
    return " in part" if partial == len(side) else f" ({partial} in part)"


_STATUS: dict[Label, CitedStatus] = {"support": "bears it out", "contradict": "contradicts it", "neutral": "does not say it"}


def cited_paper(grounder: Grounder, claim: str, citation: CitedPaper) -> CitedOut | None:
    """What the cited paper says about the claim, if the index holds it; None for a name with a year that is perhaps no author.

    Its full text is read too, if the index has it. A protocol has no findings yet, so it takes no side and is not judged; nor is
    a paper without words, or any by a variant of *Negation is Not Semantic*, which judges none as a whole.
    """
    found = find_reference(grounder.index, citation)
    name: dict[str, Any] = {"kind": citation.kind, "id": citation.id}
    if len(found) != 1:
        status: CitedStatus = "several fit" if found else "not in the index"
        perhaps_none = citation.kind == "author" and not found and not read_named(citation)[2]
        return None if perhaps_none else CitedOut(**name, status=status)
    entry = found[0]
    facts = facts_of(entry.document)
    details = name | {field: facts[field] for field in ("pmid", "title", "year", "journal", "retracted")}
    no_words = not len(entry) and entry.pmid not in grounder.index.store.hash_texts([entry.pmid])
    if not grounder.reads_papers or no_words or not has_findings(entry.document):
        return CitedOut(status="not judged", **details)
    (reading,) = grounder.read(Claim(claim), [entry])
    verdict = reading.verdict
    quote = None if reading.sentence is None else SentenceOut.of(reading.sentence)
    likely = round(verdict.probability(verdict.side), 6)
    return CitedOut(status=_STATUS[verdict.label], likely=likely, sentence=quote, **details)


Ground = Callable[[Claim], Grounding]


@dataclass(frozen=True)
class ReadText:
    """A text split into classified sentences; nothing is grounded yet."""

    passage: Passage
    sentences: tuple[TextSentence, ...]

    @classmethod
    def of(cls, passage: Passage) -> ReadText:
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

    def at_most(self, claims: int) -> ReadText:
        """This reading; raises `BadInput` if it makes more claims than may be checked at once."""
        if len(self.claims) > claims:
            raise BadInput(
                f"The text makes {len(self.claims):,} claims and at most {claims} are checked at once; "
                "send it in parts, or use `counterpoint check`."
            )
        return self


def key_of(sentence: TextSentence, own: Sequence[str] = ()) -> str:
    """A hash of what the result of a claim depends on besides the index and the models: its words, what it cites, and which
    papers the text itself is."""
    facts = [sentence.claim, [[one.kind, one.id, one.entry] for one in sentence.cited], *own]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]


class Checker:
    """Checks texts on one index with one grounding variant and its models; safe to use from several threads at once."""

    def __init__(self, grounder: Grounder, ground: Ground | None = None) -> None:
        """`ground` replaces the grounder's own method, for callers that count or time groundings."""
        self.grounder = grounder
        self._ground = ground or grounder.ground

    def check(self, reading: ReadText, on_progress: Callable[[ClaimDone], object] = lambda _done: None) -> CheckedText:
        """Check every claim of a text in order; `on_progress` is called for each, and an exception from it ends the work."""
        results: dict[str, ClaimResult] = {}
        own = self.find_itself(reading)
        for number, sentence in enumerate(reading.claims, 1):
            key = key_of(sentence, own)
            if key not in results:
                results[key] = self.result(sentence, own, self.share_budget(reading))
            verdict, claims = results[key].verdict, len(reading.claims)
            detail = f"{number} of {format_count(claims, 'claim')}: {verdict}."
            place = {"done": number, "claims": claims, "index": sentence.index}
            on_progress(ClaimDone(**place, claim=sentence.claim, verdict=verdict, detail=detail))
        return self.join_results(reading, results, own)

    def find_itself(self, reading: ReadText) -> tuple[str, ...]:
        """The ids of the papers of the index that a text is: no evidence for its own claims."""
        return find_itself(self.grounder.index, reading.passage)

    def share_budget(self, reading: ReadText) -> Budget | None:
        """What each claim of a text may ask of language models, so that all get as much; None for no limit."""
        whole = self.grounder.config.text_budget
        return whole.share(len(reading.claims)) if whole else None

    def result(self, sentence: TextSentence, own: tuple[str, ...] = (), budget: Budget | None = None) -> ClaimResult:
        """What is found for one claim in papers other than its `own`, and what the papers that it cites say of it."""
        with count_usage(budget) as tally:
            grounding = self._ground(Claim(sentence.claim, own=own))
            cited = self._read_cited(sentence)
        sides = split_sides(grounding)
        against, in_favour, uncertain = ([EvidenceOut.of(one) for one in papers] for papers in sides)
        return ClaimResult(
            verdict=find_verdict(grounding),
            why=explain(sides, grounding),
            against=against,
            in_favour=in_favour,
            uncertain=uncertain,
            checked=CheckedOut.model_validate(grounding.checked),
            cited=cited,
            usage=UsageOut.of(tally.total),
        )

    def _read_cited(self, sentence: TextSentence) -> list[CitedOut]:
        """What each paper that the sentence cites says of it, a paper that is cited in two ways once."""
        found = [cited_paper(self.grounder, sentence.claim, one) for one in sentence.cited]
        return list({one.pmid or one.id: one for one in reversed(found) if one}.values())[::-1]

    def join_results(self, reading: ReadText, results: Mapping[str, ClaimResult], own: Sequence[str] = ()) -> CheckedText:
        """The text with the results of its claims, each by its `key_of`."""
        sentences = []
        for one in reading.sentences:
            result = results[key_of(one, own)] if one.claim else None
            verdict: TextVerdict = result.verdict if result else "not a claim"
            fields = {name: getattr(one, name) for name in ("index", "block", "start", "end", "reason", "claim", "row")}
            sentences.append(TextSentenceOut(**fields, verdict=verdict, unresolved=list(one.unresolved), result=result))
        given = [sentence.verdict for sentence in sentences]
        counts = {verdict: given.count(verdict) for verdict in VERDICTS}
        return CheckedText(
            text=reading.passage.text,
            blocks=[BlockOut(start=one.start, end=one.end, kind=one.kind) for one in reading.passage.blocks],
            sentences=sentences,
            counts=counts,
            summary=_summary(reading.plan, counts, sentences),
            usage=UsageOut.add(result.usage for result in results.values()),
            provenance=Provenance.of(self.grounder),
        )


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
    return f"{opening} {_describe_citations(statuses)}" if statuses else opening


def _describe_citations(statuses: list[CitedStatus]) -> str:
    """How many citations there are, and how many have each status."""
    counts = ((status, statuses.count(status)) for status in get_args(CitedStatus))
    parts = [f"{number} {CITED[status][number > 1]}" for status, number in counts if number]
    return f"{format_count(len(statuses), 'citation')}: {', '.join(parts)}."


_KEPT = "they are saved, and the same command resumes from there"


def check_kept(reading: ReadText, checker: Checker, run_journal: RunJournal, kept: str = _KEPT) -> CheckedText:
    """Check a text, a few claims at once, with a progress bar; claims already in the journal are not checked again.

    Raises `Interrupted` if the user stops it; the journal then holds what was finished, of which `kept` says what becomes of it.
    """
    own, budget = checker.find_itself(reading), checker.share_budget(reading)
    claims = {key_of(one, own): one for one in reading.claims}
    jobs = {key: Job(key, 1, lambda one=one: checker.result(one, own, budget).model_dump_json()) for key, one in claims.items()}  # type: ignore[misc]
    try:
        work(run_journal, list(jobs.values()), "checking", "claims")
    except Interrupted:
        progress = f"{sum(key in run_journal.records for key in jobs):,} of {format_count(len(jobs), 'claim')}"
        raise Interrupted(f"Stopped after {progress}; {kept}.") from None
    results = {key: ClaimResult.model_validate_json(run_journal.records[key]) for key in jobs}
    return checker.join_results(reading, results, own)


def check_once(reading: ReadText, checker: Checker, folder: Path) -> CheckedText:
    """The same if nothing should outlive the command: the journal is in a temporary `folder`."""
    with journal(folder / "check", facts(checker.grounder)) as run_journal:
        return check_kept(reading, checker, run_journal, "with --out FILE they would be kept")


def facts(grounder: Grounder) -> Mapping[str, Any]:
    """Everything besides the claim that determines its result; not the text, which may change while its check is unfinished."""
    return {
        "counterpoint": version("counterpoint"),
        "code_sha256": code_of("counterpoint.service.checking.check"),
        "task": "check",
        **facts_of_service(grounder),
    }

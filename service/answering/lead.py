"""The lead: what the papers of an index say on a yes-or-no question.

The question is turned into a claim (generation.leads.question) and grounded on both sides. The papers on the question are
weighted by the probability of their side, by design and by age, and the heavier side gives the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from generation.draft import Finding
from generation.leads.lead import write_lead
from generation.leads.question import YesNoQuestion, parse_question
from nli.judges.judge import Reader
from nli.text.designs import Design, find_design
from retrieval.core.answers import Citation, CitedSentence, Lead, LeadVerdict
from retrieval.core.probabilities import log_odds, logistic
from retrieval.core.values import Claim, Document, Evidence, Verdict
from retrieval.words.forms import unify_text
from service.answering.candidates import Candidates, name_nearest
from service.answering.reading import estimate_meetings, read_findings
from service.answering.relevance import CLEARLY_MEETS, is_doubtful, is_on_question
from service.configuration.answers import Certainty, LeadStep
from service.configuration.config import Branch
from service.grounding.ground import Grounder
from service.grounding.showing import evidence_for

LIKELY = 0.5
"""In the second look, the least probability of its side at which a paper is on the question."""


@dataclass(frozen=True, slots=True)
class WeighedPaper:
    """A paper on the question: its evidence for the side that it leans to, whether it takes that side, and its weight.

    `met` is the share of the question that it contains, 0 to 1.
    """

    evidence: Evidence
    takes_side: bool
    design: Design
    weight: float
    met: float = 1.0


@dataclass(frozen=True, slots=True)
class Studied:
    """What was found for a question: the question as a claim and, if there are papers on it, these and the lead.

    Otherwise `nearest` holds the nearest of the `searched` papers.
    """

    asked: YesNoQuestion
    papers: tuple[WeighedPaper, ...]
    lead: Lead | None
    nearest: tuple[Document, ...] = ()
    searched: int = 0


@dataclass(frozen=True, slots=True)
class _NormalizedQuestion:
    """A question in the form that is read: American spelling, Greek letters by name, so that spelling makes no difference."""

    question: str
    turned: YesNoQuestion

    @classmethod
    def of(cls, question: str) -> _NormalizedQuestion | None:
        """None if it is not a yes-or-no question."""
        plain = unify_text(question)
        turned = parse_question(plain)
        return cls(plain, turned) if turned else None


class Leads:
    """Finds the leads of questions on one index."""

    def __init__(self, grounder: Grounder, step: LeadStep) -> None:
        config = grounder.config
        sides = {"contradict": _widen(config.contradict, step.read), "support": _widen(config.support, step.read)}
        # What grounding reads is read again, with other texts, to find out what each paper found.
        self._grounder = Grounder(grounder.index, config.model_copy(update=sides), grounder.models.with_caches())
        self._step = step
        judging = config.support.judge
        judge = self._grounder.models.judges[judging.model] if judging else None
        self._reader = judge if isinstance(judge, Reader) else None

    def of(self, question: str) -> Studied | None:
        """What the index's papers say on a question; None if it is not a yes-or-no question."""
        shown, asked = parse_question(question), _NormalizedQuestion.of(question)
        if shown is None or asked is None:
            return None
        candidates = Candidates(self._grounder.index, asked.question, asked.turned, self._step.met)
        studied = self._study(shown, asked, candidates, self._step.near)
        # People ask in other words than papers use: of such papers, only those count that the reader puts on a side.
        if studied.lead is None and candidates.look_wider():
            wider = self._study(shown, asked, candidates, LIKELY)
            return wider if wider.lead else studied
        return studied

    def _study(self, shown: YesNoQuestion, asked: _NormalizedQuestion, candidates: Candidates, least: float) -> Studied:
        """What the candidates say; a paper is on the question if the reader of its findings is at least as sure as `least`."""
        grounding = self._grounder.ground(Claim(asked.turned.claim, question=asked.question), only=candidates)
        read = _drop_repeats([*grounding.contradicting, *grounding.supporting, *grounding.uncertain])
        sided = frozenset(one.document.pmid for one in (*grounding.contradicting, *grounding.supporting))
        near = [one for one in read if one.score >= self._step.near and one.sentence is not None]
        found = self._findings(asked, near)
        meets = estimate_meetings(self._reader, asked.turned.claim, found) if self._reader else {}
        findings = [one for one in found if one.score >= least and is_on_question(one.verdict, meets.get(one.document.pmid, 1.0))]
        papers = set_doubtful_aside(weigh_papers(findings, sided, self._step, candidates.measure_met()), meets)
        # A verdict that no sentence can be cited for is no verdict.
        lead = make_lead(shown, papers, self._step) if any(one.evidence.sentence for one in papers) else None
        if lead is None:
            return Studied(shown, (), None, candidates.list_nearest(read), candidates.searched)
        return Studied(shown, _order_by_side(papers, lead), lead)

    def study_papers(self, question: str, pmids: Sequence[str]) -> Studied | None:
        """What those of these papers that the index holds say on a question, whether or not a search would find them."""
        shown, asked = parse_question(question), _NormalizedQuestion.of(question)
        if shown is None or asked is None:
            return None
        index = self._grounder.index
        indexed = index.store.holds(list(pmids))
        entries = index.entries([pmid for pmid in pmids if pmid in indexed])
        near = [evidence_for(asked.turned.claim, "support", entry.document, None, None, 1, 0.0, "") for entry in entries]
        papers = weigh_papers(self._findings(asked, near), frozenset(), self._step)
        return Studied(shown, papers, make_lead(shown, papers, self._step) if papers else None)

    def _findings(self, asked: _NormalizedQuestion, near: Sequence[Evidence]) -> Sequence[Evidence]:
        """What each of these papers found, if the judge reads papers; otherwise the evidence as grounding left it."""
        if self._reader is None or not near:
            return near
        entries = list(self._grounder.index.entries([one.document.pmid for one in near]))
        findings = read_findings(self._reader, asked.question, asked.turned, entries, self._step.leaning)
        return [
            evidence_for(
                asked.turned.claim,
                finding.stance,
                entry.document,
                finding.sentence,
                finding.verdict,
                rank,
                max(finding.verdict.support, finding.verdict.contradict),
                scored_by=self._reader.name,
            )
            for rank, (entry, finding) in enumerate(zip(entries, findings, strict=True), 1)
        ]


def _widen(branch: Branch, most: int) -> Branch:
    """The branch, changed so that it returns every paper it reads with its probability."""
    changes: dict[str, object] = {"select": branch.select.model_copy(update={"n": most, "uncertain": 0.0})}
    if branch.judge:
        changes["judge"] = branch.judge.model_copy(update={"documents": most, "frugal": False})
    if branch.rerank:
        changes["rerank"] = branch.rerank.model_copy(update={"first": max(branch.rerank.first or 0, 2 * most)})
    by_words = "bm25" in branch.retrieve.sources
    changes["retrieve"] = branch.retrieve.model_copy(update={"k": max(branch.retrieve.k, 4 * most), "synonyms": by_words})
    return branch.model_copy(update=changes)


def _drop_repeats(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Each paper once, on the side that it leans to more."""
    best: dict[str, Evidence] = {}
    for one in evidence:
        had = best.get(one.document.pmid)
        if had is None or one.score > had.score:
            best[one.document.pmid] = one
    return tuple(best.values())


def weigh_papers(
    read: Sequence[Evidence], called: frozenset[str], step: LeadStep, met: Mapping[str, float] | None = None
) -> tuple[WeighedPaper, ...]:
    """Papers on the question, heaviest first.

    A paper takes a side if it probably and clearly found so and one of its sentences says so. A verdict on a single sentence
    counts only if the judge's decision put the paper on a side (`called`). A paper's weight includes the square of `met`, the
    share of the question that it contains: one on another population or outcome counts less than one on what was asked.
    """
    newest = max((one.document.year for one in read if one.document.year), default=0)
    found = []
    for one in read:
        kind = find_design(one.document)
        age = newest - one.document.year if one.document.year else 0
        verdict = one.verdict or Verdict(0.0, 1.0, 0.0)
        clear = one.score >= max(step.takes, step.clear * min(verdict.support, verdict.contradict))
        takes_side = one.sentence is not None and clear and (verdict.of == "document" or one.document.pmid in called)
        share = met.get(one.document.pmid, 1.0) if met else 1.0
        weight = one.score * kind.weight * share**2 * 0.5 ** (age / step.halves)
        found.append(WeighedPaper(one, takes_side, kind, weight, share))
    return tuple(sorted(found, key=lambda one: (not one.takes_side, -one.weight, one.evidence.document.pmid)))


def set_doubtful_aside(papers: Sequence[WeighedPaper], meets: Mapping[str, float]) -> tuple[WeighedPaper, ...]:
    """The papers; of those on a side, the ones that may not meet the question take none if another on the same side surely does.

    No side is lost by this. A paper takes none either if both its side and whether it meets the question are doubtful.
    `meets` has the probability that a paper's finding is about what was asked, by PMID.
    """

    def meeting(one: WeighedPaper) -> float:
        return meets.get(one.evidence.document.pmid, 1.0)

    def is_clear(one: WeighedPaper) -> bool:
        return meeting(one) >= CLEARLY_MEETS

    papers = [replace(one, takes_side=one.takes_side and not is_doubtful(one.evidence.score, meeting(one))) for one in papers]
    told = {one.evidence.stance for one in papers if one.takes_side and is_clear(one)}
    return tuple(
        replace(one, evidence=replace(one.evidence, sentence=None), takes_side=False)
        if one.takes_side and not is_clear(one) and one.evidence.stance in told
        else one
        for one in papers
    )


def _order_by_side(papers: Sequence[WeighedPaper], lead: Lead) -> tuple[WeighedPaper, ...]:
    """The papers on the leading side, then those on the other, then those that take no side."""
    return tuple(sorted(papers, key=lambda one: (not one.takes_side, lead.side is not None and one.evidence.stance != lead.side)))


def make_lead(turned: YesNoQuestion, papers: Sequence[WeighedPaper], step: LeadStep) -> Lead:
    """The verdict of these papers, and how sure it is."""
    supporting = [one for one in papers if one.takes_side and one.evidence.stance == "support"]
    contradicting = [one for one in papers if one.takes_side and one.evidence.stance == "contradict"]
    for_it, against = (sum(one.weight for one in side) for side in (supporting, contradicting))
    lighter, heavier = sorted((for_it, against))
    verdict: LeadVerdict = "yes" if for_it >= against else "no"
    if not supporting and not contradicting:
        verdict = "unclear"
    elif supporting and contradicting and lighter >= step.mixed * heavier:
        verdict = "mixed"
    sides = tuple(one.evidence for one in supporting), tuple(one.evidence for one in contradicting)
    silent = len(papers) - len(supporting) - len(contradicting)
    return Lead(turned.claim, verdict, compute_certainty(papers, lighter, heavier, step.certainty), *sides, silent)


def compute_certainty(papers: Sequence[WeighedPaper], lighter: float, heavier: float, by: Certainty) -> float:
    """The probability that the heavier side is right."""
    telling = [one.evidence.score for one in papers if one.takes_side] or [one.evidence.score for one in papers]
    agreement = (heavier - lighter) / (heavier + lighter) if heavier else 0.0
    odds = by.constant + by.agreement * agreement + by.strongest * log_odds(max(telling), 0.001)
    return logistic(odds)


def write_lead_sentence(question: str, studied: Studied, most: int) -> CitedSentence | None:
    """The answer's first sentence, with at most `most` citations of the papers that carry it."""
    lead = studied.lead
    if lead is None:
        return None
    kinds = {one.evidence.document.pmid: one.design.says for one in studied.papers}
    text = write_lead(
        question,
        studied.asked,
        lead.verdict,
        lead.certainty,
        [kinds[one.document.pmid] for one in lead.supporting],
        [kinds[one.document.pmid] for one in lead.contradicting],
        lead.silent,
    )
    carried = {
        "yes": lead.supporting,
        "no": lead.contradicting,
        "mixed": (*lead.supporting[:1], *lead.contradicting[:1], *lead.supporting[1:]),
        "unclear": tuple(one.evidence for one in studied.papers if one.evidence.sentence),
    }[lead.verdict]
    return CitedSentence(text, tuple(_citation(one) for one in carried[:most]))


def collect_findings(studied: Studied) -> dict[str, Finding]:
    """What each paper that takes a side found, by PMID; if none does, the sentence of each that comes nearest to a finding."""
    papers = [one for one in studied.papers if one.takes_side] or list(studied.papers)
    return {
        one.evidence.document.pmid: Finding(
            one.evidence.sentence.index, one.evidence.stance if one.takes_side else None, one.design.says
        )
        for one in papers
        if one.evidence.sentence
    }


def describe_not_studied(studied: Studied) -> str:
    """The note for a question that no paper is on, with the papers that come nearest."""
    whether = f"whether {studied.asked.claim}" if studied.asked.sound else "what was asked"
    searched = studied.searched
    none = f"none of the {searched} nearest papers reports" if searched > 1 else "no paper reports"
    return f"Not studied here, going by the papers' words: {none} {whether}.{name_nearest(studied.nearest)}"


def _citation(evidence: Evidence) -> Citation:
    """The paper, cited for the side on which the lead counts it: `support` is the probability that it found so."""
    assert evidence.sentence is not None
    verdict = evidence.verdict or Verdict(0.0, 1.0, 0.0)
    if evidence.stance == "contradict":
        verdict = Verdict(verdict.contradict, verdict.neutral, verdict.support, of=verdict.of)
    return Citation(evidence.document, evidence.sentence, verdict)

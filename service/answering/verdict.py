"""The verdict of an answer: what the papers say on a yes-or-no question, which is grounded as the claim that it asks about.

It is the first sentence of the answer, in our own words: verdict, claim, how many papers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from counterpoint.generation.draft import Finding
from counterpoint.generation.question import YesNoQuestion, parse_question
from counterpoint.nli.text.designs import find_design
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.values import (
    AnswerVerdict,
    Citation,
    CitedSentence,
    Claim,
    Document,
    Evidence,
    Grounding,
    VerdictOutcome,
)
from counterpoint.retrieval.rerank.reranker import make_passage
from counterpoint.service.answering.asked import choose_papers, find_chat_reader
from counterpoint.service.answering.attribution import find_missing_content
from counterpoint.service.grounding.ground import Choose, Grounder
from counterpoint.service.grounding.weigh import (
    Outcome,
    Placed,
    Weighed,
    count_trials_once,
    describe_certainty,
    place_papers,
    weigh,
)

IN_PART = ", in part"
NEAREST = 3
"""Papers that a refusal names."""
_MOST_WORDS = 40
"""A claim with more words is not repeated."""
_OUTCOMES: dict[Outcome, VerdictOutcome] = {"support": "yes", "contradict": "no", "mixed": "mixed", "uncertain": "unclear"}
_WORDS = {
    "yes": {"sure": "Yes", "probable": "Probably yes", "possible": "Possibly yes"},
    "no": {"sure": "No", "probable": "Probably not", "possible": "Possibly not"},
}


@dataclass(frozen=True, slots=True)
class GroundedQuestion:
    """What was found for a question: the claim that it asks about, and what the papers of the index say on that.

    `papers` are those to cite, first the ones that carry the `verdict`; without a verdict there are none.
    """

    question: YesNoQuestion
    grounding: Grounding
    weighed: Weighed
    verdict: AnswerVerdict | None
    papers: tuple[Evidence, ...]


def ground_question(grounder: Grounder, question: str, papers: int | None = None, words: str = "") -> GroundedQuestion | None:
    """What the index's papers say on a question, searched for in these words too, by so many of them; None if it is not a
    yes-or-no question."""
    parsed = parse_question(question)
    if parsed is None:
        return None
    choose = choose_for(grounder, question, words, papers)
    return weigh_question(parsed, grounder.ground(Claim(parsed.claim, words=words), papers=papers, choose=choose))


def choose_for(grounder: Grounder, question: str, words: str, papers: int | None) -> Choose | None:
    """What chooses so many papers to read, if not as many as configured, where a language model reads them."""
    reader = find_chat_reader(grounder)
    if reader is None:
        return None
    most = papers or grounder.path.read.papers
    return lambda ranked: choose_papers(grounder, reader, question, words, most, ranked)


def weigh_question(question: YesNoQuestion, grounding: Grounding) -> GroundedQuestion:
    """The verdict that a grounding of the question's claim makes; there is none if no paper is on the question."""
    weighed = weigh(grounding)
    placed = [one for one in place_papers(grounding) if not one.evidence.document.retracted and one.evidence.sentence]
    sides = {side: tuple(one.evidence for one in placed if one.side == side) for side in ("support", "contradict", "uncertain")}
    outcome = _OUTCOMES.get(weighed.outcome)
    if outcome is None or not placed:
        return GroundedQuestion(question, grounding, weighed, None, ())
    rest = int(weighed.papers.total) - len(sides["support"]) - len(sides["contradict"])
    verdict = AnswerVerdict(question.claim, outcome, weighed.certainty, sides["support"], sides["contradict"], rest)
    return GroundedQuestion(question, grounding, weighed, verdict, _list_carrying(verdict, sides["uncertain"]))


def _list_carrying(verdict: AnswerVerdict, uncertain: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The papers to cite: the heavier side before the lighter, both in turn where the evidence is mixed; if there are none on
    either, those that may take a side."""
    match verdict.outcome:
        case "yes":
            return (*verdict.supporting, *verdict.contradicting)
        case "no":
            return (*verdict.contradicting, *verdict.supporting)
        case "mixed":
            pairs = zip_longest(verdict.supporting, verdict.contradicting)
            return tuple(one for pair in pairs for one in pair if one)
        case "unclear":
            return tuple(uncertain)


def write_verdict_sentence(question: str, grounded: GroundedQuestion, most: int) -> CitedSentence | None:
    """The answer's first sentence, with at most `most` citations of the papers that carry it."""
    verdict = grounded.verdict
    if verdict is None:
        return None
    studies_for, studies_against = list_studies(verdict.supporting), list_studies(verdict.contradicting)
    word = describe_certainty(verdict.certainty)
    text = write_verdict(question, grounded.question, verdict.outcome, word, studies_for, studies_against, len(grounded.papers))
    return cite_verdict(_add_uncertain(text, grounded), verdict, grounded.papers, most)


def _add_uncertain(text: str, grounded: GroundedQuestion) -> str:
    """The verdict with how many more papers are uncertain, unless it says that all are."""
    count = int(grounded.weighed.papers.uncertain)
    if not count or (grounded.verdict and grounded.verdict.outcome == "unclear"):
        return text
    return f"{text.removesuffix('.')}; {'one more is' if count == 1 else f'{count} more are'} uncertain or mixed."


def cite_verdict(text: str, verdict: AnswerVerdict, papers: Sequence[Evidence], most: int) -> CitedSentence:
    """The sentence with at most `most` citations: of the papers on the side of the verdict or, if it takes none, of any."""
    carrying = [one for one in papers if verdict.side is None or one.stance == verdict.side]
    return CitedSentence(text, tuple(cite(one) for one in carrying[:most]))


def cite(evidence: Evidence) -> Citation:
    """The paper, cited for the side on which the verdict counts it: `support` is the probability that it found so."""
    assert evidence.sentence is not None
    verdict = evidence.verdict
    if evidence.stance == "contradict":
        verdict = replace(verdict, support=verdict.contradict, contradict=verdict.support, decided=None)
    return Citation(evidence.document, evidence.sentence, verdict)


def write_verdict(
    question: str,
    parsed: YesNoQuestion,
    outcome: VerdictOutcome,
    certainty: str,
    studies_for: Sequence[str],
    studies_against: Sequence[str],
    uncertain: int,
) -> str:
    """One sentence.

    `certainty` is sure, probable or possible; `studies_for` and `studies_against` name the kind of each paper that takes a side
    ("a randomised trial"), and `uncertain` counts those behind an unclear outcome.
    """
    claim = parsed.claim if parsed.sound and len(parsed.claim.split()) <= _MOST_WORDS else ""
    yes, no = len(studies_for), len(studies_against)
    quoted = f"“{' '.join(question.split())}”"
    if outcome == "unclear":
        papers = "one paper" if uncertain == 1 else format_count(uncertain, "paper")
        asks = f"whether {claim}" if claim else f"what the answer to {quoted} is"
        return f"Unclear: from the {papers} found on this, the judge cannot tell for sure {asks}."
    if outcome == "mixed":
        for_it, against = count_papers(studies_for), count_papers(studies_against)
        if claim:
            find, deny = "finds" if yes == 1 else "find", "does not" if no == 1 else "do not"
            return f"Mixed: {for_it} {find} that {claim}, {against} {deny}."
        return f"Mixed: {for_it} {'says' if yes == 1 else 'say'} yes to {quoted}, {against} {'says' if no == 1 else 'say'} no."
    carried = studies_for if outcome == "yes" else studies_against
    word = _WORDS[outcome][certainty]
    who = count_of_all(carried, studies_against if outcome == "yes" else studies_for)
    if not claim:
        return f"{word}: {who} {'answers' if len(carried) == 1 else 'answer'} {quoted} this way."
    if outcome == "yes":
        return f"{word}{IN_PART if all(name.endswith(IN_PART) for name in carried) else ''}: {claim}, by {who}."
    return f"{word}: {who} did not find that {claim}."


def list_studies(papers: Sequence[Evidence]) -> list[str]:
    """The kind of each paper on one side; a trial that several report is there once: "a randomised trial in 4 reports".

    That of a paper that found so only in part says so.
    """
    reports = Counter(one.trial for one in papers)
    counted = [one.evidence for one in count_trials_once(Placed(one, one.stance) for one in papers)]
    kinds = [(find_design(one.document).text, one.trial) for one in counted]
    several = [f"{kind} in {reports[trial]} reports" if trial and reports[trial] > 1 else kind for kind, trial in kinds]
    parts = [one.verdict is not None and one.verdict.partial for one in counted]
    return [f"{kind}{IN_PART}" if partial else kind for kind, partial in zip(several, parts, strict=True)]


def count_papers(studies: Sequence[str]) -> str:
    """ "2 papers (a randomised trial and a cohort study)", of the kind of each."""
    return f"{len(studies):,} {_name_papers(studies, len(studies))} ({list_kinds(studies)})"


def _name_papers(studies: Sequence[str], count: int) -> str:
    """What is counted: "papers", or "studies" where some are in several papers."""
    one, more = ("study", "studies") if any(" reports" in name for name in studies) else ("paper", "papers")
    return one if count == 1 else more


def count_of_all(studies: Sequence[str], others: Sequence[str]) -> str:
    """ "2 of 3 papers with a clear finding (2 randomised trials)": those that carry a verdict, of all that are on a side."""
    some, total = len(studies), len(studies) + len(others)
    count = "the one" if total == 1 else f"{some} of {total}" if some < total else "both" if some == 2 else f"all {some}"
    partial = any(name.endswith(IN_PART) for name in (*studies, *others))
    what = f"that {'takes' if total == 1 else 'take'} a side" if partial else "with a clear finding"
    return f"{count} {_name_papers(studies, total)} {what} ({list_kinds(studies)})"


def list_kinds(studies: Sequence[str]) -> str:
    """ "2 randomised trials, 1 of them in part, and a cohort study"."""
    phrases = []
    for kind, count in Counter(name.removesuffix(IN_PART) for name in studies).items():
        partial = studies.count(f"{kind}{IN_PART}")
        some = "" if count == 1 else "both " if partial == count == 2 else f"{partial} of them "
        phrases.append((kind if count == 1 else f"{count} {_pluralise(kind)}") + (f", {some}in part" if partial else ""))
    last = ", and " if any("," in phrase for phrase in phrases[:-1]) else " and "
    return last.join([", ".join(phrases[:-1]), phrases[-1]] if len(phrases) > 1 else phrases)


def _pluralise(name: str) -> str:
    """ "a randomised trial" as "randomised trials", "a study in animals" as "studies in animals"."""
    bare = f"{name} each" if name.endswith(" reports") else name
    bare = bare.removeprefix("a ").removeprefix("an ")
    first, _, rest = bare.partition(" in ")
    first = f"{first[:-1]}ies" if first.endswith("y") else f"{first}s"
    return f"{first} in {rest}" if rest else first


def collect_findings(grounded: GroundedQuestion) -> dict[str, Finding]:
    """What each paper to cite found, by PMID."""
    takes_side = grounded.verdict is not None and grounded.verdict.outcome != "unclear"
    return {
        one.document.pmid: Finding(one.sentence, one.stance if takes_side else None, find_design(one.document).text)
        for one in grounded.papers
        if one.sentence
    }


def describe_not_studied(grounded: GroundedQuestion) -> str:
    """The note for a question on which no paper takes a side, with the papers that come nearest, if only by their subject."""
    whether = f"whether {grounded.question.claim}" if grounded.question.sound else "what was asked"
    weighed, nearest = grounded.weighed, list_nearest(grounded)
    if any(not find_missing_content(grounded.question.claim, make_passage(one)) for one in nearest):
        return f"The papers found do not settle {whether}.{name_nearest(nearest)}"
    none = f"none of the {weighed.read} papers read reports" if weighed.read > 1 else "no paper reports"
    return f"Not studied here: {none} {whether}.{name_nearest(nearest)}"


def list_nearest(grounded: GroundedQuestion) -> list[Document]:
    """The papers that came nearest, those on the subject before others, and the most probable first."""
    claim = grounded.question.claim
    placed = sorted(place_papers(grounded.grounding), key=lambda one: -one.evidence.score)
    documents = [one.evidence.document for one in placed]
    return sorted(documents, key=lambda one: bool(find_missing_content(claim, make_passage(one))))[:NEAREST]


def name_nearest(documents: Sequence[Document]) -> str:
    """ " Nearest papers: “Title” (PMID); …", "" where there are none."""
    titles = [f"“{one.title.rstrip('.')}” ({one.pmid})" for one in documents[:NEAREST] if one.title]
    return f" Nearest papers: {'; '.join(titles)}." if titles else ""

"""Reading a paper for a yes-or-no question: what it found, and the sentence that states it.

What counts is what the paper itself found, so it is read twice against the claim. The first reading is of the whole paper, as in
grounding, and costs nothing more. The second is of its results and conclusions without the title: a title names the subject and
is too easily read as affirming it. The sentences that may state the finding are also read alone, so that none is quoted for the
opposite of what it says. The best one is read with its title, which tells findings on something close to the question, such as
another outcome or comparison. The reader itself reads the end of each text once more. The readings are combined by the geometric
mean of their probabilities (a logarithmic opinion pool, Genest and Zidek 1986, doi:10.1214/ss/1177013825). A denial of the claim
is not read: the shipped reader calls anything with a negation a contradiction (docs/experiments.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from generation.leads.question import YesNoQuestion
from generation.sentences.findings import choose_quotable
from nli.judges.judge import Abstract, Reader, Reading, drop_question
from nli.reader.alone import weigh_alone
from nli.text.roles import find_findings
from retrieval.core.probabilities import softmax
from retrieval.core.values import OPPOSITE, Document, Evidence, Sentence, Stance, Verdict
from retrieval.store.rows import Entry
from service.answering.relevance import estimate_meeting, measure_rare_share
from service.answering.telling import rank_stating, rank_telling

OPPOSED = 0.5
"""From this probability of the opposite, a sentence read alone speaks against its paper's side."""
SURE, SAYS, SAYS_CLEARLY = 0.8, 0.5, 0.7
"""A sentence with few of the question's words may state the finding, provided that it does so when it is read alone: with the
second probability if the paper's side is at least as probable as the first, otherwise with the third."""
LEANING = 0.25
"""From this probability of contradiction, a paper is decided by a sentence that clearly denies the claim by itself."""


@dataclass(frozen=True, slots=True)
class PaperFinding:
    """What a paper found: its verdict on the claim, and the sentence that states it, or None."""

    verdict: Verdict
    sentence: Sentence | None

    @property
    def stance(self) -> Stance:
        """The side that it leans to."""
        return self.verdict.leaning


def read_findings(
    reader: Reader, question: str, asked: YesNoQuestion, entries: Sequence[Entry], leaning: float = 0.0
) -> list[PaperFinding]:
    """What each paper found, in order; `question` and its claim are in American spelling, `leaning` is the reader's bias."""
    claim = asked.claim
    readings = iter(reader.read_abstracts(claim, [view for entry in entries for view in _make_views(entry)]))
    papers = []
    for entry, whole, findings in zip(entries, readings, readings, strict=True):
        verdict = remove_leaning(pool_verdicts([whole.document, findings.document]), leaning)
        spoken = _pool_sentences(entry, whole, findings)
        ranked, least = rank_telling(question, asked, claim, verdict, entry, spoken), 0.0
        if not ranked:
            ranked = rank_stating(question, asked, claim, verdict, entry, spoken)
            least = SAYS if getattr(verdict, verdict.leaning) >= SURE else SAYS_CLEARLY
        papers.append(_Ranked(verdict, ranked, least))
    return _choose_sentences(reader, claim, papers)


def estimate_meetings(reader: Reader, claim: str, findings: Sequence[Evidence]) -> dict[str, float]:
    """The probability that each quoted finding, read with its paper's title, is about what was asked, by PMID.

    `claim` is in American spelling. Papers without a sentence are left out.
    """
    quoting = [(one.document, one.sentence) for one in findings if one.sentence]
    shares = [measure_rare_share(claim, document) for document, _ in quoting]
    readings = reader.read_abstracts(claim, [make_titled_quote(document, sentence) for document, sentence in quoting])
    return {
        document.pmid: estimate_meeting(share, max(shares), reading.document)
        for (document, _), share, reading in zip(quoting, shares, readings, strict=True)
    }


def make_titled_quote(document: Document, sentence: Sentence) -> Abstract:
    """What can be quoted of a sentence, as a reader receives it with only the paper's title."""
    return Abstract(drop_question(document.title), (choose_quotable(sentence.text),))


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A paper's verdict, its best sentences with their worth, and how probably one must state the side when read alone."""

    verdict: Verdict
    sentences: Sequence[tuple[Sentence, float]]
    least: float


def _choose_sentences(reader: Reader, claim: str, papers: Sequence[_Ranked]) -> list[PaperFinding]:
    """Each paper with the best of its telling sentences, by their worth and by what they say when read alone.

    None is quoted for the opposite of what it says alone; if that is the first, the paper has none, since one of the two readings
    was wrong.
    """
    alone = [Abstract("", (choose_quotable(sentence.text),)) for paper in papers for sentence, _ in paper.sentences]
    readings = iter(reader.read_abstracts(claim, alone))
    findings = []
    for paper in papers:
        side = paper.verdict.leaning
        read = [(sentence, worth, next(readings).document) for sentence, worth in paper.sentences]
        fair = [one for one in read if getattr(one[2], OPPOSITE[side]) < OPPOSED]
        stating = [one for one in fair if getattr(one[2], side) >= paper.least]
        if not stating or fair[0] is not read[0]:
            findings.append(PaperFinding(paper.verdict, None))
        else:
            sentence, _, alone_says = max(stating, key=lambda one: weigh_alone(one[1], getattr(one[2], side)))
            findings.append(PaperFinding(_heed_denial(paper.verdict, alone_says), sentence))
    return findings


def _heed_denial(paper: Verdict, sentence: Verdict) -> Verdict:
    """The paper's verdict, pooled with its sentence's if this clearly denies the claim by itself.

    Of a paper that also affirms something else, the reader tends to say nothing, but a finding of no effect is read rightly.
    """
    leans = paper.leaning == "contradict" and paper.contradict >= LEANING
    return pool_verdicts([paper, sentence, sentence]) if leans and sentence.contradict >= SAYS_CLEARLY else paper


def _make_views(entry: Entry) -> tuple[Abstract, Abstract]:
    """The two views of a paper that are read: the whole, and its findings without the title."""
    texts = [sentence.text for sentence in entry.sentences()]
    findings = tuple(texts[place] for place in find_findings(texts))
    return Abstract(drop_question(entry.document.title), tuple(texts)), Abstract("", findings)


def _pool_sentences(entry: Entry, whole: Reading, findings: Reading) -> dict[int, Verdict]:
    """The verdict on each result and conclusion, by place; a sentence too far down to be read is left out."""
    places = find_findings([sentence.text for sentence in entry.sentences()])
    pairs = {
        place: [v for v in (whole.sentences[place], own) if v] for place, own in zip(places, findings.sentences, strict=True)
    }
    return {place: pool_verdicts(verdicts) for place, verdicts in pairs.items() if verdicts}


def pool_verdicts(verdicts: Sequence[Verdict]) -> Verdict:
    """The geometric mean of verdicts, as one verdict on the whole paper; neutral if there are none."""
    if not verdicts:
        return Verdict(0.0, 1.0, 0.0, of="document")
    logs = np.log(np.maximum([[one.support, one.neutral, one.contradict] for one in verdicts], 1e-6)).mean(axis=0)
    return Verdict(*softmax(logs).tolist(), of="document")


def remove_leaning(verdict: Verdict, leaning: float) -> Verdict:
    """The verdict without the reader's bias towards affirming a claim, in log odds of support against contradiction."""
    support, contradict = verdict.support * math.exp(-leaning / 2), verdict.contradict * math.exp(leaning / 2)
    whole = support + verdict.neutral + contradict
    return Verdict(support / whole, verdict.neutral / whole, contradict / whole, of="document")

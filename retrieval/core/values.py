"""The data types of Counterpoint: plain, frozen values. Storage, models and HTTP live elsewhere.

Offsets are Python character offsets, half open, into the text that the field's docstring names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from counterpoint.retrieval.core.english import format_count

Stance = Literal["support", "contradict"]
Label = Literal["support", "neutral", "contradict"]
LABELS: tuple[Label, ...] = get_args(Label)
OPPOSITE: dict[Stance, Stance] = {"support": "contradict", "contradict": "support"}
Standing = Literal["plain", "partial", "equal", "retracted"]
QualifierKind = Literal["hedge", "subgroup", "population", "dose", "condition"]
Span = tuple[int, int]
_MOST_CONTEXT = 40
"""Words of a row's caption and heads that are read with it."""
SectionKind = Literal["abstract", "introduction", "methods", "results", "discussion", "conclusion", "table", "caption", "other"]
"""What a heading stands for; a table's rows and the captions of tables and figures are kinds of their own."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A question to be answered (TREC BioGen Task B)."""

    id: str
    question: str
    topic: str = ""
    narrative: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence to be grounded (TREC BioGen Task A): `known_pmids` already support it and are not to be repeated; `own` are
    the papers that it stands in, which are no evidence for it. With `words` it is searched for once more, and read without."""

    text: str
    question: str = ""
    known_pmids: tuple[str, ...] = ()
    id: str = ""
    own: tuple[str, ...] = ()
    words: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """A link between two publications, as PubMed gives it: `kind` is its RefType, such as "RetractionIn" or "ErratumFor"."""

    kind: str
    pmid: str


@dataclass(frozen=True, slots=True)
class Section:
    """A labelled part of an abstract ("BACKGROUND", or "" where the source has no label); offsets into the abstract."""

    label: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Author:
    """An author of a publication: a person, or a group, whose name is in `family` alone."""

    family: str
    given: str = ""
    suffix: str = ""

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.family, self.given, self.suffix)))


@dataclass(frozen=True, slots=True)
class Document:
    """One publication: what every reader yields and the store keeps.

    `sections` are in order and never overlap; a sentence never crosses their edges. `spans` holds the sentence boundaries
    if the source itself fixes them (SciFact's rationales refer to them), else None: the index finds them.
    `version` is PubMed's: of two records with the same PMID the higher version counts. `doi` is in lower case and without a URL
    prefix, `pmcid` begins with PMC, `mesh` are the descriptors of PubMed's MeSH headings; each is empty if it is unknown.
    """

    pmid: str
    title: str
    abstract: str
    year: int | None = None
    journal: str = ""
    types: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    sections: tuple[Section, ...] = ()
    spans: tuple[Span, ...] | None = None
    version: int = 1
    retracted: bool = False
    authors: tuple[Author, ...] = ()
    doi: str = ""
    pmcid: str = ""
    mesh: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """A retrieved document, with the score of whatever ranked it; a list of hits is a ranking, best first."""

    pmid: str
    score: float


@dataclass(frozen=True, slots=True)
class Cue:
    """A negation cue in a sentence: `name` is its entry in the cue list, offsets are into the abstract."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Location:
    """Where words stand in a full text.

    `section` is the nearest heading as printed or, of a row or caption, the label of its table or figure ("Table 2"). `number`
    counts the section's paragraphs or the table's rows from 1 and is 0 for a caption; `page` counts from 1.
    """

    kind: SectionKind
    section: str
    number: int
    page: int | None = None

    def __str__(self) -> str:
        if self.kind == "abstract":
            return f"Abstract, {self.section}" if self.section else "Abstract"
        what = "row" if self.kind == "table" else "paragraph"
        number = f"{what} {self.number}" if self.number and (self.section or self.page is None) else ""
        return ", ".join(filter(None, (self.section, number, f"p. {self.page}" if self.page else ""))) or "the text"


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a caption or a row of a table in a full text; `spans` are its sentences, with offsets into `text`.

    A row is one sentence, its cells parted by " | ". `context` belongs to it without being its own words: the table's caption,
    the heads of its columns and its group of rows.
    """

    location: Location
    text: str
    spans: tuple[Span, ...]
    context: str = ""


@dataclass(frozen=True, slots=True)
class FullText:
    """The whole text of a paper, as its reader gives it: what its front or first page says of it (`record`, whose `pmid` is ""
    where it names none), and its blocks in order, without the abstract if the record has it.

    `licence` is what the file says of it, `source` the file's name; `pictures` counts the tables that are pictures; `joins` is
    the id of the document that somebody chose for it, whatever it says itself.
    """

    record: Document
    blocks: tuple[Block, ...]
    format: Literal["jats", "pdf", "text"]
    source: str = ""
    licence: str = ""
    pictures: int = 0
    joins: str = ""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an abstract or a full text, found when the index was built; `index` counts from 0 in either.

    `text == abstract[start:end]` if there is no `location`, else the offsets are into the block there, and `context` is that
    block's.
    """

    pmid: str
    index: int
    start: int
    end: int
    text: str
    cues: tuple[Cue, ...] = ()
    location: Location | None = None
    context: str = ""

    @property
    def in_abstract(self) -> bool:
        """Whether it is one of the abstract."""
        return self.location is None or self.location.kind == "abstract"

    @property
    def is_row(self) -> bool:
        """Whether it is a row of a table."""
        return self.location is not None and self.location.kind == "table"

    @property
    def in_context(self) -> str:
        """Its words as models read them: behind the beginning of what it needs to be understood."""
        context = " ".join(self.context.split()[:_MOST_CONTEXT])
        return f"{context}: {self.text}" if context else self.text


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of sentences of one section or table of a full text, which a search finds and a reader reads; `number` counts the
    paper's passages from 0.

    With their context the sentences have at most 200 words, unless one alone has more.
    """

    pmid: str
    number: int
    sentences: tuple[Sentence, ...]

    @property
    def location(self) -> Location:
        """Where it begins."""
        location = self.sentences[0].location
        assert location is not None
        return location


@dataclass(frozen=True, slots=True)
class Premise:
    """What a judge reads: the text that may bear on the claim, and the context that helps to read it.

    `before` and `after` are the neighbouring sentences ("" at the edges and if a whole document is judged).
    """

    text: str
    title: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Details:
    """Who was studied, how many, and the effect with its interval, in a paper's own words; "" for what was not found."""

    people: str = ""
    number: str = ""
    effect: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's probabilities that a premise supports, is neutral to, or contradicts a claim; they sum to 1.

    `decided` is the judge's own decision if it has its own thresholds, else None: the most probable class decides.
    `of` says what was judged: the sentence alone, or the whole document. `quote` (words of the premise), `reason`, whether it
    takes its side only in part, whether it found an answer no better than another (`equal`), and `details` come from judges that
    say so.
    """

    support: float
    neutral: float
    contradict: float
    decided: Label | None = field(default=None, kw_only=True)
    of: Literal["sentence", "document"] = field(default="sentence", kw_only=True)
    quote: str = field(default="", kw_only=True)
    reason: str = field(default="", kw_only=True)
    partial: bool = field(default=False, kw_only=True)
    equal: bool = field(default=False, kw_only=True)
    details: Details = field(default=Details(), kw_only=True)

    @property
    def label(self) -> Label:
        """The judge's decision. Without thresholds neutral wins ties, then support, so that a tie never accuses a paper."""
        if self.decided:
            return self.decided
        if self.neutral >= self.support and self.neutral >= self.contradict:
            return "neutral"
        return self.leaning

    def probability(self, stance: Stance) -> float:
        """The probability of a stance."""
        return self.support if stance == "support" else self.contradict

    @property
    def leaning(self) -> Stance:
        """The more probable side, however probable neutral is; support if both are equal."""
        return "support" if self.support >= self.contradict else "contradict"

    @property
    def side(self) -> Stance:
        """The side that it takes or, if it takes none, to which it leans."""
        return self.leaning if self.label == "neutral" else self.label

    def turn(self) -> Verdict:
        """The same verdict on the opposite of the claim."""
        decision = OPPOSITE[self.decided] if self.decided and self.decided != "neutral" else self.decided
        return replace(self, support=self.contradict, contradict=self.support, decided=decision)


@dataclass(frozen=True, slots=True)
class NegationScope:
    """A cue and the stretch of text that it negates by NegEx's rules; offsets into the abstract."""

    cue: Cue
    scope_start: int
    scope_end: int


@dataclass(frozen=True, slots=True)
class Qualifier:
    """Words of a sentence that narrow its statement beyond the claim's own restrictions; offsets are into the abstract."""

    kind: QualifierKind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """One document for or against a claim, with its rationale sentence.

    `score` is what ranked it and `scored_by` names that scorer; `verdict` is the judge's verdict on the sentence or on the whole
    paper, neutral if none was asked for; `qualifiers` are the reservations in its words; `why` says in words
    what speaks for the stance. `trial` names the trial that other papers on this side report too, "" if none does. `other` is a
    sentence of its full text that is opposed to that of its abstract.
    """

    document: Document
    stance: Stance
    sentence: Sentence | None
    rank: int
    score: float
    scored_by: str
    verdict: Verdict = Verdict(0.0, 1.0, 0.0)
    negations: tuple[NegationScope, ...] = ()
    qualifiers: tuple[Qualifier, ...] = ()
    why: str = ""
    trial: str = ""
    other: Sentence | None = None

    @property
    def standing(self) -> Standing:
        """How plain the evidence is: neither a retracted paper nor a sentence that says less than the claim is plain evidence."""
        if self.document.retracted:
            return "retracted"
        if self.verdict.equal:
            return "equal"
        # A language model that quotes has seen what its words leave out.
        return "partial" if self.verdict.partial or (self.qualifiers and not self.verdict.quote) else "plain"


Aspect = Literal["people", "dose", "comparator", "outcome", "follow-up", "design"]
"""What may differ between two studies of one claim."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """What differs between two papers that disagree, in the words of each."""

    aspect: Aspect
    first: str
    second: str


FollowUpKind = Literal["claim", "question"]


@dataclass(frozen=True, slots=True)
class FollowUp:
    """What may be asked next: its text, why it is offered, and how many papers on it a search finds, two at least."""

    text: str
    kind: FollowUpKind
    why: str
    papers: int


@dataclass(frozen=True, slots=True)
class Checked:
    """How much was looked at for a claim: the documents found, how many of them were read, and the sentences that this took."""

    documents: int
    read: int
    sentences: int


@dataclass(frozen=True, slots=True)
class Usage:
    """Requests to language models and their tokens, as counted by the server; `cost` is in US dollars if a price is configured.

    Tokens are `estimated` if a server did not count them. Nothing was sent for `cached` replies, which were there from earlier.
    The budget was `spent` if a request was not sent because of it, and papers `shortened` if it had no room for passages of their
    full texts.
    """

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    cached: int = 0
    estimated: bool = False
    spent: bool = False
    shortened: bool = False

    def __add__(self, other: Usage) -> Usage:
        """The sum of both; a cost is known if either is."""
        costs = [usage.cost for usage in (self, other) if usage.cost is not None]
        return Usage(
            self.requests + other.requests,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            sum(costs) if costs else None,
            self.cached + other.cached,
            self.estimated or other.estimated,
            self.spent or other.spent,
            self.shortened or other.shortened,
        )


@dataclass(frozen=True, slots=True)
class Grounding:
    """The answer to a claim: evidence on both sides and how much was checked to find it.

    `uncertain` is what may take a side but is on neither, contradictions first, for readers who must not miss one. `more` is what
    was given a stance or is uncertain, but ranks below the first few of its list; `silent` is what was read and takes no side.
    Together they are every document that was decided on. `contrasts` is what differs between the most probable papers of either
    side, the contradicting one first; only a language model says so, and `usage` is what language models were asked.
    """

    claim: Claim
    contradicting: tuple[Evidence, ...]
    supporting: tuple[Evidence, ...]
    checked: Checked
    uncertain: tuple[Evidence, ...] = ()
    more: tuple[Evidence, ...] = ()
    silent: tuple[Evidence, ...] = ()
    contrasts: tuple[Contrast, ...] = ()
    usage: Usage = Usage()
    follow_ups: tuple[FollowUp, ...] = ()


Role = Literal["background", "methods", "results", "conclusion"]
"""What a sentence does in a paper: it gives the background, the methods, the results or the conclusion."""
ROLE_OF: Mapping[SectionKind, Role] = {
    "introduction": "background",
    "methods": "methods",
    "results": "results",
    "discussion": "conclusion",
    "conclusion": "conclusion",
}
"""The role of the sentences in a section; for an unstructured abstract or any other section it is unknown."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A document cited for a sentence of an answer, and the sentence of its abstract that supports it.

    `verdict` is the judge's verdict with that sentence as the premise and the answer's sentence as the hypothesis; `verbatim`
    means that the answer's sentence is in the abstract word for word, which needs no judge.
    """

    document: Document
    sentence: Sentence
    verdict: Verdict
    verbatim: bool = False


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of an answer with the citations that passed the check."""

    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class RemovedSentence:
    """A sentence that the generator wrote and the check removed, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Evidence from the index against a sentence of the answer; `sentence` is that sentence's position in the answer, from 0."""

    sentence: int
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Drafted:
    """Counts of what a generator wrote, before any check: sentences, sentences with a citation, and citations."""

    sentences: int
    cited: int
    citations: int


VerdictOutcome = Literal["yes", "no", "mixed", "unclear"]


@dataclass(frozen=True, slots=True)
class AnswerVerdict:
    """What the papers of the index, weighed together, answer to a yes/no question.

    `claim` is the question as a claim; `certainty` is the probability that the outcome is right, calibrated on questions whose
    answer is known; `supporting` and `contradicting` are the papers that take a side, those that count most first; `silent` is
    the number of papers on the question that take none. If the question offers a `choice` ("apixone", "warmalin"), `chosen` is
    the side that the papers are on, "no difference", or "", and `claim` is that of this answer.
    """

    claim: str
    outcome: VerdictOutcome
    certainty: float
    supporting: tuple[Evidence, ...]
    contradicting: tuple[Evidence, ...]
    silent: int = 0
    choice: tuple[str, ...] = ()
    chosen: str = ""

    @property
    def side(self) -> Stance | None:
        """The side of the papers that carry the outcome; None if it takes none."""
        sides: dict[VerdictOutcome, Stance] = {"yes": "support", "no": "contradict"}
        return sides.get(self.outcome)


Outcome = Literal["answered", "nearest", "listed", "too little"]
"""Whether there is an answer; if not, whether its sentences report what comes nearest, or papers on the subject are listed."""


@dataclass(frozen=True, slots=True)
class Row:
    """A paper that answers an open question: what it found to be an answer, under the name that all rows on the same thing share;
    its own words for that; the question with them as a claim, and as a plain statement ("" if none can be made); what it says on
    that claim; and the words that limit its finding, where a language model read it, "" for none."""

    answer: str
    named: str
    claim: str
    statement: str
    evidence: Evidence
    condition: str = ""


@dataclass(frozen=True, slots=True)
class PaperFinding:
    """A paper on the subject of a question, and the sentence that states what it found, None if it has none."""

    document: Document
    sentence: Sentence | None


@dataclass(frozen=True, slots=True)
class Answer:
    """A short answer to a topic's question. With the outcome "too little" there are no sentences, and `note` says why; so with
    "listed", where `others` are papers on the subject of an open question to which no answer is claimed. With
    "nearest" the sentences hold, but do not answer the question.

    `context` are the documents given to the generator, best first; `generated_by` names it. `verdict` is what the
    first sentence states, None unless it is a yes/no question; `drafted` is None if no generator wrote anything; `rows` are the
    papers that answer an open question, those on the same thing together, and `others` what further papers on its subject found.
    """

    topic: Topic
    outcome: Outcome
    sentences: tuple[CitedSentence, ...]
    conflicts: tuple[Conflict, ...]
    removed: tuple[RemovedSentence, ...]
    context: tuple[Hit, ...]
    generated_by: str
    usage: Usage = Usage()
    note: str = ""
    verdict: AnswerVerdict | None = None
    drafted: Drafted | None = None
    rows: tuple[Row, ...] = ()
    others: tuple[PaperFinding, ...] = ()
    grounding: Grounding | None = None
    """What was found for the claim that a yes-or-no question asks about."""
    follow_ups: tuple[FollowUp, ...] = ()

    @property
    def heading(self) -> str:
        """What stands over the rows: "What 5 papers here found (2 are reports of 1 trial)", "" without rows."""
        trials = {row.evidence.document.pmid: row.evidence.trial for row in self.rows}
        told = [trial for trial in trials.values() if trial]
        reports = f" ({len(told)} are reports of {format_count(len({*told}), 'trial')})" if told else ""
        return f"What {format_count(len(trials), 'paper')} here found{reports}" if trials else ""

    @property
    def words(self) -> int:
        """The number of words in all sentences, split at white space as the track does."""
        return sum(len(sentence.text.split()) for sentence in self.sentences)

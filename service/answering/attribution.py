"""Attribution: whether the documents that a sentence cites support it, checked by the service and not by whoever wrote it.

Every sentence of a cited document that its generator was given is a premise, and the answer's sentence is the hypothesis. The
best supporting sentence stands for its document; a document that contradicts loses its citation. A judge that reads documents
reads the whole abstract at once, so a view that a paper cites in its introduction and refutes in its conclusion does not count as
its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from counterpoint.generation.draft import CitedSource, DraftSentence, Source
from counterpoint.nli.judge import Abstract, Judge, Reader, Reading, make_premises
from counterpoint.nli.long_text import make_abstract
from counterpoint.nli.reader.paper import QUOTED, weigh_quote
from counterpoint.nli.text.designs import has_findings
from counterpoint.nli.text.roles import find_findings
from counterpoint.nli.text.sentences import sentence_spans
from counterpoint.retrieval.core.values import OPPOSITE, Citation, Sentence, Stance, Verdict
from counterpoint.retrieval.runtime.untrusted import is_order
from counterpoint.retrieval.words.terms import find_rare_words, find_shared_terms, measure_aboutness, weigh_share
from counterpoint.service.configuration.config import Attribute

FEWEST_WORDS = 4
"""Shorter quotations occur word for word in too many documents to prove anything."""
SHARED = 0.3
"""The share of a sentence's rare words that a document must contain to be tried in place of another."""
MENTIONED = 0.5
"""The share of a sentence's words, weighted by rarity, that its paper contains, in any form, spelling or synonym
(docs/research/answers.md says how it was chosen)."""
DECIDED = 0.95
"""The probability that a judge's own decision counts as if it overrides its probabilities (a language model over a small one)."""
_FIGURE = re.compile(r"(?<![\w.-])\d+(?:,\d{3})*(?:\.\d+)?(?!\w)")
NUMBERS = {
    word: number for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}
"""Numbers that are written as words."""
_LARGER = NUMBERS | dict(
    zip("thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(), range(13, 20), strict=True),
    **dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10), strict=True)),
    fourty=40,
)
_SPELT = "|".join((*_LARGER, "hundred", "thousand"))
_SPELT_OUT = re.compile(rf"\b(?:{_SPELT})(?:(?:[\s-]+|\s+and\s+)(?:{_SPELT}))*\b", re.IGNORECASE)
"""A number of any length in words: "two hundred and forty"."""
_ANY_FIGURE = re.compile(rf"\d+(?:,\d{{3}})*(?:\.\d+)?|\b(?:{'|'.join(NUMBERS)})\b", re.IGNORECASE)
_SPACED = re.compile(r"(?<![\d.,])\d{1,3}(?:[ \u00a0\u2009]\d{3})+(?![\d.,]*\d)")
"""A number with spaces between its thousands: "53 228"."""
_COMMA = re.compile(r"(?<![\d.,])\d+,\d{1,2}(?![\d,])")
"""A decimal comma: "23,4"."""
_TYPE, _P_VALUE = re.compile(r"\btype [12]\b", re.IGNORECASE), re.compile(r"\bp\s*[<=>≤]\s*0?\.\d+", re.IGNORECASE)
_SPACE = re.compile(r"\s+")
_SAYS = {"support": "supports it", "contradict": "contradicts it", "neutral": "neither supports nor contradicts it"}


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """The citations of a sentence that hold, and in a few words why each of the others failed."""

    citations: tuple[Citation, ...]
    failures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StatedVerdict:
    """What the answer says first: the question as a claim (in American spelling), and the side that its papers took."""

    claim: str
    side: Stance | None


class Attribution:
    """Checks the sentences of one answer against its sources."""

    def __init__(
        self, judge: Judge, config: Attribute, most: int, sources: Sequence[Source], stated: StatedVerdict | None = None
    ) -> None:
        """`most` is how many citations a sentence may keep; `stated` is what they may not contradict."""
        self._judge, self._config, self._most, self._stated = judge, config, most, stated
        self._sources: Mapping[int, Source] = {source.number: source for source in sources}

    def check(self, sentence: DraftSentence) -> CheckedSentence:
        """The citations that hold, at most the `most` best, in the order in which the sentence names them."""
        citations: dict[int, Citation] = {}
        failures: list[str] = []
        for cited in sentence.cited:
            outcome = self.judge(cited, sentence.text)
            if isinstance(outcome, Citation):
                citations.setdefault(cited.number, outcome)
            else:
                failures.append(outcome)
        has_parts = any(cited.part for cited in sentence.cited)
        if len(citations) < self._config.least and not has_parts:
            citations |= self._replacements(sentence, {cited.number for cited in sentence.cited}, len(citations))
        if has_parts and failures:
            # The sentence states what each paper reports: without one of them it would say something else.
            citations = {}
        return CheckedSentence(self.choose_best(list(citations.values())), tuple(failures))

    def choose_best(self, citations: Sequence[Citation]) -> tuple[Citation, ...]:
        """The `most` best citations, in order."""
        best = sorted(citations, key=lambda one: (one.verbatim, one.verdict.support), reverse=True)[: self._most]
        return tuple(one for one in citations if one in best)

    def judge(self, cited: CitedSource, text: str) -> Citation | str:
        """The citation, or why it does not hold.

        A sentence that gives orders to a language model supports nothing, and neither does a paper that lacks what is said.
        """
        found = self._find_citation(cited, text)
        if isinstance(found, Citation) and is_order(found.sentence.in_context):
            return f"[{cited.number}] says it only in words that are meant for a language model"
        if isinstance(found, Citation) and not found.verbatim:
            said = cited.part or text
            source = self._sources[cited.number]
            why = find_missing_content(said, source.text) or self._find_opposition(said, source)
            return f"[{cited.number}] {why}" if why else found
        return found

    def _find_opposition(self, text: str, source: Source) -> str:
        """How a sentence contradicts what its paper was counted for or, if that took no side, what the answer said first."""
        if self._stated is None or not isinstance(self._judge, Reader):
            return ""
        (reading,) = self._judge.read_abstracts(self._stated.claim, [Abstract("", (text,))])
        said = reading.document.leaning
        if getattr(reading.document, said) < self._config.side:
            return ""
        found = source.finding.stance if source.finding else None
        if found:
            return "" if found == said else "was read as finding the opposite"
        return "takes no side, and the answer begins with the opposite" if self._stated.side == OPPOSITE[said] else ""

    def _find_citation(self, cited: CitedSource, text: str) -> Citation | str:
        source = self._sources.get(cited.number)
        if source is None:
            return f"[{cited.number}] is not one of the {len(self._sources)} documents"
        if not source.sentences:
            return f"[{cited.number}] has no abstract to check against"
        claim = cited.part or text
        if isinstance(self._judge, Reader):
            return self._read(self._judge, cited, source, claim)
        texts = [sentence.in_context for sentence in source.sentences]
        verdicts = list(self._judge(claim, make_premises(source.document.title, texts)))
        quoted = find_verbatim(claim, source.sentences)
        best = (
            max(range(len(verdicts)), key=lambda i: get_stated_probability(verdicts[i], "support")) if quoted is None else quoted
        )
        support = get_stated_probability(verdicts[best], "support") if quoted is None else 1.0
        # A later sentence of a paper may retract a belief that an earlier one quotes, but not the other way round.
        against = max(get_stated_probability(verdict, "contradict") for verdict in verdicts[quoted or 0 :])
        if against >= self._config.contradict and (quoted is not None or against > support):
            return f"[{cited.number}] contradicts it"
        if support < self._config.support:
            return f"[{cited.number}] does not support it"
        return Citation(source.document, source.sentences[best], verdicts[best], verbatim=quoted is not None)

    def _read(self, reader: Reader, cited: CitedSource, source: Source, claim: str) -> Citation | str:
        """The same with a judge that reads the whole paper: its stance decides, and the sentence shown supports it best."""
        abstract = make_abstract(source.document.title, source.sentences)
        (reading,) = reader.read_abstracts(claim, [abstract])
        whole, quoted = replace(reading.document, of="document"), find_verbatim(claim, source.sentences)
        own = find_own_findings(source.sentences)
        if quoted is not None and quoted in own:
            # In its results and conclusions a paper speaks for itself.
            return Citation(source.document, source.sentences[quoted], whole, verbatim=True)
        if whole.contradict >= self._config.contradict and whole.contradict > whole.support:
            return f"[{cited.number}] contradicts it"
        if quoted is not None:
            return Citation(source.document, source.sentences[quoted], whole, verbatim=True)
        if whole.support < self._config.support:
            return f"[{cited.number}] does not support it"
        # What is asked for yes or no is answered by what a paper found, never by its introduction.
        places = own if self._stated else range(len(abstract.sentences))
        if self._stated and not has_findings(source.document):
            return f"[{cited.number}] has no findings yet"
        sentence = _find_stating(reader, claim, source, reading, places, self._config.stated)
        return Citation(source.document, sentence, whole) if sentence else f"no sentence of [{cited.number}] says it"

    def _replacements(self, sentence: DraftSentence, tried: set[int], had: int) -> dict[int, Citation]:
        """Other sources that support the sentence, among those that share most of its rare words."""
        others = [source for number, source in self._sources.items() if number not in tried]
        shares = {source.number: measure_aboutness(sentence.text, source.text) for source in others}
        likely = sorted((n for n in shares if shares[n] >= SHARED), key=lambda n: (-shares[n], n))[: self._config.replace]
        found: dict[int, Citation] = {}
        for number in likely:
            if had + len(found) >= self._config.least:
                break
            citation = self.judge(CitedSource(number), sentence.text)
            if isinstance(citation, Citation):
                found[number] = citation
        return found


def find_own_findings(sentences: Sequence[Sentence]) -> list[int]:
    """The places of the sentences in which a paper states what it found itself: those of its abstract that do so, and all of its
    full text, of which only sections that tell it are read (nli.long_text)."""
    abstract = [place for place, one in enumerate(sentences) if one.in_abstract]
    findings = find_findings([sentences[place].text for place in abstract])
    return sorted({*range(len(sentences))} - {*abstract} | {abstract[place] for place in findings})


def _find_stating(
    reader: Reader, claim: str, source: Source, reading: Reading, places: Iterable[int], least: float
) -> Sentence | None:
    """The sentence in one of these places that best supports the claim, within its paper and, with `least`, alone."""
    support = [verdict.support if verdict else 0.0 for verdict in reading.sentences]
    places = sorted(places, key=support.__getitem__, reverse=True)[:QUOTED]
    if not places:
        return None
    readings = reader.read_abstracts(claim, [Abstract("", (source.sentences[place].in_context,)) for place in places])
    alone = {place: one.document.support for place, one in zip(places, readings, strict=True)}
    best = max(places, key=lambda place: weigh_quote(support[place] ** 2, alone[place]))
    return source.sentences[best] if max(alone.values()) >= least else None


def find_missing_content(text: str, passage: str) -> str:
    """What a paper's text lacks that the sentence says, as the end of a reason ("does not give the figure 30"); "" for nothing.

    Figures and words alone show no support, but their absence shows that there is none.
    """
    if figures := find_other_figures(text, passage):
        return f"does not give the figure {' or '.join(figures)}"
    if weigh_share(find_rare_words(text), find_shared_terms(text, passage)) < MENTIONED:
        return "has too few of its words"
    return ""


def find_other_figures(text: str, passage: str, sums: bool = False) -> tuple[str, ...]:
    """The figures in a sentence that a passage does not give, not even rounded, as a percentage, as what remains of a whole or,
    with `sums`, as two whole numbers of one sentence together. The type of a disease is no figure, and a P value no share."""
    passage, given = _P_VALUE.sub("", passage), set[float]()
    for start, end in sentence_spans(passage) if sums else [(0, len(passage))]:
        said = {_read_figure(figure) for figure in _ANY_FIGURE.findall(passage[start:end])}
        said |= {_read_spelt(words) for words in _SPELT_OUT.findall(passage[start:end])}
        said |= {float("".join(figure.split())) for figure in _SPACED.findall(passage[start:end])}
        said |= {float(figure.replace(",", ".")) for figure in _COMMA.findall(passage[start:end])}
        whole = [one for one in said if one.is_integer()] if sums else []
        given |= said | {one + other for one, other in combinations(whole, 2)} | {2 * one for one in whole}
    given |= {share for one in given if 0 < one < 1 for share in (100 * one, 100 - 100 * one)}
    figures = dict.fromkeys(_FIGURE.findall(_TYPE.sub("", text)))
    return tuple(one for one in figures if not any(_rounds_to(number, one) for number in given))


def _rounds_to(number: float, figure: str) -> bool:
    """Whether the number is the figure, to the last of its digits that is not a rounding zero ("39,000")."""
    zeros = len(figure) - len(figure.rstrip("0,")) if "." not in figure else 0
    unit: float = 10.0 ** (figure[-zeros:].count("0") if zeros > 1 else -len(figure.partition(".")[2]))
    return abs(number - _read_figure(figure)) <= 0.5 * unit + 1e-9


def _read_figure(figure: str) -> float:
    return float(figure.replace(",", "")) if figure[0].isdigit() else float(NUMBERS[figure.lower()])


def _read_spelt(words: str) -> float:
    """ "two hundred and forty" as 240."""
    thousands, rest = 0, 0
    for word in re.findall("[a-z]+", words.lower()):
        if word == "thousand":
            thousands, rest = thousands + max(rest, 1) * 1000, 0
        elif word == "hundred":
            rest = max(rest, 1) * 100
        else:
            rest += _LARGER.get(word, 0)
    return float(thousands + rest)


def find_verbatim(claim: str, sentences: Sequence[Sentence]) -> int | None:
    """The place of the sentence that contains the claim word for word, or None.

    The case of its first letter and its final full stop are ignored.
    """
    wanted = _plain(claim)
    if len(wanted.split()) < FEWEST_WORDS:
        return None
    first = f"[{re.escape(wanted[0].lower())}{re.escape(wanted[0].upper())}]"
    whole = re.compile(rf"(?<!\w){first}{re.escape(wanted[1:])}(?!\w)")
    return next((place for place, sentence in enumerate(sentences) if whole.search(_plain(sentence.text))), None)


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip().rstrip(".").rstrip()


def get_stated_probability(verdict: Verdict, stance: Stance) -> float:
    """The verdict's probability of a stance if that is its label, else 0; a judge's own decision counts as `DECIDED` at least."""
    if verdict.label != stance:
        return 0.0
    return max(verdict.probability(stance), DECIDED) if verdict.decided else verdict.probability(stance)


def describe_check(citation: Citation) -> str:
    """One sentence that says where the words are, and the judge's stance with its probability."""
    verdict, sentence = citation.verdict, citation.sentence
    place = f"the full text ({sentence.location})" if sentence.location else "the abstract"
    if verdict.quote:
        how = "bear out some of what is said" if verdict.partial else "bear it out"
        return f"The words “{verdict.quote}” stand in {place}; the language model that checked them says that they {how}."
    label = verdict.label
    what = "the paper, read as a whole," if verdict.of == "document" else "the sentence, read with its neighbours,"
    probability: float = getattr(verdict, label)
    judged = f"{what} {_SAYS[label]} (probability {probability:.0%})"
    if not sentence.location and citation.document.abstract[sentence.start : sentence.end] != sentence.text:
        return f"The sentence was not found in the abstract; {judged}."
    where = "The words quoted stand" if citation.verbatim else "The sentence shown stands"
    return f"{where} in {place}; by the judge {judged}."

"""Disagreement: what in the index contradicts the sentences of an answer, and how the answer states the strongest conflict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from counterpoint.generation.draft import Limits
from counterpoint.generation.extractive import drop_label
from counterpoint.nli.judge import Judge
from counterpoint.nli.long_text import Window
from counterpoint.nli.reader.paper import LanguageModelReader
from counterpoint.nli.text.designs import are_comparable, differ_in_people, find_design
from counterpoint.retrieval.core.values import Citation, CitedSentence, Claim, Conflict, Document, Premise, Row, Sentence, Topic
from counterpoint.retrieval.rerank.reranker import make_passage
from counterpoint.retrieval.runtime.usage import find_room
from counterpoint.retrieval.store.documents import Entry
from counterpoint.retrieval.words.terms import find_subject, weigh_shared_terms
from counterpoint.service.answering.attribution import get_stated_probability
from counterpoint.service.answering.find import measure_coverage
from counterpoint.service.answering.verdict import GroundedQuestion
from counterpoint.service.configuration.config import Conflicts
from counterpoint.service.grounding.coverage import READING
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.grounding.read import read
from counterpoint.service.grounding.show import evidence_for, restate
from counterpoint.service.grounding.weigh import find_side


def find_conflicts_between_sides(grounded: GroundedQuestion, sentences: Sequence[CitedSentence]) -> tuple[Conflict, ...]:
    """Conflicts between papers of comparable design, in the same kind of people, that take opposite sides.

    Each paper of the lighter side is set against the sentence of the answer that states what the first such paper of the heavier
    side found, or against the verdict.
    """
    if grounded.verdict is None or grounded.verdict.outcome == "unclear":
        return ()
    stance = grounded.papers[0].stance
    heavier = [paper for paper in grounded.papers if paper.stance == stance]
    conflicts = []
    for other in [paper for paper in grounded.papers if paper.stance != stance]:
        against = next((paper for paper in heavier if _can_disagree(paper.document, other.document)), None)
        if against:
            place = _find_citing(against.document.pmid, sentences, grounded.question.claim)
            conflicts.append(Conflict(place, restate(other, sentences[place].text, "contradict")))
    return tuple(conflicts)


def _can_disagree(one: Document, other: Document) -> bool:
    """Whether two papers can conflict: comparable designs, and no difference in people."""
    return are_comparable(find_design(one), find_design(other)) and not differ_in_people(one.title, other.title)


def _find_citing(pmid: str, sentences: Sequence[CitedSentence], claim: str) -> int:
    """The place of the sentence behind the verdict that cites the paper and shares most with the claim, or else the verdict's."""
    cited = [pmid in (citation.document.pmid for citation in one.citations) for one in sentences]
    citing = [place for place in range(1, len(sentences)) if cited[place]]
    shares = measure_coverage(claim, [sentences[place].text for place in citing])
    return max(zip(shares, citing, strict=True), default=(0.0, 0))[1]


def _is_on_same_subject(sentence: CitedSentence, other: Document) -> bool:
    """Whether another paper, of comparable design, is on the subject of a sentence and so can contradict it.

    It must contain the sentence's rarest word: a paper on another drug contradicts nothing.
    """
    wanted, passage = find_subject(sentence.text), make_passage(other)
    (shared,) = measure_coverage(sentence.text, [passage])
    rarest = {term: weight for term, weight in wanted.items() if weight == max(wanted.values())}
    return (
        shared >= SHARED
        and weigh_shared_terms(sentence.text, rarest, passage) > 0
        and any(_can_disagree(citation.document, other) for citation in sentence.citations)
    )


REQUESTS = 2
"""The most papers that a language model reads to find conflicts."""
_SEARCHED = 5
"""The best papers of a search that the embedded reader reads."""
SHARED = 0.5
"""The share of a sentence's informative words that a paper must contain to conflict with it: another disease is no conflict."""
BOTH_SIDES = "Not every paper agrees: while one reports “{ours}”, another reports “{theirs}”."
OTHER_SIDE = "Not every paper agrees, though; another reports “{theirs}”."
"""How a conflict is stated: both sides in their own words or, if that is too long or misread, the other side alone."""


class Disagreements:
    """Looks for evidence against the sentences of one answer.

    `judge` is the one that checks citations: a sentence that states a conflict must pass the same check.
    """

    def __init__(self, grounder: Grounder, config: Conflicts, judge: Judge, contradict: float, topic: Topic) -> None:
        """`contradict` is the probability from which a citation counts as contradicting (Attribute.contradict)."""
        self._grounder = grounder
        self._config, self._judge, self._contradict, self._topic = config, judge, contradict, topic

    def against(self, sentences: Sequence[CitedSentence]) -> tuple[Conflict, ...]:
        """The strong contradictions of the sentences nearest to the question, in the order of the answer.

        No paper is set against a sentence that cites it.
        """
        found: list[Conflict] = []
        for place in self._find_nearest(sentences):
            sentence = sentences[place]
            own = tuple(citation.document.pmid for citation in sentence.citations)
            claim = Claim(sentence.text, question=self._topic.question, known_pmids=own)
            for one in self._grounder.ground(claim).contradicting:
                is_strong = one.sentence and one.standing != "retracted" and find_side(one) == "contradict"
                if one.document.pmid not in own and is_strong and _is_on_same_subject(sentence, one.document):
                    found.append(Conflict(place, one))
        return tuple(found)

    def against_by_model(
        self, sentences: Sequence[CitedSentence], reader: LanguageModelReader, papers: Iterable[Entry], rows: Sequence[Row]
    ) -> tuple[Conflict, ...]:
        """The same by a language model: what contradicts the claims of the rows or, without rows, the nearest sentences.

        Of these papers and those that a search for each claim finds, the embedded reader chooses the few that the model reads.
        """
        embedded, given = self._grounder.with_reader(reader.embedded), list(papers)
        worth: dict[str, tuple[float, int, Claim, Entry]] = {}
        for place, text in self._list_claims(sentences, rows):
            own = tuple(citation.document.pmid for citation in sentences[place].citations)
            claim = Claim(text, question=self._topic.question, known_pmids=own)
            found = {one.pmid: one for one in (*embedded.rank(claim, embedded.find(claim))[:_SEARCHED], *given)}
            others = [one for one in found.values() if self._may_contradict(sentences[place], one)]
            for one, entry in zip(embedded.read(claim, others), others, strict=True):
                score = one.verdict.contradict
                if one.verdict.label == "contradict" and score > worth.get(entry.pmid, (0.0,))[0]:
                    worth[entry.pmid] = score, place, claim, entry
        # Room for one more request is kept, which asks what comes next.
        most = max(0, min(REQUESTS, find_room() // READING - 1))
        chosen = sorted(sorted(worth.values(), key=lambda one: -one[0])[:most], key=lambda one: one[1])
        claims, entries = [claim for _, _, claim, _ in chosen], [entry for *_, entry in chosen]
        windows = dict[str, Window]()
        for claim, entry in zip(claims, entries, strict=True):
            windows |= self._grounder.choose_windows(claim, [entry], READING * len(chosen), len(chosen))
        readings = read(reader, claims, entries, windows=windows)
        conflicts = []
        for one, (_, place, _, entry) in zip(readings, chosen, strict=True):
            score, said = one.verdict.contradict, sentences[place].text
            if one.sentence and one.verdict.label == "contradict":
                shown = evidence_for(said, "contradict", entry.document, one.sentence, one.verdict, 1, score, one.by, one.note)
                conflicts.append(Conflict(place, shown))
        return tuple(conflicts)

    def _list_claims(self, sentences: Sequence[CitedSentence], rows: Sequence[Row]) -> list[tuple[int, str]]:
        """The place of a sentence, and what is searched for: the claim of an answer in the rows that it states, or itself."""
        cited = {citation.document.pmid: place for place, one in enumerate(sentences) for citation in one.citations}
        claims = {
            row.answer: (cited[row.evidence.document.pmid], row.statement or row.claim)
            for row in reversed(rows)
            if row.evidence.document.pmid in cited and row.evidence.standing != "equal"
        }
        stated = [*claims.values()][::-1] or [(place, sentences[place].text) for place in self._find_nearest(sentences)]
        return stated[: self._config.most]

    def _find_nearest(self, sentences: Sequence[CitedSentence]) -> list[int]:
        """The places of the sentences nearest to the question, in order."""
        shares = measure_coverage(self._topic.question, [sentence.text for sentence in sentences])
        return sorted(sorted(range(len(sentences)), key=lambda place: (-shares[place], place))[: self._config.most])

    @staticmethod
    def _may_contradict(sentence: CitedSentence, entry: Entry) -> bool:
        """Whether a paper that the sentence does not cite is on its subject."""
        own = {citation.document.pmid for citation in sentence.citations}
        return (
            len(entry) > 0
            and entry.pmid not in own
            and not entry.document.retracted
            and _is_on_same_subject(sentence, entry.document)
        )

    def state_conflict(
        self, sentences: Sequence[CitedSentence], conflicts: Sequence[Conflict], limits: Limits
    ) -> CitedSentence | None:
        """A sentence that states the strongest conflict, with both papers cited; None if the answer already does or has no room.

        Both sides are quoted, and each citation holds because its paper contains the quotation word for word.
        """
        cited = {citation.document.pmid for sentence in sentences for citation in sentence.citations}
        unstated = [one for one in conflicts if one.evidence.document.pmid not in cited]
        room = limits.words - sum(len(sentence.text.split()) for sentence in sentences)
        for conflict in sorted(unstated, key=lambda one: -one.evidence.score):
            theirs, ours = conflict.evidence.sentence, sentences[conflict.sentence].citations[0]
            assert theirs is not None
            if theirs.is_row:
                continue  # cells are no words to quote in a sentence
            sides = ((ours.document, ours.sentence), (conflict.evidence.document, theirs))
            both = BOTH_SIDES.format(ours=_quote(ours.sentence.text), theirs=_quote(theirs.text))
            other = OTHER_SIDE.format(theirs=_quote(theirs.text))
            forms = ((both, sides), (other, sides[1:]))
            for text, named in forms[1:] if ours.sentence.is_row else forms:
                if len(text.split()) <= room and len(named) <= limits.citations:
                    citations = tuple(self._cite(text, document, sentence) for document, sentence in named)
                    if all(get_stated_probability(citation.verdict, "contradict") < self._contradict for citation in citations):
                        return CitedSentence(text, citations)
        return None

    def _cite(self, text: str, document: Document, sentence: Sentence) -> Citation:
        (verdict,) = self._judge(text, [Premise(sentence.text, document.title)])
        return Citation(document, sentence, verdict, verbatim=True)


def _quote(sentence: str) -> str:
    return drop_label(" ".join(sentence.split())).rstrip(".")

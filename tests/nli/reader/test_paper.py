"""Reading a paper: whole, then the sentences that may state its finding; and what the two readings decide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from counterpoint.nli.judge import Abstract, OppositeRule, Reading
from counterpoint.nli.reader.paper import (
    AT_ODDS,
    NOT_OWN,
    PaperDecision,
    TwoReadings,
    choose_quotes,
    join_opposite,
    judge_paper,
    read_both_ways,
    read_twice,
)
from counterpoint.retrieval.core.values import Label, Verdict
from tests.helpers.fakes import WholePaper, WordReader

FOR, AGAINST, NEITHER = Verdict(0.9, 0.05, 0.05), Verdict(0.05, 0.05, 0.9), Verdict(0.05, 0.9, 0.05)
LIKELY, WEAK = Verdict(0.6, 0.4, 0.0), Verdict(0.5, 0.4, 0.1)
CLAIM = "Zinc shortens colds"
PAPER = Abstract(
    "A trial of zinc",
    (
        "BACKGROUND: It has long been believed that zinc shortens colds.",
        "METHODS: We gave zinc or placebo to 40 adults.",
        "RESULTS: Serum zinc was higher with zinc than with placebo (p < 0.01).",
        "CONCLUSIONS: Zinc shortened colds by two days.",
    ),
)


class Lending(WordReader):
    """Within the paper each sentence seems to support the claim; with the title alone, only one that holds a word does."""

    def __init__(self, word: str, quotes: int, whole: Verdict = FOR) -> None:
        self.word, self.whole, self.paper = word, whole, WholePaper(quotes)
        self.read: list[Abstract] = []

    def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
        for one in documents:
            self.read.append(one)
            alone = len(one.sentences) == 1
            own = (FOR if self.word in one.sentences[0] else NEITHER) if alone else self.whole
            yield Reading(own, tuple(LIKELY for _ in one.sentences))


@pytest.mark.parametrize(
    ("word", "quotes", "chosen"), [("shortened", 2, 3), ("Serum", 2, 2), ("believed", 2, 3), ("shortened", 1, 3), ("", 0, 3)]
)
def test_the_sentence_that_says_so_when_read_once_more_is_quoted(word: str, quotes: int, chosen: int) -> None:
    reader = Lending(word, quotes)
    readings = read_twice(reader, CLAIM, PAPER)
    assert judge_paper(reader, readings)[1] == chosen
    assert reader.read[0] == PAPER
    assert [one.title for one in reader.read[1:]] == [PAPER.title] * quotes, "with the title"
    assert next(iter(readings.quoted)) != 0, "background is not what the paper found"


def test_a_paper_that_surely_takes_no_side_is_read_once() -> None:
    reader = Lending("shortened", 2, Verdict(0.04, 0.92, 0.04))
    reader.paper = WholePaper(2, off_claim=0.9)
    verdict, place = read_both_ways(reader, "Zinc shortens colds more than vitamin C.", PAPER)
    assert (verdict.label, verdict.neutral, place) == ("neutral", 0.92, 3)
    assert reader.read == [PAPER]


def test_a_sentence_is_chosen_by_what_the_reader_gave_it_and_by_how_far_it_is_a_finding() -> None:
    doubtful = Reading(FOR, (FOR, NEITHER, FOR, Verdict(0.3, 0.7, 0.0)))
    assert next(iter(choose_quotes(CLAIM, PAPER.sentences, doubtful))) == 2
    unread = Reading(FOR, (FOR, None, None, None))
    assert list(choose_quotes(CLAIM, PAPER.sentences, unread)) == [0]


@pytest.mark.parametrize(
    ("whole", "sentences", "quoted", "label", "place"),
    [
        (FOR, (FOR, NEITHER), {}, "support", 0),
        (FOR, (NEITHER, LIKELY), {}, "support", 1),
        (FOR, (AGAINST, AGAINST), {}, "neutral", 0),
        (FOR, (FOR, FOR), {1: AGAINST}, "neutral", 1),
        (FOR, (AGAINST,), {0: FOR}, "support", 0),
        (NEITHER, (AGAINST,), {0: AGAINST}, "neutral", 0),
        (AGAINST, (None,), {}, "contradict", None),
    ],
)
def test_a_paper_that_its_best_sentence_belies_is_uncertain_and_keeps_its_probability(
    whole: Verdict, sentences: tuple[Verdict | None, ...], quoted: dict[int, Verdict], label: Label, place: int | None
) -> None:
    said = quoted or {place: one for place, one in enumerate(sentences) if one}
    verdict, quotation = judge_paper(WordReader(), TwoReadings(Reading(whole, sentences), said))
    assert (verdict.label, quotation) == (label, place)
    assert (verdict.support, verdict.contradict) == (whole.support, whole.contradict)
    assert (verdict.reason == AT_ODDS) is (label == "neutral" and whole != NEITHER)


@pytest.mark.parametrize(
    ("background", "finding", "label", "place", "reason"),
    [
        (FOR, None, "neutral", 0, NOT_OWN),
        (FOR, NEITHER, "neutral", 0, NOT_OWN),
        (FOR, LIKELY, "support", 2, ""),
        (LIKELY, FOR, "support", 2, ""),
    ],
)
def test_a_paper_takes_a_side_only_by_a_finding_of_its_own(
    background: Verdict, finding: Verdict | None, label: Label, place: int, reason: str
) -> None:
    said = {0: background, **({2: finding} if finding else {})}
    verdict, quotation = judge_paper(WordReader(), TwoReadings(Reading(FOR, (FOR, NEITHER, FOR)), said, frozenset({0})))
    assert (verdict.label, quotation, verdict.reason, verdict.support) == (label, place, reason, FOR.support)


@pytest.mark.parametrize(
    ("whole", "quote", "label"),
    [
        (FOR, FOR, "support"),
        (AGAINST, AGAINST, "contradict"),
        (NEITHER, NEITHER, "neutral"),
        (FOR, AGAINST, "neutral"),
        (WEAK, NEITHER, "neutral"),
        (WEAK, FOR, "support"),
    ],
)
def test_the_more_probable_side_is_taken_if_it_is_probable_enough(whole: Verdict, quote: Verdict, label: Label) -> None:
    weights = ((0.5, -0.5, 0.0, 0.0, 0.5, -0.5, 0.0), (-0.5, 0.5, 0.0, 0.0, -0.5, 0.5, 0.0))
    verdict = PaperDecision(weights, side=0.7)(Reading(whole, (whole,)), [quote])
    assert verdict.label == label
    assert verdict.of == "document"
    assert verdict.support + verdict.neutral + verdict.contradict == pytest.approx(1.0)


RULE = OppositeRule(0.4, 0.4)
COMPARISON, OPPOSITE = "Zinc shortens colds more than honey", "Zinc shortens colds less than honey"


class BothWays(WordReader):
    """A reader of whole papers that has a verdict on a comparison and another on its opposite."""

    def __init__(self, own: Verdict, opposite: Verdict) -> None:
        self.verdicts, self.paper, self.claims = (
            {COMPARISON: own, OPPOSITE: opposite},
            WholePaper(0, off_claim=0.95, opposite=RULE),
            list[str](),
        )

    def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
        self.claims.append(claim)
        yield from (Reading(self.verdicts.get(claim, FOR), (NEITHER, NEITHER, AGAINST, FOR)) for _ in documents)


@pytest.mark.parametrize(
    ("own", "opposite", "label"),
    [
        (FOR, AGAINST, "support"),
        (AGAINST, FOR, "contradict"),
        (AGAINST, AGAINST, "contradict"),  # no difference contradicts both
        (FOR, FOR, "support"),
        (Verdict(0.45, 0.15, 0.4), AGAINST, "support"),
        (Verdict(0.45, 0.15, 0.4), FOR, "contradict"),
    ],
)
def test_a_comparison_is_read_both_ways(own: Verdict, opposite: Verdict, label: Label) -> None:
    reader = BothWays(own, opposite)
    assert read_both_ways(reader, COMPARISON, PAPER)[0].label == label
    assert reader.claims == [COMPARISON, OPPOSITE]
    joined = join_opposite(RULE, own, opposite)
    assert sum((joined.support, joined.neutral, joined.contradict)) == pytest.approx(1)


def test_what_is_no_comparison_or_surely_off_it_is_read_once() -> None:
    for claim, own in ((CLAIM, FOR), (COMPARISON, Verdict(0.01, 0.98, 0.01))):
        reader = BothWays(own, AGAINST)
        read_both_ways(reader, claim, PAPER)
        assert reader.claims == [claim]

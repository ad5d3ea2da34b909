"""Whether a cited paper says what a sentence says: by a judge, by its words, by the lead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from generation.draft import CitedSource, DraftSentence, Finding, Source
from nli.judge import Abstract, Reading
from retrieval.core.values import Document, Sentence, Stance
from service.answering.attribution import Attribution, StatedVerdict, find_missing_content, find_other_figures, find_verbatim
from tests.helpers.answer_fakes import OverlapJudge, config
from tests.helpers.fakes import SUPPORTS, WordReader, make_index

PAPER = Document(
    "1",
    "Exercise and cortisol in men with HIV",
    "Six weeks of moderate exercise lowered salivary cortisol by 22.6 % in 1,250 men. Performance improved in twelve weeks.",
)


@pytest.mark.parametrize(
    ("sentence", "missing"),
    [
        ("Moderate exercise can lower cortisol in the saliva of men with HIV.", ""),
        ("In 1250 men, exercise lowered salivary cortisol by 23 % within 12 weeks.", ""),
        ("Exercise lowered salivary cortisol in men by 30 %.", "does not give the figure 30"),
        ("Caffeine raises salivary cortisol in men who exercise.", "does not mention Caffeine"),
        ("A consultation with professional advisers offers personalised guidance against cortisol.", "has too few of its words"),
    ],
)
def test_names_figures_and_most_words_must_be_there(sentence: str, missing: str) -> None:
    assert find_missing_content(sentence, PAPER) == missing


def test_a_figure_may_be_rounded_but_not_made_more_exact() -> None:
    assert find_other_figures("It fell by 3 mm and 0.9 cm.", "It fell by 2.7 mm and 0.94 cm.") == ()
    assert find_other_figures("It fell by 2.71 mm.", "It fell by 2.7 mm.") == ("2.71",)
    assert find_other_figures("It cost 39,000 or 40.", "It cost 38,879 or 39.") == ("40",)
    assert find_other_figures("It was 65 % less likely.", "The odds ratio was 0.35.") == ()
    assert find_other_figures("It fell in type-2 disease by three.", "It fell.") == ()


@pytest.mark.parametrize(
    ("claim", "place"),
    [
        ("zeta lowers blood pressure in most adults", 1),
        ("eta lowers blood pressure in most adults", None),
        ("Zeta lowers", None),
    ],
)
def test_verbatim_goes_by_whole_words(claim: str, place: int | None) -> None:
    texts = ("Zeta was given.", "CONCLUSIONS: Zeta lowers blood pressure in most adults.")
    assert find_verbatim(claim, [Sentence("1", row, 0, len(text), text) for row, text in enumerate(texts)]) == place


class ForReader(WordReader):
    """Takes every paper for a yes as a whole, and each sentence for what it says."""

    def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
        for one, reading in zip(documents := list(documents), super().read_abstracts(claim, documents), strict=True):
            yield Reading(SUPPORTS, reading.sentences) if len(one.sentences) > 1 else reading


def test_a_paper_that_takes_its_words_back_does_not_bear_them_out(tmp_path: Path) -> None:
    abstract = "Zeta lowers the pressure in adults. It was measured. Zeta did not lower the pressure in adults."
    (entry,) = make_index(tmp_path, [{"pmid": "1", "title": "", "abstract": abstract}]).entries(["1"])
    rules = config().attribute
    check = Attribution(OverlapJudge(), rules, 3, [Source(1, entry.document, entry.sentences())]).check
    believed = check(DraftSentence("Zeta lowers the pressure in adults.", (CitedSource(1),)))
    assert (believed.citations, believed.failures) == ((), ("[1] contradicts it",))
    assert check(DraftSentence("Zeta did not lower the pressure in adults.", (CitedSource(1),))).citations[0].verbatim


@pytest.mark.parametrize(
    ("counted", "first", "failure"),
    [
        ("support", "contradict", ""),
        ("contradict", "contradict", "[1] was read as finding the opposite"),
        ("contradict", None, "[1] was read as finding the opposite"),
        (None, "contradict", "[1] takes no side, and the answer begins with the opposite"),
        (None, "support", ""),
        (None, None, ""),
    ],
)
def test_no_sentence_says_the_opposite_of_the_lead_or_of_what_its_paper_was_counted_for(
    tmp_path: Path, counted: Stance | None, first: Stance | None, failure: str
) -> None:
    (entry,) = make_index(tmp_path, [{"pmid": "1", "title": "", "abstract": "Zeta is for gout in adults."}]).entries(["1"])
    source = Source(1, entry.document, entry.sentences(), Finding(0, counted, "a study"))
    check = Attribution(WordReader(), config().attribute, 3, [source], StatedVerdict("zeta helps gout", first)).check
    outcome = check(DraftSentence("Zeta has been shown to be for gout in adults.", (CitedSource(1),)))
    assert outcome.failures == ((failure,) if failure else ())
    assert bool(outcome.citations) is not bool(failure)


@pytest.mark.parametrize(
    ("abstract", "holds"),
    [
        (
            "BACKGROUND: Zeta is for gout in adults. METHODS: Ten took it. RESULTS: Nobody fell. CONCLUSIONS: It tastes.",
            False,
        ),
        (
            "BACKGROUND: Gout hurts. METHODS: Ten took it. RESULTS: Nobody fell. CONCLUSIONS: Zeta is for gout in adults.",
            True,
        ),
    ],
)
def test_a_paper_is_cited_for_what_it_found_where_the_question_asks_yes_or_no(tmp_path: Path, abstract: str, holds: bool) -> None:
    (entry,) = make_index(tmp_path, [{"pmid": "1", "title": "", "abstract": abstract}]).entries(["1"])
    sentence = DraftSentence("Zeta has been shown to be for gout in adults.", (CitedSource(1),))
    for stated, expected in ((None, True), (StatedVerdict("zeta helps gout", "support"), holds)):
        check = Attribution(ForReader(), config().attribute, 3, [Source(1, entry.document, entry.sentences())], stated).check
        assert bool(check(sentence).citations) is expected

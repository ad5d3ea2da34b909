"""Qualifiers: reservations that a sentence makes and the claim does not."""

from __future__ import annotations

import pytest

from nli.wording.opposites import find_other_numbers, list_opposites
from nli.wording.qualify import find_qualifiers
from retrieval.core.values import Document, Evidence, Sentence
from service.grounding.reasons import directions, why


def found(claim: str, text: str) -> list[tuple[str, str]]:
    sentence = Sentence("1", 0, 7, 7 + len(text), text)
    return [(one.kind, text[one.start - 7 : one.end - 7]) for one in find_qualifiers(claim, sentence)]


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("Aspirin prevents stroke.", "Aspirin may prevent stroke.", [("hedge", "may")]),
        ("Aspirin may prevent stroke.", "Aspirin might prevent stroke.", []),
        ("Aspirin prevents stroke.", "Aspirin prevented stroke only in women.", [("subgroup", "only in")]),
        ("Zinc shortens colds.", "In mice, zinc shortened colds.", [("population", "mice")]),
        ("Zinc shortens colds in mice.", "In mice, zinc shortened colds.", []),
        (
            "Zinc shortens colds.",
            "Zinc at high doses shortened colds in children.",
            [("dose", "at high doses"), ("population", "children")],
        ),
        ("Zinc in the presence of iron works.", "Zinc works in the absence of iron.", []),
        ("Zinc works.", "Zinc works in the absence of iron.", [("condition", "in the absence of")]),
        ("Zinc shortens colds.", "Zinc shortened colds by two days.", []),
    ],
)  # fmt: skip
def test_what_a_sentence_reserves(claim: str, text: str, expected: list[tuple[str, str]]) -> None:
    assert sorted(found(claim, text)) == sorted(expected)


def test_a_retracted_paper_is_never_plain_and_a_reserved_sentence_partial() -> None:
    plain = Document("1", "T", "A. B.")
    sentence = Sentence("1", 0, 0, 2, "A.")
    assert Evidence(plain, "support", sentence, 1, 0.9, "x").standing == "plain"
    reserved = find_qualifiers("A", Sentence("1", 0, 0, 6, "A may."))
    assert Evidence(plain, "support", sentence, 1, 0.9, "x", qualifiers=reserved).standing == "partial"
    assert Evidence(Document("1", "T", "A.", retracted=True), "support", sentence, 1, 0.9, "x").standing == "retracted"


def test_opposite_words_are_told_unless_the_word_itself_is_there() -> None:
    assert list_opposites("Zeta increases pressure.", "Zeta reduced the pressure.") == (("increases", "reduced"),)
    assert list_opposites("Zeta increases pressure.", "Zeta increased what had been reduced.") == ()
    assert list_opposites("Zeta matters.", "Zeta reduced the pressure.") == ()


# Claims and sentences of our own: (claim, sentence, the opposition that is shown).
OPPOSED = [
    # The same outcome, told by opposite words.
    ("Hormones prevent coronary heart disease.", "Hormones increased the risk of coronary heart disease.", "prevent/increased"),
    ("Drug A reduces mortality in sepsis.", "Mortality increased in patients given drug A.", "reduces/increased"),
    ("Alendronate prevents bone loss.", "Alendronate increased bone loss in that year.", "prevents/increased"),
    ("Salt restriction lowers blood pressure.", "Blood pressure increased when salt was restricted.", "lowers/increased"),
    ("Ageing reduces the number of satellite cells.", "Ageing led to an increase in satellite cells.", "reduces/increase"),
    ("Obesity is associated with lower survival.", "Survival was higher in obese patients.", "lower/higher"),
    ("Compound B inhibits the growth of tumours.", "Tumour growth was accelerated by compound B.", "inhibits/accelerated"),
    ("The mutation is dominant.", "The mutation proved to be recessive.", "dominant/recessive"),
    ("The strain is sensitive to penicillin.", "The strain was resistant to penicillin.", "sensitive/resistant"),
    ("Statins raise or increase liver enzymes.", "Statins came with reduced liver enzymes.", "increase/reduced"),
    ("The drug is an agonist of the receptor.", "It acts as an antagonist at the receptor.", "agonist/antagonist"),
    # Opposite words of different things.
    ("Alendronate prevents bone loss.", "Alendronate increases density at the hip.", ""),
    ("Alendronate prevents bone loss.", "Alendronate increases bone density at the hip.", ""),
    ("Exercise reduces the loss of muscle.", "Exercise increases muscle.", ""),
    ("Statins prevent stroke.", "Statins increased liver enzymes in patients with stroke.", ""),
    ("Tamoxifen prevents breast cancer.", "Tamoxifen increased endometrial cancer.", ""),
    ("Inhaler C improves lung function.", "Inhaler C reduced lung infections.", ""),
    ("Aspirin lowers platelet counts.", "Aspirin was given to patients with increased cholesterol.", ""),
    ("Zinc shortens colds.", "Zinc prolonged the taste of metal, and colds were not mentioned.", ""),
    # Word and outcome both turned: the sentence agrees.
    ("Beta-blockers lower mortality.", "Beta-blockers increase survival.", ""),
    ("Drug D lowers cancer mortality.", "Drug D increased cancer survival.", ""),
    ("Lithium reduces relapse of mania.", "Lithium increased remission of mania.", ""),
    ("Most of these nodules are benign.", "Few of these nodules were malignant.", ""),
    # A negated word turns nothing round.
    ("Drug E increases bleeding.", "Drug E did not significantly reduce bleeding.", ""),
    ("Drug E does not increase bleeding.", "Drug E reduced bleeding.", ""),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "text", "shown"), OPPOSED)
def test_opposite_words_are_shown_only_where_both_are_said_of_the_same_outcome(claim: str, text: str, shown: str) -> None:
    assert ["/".join(pair) for pair in list_opposites(claim, text)] == ([shown] if shown else [])
    sentence = Sentence("1", 0, 7, 7 + len(text), text)
    places = directions(claim, "contradict", sentence)
    assert {f"{one.claim}/{one.evidence}" for one in places} == ({shown} if shown else set())
    assert all(text[one.start - 7 : one.end - 7] == one.evidence for one in places)
    told = why(claim, "contradict", sentence, None, (), (), "BM25")
    assert ("opposite words" in told) is bool(shown)


def test_only_the_places_that_are_about_the_outcome_are_marked() -> None:
    text = "Drug F increased weight, increased blood pressure, and increased it again."
    found = directions("Drug F lowers blood pressure.", "contradict", Sentence("1", 0, 0, len(text), text))
    assert [one.start for one in found] == [text.index("increased blood"), text.rindex("increased")]


def test_numbers_are_told_where_none_is_common() -> None:
    assert find_other_numbers("It took 5 days.", "It took 12 days.") == (("5",), ("12",))
    assert find_other_numbers("It took 5 days.", "It took 5.0 to 12 days.") == ((), ())
    assert find_other_numbers("It took days.", "It took 12 days.") == ((), ())
    assert find_other_numbers("IL-6 rose.", "It took 12 days.") == ((), ())


@pytest.mark.parametrize(
    ("claim", "text", "shown"),
    [
        ("Hospital stay is 5 days.", "Patients stayed for 9 days.", (("5",), ("9",))),
        ("The vaccine is 95% effective.", "Efficacy of the vaccine was 31%.", (("95",), ("31",))),
        ("Relapse occurred in 12% of cases.", "Relapse occurred in 40 percent.", (("12",), ("40",))),
        ("Denervation lowers pressure by 10 mm Hg.", "Pressure fell by 2 mm Hg.", (("10",), ("2",))),
        # What was there before is not what was done to it; shares of different things; nothing in common.
        ("Denervation lowers pressure by 10 mm Hg.", "Pressure at entry was 165 mm Hg.", ((), ())),
        ("The vaccine is 95% effective.", "Of all participants 52% were women.", ((), ())),
        ("Treatment lasts 6 weeks.", "We enrolled 240 patients in 14 hospitals.", ((), ())),
        ("Treatment lasts 6 weeks.", "The dose was 20 mg.", ((), ())),
        ("Zinc shortens COVID-19.", "COVID-19 was known for 2 years.", ((), ())),
    ],
)
def test_numbers_are_shown_only_where_both_measure_the_same(
    claim: str, text: str, shown: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    assert find_other_numbers(claim, text) == shown
    told = why(claim, "contradict", Sentence("1", 0, 0, len(text), text), None, (), (), "BM25")
    assert ("different numbers" in told) is bool(shown[0])

"""What a claim names must be mentioned by a paper on it, in whatever form; everyday words need not be."""

from __future__ import annotations

import pytest

from retrieval.training.names import choose_names, measure_titles
from retrieval.training.questions import Relevant
from retrieval.words.names import find_unnamed


@pytest.mark.parametrize(
    ("claim", "text", "unnamed"),
    [
        ("Ginkgo improves memory", "Ginger improves memory", ("Ginkgo",)),
        ("Aspirin prevents strokes", "Dipyridamole prevents cerebrovascular accidents", ("Aspirin",)),
        ("Losartan helps children with asthma", "Losartan in adults", ("children", "asthma")),
        ("Acetylsalicylic acid prevents strokes", "Aspirin for stroke", ()),
        ("Losartan helps in cirrhosis", "Losartan in cirrhotic patients", ()),
        ("Tiotropium helps in COPD", "Tiotropium in chronic obstructive pulmonary disease", ()),
        ("Omeprazole calms reflux", "Omeprazole in GERD", ()),
        ("Oestradiol weakens migraine", "Estradiol and migraines", ()),
        ("Painkillers help after a slip", "Ibuprofen was studied in falls", ()),
        ("Bupivacaine-fentanyl eases labour", "Fentanyl in labour", ("Bupivacaine",)),
        ("", "Anything", ()),
    ],
)
def test_names_are_met_in_any_form_and_by_nothing_else(claim: str, text: str, unnamed: tuple[str, ...]) -> None:
    assert find_unnamed(claim, text) == unnamed


def test_names_stand_in_titles_and_in_the_papers_of_their_claims() -> None:
    abstract = "The patients were followed for signs of a slip"
    papers = [(f"Zetalol {number}", f"{abstract} on kappa") for number in range(4)]
    papers += [("Slip and kappa", abstract), *[("Another", "Something else")] * 60]
    shares = measure_titles(papers)
    assert shares["zetalol"] > 0.7
    assert shares["kappa"] < 0.25, "one title of five"
    assert "another" not in measure_titles([("Another", "")]), "one paper tells nothing"
    pairs = [Relevant("Zetalol heals", "Zetalol in ulcers", "1"), Relevant("Another heals", "Zetalol in ulcers", "1")]
    assert choose_names(shares, pairs) == {"zetalol"}

"""The public face: an index opened in this process, over the demo corpus and the models that ship."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import counterpoint

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def opened(demo_folder: Path) -> Iterator[counterpoint.LocalService]:
    with counterpoint.open(demo_folder) as opened:
        yield opened


def test_a_claim_a_question_and_a_paper(opened: counterpoint.LocalService) -> None:
    found = opened.ground("Beta-carotene reduces the risk of lung cancer.")
    assert found.contradicting[0].sentence and found.contradicting[0].sentence.text
    assert found.contradicting[0].pmid not in {one.pmid for one in found.supporting}
    answer = opened.answer("Does hormone therapy prevent heart disease after menopause?")
    assert answer.sentences and answer.documents
    paper = ["We gave smokers beta-carotene or placebo.", "Lung cancer was more frequent with beta-carotene.", "Snow is white."]
    inside = opened.evidence("Beta-carotene reduces the risk of lung cancer.", paper, k=1)
    assert [one.quotation for one in inside.evidence] == [paper[1]]


def test_every_fault_is_one_sentence(opened: counterpoint.LocalService, tmp_path: Path) -> None:
    with pytest.raises(counterpoint.BadInput, match="The claim is empty"):
        opened.ground(" ")
    with pytest.raises(counterpoint.BadInput, match=r"The paper is given 2 times; .* or jats\.$"):
        opened.evidence("Iron helps.", ["One."], text="One.")
    with pytest.raises(counterpoint.BadInput, match="The paper is missing"):
        opened.evidence("Iron helps.")
    wrong: Any = 5
    with pytest.raises(counterpoint.BadInput, match=r"^query should be a text, not the number 5"):
        opened.search(wrong)
    for most in (0, 1001, "5"):
        with pytest.raises(counterpoint.BadInput, match="expected how many papers to list, 1 to 1,000"):
            opened.search("iron", most)  # type: ignore[arg-type]
    with pytest.raises(counterpoint.CounterpointError):
        counterpoint.open(tmp_path)


def test_the_face_shows_what_it_names() -> None:
    assert all(hasattr(counterpoint, name) for name in counterpoint.__all__)
    assert counterpoint.__version__ == tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert issubclass(counterpoint.IndexUnusable, counterpoint.CounterpointError)


def test_a_paper_is_found_by_what_names_it(opened: counterpoint.LocalService) -> None:
    first, *rest = opened.search("Leuven 2001 glucose New England Journal of Medicine", most=3)
    assert (first.year, bool(first.why), len(rest)) == (2001, True, 2)

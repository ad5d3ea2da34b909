"""A text checked from end to end with stand-ins for the models: verdicts, cited papers, counts."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from counterpoint.indexes.build import build
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Checked, Claim, Document, Evidence, Grounding, Stance
from counterpoint.retrieval.index import Index
from counterpoint.service.checking.check import Checker, ReadText, explain, find_verdict, split_sides
from counterpoint.service.checking.export import export_text
from counterpoint.service.checking.parse import read_text
from counterpoint.service.checking.schemas import CheckedText, ClaimDone
from tests.helpers.fakes import CONTRADICTS, NEUTRAL, SUPPORTS, make_index, make_reading_grounder
from tests.helpers.full_texts import write_jats
from tests.helpers.texts import DOCUMENTS

TEXT = (
    "Does zeta help? Zeta lowers pressure (PMID 1; PMID 3; doi:10.1000/9.x). Omega lowers sugar (PMID 2, PMID 9). "
    "Omega lowers sugar. Nothing else."
)


@pytest.fixture(scope="module")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Checker:
    return Checker(make_reading_grounder(make_index(tmp_path_factory.mktemp("checking"), DOCUMENTS)))


@pytest.fixture(scope="module")
def checked(checker: Checker) -> CheckedText:
    return checker.check(ReadText.of(read_text(TEXT)))


def test_each_sentence_has_its_verdict_in_order(checked: CheckedText) -> None:
    assert [one.verdict for one in checked.sentences] == ["not a claim", "contradicted", "supported", "supported", "not a claim"]
    assert [one.reason for one in checked.sentences] == ["question", None, None, None, "short"]
    assert [checked.text[one.start : one.end] for one in checked.sentences][3] == "Omega lowers sugar."
    assert checked.counts == {
        "contradicted": 1, "mixed": 0, "supported": 2, "uncertain": 0, "nothing found": 0, "not a claim": 2,
    }  # fmt: skip


def test_what_was_found_is_shown_with_its_sentence(checked: CheckedText) -> None:
    result = checked.sentences[1].result
    assert result is not None
    assert [(one.pmid, one.sentence and one.sentence.text) for one in result.against] == [("1", "Zeta is against pressure.")]
    assert result.in_favour == [] and result.why == "1 paper contradicts it."


def test_cited_papers_are_read_for_what_they_are_cited_for(checked: CheckedText) -> None:
    found = [one for sentence in checked.sentences if sentence.result for one in sentence.result.cited]
    assert [(one.id, one.status) for one in found] == [
        ("1", "contradicts it"), ("3", "does not say it"), ("10.1000/9.x", "not in the index"), ("2", "bears it out"),
        ("9", "not in the index"),
    ]  # fmt: skip
    assert found[0].sentence and found[0].sentence.text == "Zeta is against pressure."
    assert checked.summary == (
        "3 claims in 5 sentences: 1 contradicted, 2 supported. "
        "5 citations: 1 says so, 1 says the opposite, 1 does not say it, 2 not in the index."
    )


def test_a_cited_paper_without_an_abstract_cannot_be_judged(checker: Checker) -> None:
    checked = checker.check(ReadText.of(read_text("Zeta lowers pressure (PMID 4).")))
    assert checked.sentences[0].result and [one.status for one in checked.sentences[0].result.cited] == ["not judged"]


def test_the_same_claim_is_grounded_once_and_told_each_time(checker: Checker) -> None:
    grounded: list[str] = []

    def ground(claim: Claim) -> Grounding:
        grounded.append(claim.text)
        return checker.grounder.ground(claim)

    told: list[ClaimDone] = []
    Checker(checker.grounder, ground).check(ReadText.of(read_text("Omega lowers sugar. Omega lowers sugar.")), told.append)
    assert grounded == ["Omega lowers sugar."]
    assert [(one.done, one.claims, one.verdict) for one in told] == [(1, 2, "supported"), (2, 2, "supported")]


def test_more_claims_than_may_be_checked_are_refused() -> None:
    with pytest.raises(BadInput, match="makes 3 claims and at most 2"):
        ReadText.of(read_text(TEXT)).at_most(2)


def test_a_text_without_a_claim_says_so(checker: Checker) -> None:
    assert checker.check(ReadText.of(read_text("Why? Table 1 lists them all."))).summary == (
        "No claim that papers could support or contradict was found in 2 sentences."
    )


def evidence(stance: Stance, retracted: bool = False, neutral: bool = False) -> Evidence:
    verdict = NEUTRAL if neutral else CONTRADICTS if stance == "contradict" else SUPPORTS
    return Evidence(Document("1", "", "", retracted=retracted), stance, None, 1, 0.5, "x", verdict)


AGAINST, FOR = evidence("contradict"), evidence("support")


@pytest.mark.parametrize(
    ("contradicting", "supporting", "uncertain", "verdict", "why"),
    [
        ([AGAINST], [], [], "contradicted", "1 paper contradicts it."),
        ([], [FOR, FOR], [], "supported", "2 papers support it."),
        ([AGAINST], [FOR], [], "mixed", "1 paper contradicts it; 1 paper supports it."),
        ([], [], [], "nothing found", "3 of 9 papers read, none takes a side."),
        ([evidence("contradict", retracted=True)], [FOR], [], "supported", "1 paper supports it; 1 retracted and not counted."),
        ([], [evidence("support", retracted=True)], [], "uncertain", "1 retracted and not counted."),
        ([evidence("contradict", neutral=True)], [], [], "uncertain", "1 is uncertain."),
    ],
)  # fmt: skip
def test_no_side_is_chosen_where_papers_disagree(
    contradicting: list[Evidence], supporting: list[Evidence], uncertain: list[Evidence], verdict: str, why: str
) -> None:
    grounding = Grounding(Claim("x"), tuple(contradicting), tuple(supporting), Checked(9, 3, 9), tuple(uncertain))
    assert (find_verdict(grounding), explain(split_sides(grounding), grounding)) == (verdict, why)


def test_a_cited_paper_is_read_with_its_full_text_and_a_paper_is_no_evidence_for_itself(tmp_path: Path) -> None:
    title, aim = "A trial of zeta in adults on houseboats", "We asked whether zeta changes pressure."
    (tmp_path / "texts").mkdir()
    write_jats(
        tmp_path / "texts" / "1.nxml", title, {"Results": ["Zeta was against pressure in 40 adults."]}, pmid="1", abstract=aim
    )
    write_jats(tmp_path / "texts" / "2.nxml", "Zeta and sugar", {"Results": ["Sugar was for omega."]}, pmid="2")
    build([], tmp_path / "index", full_texts=[tmp_path / "texts"])
    with closing(Index(tmp_path / "index")) as index:
        checker = Checker(make_reading_grounder(index))
        cited = checker.check(ReadText.of(read_text("Zeta lowers pressure (PMID 1). Omega lowers sugar (PMID 2).")))
        itself = checker.check(
            ReadText.of(
                read_text("\n\n".join([title, "A. Vermeer", aim, "Methods", "A line.", "Zeta lowers pressure in adults."]))
            )
        )
    first, second = (one for sentence in cited.sentences if sentence.result for one in sentence.result.cited)
    assert first.sentence and first.sentence.location
    assert (first.status, first.sentence.location.text) == ("contradicts it", "Results, paragraph 1")
    assert second.status == "bears it out", "a paper without an abstract"
    assert "“Zeta was against pressure in 40 adults.” (Results, paragraph 1)" in export_text(cited, "markdown").decode()
    for checked, listed in ((cited, {"1", "2"}), (itself, {"2"})):
        (result,) = (one.result for one in checked.sentences if one.result and "pressure" in one.claim)
        assert {one.pmid for one in (*result.against, *result.in_favour)} == listed

"""One claim asked as a claim, as a question, in a text and of a cited paper: the same papers, sides, quotations and outcome."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from counterpoint.retrieval.core.values import Claim, Evidence
from counterpoint.service.answering.verdict import ground_question
from counterpoint.service.checking.check import Checker, ReadText
from counterpoint.service.checking.parse import read_text
from counterpoint.service.checking.schemas import CitedStatus, TextVerdict
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.grounding.schemas import EvidenceOut
from counterpoint.service.grounding.weigh import Outcome, weigh
from tests.helpers.fakes import make_grounder, make_index, make_reading_grounder

FOR, AGAINST, UNSURE, SILENT = "stands for it", "stands against it", "was measured", "is silent on it"


def grounders(folder: Path, sides: list[str]) -> Iterator[Grounder]:
    """One paper a side, whose second sentence takes it; read by a reader of papers, and by a judge of sentences."""
    papers: list[dict[str, Any]] = [
        {"pmid": str(n), "title": f"Pressure {n}", "abstract": f"Zeta and pressure {side} in all. Zeta lowers pressure {side}."}
        for n, side in enumerate(sides)
    ]
    fillers = [{"pmid": f"x{place}", "title": "", "abstract": "Another thing entirely."} for place in range(9)]
    with closing(make_index(folder, [*papers, *fillers])) as index:
        yield make_reading_grounder(index)
        yield make_grounder(index, "counterpoint")[0]


@pytest.mark.parametrize(
    ("sides", "outcome", "answer", "verdict"),
    [
        ([FOR, UNSURE], "support", "yes", "supported"),
        ([AGAINST, AGAINST, SILENT], "contradict", "no", "contradicted"),
        ([FOR, AGAINST], "mixed", "mixed", "mixed"),
        ([FOR, FOR, FOR, AGAINST], "support", "yes", "supported"),
        ([UNSURE, SILENT], "uncertain", "unclear", "uncertain"),
        ([SILENT], "silent", None, "nothing found"),
        ([], "nothing", None, "nothing found"),
    ],
)
def test_every_mode_finds_the_same(
    tmp_path: Path, sides: list[str], outcome: Outcome, answer: str | None, verdict: TextVerdict
) -> None:
    def show(side: tuple[Evidence, ...] | list[EvidenceOut]) -> list[tuple[str, str]]:
        return [(one.document.pmid if isinstance(one, Evidence) else one.pmid, one.sentence.text) for one in side if one.sentence]

    for grounder in grounders(tmp_path, sides):
        found = grounder.ground(Claim("Zeta lowers pressure."))
        studied = ground_question(grounder, "Does zeta lower pressure?")
        (sentence,) = Checker(grounder).check(ReadText.of(read_text("Zeta lowers pressure."))).sentences
        assert studied is not None and sentence.result is not None
        assert (weigh(found).outcome, studied.weighed.outcome) == (outcome, outcome)
        assert (studied.verdict.outcome if studied.verdict else None, sentence.verdict) == (answer, verdict)
        assert studied.weighed.certainty == weigh(found).certainty
        for name, listed in (("contradicting", "against"), ("supporting", "in_favour"), ("uncertain", "uncertain")):
            alone = show(getattr(found, name))
            assert alone == show(getattr(studied.grounding, name)) == show(getattr(sentence.result, listed)), name


@pytest.mark.parametrize(
    ("side", "status"),
    [(FOR, "bears it out"), (AGAINST, "contradicts it"), (UNSURE, "does not say it"), (SILENT, "does not say it")],
)
def test_a_cited_paper_is_read_as_one_that_is_found(tmp_path: Path, side: str, status: CitedStatus) -> None:
    for grounder in grounders(tmp_path, [side]):
        found = grounder.ground(Claim("Zeta lowers pressure."))
        (evidence,) = (*found.contradicting, *found.supporting, *found.uncertain, *found.silent)
        (sentence,) = Checker(grounder).check(ReadText.of(read_text("Zeta lowers pressure (PMID 0)."))).sentences
        assert sentence.result is not None
        (cited,) = sentence.result.cited
        assert cited.status == status
        assert cited.sentence is not None and evidence.sentence is not None
        assert cited.sentence.text == evidence.sentence.text
        assert cited.likely == pytest.approx(evidence.score, abs=1e-6)

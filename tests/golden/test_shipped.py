"""What the shipped models make of twenty claims over the demo corpus, each also asked as a question and inside a text."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from counterpoint.indexes.vectors import add_vectors
from counterpoint.retrieval.core.values import Claim, Grounding
from counterpoint.retrieval.index import Index
from counterpoint.service.answering.verdict import ground_question
from counterpoint.service.assembly import load_config, make_grounder
from counterpoint.service.checking.check import Checker, ReadText
from counterpoint.service.checking.parse import read_text
from counterpoint.service.configuration.config import load_profile
from counterpoint.service.configuration.defaults import CONFIG, PROFILE
from counterpoint.service.configuration.models import load_encoder, load_models
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.grounding.weigh import place_papers, weigh
from tests.golden.holding import HERE, hold

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800), pytest.mark.usefixtures("one_thread")]


@pytest.fixture(scope="module")
def grounder(demo_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grounder]:
    folder = tmp_path_factory.mktemp("shipped") / "index"
    shutil.copytree(demo_folder, folder)
    profile = load_profile(PROFILE)
    add_vectors(folder, load_encoder("dense", profile))
    config = load_config(CONFIG)
    with closing(Index(folder)) as index:
        yield make_grounder(index, config, load_models(config, profile))


def describe(grounding: Grounding) -> str:
    """The outcome; then each paper's place, the place of its sentence, and its probabilities to two decimals."""
    weighed = weigh(grounding)
    lines = [f"{weighed.outcome}, certainty {weighed.certainty:.2f}"]
    for placed in place_papers(grounding):
        one = placed.evidence
        assert one.verdict
        sentence = "-" if one.sentence is None else one.sentence.index
        numbers = f"{one.verdict.support:.2f} {one.verdict.neutral:.2f} {one.verdict.contradict:.2f}"
        lines.append(f"{placed.side:<10} {one.document.pmid} [{sentence}] {numbers}")
    return "\n".join(lines)


def test_a_claim_says_the_same_as_a_question_and_inside_a_text(grounder: Grounder) -> None:
    groundings: list[Grounding] = []

    def ground(claim: Claim) -> Grounding:
        groundings.append(grounder.ground(claim))
        return groundings[-1]

    cases = {}
    for row in csv.DictReader((HERE / "inputs" / "shipped.csv").open(encoding="utf-8")):
        cases[row["claim"]] = describe(grounder.ground(Claim(row["claim"])))
        studied = ground_question(grounder, row["question"])
        assert studied, row["question"]
        Checker(grounder, ground).check(ReadText.of(read_text(f"We read the papers. {row['claim']}")))
        assert [describe(studied.grounding), describe(groundings[-1])] == [cases[row["claim"]]] * 2, row["claim"]
    hold("shipped", cases)

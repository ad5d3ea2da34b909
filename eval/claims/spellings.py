"""Whether a claim gets the same papers on the same sides in either spelling: pairs of spellings of a claim, over an index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from retrieval.core.errors import BadInput
from retrieval.core.values import Evidence, Grounding
from service.grounding.claims import check_claim
from service.grounding.ground import Grounder

PAIRS = Path(__file__).with_name("spellings.tsv")


@dataclass(frozen=True, slots=True)
class SpellingResult:
    """A pair of spellings: whether both found the same papers in the same order on the same sides, and how many papers."""

    one: str
    other: str
    same: bool
    shown: int


def read_pairs(path: Path = PAIRS) -> list[tuple[str, str]]:
    """The pairs of a file, tab-separated; lines that begin with # are skipped. Raises `BadInput` for any other line."""
    try:
        lines = [line for line in path.read_text("utf-8").splitlines() if line.strip() and not line.startswith("#")]
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read ({error}); give a file with two spellings of a claim on each line.") from None
    pairs = [tuple(line.split("\t")) for line in lines]
    for number, pair in enumerate(pairs, 1):
        if len(pair) != 2:
            raise BadInput(f"{path}, pair {number}: expected two claims with a tab between them.")
    return [(pair[0], pair[1]) for pair in pairs]


def measure_spellings(grounder: Grounder, pairs: list[tuple[str, str]]) -> Iterator[SpellingResult]:
    """Each pair, grounded in both spellings."""
    for one, other in pairs:
        first, second = (_list_papers(grounder.ground(check_claim(claim))) for claim in (one, other))
        yield SpellingResult(one, other, first == second, sum(map(len, first)))


def _list_papers(grounding: Grounding) -> list[list[str]]:
    """The papers against the claim, for it, and uncertain."""

    def ids(evidence: tuple[Evidence, ...]) -> list[str]:
        return [one.document.pmid for one in evidence]

    return [ids(grounding.contradicting), ids(grounding.supporting), ids(grounding.uncertain)]

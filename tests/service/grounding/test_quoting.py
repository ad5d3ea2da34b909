"""The sentence quoted: of the strongest within the paper, the one that speaks for its side when it is read alone too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from nli.judges.judge import Abstract, Reading
from nli.reader.alone import weigh_alone
from retrieval.core.values import Claim, Verdict
from retrieval.index import Index
from service.checking.citations import CitedPaper
from service.checking.cited import cited_paper
from tests.helpers.fakes import WordReader, make_index, make_reading_grounder

CLAIM = "Zinc shortens colds"
LENT = "In the zinc group serum zinc was higher than with placebo."
OWN = "Colds were shorter with zinc, which speaks for it."
ASIDE = "Most of them were men."
TITLE = "A trial for zinc in colds"


class LendingReader(WordReader):
    """Within a paper the first sentence is called the strongest, whatever it says; alone, the words count."""

    def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
        for document in documents:
            if not document.title:
                yield from super().read_abstracts(claim, [document])
                continue
            strengths = [Verdict(0.9, 0.1, 0.0), *[Verdict(0.6, 0.4, 0.0)] * (len(document.sentences) - 1)]
            yield Reading(Verdict(0.9, 0.1, 0.0, of="document"), tuple(strengths[: len(document.sentences)]))


def open_paper(folder: Path, *sentences: str) -> Index:
    return make_index(folder, [{"pmid": "1", "title": TITLE, "abstract": f"RESULTS: {' '.join(sentences)}"}])


@pytest.mark.parametrize(("sentences", "quoted"), [((LENT, OWN, ASIDE), OWN), ((LENT,), LENT)])
def test_a_sentence_that_says_nothing_alone_gives_way_to_one_that_does(
    tmp_path: Path, sentences: tuple[str, ...], quoted: str
) -> None:
    (found,) = make_reading_grounder(open_paper(tmp_path, *sentences), LendingReader()).ground(Claim(CLAIM)).supporting
    assert found.sentence is not None
    assert found.sentence.text.endswith(quoted)


def test_a_cited_paper_is_quoted_in_the_same_way(tmp_path: Path) -> None:
    cited = cited_paper(make_reading_grounder(open_paper(tmp_path, LENT, OWN), LendingReader()), CLAIM, CitedPaper("pmid", "1"))
    assert cited.sentence is not None
    assert cited.sentence.text == OWN


def test_what_a_sentence_says_alone_outweighs_small_differences_within_the_paper() -> None:
    assert weigh_alone(0.5, 0.9) > weigh_alone(0.9, 0.1) > weigh_alone(0.9, 0.0) > 0

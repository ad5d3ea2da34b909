"""What the sentences of a paper make of a hypothesis, in one sentence."""

from __future__ import annotations

import pytest

from nli.evidence import EvidenceSentence
from retrieval.core.values import PaperSentence, Verdict
from service.reading.schemas import conclude

VERDICTS = {"c": Verdict(0.1, 0.1, 0.8), "s": Verdict(0.8, 0.1, 0.1), "n": Verdict(0.1, 0.8, 0.1), "-": None}


def chosen(letters: str) -> list[EvidenceSentence]:
    sentence = PaperSentence(0, 0, 5, "Zeta.", "", "results", 0, 1, False)
    return [EvidenceSentence(sentence, rank, 1.0, 1.0, VERDICTS[one], 0.0, "") for rank, one in enumerate(letters, 1)]


@pytest.mark.parametrize(
    ("letters", "says"),
    [
        ("ccn", "This paper contradicts the hypothesis: 2 of the 3 sentences chosen contradict it and 0 support it."),
        ("sn-", "This paper supports the hypothesis: 0 of the 3 sentences chosen contradict it and 1 supports it."),
        ("ccs", "What this paper says mostly contradicts the hypothesis: 2 of the 3"),
        ("cs", "What this paper says points both ways: 1 of the 2 sentences chosen contradicts it and 1 supports it."),
        ("n-", "None of the sentences chosen clearly contradicts or supports the hypothesis."),
        ("", "None of the sentences chosen"),
    ],
)
def test_the_conclusion_comes_from_the_sentences_chosen(letters: str, says: str) -> None:
    assert conclude(chosen(letters)).startswith(says)

"""Which sentences of an abstract are read where it is too long to read whole: its conclusion, and those nearest to the claim.

On 800 ordinary claims a budget of 256 tokens keeps an evidence sentence in 97.5 % of the papers and 87 % of all evidence
sentences; by shared words alone it is 90 % and 68 % (docs/experiments.md).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nli.text.roles import ROLES, load_role_model, locate_stretch
from retrieval.words.aboutness import find_rare_words, find_terms, weigh_share

RESULTS, CONCLUSION = ROLES.index("results"), ROLES.index("conclusion")
RESULTS_WEIGHT, CONCLUSION_WEIGHT = 0.2, 0.3
"""What being a result or a conclusion is worth, in shares of the claim's rare words."""
LAST, BEFORE_LAST = 0.2, 0.12
"""What standing last, or last but one, is worth: there the authors say what they found."""


def score_for_reading(claim: str, sentences: Sequence[str]) -> NDArray[np.float64]:
    """[sentences]: how much each one should be read for the claim; comparable within one abstract only."""
    wanted, roles, count = find_rare_words(claim), load_role_model(), len(sentences)
    found = np.zeros(count)
    for row, sentence in enumerate(sentences):
        shares = roles.score_text(sentence, locate_stretch(row, count))
        found[row] = (
            weigh_share(wanted, find_terms(sentence)) + RESULTS_WEIGHT * shares[RESULTS] + CONCLUSION_WEIGHT * shares[CONCLUSION]
        )
    found[-1:] += LAST
    found[-2:-1] += BEFORE_LAST
    return found


def score_findings(claim: str, sentences: Sequence[str]) -> NDArray[np.float64]:
    """[sentences]: how fit each is to be shown as what the paper found: a result or conclusion, about what the claim is about.

    The reader's own score for a sentence is multiplied by it: background that names the claim's words often scores as high as the
    finding, and is not what the paper found.
    """
    wanted, roles, count = find_rare_words(claim), load_role_model(), len(sentences)
    found = np.zeros(count)
    for row, sentence in enumerate(sentences):
        shares = roles.score_text(sentence, locate_stretch(row, count))
        found[row] = (shares[RESULTS] + shares[CONCLUSION]) * (0.5 + weigh_share(wanted, find_terms(sentence)))
    return found


def choose_fitting(worth: NDArray[np.float64], lengths: Sequence[int], room: int) -> list[int]:
    """The places of the sentences of most `worth` [sentences] whose `lengths` add up to at most `room` (tokens), ascending.

    At least one.
    """
    kept: list[int] = []
    for place in np.argsort(-worth, kind="stable").tolist():
        if lengths[place] <= room:
            kept.append(place)
            room -= lengths[place]
    return sorted(kept) or [int(np.argmax(worth))][: len(lengths)]

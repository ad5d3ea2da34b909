"""Choose which sentences to read of an abstract that is too long to read whole: its conclusion, and those nearest to the claim.

Of 816 ordinary claims with longer abstracts, 256 tokens keep an evidence sentence for 99 %, and 91 % of all evidence sentences.
Short findings of no difference share few words with the claim; without a bonus for them it is 98 and 85 %
(docs/research/experiments.md).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nli.text.roles import ROLES, load_role_model, locate_stretch
from retrieval.core.characters import unify_characters
from retrieval.words.synonyms import weigh_shared_terms
from retrieval.words.terms import find_rare_words, find_terms, weigh_share

RESULTS, CONCLUSION = ROLES.index("results"), ROLES.index("conclusion")
RESULTS_WEIGHT, CONCLUSION_WEIGHT = 0.4, 0.3
"""The weight of being a result or a conclusion, in shares of the claim's rare words."""
NO_DIFFERENCE_WEIGHT = 0.2
"""The bonus for saying that nothing differed: such sentences are short and name little of what the claim names."""
LENGTH_WEIGHT = 0.0008
"""The cost of each character: of two sentences that say as much, the shorter leaves room for another."""
LAST, BEFORE_LAST = 0.2, 0.12
"""The bonus for being last, or last but one: there the authors say what they found."""
_NO_DIFFERENCE = re.compile(
    r"\b(?:similar|comparable|unchanged|unaffected|equivalent|equally"
    r"|no(?: \w+){0,3} (?:difference|effect|change|benefit|improvement|association|correlation|increase|reduction)s?"
    r"|(?:did|was|were|does|do|is|are) not(?: \w+)? (?:differ\w*|affect\w*|chang\w+|improv\w+|reduc\w+|increas\w+|associat\w+"
    r"|correlat\w+|alter\w*|influenc\w+|significant\w*))\b",
    re.IGNORECASE,
)


def score_for_reading(claim: str, sentences: Sequence[str]) -> NDArray[np.float64]:
    """[sentences]: the priority of reading each one for the claim; comparable within one abstract only."""
    terms, roles, count = find_rare_words(claim), load_role_model(), len(sentences)
    scores = np.zeros(count)
    for row, sentence in enumerate(sentences):
        shares = roles.score_text(sentence, locate_stretch(row, count))
        scores[row] = (
            weigh_share(terms, find_terms(sentence))
            + RESULTS_WEIGHT * shares[RESULTS]
            + CONCLUSION_WEIGHT * shares[CONCLUSION]
            + NO_DIFFERENCE_WEIGHT * bool(_NO_DIFFERENCE.search(unify_characters(sentence)))
            - LENGTH_WEIGHT * len(sentence)
        )
    scores[-1:] += LAST
    scores[-2:-1] += BEFORE_LAST
    return scores


def score_findings(claim: str, sentences: Sequence[str]) -> NDArray[np.float64]:
    """[sentences]: how suitable each is to be shown as what the paper found: a result or conclusion on the subject of the claim.

    The square of the reader's own probability for a sentence is multiplied by this: background that uses the claim's words often
    scores as high as the finding, but is not what the paper found (docs/research/experiments.md compares other ways).
    """
    terms, roles, count = find_rare_words(claim), load_role_model(), len(sentences)
    scores = np.zeros(count)
    for row, sentence in enumerate(sentences):
        shares = roles.score_text(sentence, locate_stretch(row, count))
        scores[row] = (shares[RESULTS] + shares[CONCLUSION]) * (0.5 + weigh_shared_terms(claim, terms, sentence))
    return scores


def choose_fitting(worth: NDArray[np.float64], lengths: Sequence[int], room: int) -> list[int]:
    """The places of the sentences of highest `worth` [sentences] whose `lengths` add up to at most `room` (tokens), ascending.

    At least one sentence is chosen, even where none fits.
    """
    places: list[int] = []
    for place in np.argsort(-worth, kind="stable").tolist():
        if lengths[place] <= room:
            places.append(place)
            room -= lengths[place]
    return sorted(places) or [int(np.argmax(worth))][: len(lengths)]

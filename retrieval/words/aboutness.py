"""Whether a text is about a query at all: the share of the query's rare words that it contains.

A ranking shows which text is best, not whether the best is any good; if a collection has nothing on the subject, its best
matches still share the common words. This measure does not depend on the other hits, so it can tell the two cases apart.
"""

from __future__ import annotations

from functools import lru_cache

from retrieval.words.lexical import load_shipped_rarity, locate_term, split_terms


def find_rare_words(query: str) -> dict[str, float]:
    """The query's terms (retrieval.words.lexical), each with its inverse document frequency."""
    rarity = load_shipped_rarity()
    return {term: float(rarity[locate_term(term)]) for term in dict.fromkeys(split_terms(query))}


# Some 20 kB for an abstract: enough for the documents and sentences of a claim, and no more than 10 MB of a service.
@lru_cache(maxsize=512)
def find_terms(text: str) -> frozenset[str]:
    """A text's terms. Queries of one topic come back to the same texts: their words are found once."""
    return frozenset(split_terms(text))


def weigh_share(wanted: dict[str, float], held: frozenset[str]) -> float:
    """The weight of the wanted words that are in `held`, over the weight of all: 0 to 1, and 0 if nothing is wanted."""
    whole = sum(wanted.values())
    # In the query's order, so that another process gets the same sum to the last digit.
    return sum(weight for term, weight in wanted.items() if term in held) / whole if whole else 0.0


def measure_aboutness(query: str, text: str) -> float:
    """The share of the query's rare words that the text contains, 0 to 1."""
    return weigh_share(find_rare_words(query), find_terms(text))

"""One form of a text for comparing and for the models, and the other forms of a query's words for searching.

British and American spellings are one word, and so are Greek letters and their names: the spelling of a claim must not matter.
"""

from __future__ import annotations

import re
from functools import lru_cache

from retrieval.words.greek import list_greek_forms, name_greek
from retrieval.words.spelling import americanise_text, join_hyphens, list_hyphened_forms, list_other_spellings

_WORD = re.compile(r"\w+")


# Queries of one topic come back to the same texts.
@lru_cache(maxsize=512)
def unify_text(text: str) -> str:
    """The text in American spelling, with Greek letters as names, and hyphens removed from words that others write in one."""
    return americanise_text(join_hyphens(name_greek(text)))


def add_other_forms(query: str) -> str:
    """The query in one form, followed by the other forms of its words, for a search that matches words literally.

    The result is the same however the query spells its words.
    """
    plain = unify_text(query)
    words = {*_WORD.findall(plain.lower())}
    spelt = list_other_spellings(plain)
    parted = [form for form in list_hyphened_forms(" ".join([plain, *spelt])) if form not in plain.lower()]
    others = [*spelt, *parted, *(form for form in list_greek_forms(plain) if form not in words)]
    return " ".join([plain, *dict.fromkeys(others)])

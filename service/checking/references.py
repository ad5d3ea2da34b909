"""Which paper of an index a citation means: by PMID or DOI, else by the exact title, else by first author and year."""

from __future__ import annotations

import re
from collections.abc import Sequence

from indexes.readers.prose.passage import Passage
from retrieval.core.characters import fold_accents
from retrieval.core.values import Document
from retrieval.index import Index
from retrieval.store.documents import Entry
from retrieval.words.forms import unify_text
from service.checking.citations import FAMILY, CitedPaper, Named, cited_in, find_cited

_FRONT = 5
"""Blocks at the beginning of a text in which its title is looked for; a text with no more of them is no manuscript."""
_CANDIDATES = 20
"""Papers that share most words with an entry, among which the one with its title is looked for."""
_SHORTEST_TITLE = 4
"""A title with fewer words may be part of another."""
_LONGEST_TITLE = 500
"""Characters."""
_MOST_OTHER_WORDS = 3
"""An entry with more long words than this besides authors and journal has a title of its own."""
_WORD, _YEAR = re.compile(r"[^\W_]+"), re.compile(r"\b(?:19|20)\d\d\b")
_LONG = 4


def find_reference(index: Index, citation: CitedPaper) -> Sequence[Entry]:
    """The paper that is cited; none if the index does not hold it, several if authors and year fit more than one."""
    if citation.kind == "author":
        named = Named.of(citation.id)
        return _find_named(index, named) if named else ()
    if citation.kind != "title":
        for one in (citation, *cited_in(citation.entry)):
            if found := find_cited(index.store, one):
                return (found,)
    return (_find_titled(index, citation.entry) or _find_untitled(index, citation.entry)) if citation.entry else ()


def find_itself(index: Index, passage: Passage) -> tuple[str, ...]:
    """The ids of the papers of the index that a text is, by the title at its beginning."""
    if len(passage.blocks) <= _FRONT:
        return ()
    blocks = [passage.text[one.start : one.end] for one in passage.blocks[:_FRONT] if one.kind != "claim"]
    lines = dict.fromkeys(line for block in blocks for line in (block, block.partition("\n")[0]) if len(line) <= _LONGEST_TITLE)
    found = [(line, entry) for line in lines for entry in _find_titled(index, line)]
    return tuple({entry.pmid: 1 for line, entry in found if _words_of(entry.document.title) == _words_of(line)})


def _find_named(index: Index, named: Named) -> list[Entry]:
    """The papers of a year by a first author, and by the second of two."""
    found = index.store.find_by_author(named.first, int(named.year[:4]))
    if not named.second:
        return found
    return [one for one in found if len(one.document.authors) > 1 and one.document.authors[1].family == named.second]


def _find_titled(index: Index, entry: str) -> list[Entry]:
    """The paper whose whole title stands in the entry, the longest title if there are several; a given year must fit."""
    words, years = _words_of(entry), [int(year) for year in _YEAR.findall(entry)]
    joined = f" {' '.join(words)} "

    def fits(document: Document) -> bool:
        title = _words_of(document.title)
        in_time = not years or document.year is None or min(abs(document.year - year) for year in years) <= 1
        return len(title) >= _SHORTEST_TITLE and f" {' '.join(title)} " in joined and in_time

    hits = index.search(entry, _CANDIDATES) if words else []
    found = [one for one in index.entries([hit.pmid for hit in hits]) if fits(one.document)]
    return sorted(found, key=lambda one: -len(one.document.title))[:1]


def _find_untitled(index: Index, entry: str) -> Sequence[Entry]:
    """The papers by the entry's first author in its year, for an entry that gives no title ("Smith J. Lancet 2010;1:2-3")."""
    family = re.match(FAMILY, entry)
    years = dict.fromkeys(map(int, _YEAR.findall(entry)))
    found = [one for year in years for one in index.store.find_by_author(family[0], year)] if family else []
    return [one for one in found if _has_no_title(entry, one.document)]


def _has_no_title(entry: str, document: Document) -> bool:
    known = {*_words_of(document.journal), *(word for author in document.authors for word in _words_of(str(author)))}
    rest = [word for word in _WORD.findall(entry) if len(word) >= _LONG and word.isalpha() and _words_of(word)[0] not in known]
    # Names and journals have capitals, and so may a title; a word in small letters is a title's.
    return len(rest) <= _MOST_OTHER_WORDS and sum(word.islower() for word in rest) <= 1


def _words_of(text: str) -> list[str]:
    """The words in small letters, in one spelling and without accents."""
    return _WORD.findall(fold_accents(unify_text(text)).lower())

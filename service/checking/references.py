"""Which paper of an index a citation means: by PMID, PMCID or DOI, else by the exact title, else by first author and year.

A wrong paper is worse than none: where `known` shows the papers that a text may name, this takes what leaves no doubt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from counterpoint.indexes.readers.prose.passage import Passage
from counterpoint.retrieval.core.characters import fold_accents
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.store.documents import Entry
from counterpoint.retrieval.words.forms import unify_text
from counterpoint.service.checking.citations import CitedPaper, cited_in, find_cited
from counterpoint.service.checking.known import Fit, compare, find_parts, split_words

_FRONT = 5
"""Blocks at the beginning of a text in which its title is looked for; a text with no more of them is no manuscript."""
_SHORTEST_TITLE = 4
"""A title with fewer words may be part of another."""
_LONGEST_TITLE = 500
"""Characters."""
_MOST_OTHER_WORDS = 3
"""An entry with more long words than this besides authors, title and journal has a title of its own."""
_AUTHOR = re.compile(r"([A-Z]\w+),? (?:[A-Z]\.?[ -]?){1,3}(?!\w)|(?<!\w)(?:[A-Z]\.[ -]?){1,3}([A-Z]\w+)")
"""A name with initials."""
_WORD, _LONG = re.compile(r"[^\W_]+"), 4


def find_reference(index: Index, citation: CitedPaper) -> Sequence[Entry]:
    """The paper that is cited; none if the index does not hold it, several if authors and year fit more than one."""
    if citation.kind not in ("title", "author"):
        for one in (citation, *cited_in(citation.entry)):
            if found := find_cited(index.store, one):
                return (found,)
    text = citation.id if citation.kind == "author" else citation.entry
    fits = compare(index, text) if text else []
    titled = [fit for fit in fits if citation.kind != "author" and fit.off in (None, 0, 1) and _has_title(text, fit)]
    if titled:
        return [max(titled, key=lambda fit: len(fit.entry.document.title)).entry]
    named = [fit for fit in fits if _is_named(text, fit) and (citation.kind == "title" or not fit.rest)]
    least, most = min((len(fit.rest) for fit in named), default=0), max((len(fit.title) for fit in named), default=0)
    return [fit.entry for fit in named if len(fit.rest) == least and len(fit.title) > most - 2]


def find_itself(index: Index, passage: Passage) -> tuple[str, ...]:
    """The ids of the papers of the index that a text is, by the title at its beginning."""
    if len(passage.blocks) <= _FRONT:
        return ()
    blocks = [passage.text[one.start : one.end] for one in passage.blocks[:_FRONT] if one.kind != "claim"]
    lines = dict.fromkeys(line for block in blocks for line in (block, block.partition("\n")[0]) if len(line) <= _LONGEST_TITLE)
    titles = [(line, words) for line in lines if len(words := split_words(line)) >= _SHORTEST_TITLE]
    found = [(words, fit.entry) for line, words in titles for fit in compare(index, line)]
    return tuple({entry.pmid: 1 for words, entry in found if split_words(entry.document.title) == words})


def _has_title(text: str, fit: Fit) -> bool:
    """Whether the paper's whole title stands in the text, and is there no part of a longer one."""
    title = split_words(fit.entry.document.title)
    if len(title) < _SHORTEST_TITLE or fit.share < 1:
        return False
    plain = fold_accents(unify_text(text)).lower()
    found = re.search(r"\b" + r"[\W_]+".join(map(re.escape, title)) + r"\b", re.sub("['’]", "", plain))
    if found is None:
        return False
    before = re.search(r"(\w+)[\s:–—-]*$", found.string[: found.start()])
    behind = re.match(r"[\s:–—-]*([^\W\d_]\w*)", found.string[found.end() :])
    known = {*fit.names, *fit.given, *fit.journal, "al"}
    return all(one is None or one[1].isdecimal() or one[1] in known for one in (before, behind))


def _is_named(text: str, fit: Fit) -> bool:
    """Whether the text gives the paper's first author, the second too if it names more than one, and its year; and no other title
    than the paper's."""
    authors = fit.entry.document.authors
    if fit.off != 0 or not {0, 1}.issuperset(sorted(fit.authors)[:2]) or 0 not in fit.authors:
        return False
    if not fit.title and find_parts(authors[0]).isdisjoint(fit.names[:1]):
        return False
    plain = fold_accents(unify_text(text))
    if any(name.lower() in fit.rest for pair in _AUTHOR.findall(plain) for name in pair):
        return False
    written = {word.lower(): word for word in _WORD.findall(plain)}
    others = [word for word in fit.rest if word.isalpha() and not written.get(word, word).islower()]
    if not fit.title and others and (not fit.journal or min(map(len, others)) < _LONG):
        # Another journal, or other initials of the first author.
        return False
    rest = [written.get(word, word) for word in fit.rest if len(word) >= _LONG]
    # Names and journals have capitals, and so may a title; a word in small letters is a title's.
    return len(rest) <= _MOST_OTHER_WORDS and sum(word.islower() for word in rest) <= 1

"""Known papers: which of an index a reference, or what a person typed for one, names; and what names each.

PMIDs, PMCIDs and DOIs are looked up. Otherwise Lucene searches titles, authors, journals and years, each with its own weight, and
every word typed is then explained by the records found: as an author, an initial, the year, the journal, a word of the title. No
style of reference is parsed, so none is unknown: numbers of pages explain nothing, and words that a record lacks speak against
it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise

from rapidfuzz.distance import OSA

from counterpoint.retrieval.bm25.analysis import find_edits
from counterpoint.retrieval.core.characters import fold_accents
from counterpoint.retrieval.core.values import Author
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.store.documents import Entry
from counterpoint.retrieval.words.forms import unify_text
from counterpoint.service.checking.citations import find_cited, list_ids

_CANDIDATES, _FEW_CANDIDATES, _MANY_WORDS = 100, 30, 12
"""Records that are compared; fewer with a text of so many words, of which nearly all are one record's."""
_MOST = 20
"""Papers that one name stands for at most."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_LETTERS = str.maketrans({"'": "", "’": "", "ø": "o", "æ": "ae", "œ": "oe", "ß": "ss", "ł": "l", "đ": "d", "ð": "d", "þ": "th"})
"""What is written without apostrophes, and instead of letters that are no others with an accent."""
_YEAR = re.compile(r"(?:19|20)\d\d[a-z]?")
_SMALL = frozenset(
    "a an and as at by for from in into is its of on or the to via vs versus with et al colleagues "
    "doi pmid pmcid http https www org".split()
)
"""Words that say nothing of which paper is meant."""
_ASKED_FOR = frozenset("about article paper rct study that this trial".split())
"""What people call a paper, beside what they remember of it."""
_RUN, _LONG_RUN = 5, 8
"""Words of a title in a row, small ones apart, that are enough to name it: if no other paper has all of them, and in any case."""
_RARE = 0.002
"""A name that stands in no larger share of the texts is no word of them."""


@dataclass(slots=True)
class Fit:
    """How one record explains the words typed: each is in one of these lists.

    `authors` are the places of the authors named, `off` is how many years the record is from the year given (None without one),
    `cited` says that the year stands behind a name. `run` and `share` are the longest run of the title's words, small ones apart,
    and which share of the title it is.
    """

    entry: Entry
    names: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    journal: list[str] = field(default_factory=list)
    title: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)
    authors: set[int] = field(default_factory=set)
    off: int | None = None
    cited: bool = False
    run: int = 0
    share: float = 0.0
    why: str = ""

    @property
    def score(self) -> float:
        """How well the words fit: what tells papers of one author and year apart counts most."""
        named = (2 * (0 in self.authors) + len(self.authors) + 1) if self.authors else 0
        year = {None: 0.0, 0: 3.0, 1: 0.5}.get(self.off, -1.0)
        words = 0.7 * len(self.title) + 0.3 * len(self.text) + len(self.journal) / 2 + len(self.given) / 4 - len(self.rest)
        return min(named, 6) + year + words + 3 * self.share

    def look_in_text(self) -> None:
        """Explain what is left by the abstract."""
        text = frozenset(split_words(self.entry.document.abstract)) if self.rest else frozenset[str]()
        self.text = [word for word in self.rest if word in text]
        self.rest = [word for word in self.rest if word not in text]


def find_known(index: Index, text: str) -> list[Fit]:
    """The papers that a text names, best first, with why; none where its words are only about something."""
    ids = [(find_cited(index.store, one), one.kind) for one in list_ids(text, index.store)[0]]
    if found := [Fit(entry, why=kind.upper()) for entry, kind in ids if entry]:
        return found
    fits = compare(index, text)
    hints = [fit for fit in fits if fit.names or fit.journal or fit.off == 0 or fit.run >= _RUN or fit.share == 1]
    for fit in hints:
        fit.look_in_text()
    rare = _find_rare(index, {name for fit in hints for name in (*fit.names, *fit.journal)})
    for fit in hints:
        fit.why = _explain(fit, rare)
    known = sorted((fit for fit in hints if fit.why), key=lambda fit: -fit.score)[:_MOST]
    if known and known[0].off == 0:
        known = [fit for fit in known if fit.off == 0]
    elif known and known[0].run < _LONG_RUN and known[0].share < 1 and _is_topic(fit for fit in fits if not fit.why):
        # Some text has all these words: they are no name.
        return []
    if known and known[0].why == "title":
        known = [fit for fit in known if fit.run == known[0].run]
        return known if len(known) == 1 else []
    return known


def _is_topic(fits: Iterable[Fit]) -> bool:
    """Whether one paper has all the words typed in title and abstract."""
    for fit in fits:
        if not (fit.names or fit.journal or fit.given) and fit.off is None and fit.share < 1:
            fit.look_in_text()
            if not fit.rest:
                return True
    return False


def compare(index: Index, text: str) -> list[Fit]:
    """How the records nearest to a text explain its words."""
    words = list(dict.fromkeys(split_words(text)))
    sought = [word for word in words if word not in _SMALL]
    many = len(sought) > _MANY_WORDS
    hits = index.search_fields(sought, _FEW_CANDIDATES if many else _CANDIDATES, misspelt=not many)
    return [_fit(words, entry) for entry in index.entries([hit.pmid for hit in hits])]


def split_words(text: str) -> list[str]:
    """The words of a text in small letters, in one spelling, without accents and apostrophes."""
    return _split(unify_text(text))


def _split(text: str) -> list[str]:
    return [word.translate(_LETTERS) for word in _WORD.findall(fold_accents(text).lower())]


def _fit(typed: Sequence[str], entry: Entry) -> Fit:
    document, fit = entry.document, Fit(entry)
    title, journal = split_words(document.title), _split(document.journal)
    families = {part: place for place, author in reversed([*enumerate(document.authors)]) for part in find_parts(author)}
    words = _join(typed, {*title, *families})
    title = _join(title, {*words})
    left = [word for word in words if word not in _SMALL and word not in title]
    years = [abs(int(word[:4]) - document.year) for word in words if document.year and _YEAR.fullmatch(word)]
    fit.off = min(years, default=None)
    near_names = {word: near for word in left if word not in journal and (near := _find_near(word, families))}
    fit.authors = {families[near] for near in near_names.values()}
    # Several authors may have one name.
    named = [one for one in document.authors if near_names and not find_parts(one).isdisjoint(near_names.values())]
    given = {part for author in named for part in _split(str(author))}
    letters = {part[0] for part in given}
    initials = "".join(word[0] for word in journal if word not in _SMALL)
    forms = {word: word for word in words if word in title and word not in _SMALL}
    for word in left:
        if word in families:
            fit.names.append(word)
        elif word in given or (len(word) <= 3 and letters.issuperset(word)):
            fit.given.append(word)
        elif word == initials or any(_abbreviates(word, one) for one in journal):
            fit.journal.append(word)
        elif near := _find_near(word, title):
            forms[word] = near
        elif word in near_names:
            fit.names.append(word)
        elif len(word) > 1 and not word.isdigit() and not _YEAR.fullmatch(word) and word not in _ASKED_FOR:
            fit.rest.append(word)
    large = [word for word in words if word not in _SMALL]
    fit.cited = any(name in fit.names and _YEAR.fullmatch(year) for name, year in pairwise(large))
    fit.title = [forms[word] for word in words if word in forms]
    whole = list(dict.fromkeys(word for word in title if word not in _SMALL))
    fit.run = SequenceMatcher(None, fit.title, whole, autojunk=False).find_longest_match().size
    fit.share = fit.run / max(len(whole), 1)
    return fit


def _join(words: Iterable[str], others: Collection[str]) -> list[str]:
    """The words, neighbours as one where the others write them so: "de-worming" and "deworming"."""
    joined: list[str] = []
    for word in words:
        if joined and joined[-1] + word in others:
            joined[-1] += word
        else:
            joined.append(word)
    return joined


def find_parts(author: Author) -> set[str]:
    """The words by which an author is known: of "van der Meer" the last, of a double name both, and all as one; of a group
    only that."""
    words = _split(author.family)
    parts = {*words[-1:], *(word for word in words if len(word) > 3)} if author.given else set[str]()
    return parts | {"".join(words)}


def _find_near(word: str, others: Collection[str]) -> str:
    """The word if it is one of the others, else the nearest that it is a misspelling of; "" if there is none."""
    if word in others:
        return word
    edits = find_edits(word)
    near = [(OSA.distance(word, one, score_cutoff=edits), one) for one in others if edits and one[:1] == word[:1]]
    return min((pair for pair in near if pair[0] <= edits), default=(0, ""))[1]


def _abbreviates(word: str, whole: str) -> bool:
    """Whether one of a word typed and a word of a journal is the other's beginning or contraction ("Natl"), or both are one."""
    short, long = sorted((word, whole), key=len)
    if len(short) < 3 or long.startswith(short):
        return len(short) > 1 and long.startswith(short)
    letters = iter(long)
    return short[0] == long[0] and short[-1] == long[-1] and all(letter in letters for letter in short)


def _find_rare(index: Index, words: Collection[str]) -> frozenset[str]:
    """Those of the words that hardly any text has: as a name, they are no words."""
    named = [*words]
    counts = index.vocabulary.count_documents(index.vocabulary.stem(named)) if named else []
    most = _RARE * index.manifest.counts.documents
    return frozenset(word for word, count in zip(named, counts, strict=True) if count <= most)


def _explain(fit: Fit, rare: Collection[str]) -> str:
    """What names the paper, such as "author and year"; "" where the words may be only about it."""
    content = sum(map(len, (fit.names, fit.journal, fit.title, fit.text, fit.rest)))
    only = not (fit.title or fit.text or fit.rest)
    by_author = any(name in rare for name in fit.names)
    by_journal = any(word in rare for word in fit.journal) or (fit.off == 0 and len(fit.journal) > 1)
    found: list[str] = []
    if fit.names and fit.off == 0 and (by_author or fit.cited or only) and len(fit.rest) * 3 <= content:
        found = ["author", "year"]
    elif by_author and fit.off in (None, 1) and not fit.rest:
        found = ["author"]
    elif fit.off == 0 and not fit.rest and (by_journal or (len(fit.title) >= 3 and not fit.text)) and not only:
        found = ["year"]
    elif by_journal and fit.off is None and not fit.rest and len(fit.title) >= 2:
        found = ["journal"]
    if not found:
        whole = fit.share >= 0.8 and fit.run >= 3
        part = fit.run >= _RUN and len(fit.rest) + len(fit.text) <= 0.2 * content
        return "title" if (whole or part) and fit.off in (None, 0, 1) else ""
    parts = {"journal": fit.journal, "title": fit.title, "text": fit.text}
    found += [name for name, words in parts.items() if words and name not in found]
    return f"{', '.join(found[:-1])} and {found[-1]}" if len(found) > 1 else found[0]

"""The kind of publication that a record is: the names that each export uses for the same few kinds."""

from __future__ import annotations

ARTICLE = "Journal Article"
BOOK = "Book"
CHAPTER = "Book Chapter"
CONFERENCE = "Conference Paper"
DISSERTATION = "Academic Dissertation"
PREPRINT = "Preprint"
REPORT = "Technical Report"

# RIS tags, CSL and BibTeX types, and what Zotero and Scopus write into a table. A name in two of these means the same in both.
_NAMES = {
    ARTICLE: "jour ejour inpr mgzn article-journal journalarticle article",
    BOOK: "book ebook edbook",
    CHAPTER: "chap echap chapter incollection inbook booksection",
    CONFERENCE: "conf cpaper paper-conference inproceedings conference conferencepaper",
    DISSERTATION: "thes thesis phdthesis mastersthesis",
    PREPRINT: "unpb unpublished preprint",
    REPORT: "rprt report techreport",
}
_KINDS = {name: kind for kind, names in _NAMES.items() for name in names.split()}


def find_kind(name: str) -> str:
    """The kind that an export's name stands for, ignoring case and spaces; "" for an unknown name."""
    return _KINDS.get("".join(name.lower().split()), "")

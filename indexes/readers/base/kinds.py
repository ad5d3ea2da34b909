"""What kind of publication a record is, as one of its types: the names that each export uses for the same few kinds."""

from __future__ import annotations

ARTICLE = "Journal Article"
BOOK = "Book"
CHAPTER = "Book Chapter"
CONFERENCE = "Conference Paper"
DISSERTATION = "Academic Dissertation"
PREPRINT = "Preprint"
REPORT = "Technical Report"

# RIS's tags, CSL's and BibTeX's types, and what Zotero and Scopus write into a table. What stands here twice means the same.
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
    """The kind behind the name that an export gives it, whatever its capitals and blanks; "" for a name of no kind."""
    return _KINDS.get("".join(name.lower().split()), "")

"""Views of an abstract for search and reranking: all of it, or the parts that say what a study is about and what it found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from nli.text.headings import find_heading_kind
from retrieval.core.errors import BadInput
from retrieval.rerank.reranker import make_passage
from retrieval.store.rows import Entry

_EDGE = 3
_SECTION_KINDS = ("introduction", "conclusion")


def _whole(entry: Entry) -> str:
    return entry.document.abstract


def _conclusions(entry: Entry) -> str:
    """The sections labelled background (or aim) and conclusion; the whole where the abstract has no such labels."""
    document = entry.document
    parts = [part for part in document.sections if find_heading_kind(part.label) in _SECTION_KINDS]
    return " ".join(document.abstract[part.start : part.end] for part in parts) or document.abstract


def _ends(entry: Entry) -> str:
    """The first and the last three sentences, each once."""
    texts = [sentence.text for sentence in entry.sentences()]
    return " ".join(texts if len(texts) <= 2 * _EDGE else texts[:_EDGE] + texts[-_EDGE:])


VIEWS: dict[str, Callable[[Entry], str]] = {"whole": _whole, "conclusions": _conclusions, "ends": _ends}


def make_view(entry: Entry, view: str, titles: bool) -> str:
    """The text of a document in this view, preceded by its title if `titles` is set."""
    text = VIEWS[view](entry)
    if not titles:
        return text
    return make_passage(replace(entry.document, abstract=text))


def check_view(view: str) -> None:
    """Raise `BadInput` for a view that does not exist."""
    if view not in VIEWS:
        raise BadInput(f"There is no view {view!r}; the views are {', '.join(VIEWS)}.")

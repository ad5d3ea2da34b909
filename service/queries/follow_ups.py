"""What may be asked next, each with at least two papers here: it is searched for before it is shown, and no paper is read.

Without a language model these are the answers that were found, and what the titles of the nearest papers ask
(generation.titles). A language model writes better ones; what it does not write, or has no papers here, is filled up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import BaseModel, Field

from counterpoint.generation.titles import ask_title
from counterpoint.nli.text.designs import has_findings
from counterpoint.retrieval.core.values import FollowUp, FollowUpKind, Row
from counterpoint.retrieval.runtime.asking import AsksInForm
from counterpoint.retrieval.runtime.chat import ChatUnanswered
from counterpoint.retrieval.runtime.untrusted import is_order, strip_markup
from counterpoint.retrieval.store.documents import Entry
from counterpoint.retrieval.words.terms import find_shared_terms, find_subject, weigh_shared_terms
from counterpoint.service.grounding.find import search_abstracts
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.queries.classify import find_language

_PROMPT = Path(__file__).with_name("follow_ups.md")
MOST, FEWEST_PAPERS = 5, 2
_NEAR, _SHOWN, _SEARCHED, _TRIED, _ROWS = 30, 12, 8, 8, 3
"""Papers whose titles are looked at and those that a language model is shown, papers searched for each question, questions
searched for, answers offered."""
_ON_IT, _NEW, _RELATED = 0.65, 2.2, 0.45
"""The share of a question's rare words that a paper on it has; the rarity of a word that makes a question another one; and the
share of the first question's rare words that one on its subject has."""
_SHORTEST, _LONGEST = 4, 25
"""Words of a question."""


class Written(BaseModel):
    """What a language model is asked for."""

    questions: list[str] = Field(json_schema_extra={"maxItems": _TRIED})


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    why: str

    @property
    def kind(self) -> FollowUpKind:
        return "question" if self.text.endswith("?") else "claim"


def find_follow_ups(
    grounder: Grounder, asked: str, rows: Sequence[Row] = (), found: str = "", words: str = ""
) -> tuple[FollowUp, ...]:
    """At most five questions and claims to go on with after `asked`, for which `found` is what the papers say in words, `rows`
    are the answers, and `words` are more words to search with."""
    if not grounder.reads_papers:
        return ()
    index = grounder.index
    near = search_abstracts(index, f"{asked} {words}".rstrip(), _NEAR)
    written = _write(grounder, asked, found, near)
    kept, tried = list[FollowUp](), 0
    for one in (*written, *(() if written else _state_answers(rows)), *_ask_titles(asked, near)):
        if len(kept) == MOST or tried == _TRIED:
            break
        if any(_repeats(one.text, said) for said in (asked, *(other.text for other in kept))):
            continue
        tried += 1
        papers = sum(_share(one.text, entry) >= _ON_IT for entry in search_abstracts(index, one.text, _SEARCHED))
        if papers >= FEWEST_PAPERS:
            kept.append(FollowUp(one.text, one.kind, one.why, papers))
    return tuple(kept)


def _share(text: str, entry: Entry) -> float:
    """The share of a text's rare words that a paper has, in the same or other words."""
    return weigh_shared_terms(text, find_subject(text), f"{entry.document.title} {entry.document.abstract}")


def _repeats(text: str, said: str) -> bool:
    """Whether a text asks nothing that was not asked before."""
    shared = find_shared_terms(text, said)
    return max((weight for term, weight in find_subject(text).items() if term not in shared), default=0.0) < _NEW


def _state_answers(rows: Sequence[Row]) -> Iterator[_Candidate]:
    """The first answers as statements; one in the plural does not fit a verb for one thing."""
    answers = {row.answer: row for row in reversed(rows) if row.statement and not _is_plural(row)}
    for row in [*answers.values()][::-1][:_ROWS]:
        yield _Candidate(row.statement, "One of the answers found; as a claim it is read on both sides.")


def _is_plural(row: Row) -> bool:
    named, begins = row.answer.lower(), row.statement.lower().startswith(row.answer.lower())
    return begins and (" and " in named or (named.endswith("s") and not named.endswith(("ss", "us", "is"))))


def _ask_titles(asked: str, near: Sequence[Entry]) -> list[_Candidate]:
    """What the nearest papers ask, those on most of the same subject first, and of these the newest."""
    subject, ranked = find_subject(asked), list[tuple[float, int, _Candidate]]()
    for entry in near:
        document = entry.document
        if text := ask_title(document.title, document.abstract):
            related = weigh_shared_terms(asked, subject, text)
            why = f"Asked by “{document.title.rstrip('.')}” ({document.pmid})."
            if related >= _RELATED and has_findings(document):
                ranked.append((round(related, 1), document.year or 0, _Candidate(text, why)))
    return [one for *_, one in sorted(ranked, key=lambda row: (-row[0], -row[1]))]


def _write(grounder: Grounder, asked: str, found: str, near: Sequence[Entry]) -> list[_Candidate]:
    """What a language model writes, as far as it is English and to be understood alone; nothing where it does not answer."""
    reader = grounder.reader
    if not isinstance(reader, AsksInForm):
        return []
    titles = [f"- {strip_markup(one.document.title)}" for one in near if one.document.title and not is_order(one.document.title)]
    user = "\n".join(
        (f"Asked: {strip_markup(asked)}", f"Found: {strip_markup(found)}", "<papers>", *titles[:_SHOWN], "</papers>")
    )
    try:
        written = reader.ask_in_form(_read_prompt(), user, Written, lambda _: "")
    except ChatUnanswered:
        return []
    texts = [" ".join(text.split()) for text in written.questions]
    return [_Candidate(text, "Written by the language model; papers here are on it.") for text in texts if _is_fit(text)]


def _is_fit(text: str) -> bool:
    whole = text.endswith((".", "?")) and _SHORTEST <= len(text.split()) <= _LONGEST
    return whole and not is_order(text) and not find_language(text)


@cache
def _read_prompt() -> str:
    return _PROMPT.read_text("utf-8").strip()

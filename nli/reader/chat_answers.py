"""What papers answer to a question, by a language model: one request for words to search with, one that chooses papers by their
titles, one a paper, and one that tells which answers are the same.

Nothing is taken over that the paper does not hold: the quotation and the details stand in it word for word, and the words of a
name in one of its sentences. A reply that does not hold is asked for once more; then whoever asked goes on without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from counterpoint.nli.judge import Abstract
from counterpoint.nli.reader.answers import write_as
from counterpoint.nli.reader.chat import ChatReader, Grade, Words, find_quote, mark_paper, read_prompt
from counterpoint.retrieval.core.values import Details, Verdict
from counterpoint.retrieval.runtime.replies import read_number
from counterpoint.retrieval.runtime.untrusted import is_order, strip_markup
from counterpoint.retrieval.words.terms import find_terms

MOST = 8
"""The most answers of a paper."""
_LONGEST_NAME, _LONGEST_STATEMENT, _MOST_WORDS = 16, 40, 30
"""Words; the prompts ask for fewer."""


class FoundAnswer(BaseModel):
    """An answer as the model writes it, its fields in this order; `sentence` counts from 1."""

    sentence: Annotated[int, BeforeValidator(read_number)]
    quote: str
    name: str
    statement: str
    grade: Annotated[Grade, BeforeValidator(read_number)]
    people: Words = ""
    number: Words = ""
    effect: Words = ""
    condition: Words = ""


class FoundAnswers(BaseModel):
    """All answers of a paper; what is no list ("none") is an empty one."""

    answers: Annotated[
        list[FoundAnswer],
        BeforeValidator(lambda value: value if isinstance(value, list) else []),
        Field(json_schema_extra={"maxItems": MOST}),
    ]


class SearchWords(BaseModel):
    """The technical words that papers use for what a question asks in everyday ones."""

    words: list[str] = Field(json_schema_extra={"maxItems": 6})


class ChosenTitles(BaseModel):
    """The titles of the papers to read, by their numbers from 1, the most promising first."""

    papers: list[Annotated[int, BeforeValidator(read_number)]]


class Groups(BaseModel):
    """Answers that are the same, by their numbers from 1, the one with the clearest name first."""

    groups: list[list[Annotated[int, BeforeValidator(read_number)]]]


@dataclass(frozen=True, slots=True)
class PaperAnswer:
    """An answer that a paper gives: its name, the statement that it makes, what the paper says of that, the place of the sentence
    that says so, and the words that limit the finding, "" if none do."""

    name: str
    statement: str
    verdict: Verdict
    sentence: int
    condition: str


def ask_answers(reader: ChatReader, question: str, paper: Abstract) -> list[PaperAnswer]:
    """What a paper answers to a question, for or against; raises `ChatUnanswered` where two replies are not usable."""
    user = f"Question: {strip_markup(question)}\n{mark_paper(paper)}"
    found = reader.ask_in_form(read_prompt("read-answers"), user, FoundAnswers, lambda reply: _find_fault(reply, paper)).answers
    once = {one.name.casefold(): one for one in reversed(found[:MOST]) if not _find_fault_in(one, paper)}
    return [_weigh_answer(reader, one, paper) for one in reversed(once.values())]


def _find_fault(reply: FoundAnswers, paper: Abstract) -> str:
    """Why a reply cannot be used, as a sentence; "" if it can. Where some answers hold or take no side, others are left out."""
    faults = {_find_fault_in(one, paper): one.grade for one in reply.answers[:MOST]}
    return "" if "" in faults else next((fault for fault, grade in faults.items() if grade), "")


def _find_fault_in(one: FoundAnswer, paper: Abstract) -> str:
    if _locate(one, paper) is None:
        return f"The language model's quotation for {one.name!r} is not in the paper."
    if not _holds_name(one.name, paper):
        return f"The language model's answer {one.name!r} is in no sentence of the paper."
    if len(one.statement.split()) > _LONGEST_STATEMENT or not _states(one):
        return f"The language model's statement for {one.name!r} is not one short sentence in English that names it."
    return ""


def _locate(one: FoundAnswer, paper: Abstract) -> tuple[int, str] | None:
    """Where the quotation stands: in the sentence that is named, or else in another."""
    return find_quote(one.quote, paper, one.sentence - 1) or find_quote(one.quote, paper)


def _holds_name(name: str, paper: Abstract) -> bool:
    """Whether a paper's title or one of its sentences has all words of a name, in any order and form."""
    words = _find_forms(name)
    texts = (text for text in (paper.title, *paper.sentences) if not is_order(text))
    return 0 < len(words) <= _LONGEST_NAME and any(words <= _find_forms(text) for text in texts)


def _find_forms(text: str) -> set[str]:
    """The terms of a text, "deficiency" like "deficiencies"."""
    return {f"{term[:-1]}i" if term.endswith("y") else term for term in find_terms(text)}


def _states(one: FoundAnswer) -> bool:
    """Whether a statement names its answer, if only by a word, and is mostly in English letters."""
    return 2 * sum(map(str.isascii, one.statement)) > len(one.statement) and not find_terms(one.name).isdisjoint(
        find_terms(one.statement)
    )


def _weigh_answer(reader: ChatReader, one: FoundAnswer, paper: Abstract) -> PaperAnswer:
    """The answer with the verdict of the grade and the embedded reading together."""
    located = _locate(one, paper)
    assert located is not None
    statement = f"{' '.join(one.statement.split()).rstrip('.')}."
    verdict = reader.weigh(statement, paper, one.grade)
    quoted = (find_quote(words, paper) for words in (one.people, one.number, one.effect, one.condition))
    *details, condition = (words[1] if words else "" for words in quoted)
    verdict = replace(verdict, quote=located[1], equal=not one.grade, details=Details(*details))
    return PaperAnswer(write_as(" ".join(one.name.split()), " ".join(paper.sentences)), statement, verdict, located[0], condition)


def ask_search_words(reader: ChatReader, question: str) -> str:
    """Technical words to search for besides a question's own, "" if the model gives none; raises `ChatUnanswered` as above."""
    user = f"Question: {strip_markup(question)}"
    found = reader.ask_in_form(read_prompt("search-words"), user, SearchWords, lambda _: "").words
    return " ".join(" ".join(found).split()[:_MOST_WORDS])


def ask_titles(reader: ChatReader, question: str, titles: Sequence[str], most: int) -> list[int]:
    """The places of the titles that promise most, the best first, at most so many; raises `ChatUnanswered` as above."""
    lines = (f"[{number}] {strip_markup(title)}" for number, title in enumerate(titles, 1) if not is_order(title))
    user = "\n".join((f"Question: {strip_markup(question)}", f"At most {most} papers.", "<titles>", *lines, "</titles>"))
    chosen = reader.ask_in_form(read_prompt("choose-papers"), user, ChosenTitles, lambda _: "").papers
    return [number - 1 for number in dict.fromkeys(chosen) if 0 < number <= len(titles)][:most]


def ask_groups(reader: ChatReader, question: str, names: Sequence[str]) -> list[str]:
    """The name under which each of these answers is shown, its own or that of another; raises `ChatUnanswered` as above."""
    lines = (f"[{number}] {strip_markup(name)}" for number, name in enumerate(names, 1))
    user = "\n".join((f"Question: {strip_markup(question)}", "<answers>", *lines, "</answers>"))
    shown = dict[str, str]()
    for group in reader.ask_in_form(read_prompt("group-answers"), user, Groups, lambda _: "").groups:
        same = [names[number - 1] for number in group if 0 < number <= len(names) and names[number - 1] not in shown]
        shown |= dict.fromkeys(same, same[0] if same else "")
    return [shown.get(name, name) for name in names]

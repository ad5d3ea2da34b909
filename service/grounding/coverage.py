"""What was found for a claim and how much was checked, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.values import Grounding
from counterpoint.retrieval.runtime.asking import AsksInForm

if TYPE_CHECKING:
    from counterpoint.service.configuration.config import AnswerConfig
    from counterpoint.service.grounding.ground import Grounder
    from counterpoint.service.schemas import UsageOut


def summary(grounding: Grounding) -> str:
    """What was found and how much was checked, in one to three sentences; even if nothing was found."""
    checked = grounding.checked
    if not checked.documents:
        return "No document of the index shares a word with this claim, so nothing could be checked."
    some = f"{checked.read:,} of " if 0 < checked.read < checked.documents else ""
    sentences, among = format_count(checked.sentences, "sentence"), some + format_count(checked.documents, "document")
    against, for_it, close = map(len, (grounding.contradicting, grounding.supporting, grounding.uncertain))
    opening = (
        f"{format_count(against, 'document')} found that may contradict the claim; {sentences} checked"
        if against
        else f"No contradiction found among {sentences} checked"
    )
    support = f"{format_count(for_it, 'document')} found that may support it," if for_it else "No support found"
    third = f" {format_count(close, 'document')} {'is' if close == 1 else 'are'} listed as uncertain." if close else ""
    return f"{opening} in {among}. {support} among {among}.{third}"


READING, WRITING, _OTHER = 1_150, 4_200, 600
"""The tokens, reply included, of a request that reads a paper, that writes or checks an answer, and of any other."""


def estimate_usage(grounder: Grounder, answers: AnswerConfig | None = None) -> str:
    """What a language model will be asked for a claim or, with `answers`, for an answer, in a sentence; "" without one."""
    if not grounder.reads_papers or not isinstance(grounder.reader, AsksInForm):
        return ""
    papers = (answers.verdict.papers if answers and answers.verdict else None) or grounder.path.read.papers
    # Besides, what may be asked next and what papers differ in; or words to search with, titles, the draft and its check.
    others, written = (3, 2) if answers else (2, 0)
    requests, tokens = papers + others + written, papers * READING + others * _OTHER + written * WRITING
    what, budget = ("An answer", answers.budget) if answers else ("A claim", grounder.asked_config.budget)
    most = f", at most {budget}" if budget else ""
    about = min(requests, budget.requests) if budget else requests, min(tokens, budget.tokens) if budget else tokens
    return f"{what} asks the language model about {format_count(about[0], 'time')} ({about[1]:,} tokens){most}."


def describe_usage(usage: UsageOut | None) -> str:
    """What language models were asked, in a sentence; "" if none was."""
    if usage is None or not (usage.requests or usage.cached):
        return ""
    about = "about " if usage.estimated else ""
    tokens = f", {about}{usage.prompt_tokens:,} + {format_count(usage.completion_tokens, 'token')}" if usage.requests else ""
    cost = f", {about}{usage.cost:.4f} US dollars" if usage.cost is not None else ""
    kept = f" {usage.cached:,} {'reply was' if usage.cached == 1 else 'replies were'} there from earlier." if usage.cached else ""
    spent = " Its budget is spent; the embedded models did the rest." if usage.spent else ""
    spent += " Its budget had no room for the passages of some full texts." if usage.shortened else ""
    return f"Language model: {format_count(usage.requests, 'request')}{tokens}{cost}.{kept}{spent}"

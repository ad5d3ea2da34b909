"""A language model on the papers of a question: which of those found it reads, by their titles, and what each tested and found.

The papers of an open question are those found for the question and for the claim inside it, ranked by the embedded models. A
paper for which there is no usable reply is left to these, and a note says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from itertools import zip_longest

from counterpoint.generation.statement import ANSWER, state_question
from counterpoint.nli.long_text import make_abstract
from counterpoint.nli.reader.answers import Answers, make_claim
from counterpoint.nli.reader.chat import ChatReader
from counterpoint.nli.reader.chat_answers import PaperAnswer, ask_answers, ask_groups, ask_search_words, ask_titles
from counterpoint.nli.text.designs import find_design, has_findings
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.values import Claim, Document, Hit, Row, Sentence
from counterpoint.retrieval.index import reciprocal_rank_fusion
from counterpoint.retrieval.runtime.chat import ChatUnanswered
from counterpoint.retrieval.store.documents import Entry
from counterpoint.service.grounding.find import Only, search_abstracts
from counterpoint.service.grounding.full_text import Windows
from counterpoint.service.grounding.gate import gate
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.grounding.show import evidence_for

_TITLES, _BEGINNING = 30, 25
"""Titles that a language model is shown, and the most words of a title or of an abstract in its place."""


def find_chat_reader(grounder: Grounder) -> ChatReader | None:
    """The language model that reads papers, None if none does."""
    reader = grounder.reader if grounder.reads_papers else None
    return reader if isinstance(reader, ChatReader) else None


def ask_words(grounder: Grounder, question: str) -> str:
    """Technical words for a question's everyday ones, "" if no language model gives any."""
    reader = find_chat_reader(grounder)
    try:
        return ask_search_words(reader, question) if reader else ""
    except ChatUnanswered:
        return ""


def find_more(grounder: Grounder, question: str, words: str, found: Sequence[Entry], only: Only, k: int) -> list[Entry]:
    """The papers found for a question and, in turn, for the claim inside it ("lowers blood pressure") and for more words."""
    asked = state_question(question)
    claim = asked.statement.replace(ANSWER, "").strip() if asked else ""
    more = [grounder.find(Claim(text), only, k) for text in (claim, words) if text]
    return list({entry.pmid: entry for some in zip_longest(found, *more) for entry in some if entry}.values())


def choose_papers(
    grounder: Grounder, reader: ChatReader, question: str, words: str, most: int, ranked: Sequence[Entry]
) -> Sequence[Entry]:
    """The papers to read of those that are ranked and, in turn, those that a search for the question and its technical words
    finds: at most so many, half as many at least, by their titles; the best ranked where the language model gives no usable
    reply."""
    near = (one for one in search_abstracts(grounder.index, f"{question} {words}", _TITLES) if has_findings(one.document))
    both = (entry for pair in zip_longest(ranked, near) for entry in pair if entry)
    shown = [*{entry.pmid: entry for entry in both}.values()][:_TITLES]
    try:
        titles = [_describe_title(entry.document) for entry in shown]
        chosen = [shown[place] for place in ask_titles(reader, question, titles, most)] if len(shown) > most else shown
    except ChatUnanswered:
        return ranked[:most]
    pmids = {entry.pmid for entry in chosen}
    return [*chosen, *(entry for entry in ranked if entry.pmid not in pmids)][: max(len(chosen), most // 2)]


def _describe_title(one: Document) -> str:
    """A paper's title, or else the first words of its abstract, with its design and year."""
    name = " ".join((one.title or one.abstract).split()[:_BEGINNING])
    return f"{name} ({', '.join(filter(None, (find_design(one).text, str(one.year or ''))))})"


def rank_papers(grounder: Grounder, question: str, found: Sequence[Entry], answers: Sequence[Answers]) -> list[Entry]:
    """The papers that most probably answer a question, by their relevance, the small reader and the search, fused by rank."""
    ranked = gate(list(grounder.models.rerankers.values()), (), Claim(question), found)
    likely = {entry.pmid: one.probability for entry, one in zip(found, answers, strict=True)}
    rankings = [
        [Hit(entry.pmid, 0.0) for entry in ranked],
        [Hit(pmid, 0.0) for pmid in sorted(likely, key=lambda pmid: -likely[pmid])],
        [Hit(entry.pmid, 0.0) for entry in found],
    ]
    entries = {entry.pmid: entry for entry in found}
    return [entries[hit.pmid] for hit in reciprocal_rank_fusion(rankings)]


def ask_papers(
    reader: ChatReader, question: str, papers: Sequence[Entry], windows: Windows
) -> tuple[list[Row], list[Entry], str]:
    """What these papers answer, by their abstracts and these windows of full texts; those for which there is no usable reply, and
    a note on them."""

    def ask(entry: Entry) -> list[Row] | ChatUnanswered:
        sentences = (*entry.sentences(), *windows.get(entry.pmid, ()))
        try:
            found = ask_answers(reader, question, make_abstract(entry.document.title, sentences))
        except ChatUnanswered as error:
            return error
        return [_make_row(question, entry, one, sentences[one.sentence], reader.name) for one in found]

    with ThreadPoolExecutor(reader.at_once, thread_name_prefix="ask") as pool:
        jobs = [pool.submit(copy_context().run, ask, entry) for entry in papers]
        replies = [job.result() for job in jobs]
    rows = [row for reply in replies if not isinstance(reply, ChatUnanswered) for row in reply]
    faults = [(entry, reply) for entry, reply in zip(papers, replies, strict=True) if isinstance(reply, ChatUnanswered)]
    some = format_count(len(faults), "paper")
    note = f"The embedded models read {some} in the language model's place: {faults[0][1]}" if faults else ""
    return rows, [entry for entry, _ in faults], note


def _make_row(question: str, entry: Entry, one: PaperAnswer, sentence: Sentence, by: str) -> Row:
    side = one.verdict.side
    score = one.verdict.probability(side)
    evidence = evidence_for(one.statement, side, entry.document, sentence, one.verdict, 0, score, by)
    return Row(one.name, one.name, make_claim(question, one.name), one.statement, evidence, one.condition)


def share_names(reader: ChatReader, question: str, names: Sequence[str]) -> tuple[list[str], str]:
    """The name under which each of these is shown, and a note if the language model could not say which are the same."""
    if len(names) < 2:
        return list(names), ""
    # In one order, whatever was read first: the same names are asked for once.
    listed = sorted(names)
    try:
        shared = dict(zip(listed, ask_groups(reader, question, listed), strict=True))
        return [shared[name] for name in names], ""
    except ChatUnanswered as error:
        return list(names), f"The answers were put together by their words: {error}"

"""Asking a language model to put papers in order for a question: lists of some twenty, from the end of the ranking to its top.

A list is longer than a model can order at once, so a window moves over it from its end: each time the better half is carried on
into the next window (Sun et al. 2023, arXiv 2304.09542, section 3.2). The prompt is our own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.resources import files
from string import Template

from generation.prompts.evidence import read_numbers
from generation.prompts.filling import Prompt, strip_markup
from retrieval.core.values import Document
from retrieval.runtime.chat import Chat, ChatUnanswered

WINDOW, STEP = 20, 10
WORDS = 200
"""Words of each abstract, so that twenty fit into a small model's context window."""
MAX_TOKENS = 600
_BREAK = "\n---\n"
Order = Callable[[str, Sequence[Document]], Sequence[int]]
"""Maps a question and papers to their order: indices into the papers given, best first."""


def ask_for_order(chat: Chat, question: str, papers: Sequence[Document]) -> tuple[int, ...]:
    """The order that the model gives these papers; those that it leaves out follow in their original order.

    Raises `ChatUnanswered` if it names none of them.
    """
    prompt = make_prompt(question, papers)
    reply = chat.complete(prompt.system, prompt.user, MAX_TOKENS)
    numbers = read_numbers(reply.text, set(range(1, len(papers) + 1)))
    if not numbers:
        raise ChatUnanswered(f"The model {chat.model} named no paper in a line that begins with ANSWER.")
    places = [number - 1 for number in numbers]
    return (*places, *(place for place in range(len(papers)) if place not in places))


def make_prompt(question: str, papers: Sequence[Document]) -> Prompt:
    """The prompt with the papers numbered from 1; a paper's text cannot close its own mark."""
    system, _, task = files("eval.retrieval").joinpath("rank-papers.md").read_text("utf-8").partition(_BREAK)
    entries = [
        f"<paper>\n[{number}] {strip_markup(paper.title)}\n{strip_markup(' '.join(paper.abstract.split()[:WORDS]))}\n</paper>"
        for number, paper in enumerate(papers, 1)
    ]
    user = Template(task).substitute(question=strip_markup(question), papers="\n".join(entries), count=len(papers))
    return Prompt(system.strip(), user.strip())


def order_papers(order: Order, question: str, papers: Sequence[Document]) -> list[Document]:
    """All of the papers, ordered window by window from the last to the first."""
    ranking = list(papers)
    end = len(ranking)
    while end > 0:
        start = max(0, end - WINDOW)
        part = ranking[start:end]
        if len(part) > 1:
            ranking[start:end] = [part[place] for place in order(question, part)]
        if start == 0:
            break
        end -= STEP
    return ranking

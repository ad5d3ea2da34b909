"""Prompts for language models (generation/prompts): filled in, and what comes back for evidence, the numbers of sentences.

A prompt is a file of instructions and, below its line of dashes, the template of the task. Documents are data: each stands
between marks that its own text cannot close, so that an abstract that gives orders is only quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby
from string import Template
from typing import Literal, get_args

from generation.draft import Source
from retrieval.core.errors import BadConfig
from retrieval.core.values import Paper, PaperSentence, Topic
from retrieval.runtime.chat import Chat, ChatUnanswered
from retrieval.runtime.fences import is_order, strip_markup

_BREAK = "\n---\n"


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a chat model is sent: the instructions, and the task."""

    system: str
    user: str


def fill_prompt(name: str, topic: Topic, sources: Sequence[Source], words: int | None = None, sentence: str = "") -> Prompt:
    """The prompt of this name for a topic and its sources, each abstract cut after the sentence that reaches `words`."""
    system, task = _read(name)
    user = Template(task).substitute(
        documents="\n".join(fence(source, words) for source in sources),
        question=strip_markup(topic.question),
        narrative=strip_markup(topic.narrative) or "none",
        topic=strip_markup(topic.topic) or "none",
        sentence=strip_markup(sentence),
    )
    return Prompt(system, user.strip())


def read_instructions(name: str) -> str:
    """The instructions of the prompt of this name, the same for every task, with its worked example.

    Raises `BadConfig` if there is no such prompt.
    """
    return _read(name)[0]


def _read(name: str) -> tuple[str, str]:
    """The instructions of a prompt, and the form of its tasks."""
    file = files("generation.prompts").joinpath(f"{name}.md")
    if not file.is_file():
        raise BadConfig(f"There is no prompt called {name!r}.")
    system, _, task = file.read_text("utf-8").partition(_BREAK)
    return system.strip(), task


def fence(source: Source, words: int | None = None) -> str:
    """A document between its marks, with its number and PMID."""
    texts: list[str] = []
    for sentence in source.sentences:
        if is_order(sentence.text):
            continue
        if words is not None and sum(len(one.split()) for one in texts) >= words:
            break
        texts.append(sentence.text)
    lines = [
        f'<document number="{source.number}" pmid="{strip_markup(source.document.pmid)}">',
        f"Title: {'(left out)' if is_order(source.document.title) else strip_markup(source.document.title)}",
        strip_markup(" ".join(texts)),
        "</document>",
    ]
    return "\n".join(lines)


Strategy = Literal["plain", "shots", "sections"]
"""Reasoning first and then the numbers; the same after eight worked examples; section by section and then a final choice."""
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
MAX_TOKENS = 1500
_ANSWER = re.compile(r"ANSWER\s*:?\**\s*([^\n]*)", re.IGNORECASE)
_BARE_LINE = re.compile(r"[\s\d,;.\[\]]*\d[\s\d,;.\[\]]*")
"""A last line of nothing but numbers: what a model writes if it forgets the word ANSWER."""
_NUMBER = re.compile(r"\d+")
_NO_NUMBERS = re.compile(r"\W*none\b", re.IGNORECASE)
_SCOPES = {
    False: "any part of the evidence: who and what was studied, how, and what came out",
    True: "results only: what the study itself found, not how it was done and not what is known from others",
}


def ask_for_evidence(
    chat: Chat, strategy: Strategy, hypothesis: str, paper: Paper, k: int, results_only: bool = False
) -> tuple[int, ...]:
    """The numbers of at most `k` sentences, best first; raises `ChatUnanswered` if the model names none that can be read."""
    if strategy == "sections":
        return _ask_by_sections(chat, hypothesis, paper, k, results_only)
    name = "evidence-shots" if strategy == "shots" else "evidence-plain"
    return _ask_for_numbers(chat, name, hypothesis, paper.body, k, results_only)


def _ask_by_sections(chat: Chat, hypothesis: str, paper: Paper, k: int, results_only: bool) -> tuple[int, ...]:
    """Up to `k` of every section, then the best `k` of all these; the paper must have one.

    A section whose answer cannot be read yields none; if the last choice cannot be read, the first `k` found stand.
    """
    hits: list[PaperSentence] = []
    for _, section in groupby(paper.body, key=lambda sentence: sentence.kind):
        sentences = list(section)
        numbers = _try_for_numbers(chat, "evidence-section", hypothesis, sentences, min(k, len(sentences)), results_only)
        hits += [paper.sentences[index] for index in sorted(numbers)]
    if not hits:
        raise ChatUnanswered(f"The model {chat.model} found no evidence in any section of the paper.")
    indices = tuple(sentence.index for sentence in hits)
    if len(hits) <= k:
        return indices
    selection = _try_for_numbers(chat, "evidence-merge", hypothesis, hits, k, results_only)
    return selection or indices[:k]


def _try_for_numbers(
    chat: Chat, name: str, hypothesis: str, sentences: Sequence[PaperSentence], k: int, results_only: bool
) -> tuple[int, ...]:
    """The numbers, none if the answer cannot be read; still raises if the server is gone or too busy."""
    try:
        return _ask_for_numbers(chat, name, hypothesis, sentences, k, results_only, may_be_none=True)
    except ChatUnanswered as error:
        if error.status == 503:
            raise
        return ()


def _ask_for_numbers(
    chat: Chat,
    name: str,
    hypothesis: str,
    sentences: Sequence[PaperSentence],
    k: int,
    results_only: bool,
    may_be_none: bool = False,
) -> tuple[int, ...]:
    prompt = make_prompt(name, hypothesis, sentences, k, results_only)
    reply = chat.complete(prompt.system, prompt.user, MAX_TOKENS)
    numbers = read_numbers(reply.text, {sentence.index for sentence in sentences})
    if numbers or (may_be_none and numbers is not None):
        return numbers[:k]
    raise ChatUnanswered(f"The model {chat.model} named no sentence of the paper in a line that begins with ANSWER.")


def read_numbers(reply: str, choices: set[int]) -> tuple[int, ...] | None:
    """The numbers of the last ANSWER line that are sentences, in its order, each once; None where there is no such line.

    Without that word, a last line of only numbers is read. An answer of "none" gives an empty tuple.
    """
    last = reply.strip().rsplit("\n", 1)[-1]
    lines = _ANSWER.findall(reply) or ([last] if _BARE_LINE.fullmatch(last) else [])
    if not lines:
        return None
    numbers = tuple(dict.fromkeys(number for number in map(int, _NUMBER.findall(lines[-1])) if number in choices))
    return numbers if numbers or _NO_NUMBERS.match(lines[-1]) else None


def make_prompt(name: str, hypothesis: str, sentences: Sequence[PaperSentence], k: int, results_only: bool = False) -> Prompt:
    """The prompt of this name (generation/prompts) with the sentences, numbered as in the paper, under their sections."""
    system, task = _read(name)
    user = Template(task).substitute(
        hypothesis=strip_markup(hypothesis), k=k, wanted=_SCOPES[results_only], sentences="\n".join(list_sentences(sentences))
    )
    return Prompt(system, user.strip())


def list_sentences(sentences: Sequence[PaperSentence]) -> Iterator[str]:
    """The lines that show sentences, numbered as in the paper, under their sections; none can close its section's mark."""
    for (kind, section), group in groupby(sentences, key=lambda one: (one.kind, one.section)):
        yield f'<section kind="{kind}" title="{strip_markup(section).replace(chr(34), "")}">'
        yield from (f"[{one.index}] {strip_markup(one.text)}" for one in group)
        yield "</section>"

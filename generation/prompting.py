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

from generation.draft import Source
from retrieval.core.errors import BadConfig
from retrieval.core.values import Sentence, Topic
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


MAX_TOKENS = 1500
_ANSWER = re.compile(r"ANSWER\s*:?\**\s*([^\n]*)", re.IGNORECASE)
_BARE_LINE = re.compile(r"[\s\d,;.\[\]]*\d[\s\d,;.\[\]]*")
"""A last line of nothing but numbers: what a model writes if it forgets the word ANSWER."""
_NUMBER = re.compile(r"\d+")
_SCOPES = {
    False: "any part of the evidence: who and what was studied, how, and what came out",
    True: "results only: what the study itself found, not how it was done and not what is known from others",
}


def ask_for_evidence(
    chat: Chat, hypothesis: str, sentences: Sequence[Sentence], k: int, results_only: bool = False
) -> tuple[int, ...]:
    """The numbers of at most `k` sentences of a paper, best first; raises `ChatUnanswered` if the model names none."""
    prompt = make_evidence_prompt(hypothesis, sentences, k, results_only)
    numbers = read_numbers(chat.complete(prompt.system, prompt.user, MAX_TOKENS).text, {one.index for one in sentences})
    if not numbers:
        raise ChatUnanswered(f"The model {chat.model} named no sentence of the paper in a line that begins with ANSWER.")
    return numbers[:k]


def read_numbers(reply: str, choices: set[int]) -> tuple[int, ...]:
    """The numbers of the last ANSWER line that are sentences, in its order, each once; none where there is no such line.

    Without that word, a last line of only numbers is read.
    """
    last = reply.strip().rsplit("\n", 1)[-1]
    lines = _ANSWER.findall(reply) or ([last] if _BARE_LINE.fullmatch(last) else [""])
    return tuple(dict.fromkeys(number for number in map(int, _NUMBER.findall(lines[-1])) if number in choices))


def make_evidence_prompt(hypothesis: str, sentences: Sequence[Sentence], k: int, results_only: bool = False) -> Prompt:
    """The prompt that shows a model all sentences of a paper, by their numbers and under their sections."""
    system, task = _read("evidence")
    user = Template(task).substitute(
        hypothesis=strip_markup(hypothesis), k=k, wanted=_SCOPES[results_only], sentences="\n".join(_list_sentences(sentences))
    )
    return Prompt(system, user.strip())


def _list_sentences(sentences: Sequence[Sentence]) -> Iterator[str]:
    """The lines that show sentences; none can close its section's mark."""

    def find_section(one: Sentence) -> tuple[str, str]:
        return (one.location.kind, one.location.section) if one.location else ("abstract", "")

    for (kind, section), group in groupby(sentences, key=find_section):
        yield f'<section kind="{kind}" title="{strip_markup(section).replace(chr(34), "")}">'
        yield from (f"[{one.index}] {strip_markup(one.in_context)}" for one in group)
        yield "</section>"

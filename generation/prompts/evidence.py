"""Asking a language model which sentences of a paper are evidence: in one go, after worked examples, or section by section.

The model sees numbered sentences and answers with numbers: what comes back is always a sentence of the paper, word for word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby
from string import Template
from typing import Literal, get_args

from generation.prompts.filling import Prompt, strip_markup
from retrieval.core.paper import Paper, PaperSentence
from retrieval.runtime.chat import Chat, ChatUnanswered

Strategy = Literal["plain", "shots", "sections"]
"""Reasoning first and then the numbers; the same after eight worked examples; section by section and then a final choice."""
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
MAX_TOKENS = 1500
_BREAK = "\n---\n"
_ANSWER = re.compile(r"ANSWER\s*:?\**\s*([^\n]*)", re.IGNORECASE)
_BARE_LINE = re.compile(r"[\s\d,;.\[\]]*\d[\s\d,;.\[\]]*")
"""A last line of nothing but numbers: what a model writes if it forgets the word ANSWER."""
_NUMBER = re.compile(r"\d+")
_NONE = re.compile(r"\W*none\b", re.IGNORECASE)
_SCOPES = {
    False: "any part of the evidence: who and what was studied, how, and what came out",
    True: "results only: what the study itself found, not how it was done and not what is known from others",
}


@dataclass(frozen=True, slots=True)
class ChosenByModel:
    """The numbers of the sentences that a model chose, best first, and how many requests it took."""

    indices: tuple[int, ...]
    requests: int


def ask_for_evidence(
    chat: Chat, strategy: Strategy, hypothesis: str, paper: Paper, k: int, results_only: bool = False
) -> ChosenByModel:
    """At most `k` sentences of the paper; raises `ChatUnanswered` if the model names none that can be read."""
    if strategy == "sections":
        return _ask_by_sections(chat, hypothesis, paper, k, results_only)
    name = "evidence-shots" if strategy == "shots" else "evidence-plain"
    return ChosenByModel(_ask_for_numbers(chat, name, hypothesis, paper.body, k, results_only), 1)


def _ask_by_sections(chat: Chat, hypothesis: str, paper: Paper, k: int, results_only: bool) -> ChosenByModel:
    """Up to `k` of every section, then the best `k` of all these; the paper must have one.

    A section whose answer cannot be read yields none; if the last choice cannot be read, the first `k` found stand.
    """
    hits: list[PaperSentence] = []
    requests = 0
    for _, section in groupby(paper.body, key=lambda sentence: sentence.kind):
        sentences = list(section)
        requests += 1
        numbers = _try_for_numbers(chat, "evidence-section", hypothesis, sentences, min(k, len(sentences)), results_only)
        hits += [paper.sentences[index] for index in sorted(numbers)]
    if not hits:
        raise ChatUnanswered(f"The model {chat.model} found no evidence in any section of the paper.")
    indices = tuple(sentence.index for sentence in hits)
    if len(hits) <= k:
        return ChosenByModel(indices, requests)
    selection = _try_for_numbers(chat, "evidence-merge", hypothesis, hits, k, results_only)
    return ChosenByModel(selection or indices[:k], requests + 1)


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
    return numbers if numbers or _NONE.match(lines[-1]) else None


def make_prompt(name: str, hypothesis: str, sentences: Sequence[PaperSentence], k: int, results_only: bool = False) -> Prompt:
    """The prompt of this name (generation/prompts) with the sentences, numbered as in the paper, under their sections."""
    system, _, task = files("generation.prompts").joinpath(f"{name}.md").read_text("utf-8").partition(_BREAK)
    user = Template(task).substitute(
        hypothesis=strip_markup(hypothesis), k=k, wanted=_SCOPES[results_only], sentences="\n".join(list_sentences(sentences))
    )
    return Prompt(system.strip(), user.strip())


def list_sentences(sentences: Sequence[PaperSentence]) -> Iterator[str]:
    """The lines that show sentences, numbered as in the paper, under their sections; none can close its section's mark."""
    for (kind, section), group in groupby(sentences, key=lambda one: (one.kind, one.section)):
        yield f'<section kind="{kind}" title="{strip_markup(section).replace(chr(34), "")}">'
        yield from (f"[{one.index}] {strip_markup(one.text)}" for one in group)
        yield "</section>"

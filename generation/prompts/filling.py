"""Filling in a prompt: a file of instructions and, below its line of dashes, the template of the task.

Documents are data: each stands between marks that its own text cannot close, so that an abstract that gives orders is only
quoted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from string import Template

from generation.draft import Source
from retrieval.core.errors import BadConfig
from retrieval.core.values import Topic

_BREAK = "\n---\n"
_TEMPLATE_MARK = re.compile(r"\[(/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_RESULTS))\]")
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,6}(?:instructions?|prompts?)\b"
    r"|\b(?:system|user) prompt\b|\byou are (?:now )?(?:an? )?(?:AI|assistant|chatbot|language model)\b"
    r"|\b(?:AI|LLM|(?:language )?models?|assistants?|chatbots?)(?::\s*(?:write|say|ignore|cite|answer)\b|,\s*(?:please|you)\b)"
    r"|\b(?:and nothing else|instead of (?:the|your) answer)\b|\b(?:in|of) your (?:answer|reply|output)\b",
    re.IGNORECASE,
)
"""Words with which a document addresses a language model; none of 24,806 PubMed abstracts contains any of them."""


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


def is_order(text: str) -> bool:
    """Whether a document's text addresses the language model that reads it; such a sentence is not passed on."""
    return _ORDER.search(text) is not None


def strip_markup(text: str) -> str:
    """One line without the signs that marks are made of, ours or a chat template's."""
    return _TEMPLATE_MARK.sub(r"(\1)", " ".join(text.split()).replace("<", "‹").replace(">", "›"))

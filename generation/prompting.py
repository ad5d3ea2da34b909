"""Prompts for language models (generation/prompts), filled in.

A prompt is a file of instructions and, below its line of dashes, the template of the task. All tasks on one answer whose replies
are JSON begin with the same instructions, question and documents, in "shared", so that a server reads these only once. Documents
are data: each stands between marks that its own text cannot close, so that an abstract that gives orders is only quoted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from string import Template

from counterpoint.generation.draft import DraftSentence, Failed, Source
from counterpoint.retrieval.core.errors import BadConfig
from counterpoint.retrieval.core.values import Topic
from counterpoint.retrieval.runtime.untrusted import is_order, strip_markup

_BREAK = "\n---\n"


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a chat model is sent: the instructions, and the task."""

    system: str
    user: str


def fill_prompt(name: str, topic: Topic, sources: Sequence[Source], words: int | None = None, **parts: str) -> Prompt:
    """The prompt of this name for a topic and its sources, each abstract cut after the sentence that reaches `words`; `parts` are
    what else its task names."""
    system, task = _read(name)
    if not task:  # a task whose reply is JSON
        system, task, parts = *_read("shared"), {**parts, "task": Template(system).safe_substitute(parts)}
    user = Template(f"{task}$task" if "task" in parts else task).substitute(
        documents="\n".join(mark_document(source, words) for source in sources),
        question=strip_markup(topic.question),
        narrative=strip_markup(topic.narrative) or "none",
        topic=strip_markup(topic.topic) or "none",
        **parts,
    )
    return Prompt(system, user.strip())


def write_sentences(sentences: Sequence[DraftSentence]) -> str:
    """Sentences to be checked, numbered from 1, each with the documents that it cites and what for."""
    return "\n\n".join(f"Sentence {number}: {_write_cited(one)}" for number, one in enumerate(sentences, 1))


def write_failed(failed: Sequence[Failed]) -> str:
    """Sentences to be corrected, numbered from 1, each with what failed."""
    return "\n\n".join(
        f"Sentence {number}: {_write_cited(one.sentence)}\nWhat failed: {strip_markup(one.reason)}"
        for number, one in enumerate(failed, 1)
    )


def _write_cited(sentence: DraftSentence) -> str:
    cited = [f"[{one.number}]{f' for: {strip_markup(one.part)}' if one.part else ''}" for one in sentence.cited]
    return "\n".join([strip_markup(sentence.text), *(cited or ["(cites no document)"])])


def read_instructions(name: str) -> str:
    """The instructions of the prompt of this name, the same for every task, with its worked example.

    Raises `BadConfig` if there is no such prompt.
    """
    return _read(name)[0]


def _read(name: str) -> tuple[str, str]:
    """The instructions of a prompt, and the form of its tasks."""
    file = files("counterpoint.generation.prompts").joinpath(f"{name}.md")
    if not file.is_file():
        raise BadConfig(f"There is no prompt called {name!r}.")
    system, _, task = file.read_text("utf-8").partition(_BREAK)
    return system.strip(), task


def mark_document(source: Source, words: int | None = None) -> str:
    """A document between its marks, with its number and PMID; words of its full text stand behind their location."""
    abstract, passages = list[str](), dict[str, list[str]]()
    for sentence in source.sentences:
        location = str(sentence.location or "")
        if is_order(location) or is_order(sentence.in_context):
            continue
        if location:
            passages.setdefault(f"From its full text, {location}: ", []).append(sentence.in_context)
        elif words is None or sum(len(one.split()) for one in abstract) < words:
            abstract.append(sentence.text)
    lines = [
        f'<document number="{source.number}" pmid="{strip_markup(source.document.pmid)}">',
        f"Title: {'(left out)' if is_order(source.document.title) else strip_markup(source.document.title)}",
        strip_markup(" ".join(abstract)),
        *(strip_markup(f"{location}{' '.join(texts)}") for location, texts in passages.items()),
        "</document>",
    ]
    return "\n".join(lines)

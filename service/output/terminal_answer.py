"""An answer as the terminal shows it."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from service.answering.events import Event, OnEvent, Stage
from service.answering.schemas import AnswerResponse, AnswerSentenceOut
from service.output.tables import print_whole_words
from service.output.terminal import marked_sentence


def progress(say: Callable[[str], None]) -> OnEvent:
    """Make a listener that reports each stage on a line of its own."""

    def tell(event: Event) -> None:
        if isinstance(event, Stage):
            say(event.detail)

    return tell


def print_answer(response: AnswerResponse) -> None:
    """Print the answer with its citation numbers, the sentence behind each citation, what contradicts it and what was removed."""
    console = Console(highlight=False)
    console.print(Text(response.topic.question, style="bold"))
    console.print()
    console.print(Text(response.text or response.note))
    if response.text and response.note:
        console.print(Text(response.note, style="dim"))
    if response.sentences:
        console.print(Text("\nEvidence", style="bold green"))
        for sentence in response.sentences:
            _print_evidence(sentence, console)
    if response.conflicts:
        console.print(Text("\nContradicting", style="bold red"))
        for conflict in response.conflicts:
            one = conflict.evidence
            print_whole_words(console, Text(f"against sentence {conflict.sentence + 1}: {one.title} [{one.pmid}]"))
            console.print(Padding(marked_sentence(one, styled=console.is_terminal), (0, 0, 0, 3)))
    documents = [document for document in response.documents if document.cited]
    if documents:
        console.print(Text("\nDocuments", style="bold"))
        for document in documents:
            facts = " · ".join(str(fact) for fact in (document.pmid, document.year, document.journal) if fact)
            print_whole_words(console, Text(f"[{document.number}] {document.title or '(no title)'}  [{facts}]"))
    if response.removed:
        console.print(Text(f"\n{len(response.removed)} sentences were removed by the check", style="bold"))
        for removal in response.removed:
            console.print(Padding(Text(f"“{removal.text}” ({removal.reason})", style="dim"), (0, 0, 0, 3)))
    console.print(Text(f"\n{_facts(response)}", style="dim"))


def _print_evidence(sentence: AnswerSentenceOut, console: Console) -> None:
    for citation in sentence.citations:
        console.print(Text(f"[{citation.number}] “{citation.sentence.text}”"))
        console.print(Padding(Text(citation.checked, style="dim"), (0, 0, 0, 4)))


def _facts(response: AnswerResponse) -> str:
    usage, source = response.usage, response.provenance
    amount = f" {usage.requests} requests, {usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens" if usage.requests else ""
    cost = f", {usage.cost:.4f} US dollars" if usage.cost is not None else ""
    return (
        f"{response.words} words by {response.generated_by};{amount}{cost}{';' if amount else ''} configuration {source.config}, "
        f"profile {source.profile}, index {source.index}."
    )

"""Asking many questions, each once: a stopped run goes on with what was kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tqdm import tqdm

from retrieval.core.errors import GO_ON, Interrupted, translate_write_errors
from retrieval.store.journal import Journal, Origin

_Question = TypeVar("_Question")


def ask_all(
    asked: Sequence[tuple[str, _Question]], ask: Callable[[_Question], dict[str, Any]], origin: Origin, work: Path, kind: str
) -> dict[str, Any]:
    """By the key that stands before each question, the record that `ask` makes of it, kept in `work` in a journal of this kind.

    Raises `Interrupted` where the user stops it.
    """
    with translate_write_errors("the results", work, GO_ON):
        journal = Journal.of(origin, work, kind)
        try:
            for key, question in tqdm(asked, desc="asking", unit=" questions", disable=None):
                if journal.get(key) is None:
                    journal.add(key, ask(question))
        except KeyboardInterrupt:
            raise Interrupted(
                f"Stopped after {sum(key in journal.records for key, _ in asked)} of {len(asked)} questions; they are saved in "
                f"{work}, and the same command resumes from there."
            ) from None
    return {key: journal.records[key] for key, _ in asked}

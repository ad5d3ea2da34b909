"""Process many slow items: finished ones are kept, and a stopped run resumes after them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tqdm import tqdm

from retrieval.core.errors import Interrupted
from retrieval.runtime.chat import ChatUnanswered
from retrieval.store.journal import Journal, Origin

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")
_Other = TypeVar("_Other")


def finish_each(items: Sequence[_Item], make: Callable[[_Item], _Made], doing: str, unit: str, work: Path) -> list[_Made]:
    """The result of `make` for each item, in order, with a progress bar; `make` keeps what it finishes in the folder `work`.

    Raises `Interrupted` where the user stops it.
    """
    made: list[_Made] = []
    try:
        for item in tqdm(items, desc=doing, unit=f" {unit}", disable=None):
            made.append(make(item))
    except KeyboardInterrupt:
        raise Interrupted(
            f"Stopped after {len(made)} of {len(items)} {unit}; they are saved in {work}, and the same command resumes there."
        ) from None
    return made


def record_each(
    keyed: Sequence[tuple[str, _Item]], make: Callable[[_Item], Any], origin: Origin, work: Path, kind: str, unit: str
) -> list[Any]:
    """The record that `make` returns for each item, in order, kept under the item's key in a journal of this kind in `work`.

    A record is anything that JSON can hold. Raises `Interrupted` where the user stops it.
    """
    journal = Journal.of(origin, work, kind)
    return finish_each(keyed, lambda one: journal.fill(one[0], lambda: make(one[1])), kind, unit, work)


def answer_or(otherwise: _Other, ask: Callable[[], _Made]) -> _Made | _Other:
    """A language model's answer, or `otherwise` where that is unusable.

    Raises `ChatUnanswered` where the server is gone or too busy: its answer would be unknown.
    """
    try:
        return ask()
    except ChatUnanswered as error:
        if error.status == 503:
            raise
        return otherwise

"""Going through many items that each take long: what is finished is kept, and a stopped run goes on with it."""

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
    """What `make` makes of each item, in order, with a progress bar; `make` keeps what it finishes in the folder `work`.

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
    """The record that `make` makes of each item, by the key before it, in order, kept in a journal of this kind in `work`.

    A record is anything that JSON can hold. Raises `Interrupted` where the user stops it.
    """
    journal = Journal.of(origin, work, kind)
    return finish_each(keyed, lambda one: journal.fill(one[0], lambda: make(one[1])), kind, unit, work)


def answer_or(otherwise: _Other, ask: Callable[[], _Made]) -> _Made | _Other:
    """What a language model answers, `otherwise` where that is of no use.

    Raises `ChatUnanswered` where the server is gone or too busy: what it would have said is not known.
    """
    try:
        return ask()
    except ChatUnanswered as error:
        if error.status == 503:
            raise
        return otherwise

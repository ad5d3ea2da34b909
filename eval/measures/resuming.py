"""Going through many items that each take long: what is finished is kept, and a stopped run goes on with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tqdm import tqdm

from retrieval.core.errors import GO_ON, Interrupted, translate_write_errors
from retrieval.store.journal import Journal, Origin

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")


def finish_each(items: Sequence[_Item], make: Callable[[_Item], _Made], doing: str, unit: str, work: Path) -> list[_Made]:
    """What `make` makes of each item, in order, with a progress bar; `make` keeps what it finishes in the folder `work`.

    Raises `Interrupted` where the user stops it.
    """
    made: list[_Made] = []
    try:
        with translate_write_errors("the results", work, GO_ON):
            for item in tqdm(items, desc=doing, unit=f" {unit}", disable=None):
                made.append(make(item))
    except KeyboardInterrupt:
        raise Interrupted(
            f"Stopped after {len(made)} of {len(items)} {unit}; they are saved in {work}, and the same command resumes there."
        ) from None
    return made


def record_each(
    keyed: Sequence[tuple[str, _Item]], make: Callable[[_Item], Any], origin: Origin, work: Path, kind: str, unit: str
) -> dict[str, Any]:
    """By the key that stands before each item, the record that `make` makes of it, kept in a journal of this kind in `work`.

    A record is anything that JSON can hold. Raises `Interrupted` where the user stops it.
    """
    with translate_write_errors("the results", work, GO_ON):
        journal = Journal.of(origin, work, kind)

    def finish(one: tuple[str, _Item]) -> None:
        key, item = one
        if journal.get(key) is None:
            journal.add(key, make(item))

    finish_each(keyed, finish, kind, unit, work)
    return {key: journal.records[key] for key, _ in keyed}

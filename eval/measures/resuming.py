"""Process many slow items: finished ones are kept, and a stopped run resumes after them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tqdm import tqdm

from counterpoint.retrieval.core.errors import Interrupted
from counterpoint.retrieval.store.journal import Journal, Origin, hash_json

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_Value = TypeVar("_Value", bound="DataclassInstance")


def finish_each(items: Sequence[_Item], make: Callable[[_Item], _Result], activity: str, unit: str, work: Path) -> list[_Result]:
    """The result of `make` for each item, in order, with a progress bar; `make` keeps what it finishes in the folder `work`.

    Raises `Interrupted` where the user stops it.
    """
    results: list[_Result] = []
    try:
        for item in tqdm(items, desc=activity, unit=f" {unit}", disable=None):
            results.append(make(item))
    except KeyboardInterrupt:
        raise Interrupted(
            f"Stopped after {len(results)} of {len(items)} {unit}; they are saved in {work}, and the same command resumes there."
        ) from None
    return results


def record_each(
    items: Sequence[_Value], make: Callable[[_Value], Any], origin: Origin, work: Path, kind: str, unit: str
) -> list[Any]:
    """The record that `make` returns for each item (a dataclass), in order, kept in a journal of this kind in `work`.

    A record is anything that JSON can hold. Raises `Interrupted` where the user stops it.
    """
    journal = Journal.of(origin, work, kind)
    return finish_each(items, lambda one: journal.fill(hash_json(asdict(one)), lambda: make(one)), kind, unit, work)

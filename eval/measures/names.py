"""Check the names that a user gives for entries of a table (no duplicates, `all`, unknown names), and find repeated ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from retrieval.core.errors import BadInput


def check_names(names: Sequence[str], entries: Iterable[str], what: str, others: Sequence[str] = ()) -> list[str]:
    """The names given, without duplicates; `all` stands for all of `entries`. Names in `others` are valid, but `all` excludes
    them.

    Raises `BadInput` for an unknown name.
    """
    every = list(entries)
    selection = list(dict.fromkeys(name for one in names for name in (every if one == "all" else [one])))
    for name in selection:
        if name not in every and name not in others:
            raise BadInput(f"There is no {what} {name!r}; the {what}s are {', '.join([*every, *others])}, or all.")
    return selection


def find_repeated(ids: Iterable[str]) -> str | None:
    """The first id that occurs a second time; None where there are no duplicates."""
    distinct_ids: set[str] = set()
    for one in ids:
        if one in distinct_ids:
            return one
        distinct_ids.add(one)
    return None

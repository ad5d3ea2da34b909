"""Check the names that a user gives for entries of a table (no duplicates, `all`, unknown names), and find repeated ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from retrieval.core.errors import BadInput


def check_names(given: Sequence[str], known: Iterable[str], what: str, others: Sequence[str] = ()) -> list[str]:
    """The names given, without duplicates; `all` stands for all of `known`. Names in `others` are valid, but `all` excludes them.

    Raises `BadInput` for an unknown name.
    """
    every = list(known)
    wanted = list(dict.fromkeys(name for one in given for name in (every if one == "all" else [one])))
    for name in wanted:
        if name not in every and name not in others:
            raise BadInput(f"There is no {what} {name!r}; the {what}s are {', '.join([*every, *others])}, or all.")
    return wanted


def find_repeated(ids: Iterable[str]) -> str | None:
    """The first id that occurs a second time; None where there are no duplicates."""
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            return one
        seen.add(one)
    return None

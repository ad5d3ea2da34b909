"""Names that a user gives for things of a table (each once, `all` for every one, an unknown one told), and repeated ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from retrieval.core.errors import BadInput


def check_names(given: Sequence[str], known: Iterable[str], what: str, others: Sequence[str] = ()) -> list[str]:
    """The names given, each once; `all` stands for every one of `known`. Names of `others` may be given too, but not by `all`.

    Raises `BadInput` for an unknown name.
    """
    every = list(known)
    wanted = list(dict.fromkeys(name for one in given for name in (every if one == "all" else [one])))
    for name in wanted:
        if name not in every and name not in others:
            raise BadInput(f"There is no {what} {name!r}; the {what}s are {', '.join([*every, *others])}, or all.")
    return wanted


def find_repeated(ids: Iterable[str]) -> str | None:
    """The first id that comes a second time; None where each is there once."""
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            return one
        seen.add(one)
    return None

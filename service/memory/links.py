"""Links that repeat a request, and what has changed since a result was made."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from service.memory.schemas import Entry
from service.schemas.provenance import Provenance


def make_link(entry: Entry) -> str:
    """The part after the page's address: the claim with its options, and what made the result, for the page to compare."""
    parts = [("claim" if entry.mode == "claim" else "question", entry.text)]
    if entry.mode == "claim":
        parts += [("question", entry.question), ("known", ",".join(entry.known_pmids))]
    else:
        parts.append(("narrative", entry.narrative))
    made = entry.provenance
    parts += [("config", made.config), ("profile", made.profile), ("index", made.index)]
    parts += [("model", f"{role}:{name}") for role, name in made.models.items()]
    return "#" + "&".join(f"{name}={quote(value, safe='')}" for name, value in parts if value)


def list_changes(made: Provenance, now: Provenance | None) -> list[str]:
    """List how the present service differs from what made a result, one sentence each; empty if that is unknown."""
    if now is None:
        return []
    told = []
    if made.index != now.index:
        told.append(f"The index has changed since: it was {made.index}, it is {now.index} now.")
    if (made.config, made.profile) != (now.config, now.profile):
        told.append(
            f"The configuration has changed since: it was {made.config} with the profile {made.profile}, it is {now.config} with "
            f"{now.profile} now."
        )
    if made.models != now.models:
        told.append(f"The models have changed since: {_describe(made.models)} then, {_describe(now.models)} now.")
    return told


def _describe(models: Mapping[str, str]) -> str:
    return ", ".join(f"{role} {name}" for role, name in models.items()) or "none"

"""Links that repeat a request, and what has changed since a result was made."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from service.memory.schemas import Entry
from service.schemas import Provenance


def make_link(entry: Entry) -> str:
    """The part after the page's address: the claim with its options, and what made the result, for the page to compare."""
    parts = [("claim" if entry.mode == "claim" else "question", entry.text)]
    if entry.mode == "claim":
        parts += [("question", entry.question), ("known", ",".join(entry.known_pmids))]
    else:
        parts.append(("narrative", entry.narrative))
    source = entry.provenance
    parts += [("config", source.config), ("profile", source.profile), ("index", source.index)]
    parts += [("model", f"{role}:{name}") for role, name in source.models.items()]
    return "#" + "&".join(f"{name}={quote(value, safe='')}" for name, value in parts if value)


def list_changes(source: Provenance, now: Provenance | None) -> list[str]:
    """List how the present service differs from what made a result, one sentence each; empty if that is unknown."""
    if now is None:
        return []
    changes = []
    if source.index != now.index:
        changes.append(f"The index has changed since: it was {source.index}, it is {now.index} now.")
    if (source.config, source.profile) != (now.config, now.profile):
        changes.append(
            f"The configuration has changed since: it was {source.config} with the profile {source.profile}, it is {now.config} "
            f"with {now.profile} now."
        )
    if source.models != now.models:
        changes.append(f"The models have changed since: {_describe(source.models)} then, {_describe(now.models)} now.")
    return changes


def _describe(models: Mapping[str, str]) -> str:
    return ", ".join(f"{role} {name}" for role, name in models.items()) or "none"

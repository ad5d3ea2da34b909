"""Records whose lines begin with a tag, as RIS and PubMed's export have them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from re import Match

Tags = dict[str, list[str]]
"""The texts of each tag, in their order."""


def read_tags(lines: Iterable[str], match_tag: Callable[[str], Match[str] | None]) -> Tags:
    """The tags of one record; `match_tag` finds one at the beginning of a line.

    A line without a tag continues the text before it, on a line of its own, so all that follows the first tag is kept.
    """
    tags: dict[str, list[list[str]]] = {}
    text = list[str]()
    for line in lines:
        if found := match_tag(line):
            text = [line[found.end() :].strip()]
            tags.setdefault(found[1], []).append(text)
        elif line.strip():
            text.append(line.strip())
    return {tag: ["\n".join(text) for text in texts] for tag, texts in tags.items()}


def join_texts(tags: Tags, *names: str) -> str:
    """All texts of the first of these tags that has any, joined by line breaks."""
    return next((text for name in names if (text := "\n".join(tags.get(name, ())).strip())), "")

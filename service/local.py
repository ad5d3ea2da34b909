"""Counterpoint in this process, over one index: the same calls and results as the HTTP client, without a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.runtime.replies import is_count
from counterpoint.service.assembly import Opened
from counterpoint.service.calls.calls import Call, Progress, R, search
from counterpoint.service.calls.methods import Asking
from counterpoint.service.calls.requests import MOST_HITS, SearchRequest
from counterpoint.service.calls.schemas import HitOut
from counterpoint.service.configuration import defaults
from counterpoint.service.operating.libraries import find_index


class LocalService(Asking):
    """An opened index with its models; use it in a `with` block, or `close` it. Every fault is a `CounterpointError`.

    Models that only answers or evidence need are loaded at the first call that needs them.
    """

    def __init__(self, opened: Opened) -> None:
        self._opened = opened

    def __enter__(self) -> LocalService:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index's files."""
        self._opened.index.close()

    def search(self, query: str, most: int = 20) -> list[HitOut]:
        """The papers that a query names, then those that hold its words, best first, at most `most` of them, 1 to 1,000."""
        if not is_count(most, 1) or most > MOST_HITS:
            raise BadInput(f"most is {most!r}: expected how many papers to list, 1 to {MOST_HITS:,}; correct it.")
        request = SearchRequest.of(query=query).model_copy(update={"limit": most})
        return search(self._opened, request, Progress()).response.hits

    def _ask(self, call: Call[..., Any, R], fields: dict[str, Any]) -> R:
        request = call.model.of(**fields)
        request.check()
        return call.run(self._opened, request, Progress()).response


def open_local(
    index: str | Path, config: str = defaults.CONFIG, answers: str = defaults.ANSWERS, profile: str = defaults.PROFILE
) -> LocalService:
    """Open a built index, or a library by its name, with a grounding variant, an answer variant and a set of models.

    Each of these three is a name or a YAML file.

    Raises `CounterpointError`, with a one-sentence message, if the index or a model cannot be used.
    """
    opened = Opened(find_index(Path(index)), config, answers, profile)
    opened.grounder  # noqa: B018 - loaded now, so that a fault is raised here
    return LocalService(opened)

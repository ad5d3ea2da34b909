"""Saving a search's papers to disk, part by part, so that a stopped fetch resumes where it was.

The parts lie in a folder beside the index, as the source delivered them; `counterpoint index build` can read it, too.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from indexes.plan import make_folder, report_interrupt
from retrieval.core.counts import format_count
from retrieval.core.errors import GO_ON, BadInput, translate_write_errors
from retrieval.core.progress import make_bar
from retrieval.store.manifest import write_atomically

NCBI = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
EUROPE_PMC = "https://www.ebi.ac.uk/europepmc/webservices/rest"
ZOTERO = "https://api.zotero.org"
ZOTERO_LOCAL = "http://127.0.0.1:23119/api"
"""Where the services are, unless the settings say otherwise."""


@dataclass(slots=True)
class Search:
    """A search in progress, as it is kept on disk.

    `found` papers are in its result and `wanted` are to be fetched; `fetched` have arrived, in `parts` files. `at` is where the
    source continues, in its own format; `notes` is what it said about the query.
    """

    source: str
    query: str
    most: int
    found: int
    wanted: int
    at: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    fetched: int = 0
    parts: int = 0
    began: str = ""
    built: bool = False


class Expired(Exception):
    """The source has forgotten the search, which must begin anew."""


class Source(Protocol):
    """PubMed or Europe PMC."""

    name: str
    suffix: str

    def begin(self, query: str, most: int) -> Search:
        """Search; raises `BadInput` for a query that cannot be used or finds nothing."""

    def fetch_part(self, search: Search) -> bytes | None:
        """The next part of the result, with `search` moved past it; None if nothing is left."""

    def close(self) -> None:
        """End the connection."""


# Hidden, so that a build from the folder does not take it for a source.
STATE = ".search.json"
_TIMES_FORGOTTEN = 3


def name_papers_folder(out: Path) -> Path:
    """Where the papers of the index at `out` are kept."""
    out = out.resolve()
    return out.parent / f"{out.name}.papers"


def fetch_papers(source: Source, query: str, folder: Path, most: int, say: Callable[[str], None]) -> Search:
    """Fetch the first `most` papers that `query` finds into `folder`, and report progress.

    A stopped fetch of the same search resumes; once an index was built from it (`mark_built`), the next call searches again.
    Raises `BadInput` if the query cannot be used or finds nothing, or `folder` holds another search that was stopped,
    `Unfinished` if the source does not answer, `Interrupted` if the user stops it.
    """
    if not query.strip():
        raise BadInput("The query is empty; write what you would type into the search box of PubMed.")
    advice = "what was fetched so far is saved, and the same command resumes from there"
    with report_interrupt("the fetch", advice), translate_write_errors("the papers", folder, GO_ON), make_folder(folder):
        for _ in range(_TIMES_FORGOTTEN):
            search = _resume(folder, source, query, most, say) or _begin(folder, source, query, most, say)
            try:
                _fetch_parts(folder, source, search)
            except Expired:
                say(f"{source.name} no longer has this search, so it is run again.")
                _clear(folder)
            else:
                if missing := search.wanted - search.fetched:
                    say(f"{source.name} did not deliver {missing:,} of the {search.wanted:,} papers that it counted.")
                return search
        raise BadInput(f"{source.name} forgot the search {_TIMES_FORGOTTEN} times; try again later.")


def mark_built(folder: Path, search: Search) -> None:
    """Record that an index was built, so that the next fetch searches again."""
    search.built = True
    _save(folder, search)


def _resume(folder: Path, source: Source, query: str, most: int, say: Callable[[str], None]) -> Search | None:
    """The search that was stopped in `folder`; None if there is none."""
    try:
        search = Search(**json.loads((folder / STATE).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    if search.built:
        return None
    if (search.query, search.most) != (query, most) or not _is_by(source, search):
        raise BadInput(
            f"{folder} holds another search that was stopped (“{search.query}”, --source {search.source}, --max {search.most}); "
            "finish that one, delete the folder, or name another --out."
        )
    say(f"Resuming the search of {search.began}: {search.fetched:,} of {search.wanted:,} papers are here.")
    return search


def _is_by(source: Source, search: Search) -> bool:
    return source.name.replace(" ", "").lower() == search.source


def _begin(folder: Path, source: Source, query: str, most: int, say: Callable[[str], None]) -> Search:
    search = source.begin(query, most)
    _clear(folder)
    search.began = datetime.now(UTC).isoformat(timespec="minutes")
    _save(folder, search)
    limit = f"; the first {search.wanted:,} are fetched (--max)" if search.wanted < search.found else ""
    say(f"{source.name} finds {format_count(search.found, 'paper')} for “{query}”{limit}.")
    for note in search.notes:
        say(f"  {note}")
    return search


def _fetch_parts(folder: Path, source: Source, search: Search) -> None:
    bar = make_bar(source.name, "papers", search.wanted, search.fetched)
    with bar:
        while (part := source.fetch_part(search)) is not None:
            search.parts += 1
            # The state is written last: a part that it does not list is fetched again under the same name.
            write_atomically(folder / f"part-{search.parts:05d}{source.suffix}", gzip.compress(part, mtime=0))
            _save(folder, search)
            bar.update(search.fetched - bar.n)


def _save(folder: Path, search: Search) -> None:
    write_atomically(folder / STATE, json.dumps(asdict(search), indent=1, ensure_ascii=False) + "\n")


def _clear(folder: Path) -> None:
    """Remove an earlier search."""
    (folder / STATE).unlink(missing_ok=True)
    for part in folder.glob("part-*.gz"):
        part.unlink()

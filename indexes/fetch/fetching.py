"""Saving a search's papers to disk, part by part, and their full texts, so that a stopped fetch resumes where it was.

The parts lie in a folder beside the index, as the source delivered them, and the texts in a folder therein, each in a file with
the name of its id; `counterpoint index build` can read both, too.
"""

from __future__ import annotations

import gzip
import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterpoint.indexes.plan import make_folder, report_interrupt
from counterpoint.retrieval.cluster.client import is_address, read_address
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import GO_ON, BadInput, Unfinished, translate_write_errors
from counterpoint.retrieval.core.progress import make_bar
from counterpoint.retrieval.store.manifest import write_atomically

if TYPE_CHECKING:
    from counterpoint.indexes.fetch.services import Source

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


class StaysFaulty(Unfinished):
    """One answer stays faulty, however often it is asked for: another may be whole. `why` says what is wrong with it."""

    def __init__(self, name: str, why: str) -> None:
        self.why = f"{name} {why}"
        super().__init__(f"{self.why}; {ASK_AGAIN}.")


ASK_AGAIN = "what was fetched so far is saved: run the same command again to resume"
# Hidden, so that a build from the folder does not take it for a source.
STATE = ".search.json"
TEXTS, MISSING = "texts", "missing.txt"
"""The folder of full texts, and the list of those that cannot be had: an id, a tab, and why."""
_SUFFIX = ".xml.gz"
_TIMES_FORGOTTEN = 3
_MOST_FAULTS = 3
"""So many faulty answers in a row are a fault of the service, not of what it was asked for."""
_MOST_NAMED = 10


def name_papers_folder(out: Path) -> Path:
    """Where the papers of the index at `out` are kept: beside it, or in the working folder if it is on a cluster."""
    out = Path(read_address(out).name).resolve() if is_address(out) else out.resolve()
    return out.parent / f"{out.name}.papers"


def fetch_papers(
    source: Source, query: str, folder: Path, most: int, say: Callable[[str], None], full_text: bool = False
) -> Search:
    """Fetch the first `most` papers that `query` finds into `folder`, with `full_text` also those of their full texts that the
    source gives away, and report progress.

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
                if full_text:
                    _fetch_texts(folder, source, search, say)
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
    if (search.query, search.most, search.source) != (query, most, source.name.replace(" ", "").lower()):
        raise BadInput(
            f"{folder} holds another search that was stopped (“{search.query}”, --source {search.source}, --max {search.most}); "
            "finish that one, delete the folder, or name another --out."
        )
    say(f"Resuming the search of {search.began}: {search.fetched:,} of {search.wanted:,} papers are here.")
    return search


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
    with make_bar(source.name, "papers", search.wanted, search.fetched) as bar:
        while (part := source.fetch_part(search)) is not None:
            search.parts += 1
            # The state is written last: a part that it does not list is fetched again under the same name.
            write_atomically(folder / f"part-{search.parts:05d}{source.suffix}", gzip.compress(part, mtime=0))
            _save(folder, search)
            bar.update(search.fetched - bar.n)


def _fetch_texts(folder: Path, source: Source, search: Search, say: Callable[[str], None]) -> None:
    """Fetch the full texts that are not here yet, and report which cannot be had and why."""
    wanted = list(dict.fromkeys(one for part in sorted(folder.glob("part-*.gz")) for one in source.list_texts(part)))
    texts, missing = folder / TEXTS, dict[str, str]()
    if (folder / MISSING).exists():
        lines = (folder / MISSING).read_text("utf-8").splitlines()
        missing = {one: why for one, _, why in (line.partition("\t") for line in lines)}
    texts.mkdir(exist_ok=True)
    here = {file.name.removesuffix(_SUFFIX) for file in texts.glob(f"*{_SUFFIX}")}
    for left_over in here.difference(wanted):  # of an earlier search
        (texts / f"{left_over}{_SUFFIX}").unlink()
    rest = [one for one in wanted if one not in here and one not in missing]
    batches = deque(rest[at : at + source.texts_at_once] for at in range(0, len(rest), source.texts_at_once))
    faults: dict[str, str] = {}
    with make_bar("full texts", "texts", len(wanted), len(wanted) - len(rest)) as bar:
        while batches:
            batch, known = batches.popleft(), len(missing)
            try:
                found = source.fetch_texts(batch)
            except (BadInput, StaysFaulty) as error:
                if len(batch) == 1:
                    faults[batch[0]] = error.why if isinstance(error, StaysFaulty) else str(error)
                    if len(faults) == _MOST_FAULTS:
                        raise
                    bar.update()
                    continue
                found = {}
            else:
                missing |= faults
                faults.clear()
            for one, text in found.items():
                if isinstance(text, bytes):
                    write_atomically(texts / f"{one}{_SUFFIX}", gzip.compress(text, mtime=0))
                else:
                    missing[one] = text
            # What an answer leaves out is asked for by itself.
            left_out = [one for one in batch if one not in found]
            if len(batch) > 1:
                batches.extendleft([one] for one in reversed(left_out))
            else:
                missing |= dict.fromkeys(left_out, f"{source.name} does not answer for it")
                left_out.clear()
            bar.update(len(batch) - len(left_out))
            if len(missing) > known:
                _write_missing(folder, missing)
    _write_missing(folder, missing := missing | faults)
    _report_texts(folder, source, search, wanted, missing, say)


def _report_texts(
    folder: Path, source: Source, search: Search, wanted: Sequence[str], missing: Mapping[str, str], say: Callable[[str], None]
) -> None:
    had = f"; {len(wanted) - len(missing):,} full texts are in {folder / TEXTS}" if wanted else ""
    say(f"{len(wanted):,} of the {format_count(search.fetched, 'paper')} {source.has_texts}{had}.")
    for why in dict.fromkeys(missing.values()):
        ids = [one for one in missing if missing[one] == why]
        more = f" and {len(ids) - _MOST_NAMED:,} more" if len(ids) > _MOST_NAMED else ""
        say(f"  {len(ids):,} cannot be had: {why} ({', '.join(ids[:_MOST_NAMED])}{more}).")
    if missing:
        say(f"  Each of these is in {folder / MISSING}.")


def _write_missing(folder: Path, missing: Mapping[str, str]) -> None:
    if missing:
        write_atomically(folder / MISSING, "".join(f"{one}\t{why}\n" for one, why in missing.items()))


def _save(folder: Path, search: Search) -> None:
    write_atomically(folder / STATE, json.dumps(asdict(search), indent=1, ensure_ascii=False) + "\n")


def _clear(folder: Path) -> None:
    """Remove an earlier search; its full texts stay as far as the new one finds them too."""
    for state in (STATE, MISSING):
        (folder / state).unlink(missing_ok=True)
    for part in folder.glob("part-*.gz"):
        part.unlink()

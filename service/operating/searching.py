"""PubMed and Europe PMC as the settings reach them, and what a search there would fetch."""

from __future__ import annotations

import gzip
import tempfile
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Literal

from counterpoint.indexes.fetch.services import EuropePMC, PubMed, Source
from counterpoint.indexes.fetch.zotero import Collection, ZoteroSource, list_collections
from counterpoint.indexes.readers import SkipBad, read
from counterpoint.retrieval.core.errors import translate_write_errors
from counterpoint.retrieval.core.values import Document
from counterpoint.retrieval.store.manifest import write_atomically
from counterpoint.service.operating.settings import load_settings

SourceName = Literal["pubmed", "europepmc"]
_SHOWN = 5


def connect(source: SourceName) -> Source:
    """A connection to one of the two, at the address and with the key of the settings."""
    settings = load_settings()
    if source == "europepmc":
        return EuropePMC(settings.europepmc_url)
    key = settings.ncbi_api_key.get_secret_value() if settings.ncbi_api_key else ""
    return PubMed(settings.ncbi_url, key, settings.ncbi_email)


def list_zotero(library: str = "", key_from: str = "") -> list[Collection]:
    """The collections of the Zotero on this machine, or of a library at zotero.org with the key in a file; raises `Unfinished` if
    it does not answer, such as when it is closed."""
    settings = load_settings()
    if library:
        return list_collections(ZoteroSource("web", library, key_from, settings.zotero_url), tries=1)
    return list_collections(ZoteroSource("local", address=settings.zotero_local_url))


def list_zotero_web(library: str, key: str, place: Path) -> list[Collection]:
    """The collections of "users/ID" or "groups/ID" at zotero.org. A key that reads them is kept at `place`, for this user alone;
    without one that which is kept there is used, if any. Nothing is asked twice, since somebody waits."""
    source = ZoteroSource("web", library, str(place) if place.exists() else "", load_settings().zotero_url)
    found = list_collections(source, key, tries=1)
    if key:
        with translate_write_errors("the key", place.parent):
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomically(place, key, mode=0o600)
    return found


def look_up(source: SourceName, query: str) -> tuple[int, list[Document]]:
    """How many papers a query finds, and the first few; raises `BadInput` for a query that cannot be used or finds nothing, and
    `Unfinished` if the source does not answer."""
    with closing(connect(source)) as remote, tempfile.TemporaryDirectory() as folder:
        search = remote.begin(query, _SHOWN)
        path = Path(folder) / f"part{remote.suffix}"
        path.write_bytes(gzip.compress(remote.fetch_part(search) or b""))
        found = [one for one in read(path, on_bad=SkipBad(_SHOWN)) if isinstance(one, Document)]
    return search.found, [*islice(found, _SHOWN)]

"""PubMed and Europe PMC as the settings reach them, and what a search there would fetch."""

from __future__ import annotations

import gzip
import tempfile
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Literal

from indexes.fetch.fetching import Source
from indexes.fetch.services import EuropePMC, PubMed
from indexes.fetch.zotero import Collection, ZoteroSource, list_collections
from indexes.readers import SkipBad, read
from retrieval.core.values import Document
from service.operating.settings import load_settings

SourceName = Literal["pubmed", "europepmc"]
_SHOWN = 5


def connect(source: SourceName) -> Source:
    """A connection to one of the two, at the address and with the key of the settings."""
    settings = load_settings()
    if source == "europepmc":
        return EuropePMC(settings.europepmc_url)
    key = settings.ncbi_api_key.get_secret_value() if settings.ncbi_api_key else ""
    return PubMed(settings.ncbi_url, key, settings.ncbi_email)


def list_zotero() -> list[Collection]:
    """The collections of the Zotero on this machine; raises `Unfinished` if it does not answer, such as when it is closed."""
    return list_collections(ZoteroSource("local", address=load_settings().zotero_local_url))


def look_up(source: SourceName, query: str) -> tuple[int, list[Document]]:
    """How many papers a query finds, and the first few; raises `BadInput` for a query that cannot be used or finds nothing, and
    `Unfinished` if the source does not answer."""
    with closing(connect(source)) as remote, tempfile.TemporaryDirectory() as folder:
        search = remote.begin(query, _SHOWN)
        path = Path(folder) / f"part{remote.suffix}"
        path.write_bytes(gzip.compress(remote.fetch_part(search) or b""))
        found = [one for one in read(path, on_bad=SkipBad(_SHOWN)) if isinstance(one, Document)]
    return search.found, [*islice(found, _SHOWN)]

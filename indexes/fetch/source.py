"""What a source of papers offers: a search that is begun once, and the parts of its result, one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

NCBI = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
EUROPE_PMC = "https://www.ebi.ac.uk/europepmc/webservices/rest"
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

"""Europe PMC's REST service (https://europepmc.org/RestfulWebService): PubMed's papers, preprints and more, in JSON."""

from __future__ import annotations

import json
from typing import Any

from indexes.fetch.remote import NotWhole, Remote
from indexes.fetch.source import EUROPE_PMC, Search
from retrieval.core.errors import BadInput

PAGE = 500
_PER_SECOND = 5


class EuropePMC:
    """Europe PMC, which needs no key."""

    name, suffix = "Europe PMC", ".jsonl.gz"

    def __init__(self, address: str = EUROPE_PMC, backoff: float = 1.0) -> None:
        self._remote = Remote("Europe PMC", address, _PER_SECOND, backoff)

    def begin(self, query: str, most: int) -> Search:
        """Search; raises `BadInput` for a query that finds nothing."""
        total = int(self._ask(query, "*", 1)["hitCount"])
        if not total:
            raise BadInput(f"Europe PMC finds nothing for “{query}”; change the query.")
        return Search("europepmc", query, most, total, min(total, most), {"cursor": "*"})

    def fetch_part(self, search: Search) -> bytes | None:
        """The next results, one JSON object per line."""
        room, cursor = search.wanted - search.fetched, search.at["cursor"]
        if room <= 0 or not cursor:
            return None
        # One size for all pages: a cursor continues only from a page of the same size.
        answer = self._ask(search.query, cursor, min(PAGE, search.wanted))
        results = answer["resultList"]["result"][:room]
        next_cursor = answer.get("nextCursorMark", "")
        search.at["cursor"] = "" if next_cursor == cursor or not results else next_cursor
        search.fetched += len(results)
        return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in results).encode() if results else None

    def close(self) -> None:
        """End the connection."""
        self._remote.close()

    def _ask(self, query: str, cursor: str, size: int) -> dict[str, Any]:
        fields = {"query": query, "format": "json", "resultType": "core", "pageSize": str(size), "cursorMark": cursor}
        answer: dict[str, Any] = json.loads(self._remote.ask("GET", "search", fields, _check), strict=False)
        if message := answer.get("errMsg"):
            raise self._remote.refuse(str(message), "check the query at europepmc.org")
        return answer


def _check(body: bytes) -> None:
    try:
        answer = json.loads(body, strict=False)  # a control character in a text is no reason to ask again
        if "errMsg" not in answer:
            int(answer["hitCount"]), answer["resultList"]["result"][:1]
    except (ValueError, KeyError, TypeError):
        raise NotWhole("no search result, or one that breaks off") from None

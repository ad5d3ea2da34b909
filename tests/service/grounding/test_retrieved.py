"""What the two sides of a claim share: one search, and each paper fetched once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from retrieval.core.values import Claim, Hit
from retrieval.index import Index
from retrieval.store.rows import Entry
from tests.helpers.fakes import make_grounder, make_index

PAPERS = [
    {"pmid": "1", "title": "Zeta for gout", "abstract": "Zeta speaks for gout. It was given at night."},
    {"pmid": "2", "title": "Zeta and gout", "abstract": "Zeta speaks against gout. It was given by day."},
]


def test_the_second_side_repeats_no_search_and_fetches_no_paper_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[tuple[str, int]] = []
    fetched: list[str] = []
    search, entries = Index.search, Index.entries

    def count_search(self: Index, query: str, k: int) -> list[Hit]:
        searched.append((query, k))
        return search(self, query, k)

    def count_entries(self: Index, pmids: Sequence[str]) -> Iterator[Entry]:
        fetched.extend(pmids)
        return entries(self, pmids)

    grounder, _ = make_grounder(make_index(tmp_path, PAPERS), "counterpoint")
    monkeypatch.setattr(Index, "search", count_search)
    monkeypatch.setattr(Index, "entries", count_entries)
    grounding = grounder.ground(Claim("Zeta helps in gout."))
    assert len(searched) == len(set(searched)) == 1
    assert sorted(fetched) == ["1", "2"]
    assert grounding.checked["contradict"].documents == grounding.checked["support"].documents == 2
    grounder.ground(Claim("Zeta helps in gout."))
    assert len(searched) == 2, "nothing outlives its claim"

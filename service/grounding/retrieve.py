"""The first step of a branch: one ranking for a claim's queries, from one source, or from several by reciprocal rank fusion.

Both sides of a claim usually ask for the same: `Retrieved` does it once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from retrieval.core.values import Hit
from retrieval.dense.encoder import Encoder
from retrieval.index import Index
from retrieval.rerank.fusion import reciprocal_rank_fusion
from retrieval.store.rows import Entry
from retrieval.words.forms import add_other_forms
from retrieval.words.synonyms import add_synonyms
from service.configuration.config import Retrieve


def retrieve(
    step: Retrieve, queries: Sequence[str], index: Index, encoders: Mapping[str, Encoder], without: Collection[str] = ()
) -> list[Hit]:
    """The best `k` documents for the queries, best first, except those in `without`; as many more are fetched in their place."""
    depth, limit = (step.each or step.k) + len(without), step.k + len(without)
    rankings: list[list[Hit]] = []
    for source in step.sources:
        if source == "bm25":
            texts = [add_other_forms(query) for query in queries] if step.spellings else list(queries)
            if step.synonyms:
                texts = [f"{text} {add_synonyms(query)}".strip() for text, query in zip(texts, queries, strict=True)]
            rankings += [index.search(text, depth) for text in texts]
        else:
            encoder = encoders[step.encoder]
            rankings += index.dense(encoder.name).search(encoder.queries(queries), depth)
    ranking = reciprocal_rank_fusion(rankings, step.rrf)[:limit] if step.fused else rankings[0]
    return [hit for hit in ranking if hit.pmid not in without][: step.k]


class Retrieved:
    """What was retrieved for a claim so far, so that its other side repeats no search and fetches no paper again."""

    def __init__(self) -> None:
        self._rankings: dict[tuple[str, tuple[str, ...], frozenset[str]], list[Hit]] = {}
        self._entries: dict[str, Entry] = {}

    def rank(
        self,
        step: Retrieve,
        queries: Sequence[str],
        index: Index,
        encoders: Mapping[str, Encoder],
        without: frozenset[str],
    ) -> list[Hit]:
        """The ranking that `retrieve` gives."""
        key = (step.model_dump_json(), tuple(queries), without)
        if key not in self._rankings:
            self._rankings[key] = retrieve(step, queries, index, encoders, without)
        return self._rankings[key]

    def read(self, index: Index, pmids: Sequence[str]) -> list[Entry]:
        """The documents with these ids, in order."""
        new = [pmid for pmid in pmids if pmid not in self._entries]
        self._entries |= dict(zip(new, index.entries(new), strict=True))
        return [self._entries[pmid] for pmid in pmids]


def describe_ranking(step: Retrieve, encoders: Mapping[str, Encoder]) -> str:
    """The name of that ranking's scores, with one word for each source."""
    names = [source if source == "bm25" else encoders[step.encoder].name for source in step.sources]
    return f"rrf({', '.join(names)})" if step.fused else names[0]

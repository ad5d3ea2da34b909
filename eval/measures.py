"""Measures of rankings, as pure functions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import ir_measures


def reciprocal_ranks(
    gold: Mapping[str, Collection[str]], run: Mapping[str, Sequence[str]], cut: int | None = None
) -> list[float]:
    """1 / rank of the first gold document for each query of `gold`, in its order; 0 where none is in the (cut) ranking.

    Reciprocal rank: Kantor and Voorhees 2000, by ir_measures.
    """
    measure = ir_measures.RR if cut is None else ir_measures.RR @ cut
    qrels = {query: dict.fromkeys(documents, 1) for query, documents in gold.items()}
    # A score that falls with the rank stands for the order, which is all that the measure reads.
    scored = {query: {pmid: float(-rank) for rank, pmid in enumerate(run[query])} for query in gold if run[query]}
    found = {one.query_id: float(one.value) for one in ir_measures.iter_calc([measure], qrels, scored)} if scored else {}
    return [found.get(query, 0.0) for query in gold]


def weighted_mrr(support: float, n_support: int, contradict: float, n_contradict: int) -> float:
    """(N_sup·MRR_sup + N_con·MRR_con) / N_total: the paper's equation 3 (arXiv 2603.17580)."""
    total = n_support + n_contradict
    return (n_support * support + n_contradict * contradict) / total if total else float("nan")

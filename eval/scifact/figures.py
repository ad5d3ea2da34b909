"""From results to figures: each measure as a tally over claims, so that it can be resampled and compared.

`eval.scifact.measures` describes what `tallies` counts; a test checks that both have the same keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eval.measures.formulas import Tally, f1, precision, recall, reciprocal_ranks, share
from eval.scifact.files import LabelledClaim
from eval.scifact.observing import STANCES, ClaimResult
from eval.scifact.official import MAX_ABSTRACT_SENTENCES, count
from eval.scifact.predictions import Predicted
from retrieval.core.errors import BadInput
from retrieval.core.values import Stance

CUT = 3
DEPTHS = (3, 10, 20, 50, 100, 500, 1000)
FORMULAS = {"precision": precision, "recall": recall, "f1": f1}
OFFICIAL = {
    "abstract_label_only": "abstract level, label only: a predicted document is right if it is gold and its label is",
    "abstract_rationalized": "abstract level, label and rationale: and if a whole gold rationale is among its first "
    f"{MAX_ABSTRACT_SENTENCES} predicted sentences",
    "sentence_selection": "sentence level, selection only: a predicted sentence is right if all of its gold rationale is",
    "sentence_label": "sentence level, selection and label: and if its document's label is right",
}
Rankings = Sequence[Mapping[Stance, Sequence[str]]]
"""For each claim, in order: a ranking for each stance."""


def tallies(claims: Sequence[LabelledClaim], results: Sequence[ClaimResult], depths: Mapping[Stance, int]) -> dict[str, Tally]:
    """Every figure of a variant; `depths` is how many documents each branch retrieves."""
    whole = [{stance: one.side(stance).whole for stance in STANCES} for one in results]
    hits = [{stance: [hit.pmid for hit in one.side(stance).returned] for stance in STANCES} for one in results]
    listings = [
        {stance: [hit.pmid for hit in (*one.side(stance).returned, *one.side(stance).uncertain)] for stance in STANCES}
        for one in results
    ]
    figures: dict[str, Tally] = {
        **ranking_tallies(claims, whole),
        **_mrr("mrr.stance_correct", claims, hits, CUT),
        **_mrr("mrr.listed", claims, listings, CUT),
        **_pairs(claims, hits),
        **_list_recall(claims, listings),
        **_silence(claims, hits),
        **{f"scifact.{key}": one for key, one in official_tallies(claims, [r.predicted() for r in results]).items()},
    }
    for stance in STANCES:
        figures |= _retrieval(stance, results, depths[stance])
    return figures


def ranking_tallies(claims: Sequence[LabelledClaim], rankings: Rankings) -> dict[str, Tally]:
    """The paper's measure of rankings, which is blind to stance, for whole and for cut rankings."""
    return {**_mrr("mrr.whole", claims, rankings, None), **_mrr("mrr.at3", claims, rankings, CUT)}


def _mrr(key: str, claims: Sequence[LabelledClaim], rankings: Rankings, cut: int | None) -> dict[str, Tally]:
    """Reciprocal rank of the first gold document of a stance in the ranking for that stance, over the claims that have one.

    Weighted is the mean over both, (N_sup·MRR_sup + N_con·MRR_con) / N_total: the paper's equation 3 (arXiv 2603.17580).
    """
    sums = {}
    for stance in STANCES:
        with_gold = {str(i): one.gold_of(stance) for i, one in enumerate(claims) if one.gold_of(stance)}
        runs = {i: list(rankings[int(i)][stance]) for i in with_gold}
        ranks = dict(zip(with_gold, reciprocal_ranks(with_gold, runs, cut), strict=True))
        sums[stance] = Tally.of(((ranks[str(i)], 1.0) if str(i) in ranks else (0.0, 0.0) for i in range(len(claims))), share)
    mean = Tally(sums["support"].counts + sums["contradict"].counts, share)
    return {**{f"{key}.{stance}": sums[stance] for stance in STANCES}, f"{key}.weighted": mean}


def _pairs(claims: Sequence[LabelledClaim], rankings: Rankings) -> dict[str, Tally]:
    figures: dict[str, Tally] = {}
    for stance in STANCES:
        counts = []
        for claim, lists in zip(claims, rankings, strict=True):
            first, gold = lists[stance][:CUT], claim.gold_of(stance)
            counts.append((len(gold & set(first)), len(first), len(gold)))
        figures |= {f"pairs.{stance}.{name}": Tally.of(counts, formula) for name, formula in FORMULAS.items()}
    return figures


def _list_recall(claims: Sequence[LabelledClaim], rankings: Rankings) -> dict[str, Tally]:
    return {
        f"listed.{stance}": Tally.of(
            (
                (len(one.gold_of(stance) & set(lists[stance])), len(one.gold_of(stance)))
                for one, lists in zip(claims, rankings, strict=True)
            ),
            share,
        )
        for stance in STANCES
    }


def _silence(claims: Sequence[LabelledClaim], rankings: Rankings) -> dict[str, Tally]:
    silent = [not any(lists.values()) for lists in rankings]
    return {
        f"silence.{name}_evidence": Tally.of(
            ((nothing and bool(one.gold) is has, bool(one.gold) is has) for one, nothing in zip(claims, silent, strict=True)),
            share,
        )
        for name, has in (("without", False), ("with", True))
    }


def official_tallies(claims: Sequence[LabelledClaim], predictions: Sequence[Predicted]) -> dict[str, Tally]:
    """SciFact's official figures, by their official names."""
    counts = [count(claim.gold, of_claim) for claim, of_claim in zip(claims, predictions, strict=True)]
    parts = {
        "abstract_label_only": [(c.labelled, c.predicted_documents, c.documents) for c in counts],
        "abstract_rationalized": [(c.rationalized, c.predicted_documents, c.documents) for c in counts],
        "sentence_selection": [(c.selected, c.predicted_sentences, c.sentences) for c in counts],
        "sentence_label": [(c.selected_and_labelled, c.predicted_sentences, c.sentences) for c in counts],
    }
    return {f"{key}_{name}": Tally.of(of_claims, FORMULAS[name]) for key, of_claims in parts.items() for name in FORMULAS}


def official_figures(claims: Sequence[LabelledClaim], predictions: Mapping[str, Predicted]) -> dict[str, float]:
    """The official figures of predictions by claim id; every claim must be there, and no other, as the evaluator requires.

    Raises `BadInput` where claims are missing or unknown.
    """
    ids = {one.claim.id for one in claims}
    if ids != set(predictions):
        missing, unknown = sorted(ids - set(predictions)), sorted(set(predictions) - ids)
        fault = (
            f"{len(missing)} claims have none (such as {missing[0]})" if missing else f"{unknown[0]} is not a claim in the file"
        )
        raise BadInput(f"The predictions do not match the claims: {fault}; every claim needs one line, with or without evidence.")
    sequence = [predictions[one.claim.id] for one in claims]
    return {key: tally.value for key, tally in official_tallies(claims, sequence).items()}


def _retrieval(stance: Stance, results: Sequence[ClaimResult], limit: int) -> dict[str, Tally]:
    figures = {}
    for depth in DEPTHS:
        # Beyond the branch's own depth there is nothing to measure.
        in_reach = depth <= limit
        figures[f"retrieval.{stance}.{depth}"] = Tally.of(
            (
                (sum(one.depth is not None and one.depth <= depth for one in gold), len(gold)) if in_reach else (0, 0)
                for gold in (result.side(stance).gold for result in results)
            ),
            share,
        )
    return figures

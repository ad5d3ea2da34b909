"""The measures of a variant on SciFact: each described, and counted claim by claim so that it can be resampled and compared.

The official ones are those of Wadden et al. 2020 (arXiv 2004.14974, section 4.2). Where that paper leaves a choice, the official
evaluator's is taken (https://github.com/allenai/scifact-evaluator): a document counts as rationalized by its first three
predicted sentences, whatever the length of the gold rationales; a sentence counts only together with all others of its rationale;
every predicted sentence counts at sentence level, however many there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from counterpoint.eval.measures.figures import Tally, f1, precision, recall, reciprocal_ranks, share
from counterpoint.eval.measures.report import Measure
from counterpoint.eval.scifact.files import Gold, LabelledClaim, Predicted
from counterpoint.eval.scifact.observing import STANCES, ClaimResult
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Stance

CUT = 3
FORMULAS = {"precision": precision, "recall": recall, "f1": f1}
MAX_ABSTRACT_SENTENCES = 3
OFFICIAL = {
    "abstract_label_only": "abstract level, label only: a predicted document is right if it is gold and its label is",
    "abstract_rationalized": "abstract level, label and rationale: and if a whole gold rationale is among its first "
    f"{MAX_ABSTRACT_SENTENCES} predicted sentences",
    "sentence_selection": "sentence level, selection only: a predicted sentence is right if all of its gold rationale is",
    "sentence_label": "sentence level, selection and label: and if its document's label is right",
}
Counted = Iterator[tuple[Measure, Tally]]
Rankings = Sequence[Mapping[Stance, Sequence[str]]]
"""For each claim, in order: a ranking for each stance."""
_OF = {"support": "claims with supporting evidence", "contradict": "claims with contradicting evidence"}


def measure(claims: Sequence[LabelledClaim], results: Sequence[ClaimResult]) -> Counted:
    """Every measure of a variant."""
    returned: Rankings = [
        {stance: [hit.pmid for hit in result.side(stance).returned] for stance in STANCES} for result in results
    ]
    listed: Rankings = [
        {stance: [*first[stance], *(hit.pmid for hit in one.side(stance).uncertain)] for stance in STANCES}
        for one, first in zip(results, returned, strict=True)
    ]
    right = (
        f"Reciprocal rank of the first document among the first {CUT} returned as {{part}} that is gold for that stance, mean "
        "over the {claims}."
    )
    shown = "The same over what a reader is shown: what is called uncertain stands behind what is returned."
    yield from measure_rankings(claims, [{stance: result.side(stance).whole for stance in STANCES} for result in results])
    title = f"MRR@{CUT} of the right stance"
    yield from _mrr(
        "mrr.stance_correct", claims, returned, CUT, f"{title}, {{part}}", right, "The mean over all claims with evidence."
    )
    yield from _mrr("mrr.listed", claims, listed, CUT, f"{title}, the uncertain behind, {{part}}", shown, shown)
    yield from _pairs(claims, returned)
    for stance in STANCES:
        hits = [one.gold_of(stance) & set(lists[stance]) for one, lists in zip(claims, listed, strict=True)]
        yield (
            Measure(
                f"listed.{stance}",
                f"Recall of {stance}, the uncertain included",
                f"Share of the gold pairs of that stance among all that is returned or called uncertain as {stance}.",
            ),
            Tally.of(((len(hit), len(one.gold_of(stance))) for hit, one in zip(hits, claims, strict=True)), share),
        )
    for name, has, title in (("without", False, "Silent without evidence"), ("with", True, "Silent despite evidence")):
        among = [bool(claim.gold) is has for claim in claims]
        rows = ((base and not any(lists.values()), base) for base, lists in zip(among, returned, strict=True))
        definition = f"Share of the claims {name} evidence for which nothing is returned."
        yield Measure(f"silence.{name}_evidence", title, definition), Tally.of(rows, share)
    yield from measure_officially(claims, [result.predicted() for result in results])


def measure_rankings(claims: Sequence[LabelledClaim], rankings: Rankings) -> Counted:
    """The paper's measure of rankings, which is blind to stance, for whole and for cut rankings."""
    for key, cut, words in (("whole", None, "whole rankings"), ("at3", CUT, f"rankings cut at {CUT}")):
        yield from _mrr(
            f"mrr.{key}",
            claims,
            rankings,
            cut,
            f"MRR {{part}}, {words}",
            "The paper's measure: reciprocal rank of the first gold document in all that the {part} branch would return "
            f"if it were not cut, mean over the {{claims}}; {words}. Whether a stance was recognised does not matter.",
            "The mean of both, weighted by their claims: the paper's equation 3.",
        )


def _mrr(
    key: str, claims: Sequence[LabelledClaim], rankings: Rankings, cut: int | None, title: str, definition: str, mean: str
) -> Counted:
    """Reciprocal rank of the first gold document of a stance in the ranking for that stance, over the claims that have one.

    Weighted is the mean over both, (N_sup·MRR_sup + N_con·MRR_con) / N_total: the paper's equation 3 (arXiv 2603.17580).
    """
    tallies = []
    for stance in STANCES:
        with_gold = {str(i): one.gold_of(stance) for i, one in enumerate(claims) if one.gold_of(stance)}
        runs = {i: list(rankings[int(i)][stance]) for i in with_gold}
        ranks = dict(zip(with_gold, reciprocal_ranks(with_gold, runs, cut), strict=True))
        tally = Tally.of(((ranks[str(i)], 1.0) if str(i) in ranks else (0.0, 0.0) for i in range(len(claims))), share)
        tallies.append(tally)
        described = definition.format(part=stance, claims=_OF[stance])
        yield Measure(f"{key}.{stance}", title.format(part=stance), described), tally
    both = Tally(tallies[0].counts + tallies[1].counts, share)
    yield Measure(f"{key}.weighted", title.format(part="weighted"), mean), both


def _pairs(claims: Sequence[LabelledClaim], rankings: Rankings) -> Counted:
    for stance in STANCES:
        counts = []
        for claim, lists in zip(claims, rankings, strict=True):
            first, gold = lists[stance][:CUT], claim.gold_of(stance)
            counts.append((len(gold & set(first)), len(first), len(gold)))
        definition = (
            f"Over all claims, those without evidence included: (claim, document) pairs among the first {CUT} returned as "
            f"{stance}, against the gold pairs of that stance; micro-averaged over pairs."
        )
        for name, formula in FORMULAS.items():
            title = f"{name.capitalize()}@{CUT}, {stance}"
            yield Measure(f"pairs.{stance}.{name}", title, definition), Tally.of(counts, formula)


def measure_officially(claims: Sequence[LabelledClaim], predictions: Sequence[Predicted]) -> Counted:
    """SciFact's official measures; their keys are "scifact." and the official names."""
    counts = [count(claim.gold, of_claim) for claim, of_claim in zip(claims, predictions, strict=True)]
    for key, words in OFFICIAL.items():
        for name, formula in FORMULAS.items():
            title = f"SciFact {key.replace('_', ' ')}, {name}"
            source = "micro-averaged over all claims (Wadden et al. 2020, arXiv 2004.14974, section 4.2)."
            tally = Tally.of((of_claim[key] for of_claim in counts), formula)
            yield Measure(f"scifact.{key}_{name}", title, f"Official, {words}; {source}"), tally


def count(gold: Mapping[str, Gold], predictions: Predicted) -> dict[str, tuple[int, int, int]]:
    """For one claim and each official measure: how many documents or sentences are right, how many are predicted and are gold."""
    labelled = rationalized = selected = selected_and_labelled = 0
    for pmid, one in predictions.items():
        if pmid not in gold:
            continue
        right, rationales = gold[pmid].stance == one.stance, [set(rationale) for rationale in gold[pmid].rationales]
        first, indices = set(one.sentences[:MAX_ABSTRACT_SENTENCES]), set(one.sentences)
        # A sentence is selected if it belongs to a gold rationale of which every sentence is predicted.
        hits = len(indices & set[int]().union(*(rationale for rationale in rationales if rationale <= indices)))
        labelled += right
        rationalized += right and any(rationale <= first for rationale in rationales)
        selected += hits
        selected_and_labelled += hits if right else 0
    documents = (len(predictions), len(gold))
    sentences = (
        sum(len(one.sentences) for one in predictions.values()),
        sum(len(rationale) for one in gold.values() for rationale in one.rationales),
    )
    return {
        "abstract_label_only": (labelled, *documents),
        "abstract_rationalized": (rationalized, *documents),
        "sentence_selection": (selected, *sentences),
        "sentence_label": (selected_and_labelled, *sentences),
    }


def official_figures(claims: Sequence[LabelledClaim], predictions: Mapping[str, Predicted]) -> dict[str, float]:
    """The official figures of predictions by claim id; every claim must be there, and no other, as the evaluator requires.

    Raises `BadInput` where claims are missing or unknown.
    """
    ids = {claim.claim.id for claim in claims}
    if ids != set(predictions):
        missing, unknown = sorted(ids - set(predictions)), sorted(set(predictions) - ids)
        fault = (
            f"{len(missing)} claims have none (such as {missing[0]})" if missing else f"{unknown[0]} is not a claim in the file"
        )
        raise BadInput(f"The predictions do not match the claims: {fault}; every claim needs one line, with or without evidence.")
    sequence = [predictions[claim.claim.id] for claim in claims]
    return {one.key.removeprefix("scifact."): tally.value for one, tally in measure_officially(claims, sequence)}

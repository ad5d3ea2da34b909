"""What became of the gold documents: counts for a plot and its table, and a list of the lost ones."""

from __future__ import annotations

from collections.abc import Sequence

from eval.measures.losses import Fate
from eval.measures.report_data import Case, Report
from eval.page.blocks import Body, Cell, Loss, Losses, Swatch, Table, TableRow
from eval.page.tables import BRANCH
from eval.page.wording import join_words
from retrieval.core.values import Stance


def list_fates(report: Report, stance: Stance) -> list[Fate]:
    """The fates that occur in some variant for a stance, in the order in which a document meets them."""
    return [fate for fate in report.fates if any(one.sides[stance].fates.get(fate) for one in report.variants)]


def name_fate(fate: Fate) -> str:
    """A fate's name in a sentence."""
    return fate.replace("_", " ")


def legend(report: Report, stance: Stance) -> tuple[Swatch, ...]:
    """What the colours mean."""
    return tuple(Swatch(fate, name_fate(fate), report.fates[fate]) for fate in list_fates(report, stance))


def counts(report: Report, stance: Stance, pairs: int) -> Table:
    """How many documents met each fate in each variant, and their share of the total."""
    rows = tuple(
        TableRow(
            name_fate(fate),
            tuple(_share(one.sides[stance].fates.get(fate, 0), pairs) for one in report.variants),
            swatch=fate,
        )
        for fate in list_fates(report, stance)
    )
    return Table(
        caption=f"Outcome of the {pairs} {BRANCH[stance]} documents, in numbers",
        corner="fate",
        columns=tuple(one.name for one in report.variants),
        bodies=(Body(rows),),
    )


def _share(count: int, of: int) -> Cell:
    return Cell(str(count), (f"{100 * count / of:.0f} %",) if of else ())


def in_words(report: Report, stance: Stance, pairs: int) -> str:
    """A description of the plot for those who cannot see it."""
    descriptions = []
    for one in report.variants:
        fates = [(fate, one.sides[stance].fates.get(fate, 0)) for fate in list_fates(report, stance)]
        descriptions.append(f"{one.name}: " + ", ".join(f"{count} {name_fate(fate)}" for fate, count in fates if count))
    return f"Stacked bars, one for each variant, of {pairs} {BRANCH[stance]} documents. " + "; ".join(descriptions) + "."


def losses(report: Report, stance: Stance) -> tuple[Losses, ...]:
    """The kept cases by kind of loss; a document that several variants lost in the same way is listed once."""
    groups = []
    for fate, meaning in report.fates.items():
        documents: dict[tuple[str, str], list[tuple[str, Case]]] = {}
        for variant in report.variants:
            for case in variant.sides[stance].cases:
                if case.fate == fate:
                    documents.setdefault((case.claim, case.pmid), []).append((variant.name, case))
        if documents:
            groups.append(
                Losses(name_fate(fate).capitalize(), meaning, fate, tuple(_loss(cases) for cases in documents.values()))
            )
    return tuple(groups)


def _loss(cases: Sequence[tuple[str, Case]]) -> Loss:
    first = cases[0][1]
    ranks: dict[int | None, list[str]] = {}
    for variant, case in cases:
        ranks.setdefault(case.depth, []).append(variant)
    return Loss(
        claim=first.claim,
        claim_text=first.claim_text,
        document=first.pmid,
        title=first.title,
        passages=tuple((f"sentence {one.index + 1}", one.text or "(not in the index)") for one in first.rationale),
        lost_by=tuple(f"{join_words(names)} {_retrieval_note(rank)}" for rank, names in ranks.items()),
    )


def _retrieval_note(rank: int | None) -> str:
    return "(not retrieved)" if rank is None else f"(retrieved at rank {rank:,})"

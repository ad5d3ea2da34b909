"""The tables of a report: the paper's measure, those that no stance-blind ranking can win, retrieval depth, and cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from eval.measures.report_data import Figure, Report, VariantReport
from eval.page.blocks import Body, Cell, Table, TableRow
from eval.page.wording import NOTHING, make_compared_cell, plain, three
from retrieval.core.values import Stance

Rows = Mapping[str, Mapping[str, float]]
WHICH = ("support", "contradict", "weighted")
SIDES: tuple[Stance, Stance] = ("contradict", "support")
"""Contradictions first, as everywhere: they are what is missed."""
PLURAL: Mapping[Stance, str] = {"contradict": "contradictions", "support": "supports"}
BRANCH: Mapping[Stance, str] = {"contradict": "contradicting", "support": "supporting"}
_PARTS = {"precision": "precision", "recall": "recall", "f1": "F1"}
_OFFICIAL = {
    "scifact.abstract_label_only_f1": "label only",
    "scifact.abstract_rationalized_f1": "label and rationale",
    "scifact.sentence_selection_f1": "sentence selected",
    "scifact.sentence_label_f1": "and its label right",
}


def papers_measure(report: Report, references: Rows) -> Table:
    """MRR of every variant, of plain BM25 and of the paper's systems, whole and at 3."""
    remainder = dict(references)
    none = (Cell(NOTHING),) * len(WHICH)

    def ours(figures: Mapping[str, Figure]) -> tuple[Cell, ...]:
        return tuple(plain(figures, f"mrr.{cut}.{which}") for cut in ("whole", "at3") for which in WHICH)

    def row(variant: VariantReport) -> TableRow:
        name = papers_name(variant.name, remainder)
        reference = _make_published_cells(remainder.pop(name)) if name else none
        return TableRow(variant.name, (*ours(variant.figures), *reference), name)

    blind = TableRow("plain BM25", (*ours(report.blind), *none), "no filter, no judge")
    rows = tuple(row(variant) for variant in report.variants)
    rest = tuple(TableRow(name, (*none, *none, *_make_published_cells(figures))) for name, figures in remainder.items())
    bodies = [Body((blind,), "No stance judged"), Body(rows, "Evaluated here")]
    return Table(
        caption="The paper's measure: mean reciprocal rank of the first gold document in a branch's ranking",
        corner="variant",
        groups=(("whole rankings", 3), ("cut at 3", 3), ("in the paper, cut not said", 3)),
        columns=WHICH * 3,
        bodies=tuple([*bodies, Body(rest, "In the paper, not evaluated here")] if rest else bodies),
        definitions=_definitions(report, [f"mrr.{cut}.{which}" for cut in ("whole", "at3") for which in WHICH]),
    )


def papers_name(variant: str, references: Rows) -> str:
    """The paper's name for a shipped variant: v5 is its "paper V5, final"; "" for a variant that it does not have."""
    start = "paper V5, documents" if variant == "v5-documents" else f"paper {variant.upper()},"
    names = [name for name in references if name.startswith(start)]
    return names[0] if names else ""


def _make_published_cells(figures: Mapping[str, float]) -> tuple[Cell, ...]:
    return tuple(Cell(three(figures.get(which))) for which in WHICH)


def pairs(report: Report) -> Table:
    """Precision, recall and F1 of the first three documents of each stance."""
    columns = {f"pairs.{stance}.{part}": word for stance in SIDES for part, word in _PARTS.items()}
    return _make_comparison(
        report,
        "Returned documents: precision, recall and F1 of the first three documents on each side, over all claims",
        columns,
        tuple((PLURAL[stance], len(_PARTS)) for stance in SIDES),
    )


def official(report: Report, references: Mapping[str, float], same_claims: bool) -> Table:
    """SciFact's own F1s and, for the first of them, others' published figures, in per cent, on the same claims or not."""
    table = _make_comparison(
        report,
        "SciFact's official F1: documents with the right label, then also with a whole rationale, then by sentence",
        _OFFICIAL,
        (("abstract level", 2), ("sentence level", 2)),
    )
    rest = (Cell(NOTHING),) * (len(_OFFICIAL) - 1)
    others = tuple(TableRow(name, (Cell(three(per_cent / 100)), *rest)) for name, per_cent in references.items())
    if not others:
        return table
    return Table(
        caption=table.caption,
        corner=table.corner,
        groups=table.groups,
        columns=table.columns,
        bodies=(
            Body(table.bodies[0].rows, "Evaluated here"),
            Body(others, "Published by others, some second-hand" + ("" if same_claims else ": of all dev claims, not of these")),
        ),
        definitions=table.definitions,
    )


def right_stance(report: Report) -> Table:
    """The rank of the first document of the right stance, and whether a variant returns nothing when it should."""
    columns = {f"mrr.stance_correct.{which}": which for which in ("contradict", "support", "weighted")}
    silence = {"silence.without_evidence": "no evidence (good)", "silence.with_evidence": "evidence (bad)"}
    return _make_comparison(
        report,
        "Stance-correct MRR at 3, and empty results: the share of claims for which nothing is returned",
        columns | silence,
        (("MRR at 3 of the right stance", 3), ("silent where there is", 2)),
    )


def make_listed_table(report: Report) -> Table:
    """The same for a user who also reads what a variant calls uncertain."""
    ranks = {f"mrr.listed.{which}": which for which in ("contradict", "support", "weighted")}
    return _make_comparison(
        report,
        "Including documents listed as uncertain, ranked after those returned: stance-correct MRR at 3, and the share of "
        "gold shown",
        ranks | {f"listed.{stance}": PLURAL[stance] for stance in SIDES},
        (("MRR at 3 of the right stance", 3), ("recall", 2)),
    )


def _make_comparison(report: Report, caption: str, columns: Mapping[str, str], groups: tuple[tuple[str, int], ...]) -> Table:
    rows = tuple(
        TableRow(
            one.name,
            tuple(make_compared_cell(one, key) for key in columns),
            "the baseline" if one.name == report.baseline else "",
        )
        for one in report.variants
    )
    return Table(
        caption=caption,
        corner="variant",
        groups=groups,
        columns=tuple(columns.values()),
        bodies=(Body(rows),),
        definitions=_definitions(report, list(columns)),
    )


def retrieval(report: Report, stance: Stance) -> Table:
    """How many gold documents a branch retrieves, by depth."""
    start = f"retrieval.{stance}."
    depths = [one.key.removeprefix(start) for one in report.measures if one.key.startswith(start)]
    return Table(
        caption=f"Recall of {BRANCH[stance]} documents by depth, in the {stance} branch",
        corner="variant",
        groups=(("documents retrieved", len(depths)),) if depths else (),
        columns=tuple(depths),
        bodies=(
            Body(tuple(TableRow(one.name, tuple(plain(one.figures, start + d) for d in depths)) for one in report.variants)),
        ),
    )


def work(report: Report) -> Table:
    """How much the branches examine."""
    parts: dict[str, Callable[[VariantReport, Stance], float]] = {
        "documents": lambda one, stance: one.sides[stance].work.documents,
        "sentences in them": lambda one, stance: one.sides[stance].work.sentences,
        "passed the filter": lambda one, stance: one.sides[stance].work.candidates,
        "judged": lambda one, stance: one.sides[stance].work.judged,
    }
    rows = (
        TableRow(one.name, tuple(Cell(f"{part(one, stance):,.1f}") for stance in SIDES for part in parts.values()))
        for one in report.variants
    )
    return Table(
        caption="How much each branch looks at, on average for a claim",
        corner="variant",
        groups=tuple((f"{stance} branch", len(parts)) for stance in SIDES),
        columns=tuple(parts) * len(SIDES),
        bodies=(Body(tuple(rows)),),
    )


def _definitions(report: Report, keys: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """In the report's own words, each once: precision, recall and F1 are defined together."""
    titles: dict[str, list[str]] = {}
    for one in report.measures:
        if one.key in keys:
            titles.setdefault(one.definition, []).append(one.title)
    return tuple(("; ".join(names), definition) for definition, names in titles.items())

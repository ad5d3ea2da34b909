"""From a report to a page: which tables and plots, in which order, and the text that goes with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from eval.measures.report_data import Report, VariantReport
from eval.page import curves, fates, plots, tables
from eval.page.blocks import Block, Fact, Facts, Heading, Listing, Numbers, Page, PageSection, Plot, Table, Words
from eval.page.tables import BRANCH, PLURAL, SIDES, Rows
from eval.page.wording import NOTHING, SURE, in_words, join_words, pluralise, three
from retrieval.core.errors import BadInput
from retrieval.core.values import Stance

PAPERS_CLAIMS = (124, 64)
"""Claims with supporting and with contradicting evidence in SciFact's dev split, which the paper's figures describe."""
_ROWS: TypeAdapter[dict[str, dict[str, float]]] = TypeAdapter(dict[str, dict[str, float]])
_SOURCE = (
    "not measured here: table 1 and appendix A of arXiv 2603.17580, and F1s from the literature, as in "
    "eval/variants/expected.yaml"
)


def page(report: Report, quoting: bool = True) -> Page:
    """The page of a report; without `quoting` it contains no sentence of the claims or documents."""
    _check(report)
    numbers = Numbers()
    parts = [
        PageSection("paper", "The paper's measure", _papers_measure(report)),
        PageSection("stance", "Measures that consider stance", _stance(report)),
        PageSection("retrieval", "Recall of retrieval", _retrieval(report)),
        PageSection("lost", "Where documents are lost", _losses(report)),
        PageSection("curves", "Precision against recall", _curves(report)),
    ]
    sections = [replace(one, blocks=tuple(numbers.give(block) for block in one.blocks)) for one in parts]
    if quoting:
        sections.append(PageSection("cases", "Examples of missed documents", _cases(report)))
    # Last, because it refers to the others by number.
    sections.append(PageSection("provenance", "Provenance", _provenance(report, numbers)))
    return Page("Counterpoint on SciFact", _lead(report), tuple(sections))


def _check(report: Report) -> None:
    """Check what the schema of the JSON alone does not guarantee."""
    if not report.variants:
        raise BadInput("The report contains no variants; write one with `counterpoint eval scifact --json FILE`.")
    for variant in report.variants:
        missing = [stance for stance in SIDES if stance not in variant.sides]
        extra_fates = {fate for side in variant.sides.values() for fate in side.fates} - set(report.fates)
        if missing or extra_fates:
            what = (
                f"has no {missing[0]} side" if missing else f"counts documents as {extra_fates.pop()!r}, which it does not define"
            )
            raise BadInput(f"The report's variant {variant.name} {what}; write it again with `counterpoint eval scifact --json`.")


def _read_published(report: Report) -> tuple[Rows, Mapping[str, float]]:
    """The paper's rows, and others' label-only F1 on the dev claims; a report may lack either."""
    figures = report.published
    try:
        rows = _ROWS.validate_python({**figures.get("table_1", {}), **figures.get("appendix_a", {})})
        others = _ROWS.validate_python(figures.get("scifact_label_only", {}))
    except (ValidationError, TypeError):
        raise BadInput(
            "The report's published figures are not names with figures; write it again with `counterpoint eval scifact --json`."
        ) from None
    return rows, others.get("dev", {})


def _on_papers_claims(report: Report) -> bool:
    return (report.claims.with_support, report.claims.with_contradict) == PAPERS_CLAIMS


def _lead(report: Report) -> tuple[str, ...]:
    claims, names = report.claims, [one.name for one in report.variants]
    summary = (
        f"{pluralise(claims.all, 'claim', 'claims')}: {claims.with_support} with supporting evidence, {claims.with_contradict} "
        f"with contradicting evidence, {claims.without_evidence} with none; {claims.support_pairs} supporting and "
        f"{claims.contradict_pairs} contradicting documents to find, counted for each claim. "
        f"{pluralise(len(names), 'variant', 'variants')}, {_models(report)}."
    )
    if claims.gold_not_in_corpus:
        summary += f" {claims.gold_not_in_corpus} of the documents to find are not in the corpus."
    note = (
        f"Figures are fractions of 1, each with its 95 % bootstrap interval over claims. A {NOTHING} appears "
        "where there is nothing to measure or no figure was published."
    )
    return summary, "Best by F1 at 3: " + "; ".join(_best(report, stance) for stance in SIDES) + ".", note


def _models(report: Report) -> str:
    name = report.provenance.profile.get("name")
    return f"models of the profile {name}" if name else "models as listed at the end"


def _best(report: Report, stance: Stance) -> str:
    key = f"pairs.{stance}.f1"
    scores = [(figure.value, one) for one in report.variants if (figure := one.figures.get(key)) and figure.value is not None]
    if not scores:
        return f"nothing was measured for {PLURAL[stance]}"
    best = max(value for value, _ in scores)
    first = [one for value, one in scores if value == best]
    return f"on {PLURAL[stance]} {join_words([one.name for one in first])}, {in_words(first[0].figures[key])}"


def _papers_measure(report: Report) -> tuple[Block, ...]:
    rows, _ = _read_published(report)
    blocks: list[Block] = [Words(_blind(report, rows), weighs=True)]
    if not _on_papers_claims(report):
        blocks.append(
            Words(
                f"The paper's figures are of {PAPERS_CLAIMS[0]} claims with supporting and {PAPERS_CLAIMS[1]} with contradicting "
                f"evidence, and this report is of {report.claims.with_support} and {report.claims.with_contradict}: the two "
                "cannot be compared."
            )
        )
    return (*blocks, tables.papers_measure(report, rows))


def _blind(report: Report, rows: Rows) -> str:
    text = (
        "This measure ignores stance: it uses the rank of the first gold document in a branch's list, not "
        "whether its stance was recognised."
    )
    blind = report.blind.get("mrr.whole.weighted")
    papers = [(figures["weighted"], name) for name, figures in rows.items() if "weighted" in figures]
    if blind and blind.value is not None:
        text += f" Plain BM25, which judges nothing at all, has {three(blind.value)} weighted"
        if papers and _on_papers_claims(report):
            best, name = max(papers)
            word = "more" if blind.value > best else "less" if blind.value < best else "as much"
            text += f", {word} {'as' if word == 'as much' else 'than'} the best of the paper's systems ({name}: {three(best)})"
        text += "."
    return f"{text} Do not choose a system by this table."


def _stance(report: Report) -> tuple[Block, ...]:
    _, others = _read_published(report)
    stance_tables: list[Table] = [
        tables.pairs(report),
        tables.official(report, others, _on_papers_claims(report)),
        tables.right_stance(report),
        tables.make_listed_table(report),
    ]
    return (Words(_comparisons(report, stance_tables)), *stance_tables)


def _comparisons(report: Report, stance_tables: Sequence[Table]) -> str:
    if report.baseline is None:
        return "No variants are compared here: the baseline is v5, which was not evaluated (add --config v5 to the command)."
    cells = [cell for table in stance_tables for body in table.bodies for row in body.rows for cell in row.cells]
    count = sum(len(cell.details) > 1 for cell in cells)
    if not count:
        return f"Comparisons are with {report.baseline}, and no other variant was evaluated."
    sure = sum(cell.sure for cell in cells)
    return (
        f"After the interval come the difference from {report.baseline} and the two-sided p of a paired "
        f"bootstrap on the same claims; * marks p below {SURE:g}. {pluralise(count, 'comparison is', 'comparisons are')} made in "
        f"the next {pluralise(len(stance_tables), 'table', 'tables')} and {sure} marked; the p values are not corrected for "
        "multiple comparisons, so "
        f"about {count * SURE:.0f} would be marked if no variant differed at all."
    )


def _retrieval(report: Report) -> tuple[Block, ...]:
    intro = Words(
        "The share of gold (claim, document) pairs among the first documents that a branch retrieves, before anything is "
        f"reranked, filtered or judged: no later step can recover what is missing here. A {NOTHING} appears where a "
        "branch retrieves fewer "
        "documents."
    )
    return (intro, *(tables.retrieval(report, stance) for stance in SIDES), tables.work(report))


def _losses(report: Report) -> tuple[Block, ...]:
    pairs: dict[Stance, int] = {"support": report.claims.support_pairs, "contradict": report.claims.contradict_pairs}
    blocks: list[Block] = [
        Words(
            "In the branch of its stance, every gold document has one of these outcomes. They are in the order of the "
            "pipeline's steps."
        )
    ]
    for stance in SIDES:
        if not pairs[stance]:
            blocks.append(Words(f"No claim has {BRANCH[stance]} evidence, so there is no plot of it."))
            continue
        counts = {one.name: one.sides[stance].fates for one in report.variants}
        order = fates.list_fates(report, stance)
        wide, narrow = (plots.stacked_bars(counts, order, pairs[stance], stance, width) for width in (plots.WIDE, plots.NARROW))
        blocks.append(
            Plot(
                caption=f"Where the {pluralise(pairs[stance], f'{BRANCH[stance]} document', f'{BRANCH[stance]} documents')} went",
                alternative=fates.in_words(report, stance, pairs[stance]),
                wide=wide,
                narrow=narrow,
                table=fates.counts(report, stance, pairs[stance]),
                legend=fates.legend(report, stance),
            )
        )
    return tuple(blocks)


def _curves(report: Report) -> tuple[Block, ...]:
    blocks: list[Block] = [
        Words(
            "Precision and recall if only documents with a score above a threshold were returned, for "
            "every threshold; the dot shows all returned documents. The background lines are the other variants. Scores of "
            "different variants are not comparable, and a reranker's scores hardly compare between claims."
        )
    ]
    for stance in SIDES:
        points = {one.name: one.sides[stance].precision_recall for one in report.variants}
        wide, narrow = (plots.precision_recall(points, stance, width) for width in (plots.WIDE, plots.NARROW))
        blocks.append(
            Plot(
                caption=f"Precision against recall of {PLURAL[stance]}",
                alternative=curves.in_words(report, stance),
                wide=wide,
                narrow=narrow,
                table=curves.curves(report, stance),
            )
        )
    return tuple(blocks)


def _cases(report: Report) -> tuple[Block, ...]:
    blocks: list[Block] = [
        Words(
            "Gold documents that were missed, grouped by reason: the claim, the gold sentences, and the variants that "
            "missed them. Up to "
            "twelve per reason are shown for each variant; a document that several variants missed for the same reason "
            "appears once."
        )
    ]
    for stance in SIDES:
        losses = fates.losses(report, stance)
        blocks.append(Heading(f"Lost {PLURAL[stance]}"))
        blocks += losses or [Words("None was missed.")]
    return tuple(blocks)


def _provenance(report: Report, numbers: Numbers) -> tuple[Block, ...]:
    origin = report.provenance
    return (
        Facts(
            "What produced each figure",
            (
                Fact(f"Tables 1 to {numbers.tables}, figures 1 to {numbers.plots}", origin.command, code=True),
                Fact("In them, the figures of the paper and of others", _SOURCE),
                Fact("This page", "counterpoint eval report REPORT.json --out PAGE.html --markdown PAGE.md", code=True),
            ),
        ),
        Facts(
            "Data",
            (
                Fact("Claims", origin.claims_file),
                Fact("SHA-256 of the file", origin.claims_sha256, code=True),
                Fact("Corpus", origin.corpus_file),
                Fact("Sum of its documents' SHA-256", origin.corpus_sha256, code=True),
                Fact("Index", origin.index, code=True),
            ),
        ),
        Facts(
            "Method",
            (
                Fact("Counterpoint", origin.counterpoint),
                Fact("SHA-256 of the evaluation's source", origin.code, code=True),
                Fact(
                    "Bootstrap",
                    f"{origin.bootstrap_resamples:,} samples of the claims, seed {origin.bootstrap_seed}; percentile intervals; "
                    "p by the shift method, on the same samples for all variants",
                ),
            ),
        ),
        Facts("Variants", tuple(Fact(one.name, _variant(one)) for one in report.variants)),
        Heading("Settings"),
        Listing(f"Profile {origin.profile.get('name', '')}".strip(), _yaml(origin.profile)),
        *(Listing(f"Variant {one.name}", _yaml(one.config)) for one in report.variants),
    )


def _variant(one: VariantReport) -> str:
    models = ", ".join(f"{role} {name}" for role, name in one.models.items()) or "none"
    return f"{one.description} Models: {models}. SHA-256 of the source that it runs through: {one.code}.".lstrip()


def _yaml(settings: Mapping[str, Any]) -> str:
    return yaml.safe_dump(dict(settings), sort_keys=False, allow_unicode=True, width=100)

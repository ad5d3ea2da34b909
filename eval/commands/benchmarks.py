"""`counterpoint eval beir` and `evidencebench`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from counterpoint.eval.commands.outputs import JsonOption, MarkdownOption, check_outputs, option, publish, work_option
from counterpoint.service.cli.shared import AnalyzerOption, ProfileOption, print_note, report_errors
from counterpoint.service.configuration import defaults

BEIR_WORK, EVIDENCE_WORK = Path("beir.work"), Path("evidencebench.work")
MEASURES = ("nDCG@10", "R@100")
TaskName = StrEnum("TaskName", ["er-optimal", "er-10", "result-er-optimal", "result-er-5"])
MethodName = StrEnum("MethodName", ["maximum", "random", "abstract-end", "bm25", "ours"])


def beir(
    corpus: Annotated[Path | None, option("--corpus", "JSON lines with _id, title and text.", "FILE")] = None,
    queries: Annotated[Path | None, option("--queries", "JSON lines with _id and text.", "FILE")] = None,
    qrels: Annotated[
        Path | None, option("--qrels", "Relevance judgements: BEIR's table, or TREC's four columns.", "FILE")
    ] = None,
    scifact: Annotated[Path | None, option("--scifact", "SciFact's own files instead of these three.", "DIR")] = None,
    dense: Annotated[bool, option("--dense", "Also measure the profile's encoder, alone and fused with BM25.")] = False,
    rerank: Annotated[str | None, option("--rerank", "Also measure BM25 reranked by this model of the profile.", "NAME")] = None,
    depth: Annotated[int, typer.Option("--depth", min=1, max=1000, help="How many documents to rerank.")] = 100,
    profile: ProfileOption = defaults.PROFILE,
    analyzer: AnalyzerOption = "biomedical",
    work: Annotated[Path, work_option("indexes and scores are")] = BEIR_WORK,
    json: JsonOption = None,
    markdown: MarkdownOption = None,
) -> None:
    """Measure retrieval on a collection in BEIR's layout: nDCG@10 and R@100 of BM25."""
    with report_errors():
        from counterpoint.retrieval.core.errors import BadInput

        files = (corpus, queries, qrels)
        if bool(scifact) == any(files) or (any(files) and not all(files)):
            raise BadInput("Name a collection with --corpus, --queries and --qrels, or with --scifact.")
        check_outputs(json, markdown, [file for file in files if file])
        from counterpoint.eval.retrieval.beir import measure, read_beir, read_scifact_as_beir
        from counterpoint.eval.scifact.files import find
        from counterpoint.service.configuration.config import load_profile

        models = load_profile(profile)
        if scifact:
            found = find(scifact)
            collection = read_scifact_as_beir(found.claims, found.corpus, work)
        else:
            assert corpus and queries and qrels
            collection = read_beir(corpus, queries, qrels, work)
        print_note(
            f"Measuring on {len(collection.queries):,} queries of {collection.name}; indexes and scores are saved in {work}."
        )
        publish(measure(collection, work, models, MEASURES, rerank, depth, dense, analyzer), json, markdown)


def evidencebench(
    data: Annotated[
        list[Path] | None, option("--data", "EvidenceBench's JSON lines, gzipped or not; may be repeated.", "FILE")
    ] = None,
    task: Annotated[list[TaskName] | None, option("--task", "A task; may be repeated; default: all.")] = None,
    method: Annotated[list[MethodName] | None, option("--method", "A method; may be repeated; default: all.")] = None,
    most: Annotated[int | None, typer.Option("-n", min=1, help="Only the first so many papers.")] = None,
    profile: ProfileOption = defaults.PROFILE,
    work: Annotated[Path, work_option("readings of the papers are")] = EVIDENCE_WORK,
    json: Annotated[
        Path | None, option("--json", "Write all figures to this file, including those of each paper.", "OUT")
    ] = None,
    markdown: MarkdownOption = None,
) -> None:
    """Measure on EvidenceBench which sentences of a paper are chosen as evidence: aspect recall by task and method."""
    with report_errors():
        from counterpoint.eval.evidence.evidencebench import METHODS, TASKS, make_report, measure_all, read_cases
        from counterpoint.retrieval.core.errors import BadInput
        from counterpoint.service.configuration.config import load_profile

        if not data:
            raise BadInput("--data is missing: name EvidenceBench's file (from https://github.com/EvidenceBench/EvidenceBench).")
        tasks, methods = list(dict.fromkeys(map(str, task or TASKS))), list(dict.fromkeys(map(str, method or METHODS)))
        models = load_profile(profile)
        check_outputs(json, markdown, data)
        cases = read_cases(data)[:most]
        from counterpoint.service.evidence.finder import EvidenceFinder

        finder = EvidenceFinder(models)
        print_note(
            f"Measuring {len(methods)} methods on {len(cases)} papers with {finder.reader.name}; progress is saved in {work}."
        )
        recalls = measure_all(cases, finder.reader, work)
        publish(make_report(recalls, tasks, methods, finder.reader.name), json, markdown)

"""`counterpoint eval claims`, `titles`, `cochrane`, `trials`, `reader` and `biogen`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from counterpoint.eval.commands.outputs import JsonOption, MarkdownOption, argument, check_outputs, option, publish, work_option
from counterpoint.retrieval.core.english import format_count
from counterpoint.service.cli.shared import ConfigOption, IndexOption, ProfileOption, print_note, report_errors
from counterpoint.service.configuration import defaults

WORK, COCHRANE_WORK, TRIALS_WORK = Path("claims.work"), Path("cochrane.work"), Path("trials.work")
WorkOption = Annotated[Path, work_option("what was grounded is")]


def claims(
    file: Annotated[
        Path,
        argument(
            "FILE",
            "A CSV with pmid, claim, stance (what the paper says: support, contradict or neutral) and, optionally, kind; or what "
            "`counterpoint feedback export` wrote.",
        ),
    ],
    index: IndexOption,
    config: ConfigOption = defaults.CONFIG,
    profile: ProfileOption = defaults.PROFILE,
    work: WorkOption = WORK,
    json: JsonOption = None,
    markdown: MarkdownOption = None,
) -> None:
    """Measure claims about papers of an index: is each paper shown on the side that the file says it is on?"""
    with report_errors():
        from counterpoint.eval.claims.reading import read_feedback

        check_outputs(json, markdown, [file])
        paper_claims, disputed = read_feedback(file)
        from counterpoint.eval.claims.measuring import check_held
        from counterpoint.eval.claims.report import measure_claims
        from counterpoint.service.assembly import assemble

        grounder = assemble(index, config, profile)
        check_held(paper_claims, grounder.index.store, file, index)
        asked = format_count(len(paper_claims), "claim")
        print_note(f"Grounding {asked} of {file} with {config} over {index}; progress is saved in {work}.")
        title = f"{file.name}: {asked} about {format_count(len({one.pmid for one in paper_claims}), 'paper')}"
        notes = [f"Left out: {disputed} on which readers disagree."] if disputed else []
        publish(measure_claims(paper_claims, title, notes, grounder, work), json, markdown)


def titles(
    index: IndexOption,
    most: Annotated[int, typer.Option("-n", min=1, help="Maximum number of papers to sample.")] = 200,
    seed: Annotated[int, typer.Option("--seed", help="The random seed of the sample.")] = 13,
    config: ConfigOption = defaults.CONFIG,
    profile: ProfileOption = defaults.PROFILE,
    work: WorkOption = WORK,
    json: JsonOption = None,
    markdown: MarkdownOption = None,
) -> None:
    """Check an index without labels: does a paper support its own title, and contradict it turned round?"""
    with report_errors():
        check_outputs(json, markdown)
        from counterpoint.eval.claims.titles import measure_titles
        from counterpoint.service.assembly import assemble

        grounder = assemble(index, config, profile)
        print_note(
            f"Grounding up to {most} titles of {index} and their reversed versions with {config}; progress is saved in {work}."
        )
        publish(measure_titles(grounder, most, seed, work), json, markdown)


def cochrane(
    file: Annotated[Path, argument("FILE", "MedEvidence's questions with their abstracts, as JSON lines.")],
    config: ConfigOption = defaults.CONFIG,
    profile: ProfileOption = defaults.PROFILE,
    work: Annotated[Path, work_option("the index and what was grounded are")] = COCHRANE_WORK,
    json: JsonOption = None,
    markdown: MarkdownOption = None,
) -> None:
    """Measure agreement with the conclusions of Cochrane's reviews, over one index of all their abstracts."""
    with report_errors():
        from counterpoint.eval.claims.cochrane import read_conclusions

        check_outputs(json, markdown, [file])
        conclusions, documents = read_conclusions(file)
        from counterpoint.eval.claims.directions import measure_directions
        from counterpoint.eval.retrieval.beir import write_documents
        from counterpoint.eval.retrieval.kept_index import open_index
        from counterpoint.retrieval.core.values import Claim
        from counterpoint.service.assembly import load_config, make_grounder
        from counterpoint.service.configuration.config import load_profile
        from counterpoint.service.configuration.models import load_models
        from counterpoint.service.grounding.weigh import weigh

        grounding = load_config(config)
        models = load_models(grounding, load_profile(profile))
        asked, over = format_count(len(conclusions), "question"), format_count(len(documents), "abstract")
        print_note(f"Asking {asked} over {over}; progress is saved in {work}.")
        corpus = write_documents(file, work, lambda: documents)
        index = open_index(corpus, work, list(models.encoders.values()))
        grounder = make_grounder(index, grounding, models)
        report = measure_directions(
            conclusions, file, lambda _, claim: weigh(grounder.ground(Claim(claim))).outcome, grounder, work
        )
        publish(report, json, markdown)


def trials(
    file: Annotated[Path, argument("FILE", "Doctors' prompts on trial reports (prompts.jsonl.gz), as JSON lines.")],
    index: IndexOption,
    given: Annotated[bool, option("--given", "Read the prompt's own report, whatever a search finds.")] = False,
    config: ConfigOption = defaults.CONFIG,
    profile: ProfileOption = defaults.PROFILE,
    work: Annotated[Path, work_option("what was grounded is")] = TRIALS_WORK,
    json: JsonOption = None,
    markdown: MarkdownOption = None,
) -> None:
    """Measure the answers to prompts on trial reports, by what a reader of the whole report concludes."""
    with report_errors():
        check_outputs(json, markdown, [file])
        from counterpoint.eval.claims.trials import measure_trials, read_prompts
        from counterpoint.service.assembly import assemble

        prompts = read_prompts(file)
        grounder = assemble(index, config, profile)
        print_note(f"Asking {format_count(len(prompts), 'prompt')} of {file} over {index}; progress is saved in {work}.")
        publish(measure_trials(prompts, file, grounder, given, work), json, markdown)


def reader(
    data: Annotated[Path, option("--data", "The folder with the data sets.", "DIR")],
    model: Annotated[Path | None, option("--model", "The folder of a reader; default: the one that ships.", "DIR")] = None,
    only: Annotated[list[str] | None, option("--only", "A set: probes, kinds, ordinary, healthver; may be repeated.")] = None,
    most: Annotated[int, typer.Option("-n", min=1, help="At most so many papers or claims of each set.")] = 10_000,
    json: JsonOption = None,
    markdown: MarkdownOption = None,
) -> None:
    """Measure the reader by itself on dev splits, each paper given: what trainings are compared by."""
    with report_errors():
        from counterpoint.eval.claims.given import SETS, measure_reader
        from counterpoint.nli.reader.judge import DocumentReader
        from counterpoint.retrieval.core.errors import BadInput

        sets = only or list(SETS)
        if unknown := [name for name in sets if name not in SETS]:
            raise BadInput(f"--only names {unknown[0]!r}; expected some of {', '.join(SETS)}.")
        check_outputs(json, markdown)
        publish(measure_reader(DocumentReader(model), data, sets, most), json, markdown)


def biogen(
    run: Annotated[Path, argument("RUN", "A Task A run, yours or anyone's.")],
    judgments: Annotated[
        Path, option("--judgments", "The labels of PMIDs: qa_id, sentence, pmid and label, as JSON lines.", "FILE")
    ],
    json: JsonOption = None,
    markdown: MarkdownOption = None,
) -> None:
    """Measure a Task A run by the track's measures: precision, recall and F1 of its PMIDs on either side."""
    with report_errors():
        from counterpoint.eval.claims.biogen import evaluate, read_judgments, read_run

        check_outputs(json, markdown, [run, judgments])
        cited = read_run(run)
        made_with = {"run": run.name, "judgments": judgments.name}
        publish(evaluate(cited, read_judgments(judgments, cited), made_with), json, markdown)

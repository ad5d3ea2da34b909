"""The command line. Heavy things are imported inside the command that needs them, so that --help answers at once."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from retrieval.core.errors import CounterpointError
from service.configuration import defaults

if TYPE_CHECKING:
    from indexes.build import Report
    from retrieval.dense.encoder import Encoder
    from retrieval.store.documents import Store
    from service.trec.shards import Shard

app = typer.Typer(
    rich_markup_mode=None,
    name="counterpoint",
    help="For any biomedical claim: the papers that contradict it and the papers that support it, sentence by sentence.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
index_app = typer.Typer(help="Build an index of documents, update it, look into it.", no_args_is_help=True)
run_app = typer.Typer(help="Make TREC run files.", no_args_is_help=True)
check_app = typer.Typer(help="Check TREC run files before they are sent in.", no_args_is_help=True)
app.add_typer(index_app, name="index")
app.add_typer(run_app, name="run")
app.add_typer(check_app, name="check-run")

IndexOption = Annotated[Path, typer.Option("--index", help="The folder of a built index.", show_default=False)]
ConfigOption = Annotated[str, typer.Option("--config", help="A grounding variant by name, or a YAML file.")]
AnswersOption = Annotated[
    str | None, typer.Option("--answers", help="An answer variant by name, or a YAML file.", show_default=defaults.ANSWERS)
]
UnderAnswersOption = Annotated[
    str | None,
    typer.Option("--config", help="A grounding variant in place of the one that the answer variant names.", show_default=False),
]
ProfileOption = Annotated[str, typer.Option("--profile", help="A set of models by name, or a YAML file.")]
SourcesArgument = Annotated[
    list[Path], typer.Argument(metavar="SOURCE...", help="Files, or folders of files; gzipped or not.", show_default=False)
]
FormatOption = Annotated[
    str, typer.Option("--format", help="pyserini, counterpoint, scifact or pubmed; auto looks at the first record.")
]
SkipBadOption = Annotated[
    int, typer.Option("--skip-bad", min=0, metavar="N", help="Let up to N bad records pass, counted and listed.")
]
DenseOption = Annotated[bool, typer.Option("--dense", help="Make the vectors of dense search too.")]
ShardOption = Annotated[
    str | None, typer.Option("--shard", metavar="I/N", help="Only the I-th of N parts of the run; `run merge` joins them.")
]
EncoderOption = Annotated[str, typer.Option("--encoder", help="The encoder, by its name in the profile.")]


def _tell_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"counterpoint {version('counterpoint')}")
        raise typer.Exit


@app.callback()
def _group(
    version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_tell_version, help="Tell the version.")] = False,
) -> None:
    """Hold what can be asked before any command is named."""


@contextmanager
def told() -> Iterator[None]:
    """Turn every error that the user can do something about into one sentence and exit code 2."""
    try:
        yield
    except CounterpointError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo("Stopped.", err=True)
        raise typer.Exit(130) from None


def say(line: str) -> None:
    """A line about the work, apart from its result: on standard error."""
    typer.echo(line, err=True)


def answer_variant(answers: str | None, config: str | None) -> tuple[str, str | None]:
    """The names of the answer variant and of the grounding variant under it; None stands for the one that the former names.

    --config named the answer variant once. Where it still does, that is followed, and a line says what to write instead.
    """
    from retrieval.core.errors import BadConfig
    from service.configuration.answers import is_answer_variant

    if config is None or not is_answer_variant(config):
        return answers or defaults.ANSWERS, config
    if answers is not None:
        raise BadConfig(f"--config names a grounding variant, and {config} is an answer variant, beside --answers {answers}.")
    say(f"--config names a grounding variant; write --answers {config} for the answer variant.")
    return config, None


def typed() -> str:
    """The command as it was typed, for reports to name."""
    return shlex.join(["counterpoint", *sys.argv[1:]])


@index_app.command("build")
def index_build(
    sources: SourcesArgument,
    out: Annotated[Path, typer.Option("--out", help="The folder to make.", show_default=False)],
    format: FormatOption = "auto",
    skip_bad: SkipBadOption = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an index that is there already.")] = False,
    dense: DenseOption = False,
    profile: ProfileOption = defaults.PROFILE,
    encoder: EncoderOption = "dense",
) -> None:
    """Build one BM25 index of every document in SOURCE, with its sentences and negation cues beside it."""
    import time

    from indexes.build import build

    with told():
        # A model that is missing is told before the hours, not after them.
        loaded = _encoder(profile, encoder) if dense else None
        say(f"Building an index at {out}.")
        started = time.monotonic()
        report = build(sources, out, format, skip_bad, overwrite, alone=True)
        counts, seconds = report.manifest.counts, time.monotonic() - started
        _list_bad(report)
        say(
            f"Built {out}: {counts.documents:,} documents, {counts.sentences:,} sentences, {counts.cues:,} negation cues, "
            f"in {seconds:.1f} s ({counts.documents / seconds:,.0f} documents a second)."
        )
        if loaded:
            _add_vectors(out, loaded)


@index_app.command("update")
def index_update(
    index: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a built index.", show_default=False)],
    sources: SourcesArgument,
    format: FormatOption = "auto",
    skip_bad: SkipBadOption = 0,
    dense: DenseOption = False,
    profile: ProfileOption = defaults.PROFILE,
    encoder: EncoderOption = "dense",
) -> None:
    """Replace documents by PMID, apply deletions, mark retractions; queries see the old index until all is done."""
    from indexes.build import update

    with told():
        loaded = _encoder(profile, encoder) if dense else None
        say(f"Updating the index at {index}.")
        report = update(index, sources, format, skip_bad, alone=True)
        _list_bad(report)
        say(
            f"Updated {index} to version {report.manifest.version}: {report.touched:,} documents written or deleted, "
            f"{report.manifest.counts.documents:,} in it now, {report.manifest.counts.retracted:,} marked as retracted."
        )
        if loaded:
            _add_vectors(index, loaded)
        elif report.manifest.dense and not report.manifest.vectors_fit:
            say(f"Its vectors are of the version before: `counterpoint index dense {index}` encodes what changed.")


@index_app.command("dense")
def index_dense(
    index: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a built index.", show_default=False)],
    profile: ProfileOption = defaults.PROFILE,
    encoder: EncoderOption = "dense",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the vectors that are there.")] = False,
) -> None:
    """Make the vectors of dense search for an index, or bring them up to date: only what has none is encoded."""
    with told():
        from retrieval.store.manifest import read_manifest

        read_manifest(index)
        _add_vectors(index, _encoder(profile, encoder), overwrite)


@index_app.command("info")
def index_info(
    index: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a built index.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="The manifest as it is.")] = False,
) -> None:
    """Print what is in an index, where it came from and how it was made."""
    import json
    from dataclasses import asdict

    from retrieval.store.manifest import read_manifest
    from service.output.terminal import manifest_lines

    with told():
        manifest = read_manifest(index)
        typer.echo(json.dumps(asdict(manifest), indent=2) if as_json else "\n".join(manifest_lines(index, manifest)))


def _encoder(profile: str, name: str) -> Encoder:
    from service.configuration.config import load_profile
    from service.configuration.models import load_encoder

    return load_encoder(name, load_profile(profile))


def _add_vectors(index: Path, encoder: Encoder, overwrite: bool = False) -> None:
    import time

    from indexes.vectors import add_vectors

    say(f"Making vectors for {index} with {encoder.name}.")
    started = time.monotonic()
    report = add_vectors(index, encoder, overwrite)
    seconds = time.monotonic() - started
    say(
        f"{index} has the vectors of {report.part.documents:,} documents: {report.encoded:,} encoded in {seconds:.1f} s "
        f"({report.encoded / seconds:,.1f} a second)."
    )


def _list_bad(report: Report) -> None:
    if report.bad:
        say(f"{len(report.bad)} bad records were left out:")
        for fault in report.bad:
            say(f"  {fault}")


@app.command()
def ground(
    claim: Annotated[str, typer.Argument(metavar="CLAIM", help="One sentence that can be true or false.")],
    index: IndexOption,
    question: Annotated[str, typer.Option("--question", help="The question that the claim answers.")] = "",
    known: Annotated[str, typer.Option("--known", metavar="PMID,...", help="Documents known to support it.")] = "",
    config: ConfigOption = defaults.CONFIG,
    profile: ProfileOption = defaults.PROFILE,
    as_json: Annotated[bool, typer.Option("--json", help="The same JSON as POST /ground.")] = False,
) -> None:
    """Find the documents that contradict CLAIM and those that support it, each with its sentence."""
    from service.grounding.claims import checked_claim

    with told():
        checked = checked_claim(claim, question, known.split(","))
        from service.assembly import assemble
        from service.grounding.schemas import GroundResponse, Provenance
        from service.output.terminal import print_grounding

        grounder = assemble(index, config, profile)
        response = GroundResponse.of(grounder.ground(checked), Provenance.of(grounder))
        if as_json:
            typer.echo(response.model_dump_json(indent=2))
        else:
            print_grounding(response)


@app.command()
def answer(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What is to be answered.")],
    index: IndexOption,
    narrative: Annotated[str, typer.Option("--narrative", help="Who asks, and what for.")] = "",
    topic: Annotated[str, typer.Option("--topic", help="The subject in a few words.")] = "",
    answers: AnswersOption = None,
    config: UnderAnswersOption = None,
    profile: ProfileOption = defaults.PROFILE,
    format: Annotated[
        Literal["text", "json", "markdown", "ris", "bibtex"],
        typer.Option("--format", help="For reading, for programs, or the cited documents for a reference manager."),
    ] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="The same JSON as POST /answer; short for --format json.")] = False,
) -> None:
    """Answer QUESTION in at most 250 words, each sentence with citations that were checked, and tell what contradicts it."""
    with told():
        from service.grounding.claims import checked_topic

        asked = checked_topic(question, topic, narrative)
        from service.answering.schemas import AnswerResponse
        from service.assembly import assemble_answerer
        from service.output.export import exported
        from service.output.terminal_answer import print_answer, progress

        variant, grounding = answer_variant(answers, config)
        answerer = assemble_answerer(index, variant, profile, grounding)
        chosen = "json" if as_json else format
        found = answerer.answer(asked, progress(say) if chosen == "text" else None)
        if chosen == "json":
            typer.echo(AnswerResponse.of(found, answerer).model_dump_json(indent=2))
        elif chosen == "text":
            print_answer(AnswerResponse.of(found, answerer))
        else:
            typer.echo(exported(found, chosen), nl=False)


@app.command()
def serve(
    index: Annotated[Path | None, typer.Option("--index", help="The folder of a built index.")] = None,
    port: Annotated[int | None, typer.Option("--port", min=1, max=65535, help="The port to listen on (8000).")] = None,
    host: Annotated[str | None, typer.Option("--host", help="The address to listen on (127.0.0.1).")] = None,
    config: Annotated[str | None, typer.Option("--config", help="A grounding variant by name, or a YAML file.")] = None,
    answers: Annotated[str | None, typer.Option("--answers", help="An answer variant by name, or a YAML file.")] = None,
    profile: Annotated[str | None, typer.Option("--profile", help="A set of models by name, or a YAML file.")] = None,
    workers: Annotated[int | None, typer.Option("--workers", min=1, max=64, help="Processes to serve with (1).")] = None,
) -> None:
    """Answer over HTTP: a page at /, the API at /v1; `counterpoint config` shows what else can be set."""
    given = {
        "index": index, "port": port, "host": host, "config": config, "answers": answers, "profile": profile, "workers": workers,
    }  # fmt: skip
    with told():
        from service.operating.settings import load_settings
        from service.serve.server import checked, run

        settings = load_settings(**given)
        checked(settings)
        with suppress(OSError):  # a log on a full disk is no reason not to serve
            say(f"Counterpoint listens on http://{settings.host}:{settings.port} (stop it with Ctrl-C).")
        run(settings, given)


@app.command()
def config() -> None:
    """Show every setting of the service, its value (of keys only the names) and where it comes from."""
    with told():
        from service.operating.settings import PREFIX, Settings, load_settings, origins, shown

        values, named = shown(load_settings()), origins({})
        for name, field in Settings.model_fields.items():
            typer.echo(f"{name:<17} {values[name] or '-':<16} {named[name]:<12} {PREFIX}{name.upper()}: {field.description}")


@app.command()
def mcp(
    index: IndexOption,
    config: ConfigOption = defaults.CONFIG,
    answers: Annotated[str, typer.Option("--answers", help="An answer variant by name, or a YAML file.")] = defaults.ANSWERS,
    profile: ProfileOption = defaults.PROFILE,
) -> None:
    """Be a tool for language models: an MCP server on standard input and output, with the tools ground and answer."""
    with told():
        from service.assembly import answerer_beside, assemble
        from service.mcp_server import make_server

        grounder = assemble(index, config, profile)
        make_server(grounder, lambda: answerer_beside(grounder, answers)).run()


@run_app.command("task-a")
def run_task_a(
    input: Annotated[Path, typer.Argument(metavar="INPUT", help="The track's Task A input file.", show_default=False)],
    index: IndexOption,
    out: Annotated[Path, typer.Option("--out", metavar="RUN.jsonl", help="The run file to write.", show_default=False)],
    team: Annotated[str, typer.Option("--team", help="Your team's id.", show_default=False)],
    run_id: Annotated[str, typer.Option("--run-id", help="This run's id.", show_default=False)],
    config: ConfigOption = defaults.CONFIG,
    profile: ProfileOption = defaults.PROFILE,
    shard: ShardOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a finished run of that name.")] = False,
) -> None:
    """Ground every answer sentence of INPUT (TREC BioGen 2025 Task A); a killed run goes on where it stopped."""
    with told():
        from service.trec.journal import check_target
        from service.trec.task_a.items import read_items
        from service.trec.task_a.run import run

        part = _shard(shard)
        items = read_items(input)
        check_target(out, overwrite)
        from service.assembly import assemble

        grounder = assemble(index, config, profile)
        sentences = sum(len(item.answer) for item in items)
        of = f"shard {shard} of {sentences:,}" if part else f"{sentences:,}"
        say(f"Grounding {of} sentences of {len(items):,} items with {config} over {index}.")
        report = run(items, input, grounder, out, team, run_id, part)
        say(
            f"Wrote {out}: {report.sentences:,} sentences, {report.with_support:,} with support, "
            f"{report.with_contradiction:,} with a contradiction ({report.resumed} items were there from an earlier try)."
        )


@run_app.command("task-b")
def run_task_b(
    topics: Annotated[Path, typer.Argument(metavar="TOPICS", help="The track's Task B topics.", show_default=False)],
    index: IndexOption,
    out: Annotated[Path, typer.Option("--out", metavar="RUN.jsonl", help="The run file to write.", show_default=False)],
    team: Annotated[str, typer.Option("--team", help="Your team's id.", show_default=False)],
    run_id: Annotated[str, typer.Option("--run-id", help="This run's id.", show_default=False)],
    answers: AnswersOption = None,
    config: UnderAnswersOption = None,
    profile: ProfileOption = defaults.PROFILE,
    shard: ShardOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a finished run of that name.")] = False,
) -> None:
    """Answer every topic of TOPICS (TREC BioGen Task B); a killed run goes on where it stopped."""
    with told():
        from service.trec.journal import check_target
        from service.trec.task_b.run import answers_path, run
        from service.trec.task_b.topics import read_topics

        part = _shard(shard)
        read = read_topics(topics)
        check_target(out, overwrite)
        from service.assembly import assemble_answerer

        variant, grounding = answer_variant(answers, config)
        answerer = assemble_answerer(index, variant, profile, grounding)
        say(f"Answering {f'shard {shard} of ' if part else ''}{len(read):,} topics with {variant} over {index}.")
        report = run(read, topics, answerer, out, team, run_id, part)
        say(
            f"Wrote {out}: {report.topics:,} topics, {report.sentences:,} sentences; for {report.too_little:,} topics the index "
            f"holds too little. {report.removed:,} sentences were removed, {report.conflicts:,} conflicts found"
            + (f", {report.tokens:,} tokens used" if report.tokens else "")
            + (f" for {report.cost:,.2f} dollars" if report.cost else "")
            + f" ({report.resumed} topics were there from an earlier try). The evidence is in {answers_path(out)}."
        )


@run_app.command("merge")
def run_merge(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The run file to write.", show_default=False)],
    shards: Annotated[list[Path], typer.Argument(metavar="SHARD...", help="The run file of every shard.", show_default=False)],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a finished run of that name.")] = False,
) -> None:
    """Join the shards of one run, with the same bytes as if it had been made at once."""
    with told():
        from service.trec.journal import check_target
        from service.trec.shards import merge

        check_target(out, overwrite)
        say(f"Wrote {out}: {merge(shards, out):,} items of {len(shards):,} shards.")


def _shard(text: str | None) -> Shard | None:
    from service.trec.shards import parse_shard

    return parse_shard(text) if text is not None else None


@check_app.command("task-a")
def check_task_a(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run file to check.", show_default=False)],
    input: Annotated[Path, typer.Option("--input", help="The track's Task A input file.", show_default=False)],
    index: IndexOption,
) -> None:
    """Check a Task A run against its input and the index; every fault is named by item and sentence (exit code 1)."""
    with told():
        from service.trec.task_a.check import check
        from service.trec.task_a.items import read_items

        items = read_items(input)
        _list_faults(check(run, items, _store(index)), run)
        say(f"{run} is a valid Task A run: {len(items)} items, {sum(len(item.answer) for item in items)} sentences.")


@check_app.command("task-b")
def check_task_b(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run file to check.", show_default=False)],
    topics: Annotated[Path, typer.Option("--topics", help="The track's Task B topics.", show_default=False)],
    index: IndexOption,
) -> None:
    """Check a Task B run against its topics and the index; every fault is named by topic and sentence (exit code 1)."""
    with told():
        from service.trec.task_b.check import check
        from service.trec.task_b.topics import read_topics

        read = read_topics(topics)
        _list_faults(check(run, read, _store(index)), run)
        say(f"{run} is a valid Task B run: {len(read)} topics.")


def _store(index: Path) -> Store:
    """The documents of an index, without Java: a check looks none of them up by its words."""
    from retrieval.store.documents import Store
    from retrieval.store.manifest import STORE, read_manifest

    return Store(index / read_manifest(index).data / STORE)


def _list_faults(faults: list[str], run: Path) -> None:
    """Print the faults of a run and leave with exit code 1, where there are any."""
    for fault in faults:
        typer.echo(fault)
    if faults:
        say(f"{len(faults)} faults in {run}.")
        raise typer.Exit(1)

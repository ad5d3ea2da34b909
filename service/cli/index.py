"""`counterpoint index`; heavy things are imported when a command runs, so that --help answers at once."""

from __future__ import annotations

import json
import sys
import time
from contextlib import ExitStack, closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from counterpoint.retrieval.cluster.client import is_address, read_address, show_place
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadInput, CounterpointError, translate_write_errors
from counterpoint.service.cli.shared import AnalyzerOption, ProfileOption, print_note, read_library, read_place
from counterpoint.service.configuration import defaults
from counterpoint.service.schemas import Provenance

if TYPE_CHECKING:
    from counterpoint.indexes.sources import SourcesRead, TextsRead
    from counterpoint.retrieval.dense.encoder import Encoder

index_app = typer.Typer(help="Build, update and inspect an index of documents.", no_args_is_help=True)

IndexArgument = Annotated[
    Path,
    typer.Argument(
        metavar="INDEX",
        help="The folder of an index, the name of a library, or an address on a cluster.",
        show_default=False,
        callback=read_library,
    ),
]
OutOption = Annotated[
    Path, typer.Option("--out", help="The folder to create, or an address.", show_default=False, callback=read_place)
]
SourcesArgument = Annotated[
    list[Path], typer.Argument(metavar="SOURCE...", help="Files or folders of files, gzipped or not.", show_default=False)
]
FormatOption = Annotated[
    str,
    typer.Option(
        "--format", help="pyserini, counterpoint, scifact, pubmed, europepmc, nbib, ris, csl, bibtex or csv; auto detects it."
    ),
]
ColumnOption = Annotated[
    list[str],
    typer.Option(
        "--column",
        metavar="PART=NAME",
        show_default=False,
        help="A column of a CSV file, such as abstract=Zusammenfassung; repeatable.",
    ),
]


def _read_skipped(given: str) -> int:
    if str(given) != "all" and not str(given).isdecimal():
        raise typer.BadParameter("expected a number from 0 on, or all")
    return sys.maxsize if str(given) == "all" else int(given)


SkipBadOption = Annotated[
    int,
    typer.Option(
        "--skip-bad",
        parser=_read_skipped,
        metavar="N|all",
        help="Skip up to N bad records; with all, whatever cannot be read, whole files too. They are counted and listed.",
    ),
]
FullTextOption = Annotated[
    list[Path],
    typer.Option(
        "--full-text",
        metavar="PATH",
        show_default=False,
        help="Full texts, as JATS XML or PDF: a file, a folder or an archive; repeatable. Each joins the record of its paper.",
    ),
]
Dense = Literal["auto", "full", "short"] | None
DenseOption = Annotated[
    Dense,
    typer.Option(
        "--dense",
        metavar="[full|short]",
        show_default=False,
        help="Also encode the vectors, with which claims find more papers: of whole abstracts, or of title and the last two "
        "sentences, the usual choice from 100,000 documents on.",
    ),
]
FactoryOption = Annotated[
    str | None,
    typer.Option(
        "--factory", metavar="STRING", show_default=False, help="How FAISS keeps vectors; chosen by size, if not given."
    ),
]
EncoderOption = Annotated[str, typer.Option("--encoder", help="The encoder's name in the profile.")]
DescriptionOption = Annotated[
    str,
    typer.Option(
        "--description", metavar="TEXT", show_default=False, help="What the documents are, in words to follow their number."
    ),
]
ExamplesOption = Annotated[
    bool, typer.Option("--examples/--no-examples", help="Also find the examples that the web page shows first.")
]


@index_app.command("build")
def index_build(
    out: OutOption,
    sources: SourcesArgument = [],  # noqa: B006
    format: FormatOption = "auto",
    skip_bad: SkipBadOption = 0,
    column: ColumnOption = [],  # noqa: B006  # Typer needs a list and gives each call its own
    full_text: FullTextOption = [],  # noqa: B006
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing index.")] = False,
    dense: DenseOption = None,
    factory: FactoryOption = None,
    profile: ProfileOption = defaults.PROFILE,
    encoder: EncoderOption = "dense",
    description: DescriptionOption = "",
    analyzer: AnalyzerOption = "biomedical",
    examples: ExamplesOption = True,
) -> None:
    """Build one BM25 index of every document in SOURCE, with its sentences and negation cues."""
    from counterpoint.indexes.cluster.places import build_at
    from counterpoint.retrieval.dense.codes import check_factory

    # Report a missing model before hours of work, not after them.
    model = _load_encoder(profile, encoder) if dense else None
    if factory and model is None:
        raise BadInput("--factory says how vectors are kept; add --dense to encode them.")
    if factory and model:
        check_factory(model.queries(["width"]).shape[1], factory)
    print_note(f"Building an index at {show_place(out)}.")
    start = time.monotonic()
    _check_sources(sources, full_text)
    columns = _parse_columns(column)
    report = build_at(sources, out, format, skip_bad, overwrite, columns, description.strip(), analyzer, full_text)
    counts, seconds = report.manifest.counts, time.monotonic() - start
    _list_left_out(report.read)
    added = report.read.changes.touched
    resumed = f"; {format_count(added, 'document')} since it was resumed" if added < counts.documents else ""
    print_note(
        f"Built {show_place(out)}: {format_count(counts.documents, 'document')}, "
        f"{format_count(counts.sentences, 'sentence')}, "
        f"{format_count(counts.cues, 'negation cue')}{resumed}, in {seconds:.1f} s ({added / seconds:,.0f} "
        "documents a second)."
    )
    _complete(out, model, dense, profile if examples else None, factory=factory)


@index_app.command("update")
def index_update(
    index: IndexArgument,
    sources: SourcesArgument = [],  # noqa: B006
    format: FormatOption = "auto",
    skip_bad: SkipBadOption = 0,
    column: ColumnOption = [],  # noqa: B006
    full_text: FullTextOption = [],  # noqa: B006
    joins: Annotated[
        str, typer.Option("--joins", metavar="PMID", help="The document that the one full text joins, whatever it says.")
    ] = "",
    confirmed: Annotated[
        bool, typer.Option("--confirmed", help="Join it also if it seems to be another paper, or replaces a text.")
    ] = False,
    dense: DenseOption = None,
    profile: ProfileOption = defaults.PROFILE,
    encoder: EncoderOption = "dense",
    examples: ExamplesOption = True,
) -> None:
    """Replace documents by PMID, apply deletions, mark retractions; queries use the old index until the update is complete."""
    from counterpoint.indexes.cluster.places import update_at
    from counterpoint.indexes.full_texts import join_to

    with ExitStack() as stack:
        model = _load_encoder(profile, encoder) if dense else None
        print_note(f"Updating the index at {show_place(index)}.")
        _check_sources(sources, full_text)
        if joins:
            _check_joined(index, joins, [*sources, *full_text], confirmed)
            full_text = [stack.enter_context(join_to(full_text[0], joins))]
        report = update_at(index, sources, format, skip_bad, _parse_columns(column), full_text)
        _list_left_out(report.read)
        print_note(
            f"Updated {show_place(index)} to version {report.manifest.version}: "
            f"{format_count(report.read.changes.touched, 'document')} written or deleted, "
            f"{format_count(report.manifest.counts.documents, 'document')} in the index now, "
            f"{report.manifest.counts.retracted:,} "
            "marked as retracted."
        )
        if not model and report.manifest.dense and not report.manifest.vectors_fit:
            print_note(f"Its vectors are for the previous version: `counterpoint index dense {index}` encodes what changed.")
        _complete(index, model, dense, profile if examples else None, is_new=False)


@index_app.command("fetch")
def index_fetch(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A search as you would type it at PubMed.", show_default=False)],
    out: OutOption,
    source: Annotated[Literal["pubmed", "europepmc"], typer.Option("--source", help="Where to search.")] = "pubmed",
    most: Annotated[int, typer.Option("--max", min=1, metavar="N", help="Fetch at most N papers.")] = 10_000,
    full_text: Annotated[
        bool, typer.Option("--full-text", help="Also fetch the full texts that PubMed Central or Europe PMC gives away.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing index.")] = False,
    dense: DenseOption = None,
    profile: ProfileOption = defaults.PROFILE,
    encoder: EncoderOption = "dense",
    examples: ExamplesOption = True,
) -> None:
    """Fetch what a search of PubMed or Europe PMC finds, and build an index of it; a fetch that was stopped resumes."""
    from counterpoint.indexes.cluster.places import build_at, check_target
    from counterpoint.indexes.fetch.fetching import TEXTS, fetch_papers, mark_built, name_papers_folder
    from counterpoint.service.operating.searching import connect

    # Report an unusable --out before hours of work, not after them.
    check_target(out, overwrite)
    model = _load_encoder(profile, encoder) if dense else None
    papers = name_papers_folder(out)
    remote = connect(source)
    try:
        search = fetch_papers(remote, query, papers, most, print_note, full_text)
    finally:
        remote.close()
    print_note(
        f"{format_count(search.fetched, 'paper')} {'is' if search.fetched == 1 else 'are'} in {papers}. "
        f"Building an index at {show_place(out)}."
    )
    kind = "PubMed" if source == "pubmed" else "Europe PMC"
    what = f"papers that {kind} finds for “{query.strip()}”"
    # A record that cannot be read would come again however often it is fetched: it is left out and named.
    parts, texts = sorted(papers.glob("part-*.gz")), papers / TEXTS
    texts_had = [texts] if full_text and any(texts.glob("*.gz")) else []
    report = build_at(parts, out, skip_bad=search.fetched, overwrite=overwrite, description=what, full_texts=texts_had)
    mark_built(papers, search)
    _list_left_out(report.read)
    print_note(f"Built {show_place(out)}: {format_count(report.manifest.counts.documents, 'document')}.")
    _complete(out, model, dense, profile if examples else None)


@index_app.command("zotero")
def index_zotero(
    collection: Annotated[
        str, typer.Argument(metavar="[COLLECTION]", help="Its key, its names as in Vitamins/Zinc, or all; without it, a list.")
    ] = "",
    out: Annotated[
        Path | None, typer.Option("--out", help="The index to build, or to bring up to date.", show_default=False)
    ] = None,
    web: Annotated[bool, typer.Option("--web", help="Ask zotero.org, not the Zotero on this machine.")] = False,
    library: Annotated[str, typer.Option("--library", metavar="users/ID|groups/ID", help="Whose library.")] = "users/0",
    key_from: Annotated[
        str,
        typer.Option("--key-from", metavar="NAME", help="With --web: the environment variable or the file that holds the key."),
    ] = "",
    pdfs: Annotated[bool, typer.Option("--pdf/--no-pdf", help="Also take the attached PDFs, as full texts.")] = True,
    papers: Annotated[
        Path | None, typer.Option("--papers", help="Where to keep what came; beside the index, if not given.", show_default=False)
    ] = None,
    dense: DenseOption = None,
    profile: ProfileOption = defaults.PROFILE,
    encoder: EncoderOption = "dense",
    examples: ExamplesOption = True,
) -> None:
    """List the collections of Zotero, or build an index of one; called again, it takes what is new, changed or deleted."""
    from counterpoint.indexes.cluster.places import build_at, check_target, update_at
    from counterpoint.indexes.fetch.fetching import name_papers_folder
    from counterpoint.indexes.fetch.zotero import ZoteroSource, find_collection, list_collections
    from counterpoint.indexes.fetch.zotero_link import Link, list_sources, mark_built, read_link, sync
    from counterpoint.retrieval.store.manifest import NAME as MANIFEST
    from counterpoint.service.operating.settings import load_settings

    settings = load_settings()
    address = settings.zotero_url if web else settings.zotero_local_url
    source = ZoteroSource("web" if web else "local", library, key_from, address)
    if not collection or out is None:
        for one in list_collections(source):
            typer.echo(f"{one.key}  {'  ' * (len(one.path) - 1)}{one.path[-1]} ({one.items:,})")
        return
    if is_address(out):
        raise BadInput(f"Expected a folder for the index of a collection of Zotero, got the address {show_place(out)}.")
    papers = papers or name_papers_folder(out)
    known, is_update = read_link(papers), (out / MANIFEST).is_file()
    if not is_update:
        check_target(out, overwrite=False)
    model = _load_encoder(profile, encoder) if dense else None
    wanted = None if collection == "all" else find_collection(list_collections(source), collection)
    link = Link(source, wanted.key if wanted else "", "/".join(wanted.path) if wanted else "", pdfs)
    synced = sync(link, papers)
    for line in synced.list_lines():
        print_note(line)
    records, texts = list_sources(papers, whole=not (is_update and known and known.built))
    if not (is_update or synced.records or texts):
        raise BadInput("This collection has no paper, so no index is built of it; choose another collection.")
    if not records:
        print_note(f"{show_place(out)} stays as it is.")
        return
    if is_update:
        report = update_at(out, records, skip_bad=synced.records, full_texts=texts)
    else:
        what = f"papers of {'/'.join(wanted.path) if wanted else 'a library'} in Zotero"
        report = build_at(records, out, skip_bad=synced.records, description=what, full_texts=texts)
    mark_built(papers)
    _list_left_out(report.read)
    print_note(f"{show_place(out)} has {format_count(report.manifest.counts.documents, 'document')} now.")
    _complete(out, model, dense, profile if examples else None, is_new=not (model and is_update))


@index_app.command("dense")
def index_dense(
    index: IndexArgument,
    dense: DenseOption = None,
    factory: FactoryOption = None,
    profile: ProfileOption = defaults.PROFILE,
    encoder: EncoderOption = "dense",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing vectors.")] = False,
) -> None:
    """Encode the vectors for dense retrieval or update them: only texts without a vector are encoded."""
    from counterpoint.retrieval.store.manifest import read_manifest

    if not is_address(index):
        read_manifest(index)
    _add_vectors_to(index, _load_encoder(profile, encoder), dense, overwrite, factory)
    _make_examples(index, profile)


@index_app.command("info")
def index_info(
    index: IndexArgument, as_json: Annotated[bool, typer.Option("--json", help="Print the manifest as JSON.")] = False
) -> None:
    """Print the contents, the sources and the build settings of an index."""
    from counterpoint.retrieval.index import read_index_manifest
    from counterpoint.service.output.terminal import manifest_lines

    manifest = read_index_manifest(index)
    typer.echo(json.dumps(manifest.to_json(), indent=2) if as_json else "\n".join(manifest_lines(index, manifest)))


@index_app.command("follow")
def index_follow(
    index: IndexArgument,
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="A folder of PubMed's update files.", show_default=False)],
    every: Annotated[str, typer.Option("--every", metavar="TIME", help="How often to look: 30s, 10m, 1h or 1d.")] = "1h",
    once: Annotated[bool, typer.Option("--once", help="Apply what is there and stop.")] = False,
    skip_bad: SkipBadOption = 0,
    dense: DenseOption = None,
    profile: ProfileOption = defaults.PROFILE,
    encoder: EncoderOption = "dense",
) -> None:
    """Apply new update files in their order, once each, after a check of their .md5; resumes where it was stopped."""
    from counterpoint.indexes.cluster.places import follow, read_interval
    from counterpoint.retrieval.index import read_index_manifest
    from counterpoint.service.examples.schemas import has_examples

    seconds = read_interval(every)
    model = _load_encoder(profile, encoder) if dense else None

    def bring_up_to_date() -> None:
        if model and not read_index_manifest(index).vectors_fit:
            _add_vectors_to(index, model, dense)
        if not is_address(index) and not has_examples(index, read_index_manifest(index).version):
            _make_examples(index, profile)

    if not follow(index, source, seconds, print_note, skip_bad, once, bring_up_to_date):
        print_note(f"Nothing in {source} is new.")


@index_app.command("copy")
def index_copy(
    source: IndexArgument,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A new folder or address.", show_default=False, callback=read_place)],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing index on the cluster.")] = False,
) -> None:
    """Copy an index from a folder to a cluster, or back; no text is read anew, and vectors stay behind."""
    from counterpoint.indexes.cluster.places import copy_to_cluster, copy_to_folder
    from counterpoint.retrieval.index import read_index_manifest

    if is_address(source) == is_address(out):
        raise BadInput("One of the two places should be a folder and the other an opensearch:// address.")
    part = read_index_manifest(source).dense
    if is_address(out):
        manifest = copy_to_cluster(source, read_address(out), overwrite)
    else:
        manifest = copy_to_folder(read_address(source), out)
    print_note(
        f"Copied {format_count(manifest.counts.documents, 'document')} to {show_place(out)}; texts {manifest.corpus_sha256[:12]}."
    )
    if part:
        command = f"counterpoint index dense {show_place(out)} --dense {part.view}"
        print_note(f"Its vectors stay behind, because a cluster keeps them in another form: `{command}` makes them anew.")


@index_app.command("pack")
def index_pack(
    index: IndexArgument,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write.", show_default=False)],
) -> None:
    """Write an index with its name, texts and vectors into one file, to keep or to move; keys and history stay behind."""
    from counterpoint.indexes.packing import write_pack
    from counterpoint.retrieval.store.manifest import write_atomically

    if is_address(index):
        raise BadInput("An index on a cluster is not packed; copy it to a folder with `counterpoint index copy`.")
    if out.exists():
        raise BadInput(f"{out} exists already; name a new file.")
    size, pieces = write_pack(index)
    with translate_write_errors("the pack", out.parent):
        write_atomically(out, lambda file: file.writelines(pieces))
    print_note(f"Packed {show_place(index)} into {out}: {size:,} bytes.")


@index_app.command("unpack")
def index_unpack(
    pack: Annotated[Path, typer.Argument(metavar="FILE", help="What `index pack` wrote.", exists=True, dir_okay=False)],
    out: Annotated[Path, typer.Option("--out", help="The folder to create.", show_default=False)],
    profile: ProfileOption = defaults.PROFILE,
    examples: ExamplesOption = True,
) -> None:
    """Restore an index from a pack, after a check of every file; it keeps its id, unless a library beside it has that."""
    from counterpoint.indexes.packing import read_pack, unpack
    from counterpoint.service.operating.libraries import Libraries

    id = read_pack(pack).library.id
    is_taken = any(one.id == id for one in Libraries(folder=out.resolve().parent).list_all())
    manifest = unpack(pack, out, new_id=is_taken).manifest
    print_note(f"Unpacked {pack} to {out}: {format_count(manifest.counts.documents, 'document')}.")
    if is_taken:
        print_note("It has a new id: a library beside it has the one in the pack.")
    if examples:
        _make_examples(out, profile)


@index_app.command("merge")
def index_merge(
    index: IndexArgument,
    analyzer: Annotated[
        Literal["biomedical", "anserini"] | None,
        typer.Option("--analyzer", show_default=False, help="Also index the stored texts anew, with this analyzer."),
    ] = None,
) -> None:
    """Merge an index, so that replaced and deleted documents no longer count in its word statistics."""
    from counterpoint.indexes.cluster.places import merge_at

    merge_at(index, analyzer)
    print_note(f"Merged {show_place(index)}.")
    _make_examples(index, defaults.PROFILE)


def _complete(
    place: Path, encoder: Encoder | None, dense: Dense, profile: str | None, is_new: bool = True, factory: str | None = None
) -> None:
    """Add the vectors to an index, or say of a new one how to; with a profile, also find its examples."""
    if encoder:
        _add_vectors_to(place, encoder, dense, factory=factory)
    elif is_new and not is_address(place):
        print_note(f"Claims find more papers with vectors: `counterpoint index dense {place}` encodes them.")
    if profile:
        _make_examples(place, profile)


def _load_encoder(profile: str, name: str) -> Encoder:
    """The encoder of this name in the profile."""
    from counterpoint.service.configuration.config import load_profile
    from counterpoint.service.configuration.models import load_encoder

    return load_encoder(name, load_profile(profile))


def _add_vectors_to(index: Path, encoder: Encoder, dense: Dense, overwrite: bool = False, factory: str | None = None) -> None:
    """Encode the documents that have no vector yet, and say how many there were."""
    from counterpoint.indexes.cluster.vectors import add_vectors_on_cluster
    from counterpoint.indexes.vectors import add_vectors

    print_note(f"Encoding the documents of {show_place(index)} with {encoder.name}.")
    start = time.monotonic()
    view = None if dense == "auto" else dense
    if is_address(index):
        report = add_vectors_on_cluster(read_address(index), encoder, overwrite, view)
    else:
        report = add_vectors(index, encoder, overwrite, view, factory)
    seconds = time.monotonic() - start
    print_note(
        f"{show_place(index)} has vectors for {format_count(report.part.documents, 'document')}: {report.encoded:,} encoded "
        f"in {seconds:.1f} s "
        f"({report.encoded / seconds:,.1f} a second)."
    )


def _parse_columns(options: list[str]) -> dict[str, str]:
    columns: dict[str, str] = {}
    for one in options:
        part, sign, name = one.partition("=")
        if not (sign and part.strip() and name.strip()):
            raise BadInput(f"--column {one!r} should look like abstract=NAME, with the name of a column of the CSV file.")
        columns[part.strip()] = name.strip()
    return columns


def _check_sources(sources: list[Path], full_text: list[Path]) -> None:
    if not sources and not full_text:
        raise BadInput("Name what to read: files or folders of records, or full texts with --full-text.")


def _check_joined(index: Path, pmid: str, files: list[Path], confirmed: bool) -> None:
    """Raise `BadInput` unless one full text can join a document, and was confirmed where that is doubtful."""
    from counterpoint.indexes.full_texts import find_doubts
    from counterpoint.retrieval.index import open_documents

    if is_address(index) or len(files) != 1 or not files[0].is_file():
        raise BadInput("--joins needs an index in a folder and one file with --full-text, with nothing else to read.")
    documents, _ = open_documents(index)
    with closing(documents):
        doubts = find_doubts(files[0], documents, pmid)
    if doubts and not confirmed:
        raise BadInput(f"{doubts}; add --confirmed to join it all the same.")


_MOST_NOTES = 20
"""Notes on records that were read, at most: a library may have one for every record."""


def _print_texts(read: TextsRead) -> None:
    """What became of the full texts, and each that could not be read or was left out."""
    placed = read.placed
    joined = ", ".join(f"{count:,} by {how}" for how, count in placed.joined.most_common())
    parts = [
        f"{sum(placed.joined.values()):,} joined to their record ({joined})" if joined else "",
        f"{placed.own:,} made a record of their own, since there was none" if placed.own else "",
        f"{placed.unchanged:,} in the index already" if placed.unchanged else "",
        f"{len(placed.notes):,} of a paper that has another text" if placed.notes else "",
        f"{len(read.bad):,} not readable" if read.bad else "",
    ]
    print_note(f"Full texts: {'; '.join(filter(None, parts)) or 'none'}.")
    for source, says in placed.notes:
        print_note(f"  {source} {says}.")
    for fault in (*read.bad, *read.notes):
        print_note(f"  {fault}")


def _list_left_out(read: SourcesRead) -> None:
    if read.texts:
        _print_texts(read.texts)
    for source in read.sources:
        if source.without_abstract:
            left_out = format_count(source.without_abstract, "record")
            print_note(f"Left out of {source.path}: {left_out} of {source.records:,} without an abstract.")
        if source.repeated:
            left_out = format_count(source.repeated, "record")
            print_note(f"Left out of {source.path}: {left_out} of {source.records:,}, repeating a paper.")
    for fault in read.bad:
        if fault.record == "the file":
            print_note(f"Left out: {fault.expected}.")
    if bad := [fault for fault in read.bad if fault.record != "the file"]:
        print_note(f"Skipped {format_count(len(bad), 'bad record')}:")
        for fault in bad:
            print_note(f"  {fault}")
    for note in read.notes[:_MOST_NOTES]:
        print_note(str(note))
    if len(read.notes) > _MOST_NOTES:
        print_note(f"and {len(read.notes) - _MOST_NOTES:,} more notes on records that were read.")


def _make_examples(place: Path, profile: str) -> None:
    """Find examples in an index and keep them with it; whatever goes wrong is told, and the index is complete without them.

    An index on a cluster has none.
    """

    if is_address(place):
        return
    start = time.monotonic()
    try:
        found = _find_and_keep(place, profile)
    except KeyboardInterrupt:
        print_note("Stopped: the index is complete, without examples for the web page.")
    except CounterpointError as error:
        print_note(f"The index is complete, without examples for the web page: {error}")
    except Exception as error:
        # They are no part of the index: no fault here may look like one of the build.
        print_note(f"The index is complete, without examples for the web page ({type(error).__name__}: {error}).")
    else:
        if found:
            print_note(f"Found {format_count(found, 'example')} for the web page in {time.monotonic() - start:.1f} s.")


def _find_and_keep(place: Path, profile: str) -> int:
    from tqdm import tqdm

    from counterpoint.retrieval.index import open_documents
    from counterpoint.service.assembly import assemble
    from counterpoint.service.examples.finding import GROUNDED, SAMPLED, find_examples, find_statements
    from counterpoint.service.examples.schemas import ExamplesResponse, keep_examples

    documents, manifest = open_documents(place)
    try:
        statements = list(islice(find_statements(documents.sample(SAMPLED)), GROUNDED))
    finally:
        documents.close()
    if not statements:
        keep_examples(place, manifest.version, ExamplesResponse())
        return 0
    print_note("Looking for examples for the web page.")
    grounder = assemble(place, defaults.CONFIG, profile)
    try:
        examples = find_examples(grounder, tqdm(statements, desc="examples", unit=" claims", disable=None, leave=False))
        made_with = Provenance.of(grounder)
        keep_examples(place, manifest.version, ExamplesResponse.of(examples, made_with), made_with)
    finally:
        grounder.index.close()
    return len(examples)

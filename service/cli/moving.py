"""`counterpoint index follow`, `copy` and `merge`; heavy things are imported when they run, so that --help answers at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from retrieval.cluster.address import show_place
from service.cli.index import DenseOption, EncoderOption, IndexArgument, SkipBadOption, add_vectors_to, load_encoder_for
from service.cli.shared.examples import make_examples
from service.cli.shared.messages import print_note, report_errors
from service.cli.shared.options import ProfileOption, read_place
from service.configuration import defaults


def index_follow(
    index: IndexArgument,
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="A folder of PubMed's update files.", show_default=False)],
    every: Annotated[str, typer.Option("--every", metavar="TIME", help="How often to look: 30s, 10m, 1h or 1d.")] = "1h",
    once: Annotated[bool, typer.Option("--once", help="Apply what is there and stop.")] = False,
    skip_bad: SkipBadOption = 0,
    dense: DenseOption = False,
    profile: ProfileOption = defaults.PROFILE,
    encoder: EncoderOption = "dense",
) -> None:
    """Apply new update files in their order, once each, after a check of their .md5; resumes where it was stopped."""
    from indexes.cluster.following import follow, read_interval
    from retrieval.cluster.address import is_address
    from retrieval.index import read_index_manifest
    from service.examples.stored import has_examples

    with report_errors():
        seconds = read_interval(every)
        model = load_encoder_for(index, profile, encoder) if dense else None

        def bring_up_to_date() -> None:
            if model and not read_index_manifest(index).vectors_fit:
                add_vectors_to(index, model)
            if not is_address(index) and not has_examples(index, read_index_manifest(index).version):
                make_examples(index, profile)

        if not follow(index, source, seconds, print_note, skip_bad, once, bring_up_to_date):
            print_note(f"Nothing in {source} is new.")


def index_merge(index: IndexArgument) -> None:
    """Merge an index, so that replaced and deleted documents no longer count in its word statistics."""
    from indexes.cluster.places import merge_at

    with report_errors():
        merge_at(index)
        print_note(f"Merged {show_place(index)}.")
        make_examples(index, defaults.PROFILE)


def index_copy(
    source: IndexArgument,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A new folder or address.", show_default=False, callback=read_place)],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing index on the cluster.")] = False,
) -> None:
    """Copy an index from a folder to a cluster, or back; no text is read anew, and vectors stay behind."""
    from indexes.cluster.places import copy_to_cluster, copy_to_folder
    from retrieval.cluster.address import is_address, read_address
    from retrieval.core.errors import BadInput

    with report_errors():
        if is_address(source) == is_address(out):
            raise BadInput("One of the two places should be a folder and the other an opensearch:// address.")
        if is_address(out):
            manifest = copy_to_cluster(source, read_address(out), overwrite)
        else:
            manifest = copy_to_folder(read_address(source), out)
        print_note(f"Copied {manifest.counts.documents:,} documents to {show_place(out)}; texts {manifest.corpus_sha256[:12]}.")

"""The last step of whatever makes or changes an index: finding the examples that the web page shows first."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from service.cli.shared.messages import print_note

ExamplesOption = Annotated[
    bool, typer.Option("--examples/--no-examples", help="Also find the examples that the web page shows first.")
]


def make_examples(place: Path, profile: str) -> None:
    """Find examples in an index and keep them with it; whatever goes wrong is told, and the index is complete without them.

    An index on a cluster has none.
    """
    import time

    from retrieval.cluster.address import is_address
    from retrieval.core.errors import CounterpointError

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
            print_note(f"Found {found} example{'s' if found > 1 else ''} for the web page in {time.monotonic() - start:.1f} s.")


def _find_and_keep(place: Path, profile: str) -> int:
    from itertools import islice

    from tqdm import tqdm

    from retrieval.index import open_documents
    from service.assembly import assemble
    from service.configuration.defaults import CONFIG
    from service.examples.finding import GROUNDED, SAMPLED, find_examples
    from service.examples.schemas import ExamplesResponse
    from service.examples.statements import find_statements
    from service.examples.stored import keep_examples
    from service.schemas import Provenance

    documents, manifest = open_documents(place)
    try:
        statements = list(islice(find_statements(documents.sample(SAMPLED)), GROUNDED))
    finally:
        documents.close()
    if not statements:
        keep_examples(place, manifest.version, ExamplesResponse())
        return 0
    print_note("Looking for examples for the web page.")
    grounder = assemble(place, CONFIG, profile)
    try:
        examples = find_examples(grounder, tqdm(statements, desc="examples", unit=" claims", disable=None, leave=False))
        keep_examples(place, grounder.index.manifest.version, ExamplesResponse.of(examples, Provenance.of(grounder)))
    finally:
        grounder.index.close()
    return len(examples)

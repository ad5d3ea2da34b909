"""`python -m bench.llm`: fetch the reference language model and serve it on this machine; `make llm` runs it."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.llm.model import fetch_model, get_model_folder
from bench.llm.serving import ServeOptions, serve_model
from retrieval.core.errors import CounterpointError


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    usual = ServeOptions()
    parser = argparse.ArgumentParser(prog="python -m bench.llm", description="Fetch and serve the reference language model.")
    parser.add_argument("--folder", type=Path, default=get_model_folder(), help="where the model is kept")
    parser.add_argument("--fetch-only", action="store_true", help="fetch and check the model, and serve nothing")
    parser.add_argument("--port", type=int, default=usual.port, help=f"port on 127.0.0.1 ({usual.port})")
    parser.add_argument("--threads", type=int, default=usual.threads, help=f"processor threads ({usual.threads})")
    parser.add_argument("--context", type=int, default=usual.context, help=f"tokens of prompt and reply ({usual.context})")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch, then serve; 2 where either cannot be done, 130 where it was interrupted."""
    options = parse_arguments(arguments)
    try:
        model = fetch_model(options.folder)
        print(f"The model is {model}.", flush=True)
        if not options.fetch_only:
            serve_model(model, ServeOptions(options.port, options.threads, options.context))
    except CounterpointError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped; what was fetched is kept, and the same command starts again from there.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())

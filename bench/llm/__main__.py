"""`python -m bench.llm`: fetch the reference language model and serve it on this machine; `make llm` runs it.

llama.cpp (the package xllamacpp) serves the GGUF file with OpenAI's chat completions API.
"""

from __future__ import annotations

import argparse
import signal
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.llm.model import fetch_model, get_model_folder
from retrieval.core.errors import BadConfig, CounterpointError

ALIAS = "qwen2.5-coder-1.5b"
"""The name by which the server lists the model."""
HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The port on loopback, threads, and the tokens of prompt and reply together that one request may take."""

    port: int = 8199
    threads: int = 2
    context: int = 16384

    @property
    def base_url(self) -> str:
        """The address that a profile names as base_url."""
        return f"http://{HOST}:{self.port}/v1"


def check_options(options: ServeOptions) -> None:
    """Raise `BadConfig` for what cannot be served."""
    if not (0 < options.port < 65536 and options.threads >= 1 and options.context >= 512):
        raise BadConfig(
            f"port {options.port}, threads {options.threads}, context {options.context} do not fit; "
            "expected a port of 1 to 65535, at least 1 thread and at least 512 tokens."
        )
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, options.port))
        except OSError as error:
            raise BadConfig(
                f"Port {options.port} of {HOST} cannot be used ({error.strerror}); stop what uses it or name another with --port."
            ) from None


def serve_model(model: Path, options: ServeOptions) -> None:
    """Serve until the process is interrupted; raises `BadConfig` where that cannot be done."""
    check_options(options)
    try:
        from xllamacpp import CommonParams, Server
    except ImportError:
        raise BadConfig("xllamacpp is not installed; run make llm, which installs it.") from None
    params = CommonParams()
    params.model.path, params.model_alias = str(model), {ALIAS}
    params.hostnames, params.port = [HOST], options.port
    params.n_ctx, params.n_parallel = options.context, 1
    # Spinning threads would take the cores from everything else.
    for pool in (params.cpuparams, params.cpuparams_batch):
        pool.n_threads, pool.poll = options.threads, 0
    server = Server(params)
    print(f"Serving {ALIAS} at {options.base_url}; Ctrl-C stops it.", flush=True)
    try:
        while True:
            time.sleep(3600)
    finally:
        del server


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

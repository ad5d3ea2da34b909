"""`counterpoint model`: sets up a language model as the reader."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from counterpoint.retrieval.core.addresses import split_login
from counterpoint.service.cli.shared import print_note


def model(
    url: Annotated[
        str, typer.Argument(metavar="URL", help="The server: Ollama, vLLM, llama.cpp, LM Studio, OpenAI or the like.")
    ],
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="The model; without it, the server's are listed.")] = "",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The profile to write.", show_default="the model's name")
    ] = None,
    key_env: Annotated[
        str,
        typer.Option(
            "--key-env", metavar="NAME", help="The environment variable that holds the server's key, if it asks for one."
        ),
    ] = "OPENAI_API_KEY",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing profile.")] = False,
) -> None:
    """Set up a language model to read the papers and to write answers. It is tried on a few claims, and a profile is written."""
    from counterpoint.service.configuration import language_model
    from counterpoint.service.runs.journal import check_target

    address = language_model.complete_address(url)
    chosen = language_model.choose_model(address, name, key_env)
    path = out or language_model.name_file(chosen)
    check_target(path, overwrite)
    if warning := language_model.warn_of_sending(address):
        print_note(warning)
    print_note(f"Trying {chosen} on {len(language_model.CASES)} claims about invented papers …")
    trial = language_model.try_model(address, chosen, key_env)
    language_model.write_profile(path, address, chosen, key_env, trial)
    typer.echo("\n".join(trial.describe()))
    if split_login(address)[1]:
        print_note(f"{path} holds the user name and password of the address; keep it to yourself.")
    typer.echo(f"Wrote {path}. Use it with --profile {path}, or COUNTERPOINT_PROFILE={path} for the service.")

"""`counterpoint serve`, `config` and `mcp`; heavy things are imported when they run, so that --help answers at once."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
from typing import Annotated

import typer

from counterpoint.retrieval.core.errors import BadConfig
from counterpoint.service.cli.shared import (
    AnswersOption,
    ConfigOption,
    LibrariesOption,
    ProfileOption,
    ServedIndexOption,
    print_note,
)
from counterpoint.service.configuration import defaults


def serve(
    index: ServedIndexOption = None,
    libraries: LibrariesOption = None,
    port: Annotated[int | None, typer.Option("--port", min=1, max=65535, help="The port to listen on (8000).")] = None,
    host: Annotated[str | None, typer.Option("--host", help="The address to listen on (127.0.0.1).")] = None,
    config: Annotated[str | None, typer.Option("--config", help="A grounding variant: its name or a YAML file.")] = None,
    answers: Annotated[str | None, typer.Option("--answers", help="An answer variant: its name or a YAML file.")] = None,
    profile: Annotated[
        str | None, typer.Option("--profile", help="A profile (a set of models): its name or a YAML file.")
    ] = None,
    workers: Annotated[int | None, typer.Option("--workers", min=1, max=64, help="Number of server processes (1).")] = None,
) -> None:
    """Start the web page and the HTTP API. The page is at /, the API at /v1; `counterpoint config` lists all settings."""
    options = {
        "index": index, "libraries": libraries, "port": port, "host": host, "config": config, "answers": answers,
        "profile": profile, "workers": workers,
    }  # fmt: skip
    from counterpoint.service.operating.settings import hand_down_access, load_settings, with_token
    from counterpoint.service.serve.server import check_settings, listen, run, write_address

    settings = with_token(load_settings(**options))
    hand_down_access(settings)
    check_settings(settings)
    listener = listen(settings.host, settings.port)
    with suppress(OSError):  # a log on a full disk is no reason not to serve
        address = write_address(settings.host, settings.port)
        print_note(f"Counterpoint is listening on {address} (stop it with Ctrl-C).")
        if folder := settings.libraries_folder():
            print_note(f"Its libraries are in {folder}.")
        if settings.token:
            print_note(f"To change libraries, open {address}/?token={settings.token.get_secret_value()}")
    run(settings, listener)


def config() -> None:
    """Show every setting of the service. Each has its value (of keys only the names) and where it comes from."""
    from counterpoint.service.operating.settings import PREFIX, Settings, find_origins, load_settings, show_settings

    values, origins = show_settings(load_settings()), find_origins({})
    for name, field in Settings.model_fields.items():
        typer.echo(f"{name:<17} {values[name] or '-':<16} {origins[name]:<12} {PREFIX}{name.upper()}: {field.description}")


def mcp(
    index: ServedIndexOption = None,
    libraries: LibrariesOption = None,
    config: ConfigOption = defaults.CONFIG,
    answers: AnswersOption = defaults.ANSWERS,
    profile: ProfileOption = defaults.PROFILE,
) -> None:
    """Start an MCP server for language models. It uses standard input and output (ground, answer, check_text, search, …)."""
    if find_spec("mcp") is None:
        raise BadConfig("`counterpoint mcp` needs the package mcp; run `pip install 'counterpoint[mcp]'`.")
    from counterpoint.service.mcp_server import make_server
    from counterpoint.service.operating.settings import load_settings
    from counterpoint.service.serve.server import check_settings, open_libraries

    options = {"index": index, "libraries": libraries, "config": config, "answers": answers, "profile": profile}
    settings = load_settings(**options)
    check_settings(settings)
    make_server(open_libraries(settings)).run()

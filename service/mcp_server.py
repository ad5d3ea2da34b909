"""Counterpoint as a tool for language models, over the Model Context Protocol with the protocol's own Python library."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from inspect import Parameter, Signature, getdoc
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import Field, ValidationError

from counterpoint.retrieval.core.errors import CounterpointError
from counterpoint.service.calls.calls import ANSWER, DOCUMENT, EVIDENCE, GROUND, SEARCH, TEXT, Call, Progress, R
from counterpoint.service.calls.requests import list_parameters, shown
from counterpoint.service.http.schemas import LibraryList
from counterpoint.service.operating.libraries import Libraries
from counterpoint.service.schemas import faults
from counterpoint.service.schemas.faults import repair_json

_INSTRUCTIONS = Path(__file__).with_suffix(".md")
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)


class _Server(MCPServer):
    """The library's server, except that every fault is one sentence of ours and every request gets a reply."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; raises `ToolError` with one sentence about what is wrong."""
        tools = {tool.name: tool.input_schema["properties"] for tool in await self.list_tools()}
        if name not in tools:
            raise ToolError(f"There is no tool {faults.short(name)!r}; the tools are {', '.join(tools)}.")
        if unknown := [one for one in arguments if one not in tools[name]]:
            known = ", ".join(tools[name])
            raise ToolError(
                f"{faults.short(unknown[0])} is an unknown argument; correct it or leave it out (known arguments: {known})."
            )
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            raise _explain(error) from error.__cause__

    async def run_stdio_async(self) -> None:
        """Run over standard input and output, as the library does, but read what it cannot."""
        async with stdio_server(anyio.wrap_file(_take_input())) as (incoming, outgoing):
            await self._lowlevel_server.run(incoming, outgoing, self._lowlevel_server.create_initialization_options())


class _Repaired(TextIOWrapper):
    """Lines of JSON without lone surrogates: the library leaves a line that has one without a reply."""

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        """The next line; a lone surrogate in it is a replacement character, as any other broken character."""
        line = super().readline(size)
        try:
            return repair_json(line.removesuffix("\n")) + "\n" if line else line
        except (ValueError, RecursionError):
            return line


def _take_input() -> _Repaired:
    """Standard input, which from now on is empty for everything else: what a library reads would be lost to the protocol."""
    own = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), sys.stdin.fileno())
    return _Repaired(own, encoding="utf-8", errors="replace")


def _explain(error: ToolError) -> ToolError:
    """The error with a sentence of ours; what nobody foresaw stays an `UnexpectedToolError`, which the library logs."""
    cause = error.__cause__
    if isinstance(cause, CounterpointError):
        return ToolError(str(cause))
    if isinstance(cause, ValidationError) and not isinstance(error, UnexpectedToolError):
        return ToolError(faults.sentence(cause.errors(), None))
    return UnexpectedToolError(faults.explain_failure(cause))


def make_server(libraries: Libraries) -> MCPServer:
    """Make the server; an index and the models are loaded when the first call needs them, so that it can be greeted at once."""
    server = _Server(
        "counterpoint",
        instructions=_INSTRUCTIONS.read_text("utf-8").strip(),
        version=version("counterpoint"),
        log_level="WARNING",
    )

    @server.tool(annotations=_READS, name="libraries")
    def list_libraries() -> LibraryList:
        """List the libraries that can be searched, with what each holds."""
        return LibraryList.of(libraries.list_all(), "read")

    for call in (SEARCH, DOCUMENT, EVIDENCE, GROUND, ANSWER, TEXT):
        name = "check_text" if call is TEXT else call.name
        server.add_tool(_make_tool(libraries, call), name, description=getdoc(call.model), annotations=_READS)
    return server


_LIBRARY = Field(description="The library to search, by its id or name; the first without it.")


def _make_tool(libraries: Libraries, call: Call[..., Any, R]) -> Callable[..., R]:
    def ask(library: str = "", **fields: Any) -> R:
        request = call.model.of(**fields)
        request.check()
        with libraries.lease(library) as serving:
            return call.run(serving, request, Progress()).response

    own = [_describe(call, one) for one in list_parameters(call.model, lambda one: shown(one).to_models)]
    library = Parameter("library", Parameter.KEYWORD_ONLY, default="", annotation=Annotated[str, _LIBRARY])
    ask.__signature__ = Signature([*own, library], return_annotation=call.response)  # type: ignore[attr-defined]
    return ask


def _describe(call: Call[..., Any, Any], parameter: Parameter) -> Parameter:
    one = call.model.model_fields[parameter.name]
    annotation: Any = Annotated[one.annotation, *one.metadata, Field(description=one.description)]
    return parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=annotation)

"""Every door has what a call's request has: a field that is added to one is at all of them."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path
from typing import Any

import typer.main
from mcp import Client

from counterpoint.service.calls.calls import ANSWER, CLASSIFY, DOCUMENT, EVIDENCE, GROUND, SEARCH, TEXT, Call
from counterpoint.service.calls.methods import Asking
from counterpoint.service.calls.requests import shown
from counterpoint.service.cli.commands import app
from counterpoint.service.client import Counterpoint
from counterpoint.service.http.app import create_app
from counterpoint.service.local import LocalService
from counterpoint.service.mcp_server import make_server
from counterpoint.service.operating.libraries import Libraries

_Calls = dict[str, Call[..., Any, Any]]


def test_commands_have_the_options_of_their_requests() -> None:
    commands: Any = typer.main.get_command(app)
    asked: _Calls = {"ground": GROUND, "answer": ANSWER, "evidence": EVIDENCE, "search": SEARCH, "show": DOCUMENT}
    for name, call in asked.items():
        command = commands.get_command(None, name)
        told = {one.name: one for one in command.params}
        fields = {field: one for field, one in call.model.model_fields.items() if shown(one).option is not None}
        assert {told[field].help for field in fields} == {one.description for one in fields.values()}
        assert command.help.startswith((call.model.__doc__ or "").split("\n")[0])


def test_routes_take_what_requests_have() -> None:
    described = create_app(Libraries(None, None)).openapi()
    sent: _Calls = {call.name: call for call in (GROUND, ANSWER, TEXT, EVIDENCE, CLASSIFY)}
    for call in sent.values():
        schema = described["components"]["schemas"][call.model.__name__]
        assert list(schema["properties"]) == list(call.model.model_fields)
        assert described["paths"][call.path]["post"]["description"] == inspect.getdoc(call.model)
    asked = {one["name"]: one["schema"] for one in described["paths"]["/v1/search"]["get"]["parameters"]}
    assert set(asked) == {"q", "limit", "cursor", "library"} and asked["limit"]["maximum"] == 100


def test_language_models_are_told_of_what_is_for_them() -> None:
    async def list_tools() -> dict[str, Any]:
        async with Client(make_server(Libraries(None, None))) as client:
            return {one.name: one for one in (await client.list_tools()).tools}

    tools = asyncio.run(list_tools())
    asked: _Calls = {"ground": GROUND, "answer": ANSWER, "check_text": TEXT, "search": SEARCH, "document": DOCUMENT}
    for name, call in asked.items():
        fields = [field for field, one in call.model.model_fields.items() if shown(one).to_models]
        assert list(tools[name].input_schema["properties"]) == [*fields, "library"]
        assert tools[name].description == inspect.getdoc(call.model)
    bounds = tools["ground"].input_schema["properties"]["read"]["anyOf"][0]
    assert (bounds["minimum"], bounds["maximum"]) == (1, 20)


def test_language_models_are_told_which_argument_is_missing() -> None:
    async def ask() -> Any:
        async with Client(make_server(Libraries(None, None))) as client:
            return await client.call_tool("search", {"limit": 3})

    assert asyncio.run(ask()).content[0].text == "query is missing; give it."


def test_both_python_doors_have_the_same_methods() -> None:
    asked: _Calls = {"ground": GROUND, "answer": ANSWER, "evidence": EVIDENCE, "text": TEXT, "document": DOCUMENT}
    for name, call in asked.items():
        own, *parameters = inspect.signature(getattr(Asking, name)).parameters
        assert own == "self" and set(parameters) == set(call.model.model_fields)
        assert getattr(LocalService, name) is getattr(Counterpoint, name) is getattr(Asking, name)


def uses(service: LocalService | Counterpoint, pmids: list[str], place: Path) -> list[str]:
    """What mypy must accept, and what it must not."""
    found = service.ground("Zeta lowers pressure.", known_pmids=pmids, read=3, full_text=True)
    service.ground("Zeta lowers pressure.", papers=3)  # type: ignore[call-arg]
    service.answer(question=place)  # type: ignore[arg-type]
    return [one.pmid for one in found.contradicting]

"""A request as the argument and the options of its command."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, TypeVar, get_origin

import typer

from counterpoint.service.calls.requests import Request, list_parameters, shown

_Request = TypeVar("_Request", bound=Request)
_KINDS: tuple[Any, ...] = (bool, int, int | None)


def takes(model: type[_Request], more: str = "") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the fields of a request, and its description and `more` as help.

    The command gets a function in their place, which makes the request, given what else is to be in it. Faults are reported.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        fields = list(list_parameters(model, lambda one: shown(one).option is not None))
        lists = {one.name for one in fields if get_origin(one.annotation) is list}

        def run(**given: Any) -> None:
            values = {one.name: given.pop(one.name) for one in fields}
            values |= {name: values[name].split(",") for name in lists}
            command(partial(model.of, **values), **given)

        own = [*map(partial(_make_option, model), fields), *[*signature(command, eval_str=True).parameters.values()][1:]]
        parameters = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in own]
        parameters.sort(key=lambda one: one.default is not Parameter.empty)
        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        run.__name__, run.__doc__ = command.__name__, f"{model.__doc__} {more}".rstrip()
        return run

    return decorate


def _make_option(model: type[Request], parameter: Parameter) -> Parameter:
    one = model.model_fields[parameter.name]
    if parameter.default is Parameter.empty:
        info: Any = typer.Argument(metavar=parameter.name.upper(), help=one.description)
        return parameter.replace(annotation=Annotated[str, info])
    bounds = {name: getattr(rule, name) for rule in one.metadata for name in ("ge", "le") if hasattr(rule, name)}
    info = typer.Option(
        shown(one).option or f"--{parameter.name.replace('_', '-')}",
        metavar=shown(one).metavar,
        help=one.description,
        min=bounds.get("ge"),
        max=bounds.get("le"),
    )
    kind = one.annotation if one.annotation in _KINDS else str
    return parameter.replace(annotation=Annotated[kind, info], default=parameter.default if kind is not str else "")

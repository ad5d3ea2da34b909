"""The calls as methods of what is asked in Python: an index opened in this process, or a service."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Concatenate

from counterpoint.service.calls.calls import ANSWER, CLASSIFY, DOCUMENT, EVIDENCE, GROUND, TEXT, Call, P, Q, R
from counterpoint.service.calls.requests import list_parameters


def method(call: Call[P, Q, R]) -> Callable[Concatenate[Any, P], R]:
    """The call as a method, with the fields of its request as parameters."""
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    signature = inspect.Signature([own, *list_parameters(call.model)], return_annotation=call.response)

    def ask(self: Asking, /, *values: P.args, **named: P.kwargs) -> R:
        fields = signature.bind(self, *values, **named).arguments
        return self._ask(call, {name: value for name, value in fields.items() if name != "self"})

    ask.__signature__ = signature  # type: ignore[attr-defined]
    ask.__name__, ask.__doc__ = call.name, call.model.__doc__
    return ask


class Asking(ABC):
    """What can be asked: every method takes the fields of its call's request and returns its response."""

    ground = method(GROUND)
    answer = method(ANSWER)
    evidence = method(EVIDENCE)
    text = method(TEXT)
    classify = method(CLASSIFY)
    document = method(DOCUMENT)

    @abstractmethod
    def _ask(self, call: Call[..., Any, R], fields: dict[str, Any]) -> R:
        """Make the call with these fields of its request."""

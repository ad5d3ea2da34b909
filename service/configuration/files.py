"""YAML files as checked values: every key and value is checked when the file is read, and a fault is one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from counterpoint.retrieval.core.errors import BadConfig

Count = Annotated[int, Field(ge=1, le=10_000)]
KIND = "kind"
"""The key that says which of several models a section of a file describes."""


class Strict(BaseModel):
    """A section of a configuration: unknown keys and values of the wrong type are refused; immutable after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _keys_are_known(cls, data: Any) -> Any:
        """Return the data as given; the error for an unknown key names the known ones, which pydantic's own error does not."""
        for key in data if isinstance(data, Mapping) else ():
            if key not in cls.model_fields:
                names = ", ".join(cls.model_fields)
                raise PydanticCustomError("unknown_key", "{key} {known}", {"key": repr(key), "known": names})
        return data


_Model = TypeVar("_Model", bound=BaseModel)


def list_shipped(package: str) -> list[str]:
    """List the names of the YAML files in a package, sorted."""
    return sorted(entry.name.removesuffix(".yaml") for entry in files(package).iterdir() if entry.name.endswith(".yaml"))


def load_yaml(model: type[_Model], name: str, package: str, what: str) -> _Model:
    """Load the YAML file of that name in a package, or at that path, as `model`; `what` is what errors call it.

    Raises `BadConfig` if the file does not exist, is not YAML, or holds anything that `model` does not allow.
    """
    data = read_yaml(name, package, what)
    if not isinstance(data, dict):
        raise BadConfig(f"The {what} {name} should hold keys and values ({', '.join(model.model_fields)}).")
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise BadConfig(f"The {what} {name} cannot be used: {_first_fault(error)}.") from None


def read_yaml(name: str, package: str, what: str) -> Any:
    """Read the YAML file of that name in a package, or at that path; raises `BadConfig` if it is missing or not YAML."""
    if name.endswith((".yaml", ".yml")):
        path = Path(name)
        if not path.is_file():
            raise BadConfig(f"There is no {what} file {name}; name an existing YAML file or one of {list_shipped(package)}.")
        text = path.read_text("utf-8", errors="replace")
    elif name in list_shipped(package):
        text = files(package).joinpath(f"{name}.yaml").read_text("utf-8")
    else:
        names = ", ".join(list_shipped(package))
        raise BadConfig(f"There is no {what} called {name!r}; the shipped ones are {names}, or give the path of a YAML file.")
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f", line {where.line + 1}" if where else ""
        raise BadConfig(f"The {what} {name}{line} is not YAML: {getattr(error, 'problem', error)}.") from None


_EXPECTATIONS = {
    "string_type": "a text",
    "string_unicode": "valid Unicode text",
    "path_type": "a path",
    "int_parsing_size": "a smaller whole number",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing", "finite_number"), "a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    **dict.fromkeys(("list_type", "tuple_type", "sequence_str", "is_instance_of"), "a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "an object"),
}
_BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


def expected(fault: Mapping[str, Any]) -> str:
    """What pydantic expected where it found a fault, in our words; "" if we have none for it."""
    context = fault.get("ctx") or {}
    if fault["type"] == "literal_error":
        return str(context["expected"]).replace("'", "")
    for bound, words in _BOUNDS.items():
        if bound in context:
            return f"{words} {context[bound]:.12g}"
    return _EXPECTATIONS.get(fault["type"], "")


def _first_fault(error: ValidationError) -> str:
    """Describe the first fault in a sentence: the key, what was expected there and what was given."""
    fault = error.errors()[0]
    where, context = ".".join(str(key) for key in fault["loc"]), fault.get("ctx", {})
    match fault["type"]:
        case "unknown_key":
            return f"unknown key {context['key']}{f' in {where}' if where else ''}; the known keys are {context['known']}"
        case "union_tag_invalid":
            return f"{where} has the unknown kind {context['tag']!r}; known kinds are {context['expected_tags']}"
        case "union_tag_not_found":
            return f"the key {f'{where}.{KIND}'!r} is missing; it names the kind of model"
        case "missing":
            return f"the key {where!r} is missing"
        case "value_error":
            return f"{where}: {context['error']}"
        case "model_type" | "model_attributes_type" | "dict_type":
            return f"{where} should be keys and values, not {describe(fault['input'])}"
    wrong = f"should be {expected(fault)}, not" if expected(fault) else "cannot be"
    return f"{where} {wrong} {describe(fault['input'])}"


def describe(value: Any) -> str:
    """Describe the given value, with its type if the value alone does not show it."""
    if isinstance(value, str):
        return f"the text {value!r}"
    return "an empty value" if value is None else repr(value)

"""A request to a chat server, without the parts that the server refuses; what is known of each server in this process.

Servers and models differ in what they accept: OpenAI's reasoning models refuse a temperature, Gemma's template a system message,
Mistral's API the newer name of the token limit, llama.cpp and LM Studio some forms of a schema. A part that is refused is left
out, or sent in its other form; the system message then begins the user's, and the schema is told in words.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Literal, get_args

from pydantic import BaseModel

from counterpoint.retrieval.runtime.pace import Pace
from counterpoint.retrieval.runtime.usage import Tally

Part = Literal[
    "json_schema", "json_object", "max_completion_tokens", "max_tokens", "temperature", "system", "stop", "seed",
    "stream_options", "stream",
]  # fmt: skip
PARTS: tuple[Part, ...] = get_args(Part)
FORMS = frozenset[Part](("json_schema", "json_object"))
LIMITS = frozenset[Part](("max_completion_tokens", "max_tokens"))
_FIRST: Mapping[Part, Part] = {"json_object": "json_schema", "max_tokens": "max_completion_tokens"}
"""What is sent in place of each of these as long as it is not refused."""
BARE = frozenset(PARTS) - {"stream"}
"""What a request can do without."""
_FORM = re.compile(r"response_?format|json.?schema|json.?object|json.?mode|structured.?output|guided|grammar", re.IGNORECASE)
_LIMIT = re.compile(r"max_(?:completion_|output_|new_)?tokens", re.IGNORECASE)
_SYSTEM = re.compile(
    r"system.?(?:role|messages?|prompts?|instructions?)|['\"`]system['\"`]|\broles?\b|developer (?:instructions?|messages?)",
    re.IGNORECASE,
)
_NAMES: Mapping[Part, re.Pattern[str]] = {
    "json_schema": _FORM,
    "json_object": _FORM,
    "max_completion_tokens": _LIMIT,
    "max_tokens": _LIMIT,
    "temperature": re.compile("temperature", re.IGNORECASE),
    "system": _SYSTEM,
    "stop": re.compile(r"\bstop\b", re.IGNORECASE),
    "seed": re.compile(r"\bseed\b", re.IGNORECASE),
    "stream_options": re.compile("stream_options|include_usage", re.IGNORECASE),
    "stream": re.compile(r"\bstream(?:ing|ed)?\b", re.IGNORECASE),
}
"""What errors call each part."""
_REMEMBERED_SECONDS = 30.0


def close_schema(schema: type[BaseModel]) -> dict[str, object]:
    """The JSON schema as strict servers want it: no other keys, and every key required and without a default, at every level."""
    json_schema = schema.model_json_schema()
    for part in (json_schema, *json_schema.get("$defs", {}).values()):
        if "properties" in part:
            part.update(additionalProperties=False, required=list(part["properties"]))
            for one in part["properties"].values():
                one.pop("default", None)
    return json_schema


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What is asked, and how; with a `schema` the answer is to be JSON of this form."""

    system: str
    user: str
    max_tokens: int
    schema: type[BaseModel] | None = None
    temperature: float = 0.0
    stop: tuple[str, ...] = ()
    seed: int | None = None
    stream: bool = False

    def list_parts(self, refused: Collection[Part]) -> tuple[Part, ...]:
        """The parts that are sent where these are refused; of two forms of one thing, the first that is not."""
        streams = self.stream and "stream" not in refused
        wanted: Mapping[Part, object] = {
            "json_schema": self.schema, "json_object": self.schema, "max_completion_tokens": True, "max_tokens": True,
            "temperature": True, "system": self.system, "stop": self.stop, "seed": self.seed is not None,
            "stream_options": streams, "stream": streams,
        }  # fmt: skip
        parts = [part for part in PARTS if wanted[part] and part not in refused]
        return tuple(part for part in parts if _FIRST.get(part) not in parts)

    def fill(self, refused: Collection[Part]) -> dict[str, Any]:
        """The request's fields without the parts that are refused."""
        parts, system = self.list_parts(refused), self.system
        fields: dict[str, Any] = {}
        if self.schema:
            schema = close_schema(self.schema)
            if "json_schema" in parts:
                form = {"name": self.schema.__name__, "strict": True, "schema": schema}
                fields["response_format"] = {"type": "json_schema", "json_schema": form}
            else:
                system = f"{system}\n\nAnswer with one JSON object and nothing else, by this schema: {json.dumps(schema)}"
            if "json_object" in parts:
                fields["response_format"] = {"type": "json_object"}
        values: Mapping[Part, Any] = {
            "max_completion_tokens": self.max_tokens, "max_tokens": self.max_tokens, "temperature": self.temperature,
            "stop": list(self.stop), "seed": self.seed, "stream_options": {"include_usage": True}, "stream": True,
        }  # fmt: skip
        fields |= {part: value for part, value in values.items() if part in parts}
        if "system" in parts:
            fields["messages"] = [{"role": "system", "content": system}, {"role": "user", "content": self.user}]
        else:
            fields["messages"] = [{"role": "user", "content": f"{system}\n\n{self.user}".strip()}]
        return fields


def find_refused(said: str, parts: Collection[Part]) -> Part | None:
    """The part of a request that an error names, the first if it names several; None if it names none."""
    named = [(match.start(), part) for part in parts if (match := _NAMES[part].search(said))]
    return min(named)[1] if named else None


@dataclass(slots=True)
class KnownServer:
    """What this process knows of a model on a server, and what it has used there; shared by all who ask it.

    `refused` parts are left out of every request; `accepted` ones were part of a request that was answered. `used` counts towards
    budgets. What it refuses is found out by one thread at a time.
    """

    refused: frozenset[Part] = frozenset()
    accepted: frozenset[Part] = frozenset()
    used: Tally = field(default_factory=Tally)
    finding_out: Lock = field(default_factory=Lock)
    _paces: dict[int | None, Pace] = field(default_factory=dict)
    _faults: dict[str, float] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def learn(self, refused: frozenset[Part], sent: Collection[Part]) -> None:
        """Note what a request that was answered did without, and what it had."""
        with self._lock:
            self.refused |= refused
            self.accepted = self.accepted.union(sent)

    def pace(self, per_minute: int | None) -> Pace:
        """The pace of all who ask it so often."""
        with self._lock:
            return self._paces.setdefault(per_minute, Pace(per_minute))

    def note_fault(self, said: str) -> None:
        """Note an error that no part of the request had caused, so that none is looked for again for a while."""
        with self._lock:
            self._faults[said] = time.monotonic() + _REMEMBERED_SECONDS

    def knows_fault(self, said: str) -> bool:
        """Whether such an error was noted lately."""
        with self._lock:
            return time.monotonic() < self._faults.get(said, 0.0)


_servers: dict[tuple[str, str], KnownServer] = {}
_lock = Lock()


def know_server(address: str, model: str) -> KnownServer:
    """What is known of this model there."""
    with _lock:
        return _servers.setdefault((address, model), KnownServer())


def forget_servers() -> None:
    """Begin anew: for tests, in which another server may stand at the same address."""
    with _lock:
        _servers.clear()

"""A language model set up as the reader: the models of a server, one paper tried, and the profile written."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from difflib import get_close_matches
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from nli.judge import Abstract
from nli.reader.chat import ChatReader
from nli.reader.paper import PaperRead
from retrieval.core.errors import BadInput
from retrieval.runtime.chat import Chat
from service.configuration.files import read_yaml

CLAIM = "Zetapril lowers blood pressure in adults."
PAPER = Abstract(
    "A randomised trial of zetapril in hypertension",
    (
        "It is not known whether zetapril lowers blood pressure.",
        "We gave zetapril or a placebo to 240 adults with hypertension for eight weeks.",
        "Systolic pressure fell by 2 mm Hg with zetapril and by 2 mm Hg with the placebo.",
        "Zetapril was no better than a placebo.",
    ),
)
"""An invented paper that contradicts the claim."""


@dataclass(frozen=True, slots=True)
class Trial:
    """How the model read the paper, in how many seconds and tokens."""

    found: PaperRead
    seconds: float
    tokens: int


def complete_address(url: str) -> str:
    """The address of a server's API: http unless it says otherwise, and /v1 where it names no path."""
    full = url if "://" in url else f"http://{url}"
    parts = urlsplit(full)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadInput(f"{url!r} is no address; expected that of a server, such as http://127.0.0.1:11434.")
    return f"{full.rstrip('/')}/v1" if parts.path in ("", "/") else full.rstrip("/")


def is_here(address: str) -> bool:
    """Whether the server is this machine."""
    host = urlsplit(address).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def choose_model(address: str, name: str, key_env: str) -> str:
    """The model of this name, or the server's only one if none is named.

    Raises `BadInput` with the names to choose from, and `ChatUnanswered` if the server cannot be asked.
    """
    names = Chat(name or "any", address, key_env, timeout=20, retries=0).list_models()
    if name in names or (name and not names):
        return name
    if not names:
        raise BadInput(f"{address} lists no model; load one there, or name it: counterpoint model {address} NAME.")
    if not name and len(names) == 1:
        return names[0]
    listed = f"{address} has {', '.join(names)}"
    if not name:
        raise BadInput(f"{listed}; name one of them: counterpoint model {address} {names[0]}")
    near = get_close_matches(name, names, 1)
    raise BadInput(f"{listed}, and no {name!r}{f'; did you mean {near[0]}?' if near else '.'}")


def try_model(address: str, model: str, key_env: str) -> Trial:
    """Have the model read one paper, as it would for a claim."""
    reader, start = ChatReader(model, address, key_env, timeout=300, retries=1, cached=False), time.monotonic()
    found = reader.read_paper(CLAIM, PAPER)
    if found.by != reader.name:
        raise BadInput(f"{found.verdict.reason.partition(', so the embedded')[0]}; no profile was written.")
    return Trial(found, time.monotonic() - start, reader.usage.prompt_tokens + reader.usage.completion_tokens)


def write_profile(path: Path, address: str, model: str, key_env: str, overwrite: bool) -> None:
    """Write the profile `chat` for this server and model; raises `BadInput` for a file that exists, unless `overwrite`."""
    if path.exists() and not overwrite:
        raise BadInput(f"{path} exists; name another file with --out, or replace it with --overwrite.")
    profile: dict[str, Any] = read_yaml("chat", "configs.profiles", "profile")
    for options in (profile["judges"]["stance"], profile["generators"]["writer"]):
        options.update(model=model, base_url=address, key_env=key_env)
    profile.update(name=path.stem, description=f"{model} at {urlsplit(address).netloc} reads the papers and writes answers.")
    part = path.with_name(f"{path.name}.part")
    part.write_text(yaml.dump(profile, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=120), "utf-8")
    part.replace(path)


def name_file(model: str) -> Path:
    """The usual name of a model's profile."""
    return Path(f"{re.sub(r'[^a-z0-9.]+', '-', model.lower()).strip('-.') or 'model'}.yaml")


class _Plain(yaml.SafeDumper):
    """Writes every value where it stands, without references."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

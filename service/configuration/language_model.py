"""A language model set up as the reader: the models of a server, a few papers tried, and the profile written."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from counterpoint.nli.judge import Abstract
from counterpoint.nli.reader.chat import ChatReader
from counterpoint.nli.reader.paper import read_paper
from counterpoint.retrieval.core.addresses import hide_login, is_loopback, split_login
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.core.values import Label
from counterpoint.retrieval.runtime.chat import Chat
from counterpoint.retrieval.runtime.usage import count_usage
from counterpoint.retrieval.store.manifest import write_atomically
from counterpoint.service.configuration.files import read_yaml


@dataclass(frozen=True, slots=True)
class Case:
    """An invented paper, a claim, and what the paper says on it."""

    claim: str
    paper: Abstract
    label: Label


_TRIAL = yaml.safe_load(Path(__file__).with_name("trial.yaml").read_text("utf-8"))
CASES = tuple(
    Case(claim, Abstract(paper["title"], tuple(paper["sentences"])), label)
    for paper in _TRIAL
    for claim, label in paper["claims"].items()
)
"""What a language model is tried on before it may read."""


@dataclass(frozen=True, slots=True)
class Trial:
    """How many of the cases the model and the embedded reader got right, the first that the model got wrong, with its label, and
    how long a paper took, in seconds and tokens; and what the server refused in requests."""

    right: int
    embedded: int
    wrong: tuple[Case, Label] | None
    seconds: float
    tokens: int
    refused: tuple[str, ...]

    @property
    def reads(self) -> bool:
        """Whether it reads at least as well as the embedded reader."""
        return self.right >= self.embedded

    def describe(self) -> list[str]:
        """What was found, in sentences."""
        says = [f"It read {self.right} of {len(CASES)} right, the embedded reader {self.embedded}."]
        if self.wrong:
            case, label = self.wrong
            says.append(f"For one, it read as {label}: “{case.claim}” against “{case.paper.sentences[-1]}”")
        if not self.reads:
            says.append("So it does not read the papers: it only writes answers.")
        says.append(f"{self.seconds:.1f} seconds, {self.tokens:,} tokens for a paper; a claim has five.")
        if self.refused:
            says.append(f"The server refuses {', '.join(self.refused)}; the profile leaves that out (leave_out).")
        return says


def complete_address(url: str) -> str:
    """The address of a server's API: http unless it says otherwise, and /v1 where it names no path."""
    full = url.strip() if "://" in url else f"http://{url.strip()}"
    try:
        parts = urlsplit(full)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # brackets that do not close, or a port that is no number
        known = False
    if not known:
        encode = " (a password has / # ? as %2F %23 %3F)" if "@" in url else ""
        raise BadInput(f"{hide_login(url)!r} is no address{encode}; expected that of a server, such as http://127.0.0.1:11434.")
    return f"{full.rstrip('/')}/v1" if parts.path in ("", "/") else full.rstrip("/")


def warn_of_sending(address: str) -> str:
    """That texts leave this machine for the server at this address; "" if the server is on it."""
    return "" if is_loopback(address) else f"Claims, questions and abstracts will be sent to {split_login(address)[0]}."


def list_models(address: str, key_env: str, name: str = "any") -> list[str]:
    """The names of the server's models, none where it lists none; raises `ChatUnanswered` if the server cannot be asked."""
    return Chat(name, address, key_env, timeout=20, retries=0).list_models()


def choose_model(address: str, name: str, key_env: str) -> str:
    """The model of this name, or the server's only one if none is named.

    Raises `BadInput` with the names to choose from, and `ChatUnanswered` if the server cannot be asked.
    """
    names = list_models(address, key_env, name or "any")
    address, _ = split_login(address)
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
    """Have the model and the embedded reader read the cases. Raises `BadInput` where the model answers none of them as asked."""
    reader, start = ChatReader(model, address, key_env, timeout=300, retries=1, cached=False), time.monotonic()
    with count_usage() as tally:
        found = [reader.read_paper(case.claim, case.paper) for case in CASES]
    seconds, used = time.monotonic() - start, tally.total.prompt_tokens + tally.total.completion_tokens
    if all(one.by != reader.name for one in found):
        raise BadInput(f"{found[0].verdict.reason.partition(', so the embedded')[0]}; no profile was written.")
    labels = [one.verdict.label if one.by == reader.name else None for one in found]
    embedded = sum(read_paper(reader.embedded, case.claim, case.paper).verdict.label == case.label for case in CASES)
    wrong = [(case, label) for case, label in zip(CASES, labels, strict=True) if label != case.label]
    first = next(((case, label) for case, label in wrong if label), None)
    return Trial(len(CASES) - len(wrong), embedded, first, seconds / len(CASES), used // len(CASES), reader.refused)


def write_profile(path: Path, address: str, model: str, key_env: str, trial: Trial, name: str = "") -> None:
    """Write the profile `chat` for this server and model, called `name` or else as its file; unless the trial says that it reads,
    it only writes answers.

    Only the user may read the file: the address may hold a password.
    """
    profile: dict[str, Any] = read_yaml("chat", "counterpoint.configs.profiles", "profile")
    for options in (profile["judges"]["stance"], profile["generators"]["writer"]):
        options.update(model=model, base_url=address, key_env=key_env)
        if trial.refused:
            options.update(leave_out=list(trial.refused))
    if not trial.reads:
        profile["judges"]["stance"] = {"kind": "reader"}
    does = "reads the papers and writes answers" if trial.reads else "writes answers; the shipped reader reads the papers"
    server = urlsplit(split_login(address)[0]).netloc
    profile.update(name=name or path.stem, description=f"{model} at {server} {does}. {' '.join(trial.describe())}")
    text = yaml.dump(profile, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=120)
    write_atomically(path, text, mode=0o600)


def name_file(model: str) -> Path:
    """The usual name of a model's profile."""
    return Path(f"{re.sub(r'[^a-z0-9.]+', '-', model.lower()).strip('-.') or 'model'}.yaml")


class _Plain(yaml.SafeDumper):
    """Writes every value where it stands, without references."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

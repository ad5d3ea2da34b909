"""Frozen outputs as files: one a topic, a section a case, held against what the code gives now, or written anew."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
UPDATE = "GOLDEN_UPDATE"
ACCEPT = "If every change is meant, accept it with `python -m tests.golden` and say in the commit what changed and why."
WIDTH, SHOWN, REPEATED = 150, 40, 90
"""Characters of a line; lines of a difference; characters from which a value is written once a file."""
_TIME = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?UTC|Z|\+00:00)?"
_CHANGING = {  # hashes of code and files, the version, times, random ids (but not those of an index, which is its content)
    r'("(?:code_sha256|input_sha256|run|answers\.jsonl)": )"[0-9a-f]{64}"': r'\1"HASH"',
    rf'("counterpoint": |"version": )"{re.escape(version("counterpoint"))}"': r'\1"VERSION"',
    _TIME: "TIME",
    r"\b([0-9a-f]{32}|[0-9a-f]{12})\b(?!-f\d)": "ID",
}


def settle(text: str) -> str:
    """The text without what changes by design with every edit or every run."""
    for pattern, instead in _CHANGING.items():
        text = re.sub(pattern, instead, text)
    return text


def rounded(number: str) -> float:
    """A number of JSON to six decimals, for those that come with all: the last ones differ between processors."""
    return round(float(number), 6)


FACTS = ("authors", "design", "doi", "journal", "pmcid", "pmid", "retracted", "subjects", "title", "trial", "types", "year")
"""What a paper says of itself, wherever it is listed; written as one value, so that it stands in a file once."""


def pretty(value: Any, seen: dict[str, str], indent: int = 0, name: str = "") -> str:
    """JSON with sorted keys, as much on a line as fits; a long value that is in `seen` is named by the start of its hash."""
    if isinstance(value, dict) and 3 < len(facts := {key: value[key] for key in FACTS if key in value}) < len(value):
        value = {"FACTS": facts} | {key: one for key, one in value.items() if key not in facts}
    line = json.dumps(value, ensure_ascii=False, sort_keys=True)
    if not isinstance(value, dict | list) or not value:
        return line
    if len(line) > REPEATED:  # a value that stands in the file already
        if line in seen:
            return json.dumps(seen[line], ensure_ascii=False)
        seen[line] = f"as above: {name} {hashlib.sha256(settle(line).encode()).hexdigest()[:8]}"
    if len(line) + indent <= WIDTH:
        return line
    inside = [
        (f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(value, dict) else "") + pretty(one, seen, indent + 1, str(key))
        for key, one in (sorted(value.items()) if isinstance(value, dict) else enumerate(value))
    ]
    (left, right), pad = ("{}" if isinstance(value, dict) else "[]"), " " * (indent + 1)
    lines = [inside[0]]
    for one in inside[1:]:
        if "\n" in one + lines[-1] or len(pad) + len(lines[-1]) + len(one) > WIDTH:
            lines.append(one)
        else:
            lines[-1] += f", {one}"
    return f"{left}\n{pad}" + f",\n{pad}".join(lines) + f"\n{pad[1:]}{right}"


def frozen(topic: str) -> dict[str, str]:
    """The cases of the topic's file."""
    path = HERE / "frozen" / f"{topic}.txt"
    sections = re.split("(?m)^=== ", path.read_text("utf-8"))[1:] if path.exists() else []
    return {case: text.rstrip() for case, _, text in (section.partition("\n") for section in sections)}


def hold(topic: str, cases: Mapping[str, str]) -> None:
    """Fail where a case is not what the topic's file has, line for line; or write the file anew, if the environment says so."""
    now = {case.strip(): text.rstrip() for case, text in cases.items()}
    if os.environ.get(UPDATE):
        whole = "".join(f"=== {case}\n{text}\n\n" for case, text in now.items())
        (HERE / "frozen" / f"{topic}.txt").write_text(whole, "utf-8")
        return
    before, changed = frozen(topic), []
    for case in dict.fromkeys([*before, *now]):
        old, new = before.get(case, ""), now.get(case, "")
        if old != new:
            changed += [f"=== {case}", *[*difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1)][2:]]
    if changed:
        more = [f"… and {len(changed) - SHOWN} more lines"] if len(changed) > SHOWN else []
        shown = [line[:300] for line in changed[:SHOWN]]
        pytest.fail("\n".join([f"{topic}.txt differs from what the code gives now:", *shown, *more, ACCEPT]), pytrace=False)

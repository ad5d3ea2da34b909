"""Finished parts of long jobs: records in a journal, one per line, or whole files; a stopped job resumes from them.

Either is named by its origin, which is everything that determines its content. If the input, the settings or the code differ,
another file is used, so that a stale result is never read as a fresh one. (Results that many jobs share are in
retrieval.core.result_cache, which is bounded and may evict them.)
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from counterpoint.retrieval.core.errors import GO_ON, BadInput, translate_write_errors
from counterpoint.retrieval.store.manifest import write_atomically


def hash_json(facts: Any) -> str:
    """The SHA-256 of anything that JSON can hold."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def hash_file(file: Path) -> str:
    """The SHA-256 of a file; raises `BadInput` if it cannot be read."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise BadInput(f"{file} cannot be read ({error.strerror}); name a file of documents.") from None


@dataclass(frozen=True, slots=True)
class Origin:
    """Everything that determines a result: what was read and how, as any JSON value, and the hash of the code that made it
    (retrieval.core.code_hash). A journal whose keys are digests of what was read needs no other content."""

    content: Any
    settings: Any
    code: str

    def path(self, folder: Path, name: str, suffix: str = "") -> Path:
        """The path of the file or folder with the results of this origin."""
        return folder / f"{name}-{hash_json(asdict(self))[:24]}{suffix}"


class Journal:
    """Records by their keys, written to disk as they come; `resumed` of them are from an earlier run.

    A record is any JSON value. The first line of the file holds the facts that determine the records.
    """

    def __init__(self, path: Path, facts: Mapping[str, Any], otherwise: str = "name another file") -> None:
        """Open or resume the file; raises `BadInput` if it holds records of other facts (`otherwise` says how to keep them)."""
        self.path, self._facts = path, dict(facts)
        self.records: dict[str, Any] = self._read(otherwise)
        self.resumed = len(self.records)
        # Rewritten without a torn last line, or the next one would be appended to it.
        entries = [json.dumps(self._facts), *(json.dumps([key, record]) for key, record in self.records.items())]
        write_atomically(path, "".join(f"{entry}\n" for entry in entries))

    @classmethod
    def of(cls, origin: Origin, folder: Path, name: str) -> Journal:
        """The journal of an origin in a folder, which is made if it is missing; raises `OutOfSpace` and similar errors."""
        with translate_write_errors("the results", folder, GO_ON):
            folder.mkdir(parents=True, exist_ok=True)
            return cls(origin.path(folder, name, ".jsonl"), asdict(origin))

    def get(self, key: str) -> Any:
        """The record under a key, None where there is none."""
        return self.records.get(key)

    def add(self, key: str, record: Any) -> None:
        """Keep a record; it outlives the process when this returns."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([key, record]) + "\n")
        self.records[key] = record

    def fill(self, key: str, make: Callable[[], Any]) -> Any:
        """The record under a key, made and kept if there is none; raises `OutOfSpace` and similar errors if it cannot be kept."""
        if self.get(key) is None:
            record = make()
            with translate_write_errors("the results", self.path, GO_ON):
                self.add(key, record)
        return self.records[key]

    def _read(self, otherwise: str) -> dict[str, Any]:
        if not self.path.exists():
            return {}
        # What follows the last line break is a line that was being written when the process died.
        first, *lines = self.path.read_text("utf-8", errors="replace").split("\n")[:-1] or [""]
        try:
            old_facts = json.loads(first)
        except json.JSONDecodeError:
            return {}
        if old_facts != self._facts:
            differences = ", ".join(
                sorted(key for key in self._facts.keys() | old_facts.keys() if old_facts.get(key) != self._facts.get(key))
            )
            raise BadInput(
                f"{self.path} contains an unfinished run with different settings ({differences} differ); resume with its own "
                "settings, "
                f"{otherwise}, or delete it."
            )
        records: dict[str, Any] = {}
        for line in lines:
            try:
                key, record = json.loads(line)
            except ValueError:
                continue  # cut off by a full disk: it is made again
            records[key] = record
        return records

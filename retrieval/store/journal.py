"""What long jobs have finished: records in a journal, a line each, or whole files; a stopped job goes on with what is there.

Either is named by its origin, which is all that decides what is in it: where the content, the settings or the code differ,
another file is used, so that a stale result is never read as a fresh one. (Results that many jobs share lie in
retrieval.core.disk_cache, which is bounded and may forget.)
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from retrieval.core.errors import GO_ON, BadInput, translate_write_errors
from retrieval.store.manifest import write_atomically


def hash_json(facts: Any) -> str:
    """The SHA-256 of anything that JSON can hold."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def hash_file(file: Path) -> str:
    """The SHA-256 of a file; raises `BadInput` where it cannot be read."""
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise BadInput(f"{file} cannot be read ({error.strerror}); name a file of documents.") from None


@dataclass(frozen=True, slots=True)
class Origin:
    """All that decides a result: what was read and how, as anything that JSON can hold, and the hash of the code that made it
    (retrieval.core.code_hash). A journal whose keys are digests of what was read needs no other content."""

    content: Any
    settings: Any
    code: str

    def path(self, folder: Path, name: str, suffix: str = "") -> Path:
        """Where the results of this origin lie, in a file or folder of their own."""
        return folder / f"{name}-{hash_json(asdict(self))[:24]}{suffix}"


class Journal:
    """Records by their keys, on the disk as they come; `resumed` of them are from an earlier try.

    A record is anything that JSON can hold. The first line of the file holds the facts that decide the records.
    """

    def __init__(self, path: Path, facts: Mapping[str, Any], otherwise: str = "name another file") -> None:
        """Raises `BadInput` where the file holds records of other facts; `otherwise` says how to keep them."""
        self.path, self._facts = path, dict(facts)
        self.records: dict[str, Any] = self._read(otherwise)
        self.resumed = len(self.records)
        # Rewritten without a torn last line, or the next one would be appended to it.
        entries = [json.dumps(self._facts), *(json.dumps([key, record]) for key, record in self.records.items())]
        write_atomically(path, "".join(f"{entry}\n" for entry in entries))

    @classmethod
    def of(cls, origin: Origin, folder: Path, name: str) -> Journal:
        """The journal of an origin in a folder, which is made where it is missing; raises `OutOfSpace` and its kin."""
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
        """The record under a key, made and kept where there is none; raises `OutOfSpace` and its kin where it cannot be kept."""
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
            earlier = json.loads(first)
        except json.JSONDecodeError:
            return {}
        if earlier != self._facts:
            changed = ", ".join(
                sorted(key for key in self._facts.keys() | earlier.keys() if earlier.get(key) != self._facts.get(key))
            )
            raise BadInput(
                f"{self.path} contains an unfinished run with different settings ({changed} differ); resume with its own "
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

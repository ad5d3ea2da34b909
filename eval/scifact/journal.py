"""Results that outlive an interruption: one file a variant, one line a claim, named by all that decides what is in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from pydantic import TypeAdapter, ValidationError

from eval.scifact.files import LabelledClaim
from eval.scifact.observing import ClaimResult
from retrieval.core.errors import BadInput
from retrieval.store.manifest import write_atomically

_RESULT: TypeAdapter[ClaimResult] = TypeAdapter(ClaimResult)


def digest(facts: Any) -> str:
    """The SHA-256 of anything that JSON can hold."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def content_sha256(documents: Path) -> str:
    """The SHA-256 of a file of documents; raises `BadInput` where it cannot be read."""
    try:
        with documents.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BadInput(f"{documents} cannot be read ({error.strerror}); name a file of documents.") from None


class Journal:
    """The finished claims of one variant, read when it is opened and added to as they come.

    Facts that differ in anything (corpus, configuration, profile, models, code) have a file of their own, so that results never
    mix; a claim is known by its text and its gold documents, so that a file of claims may grow.
    """

    def __init__(self, folder: Path, name: str, facts: Mapping[str, Any]) -> None:
        self._path = folder / f"{name}-{digest(facts)[:16]}.jsonl"
        self._done = self._read()
        # Without the torn last line that a killed process leaves, or the next one would be appended to it.
        write_atomically(self._path, "".join(f"{_line(key, result)}\n" for key, result in self._done.items()))
        self._file: IO[str] = self._path.open("a", encoding="utf-8")

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    def get(self, claim: LabelledClaim) -> ClaimResult | None:
        """The result of a claim, where it is there already."""
        return self._done.get(_key(claim))

    def add(self, claim: LabelledClaim, result: ClaimResult) -> None:
        """Keep a result; it is on the disk when this returns."""
        self._done[_key(claim)] = result
        self._file.write(f"{_line(_key(claim), result)}\n")
        self._file.flush()

    def _read(self) -> dict[str, ClaimResult]:
        done: dict[str, ClaimResult] = {}
        if not self._path.exists():
            return done
        for line in self._path.read_text("utf-8", errors="replace").splitlines():
            try:
                record = json.loads(line)
                done[str(record["key"])] = _RESULT.validate_python(record["result"])
            except (ValueError, KeyError, TypeError, ValidationError):
                # Torn by a kill or a full disk: the claim is done again.
                continue
        return done


def _key(claim: LabelledClaim) -> str:
    return digest(
        [claim.claim.id, claim.claim.text, sorted((pmid, gold.stance) for pmid, gold in claim.gold.items())],
    )[:16]


def _line(key: str, result: ClaimResult) -> str:
    return json.dumps({"key": key, "result": _RESULT.dump_python(result, mode="json")})

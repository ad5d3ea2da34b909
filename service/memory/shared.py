"""Results that are shared: each kept as it was, under an id that nobody can guess, until who shared it takes it back.

Only what this service found is shared: it notes the digest of each result that it gives to somebody who may share it, and
takes no other one.
"""

from __future__ import annotations

import json
import secrets
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from counterpoint.retrieval.core.errors import BadInput
from counterpoint.retrieval.store.journal import hash_json
from counterpoint.service.checking.schemas import CheckedText
from counterpoint.service.memory.database import Rows, Whose, make_timestamp
from counterpoint.service.memory.history import Now, Result, entry_of, list_changes, make_link, nothing
from counterpoint.service.memory.schemas import RESULTS, Shared, SharedOut, SharedResult

MOST = 1000
"""The most results that a holder may share, and of how many of those given last the digest is known."""


class Shares(Rows):
    """The shared results in the file."""

    table, missing = "shared", "There is no shared result with this id; it may have been withdrawn."

    def note(self, holder: str, library: str, result: Result) -> None:
        """Note that this result was given to a holder."""
        mode = next(mode for mode, kind in RESULTS.items() if isinstance(result, kind))
        row = (holder, library, _digest(result.model_dump(mode="json")), make_timestamp(), mode)
        with self.database.change() as change:
            change.execute("INSERT OR REPLACE INTO made VALUES (?, ?, ?, ?, ?)", row)
            oldest = "SELECT rowid FROM made WHERE holder = ? ORDER BY at DESC LIMIT -1 OFFSET ?"
            change.execute(f"DELETE FROM made WHERE rowid IN ({oldest})", (holder, MOST))

    def add(self, whose: Whose, result: Mapping[str, Any], name: str, name_of: Callable[[str], str]) -> SharedOut:
        """Keep a result that was given to this holder; `name` is that of a text, `name_of` gives a library's by its id.

        Raises `BadInput` for a result that this service did not give, and beyond `MOST`.
        """
        statement = f"SELECT library, mode FROM made WHERE {whose.where} AND digest = ? ORDER BY at DESC"
        rows = self.database.rows(statement, (*whose.values, _digest(result)))
        if not rows:
            raise BadInput("This service did not give you this result, or long ago; ask again, and share what comes unchanged.")
        library, mode = rows[0]
        whole = RESULTS[mode].model_validate(result)
        entry, id = entry_of(whole), secrets.token_urlsafe(16)
        data = Shared(
            mode=mode,
            title=entry.text if entry else name or "Checked text",
            summary=whole.summary if isinstance(whole, CheckedText) else entry.summary if entry else "",
            library_name=name_of(library),
            again=make_link(entry, library) if entry else "",
            provenance=whole.provenance,
        )
        packed = zlib.compress(whole.model_dump_json().encode())
        with self.database.change() as change:
            if change.execute("SELECT count(*) FROM shared WHERE holder = ?", (whose.holder,)).fetchone()[0] >= MOST:
                raise BadInput(f"{MOST:,} results are shared, which is the most; withdraw one first.")
            row = (id, whose.holder, library, make_timestamp(), data.model_dump_json(), packed)
            change.execute("INSERT INTO shared VALUES (?, ?, ?, ?, ?, ?)", row)
        return _read_row(row[:-1], nothing)

    def get(self, whose: Whose, id: str, now: Now = nothing) -> SharedResult:
        """What anybody shares of these libraries, with the result; raises `NoSuch`."""
        whose = replace(whose, everyone=True)
        *row, packed = self.get_row(f"{_COLUMNS}, result", whose, id)
        shared = _read_row(row, now)
        return SharedResult(**dict(shared), result=RESULTS[shared.mode].model_validate_json(zlib.decompress(packed)))

    def count(self, library: str) -> int:
        """How many results of a library are shared."""
        return int(self.database.rows("SELECT count(*) FROM shared WHERE library = ?", (library,))[0][0])

    def find(self, whose: Whose, now: Now = nothing) -> list[SharedOut]:
        """What someone shares, newest first."""
        return [_read_row(row, now) for row in self.select(_COLUMNS, whose, "ORDER BY at DESC")]


_COLUMNS = "id, holder, library, at, data"


def _read_row(row: Sequence[str], now: Now) -> SharedOut:
    id, holder, library, at, data = row
    shared = Shared.model_validate_json(data)
    changed = list_changes(shared.provenance, now(library).get(shared.mode))
    link = f"#shared={id}&library={library}"
    return SharedOut(**dict(shared), id=id, by=holder, library=library, at=at, link=link, changed=changed)


def _digest(result: Mapping[str, Any]) -> str:
    """The hash of a result's JSON; a browser writes 1 for 1.0."""
    return hash_json(
        json.loads(json.dumps(result), parse_float=lambda text: int(text[:-2]) if text.endswith(".0") else float(text))
    )

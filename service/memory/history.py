"""What was asked, newest first, links that repeat a request, and what has changed since; the oldest entries are dropped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from counterpoint.service.answering.schemas import AnswerResponse
from counterpoint.service.checking.schemas import CheckedText
from counterpoint.service.grounding.schemas import GroundResponse
from counterpoint.service.memory.database import Rows, Whose, make_id, make_timestamp
from counterpoint.service.memory.schemas import Entry, HistoryOut, HistoryPage, papers_of
from counterpoint.service.schemas import Provenance


def make_link(entry: Entry, library: str) -> str:
    """The part after the page's address: the claim with its options, what made the result, for the page to compare, and the id of
    the library that was asked."""
    parts = [("claim" if entry.mode == "claim" else "question", entry.text)]
    if entry.mode == "claim":
        parts += [("question", entry.question), ("known", ",".join(entry.known_pmids))]
    else:
        parts.append(("narrative", entry.narrative))
    source = entry.provenance
    parts += [("config", source.config), ("profile", source.profile), ("index", source.index)]
    parts += [("model", f"{role}:{name}") for role, name in source.models.items()]
    parts.append(("library", library))
    return "#" + "&".join(f"{name}={quote(value, safe='')}" for name, value in parts if value)


def list_changes(source: Provenance, now: Provenance | None) -> list[str]:
    """List how the present service differs from what made a result, one sentence each; empty if that is unknown."""
    if now is None:
        return []
    changes = []
    if source.index != now.index:
        changes.append(f"The index has changed since: it was {source.index}, it is {now.index} now.")
    if (source.config, source.profile) != (now.config, now.profile):
        changes.append(
            f"The configuration has changed since: it was {source.config} with the profile {source.profile}, it is {now.config} "
            f"with {now.profile} now."
        )
    if source.models != now.models:
        changes.append(f"The models have changed since: {_describe(source.models)} then, {_describe(now.models)} now.")
    return changes


def _describe(models: Mapping[str, str]) -> str:
    return ", ".join(f"{role} {name}" for role, name in models.items()) or "none"


MOST = 1000
"""The most entries that are kept for a holder."""
Now = Callable[[str], Mapping[str, Provenance]]
"""By a library's id: the present provenance of results, for claims and for questions; empty if that is not known."""


def nothing(_library: str) -> Mapping[str, Provenance]:
    """The provenance of results where there is no service to make any."""
    return {}


def entry_of_claim(response: GroundResponse) -> Entry:
    """Make an entry of a claim and what was found for it."""
    claim = response.claim
    return Entry(
        mode="claim",
        text=claim.text,
        question=claim.question,
        known_pmids=claim.known_pmids,
        summary=response.summary,
        papers=papers_of(response),
        provenance=response.provenance,
    )


Result = GroundResponse | AnswerResponse | CheckedText


def entry_of(result: Result) -> Entry | None:
    """The entry of a claim, or of a question with the answer's first sentence; a text is not remembered."""
    match result:
        case GroundResponse():
            return entry_of_claim(result)
        case AnswerResponse(topic=topic):
            opening = result.sentences[0].text if result.sentences else result.note
            return Entry(
                mode="question",
                text=topic.question,
                narrative=topic.narrative,
                summary=opening,
                provenance=result.provenance,
            )
    return None


class History(Rows):
    """The history in the file."""

    table, missing = "history", "The history has no entry with this id."

    def add(self, holder: str, library: str, entry: Entry) -> None:
        """Keep an entry; if the same was asked of the library before, it replaces the earlier one."""
        data = entry.model_dump_json()
        asked = "'$.mode', '$.text', '$.question', '$.known_pmids', '$.narrative'"
        same = f"library = ? AND json_extract(data, {asked}) = json_extract(?, {asked})"
        with self.database.change() as change:
            change.execute(f"DELETE FROM history WHERE holder = ? AND {same}", (holder, library, data))
            change.execute("INSERT INTO history VALUES (?, ?, ?, ?, ?)", (make_id(), holder, library, make_timestamp(), data))
            oldest = "SELECT id FROM history WHERE holder = ? ORDER BY at DESC, id DESC LIMIT -1 OFFSET ?"
            change.execute(f"DELETE FROM history WHERE id IN ({oldest})", (holder, MOST))

    def find(self, whose: Whose, limit: int, before: str = "", now: Now = nothing) -> HistoryPage:
        """The newest entries, or the newest of those before a time; `now` is what they are compared with."""
        page = "AND (? = '' OR at < ?) ORDER BY at DESC, id DESC LIMIT ?"
        rows = self.select(_COLUMNS, whose, page, (before, before, limit + 1))
        entries = [_read_row(row, now) for row in rows[:limit]]
        return HistoryPage(entries=entries, next_before=entries[-1].at if len(rows) > limit else None)

    def get(self, whose: Whose, id: str, now: Now = nothing) -> HistoryOut:
        """One entry; raises `NoSuch`."""
        return _read_row(self.get_row(_COLUMNS, whose, id), now)

    def clear(self, whose: Whose) -> int:
        """Delete a whole history, and return how many entries it had."""
        with self.database.change() as change:
            return change.execute(f"DELETE FROM history WHERE {whose.where}", whose.values).rowcount


_COLUMNS = "id, library, at, data"


def _read_row(row: tuple[Any, ...], now: Now) -> HistoryOut:
    id, library, at, data = row
    entry = Entry.model_validate_json(data)
    changes = list_changes(entry.provenance, now(library).get(entry.mode))
    return HistoryOut(**dict(entry), id=id, library=library, at=at, link=make_link(entry, library), changed=changes)

"""Readers' feedback on verdicts, and its export as evaluation data."""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from counterpoint.retrieval.core.errors import BadInput
from counterpoint.service.memory.database import Rows, Whose, make_id, make_timestamp
from counterpoint.service.memory.schemas import FeedbackList, FeedbackOut, Opinion

MOST = 10_000
"""The most pieces of feedback that are kept for a holder."""


class Feedback(Rows):
    """The feedback in the file: for each holder, library, claim and paper, the last piece given."""

    table, missing = "feedback", "There is no feedback with this id."

    def add(self, holder: str, library: str, opinion: Opinion) -> FeedbackOut:
        """Keep a piece of feedback; it replaces the holder's earlier one on the same paper. Raises `BadInput` beyond `MOST`."""
        with self.database.change() as change:
            count = change.execute("SELECT count(*) FROM feedback WHERE holder = ?", (holder,)).fetchone()[0]
            if count >= MOST:
                raise BadInput(f"{MOST:,} pieces of feedback are stored, which is the most; delete some first.")
            id, at, data = make_id(), make_timestamp(), opinion.model_dump_json()
            row = (id, holder, library, at, opinion.claim, opinion.pmid, data)
            change.execute("INSERT OR REPLACE INTO feedback VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        return _read_row(id, library, at, data)

    def find(self, whose: Whose) -> FeedbackList:
        """All feedback that someone gave, newest first."""
        rows = self.select("id, library, at, data", whose, "ORDER BY at DESC, id")
        return FeedbackList(feedback=[_read_row(*row) for row in rows])

    def every(self) -> list[tuple[str, FeedbackOut]]:
        """All feedback of all holders, oldest first, each piece with its holder."""
        rows = self.database.rows("SELECT holder, id, library, at, data FROM feedback ORDER BY at, id")
        return [(holder, _read_row(*row)) for holder, *row in rows]


@dataclass(frozen=True, slots=True)
class Labelled:
    """Feedback as a CSV for `eval claims`, with the number of its rows and that of the papers of a claim on which readers
    disagree, which are left out."""

    text: str
    rows: int
    disputed: int


def find_agreed(every: Iterable[FeedbackOut]) -> tuple[list[FeedbackOut], int]:
    """The last opinion on each paper of a claim on which all readers agree, and the number of papers on which they do not."""
    opinions: dict[tuple[str, str], list[FeedbackOut]] = defaultdict(list)
    for one in every:
        opinions[one.pmid, one.claim].append(one)
    agreements = [group[-1] for group in opinions.values() if len({one.right for one in group}) == 1]
    return agreements, len(opinions) - len(agreements)


def write_csv(every: Iterable[FeedbackOut]) -> Labelled:
    """Write one row per claim and paper: pmid, claim, what the readers say the paper says, and the side it was shown on."""
    agreements, disputes = find_agreed(every)
    buffer = io.StringIO()
    table = csv.writer(buffer, lineterminator="\n")
    table.writerow(["pmid", "claim", "stance", "kind"])
    table.writerows([one.pmid, one.claim, one.right, f"shown as {one.shown}"] for one in agreements)
    return Labelled(buffer.getvalue(), len(agreements), disputes)


def write_jsonl(every: Sequence[tuple[str, FeedbackOut]]) -> str:
    """Write everything that is stored, one piece per line, with the holder of the key that it was given with."""
    lines = [{**one.model_dump(mode="json"), "holder": holder} for holder, one in every]
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)


def _read_row(id: str, library: str, at: str, data: str) -> FeedbackOut:
    return FeedbackOut(**dict(Opinion.model_validate_json(data)), id=id, library=library, at=at)

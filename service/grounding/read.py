"""Read: what each paper says on a claim (nli.reader.paper), as many at a time as there are cores."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

from nli.judge import Abstract, Reader, drop_question
from nli.reader.paper import judge_paper, read_twice
from retrieval.core.errors import ModelUnusable
from retrieval.core.values import Claim, Verdict
from retrieval.store.documents import Entry
from service.grounding.values import PaperReading

UNREAD = Verdict(0.0, 1.0, 0.0, decided="neutral", of="document")


def read(
    reader: Reader,
    claim: Claim,
    entries: Sequence[Entry],
    tell: Callable[[PaperReading], None] = lambda _: None,
    until: float | None = None,
) -> list[PaperReading]:
    """What each of these papers says on a claim, in order: it depends on claim, paper and reader alone.

    `tell` gets each reading as it is made; an exception from it ends the work. A paper that cannot be read is neutral, with the
    reason in its note, and the others stand. From the time `until` on (by `time.monotonic`), no further paper is waited for.
    """
    readings = []
    with ThreadPoolExecutor(min(len(entries), os.cpu_count() or 1) or 1, thread_name_prefix="read") as pool:
        jobs = [pool.submit(copy_context().run, read_paper, reader, claim, entry) for entry in entries]
        try:
            for job in jobs:
                readings.append(job.result(None if until is None else max(0.0, until - time.monotonic())))
                tell(readings[-1])
        except TimeoutError:
            pass  # what was read so far counts
        finally:
            stopped = [job for job in jobs[len(readings) :] if not job.cancel()]
    # A paper that was being read when the time was up has been read by now.
    return readings + [job.result() for job in stopped]


def read_paper(reader: Reader, claim: Claim, entry: Entry) -> PaperReading:
    """What one paper says on a claim; `entry` must have a sentence."""
    paper = Abstract(drop_question(entry.document.title), tuple(sentence.text for sentence in entry.sentences()))
    try:
        return PaperReading(entry.pmid, *judge_paper(reader, read_twice(reader, claim.text, paper)), reader.name)
    except ModelUnusable as error:
        return PaperReading(entry.pmid, UNREAD, None, reader.name, f"it could not be read: {error}")

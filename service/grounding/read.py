"""Read: what each paper says on a claim (nli.reader.paper), as many at a time as there are cores or a server is sent."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from types import MappingProxyType

from counterpoint.nli.judge import Reader
from counterpoint.nli.long_text import Window, make_abstract
from counterpoint.nli.reader.paper import PaperReader
from counterpoint.nli.reader.paper import read_paper as read_abstract
from counterpoint.retrieval.core.errors import ModelUnusable
from counterpoint.retrieval.core.values import Claim, Contrast, Grounding, Sentence, Verdict
from counterpoint.retrieval.store.documents import Entry
from counterpoint.service.grounding.full_text import Windows, join_readings
from counterpoint.service.grounding.values import PaperReading

UNREAD = Verdict(0.0, 1.0, 0.0, decided="neutral", of="document")


def read(
    reader: Reader,
    claims: Iterable[Claim],
    entries: Sequence[Entry],
    on_progress: Callable[[PaperReading], None] = lambda _: None,
    until: float | None = None,
    windows: Windows = MappingProxyType({}),
) -> list[PaperReading]:
    """What each of these papers says on its claim, in order: it depends on claim, paper and reader alone.

    `on_progress` gets each reading as it is made; an exception from it ends the work. A paper that cannot be read is neutral,
    with the reason in its note, and the others stand. Of a paper in `windows`, that window of its full text is read too. From the
    time `until` on (by `time.monotonic`), no further paper is waited for.
    """
    readings = []
    at_once = reader.at_once if isinstance(reader, PaperReader) else os.cpu_count() or 1
    with ThreadPoolExecutor(min(len(entries), at_once) or 1, thread_name_prefix="read") as pool:
        pairs = zip(claims, entries, strict=False)
        jobs = [
            pool.submit(copy_context().run, read_paper, reader, claim, entry, windows.get(entry.pmid, ()))
            for claim, entry in pairs
        ]
        try:
            for job in jobs:
                readings.append(job.result(None if until is None else max(0.0, until - time.monotonic())))
                on_progress(readings[-1])
        except TimeoutError:
            pass  # what was read so far counts
        finally:
            stopped = [job for job in jobs[len(readings) :] if not job.cancel()]
    # A paper that was being read when the time was up has been read by now.
    return readings + [job.result() for job in stopped]


def read_paper(reader: Reader, claim: Claim, entry: Entry, window: Window = ()) -> PaperReading:
    """What one paper says on a claim, by its abstract and a window of its full text; nothing if it has neither.

    A reader with its own way of reading papers gets both at once.
    """
    parts = [some for some in (entry.sentences(), window) if some]
    if isinstance(reader, PaperReader):
        parts = [(*entry.sentences(), *window)] if parts else []
    try:
        readings = [_read(reader, claim, entry, some) for some in parts]
    except ModelUnusable as error:
        return PaperReading(entry.pmid, UNREAD, None, reader.name, f"it could not be read: {error}")
    if len(readings) > 1:
        return join_readings(readings[0], readings[1], reader.paper.full_text.row_decides)
    return readings[0] if readings else PaperReading(entry.pmid, UNREAD, None, reader.name)


def _read(reader: Reader, claim: Claim, entry: Entry, sentences: Sequence[Sentence]) -> PaperReading:
    found = read_abstract(reader, claim.text, make_abstract(entry.document.title, sentences))
    return PaperReading(entry.pmid, found.verdict, None if found.sentence is None else sentences[found.sentence], found.by)


def contrast(reader: Reader, claim: Claim, grounding: Grounding, entries: Mapping[str, Entry]) -> tuple[Contrast, ...]:
    """What differs between the most probable papers of either side, if there are two and a reader that can say it."""
    if not (isinstance(reader, PaperReader) and grounding.contradicting and grounding.supporting):
        return ()
    first, second = (entries[side[0].document.pmid] for side in (grounding.contradicting, grounding.supporting))
    abstracts = [make_abstract(one.document.title, one.sentences()) for one in (first, second)]
    try:
        return tuple(reader.contrast(claim.text, *abstracts))
    except ModelUnusable:
        return ()

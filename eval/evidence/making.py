"""Making a benchmark: every paper annotated, those that the model is of no use for told and left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tqdm import tqdm

from eval.evidence.annotation import Annotator, ToAnnotate, make_record
from retrieval.core.errors import Interrupted
from retrieval.runtime.chat import ChatUnanswered


def make_records(tasks: Sequence[ToAnnotate], annotator: Annotator) -> tuple[list[dict[str, Any]], list[str]]:
    """The records in the order of the tasks, and a sentence for each paper that gave none.

    A server that is gone or too busy raises `ChatUnanswered`; what was answered is kept.
    """
    records: list[dict[str, Any]] = []
    faults: list[str] = []
    try:
        for task in tqdm(tasks, desc="papers annotated", unit="paper", disable=None):
            try:
                records.append(make_record(task, annotator.annotate(task), annotator.chat.model))
            except ChatUnanswered as error:
                if error.status == 503:
                    raise
                faults.append(f"{task.id}: {error}")
    except KeyboardInterrupt:
        done = len(records) + len(faults)
        raise Interrupted(f"Stopped after {done} of {len(tasks)} papers; the same command resumes.") from None
    return records, faults

"""Make a benchmark: annotate every paper, and report and leave out those for which the model gives no usable answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eval.evidence.annotation import Annotator, ToAnnotate, make_record
from eval.measures.resuming import finish_each
from retrieval.runtime.chat import ChatUnanswered


def make_records(tasks: Sequence[ToAnnotate], annotator: Annotator) -> tuple[list[dict[str, Any]], list[str]]:
    """The records in the order of the tasks, and a sentence for each paper that yielded no record.

    A server that is gone or too busy raises `ChatUnanswered`; the answers so far are kept.
    """
    records: list[dict[str, Any]] = []
    faults: list[str] = []

    def annotate(task: ToAnnotate) -> None:
        try:
            records.append(make_record(task, annotator.annotate(task), annotator.chat.model))
        except ChatUnanswered as error:
            if error.status == 503:
                raise
            faults.append(f"{task.id}: {error}")

    finish_each(tasks, annotate, "annotating", "papers", annotator.work)
    return records, faults

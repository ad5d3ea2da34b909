"""Making a Task A run: items in parallel, each kept when finished, the whole file written at the end (service.trec.journal)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retrieval.core.values import Evidence
from service.grounding.ground import Grounder
from service.trec.journal import RUN, Job, facts_of_service, journal, shared_facts, work
from service.trec.records import track_id, write_line
from service.trec.shards import Shard, own_part
from service.trec.task_a.items import Item


@dataclass(frozen=True, slots=True)
class TaskARunReport:
    """What a run did."""

    sentences: int
    with_support: int
    with_contradiction: int
    resumed: int


def run(
    items: Sequence[Item], input: Path, grounder: Grounder, out: Path, team: str, run_id: str, shard: Shard | None = None
) -> TaskARunReport:
    """Ground every sentence of every item and write the official format, one item per line, with a manifest beside it.

    With `shard`, only that part of the items (service.trec.shards).
    """
    items, part = own_part(items, [len(item.answer) for item in items], shard)
    with journal(out, {**_facts(input, grounder, team, run_id), **part}) as run_journal:
        work(run_journal, [_job(item, grounder, team, run_id) for item in items], "grounding", "sentences")
        lines = [run_journal.records[item.qa_id] for item in items]
        run_journal.publish({RUN: "".join(f"{line}\n" for line in lines)})
    answers = [sentence for line in lines for sentence in json.loads(line)["answer"]]
    return TaskARunReport(
        sentences=len(answers),
        with_support=sum(bool(answer["supported_citations"]) for answer in answers),
        with_contradiction=sum(bool(answer["contradicted_citations"]) for answer in answers),
        resumed=run_journal.resumed,
    )


def _job(item: Item, grounder: Grounder, team: str, run_id: str) -> Job:
    return Job(item.qa_id, len(item.answer), lambda: _record(item, grounder, team, run_id))


def _record(item: Item, grounder: Grounder, team: str, run_id: str) -> str:
    """One item of the run in the official format, as one line of JSON."""
    answer = []
    for sentence, claim in zip(item.answer, item.claims(), strict=True):
        grounding = grounder.ground(claim)
        answer.append(
            {
                "text": sentence.text,
                "existing_supported_citations": list(sentence.existing),
                # The format cannot mark a paper as retracted, and a retracted paper is not plain support.
                "supported_citations": _citations([one for one in grounding.supporting if one.standing != "retracted"]),
                "contradicted_citations": _citations(grounding.contradicting),
            }
        )
    metadata = {"team_id": team, "run_id": run_id, "qa_id": item.qa_id, "question": item.question}
    return write_line({"metadata": metadata, "answer": answer})


def _citations(evidence: Sequence[Evidence]) -> list[int | str]:
    return [track_id(one.document.pmid) for one in evidence]


def _facts(input: Path, grounder: Grounder, team: str, run_id: str) -> dict[str, Any]:
    """Everything that determines the contents of a run; two runs with equal facts have equal bytes."""
    return {**shared_facts("a", input, team, run_id, __name__), **facts_of_service(grounder)}

"""Making a Task A run: items in parallel, every finished one kept, the file written whole at the end.

A journal beside the run file keeps each finished item, so that a killed run goes on where it stopped and ends with the same
bytes as an undisturbed one: an item's lines depend on its own text alone, never on what ran beside it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from tqdm import tqdm

from retrieval.errors import BadInput, Interrupted, writing
from retrieval.manifest import write_atomically
from retrieval.values import Evidence
from service.ground import Grounder
from service.schemas import Provenance
from service.task_a import Item

# BM25 (Java) of one item overlaps with the models of another; more threads only wait for the same cores.
_WORKERS = 2
_GO_ON = "what was done so far is kept: free some space and run the same command again to go on"


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run did."""

    sentences: int
    with_support: int
    with_contradiction: int
    resumed: int


def check_target(out: Path, overwrite: bool) -> None:
    """Refuse to run for hours towards a file that cannot or should not be written."""
    if out.is_dir():
        raise BadInput(f"{out} is a folder; give the path of the run file to write.")
    if out.exists() and not overwrite:
        raise BadInput(f"{out} already exists; name another file, or add --overwrite to replace it when the run is done.")
    if not out.parent.is_dir():
        raise BadInput(f"The folder {out.parent} does not exist; make it first.")


def run(items: Sequence[Item], input: Path, grounder: Grounder, out: Path, team: str, run_id: str) -> RunReport:
    """Ground every sentence of every item and write the official format, one item a line, with a manifest beside it."""
    facts = _facts(input, grounder, team, run_id)
    journal_path = out.with_name(f"{out.name}.partial")
    with writing("the run", out, _GO_ON):
        done = _read_journal(journal_path, facts)
        resumed = len(done)
        with _journal(journal_path, facts, done) as journal:
            _ground_missing(items, grounder, team, run_id, done, journal)
        lines = [done[item.qa_id] for item in items]
        write_atomically(out.with_name(f"{out.name}.manifest.json"), json.dumps(facts, indent=2) + "\n")
        write_atomically(out, "".join(f"{line}\n" for line in lines))
        journal_path.unlink()
    answers = [sentence for line in lines for sentence in json.loads(line)["answer"]]
    return RunReport(
        sentences=len(answers),
        with_support=sum(bool(answer["supported_citations"]) for answer in answers),
        with_contradiction=sum(bool(answer["contradicted_citations"]) for answer in answers),
        resumed=resumed,
    )


def _ground_missing(
    items: Sequence[Item], grounder: Grounder, team: str, run_id: str, done: dict[str, str], journal: IO[str]
) -> None:
    missing = [item for item in items if item.qa_id not in done]
    total = sum(len(item.answer) for item in items)
    pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="task-a")
    try:
        with tqdm(total=total, desc="grounding", unit=" sentences", disable=None) as bar:
            bar.update(total - sum(len(item.answer) for item in missing))
            futures = {pool.submit(_record, item, grounder, team, run_id): item for item in missing}
            for future in as_completed(futures):
                item = futures[future]
                done[item.qa_id] = future.result()
                journal.write(json.dumps([item.qa_id, done[item.qa_id]]) + "\n")
                journal.flush()
                bar.update(len(item.answer))
    except KeyboardInterrupt:
        raise Interrupted(
            f"Stopped after {len(done)} of {len(items)} items; they are kept, and the same command goes on from there."
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _record(item: Item, grounder: Grounder, team: str, run_id: str) -> str:
    """One item of the run in the official format, as one line of JSON."""
    answer = []
    for sentence, claim in zip(item.answer, item.claims(), strict=True):
        grounding = grounder.ground(claim)
        answer.append(
            {
                "text": sentence.text,
                "existing_supported_citations": list(sentence.existing),
                # A run has no room for the word "retracted", and a retracted paper is no plain support.
                "supported_citations": _citations([one for one in grounding.supporting if one.standing != "retracted"]),
                "contradicted_citations": _citations(grounding.contradicting),
            }
        )
    metadata = {"team_id": team, "run_id": run_id, "qa_id": item.qa_id, "question": item.question}
    return json.dumps({"metadata": metadata, "answer": answer}, ensure_ascii=False)


def _citations(evidence: Sequence[Evidence]) -> list[int | str]:
    """PMIDs as the track writes them, as numbers; ids of other corpora as they are."""
    pmids = [one.document.pmid for one in evidence]
    return [int(pmid) if pmid.isascii() and pmid.isdigit() else pmid for pmid in pmids]


def _facts(input: Path, grounder: Grounder, team: str, run_id: str) -> dict[str, Any]:
    """Everything that decides what a run holds; two runs with equal facts have equal bytes."""
    return {
        "counterpoint": version("counterpoint"),
        "task": "a",
        "team_id": team,
        "run_id": run_id,
        "input": input.name,
        "input_sha256": hashlib.sha256(input.read_bytes()).hexdigest(),
        "provenance": Provenance.of(grounder).model_dump(),
        "corpus_sha256": grounder.index.manifest.corpus_sha256,
        "config": grounder.config.model_dump(),
        "profile": grounder.models.profile.model_dump(),
    }


def _read_journal(path: Path, facts: dict[str, Any]) -> dict[str, str]:
    """The finished items of an earlier try at the same run; the last line may be torn, the others are whole."""
    if not path.exists():
        return {}
    lines = path.read_text("utf-8").split("\n")
    try:
        earlier = json.loads(lines[0])
    except json.JSONDecodeError:
        return {}
    if earlier != facts:
        changed = ", ".join(sorted(key for key in facts if earlier.get(key) != facts[key]))
        raise BadInput(
            f"{path} holds an unfinished run made otherwise ({changed} differ); go on with its own settings, "
            "name another --out, or delete it."
        )
    done = {}
    # What follows the last line break is a line that was being written when the process died.
    for line in lines[1:-1]:
        qa_id, record = json.loads(line)
        done[qa_id] = record
    return done


def _journal(path: Path, facts: dict[str, Any], done: dict[str, str]) -> IO[str]:
    """The journal, opened to go on: rewritten without a torn last line."""
    entries = [json.dumps(facts), *(json.dumps([qa_id, record]) for qa_id, record in done.items())]
    write_atomically(path, "".join(f"{entry}\n" for entry in entries))
    return path.open("a", encoding="utf-8")

"""TREC BioGen 2025 Task A: reading its input, making a run, checking one. An item is a question with an answer to ground."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadInput, BadRecord
from counterpoint.retrieval.core.values import Claim, Evidence, Grounding, Stance
from counterpoint.retrieval.index import Documents
from counterpoint.retrieval.store.corpus import Corpus
from counterpoint.service.grounding.claims import check_claim
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.runs.journal import RUN, Job, facts_of_service, journal, shared_facts, work
from counterpoint.service.trec.fill import choose_best
from counterpoint.service.trec.records import (
    Shape,
    citation_faults,
    is_id_list,
    keys,
    kind,
    read_id,
    read_json_or_lines,
    read_words,
    record_faults,
    refuse_repeats,
    refuse_unknown,
    track_id,
    write_line,
)

_ITEM = ("meta_data", "metadata", "answer")
_METADATA = ("qa_id", "question")
_SENTENCE = ("text", "existing_supported_citations")


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence of an answer, with the citations that already support it."""

    text: str
    existing: tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A question and its answer, sentence by sentence."""

    qa_id: str
    question: str
    answer: tuple[AnswerSentence, ...]

    def claims(self) -> list[Claim]:
        """Each sentence as a claim."""
        return [
            check_claim(sentence.text, self.question, sentence.existing, id=f"{self.qa_id}.{number}")
            for number, sentence in enumerate(self.answer, 1)
        ]


def read_items(path: Path) -> list[Item]:
    """The items of a Task A input, in either spelling of its metadata; raises `BadInput` with the file, item and fault."""
    records = read_json_or_lines(path)
    if any(isinstance(record, dict) and ("topics" in record or "narrative" in record) for record in records):
        raise BadInput(
            f"{path} contains topics with narratives, the input of Task B; "
            "Task A reads a list of items with meta_data and answer."
        )
    items = [_item(path, number, record) for number, record in enumerate(records, 1)]
    if not items:
        raise BadInput(f"{path} contains no items; Task A reads a list of items with meta_data and answer.")
    refuse_repeats(path, "item", "qa_id", (item.qa_id for item in items))
    return items


def _item(path: Path, number: int, record: Any) -> Item:
    place = f"item {number}"
    refuse_unknown(path, place, record, _ITEM)
    metadata = record.get("meta_data", record.get("metadata"))
    if not isinstance(metadata, dict):
        raise BadRecord(path, place, f"meta_data (or metadata) with qa_id and question is missing; the record has {keys(record)}")
    refuse_unknown(path, f"{place}, meta_data", metadata, _METADATA)
    own_id = read_id(path, place, "meta_data.qa_id", metadata.get("qa_id"))
    place = f"item {number} (qa_id {own_id})"
    question = read_words(path, place, "meta_data.question", metadata.get("question"))
    answer = record.get("answer")
    if not isinstance(answer, list):
        raise BadRecord(path, place, f"answer should be a list of sentences, not {kind(answer)}")
    sentences = tuple(_sentence(path, f"{place}, sentence {i}", question, sentence) for i, sentence in enumerate(answer, 1))
    return Item(own_id, question, sentences)


def _sentence(path: Path, place: str, question: str, record: Any) -> AnswerSentence:
    if isinstance(record, dict):
        refuse_unknown(path, place, record, _SENTENCE)
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        raise BadRecord(path, place, f"expected an object with a text, not {kind(record)}")
    if not record["text"].strip():
        raise BadRecord(path, place, "the text is empty; every sentence must say something")
    citations = record.get("existing_supported_citations")
    if citations is None:
        citations = []
    if not is_id_list(citations):
        raise BadRecord(path, place, f"existing_supported_citations should be a list of PMIDs or null, not {kind(citations)}")
    try:
        check_claim(record["text"], question, citations)
    except BadInput as error:
        raise BadRecord(path, place, str(error)) from None
    return AnswerSentence(record["text"], tuple(citations))


@dataclass(frozen=True, slots=True)
class TaskARunReport:
    """What a run did."""

    sentences: int
    with_support: int
    with_contradiction: int
    resumed: int


def run(
    items: Sequence[Item], input: Path, grounder: Grounder, out: Path, team: str, run_id: str, fill: bool = False
) -> TaskARunReport:
    """Ground every sentence of every item and write the official format, one item per line, with a manifest beside it.

    With `fill`, these are the citations with the highest expected score (service.trec.fill), which needs a variant that reads
    papers: raises `BadInput` for another.
    """
    if fill and not grounder.reads_papers:
        raise BadInput(
            f"--fill chooses by the probability of each paper, and the variant {grounder.config.name} gives none; leave out "
            "--fill or choose a variant that reads papers, such as the default."
        )
    # Everything that determines the contents of a run: two runs with equal facts have equal bytes.
    facts = {**shared_facts("a", input, team, run_id, __name__), "fill": fill, **facts_of_service(grounder)}
    choose = choose_best if fill else _take_sides
    jobs = [Job(item.qa_id, len(item.answer), partial(_record, item, grounder, choose, team, run_id)) for item in items]
    with journal(out, facts) as run_journal:
        work(run_journal, jobs, "grounding", "sentences")
        lines = [run_journal.records[item.qa_id] for item in items]
        run_journal.publish({RUN: lines})
    answers = [sentence for line in lines for sentence in json.loads(line)["answer"]]
    return TaskARunReport(
        sentences=len(answers),
        with_support=sum(bool(answer["supported_citations"]) for answer in answers),
        with_contradiction=sum(bool(answer["contradicted_citations"]) for answer in answers),
        resumed=run_journal.resumed,
    )


def _record(
    item: Item, grounder: Grounder, choose: Callable[[Grounding], Mapping[Stance, Sequence[Evidence]]], team: str, run_id: str
) -> str:
    """One item of the run in the official format, as one line of JSON."""
    answer = []
    for sentence, claim in zip(item.answer, item.claims(), strict=True):
        chosen = choose(grounder.ground(claim))
        answer.append(
            {
                "text": sentence.text,
                "existing_supported_citations": list(sentence.existing),
                "supported_citations": [track_id(one.document.pmid) for one in chosen["support"]],
                "contradicted_citations": [track_id(one.document.pmid) for one in chosen["contradict"]],
            }
        )
    metadata = {"team_id": team, "run_id": run_id, "qa_id": item.qa_id, "question": item.question}
    return write_line({"metadata": metadata, "answer": answer})


def _take_sides(grounding: Grounding) -> dict[Stance, Sequence[Evidence]]:
    """The papers on either side; the format cannot mark a paper as retracted, and a retracted paper is not plain support."""
    supporting = [one for one in grounding.supporting if one.standing != "retracted"]
    return {"support": supporting, "contradict": grounding.contradicting}


SHAPE = Shape("item", "qa_id", "answer", {2025: range(116, 156)})
LISTS = ("supported_citations", "contradicted_citations")
"""The keys of a sentence's citations in a run."""


def check(run: Path, items: Sequence[Item], store: Documents, corpus: Corpus | None = None) -> list[str]:
    """All faults of a run, in the order of its items; an empty list means a valid run. With `corpus`, it may cite no other."""
    by_id = {item.qa_id: item for item in items}

    def faults_in(place: str, key: str, record: dict[str, Any]) -> Iterator[str]:
        return _item_faults(place, record, by_id[key], store, corpus)

    return list(record_faults(read_json_or_lines(run), SHAPE, by_id, faults_in))


def _item_faults(place: str, record: dict[str, Any], item: Item, store: Documents, corpus: Corpus | None) -> Iterator[str]:
    if not isinstance(record["metadata"]["qa_id"], str):
        yield f"{place}: metadata.qa_id should be a text, as the track's validator expects"
    if record["metadata"].get("question") != item.question:
        yield f"{place}: metadata.question is not the input's"
    answer = record.get("answer")
    if not isinstance(answer, list):
        yield f"{place}: answer should be a list of sentences"
        return
    if len(answer) != len(item.answer):
        yield f"{place}: it has {format_count(len(answer), 'sentence')} and the input has {len(item.answer)}"
    for number, (entry, sentence) in enumerate(zip(answer, item.answer, strict=False), 1):
        yield from _sentence_faults(f"{place}, sentence {number}", entry, sentence, store, corpus)


def _sentence_faults(place: str, entry: Any, sentence: AnswerSentence, store: Documents, corpus: Corpus | None) -> Iterator[str]:
    if not isinstance(entry, dict):
        yield f"{place}: an object was expected"
        return
    if entry.get("text") != sentence.text:
        yield f"{place}: the text is not the input's"
    citations = entry.get("existing_supported_citations") or []
    if not is_id_list(citations) or [str(c) for c in citations] != [str(c) for c in sentence.existing]:
        yield f"{place}: existing_supported_citations are not the input's"
    lists: dict[str, list[str]] = {}
    for name in LISTS:
        value = entry.get(name)
        if value is None or not is_id_list(value):
            yield f"{place}: {name} should be a list of PMIDs"
            continue
        lists[name] = pmids = [str(pmid) for pmid in value]
        yield from citation_faults(place, name, pmids, store, corpus)
    support, against = (lists.get(name, []) for name in LISTS)
    known_pmids = {str(pmid).strip() for pmid in sentence.existing}
    for pmid in dict.fromkeys(support):
        if pmid in known_pmids:
            yield f"{place}: supported_citations repeats the existing citation {pmid}"
        if pmid in against:
            yield f"{place}: {pmid} is both supporting and contradicting"

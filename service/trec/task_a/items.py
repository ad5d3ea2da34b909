"""TREC BioGen 2025 Task A: reading its input. An item is a question with an answer whose sentences are to be grounded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retrieval.core.errors import BadInput, BadRecord
from retrieval.core.values import Claim
from service.grounding.claims import check_claim
from service.trec.records import is_id_list, keys, kind, read_id, read_json_or_lines, refuse_repeats, refuse_unknown

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
    if not isinstance(record, dict):
        raise BadRecord(path, place, f"expected an object, not {kind(record)}")
    refuse_unknown(path, place, record, _ITEM)
    metadata = record.get("meta_data", record.get("metadata"))
    if not isinstance(metadata, dict):
        raise BadRecord(path, place, f"meta_data (or metadata) with qa_id and question is missing; the record has {keys(record)}")
    refuse_unknown(path, f"{place}, meta_data", metadata, _METADATA)
    qa_id = metadata.get("qa_id")
    own_id = read_id(path, place, "meta_data.qa_id", qa_id)
    place = f"item {number} (qa_id {own_id})"
    question = metadata.get("question")
    if not isinstance(question, str):
        raise BadRecord(path, place, f"meta_data.question should be a text, not {kind(question)}")
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

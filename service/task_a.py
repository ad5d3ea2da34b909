"""TREC BioGen 2025 Task A: reading its input. An item is a question with an answer whose sentences are to be grounded."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retrieval.errors import BadInput, BadRecord
from retrieval.values import Claim
from service.claims import checked_claim


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
        """Each sentence as a claim; raises `BadInput` for one that cannot be searched for."""
        return [
            checked_claim(sentence.text, self.question, sentence.existing, id=f"{self.qa_id}.{number}")
            for number, sentence in enumerate(self.answer, 1)
        ]


def read_json_or_lines(path: Path) -> list[Any]:
    """The records of a file that is one JSON list or a JSON object a line; the track uses both."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}); give the path of an existing file.") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8 text; a JSON file was expected.") from None
    if not text.strip():
        raise BadInput(f"{path} is empty; a JSON file was expected.")
    try:
        whole = json.loads(text)
        return whole if isinstance(whole, list) else [whole]
    except json.JSONDecodeError as error:
        first = error
    records = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                records.append(json.loads(line))
            except json.JSONDecodeError:
                # A list that breaks off is told by its own fault, not by its first line's.
                where = f"line {first.lineno}: {first.msg}" if text.lstrip()[0] == "[" else f"line {number} is not JSON"
                raise BadInput(f"{path}, {where}; one JSON list or one JSON object a line was expected.") from None
    return records


def read_items(path: Path) -> list[Item]:
    """The items of a Task A input, in either spelling of its metadata; raises `BadInput` naming file, item and what is wrong."""
    records = read_json_or_lines(path)
    if any(isinstance(record, dict) and ("topics" in record or "narrative" in record) for record in records):
        raise BadInput(
            f"{path} holds topics with narratives, which is the input of Task B; "
            "Task A reads a list of items with meta_data and answer."
        )
    items = [_item(path, number, record) for number, record in enumerate(records, 1)]
    if not items:
        raise BadInput(f"{path} holds no items; Task A reads a list of items with meta_data and answer.")
    seen: set[str] = set()
    for number, item in enumerate(items, 1):
        if item.qa_id in seen:
            raise BadRecord(path, f"item {number}", f"qa_id {item.qa_id!r} came before; every item needs its own")
        seen.add(item.qa_id)
        item.claims()
    return items


def _item(path: Path, number: int, record: Any) -> Item:
    place = f"item {number}"
    if not isinstance(record, dict):
        raise BadRecord(path, place, f"an object was expected, not {_kind(record)}")
    metadata = record.get("meta_data", record.get("metadata"))
    if not isinstance(metadata, dict):
        raise BadRecord(path, place, f"meta_data (or metadata) with qa_id and question was expected; it has {_keys(record)}")
    qa_id = metadata.get("qa_id")
    if not isinstance(qa_id, str | int) or isinstance(qa_id, bool) or not str(qa_id).strip():
        raise BadRecord(path, place, f"meta_data.qa_id should be a text or number, not {_kind(qa_id)}")
    place = f"item {number} (qa_id {qa_id})"
    question = metadata.get("question")
    if not isinstance(question, str):
        raise BadRecord(path, place, f"meta_data.question should be a text, not {_kind(question)}")
    answer = record.get("answer")
    if not isinstance(answer, list):
        raise BadRecord(path, place, f"answer should be a list of sentences, not {_kind(answer)}")
    sentences = tuple(_sentence(path, f"{place}, sentence {i}", sentence) for i, sentence in enumerate(answer, 1))
    return Item(str(qa_id), question, sentences)


def _sentence(path: Path, place: str, record: Any) -> AnswerSentence:
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        raise BadRecord(path, place, f"an object with a text was expected, not {_kind(record)}")
    if not record["text"].strip():
        raise BadRecord(path, place, "the text is empty; every sentence must say something")
    existing = record.get("existing_supported_citations")
    if existing is None:
        existing = []
    if not isinstance(existing, list) or not all(isinstance(c, int | str) and not isinstance(c, bool) for c in existing):
        raise BadRecord(path, place, f"existing_supported_citations should be a list of PMIDs or null, not {_kind(existing)}")
    return AnswerSentence(record["text"], tuple(existing))


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    return {dict: "an object", list: "a list", str: "a text", bool: "true or false"}.get(type(value), f"{value!r}")


def _keys(record: dict[str, Any]) -> str:
    return ", ".join(record) or "no keys"

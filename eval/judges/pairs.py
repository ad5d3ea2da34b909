"""Pairs of a claim and a sentence with a known label: from JSON lines, or from SciFact's claims and their cited abstracts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.scifact.files import LABELS as SCIFACT_LABELS
from eval.scifact.files import Files
from indexes.readers.base import jsonl
from indexes.readers.base.records import RecordError
from retrieval.core.values import LABELS, Label, Premise
from retrieval.words.terms import measure_aboutness


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A claim, a sentence with its title, and the sentence's stance on the claim."""

    claim: str
    premise: Premise
    label: Label


def read_pairs(path: Path) -> list[LabelledPair]:
    """JSON lines with claim, sentence, label (support, neutral, contradict) and, optionally, title.

    Raises `BadInput` for a file without a pair or with an invalid line.
    """
    return jsonl.read_some(path, _read_pair, "pair", "claim, sentence and label")


def _read_pair(record: Mapping[str, Any], number: int) -> LabelledPair:
    claim, sentence, title, label = (record.get(key, "") for key in ("claim", "sentence", "title", "label"))
    if not all(isinstance(one, str) for one in (claim, sentence, title)) or not claim.strip() or not sentence.strip():
        raise RecordError('expected texts in "claim" and "sentence", and in "title" if it is there')
    if label not in LABELS:
        raise RecordError(f'expected {", ".join(LABELS)} in "label", got {label!r}')
    return LabelledPair(claim, Premise(sentence, title), label)


def read_scifact_pairs(files: Files, most: int | None = None) -> list[LabelledPair]:
    """The first `most` of SciFact's claims, each with one sentence of every abstract that it cites.

    Where the abstract is evidence, the sentence is the first of its first rationale, with that label. Where it is not, the
    sentence is the one with most of the claim's rare words, and the label is neutral.
    """
    abstracts = {str(one["doc_id"]): one for one in jsonl.read_records(files.corpus, lambda record, _: record)}
    claims = list(jsonl.read_records(files.claims, lambda record, _: record))[:most]
    return [pair for claim in claims for pair in _pairs_of(claim, abstracts)]


def _pairs_of(record: Mapping[str, Any], abstracts: Mapping[str, Mapping[str, Any]]) -> Iterator[LabelledPair]:
    claim, evidence = record["claim"], record.get("evidence") or {}
    documents = [str(one) for one in (*evidence, *record.get("cited_doc_ids", ()))]
    for document in dict.fromkeys(documents):
        if document not in abstracts or not abstracts[document]["abstract"]:
            continue
        title, sentences = abstracts[document]["title"], abstracts[document]["abstract"]
        sets = evidence.get(document)
        at = sets[0]["sentences"][0] if sets else _find_nearest(claim, sentences)
        yield LabelledPair(claim, Premise(sentences[at], title), SCIFACT_LABELS[sets[0]["label"]] if sets else "neutral")


def _find_nearest(claim: str, sentences: Sequence[str]) -> int:
    return max(range(len(sentences)), key=lambda at: (measure_aboutness(claim, sentences[at]), -at))

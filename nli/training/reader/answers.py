"""Open questions and papers, labelled by reading: which words of the paper name its answer, and what it says of that answer.

A line of `answers.jsonl` has the question and the paper's PMID, whether the paper answers it (`answered`), the `spans` that name
an answer, and `claims`: a span as the answer, the label of "QUESTION? ANSWER." against the paper, and the place of the sentence
that says so, if any. A span is [part, start, end] in the title, 0, or a sentence, from 1. Most claims are what a reader trained
before took for the answer: where it is none, or the paper did not study it as asked, the label is neutral. Questions that are
`held` out are not trained on. `found.jsonl` lists for each other question the papers that a search finds, labelled or not, and
`turned.jsonl` for each that has a direction its opposite: what is true of one is false of the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterpoint.nli.judge import drop_question
from counterpoint.nli.reader.answers import make_claim
from counterpoint.nli.reader.encode import DocumentTokenizer, EncodedDocument
from counterpoint.nli.reader.synonyms import add_synonyms
from counterpoint.nli.training.reader.examples import read_papers
from counterpoint.nli.training.reader.lesson import CONTRADICT, LABELS, NEUTRAL, SUPPORT, Lesson, make_short
from counterpoint.retrieval.training.data import read_lines

_FOLDER = Path(__file__).with_name("answers")
LABELLED, FOUND, TURNED = (_FOLDER / f"{name}.jsonl" for name in ("answers", "found", "turned"))
TOKENS = 224
"""The most tokens of a pair."""
UNKNOWN = -1.0


@dataclass(frozen=True, slots=True)
class Pair:
    """A question with a paper: `names` [tokens] is 1 where a token belongs to an answer, else 0; `answered` is 1 if the paper
    answers the question, else 0. Either may be `UNKNOWN`."""

    document: EncodedDocument
    names: NDArray[np.float32]
    answered: float


def read_pairs(data: Path, tokenize: DocumentTokenizer, found: bool = False) -> list[Pair]:
    """All labelled pairs; those without labels too, if `found`."""
    rows = {(row["question"], row["pmid"]): row for row in _read_labelled()}
    if found:
        every = [{"question": row["question"], "pmid": pmid} for row in read_lines(FOUND) for pmid in row["pmids"]]
        rows = {(row["question"], row["pmid"]): row for row in every} | rows
    papers = {pmid: (title, sentences) for pmid, title, sentences in read_papers(data, {pmid for _, pmid in rows})}
    return [make_pair(row, *papers[pmid], tokenize) for (_, pmid), row in rows.items() if pmid in papers]


def _read_labelled() -> list[dict[str, Any]]:
    return [row for row in read_lines(LABELLED) if not row.get("held")]


def make_pair(row: dict[str, Any], title: str, sentences: Sequence[str], tokenize: DocumentTokenizer) -> Pair:
    """Lay out one pair; without `answered` nobody labelled it."""
    texts = [drop_question(title), *sentences]
    document = tokenize(add_synonyms(row["question"], " ".join(texts)), texts[0], sentences, max_tokens=TOKENS)
    names = np.full(len(document.ids), UNKNOWN, dtype=np.float32)
    if "answered" not in row:
        return Pair(document, names, UNKNOWN)
    for part, start, end in document.parts():
        marked = [span[1:] for span in row["spans"] if span[0] == part]
        words = _find_marked_words(texts[part], marked)
        places = tokenize.find_words(texts[part])[: end - start]
        names[start : start + len(places)] = [float(place in words) for place in places]
    if row["answered"] and not (names > 0).any():
        names[:] = UNKNOWN  # what names it was not read
    return Pair(document, names, float(row["answered"]))


def _find_marked_words(text: str, spans: Sequence[Sequence[int]]) -> set[int]:
    places, at = set(), 0
    for place, word in enumerate(text.split()):
        at = text.index(word, at)
        if any(start < at + len(word) and at < end for start, end in spans):
            places.add(place)
        at += len(word)
    return places


def make_answer_lessons(data: Path) -> Iterator[Lesson]:
    """The claims "QUESTION? ANSWER." with their papers, and where one is supported or left open, its opposite (a paper that
    denies both of two directions found no effect); what settles one also alone. A paper that answers nothing gets the answer of
    another, on which it takes no side."""
    rows = _read_labelled()
    papers = {pmid: (title, sentences) for pmid, title, sentences in read_papers(data, {row["pmid"] for row in rows})}
    turned = {row["question"]: row["opposite"] for row in read_lines(TURNED)}
    answers: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        spans = [span for *span, label, _ in row["claims"] if label != "neutral"]
        answers[row["question"]] += [_read_span(papers[row["pmid"]], span) for span in spans]
    for row in rows:
        question, (title, sentences) = row["question"], papers[row["pmid"]]
        said = [(_read_span(papers[row["pmid"]], span), LABELS.index(label), place) for *span, label, place in row["claims"]]
        if not said and not row["answered"] and answers[question]:
            said = [(answers[question][int(row["pmid"]) % len(answers[question])], NEUTRAL, None)]
        title = drop_question(title)
        for answer, label, place in said:
            evidence = () if label == NEUTRAL else None if place is None else (place,)
            group, text = f"answers {question} {row['pmid']}", " ".join((title, *sentences))
            claim = add_synonyms(make_claim(question, answer), text)
            lesson = Lesson(claim, title, tuple(sentences), label, evidence, "answers", group)
            if label == CONTRADICT or not turned.get(question):
                yield lesson
            else:
                opposite = add_synonyms(make_claim(turned[question], answer), text)
                lesson = replace(lesson, pair=f"{group} {answer}")
                yield lesson
                yield replace(lesson, claim=opposite, label=CONTRADICT if label == SUPPORT else NEUTRAL)
            if evidence:
                yield make_short(claim, sentences[evidence[0]], title, label, "answers_alone")


def _read_span(paper: tuple[str, Sequence[str]], span: Sequence[int]) -> str:
    part, start, end = span
    return (paper[0], *paper[1])[part][start:end]

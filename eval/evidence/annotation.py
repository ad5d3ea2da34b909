"""EvidenceBench's annotation by a language model: from a paper and a review's summary of it to a record of the benchmark.

The model is asked in turn for the hypothesis, the aspects, and the sentences that show each aspect
(eval.evidence.annotation_prompts). The benchmark's tasks also need the fewest sentences that show everything; these are computed.
Every answer is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from eval.evidence.annotation_prompts import Aspect, ask_for_alignment, ask_for_aspects, ask_for_hypothesis, split_paper
from eval.evidence.covering import cover_all, cover_most
from eval.measures.resuming import answer_or
from retrieval.core.code_hash import hash_code
from retrieval.core.paper import Paper, PaperSentence
from retrieval.runtime.chat import Chat, ChatUnanswered
from retrieval.store.journal import Journal, Origin, hash_json

TEN, FIVE = 10, 5
_TYPES = {"abstract": "abstract"}
_NORMAL, _HEADING = "normal_paragraph", "section_name"


@dataclass(frozen=True)
class ToAnnotate:
    """A paper, what a review says about its study, and the hypothesis, or "" where the model is to write it."""

    id: str
    paper: Paper
    summary: str
    hypothesis: str = ""


@dataclass(frozen=True, slots=True)
class Annotation:
    """An annotated paper: `shown` holds the sentences of each aspect, by the aspect's place; `skipped` counts the parts of the
    paper for which the model gave no usable answer, so that their sentences show nothing."""

    hypothesis: str
    aspects: tuple[Aspect, ...]
    shown: tuple[frozenset[int], ...]
    skipped: int


class Annotator:
    """Annotates papers with a chat model; its answers are kept in a folder, so that a resumed run asks for none twice."""

    def __init__(self, chat: Chat, work: Path) -> None:
        self.chat, self.work = chat, work
        origin = Origin(None, [chat.model, chat.base_url], hash_code(["eval.evidence.annotation_prompts"]))
        self._journal = Journal.of(origin, work, "annotations")

    def annotate(self, task: ToAnnotate) -> Annotation:
        """Carry out all steps for one paper. Raises `ChatUnanswered` where the model gives no hypothesis or no aspect."""
        hypothesis = task.hypothesis or self._write_hypothesis(task.summary)
        aspects = self._take_apart(hypothesis, task.summary)
        sentences: list[set[int]] = [set() for _ in aspects]
        failures = 0
        for part in split_paper(task.paper):
            alignment = self._align(hypothesis, aspects, part)
            failures += alignment is None
            for sentence, places in (alignment or {}).items():
                for at in places:
                    sentences[at].add(int(sentence))
        return Annotation(hypothesis, tuple(aspects), tuple(map(frozenset, sentences)), failures)

    def _write_hypothesis(self, summary: str) -> str:
        key = hash_json(["hypothesis", summary])
        return str(self._journal.fill(key, lambda: ask_for_hypothesis(self.chat, summary)))

    def _take_apart(self, hypothesis: str, summary: str) -> list[Aspect]:
        key = hash_json(["aspects", hypothesis, summary])
        records = self._journal.fill(key, lambda: [asdict(one) for one in ask_for_aspects(self.chat, hypothesis, summary)])
        return [Aspect(**one) for one in records]

    def _align(
        self, hypothesis: str, aspects: Sequence[Aspect], part: Sequence[PaperSentence]
    ) -> Mapping[str, Sequence[int]] | None:
        """The aspects of each sentence, or None where the model's answer was unusable; a server that is gone ends the run."""
        key = hash_json(["sentences", hypothesis, [one.text for one in aspects], [(one.index, one.text) for one in part]])

        def ask() -> dict[str, Sequence[int]] | None:
            answer = ask_for_alignment(self.chat, hypothesis, aspects, part)
            return {str(sentence): sorted(places) for sentence, places in answer.items()}

        alignment: Mapping[str, Sequence[int]] | None = self._journal.fill(key, lambda: {"shown": answer_or(None, ask)})["shown"]
        return alignment


def make_record(task: ToAnnotate, annotation: Annotation, model: str) -> dict[str, Any]:
    """The annotation as a record that `counterpoint eval evidencebench` reads: the benchmark's fields and, in addition, the text
    of the aspects, the summary and the model.

    An aspect that no sentence shows is left out, as the benchmark does. Raises `ChatUnanswered` where none is left.
    """
    names = [f"{task.id}_aspect_{place}" for place in range(len(annotation.aspects))]
    evidence = {name: sorted(rows) for name, rows in zip(names, annotation.shown, strict=True) if rows}
    if not evidence:
        raise ChatUnanswered(f"The model {model} found no sentence of the paper {task.id} that shows an aspect.")
    kinds = {name: aspect.kind for name, aspect in zip(names, annotation.aspects, strict=True)}
    results = {name: rows for name, rows in evidence.items() if kinds[name] == "results"}
    sentences = task.paper.sentences
    return {
        "id": task.id,
        "paper_id": task.paper.id or task.id,
        "hypothesis": annotation.hypothesis,
        "paper_as_candidate_pool": [one.text for one in sentences],
        "sentence_types_in_candidate_pool": [_HEADING if one.heading else _TYPES.get(one.kind, _NORMAL) for one in sentences],
        "aspect_list_ids": list(evidence),
        "results_aspect_list_ids": list(results) or None,
        "aspect2sentence_indices": evidence,
        "sentence_index2aspects": {
            str(one.index): [name for name, rows in evidence.items() if one.index in rows] for one in sentences
        },
        "evidence_retrieval_at_optimal_evaluation": _optimal(evidence),
        "evidence_retrieval_at_10_evaluation": _selection(evidence, cover_most(evidence, TEN)),
        "results_evidence_retrieval_at_optimal_evaluation": _optimal(results) if results else None,
        "results_evidence_retrieval_at_5_evaluation": _selection(results, cover_most(results, FIVE)) if results else None,
        "aspects": {name: asdict(aspect) for name, aspect in zip(names, annotation.aspects, strict=True)},
        "summary": task.summary,
        "annotated_by": model,
        "parts_without_an_answer": annotation.skipped,
    }


def _optimal(evidence: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    selection = cover_all(evidence)
    return {"optimal": len(selection), **_selection(evidence, selection)}


def _selection(evidence: Mapping[str, Sequence[int]], choice: Sequence[int]) -> dict[str, Any]:
    aspects = [name for name, rows in evidence.items() if set(rows) & set(choice)]
    return {"one_selection_of_sentences": list(choice), "covered_aspects": aspects}

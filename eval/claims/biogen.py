"""Task A runs by the track's measures: the PMIDs that a run cites for each sentence, on either side, against their labels.

Of each list the first three count that are not known already. In the human form only judged PMIDs count, and recall is soft: 1 as
soon as one is right. In the automatic form a model has labelled the run's own PMIDs, and recall is over those that are right on
either list: one that supports the sentence but is listed as contradicting it is a miss.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from counterpoint.eval.measures.figures import Resampler
from counterpoint.eval.measures.report import Measure, Report, Table, show
from counterpoint.retrieval.core.english import format_count
from counterpoint.retrieval.core.errors import BadInput, BadRecord
from counterpoint.service.trec.records import MAX_CITATIONS, is_id, is_id_list, read_id, read_json_or_lines, refuse_unknown
from counterpoint.service.trec.task_a import LISTS

_JUDGMENT = ("qa_id", "sentence", "pmid", "label")
LABELS = ("supporting", "partial", "contradicting", "neutral", "not relevant", "invalid")
"""What a judge may call a PMID for a sentence; "partial" supports a part of it."""
_SUPPORT, _CONTRADICT = LISTS
ROWS: Mapping[str, tuple[str, Collection[str]]] = {
    "support, strict": (_SUPPORT, {"supporting"}),
    "support, relaxed": (_SUPPORT, {"supporting", "partial"}),
    "contradict": (_CONTRADICT, {"contradicting"}),
}
"""What is measured: the list of the run, and the labels that are right in it."""
FORMS = ("human", "automatic")
MEASURES = (
    Measure("precision", "precision", "Right PMIDs / PMIDs with a label; 0 for a sentence without one."),
    Measure(
        "recall", "recall", "Human: 1 if a PMID is right, else 0. Automatic: right PMIDs / those that are right on either list."
    ),
    Measure("f1", "F1", "The harmonic mean of both for each sentence. All three are means over sentences, then over questions."),
)
Cited = Mapping[str, Sequence[str]]
"""The PMIDs cited for a sentence, by list."""


def read_run(path: Path) -> dict[str, list[Cited]]:
    """The PMIDs of a Task A run, anyone's, sentence by sentence under each qa_id; raises `BadInput` for what is none."""
    records = read_json_or_lines(path)
    run: dict[str, list[Cited]] = {}
    for number, record in enumerate(records, 1):
        metadata, answer = (record.get("metadata"), record.get("answer")) if isinstance(record, dict) else (None, None)
        if not isinstance(metadata, dict) or not is_id(metadata.get("qa_id")) or not isinstance(answer, list):
            raise BadRecord(path, f"record {number}", "expected metadata with a qa_id and an answer, as in a run of Task A")
        qa_id = str(metadata["qa_id"])
        if qa_id in run:
            raise BadRecord(path, f"item {qa_id}", "it appears more than once")
        run[qa_id] = [_read_cited(path, f"item {qa_id}, sentence {place}", one) for place, one in enumerate(answer, 1)]
    if not any(run.values()):
        raise BadInput(f"{path} contains no sentences; give a run of Task A.")
    return run


def _read_cited(path: Path, place: str, record: Any) -> Cited:
    lists = [record.get(name) or [] for name in ("existing_supported_citations", *LISTS)] if isinstance(record, dict) else [None]
    if not all(map(is_id_list, lists)):
        raise BadRecord(path, place, f"expected an object with lists of PMIDs: {', '.join(LISTS)}")
    known, *cited = ([str(pmid).strip() for pmid in some or ()] for some in lists)
    return {
        name: [pmid for pmid in dict.fromkeys(one) if pmid not in known][:MAX_CITATIONS]
        for name, one in zip(LISTS, cited, strict=True)
    }


def read_judgments(path: Path, run: Mapping[str, Sequence[Cited]]) -> dict[tuple[str, int], dict[str, str]]:
    """The labels of PMIDs by sentence: its qa_id and its number, from 1. Raises `BadInput` for what does not fit the run."""
    judgments: dict[tuple[str, int], dict[str, str]] = {}
    for number, record in enumerate(read_json_or_lines(path), 1):
        place = f"judgment {number}"
        refuse_unknown(path, place, record, _JUDGMENT)
        qa_id, pmid = (read_id(path, place, name, record.get(name)) for name in ("qa_id", "pmid"))
        sentence, label = record.get("sentence"), record.get("label")
        if qa_id not in run:
            raise BadRecord(path, place, f"the run has no item with the qa_id {qa_id}; give the judgments of this run's input")
        if isinstance(sentence, bool) or not isinstance(sentence, int) or not 1 <= sentence <= len(run[qa_id]):
            raise BadRecord(path, place, f"sentence should be a number from 1 to {len(run[qa_id])}, not {sentence!r}")
        if not pmid.isdigit():
            raise BadRecord(path, place, f"pmid should be a number, not {pmid!r}")
        if label not in LABELS:
            raise BadRecord(path, place, f"the label {label!r} is unknown; expected {', '.join(LABELS)}")
        labels = judgments.setdefault((qa_id, sentence), {})
        if labels.setdefault(pmid, label) != label:
            raise BadRecord(path, place, f"{pmid} is called {labels[pmid]} for this sentence already; keep one label")
    cited = {
        (qa_id, place, pmid)
        for qa_id, sentences in run.items()
        for place, one in enumerate(sentences, 1)
        for pmids in one.values()
        for pmid in pmids
    }
    if not any((*sentence, pmid) in cited for sentence, labels in judgments.items() for pmid in labels):
        raise BadInput(f"{path} judges none of the PMIDs that the run cites; give the judgments of this run.")
    return judgments


def score(cited: Cited, labels: Mapping[str, str], name: str, right: Collection[str], form: str) -> tuple[float, float, float]:
    """Precision, recall and F1 of one list of a sentence, 0 without a labelled PMID."""
    labelled = [labels[pmid] in right for pmid in cited[name] if pmid in labels]
    wanted = {pmid for pmids in cited.values() for pmid in pmids if labels.get(pmid) in right}
    if not any(labelled):
        return 0.0, 0.0, 0.0
    precision = sum(labelled) / len(labelled)
    recall = 1.0 if form == "human" else sum(labelled) / len(wanted)
    return precision, recall, 2 * precision * recall / (precision + recall)


def evaluate(
    run: Mapping[str, Sequence[Cited]], judgments: Mapping[tuple[str, int], Mapping[str, str]], made_with: Mapping[str, Any]
) -> Report:
    """All measures over the questions with a judgment, each with its interval over questions."""
    judged = {qa_id for qa_id, _ in judgments}
    questions = [
        [(one, judgments.get((qa_id, place), {})) for place, one in enumerate(sentences, 1)]
        for qa_id, sentences in run.items()
        if qa_id in judged
    ]
    resampler = Resampler(len(questions))
    data: dict[str, Any] = {}
    tables = []
    for form in FORMS:
        rows = []
        for title, (name, right) in ROWS.items():
            scores = [
                np.mean([score(one, labels, name, right, form) for one, labels in question], axis=0) for question in questions
            ]
            figures = [resampler.share(mean[place] for mean in scores) for place in range(len(MEASURES))]
            data.setdefault(form, {})[title] = {one.key: figure for one, figure in zip(MEASURES, figures, strict=True)}
            rows.append([title, *(show(figure, ".2%") for figure in figures)])
        tables.append(Table(f"{form.capitalize()} form", ["", *(one.title for one in MEASURES)], rows))
    cited = [pmid in labels for question in questions for one, labels in question for pmids in one.values() for pmid in pmids]
    counts = (
        f"{len(questions)} of {format_count(len(run), 'question')} have judgments; "
        f"of {format_count(len(cited), 'PMID')} cited there, {sum(cited):,} have a label."
    )
    return Report("Task A", [*tables, counts], data, MEASURES, made_with)

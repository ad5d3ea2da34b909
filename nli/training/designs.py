"""Train the model of study designs on labelled papers: `python -m counterpoint.nli.training.designs --data DIR`.

The labels (designs.csv) were given by reading title and abstract: of what 330 open questions found, of papers that rules over
words took for one of the rarer designs, and of 357 drawn at random.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

from counterpoint.nli.text.designs import DESIGNS_MODEL, OTHER, DesignModel, find_design_words, read_design
from counterpoint.nli.text.sentences import sentence_spans
from counterpoint.nli.training.roles import fit_words, read_arguments, write_model
from counterpoint.retrieval.core.values import Document
from counterpoint.retrieval.training.data import read_rows

LABELS = Path(__file__).with_name("designs.csv")
RAREST, SLACK, FOLDS = 8, 0.05, 5
"""The fewest texts that a word must occur in, and the inverse strength of the pull of the weights to 0."""
RANDOM = "random"
"""The source of the papers that were drawn at random, on which the model is measured."""

Example = tuple[list[Document], str, str]
"""A paper, its title alone, and its title with either end of its abstract; its design; how it was drawn."""


def read_examples(folder: Path) -> list[Example]:
    """The labelled papers that the data folder has."""
    with LABELS.open(encoding="utf-8", newline="") as file:
        labels = {row["pmid"]: (row["design"], row["drawn"]) for row in csv.DictReader(file)}
    return [
        (cut(row["title"] or "", " ".join(row["abstract"])), *labels[row["pmid"]])
        for row in read_rows(folder, "pubmed/abstracts.jsonl.gz")
        if row["pmid"] in labels
    ]


def cut(title: str, abstract: str) -> list[Document]:
    """A paper, and parts of it: many records have a short abstract or none."""
    spans, end = sentence_spans(abstract), 2
    texts = [abstract, "", *(abstract[part[0][0] : part[-1][1]] for part in (spans[:end], spans[-end:]) if part)]
    return [Document("", title, text) for text in texts]


def fit(examples: Sequence[Example]) -> DesignModel:
    """The weights of the words that are common enough; every design counts alike."""
    texts = [find_design_words(part) for parts, _, _ in examples for part in parts]
    labels = [design for parts, design, _ in examples for _ in parts]
    places, model = fit_words(texts, labels, RAREST, SLACK, class_weight="balanced")
    return DesignModel(tuple(model.classes_), places, model.coef_.T.astype(np.float32), model.intercept_.astype(np.float32))


def main() -> None:
    """Measure by cross-validation on papers drawn at random, then train on everything and write the model."""
    arguments = read_arguments("designs", DESIGNS_MODEL)
    examples = read_examples(arguments.data)
    told: list[tuple[str, str]] = []
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(examples, [design for _, design, _ in examples])
    for trained, held in folds:
        model = fit([examples[row] for row in trained])
        told += [(examples[row][1], read_design(examples[row][0][0], model)) for row in held if examples[row][2] == RANDOM]
    right = Counter(design for design, said in told if design == said)
    each = {design: f"{right[design]} of {count}" for design, count in sorted(Counter(design for design, _ in told).items())}
    unsure = sum(said == OTHER != design for design, said in told)
    print(f"{len(examples):,} papers; {len(told)} drawn at random: {sum(right.values())} right, {unsure} left open; {each}")
    model = fit(examples)
    designs = np.frombuffer("\n".join(model.designs).encode(), dtype=np.uint8)
    write_model(arguments.out, model.words, weights=model.weights, bias=model.bias, designs=designs)


if __name__ == "__main__":
    main()

"""Train the role model on PubMedQA's abstracts, whose publishers label the sections:
`python -m counterpoint.nli.training.roles`."""

from __future__ import annotations

import argparse
import io
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from counterpoint.nli.text.headings import find_heading_kind
from counterpoint.nli.text.roles import PLACES, ROLES, ROLES_MODEL, RoleModel, find_role_tokens, locate_stretch
from counterpoint.nli.text.sentences import sentence_spans
from counterpoint.retrieval.core.values import ROLE_OF
from counterpoint.retrieval.store.manifest import write_atomically
from counterpoint.retrieval.training.data import read_rows

FOLDS = 5
RAREST = 8
"""The fewest sentences in which a token must occur to get a weight."""
SLACK = 0.1
"""The inverse strength of the pull of the weights to 0."""

Example = tuple[str, int, int, int]
"""A sentence, its stretch of the abstract, its role's number, its abstract's number."""


def read_examples(folder: Path) -> list[Example]:
    """Every sentence under a label that names a kind of section."""
    examples: list[Example] = []
    for number, row in enumerate(read_rows(folder, "relevance/pubmedqa.jsonl.gz")):
        labels, texts = [*row["LABELS"], "CONCLUSION"], [*row["CONTEXTS"], row["LONG_ANSWER"]]
        sentences = [
            (text[start:end], find_heading_kind(label))
            for label, text in zip(labels, texts, strict=True)
            for start, end in sentence_spans(text)
        ]
        for position, (text, kind) in enumerate(sentences):
            if kind and kind in ROLE_OF:
                examples.append((text, locate_stretch(position, len(sentences)), ROLES.index(ROLE_OF[kind]), number))
    return examples


def fit_words(
    texts: Sequence[Collection[str]], labels: Sequence[object], rarest: int, slack: float, **options: Any
) -> tuple[dict[str, int], LogisticRegression]:
    """The place of each word that `rarest` texts have, and the penalised regression of the labels on them."""
    counts = Counter(word for text in texts for word in text)
    places = {word: place for place, word in enumerate(sorted(word for word, count in counts.items() if count >= rarest))}
    cells = [(row, places[word]) for row, text in enumerate(texts) for word in sorted(text) if word in places]
    matrix = csr_matrix((np.ones(len(cells)), tuple(np.array(cells).T)), (len(texts), len(places)))
    return places, LogisticRegression(C=slack, max_iter=300, **options).fit(matrix, labels)


def read_arguments(name: str, out: Path) -> argparse.Namespace:
    """The arguments of the command that trains the model of this name: `data` and, unless the shipped file is replaced, `out`."""
    parser = argparse.ArgumentParser(
        prog=f"python -m counterpoint.nli.training.{name}", description=f"Train the model of {name}."
    )
    parser.add_argument("--data", type=Path, required=True, help="the folder with the data sets")
    parser.add_argument("--out", type=Path, default=out, help="the file to write")
    return parser.parse_args()


def write_model(path: Path, words: Iterable[str], name: str = "words", **parts: NDArray[Any]) -> None:
    """Write the words under a name, and the parts, floats in half precision."""
    content = io.BytesIO()
    arrays: dict[str, Any] = {
        part: values.astype(np.float16) if values.dtype.kind == "f" else values for part, values in parts.items()
    }
    arrays[name] = np.frombuffer("\n".join(words).encode(), dtype=np.uint8)
    np.savez_compressed(content, **arrays)
    write_atomically(path, content.getvalue())


def train_model(examples: Sequence[Example]) -> RoleModel:
    """Fit word weights by penalised maximum likelihood, and place weights by counting, relative to the roles' overall shares."""
    roles = [role for _, _, role, _ in examples]
    words, regression = fit_words([find_role_tokens(text) for text, *_ in examples], roles, RAREST, SLACK)
    table = np.ones((PLACES, len(ROLES)))
    for _, place, role, _ in examples:
        table[place, role] += 1
    places = np.log(table / table.sum(axis=1, keepdims=True)) - np.log(table.sum(axis=0) / table.sum())
    weights, bias = (part.astype(np.float32) for part in (regression.coef_.T, regression.intercept_))
    return RoleModel(words, weights, bias, places.astype(np.float32))


def measure_accuracy(examples: Sequence[Example]) -> tuple[float, float]:
    """The share of sentences with the right role, from words alone and with the place, cross-validated over whole abstracts."""
    hits: list[tuple[bool, bool]] = []
    for left_out in range(FOLDS):
        model = train_model([one for one in examples if one[3] % FOLDS != left_out])
        for text, place, role, number in examples:
            if number % FOLDS == left_out:
                hits.append((int(model.score_text(text).argmax()) == role, int(model.score_text(text, place).argmax()) == role))
    means: NDArray[np.float64] = np.array(hits).mean(axis=0)
    return float(means[0]), float(means[1])


def main() -> None:
    """Measure by cross-validation, then train on everything and write the model."""
    arguments = read_arguments("roles", ROLES_MODEL)
    examples = read_examples(arguments.data)
    word_accuracy, place_accuracy = measure_accuracy(examples)
    print(f"{len(examples):,} sentences; right by the words {word_accuracy:.3f}, with the place {place_accuracy:.3f}")
    model = train_model(examples)
    write_model(arguments.out, model.words, weights=model.weights, bias=model.bias, places=model.places)


if __name__ == "__main__":
    main()

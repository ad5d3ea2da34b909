"""Train the model that tells what a noun phrase names: `python -m nli.training.studied --data DIR`.

Titles teach it: what stands behind "effect of", or before "in" and "for", is what was studied; what stands behind "in" and "for"
is where, or for what. Interventions, comparators and outcomes that Evidence Inference's annotators marked are added.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from nli.text.studied import PHRASES_MODEL, WHERE, find_phrases, list_features, strip_title
from nli.training.roles import fit_words, write_model
from retrieval.training.data import read_reserved_pmids, read_rows

Example = tuple[int, frozenset[str], bool]
"""The number of the paper, the features of a phrase, whether it names what was studied."""
RAREST, SLACK, FOLDS = 5, 0.3, 5
"""The fewest phrases that a feature must occur in, and the inverse strength of the pull of the weights to 0."""
_EFFECT = frozenset(
    "addition administration application benefit benefits effect effectiveness effects efficacy evaluation impact influence"
    " potential role safety tolerability trial use value".split()
)
_OF_DISEASE = frozenset(
    "eradication incidence management patients prevalence prevention prophylaxis risk symptoms treatment".split()
)
_TREATED = frozenset("pretreatment supplementation therapy treated treatment".split())
_TAIL = re.compile(r" (?:and|at|for|in|of|on|plus|to|with) ")


def read_titles(folder: Path) -> Iterator[Example]:
    """The phrases of titles whose place in the sentence tells what they name; reserved papers are left out."""
    reserved = read_reserved_pmids(folder)
    for number, row in enumerate(read_rows(folder, "pubmed/abstracts.jsonl.gz")):
        if row["pmid"] not in reserved:
            for phrase in find_phrases(strip_title(row["title"])):
                root = phrase.root
                before, above = root.head.lower_, root.head.head.lower_
                behind = next((word.lower_ for word in root.rights if word.dep_ == "prep"), "")
                studied: bool | None = None
                if root.dep_ == "pobj" and before == "of" and above in _EFFECT | _OF_DISEASE:
                    studied = above in _EFFECT
                elif root.dep_ == "pobj" and before == "with" and above in _TREATED:
                    studied = True
                elif root.dep_ == "pobj" and before in WHERE:
                    studied = False
                elif root.dep_ == "ROOT" and behind in ("of", "in", "for", "versus", "vs"):
                    studied = behind != "of"
                elif root.dep_ in ("nsubj", "dobj", "appos", "nsubjpass"):
                    studied = root.dep_ == "nsubj"
                if studied is not None:
                    yield number, list_features(phrase.text, root.text), studied


def read_marked(folder: Path) -> Iterator[Example]:
    """What annotators marked as an intervention, and as a comparator or an outcome; once each."""
    rows = [row for row in read_rows(folder, "stance/pairs.jsonl.gz") if row["dataset"] == "evidence_inference"]
    marked = dict.fromkeys(
        (int(row["pmcid"]), row[kind], kind) for row in rows for kind in ("intervention", "comparator", "outcome")
    )
    for number, text, kind in marked:
        if head := _TAIL.split(text)[0].split()[-1:]:
            yield number, list_features(text, head[0]), kind == "intervention"


def fit(examples: Sequence[Example]) -> dict[str, float]:
    """The weight of each feature that is common enough, the constant under ""."""
    _, texts, labels = zip(*examples, strict=True)
    places, model = fit_words(texts, labels, RAREST, SLACK, class_weight="balanced")
    return {"": float(model.intercept_[0]), **dict(zip(places, model.coef_[0].tolist(), strict=True))}


def main() -> None:
    """Measure on held-out papers, then train on everything and write the model."""
    parser = argparse.ArgumentParser(
        prog="python -m nli.training.studied", description="Train the model that tells what a noun phrase names."
    )
    parser.add_argument("--data", type=Path, required=True, help="the folder with the data sets")
    parser.add_argument("--out", type=Path, default=PHRASES_MODEL, help="the file to write")
    arguments = parser.parse_args()
    examples = [*read_titles(arguments.data), *read_marked(arguments.data)]
    held = [one for one in examples if not one[0] % FOLDS]
    weights = fit([one for one in examples if one[0] % FOLDS])
    scores = [weights[""] + sum(weights.get(one, 0.0) for one in features) for _, features, _ in held]
    area = roc_auc_score([studied for *_, studied in held], scores)
    print(f"{len(examples):,} phrases; area under the curve {area:.3f} on {len(held):,} of other papers")
    weights = fit(examples)
    write_model(arguments.out, weights, "features", weights=np.array(list(weights.values())))


if __name__ == "__main__":
    main()

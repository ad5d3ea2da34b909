"""Pairs from the labelled sets (`stance/pairs.jsonl.gz`): evidence sentences with their label, other sentences as neutral."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nli.training.pairs import CONTRADICT, NEUTRAL, SUPPORT, Pair
from retrieval.training.bm25 import TextIndex
from retrieval.training.data import read_rows
from retrieval.training.folds import is_held_out, is_held_out_of
from retrieval.words.terms import split_terms

NAMES = {"SUPPORT": SUPPORT, "CONTRADICT": CONTRADICT, "NEI": NEUTRAL}


def measure_overlap(claim: str, text: str) -> float:
    """The share of the claim's terms that the text contains."""
    terms = set(split_terms(claim))
    return len(terms & set(split_terms(text))) / max(len(terms), 1)


def clean_claim(claim: str) -> str:
    """The claim without citation marks, such as CitInt's, and with single spaces."""
    return " ".join(re.sub(r"[\[(]?<\|\w+\|>[\])]?", " ", claim).split()).replace(" .", ".").replace(" ,", ",")


def make_pairs(row: dict[str, Any], neutrals: int, rng: random.Random) -> Iterator[Pair]:
    """The pairs of one row: its first evidence sentences, and `neutrals` others, half the likeliest confusions, half random."""
    claim, title, sentences = clean_claim(row["claim"]), row.get("title") or "", row["sentences"]
    evidence = [index for index in row["evidence"] or [] if index < len(sentences)]
    label, source = NAMES[row["label"]], row["dataset"]
    for index in evidence[:3]:
        yield Pair(claim, sentences[index], title, label, source)
    others = [index for index in range(len(sentences)) if index not in evidence]
    if row["label"] != "NEI" and source not in ("scifact", "healthver", "check_covid"):
        return
    hard = sorted(others, key=lambda index: -measure_overlap(claim, sentences[index]))
    picks = hard[: (neutrals + 1) // 2]
    rest = [index for index in others if index not in picks]
    picks += rng.sample(rest, min(len(rest), neutrals - len(picks)))
    for index in picks:
        yield Pair(claim, sentences[index], title, NEUTRAL, source)


def read_labelled(folder: Path, dataset: str, neutrals: int, rng: random.Random) -> list[Pair]:
    """Every training pair of one set; for SciFact and HealthVer, without the held-out fold."""
    pairs: list[Pair] = []
    for row in read_rows(folder, "stance/pairs.jsonl.gz"):
        if row["dataset"] != dataset or row["split"] != "train" or row["label"] not in NAMES:
            continue
        if is_held_out_of(dataset, row["claim"]):
            continue
        pairs.extend(make_pairs(row, neutrals, rng))
    return pairs


Rivals = list[tuple[str, list[dict[str, Any]]]]
"""Claims, each with documents that match its words and are not evidence for it."""


def find_scifact_rivals(folder: Path) -> Rivals:
    """For each SciFact train claim that is not held out: BM25's top documents without those that the claim cites."""
    corpus = list(read_rows(folder, "scifact/corpus.jsonl.gz"))
    index = TextIndex([f"{document['title']} {' '.join(document['abstract'])}" for document in corpus])
    rivals: Rivals = []
    for claim in read_rows(folder, "scifact/claims_train.jsonl.gz"):
        if is_held_out(claim["claim"]):
            continue
        doc_ids = {int(doc) for doc in claim["cited_doc_ids"]} | {int(doc) for doc in claim["evidence"]}
        top = [corpus[i] for i in index.top(claim["claim"], 10) if int(corpus[i]["doc_id"]) not in doc_ids]
        rivals.append((claim["claim"], top))
    return rivals

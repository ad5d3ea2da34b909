"""The training loop: a stopped run goes on where it was, and nothing else does."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from torch import Tensor, nn

from counterpoint.retrieval.core.errors import ModelUnusable
from counterpoint.retrieval.training.encoder import TokenEncoder
from counterpoint.retrieval.training.late_loop import RelevanceLoss, train
from counterpoint.retrieval.training.loop import Recipe, descend
from counterpoint.retrieval.training.questions import Relevant, read_bioasq, read_conclusions, read_ordinary, read_pubmedqa
from counterpoint.retrieval.training.weighing import RankedClaim, fit_weights
from tests.helpers.texts import write_rows

LAST = "In conclusion, zinc shortens them by a day or two in adults, as it does in children"


TODO = [[0.5, 1.0], [2.0], [1.5, -1.0], [0.25]]


class Stopped(Exception):
    """What a killed run is in these tests."""


def run(path: Path, todo: list[list[float]], recipe: Recipe, stop_at: int = 100) -> tuple[list[list[float]], Tensor]:
    """Train a line through the origin; the batches that were read and the weights."""
    torch.manual_seed(1)
    model = nn.Linear(1, 1)
    steps = torch.optim.AdamW([{"params": list(model.parameters()), "lr": 0.1, "top": 0.1}])
    read: list[list[float]] = []

    def loss(batch: list[float]) -> Tensor:
        if len(read) == stop_at:
            raise Stopped
        read.append(batch)
        numbers = torch.tensor(batch)[:, None]
        return nn.functional.mse_loss(model(numbers), 3 * numbers)

    with suppress(Stopped):
        descend(model, steps, todo, loss, recipe, path, torch.device("cpu"))
    return read, model.weight.detach().clone()


def test_stopped_run_goes_on(tmp_path: Path) -> None:
    recipe = Recipe(checkpoint_seconds=-1.0)
    _, whole = run(tmp_path / "whole.pt", TODO, recipe)
    first, _ = run(tmp_path / "parts.pt", TODO, recipe, stop_at=2)
    rest, pieced = run(tmp_path / "parts.pt", TODO, recipe)
    assert first + rest == TODO
    assert torch.equal(whole, pieced)


@pytest.mark.parametrize(
    ("todo", "recipe"),
    [
        (TODO, Recipe(checkpoint_seconds=-1.0, seed=14)),
        (TODO, Recipe(checkpoint_seconds=-1.0, rate=2e-4)),
        ([*TODO[:3], [0.75]], Recipe(checkpoint_seconds=-1.0)),
        (TODO, Recipe(checkpoint_seconds=-1.0, most_batches=3)),
    ],
    ids=["seed", "rate", "data", "batches"],
)
def test_another_run_does_not_go_on(tmp_path: Path, todo: list[list[float]], recipe: Recipe) -> None:
    run(tmp_path / "checkpoint.pt", TODO, Recipe(checkpoint_seconds=-1.0), stop_at=2)
    with pytest.raises(ModelUnusable, match=r"checkpoint\.pt belongs to a run with other data, rates, seed"):
        run(tmp_path / "checkpoint.pt", todo, recipe)


def test_ordinary_claims_are_paired_with_their_papers_and_reserved_papers_with_nothing(tmp_path: Path) -> None:
    """Every reader of pairs leaves the reserved papers out; a claim that a paper leaves open is no query for it."""
    papers = [
        {"pmid": pmid, "title": f"Paper {pmid}", "abstract": ["Colds are frequent and last for long. " * 10 + f"{LAST} {pmid}."]}
        for pmid in ("1", "2", "3")
    ]
    write_rows(tmp_path / "pubmed/abstracts.jsonl.gz", papers)
    (tmp_path / "pubmed/reserved_pmids.txt").write_text("3\n", "utf-8")
    dev = {"split": "dev", "pmid": 2, "true": "g", "false": "h", "neutral": "i"}
    ordinary = {"split": "train", "pmid": 1, "true": "a", "false": "b", "neutral": "c"}
    write_rows(tmp_path / "stance/ordinary.jsonl.gz", [ordinary, dev])
    claims = tmp_path / "claims.jsonl"
    written = [{"pmid": "2", "true": "d", "false": "e"}, {"pmid": "3", "true": "j", "false": "k"}, {"doc_id": "1", "true": "l"}]
    claims.write_text("".join(json.dumps(line) + "\n" for line in written), "utf-8")
    found = list(read_ordinary(tmp_path, claims, 2, random.Random(1)))
    assert {(one.query, one.key) for one in found} == {("a", "pubmed 1"), ("b", "pubmed 1"), ("d", "pubmed 2"), ("e", "pubmed 2")}
    assert found[0].passage.startswith("Paper 1")
    assert len(list(read_ordinary(tmp_path, claims, 1, random.Random(1)))) == 2
    assert {one.key for one in read_conclusions(tmp_path, 9, random.Random(1))} == {"pubmed 1", "pubmed 2"}
    questions = [{"pmid": pmid, "QUESTION": "Why?", "CONTEXTS": ["Because."]} for pmid in ("1", "3")]
    write_rows(tmp_path / "relevance/pubmedqa.jsonl.gz", questions)
    assert [one.key for one in read_pubmedqa(tmp_path)] == ["pubmed 1"]
    snippets = [{"pmid": pmid, "text": "Because."} for pmid in ("3", "1")]
    write_rows(tmp_path / "relevance/bioasq_questions.jsonl.gz", [{"body": "Why?", "snippets": snippets}])
    assert [one.key for one in read_bioasq(tmp_path, random.Random(1))] == ["pubmed 1"]


class Words(nn.Module):
    """An encoder of one layer: each token's own vector, at length 1."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, 8)
        self.turn = nn.Linear(8, 8)

    def forward(self, ids: Tensor, _mask: Tensor, _types: Tensor) -> Tensor:
        return nn.functional.normalize(self.turn(self.words(ids)), dim=-1)


def test_queries_learn_their_own_documents_by_the_whole_text_and_by_its_short_views(tmp_path: Path) -> None:
    texts = [
        ("zinc", "colds", "we gave it. colds fell"),
        ("salt", "stroke", "we asked. stroke rose"),
        ("tea", "sleep", "ten sat. sleep"),
    ]
    pairs = [Relevant(query, title, abstract, title) for query, title, abstract in texts]
    names = sorted({word for text in texts for part in text for word in part.replace(".", "").split()})
    tokenizer = Tokenizer(WordLevel({"[PAD]": 0, **{name: row for row, name in enumerate(names, 1)}}, unk_token="[PAD]"))
    tokenizer.pre_tokenizer = Whitespace()
    torch.manual_seed(3)
    model = RelevanceLoss(cast("TokenEncoder", Words(len(names) + 1)), tokenizer, np.ones(len(names) + 1, np.float32))
    before = model(pairs).item()
    train(model, [pairs] * 40, Recipe(rate=0.05), tmp_path / "checkpoint.pt")
    assert model(pairs).item() < before / 3
    twin = replace(pairs[0], query="colds")
    assert model([pairs[0], twin]).item() == pytest.approx(0, abs=1e-4), "another query of a document is no rival of its own"


def test_the_part_that_tells_relevant_papers_apart_weighs_most() -> None:
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(30, 3)) for _ in range(40)]
    claims = [RankedClaim(frozenset(np.argsort(-own[:, 1])[:2].tolist()), list(range(30)), own) for own in parts]
    weights = fit_weights(claims)
    assert weights[1] > 5 * max(abs(weights[0]), abs(weights[2]))

"""Contrastive training of the late-interaction encoder: each query's passage against the other passages of its batch.

The batch's score is the reranker's (rare words, whole query, words of BM25). The weights of its parts are learned jointly, so
that the encoder learns what the words do not already show. Batches hold passages that BM25 confuses with each other, which
makes the others hard negatives without encoding more text.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from retrieval.training.bm25 import TextIndex
from retrieval.training.encoder import TokenEncoder
from retrieval.training.loop import Recipe, descend, has_fast_bfloat16
from retrieval.training.questions import Relevant
from retrieval.words.terms import score_lexically

TOKENS_OF_QUERY, TOKENS_OF_PASSAGE = 48, 256


def group_pairs(pairs: Sequence[Relevant], size: int, cluster_size: int, rng: random.Random) -> list[list[Relevant]]:
    """Batches made of clusters of `cluster_size` pairs whose passages BM25 confuses with each other."""
    index = TextIndex([f"{pair.query} {pair.passage[:300]}" for pair in pairs])
    free = set(range(len(pairs)))
    order = list(free)
    rng.shuffle(order)
    clusters: list[list[Relevant]] = []
    for seed in order:
        if seed in free:
            cluster = [seed, *(i for i in index.top(pairs[seed].query, 40) if i in free and i != seed)][:cluster_size]
            free.difference_update(cluster)
            clusters.append([pairs[i] for i in cluster])
    rng.shuffle(clusters)
    flat = [pair for cluster in clusters for pair in cluster]
    return [flat[at : at + size] for at in range(0, len(flat) - size + 1, size)]


@dataclass(frozen=True, slots=True)
class Tables:
    """The tokenizer and both tables of rarity: of word pieces [vocabulary] and of words [places]."""

    tokenizer: Tokenizer
    pieces: NDArray[np.float32]
    words: NDArray[np.float32]


class WeightedScore(nn.Module):
    """The encoder and the three weights of the score's parts."""

    def __init__(self, encoder: TokenEncoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.weights = nn.Parameter(torch.tensor([14.0, 12.0, 10.0]))

    def forward(self, texts: Sequence[Sequence[str]], tables: Tables, device: torch.device) -> Tensor:
        """Map queries and passages, equally many, to scores [queries, passages]."""
        queries, query_mask, rarity = self._encode(texts[0], TOKENS_OF_QUERY, tables, device)
        passages, passage_mask, _ = self._encode(texts[1], TOKENS_OF_PASSAGE, tables, device)
        match = torch.einsum("qid,pjd->qpij", queries, passages).masked_fill(passage_mask[None, :, None, :] == 0, -1.0)
        late = torch.einsum("qpi,qi->qp", match.amax(-1), rarity) / rarity.sum(1, keepdim=True).clamp(min=1e-6)
        whole = functional.normalize((queries * query_mask[..., None]).sum(1), dim=-1)
        means = functional.normalize((passages * passage_mask[..., None]).sum(1), dim=-1)
        lexical = torch.tensor(np.stack([score_lexically(query, texts[1], tables.words) for query in texts[0]]), device=device)
        return self.weights[0] * lexical.float() + self.weights[1] * late + self.weights[2] * whole @ means.T

    def _encode(self, texts: Sequence[str], longest: int, tables: Tables, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
        """Vectors [texts, tokens, width], mask and rarity [texts, tokens]."""
        tables.tokenizer.enable_truncation(longest)
        tables.tokenizer.enable_padding()
        encodings = tables.tokenizer.encode_batch(list(texts))
        ids = torch.tensor([encoding.ids for encoding in encodings], device=device)
        mask = torch.tensor([encoding.attention_mask for encoding in encodings], device=device)
        rarity = torch.from_numpy(tables.pieces).to(device)[ids] * mask
        with torch.autocast(device.type, torch.bfloat16, enabled=has_fast_bfloat16(device)):
            vectors = self.encoder(ids, mask, torch.zeros_like(ids))
        return vectors.float(), mask.float(), rarity


def train(
    model: WeightedScore,
    batches: Sequence[Sequence[Relevant]],
    tables: Tables,
    recipe: Recipe,
    checkpoint: Path,
    device: torch.device,
) -> None:
    """Train in place on batches of queries with their passages."""
    model.to(device)
    model.encoder.words.weight.requires_grad_(False)
    slow = [parameter for parameter in model.encoder.parameters() if parameter.requires_grad]
    groups_ = [{"params": slow, "lr": recipe.rate, "top": recipe.rate}, {"params": [model.weights], "lr": 0.02, "top": 0.02}]
    steps = torch.optim.AdamW(groups_, weight_decay=0.01)

    def loss(batch: Sequence[Relevant]) -> Tensor:
        scores = model([[pair.query for pair in batch], [pair.passage for pair in batch]], tables, device)
        same = torch.tensor([[a is not b and a.key == b.key for b in batch] for a in batch], device=device)
        return functional.cross_entropy(scores.masked_fill(same, -1e4), torch.arange(len(batch), device=device))

    descend(model, steps, batches, loss, recipe, checkpoint, device)

"""Contrastive training of the relevance model: each query's document against the other documents of its batch.

Four scores learn at once: late interaction with the whole text, which reranks, and the similarity of the query's mean vector to
those of the whole text, of its title and last sentence, and of its title, which an index holds. Batches hold documents that BM25
confuses with each other, so that the others are hard negatives without encoding more text.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from counterpoint.retrieval.training.bm25 import TextIndex
from counterpoint.retrieval.training.encoder import TokenEncoder
from counterpoint.retrieval.training.loop import Recipe, descend, has_fast_bfloat16
from counterpoint.retrieval.training.questions import Relevant
from counterpoint.retrieval.words.forms import unify_text

TOKENS_OF_QUERY = 48


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


VIEWS: tuple[tuple[Callable[[Relevant], str], int, float], ...] = (
    (lambda pair: pair.passage, 256, 1.0),
    (lambda pair: pair.end, 96, 1.0),
    (lambda pair: pair.title or pair.end, 40, 0.5),
)
"""Of each part of a document that a query's mean vector is compared with: its text, the most tokens, the weight of its loss."""


class RelevanceLoss(nn.Module):
    """The encoder and the scales of its four scores, which are cosines."""

    def __init__(self, encoder: TokenEncoder, tokenizer: Tokenizer, rarity: NDArray[np.float32]) -> None:
        super().__init__()
        self.encoder, self._tokenizer = encoder, tokenizer
        self.scales = nn.Parameter(torch.tensor([18.0, 20.0, 20.0, 20.0]))
        self.register_buffer("rarity", torch.from_numpy(rarity), persistent=False)

    def forward(self, batch: Sequence[Relevant]) -> Tensor:
        """The sum of the scores' cross-entropies."""
        queries, mask, ids = self._encode([pair.query for pair in batch], TOKENS_OF_QUERY)
        rarity, means = self.get_buffer("rarity")[ids] * mask, _average(queries, mask)
        same = torch.tensor([[a is not b and a.key == b.key for b in batch] for a in batch], device=ids.device)
        gold = torch.arange(len(batch), device=ids.device)

        def measure(scores: Tensor) -> Tensor:
            return functional.cross_entropy(scores.masked_fill(same, -1e4), gold)

        views = [self._encode([read(pair) for pair in batch], longest)[:2] for read, longest, _ in VIEWS]
        loss = measure(self.scales[0] * _match(queries, rarity, *views[0]))
        for view, scale, (_, _, weight) in zip(views, self.scales[1:], VIEWS, strict=True):
            loss = loss + weight * measure(scale * means @ _average(*view).T)
        return loss

    def _encode(self, texts: Sequence[str], longest: int) -> tuple[Tensor, Tensor, Tensor]:
        """Vectors [texts, tokens, width], mask and ids [texts, tokens]."""
        self._tokenizer.enable_truncation(longest)
        self._tokenizer.enable_padding()
        encodings = self._tokenizer.encode_batch([unify_text(text) for text in texts])
        device = self.scales.device
        ids = torch.tensor([encoding.ids for encoding in encodings], device=device)
        mask = torch.tensor([encoding.attention_mask for encoding in encodings], device=device)
        with torch.autocast(device.type, torch.bfloat16, enabled=has_fast_bfloat16(device)):
            vectors = self.encoder(ids, mask, torch.zeros_like(ids))
        return vectors.float(), mask.float(), ids


def _average(vectors: Tensor, mask: Tensor) -> Tensor:
    """[texts, width]: the mean of each text's vectors, at length 1."""
    return functional.normalize((vectors * mask[..., None]).sum(1), dim=-1)


def _match(queries: Tensor, rarity: Tensor, texts: Tensor, present: Tensor) -> Tensor:
    """[queries, texts]: each query token's best match in a text, averaged by rarity; some queries at a time, to save memory."""
    rows = []
    for some, weights in zip(torch.split(queries, 48), torch.split(rarity, 48), strict=True):
        match = torch.einsum("qid,pjd->qpij", some, texts).masked_fill(present[None, :, None, :] == 0, -1.0).amax(-1)
        rows.append(torch.einsum("qpi,qi->qp", match, weights) / weights.sum(1, keepdim=True).clamp(min=1e-6))
    return torch.cat(rows)


def train(model: RelevanceLoss, batches: Sequence[Sequence[Relevant]], recipe: Recipe, checkpoint: Path) -> None:
    """Train in place on batches of queries with their documents, on the device of the model."""
    model.encoder.words.weight.requires_grad_(False)
    slow = [parameter for parameter in model.encoder.parameters() if parameter.requires_grad]
    groups_ = [{"params": slow, "lr": recipe.rate, "top": recipe.rate}, {"params": [model.scales], "lr": 0.02, "top": 0.02}]
    steps = torch.optim.AdamW(groups_, weight_decay=0.01)
    descend(model, steps, batches, model, recipe, checkpoint, model.scales.device)

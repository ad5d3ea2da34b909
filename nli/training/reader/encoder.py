"""MPNet with two heads, one for the document and one for sentences, written out so that it trains fast and exports cleanly.

The encoder is MPNet's (Song et al. 2020, arXiv 2004.09297) at base size, fine-tuned by its publisher as all-mpnet-base-v2
(Apache-2.0): 12 layers, 768 wide, 12 heads, relative positions in buckets beside absolute ones. Reading a claim and a whole
abstract in one pass with a rationale score for each sentence follows ParagraphJoint (Li et al. 2021, arXiv 2012.14500) and
MultiVerS (Wadden et al. 2022, arXiv 2112.01640).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from nli.reader.encode import CLAIM, SENTENCE
from nli.training.pairs import LABELS

WIDTH, LAYERS, HEADS, INNER, POSITIONS = 768, 12, 12, 3072, 514
FIRST_POSITION = 2
"""MPNet counts positions from the one after its padding's."""
BUCKETS, FARTHEST = 32, 128
KINDS = 3


def compute_relative_buckets(tokens: int) -> Tensor:
    """[tokens, tokens]: the bucket of the distance from each token to each other, with the buckets of T5 and MPNet."""
    places = torch.arange(tokens)
    distance = places[None, :] - places[:, None]
    half, exact = BUCKETS // 2, BUCKETS // 4
    length = distance.abs()
    far_buckets = exact + (torch.log(length.clamp(min=1).float() / exact) / math.log(FARTHEST / exact) * (half - exact)).long()
    return (distance > 0).long() * half + torch.where(length < exact, length, far_buckets.clamp(max=half - 1))


class MPNetLayer(nn.Module):
    """Self-attention and feed-forward, each followed by its residual and layer norm."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.out_norm = nn.LayerNorm(WIDTH, eps=1e-5)
        self.up = nn.Linear(WIDTH, INNER)
        self.down = nn.Linear(INNER, WIDTH)
        self.down_norm = nn.LayerNorm(WIDTH, eps=1e-5)

    def forward(self, hidden: Tensor, bias: Tensor) -> Tensor:
        """hidden [batch, tokens, width]; bias [batch, heads, tokens, tokens], very negative towards padding."""
        batch, tokens, _ = hidden.shape
        query, key, value = self.qkv(hidden).view(batch, tokens, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        weights = query @ key.transpose(-1, -2) / math.sqrt(WIDTH // HEADS) + bias.to(query.dtype)
        attention = (weights.softmax(-1).to(value.dtype) @ value).transpose(1, 2).reshape(batch, tokens, WIDTH)
        hidden = self.out_norm(hidden + self.out(attention))
        output: Tensor = self.down_norm(hidden + self.down(functional.gelu(self.up(hidden))))
        return output


class ReaderEncoder(nn.Module):
    """Tokens to logits: those of the first token are the document's, those of a token that closes a sentence are the sentence's.

    The layers below `frozen` keep the base's weights, and so do the word embeddings.
    """

    def __init__(self, vocabulary: int, frozen: int = 0) -> None:
        super().__init__()
        self.frozen = frozen
        self.words = nn.Embedding(vocabulary, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.kinds = nn.Parameter(torch.zeros(KINDS, WIDTH))
        self.norm = nn.LayerNorm(WIDTH, eps=1e-5)
        self.distances = nn.Embedding(BUCKETS, HEADS)
        self.layers = nn.ModuleList([MPNetLayer() for _ in range(LAYERS)])
        self.hidden = nn.Linear(3 * WIDTH, WIDTH // 2)
        self.document = nn.Linear(WIDTH // 2, len(LABELS))
        self.sentence = nn.Linear(WIDTH, len(LABELS))

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """Inputs are [batch, tokens], int64; returns logits [batch, tokens, labels]."""
        tokens = input_ids.shape[1]
        present = attention_mask.to(torch.float32)
        with torch.set_grad_enabled(torch.is_grad_enabled() and self.frozen == 0):
            places = self.positions.weight[FIRST_POSITION : FIRST_POSITION + tokens]
            hidden = self.norm(self.words(input_ids) + places)
            distances = self.distances(compute_relative_buckets(tokens)).permute(2, 0, 1)[None]
            bias = distances + ((1.0 - present) * -1e4)[:, None, None, :]
            for layer in list(self.layers)[: self.frozen]:
                hidden = layer(hidden, bias)
        hidden = hidden + functional.embedding(token_type_ids, self.kinds)
        for layer in list(self.layers)[self.frozen :]:
            hidden = layer(hidden, bias)
        claim = _average(hidden, present * (token_type_ids == CLAIM).to(torch.float32))
        text = _average(hidden, present * (token_type_ids == SENTENCE).to(torch.float32))
        summary = functional.dropout(torch.cat([hidden[:, 0], claim, text], -1), 0.1, self.training)
        document = self.document(torch.tanh(self.hidden(summary)))
        return torch.cat([document[:, None], self.sentence(hidden[:, 1:])], 1)


def _average(hidden: Tensor, mask: Tensor) -> Tensor:
    """[batch, width]: the mean of the tokens that the mask [batch, tokens] keeps."""
    return (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1.0)


def load_base(model: ReaderEncoder, folder: Path, words: Sequence[int]) -> ReaderEncoder:
    """Load the encoder from all-mpnet-base-v2's folder; `words` are the rows of its word table to keep, in order."""
    weights = load_file(folder / "model.safetensors")
    state = model.state_dict()
    state["words.weight"] = weights["embeddings.word_embeddings.weight"][list(words)]
    state["positions.weight"] = weights["embeddings.position_embeddings.weight"]
    state["distances.weight"] = weights["encoder.relative_attention_bias.weight"]
    for part in ("weight", "bias"):
        state[f"norm.{part}"] = weights[f"embeddings.LayerNorm.{part}"]
        for index in range(LAYERS):
            source, target = f"encoder.layer.{index}.", f"layers.{index}."
            state[f"{target}qkv.{part}"] = torch.cat([weights[f"{source}attention.attn.{name}.{part}"] for name in "qkv"])
            state[f"{target}out.{part}"] = weights[f"{source}attention.attn.o.{part}"]
            state[f"{target}out_norm.{part}"] = weights[f"{source}attention.LayerNorm.{part}"]
            state[f"{target}up.{part}"] = weights[f"{source}intermediate.dense.{part}"]
            state[f"{target}down.{part}"] = weights[f"{source}output.dense.{part}"]
            state[f"{target}down_norm.{part}"] = weights[f"{source}output.LayerNorm.{part}"]
    model.load_state_dict(state)
    return model

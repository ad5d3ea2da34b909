"""The layer of all our encoders, and the MiniLM encoder, written out to train, export and be read without a model zoo.

The architecture is BERT's (Devlin et al. 2019, arXiv 1810.04805); MiniLM (Wang et al. 2020, arXiv 2002.10957) has 6 layers, 384
wide, with 12 heads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

WIDTH, LAYERS, HEADS, INNER, POSITIONS, VOCABULARY = 384, 6, 12, 1536, 512, 30522


BERT: dict[str, tuple[str, ...]] = {
    "qkv": ("attention.self.query", "attention.self.key", "attention.self.value"),
    "out": ("attention.output.dense",), "out_norm": ("attention.output.LayerNorm",),
    "up": ("intermediate.dense",), "down": ("output.dense",), "down_norm": ("output.LayerNorm",),
}  # fmt: skip
"""Hugging Face's names of the parts of a layer."""


class Layer(nn.Module):
    """Self-attention and feed-forward, each with its residual and layer norm after it (post-norm, as in BERT)."""

    def __init__(self, width: int, epsilon: float, dropout: float) -> None:
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.out_norm = nn.LayerNorm(width, eps=epsilon)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.down_norm = nn.LayerNorm(width, eps=epsilon)
        self.width, self.dropout = width, dropout

    def forward(self, hidden: Tensor, bias: Tensor) -> Tensor:
        """hidden [batch, tokens, width]; bias [batch, heads or 1, tokens or 1, tokens], very negative towards padding."""
        batch, tokens, _ = hidden.shape
        query, key, value = self.qkv(hidden).view(batch, tokens, 3, HEADS, self.width // HEADS).permute(2, 0, 3, 1, 4)
        if torch.onnx.is_in_onnx_export():
            # The graph that ships has the plain form. Elsewhere one operation keeps no table of weights and is faster.
            weights = query @ key.transpose(-1, -2) / math.sqrt(self.width // HEADS) + bias
            context = weights.softmax(-1) @ value
        else:
            context = functional.scaled_dot_product_attention(query, key, value, bias.to(query.dtype))
        context = context.transpose(1, 2).reshape(batch, tokens, self.width)
        hidden = self.out_norm(hidden + functional.dropout(self.out(context), self.dropout, self.training))
        inner = self.down(functional.gelu(self.up(hidden)))
        output: Tensor = self.down_norm(hidden + functional.dropout(inner, self.dropout, self.training))
        return output


class TokenEncoder(nn.Module):
    """One text to its tokens' vectors of length 1, for late interaction."""

    def __init__(self, dropout: float = 0.1) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.types = nn.Embedding(1, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList([Layer(WIDTH, 1e-12, dropout) for _ in range(LAYERS)])
        self.dropout = dropout

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """All [batch, tokens], int64; vectors [batch, tokens, width]; padding's vectors mean nothing."""
        embeddings = self.words(input_ids) + self.positions.weight[: input_ids.shape[1]] + self.types(token_type_ids)
        hidden: Tensor = functional.dropout(self.norm(embeddings), self.dropout, self.training)
        bias = (1.0 - attention_mask.to(hidden.dtype))[:, None, None, :] * -1e4
        for layer in self.layers:
            hidden = layer(hidden, bias)
        return functional.normalize(hidden, dim=-1)


def rename_weights(weights: Mapping[str, Tensor], layers: int, names: Mapping[str, Sequence[str]] = BERT) -> dict[str, Tensor]:
    """The weights of a checkpoint's layers, and of the norm below them, by our names."""
    found = {f"norm.{part}": weights[f"embeddings.LayerNorm.{part}"] for part in ("weight", "bias")}
    for own, theirs in names.items():
        for layer in range(layers):
            for part in ("weight", "bias"):
                values = [weights[f"encoder.layer.{layer}.{name}.{part}"] for name in theirs]
                found[f"layers.{layer}.{own}.{part}"] = torch.cat(values)
    return found


def load_base(model: TokenEncoder, folder: Path) -> TokenEncoder:
    """Fill the encoder from a BERT checkpoint of this size (`model.safetensors`, Hugging Face's names)."""
    weights = {name.removeprefix("bert."): value for name, value in load_file(folder / "model.safetensors").items()}
    state = rename_weights(weights, LAYERS)
    state["words.weight"] = weights["embeddings.word_embeddings.weight"]
    state["positions.weight"] = weights["embeddings.position_embeddings.weight"]
    state["types.weight"] = weights["embeddings.token_type_embeddings.weight"][:1]
    model.load_state_dict(state)
    return model

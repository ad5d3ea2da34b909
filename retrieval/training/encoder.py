"""The MiniLM encoder, written out so that it trains, exports and is read without a framework's model zoo.

The architecture is BERT's (Devlin et al. 2019, arXiv 1810.04805) at MiniLM's size (Wang et al. 2020, arXiv 2002.10957): 6 layers,
384 wide, 12 heads.
"""

from __future__ import annotations

import math
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

WIDTH, LAYERS, HEADS, INNER, POSITIONS, VOCABULARY = 384, 6, 12, 1536, 512, 30522


class BertLayer(nn.Module):
    """Self-attention and feed-forward, each with its residual and layer norm after it (post-norm, as in BERT)."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.out_norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.up = nn.Linear(WIDTH, INNER)
        self.down = nn.Linear(INNER, WIDTH)
        self.down_norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.dropout = dropout

    def forward(self, hidden: Tensor, bias: Tensor) -> Tensor:
        """hidden [batch, tokens, width]; bias [batch, 1, 1, tokens], 0 for tokens and very negative for padding."""
        batch, tokens, _ = hidden.shape
        query, key, value = self.qkv(hidden).view(batch, tokens, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        if self.training:
            # The same in one operation, which keeps no table of weights and is faster. The graph that ships has the plain one.
            context = functional.scaled_dot_product_attention(query, key, value, bias.to(query.dtype))
        else:
            weights = query @ key.transpose(-1, -2) / math.sqrt(WIDTH // HEADS) + bias
            context = weights.softmax(-1) @ value
        context = context.transpose(1, 2).reshape(batch, tokens, WIDTH)
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
        self.layers = nn.ModuleList([BertLayer(dropout) for _ in range(LAYERS)])
        self.dropout = dropout

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """All [batch, tokens], int64; vectors [batch, tokens, width]; padding's vectors mean nothing."""
        embeddings = self.words(input_ids) + self.positions.weight[: input_ids.shape[1]] + self.types(token_type_ids)
        hidden: Tensor = functional.dropout(self.norm(embeddings), self.dropout, self.training)
        bias = (1.0 - attention_mask.to(hidden.dtype))[:, None, None, :] * -1e4
        for layer in self.layers:
            hidden = layer(hidden, bias)
        return functional.normalize(hidden, dim=-1)


def load_base(model: TokenEncoder, folder: Path) -> TokenEncoder:
    """Fill the encoder from a BERT checkpoint of this size (`model.safetensors`, Hugging Face's names)."""
    weights = {name.removeprefix("bert."): value for name, value in load_file(folder / "model.safetensors").items()}
    state = model.state_dict()
    state["words.weight"] = weights["embeddings.word_embeddings.weight"]
    state["positions.weight"] = weights["embeddings.position_embeddings.weight"]
    state["types.weight"] = weights["embeddings.token_type_embeddings.weight"][:1]
    state["norm.weight"], state["norm.bias"] = (weights[f"embeddings.LayerNorm.{part}"] for part in ("weight", "bias"))
    for index in range(LAYERS):
        source, target = f"encoder.layer.{index}.", f"layers.{index}."
        for part in ("weight", "bias"):
            state[f"{target}qkv.{part}"] = torch.cat(
                [weights[f"{source}attention.self.{name}.{part}"] for name in ("query", "key", "value")]
            )
            state[f"{target}out.{part}"] = weights[f"{source}attention.output.dense.{part}"]
            state[f"{target}out_norm.{part}"] = weights[f"{source}attention.output.LayerNorm.{part}"]
            state[f"{target}up.{part}"] = weights[f"{source}intermediate.dense.{part}"]
            state[f"{target}down.{part}"] = weights[f"{source}output.dense.{part}"]
            state[f"{target}down_norm.{part}"] = weights[f"{source}output.LayerNorm.{part}"]
    model.load_state_dict(state)
    return model

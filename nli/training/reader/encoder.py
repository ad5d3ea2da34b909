"""The reader in two sizes, with one head for the document and one for sentences, written out to train fast and export cleanly.

The large one's encoder is MPNet's (Song et al. 2020, arXiv 2004.09297) at base size, fine-tuned by its publisher as
all-mpnet-base-v2 (Apache-2.0): 12 layers, 768 wide, relative positions in buckets beside absolute ones. The small one's is
MiniLM's (Wang et al. 2020, arXiv 2002.10957), as all-MiniLM-L6-v2 (Apache-2.0): 6 layers, 384 wide, absolute positions alone.
Reading a claim and a whole abstract in one pass with a rationale score for each sentence follows ParagraphJoint (Li et al. 2021,
arXiv 2012.14500) and MultiVerS (Wadden et al. 2022, arXiv 2112.01640).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from nli.reader.encode import CLAIM, SENTENCE
from nli.training.pairs import LABELS

HEADS = 12
BUCKETS, FARTHEST = 32, 128
KINDS = 3


@dataclass(frozen=True, slots=True)
class Size:
    """The size of an encoder; its feed-forward layers are four times as wide. `first` is the row of the first token's position:
    MPNet counts from the one after its padding's."""

    name: str
    base: str
    width: int
    layers: int
    positions: int
    first: int
    relative: bool
    epsilon: float


LARGE = Size("reader-mpnet", "all-mpnet-base-v2", 768, 12, 514, 2, relative=True, epsilon=1e-5)
SMALL = Size("reader-minilm", "all-MiniLM-L6-v2", 384, 6, 512, 0, relative=False, epsilon=1e-12)
SIZES = {"large": LARGE, "small": SMALL}


def find_size(state: Mapping[str, Tensor]) -> Size:
    """The size of a reader with these weights."""
    width = state["words.weight"].shape[1]
    return next(size for size in SIZES.values() if size.width == width)


def compute_relative_buckets(tokens: int) -> Tensor:
    """[tokens, tokens]: the bucket of the distance from each token to each other, with the buckets of T5 and MPNet."""
    places = torch.arange(tokens)
    distance = places[None, :] - places[:, None]
    half, exact = BUCKETS // 2, BUCKETS // 4
    length = distance.abs()
    far_buckets = exact + (torch.log(length.clamp(min=1).float() / exact) / math.log(FARTHEST / exact) * (half - exact)).long()
    return (distance > 0).long() * half + torch.where(length < exact, length, far_buckets.clamp(max=half - 1))


class Layer(nn.Module):
    """Self-attention and feed-forward, each followed by its residual and layer norm."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        width = size.width
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.out_norm = nn.LayerNorm(width, eps=size.epsilon)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.down_norm = nn.LayerNorm(width, eps=size.epsilon)

    def forward(self, hidden: Tensor, bias: Tensor) -> Tensor:
        """hidden [batch, tokens, width]; bias [batch, heads or 1, tokens or 1, tokens], very negative towards padding."""
        batch, tokens, width = hidden.shape
        query, key, value = self.qkv(hidden).view(batch, tokens, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
        weights = query @ key.transpose(-1, -2) / math.sqrt(width // HEADS) + bias.to(query.dtype)
        attention = (weights.softmax(-1).to(value.dtype) @ value).transpose(1, 2).reshape(batch, tokens, width)
        hidden = self.out_norm(hidden + self.out(attention))
        output: Tensor = self.down_norm(hidden + self.down(functional.gelu(self.up(hidden))))
        return output


class ReaderEncoder(nn.Module):
    """Tokens to logits: those of the first token are the document's, those of one that closes a sentence are the sentence's."""

    def __init__(self, vocabulary: int, size: Size = LARGE) -> None:
        super().__init__()
        self.size = size
        self.words = nn.Embedding(vocabulary, size.width)
        self.positions = nn.Embedding(size.positions, size.width)
        self.kinds = nn.Parameter(torch.zeros(KINDS, size.width))
        self.norm = nn.LayerNorm(size.width, eps=size.epsilon)
        if size.relative:
            self.distances = nn.Embedding(BUCKETS, HEADS)
        self.layers = nn.ModuleList([Layer(size) for _ in range(size.layers)])
        self.hidden = nn.Linear(3 * size.width, size.width // 2)
        self.document = nn.Linear(size.width // 2, len(LABELS))
        self.sentence = nn.Linear(size.width, len(LABELS))

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """Inputs are [batch, tokens], int64; returns logits [batch, tokens, labels]."""
        tokens = input_ids.shape[1]
        present = attention_mask.to(torch.float32)
        places = self.positions.weight[self.size.first : self.size.first + tokens]
        hidden = self.norm(self.words(input_ids) + places) + functional.embedding(token_type_ids, self.kinds)
        bias = ((1.0 - present) * -1e4)[:, None, None, :]
        if self.size.relative:
            bias = bias + self.distances(compute_relative_buckets(tokens)).permute(2, 0, 1)[None]
        for layer in self.layers:
            hidden = layer(hidden, bias)
        claim = _average(hidden, present * (token_type_ids == CLAIM).to(torch.float32))
        text = _average(hidden, present * (token_type_ids == SENTENCE).to(torch.float32))
        summary = functional.dropout(torch.cat([hidden[:, 0], claim, text], -1), 0.1, self.training)
        document = self.document(torch.tanh(self.hidden(summary)))
        return torch.cat([document[:, None], self.sentence(hidden[:, 1:])], 1)


def _average(hidden: Tensor, mask: Tensor) -> Tensor:
    """[batch, width]: the mean of the tokens that the mask [batch, tokens] keeps."""
    return (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1.0)


_MPNET = {"qkv": "attention.attn", "out": "attention.attn.o", "out_norm": "attention.LayerNorm"}
_BERT = {"qkv": "attention.self", "out": "attention.output.dense", "out_norm": "attention.output.LayerNorm"}


def load_base(model: ReaderEncoder, folder: Path, words: Sequence[int]) -> ReaderEncoder:
    """Load the encoder from the folder of its size's base; `words` are the rows of its word table to keep, in order."""
    weights = load_file(folder / "model.safetensors")
    state, relative = model.state_dict(), model.size.relative
    state["words.weight"] = weights["embeddings.word_embeddings.weight"][list(words)]
    state["positions.weight"] = weights["embeddings.position_embeddings.weight"]
    if relative:
        state["distances.weight"] = weights["encoder.relative_attention_bias.weight"]
    else:
        # BERT's type of a first text is the same for all tokens here: what kind they are is told by `kinds`.
        state["positions.weight"] = state["positions.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    names, parts = (_MPNET, "qkv") if relative else (_BERT, ("query", "key", "value"))
    for part in ("weight", "bias"):
        state[f"norm.{part}"] = weights[f"embeddings.LayerNorm.{part}"]
        for index in range(model.size.layers):
            source, target = f"encoder.layer.{index}.", f"layers.{index}."
            qkv = [weights[f"{source}{names['qkv']}.{one}.{part}"] for one in parts]
            state[f"{target}qkv.{part}"] = torch.cat(qkv)
            state[f"{target}out.{part}"] = weights[f"{source}{names['out']}.{part}"]
            state[f"{target}out_norm.{part}"] = weights[f"{source}{names['out_norm']}.{part}"]
            state[f"{target}up.{part}"] = weights[f"{source}intermediate.dense.{part}"]
            state[f"{target}down.{part}"] = weights[f"{source}output.dense.{part}"]
            state[f"{target}down_norm.{part}"] = weights[f"{source}output.LayerNorm.{part}"]
    model.load_state_dict(state)
    return model

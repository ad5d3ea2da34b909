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

from counterpoint.nli.reader.encode import CLAIM, SENTENCE
from counterpoint.nli.training.reader.lesson import LABELS
from counterpoint.retrieval.training.encoder import BERT, HEADS, Layer, rename_weights

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


class ReaderEncoder(nn.Module):
    """Tokens to logits: those of the first token are the document's, those of one that closes a sentence are the sentence's.

    A reader that finds `answers` to open questions has one more, the log odds: of the first token that the document answers the
    question, of any other that it belongs to the words that name the answer.
    """

    def __init__(self, vocabulary: int, size: Size = LARGE, dropout: float = 0.0, answers: bool = False) -> None:
        super().__init__()
        self.size, self.answers = size, answers
        self.words = nn.Embedding(vocabulary, size.width)
        self.positions = nn.Embedding(size.positions, size.width)
        self.kinds = nn.Parameter(torch.zeros(KINDS, size.width))
        self.norm = nn.LayerNorm(size.width, eps=size.epsilon)
        if size.relative:
            self.distances = nn.Embedding(BUCKETS, HEADS)
        self.layers = nn.ModuleList([Layer(size.width, size.epsilon, dropout) for _ in range(size.layers)])
        self.hidden = nn.Linear(3 * size.width, size.width // 2)
        self.document = nn.Linear(size.width // 2, len(LABELS))
        self.sentence = nn.Linear(size.width, len(LABELS))
        if answers:
            self.answered = nn.Linear(size.width // 2, 1)
            self.answer = nn.Linear(size.width, 1)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """Inputs are [batch, tokens], int64; returns logits [batch, tokens, labels], or one more."""
        tokens = input_ids.shape[1]
        present = attention_mask.to(torch.float32)
        places = self.positions.weight[self.size.first : self.size.first + tokens]
        hidden = self.norm(self.words(input_ids) + places) + functional.embedding(token_type_ids, self.kinds)
        bias = ((1.0 - present) * -1e4)[:, None, None, :]
        if self.size.relative:
            buckets = compute_relative_buckets(tokens).to(input_ids.device)
            bias = bias + self.distances(buckets).permute(2, 0, 1)[None]
        for layer in self.layers:
            hidden = layer(hidden, bias)
        claim = _average(hidden, present * (token_type_ids == CLAIM).to(torch.float32))
        text = _average(hidden, present * (token_type_ids == SENTENCE).to(torch.float32))
        summary = functional.dropout(torch.cat([hidden[:, 0], claim, text], -1), 0.1, self.training)
        inner = torch.tanh(self.hidden(summary))
        document, sentences = self.document(inner), self.sentence(hidden[:, 1:])
        if self.answers:
            document = torch.cat([document, self.answered(inner)], -1)
            sentences = torch.cat([sentences, self.answer(hidden[:, 1:])], -1)
        return torch.cat([document[:, None], sentences], 1)


def _average(hidden: Tensor, mask: Tensor) -> Tensor:
    """[batch, width]: the mean of the tokens that the mask [batch, tokens] keeps."""
    return (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1.0)


_MPNET = BERT | {
    "qkv": tuple(f"attention.attn.{part}" for part in "qkv"),
    "out": ("attention.attn.o",),
    "out_norm": ("attention.LayerNorm",),
}


def load_base(model: ReaderEncoder, folder: Path, words: Sequence[int]) -> ReaderEncoder:
    """Load the encoder from the folder of its size's base; `words` are the rows of its word table to keep, in order."""
    weights, relative = load_file(folder / "model.safetensors"), model.size.relative
    state = model.state_dict() | rename_weights(weights, model.size.layers, _MPNET if relative else BERT)
    state["words.weight"] = weights["embeddings.word_embeddings.weight"][list(words)]
    state["positions.weight"] = weights["embeddings.position_embeddings.weight"]
    if relative:
        state["distances.weight"] = weights["encoder.relative_attention_bias.weight"]
    else:
        # BERT's type of a first text is the same for all tokens here: what kind they are is told by `kinds`.
        state["positions.weight"] = state["positions.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    model.load_state_dict(state)
    return model

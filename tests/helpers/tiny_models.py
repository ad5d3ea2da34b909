"""Tiny Hugging Face models with random weights, saved as the hub would hold them: a few KB and a moment each.

Weights are drawn wide (standard deviation 1 rather than 0.02), so that different texts get clearly different scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

VOCABULARY = (
    "aspirin hormone therapy statin placebo trial patients women men risk of heart disease stroke cancer mortality "
    "reduces increases does not no effect on the in a was were with and yes nope perhaps odd raises lowers prevents"
)


def tiny_classifier(folder: Path, labels: Sequence[str], *, seed: int = 0, positions: int = 64) -> Path:
    """A BERT sequence classifier with `labels`, in order; one label makes it a cross-encoder."""
    from transformers import BertForSequenceClassification

    options = {"id2label": dict(enumerate(labels)), "label2id": {label: i for i, label in enumerate(labels)}}
    return _save_bert(folder, BertForSequenceClassification, seed, positions, **options)


def tiny_encoder(folder: Path, seed: int = 0) -> Path:
    """A BERT without a head and, as encoders are often saved, without its pooler."""
    from transformers import BertModel

    return _save_bert(folder, lambda config: BertModel(config, add_pooling_layer=False), seed, 64)


def _save_bert(folder: Path, make: Callable[[Any], Any], seed: int, positions: int, **options: Any) -> Path:
    import torch
    from transformers import BertConfig, BertTokenizer

    torch.manual_seed(seed)
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *VOCABULARY.split(), *".,:0123456789", "query"]
    BertTokenizer(vocab={word: i for i, word in enumerate(vocab)}).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocab), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=positions, initializer_range=1.0, **options,
    )  # fmt: skip
    make(config).save_pretrained(folder)
    return folder


def tiny_t5(folder: Path, *, answers: dict[str, str] | None = None, letters: bool = False) -> Path:
    """A T5 that is taught to write `answers[word]` for a MedNLI premise that holds the word `word`.

    With `letters` the label words are spelled out, so that they all begin with the token "▁".
    """
    import torch
    from transformers import T5Config, T5ForConditionalGeneration, T5Tokenizer

    torch.manual_seed(0)
    answered = [] if letters else ["entailment", "neutral", "contradiction", "banana"]
    names = ["mednli", "sentence", *answered, *VOCABULARY.split()]
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -4.0)]
    pieces += [(f"▁{name}", -2.0) for name in dict.fromkeys(names)]
    pieces += [(letter, -8.0) for letter in "abcdefghijklmnopqrstuvwxyz0123456789:.,{}()<>/"]
    tokenizer = T5Tokenizer(vocab=pieces, extra_ids=0)
    tokenizer.save_pretrained(folder)
    config = T5Config(
        vocab_size=len(pieces), d_model=24, d_kv=12, d_ff=48, num_layers=1, num_heads=2, dropout_rate=0.0
    )  # fmt: skip
    config.decoder_start_token_id = 0
    model: Any = T5ForConditionalGeneration(config)
    if answers:
        sources = [
            f"mednli: sentence1: {premise} sentence2: {claim}"
            for word in answers
            for premise in (f"{word} in women", f"statin {word} risk", word)
            for claim in ("statin reduces risk", "aspirin prevents stroke of the heart in men")
        ]
        targets = [answer for answer in answers.values() for _ in range(6)]
        source = tokenizer(sources, padding=True, return_tensors="pt")
        labels = tokenizer(targets, padding=True, return_tensors="pt").input_ids
        labels[labels == 0] = -100
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # a second thread makes so small a training many times slower on a busy machine
        for _ in range(80):
            optimizer.zero_grad()
            model(**source, labels=labels).loss.backward()
            optimizer.step()
        torch.set_num_threads(threads)
    model.eval().save_pretrained(folder)
    return folder


def tiny_causal(folder: Path, *, positions: int = 8192, template: bool = True) -> Path:
    """A byte-level Llama of a few thousand random weights, with a chat template of the plainest kind."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    torch.manual_seed(0)
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {token: i for i, token in enumerate(["<pad>", "<s>", "</s>", "<|im_start|>", "<|im_end|>", *letters])}
    backend = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    made: Any = PreTrainedTokenizerFast
    tokenizer = made(
        tokenizer_object=backend, bos_token="<s>", eos_token="</s>", pad_token="<pad>",
        additional_special_tokens=["<|im_start|>", "<|im_end|>"], model_max_length=positions,
    )  # fmt: skip
    if template:
        tokenizer.chat_template = (
            "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
            "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
        )
    tokenizer.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(vocab), hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        max_position_embeddings=positions, pad_token_id=0, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    model: Any = LlamaForCausalLM(config)
    model.eval().save_pretrained(folder)
    return folder

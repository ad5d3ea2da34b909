"""Models of the Hugging Face hub in PyTorch: found, identified, loaded once, and run safely by many threads.

torch and transformers take seconds to import, so they are imported inside the functions that need them. One lock, the same for
all models, is held for each batch, from its tokens (transformers keeps truncation and padding as state of the tokenizer,
huggingface/transformers#47085) to its scores: models share the cores, and two batches at once only slow each other down.
"""

from __future__ import annotations

import fnmatch
import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from counterpoint.retrieval.core.characters import unify_characters
from counterpoint.retrieval.core.errors import BadConfig, CounterpointError, ModelUnusable, translate_write_errors

HUB_TIMEOUT = 5.0
"""Seconds within which the hub must answer the first request: transformers' own loading asks for half a minute."""
WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")
"""The two formats; of a repository that has both, only the first is fetched."""
BESIDE_WEIGHTS = ("*.json", "*.txt", "*.model")
Head = Literal["SequenceClassification", "Seq2SeqLM", "CausalLM", "Encoder"]
Precision = Literal["auto", "float32", "bfloat16"]
_RUNNING = threading.RLock()


def find_model(model: str, revision: str | None = None, code: bool = False) -> Path:
    """The folder with a model's files: a local one, else the Hugging Face cache's, else downloaded into that cache.

    With `code`, its Python files are fetched too. No network is used for what is here. Raises `BadConfig` or `ModelUnusable`.
    """
    folder = Path(os.path.expanduser(model))  # as it is for a user without a home
    if folder.is_dir():
        if revision:
            raise BadConfig(f"The model {model} is a local folder, which has no revisions; leave `revision` out.")
        return folder
    if model.startswith(("/", "./", "../", "~")):
        raise ModelUnusable(f"There is no model folder {model}; give an existing folder or a hub name (OWNER/NAME).")
    import huggingface_hub

    try:
        config = huggingface_hub.try_to_load_from_cache(model, "config.json", revision=revision)
        if isinstance(config, str) and any(_list_weights([path.name for path in Path(config).parent.iterdir()])):
            return Path(config).parent
        info = huggingface_hub.HfApi().model_info(model, revision=revision, timeout=HUB_TIMEOUT)
        weights = _list_weights([file.rfilename for file in info.siblings or []])
        patterns = [*weights, *BESIDE_WEIGHTS, *(["*.py"] if code else [])]
        cache = Path(huggingface_hub.constants.HF_HUB_CACHE)
        with translate_write_errors(f"the model {model}", cache, "free some space and start again"):
            return Path(huggingface_hub.snapshot_download(model, revision=revision, allow_patterns=patterns))
    except CounterpointError:
        raise
    except Exception as error:  # a network, a proxy or a mirror fails in types that change with the HTTP library
        raise ModelUnusable(
            f"The model {model} is not in the Hugging Face cache and cannot be fetched ({_first_line(error)}); check the name, "
            "accept its terms on its hub page if it has some, or download it once where there is a network with "
            f"`hf download {model}` and set HF_HOME to that cache, or give a local folder."
        ) from error


def _list_weights(names: Sequence[str]) -> list[str]:
    return next((found for pattern in WEIGHTS if (found := fnmatch.filter(names, pattern))), [])


def identify_model(folder: Path, code: bool = False) -> str:
    """The model's name, "@", and what pins its weights: the hub's commit in its cache, elsewhere a hash of the files.

    The hash covers configuration and tokenizer too, because a swapped label or word changes verdicts as a weight does, and
    the model's own Python files where they are run.
    """
    if folder.parent.name == "snapshots" and folder.parent.parent.name.startswith("models--"):
        hub_name = folder.parent.parent.name.removeprefix("models--").replace("--", "/")
        return f"{hub_name}@{folder.name[:12]}"
    names = [path.name for path in folder.iterdir() if path.is_file()]
    patterns = (*BESIDE_WEIGHTS, *(["*.py"] if code else []))
    beside = [name for name in names if any(fnmatch.fnmatch(name, one) for one in patterns)]
    whole = hashlib.sha256()
    for name in sorted({*_list_weights(names), *beside}):
        with (folder / name).open("rb") as file:
            whole.update(name.encode() + hashlib.file_digest(file, "sha256").digest())
    return f"{folder.resolve().name}@{whole.hexdigest()[:12]}"


class HubModel:
    """A network with its tokenizer on a device. `limit` is the longest input it can read, in tokens.

    `device` is auto (the first CUDA device, else the CPU), cpu or cuda. In float32 results are the same on every machine; auto is
    bfloat16 where the hardware has instructions for it. Raises `BadConfig` or `ModelUnusable`.
    """

    def __init__(
        self, model: str, head: Head, device: str, precision: Precision, revision: str | None, trust_remote_code: bool = False
    ) -> None:
        import torch

        try:
            self.device = torch.device(device if device != "auto" else "cuda" if torch.cuda.is_available() else "cpu")
            torch.empty(0, device=self.device)
        except (RuntimeError, AssertionError) as error:  # torch reports a build without CUDA by AssertionError
            raise BadConfig(f"The device {device!r} cannot be used here; expected auto, cpu or cuda.") from error
        able = torch.cpu.get_capabilities() if self.device.type == "cpu" else {"amx_tile": torch.cuda.is_bf16_supported(False)}
        fast = bool(able.get("avx512_bf16") or able.get("amx_tile"))
        self._autocast = precision == "bfloat16" or (precision == "auto" and fast)
        folder = find_model(model, revision, trust_remote_code)
        self.name = identify_model(folder, trust_remote_code)
        with _RUNNING:  # transformers' lazy imports are global: one model loads at a time
            self.tokenizer, self.network = _load(model, folder, head, trust_remote_code)
        self.network.to(self.device)
        self.config = self.network.config
        self.tokenizer.padding_side = "right"
        self.tokenizer.pad_token = self.tokenizer.pad_token or self.tokenizer.eos_token
        self.limit = min(self.tokenizer.model_max_length, getattr(self.config, "max_position_embeddings", None) or 1 << 30)

    @contextmanager
    def run_exclusively(self) -> Iterator[None]:
        """Inside, tokenizer and network may be called: one thread at a time, no gradients, in the chosen precision."""
        import torch

        with _RUNNING, torch.inference_mode(), torch.autocast(self.device.type, torch.bfloat16, enabled=self._autocast):
            yield

    def encode(self, texts: Sequence[str], others: Sequence[str] | None, most: int, cut: str | bool = True) -> Any:
        """A batch of texts, each paired with one of `others` if there are some, in at most `most` tokens, shortened as `cut`
        says.

        A "[SEP]" or "</s>" written in a paper or a claim is text: it ends no segment.
        """
        pairs = [[unify_characters(text) for text in some] for some in (texts, others) if some is not None]
        options: dict[str, Any] = {"padding": True, "return_tensors": "pt", "split_special_tokens": True}
        return self.tokenizer(*pairs, truncation=cut, max_length=min(most, self.limit), **options).to(self.device)

    def shorten(self, text: str, most: int) -> str:
        """The text's first `most` tokens."""
        with _RUNNING:
            offsets = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)["offset_mapping"]
        return text if len(offsets) <= most else text[: offsets[most - 1][1]] if most > 0 else ""

    def count_tokens(self, text: str) -> int:
        """The number of tokens of a text, specials included."""
        with _RUNNING:
            return len(self.tokenizer(text, verbose=False)["input_ids"])

    def each(
        self,
        texts: Sequence[str],
        others: Sequence[str] | None,
        most: int,
        batch_size: int,
        read: Callable[[Any, Any], Any],
        cut: str | bool = True,
    ) -> list[NDArray[np.float32]]:
        """What `read` takes from the network's output and its batch, a row for each text, in their order.

        Texts of like length are run together, the longest first: if memory runs out, it does so at once.
        """
        lengths = [len(text) + (len(others[i]) if others else 0) for i, text in enumerate(texts)]
        order = sorted(range(len(texts)), key=lambda i: -lengths[i])
        rows: dict[int, NDArray[np.float32]] = {}
        for start in range(0, len(order), batch_size):
            places = order[start : start + batch_size]
            with self.run_exclusively():
                batch = self.encode([texts[i] for i in places], others and [others[i] for i in places], most, cut)
                output = self.check_finite(read(self.network(**batch), batch))
            rows.update(zip(places, output, strict=True))
        return [rows[place] for place in range(len(texts))]

    def pair(self, kept: str, cut: Sequence[str], most: int, batch_size: int, kept_first: bool) -> list[NDArray[np.float32]]:
        """The logits of `kept` paired with each text of `cut`, in order.

        Only `cut` is shortened, at its end; a `kept` of more than half the room, which nobody intends, is cut there.
        """
        both = [self.shorten(kept, min(most, self.limit) // 2)] * len(cut), cut
        first, second = both if kept_first else both[::-1]
        which = "only_second" if kept_first else "only_first"
        return self.each(first, second, most, batch_size, lambda output, _: output.logits, which)

    def check_finite(self, scores: Any) -> NDArray[np.float32]:
        """The scores as float32. NaN would compare as anything, even as a contradiction: raises `ModelUnusable` for it."""
        found: NDArray[np.float32] = scores.float().cpu().numpy()
        if not np.isfinite(found).all():
            raise ModelUnusable(
                f"The model {self.name} returned values that are not numbers; fetch its weights again, or set precision: float32."
            )
        return found


def _load(model: str, folder: Path, head: Head, code: bool) -> tuple[Any, Any]:
    """Tokenizer and network (float32, for inference) from `folder` alone, or one sentence about why they do not fit."""
    import torch
    import transformers

    architecture: Any = getattr(transformers, "AutoModel" if head == "Encoder" else f"AutoModelFor{head}")
    # Code that a repository brings along is run only where a profile says so.
    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": code}
    logging: Any = transformers.utils.logging
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder, **options)
        network, report = architecture.from_pretrained(folder, output_loading_info=True, dtype=torch.float32, **options)
    except Exception as error:  # transformers reports bad files with a dozen exception types
        if not code and "trust_remote_code" in str(error):
            raise ModelUnusable(
                f"The model {model} needs its own Python code to run; choose another, or read that code in {folder} "
                "and, where its kind has the option, allow it with trust_remote_code: true."
            ) from error
        raise ModelUnusable(
            f"The files of the model {model} do not load as a {head} model ({_first_line(error)}); "
            "choose a model of that kind, or fetch its files again."
        ) from error
    finally:
        if shown:
            logging.enable_progress_bar()
    # transformers fills missing weights with random numbers and carries on: the verdicts of a model that was never fine-tuned
    # would be noise. Encoders are often saved without the pooler, a layer that nothing here asks.
    if absent := sorted(key for key in report["missing_keys"] if head != "Encoder" or not key.startswith("pooler.")):
        raise ModelUnusable(
            f"The model {model} has no trained {', '.join(absent[:3])}{', …' if absent[3:] else ''}, "
            f"which a {head} model needs; choose one that is fine-tuned for the task."
        )
    if not tokenizer.is_fast or len(tokenizer) > network.get_input_embeddings().weight.shape[0]:
        raise ModelUnusable(f"The tokenizer of {model} is not fast or does not fit its weights; fetch both from the same source.")
    return tokenizer, network


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200].rstrip(".") or type(error).__name__

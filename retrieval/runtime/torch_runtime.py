"""A Hugging Face model: its files (a local folder, the cache, else one download) found and identified, loaded once, and run
safely by many threads.

Everything that the kinds of hub model here share: the device and precision, the messages when files do not load, how texts and
pairs of texts become batches of tokens. torch and transformers take seconds to import, so they are imported inside the
functions that need them and never with this module.

Thread-safety. transformers sets truncation and padding as state on the tokenizer at every call, and fails with
"Already borrowed" when threads share one (huggingface/transformers#47085). Here the Rust tokenizer underneath is
used directly, never reconfigured after loading, and truncation and padding are done on its results; so tokenising
needs no lock. Each batch that runs holds one lock, the same for all models: they share the cores, two batches at
once only slow each other down (torch's threads up to ten times), and between two batches another request gets its
turn. Batches never mix requests, so no thread can change another's scores.
"""

from __future__ import annotations

import copy
import fnmatch
import hashlib
import json
import os
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from retrieval.core.characters import unify_characters
from retrieval.core.errors import BadConfig, CounterpointError, ModelUnusable, translate_write_errors

if TYPE_CHECKING:
    import torch
    from tokenizers import Encoding, Tokenizer

# Seconds within which the hub must answer the first request about a model; without a network we want to report that soon.
# (transformers' own loading asks five times with growing pauses: half a minute before it gives up.)
HUB_TIMEOUT = 5.0

# Order is preference: of the two formats safetensors is read faster, and runs no code.
WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "spm.model", "sentencepiece.bpe.model")
BESIDE_WEIGHTS = (".json", ".txt", ".model")
CODE = ".py"


def choose_weight_files(names: Iterable[str]) -> list[str]:
    """The files among `names` that hold the weights, in one format; empty if there are none or shards are missing."""
    candidates = list(names)
    for pattern in WEIGHTS:
        matches = sorted(fnmatch.filter(candidates, pattern))
        if matches:
            shards = re.search(r"-of-(\d+)\.", matches[0])
            return matches if shards is None or len(matches) == int(shards[1]) else []
    return []


def _describe_missing(folder: Path, code: bool = False) -> str:
    """What `folder` lacks to be a model, in words; "" where nothing is missing. With `code`, its own Python files count."""
    names = {path.name for path in folder.iterdir()}
    if "config.json" not in names:
        return "config.json"
    if not choose_weight_files(names):
        return f"complete weights ({' or '.join(WEIGHTS)})"
    if code and (lacks := sorted(_list_own_code(folder) - names)):
        return lacks[0]
    return "" if names.intersection(TOKENIZERS) else f"a tokenizer ({', '.join(TOKENIZERS)})"


def _list_own_code(folder: Path) -> set[str]:
    """The Python files that a model's configuration names, except those of other repositories ("owner/name--module")."""
    try:
        entries = json.loads((folder / "config.json").read_text("utf-8")).get("auto_map", {}).values()
    except (ValueError, AttributeError):  # transformers says what is wrong with it
        return set()
    return {f"{entry.partition('.')[0]}{CODE}" for entry in entries if isinstance(entry, str) and "--" not in entry}


def _say_how_to_fetch(model: str) -> str:
    return (
        f"download it once where there is a network with `hf download {model}` and set HF_HOME to that cache, "
        "or give a local folder"
    )


def find_model(model: str, revision: str | None = None, code: bool = False) -> Path:
    """The folder with the files of `model`: a local folder, else the Hugging Face cache, else downloaded into that
    cache, with its Python files if `code` asks for them.

    The network is not used when the files are already here, nor ever if HF_HUB_OFFLINE is set.
    """
    folder = Path(os.path.expanduser(model))  # as it is for a user without a home
    if folder.is_dir():
        if revision:
            raise BadConfig(f"The model {model} is a local folder, which has no revisions; leave `revision` out.")
        if lacks := _describe_missing(folder, code):
            raise ModelUnusable(f"The model folder {model} lacks {lacks}; give a folder as `hf download` makes it.")
        return folder
    if model.startswith(("/", "./", "../", "~")):
        raise ModelUnusable(f"There is no model folder {model}; give an existing folder or a hub name (OWNER/NAME).")

    import huggingface_hub
    from huggingface_hub.errors import HFValidationError

    try:
        config_path = huggingface_hub.try_to_load_from_cache(model, "config.json", revision=revision)
    except HFValidationError as error:
        raise ModelUnusable(f"{model!r} is neither a local folder nor a Hugging Face name (OWNER/NAME).") from error
    if isinstance(config_path, str) and not _describe_missing(Path(config_path).parent, code):
        return Path(config_path).parent
    if huggingface_hub.is_offline_mode():
        raise ModelUnusable(
            f"The model {model} is not in the cache and HF_HUB_OFFLINE forbids fetching it; {_say_how_to_fetch(model)}."
        )
    return _download(model, revision, code)


def _list_suffixes(code: bool) -> tuple[str, ...]:
    """The suffixes of the files that belong to the weights."""
    return (*BESIDE_WEIGHTS, CODE) if code else BESIDE_WEIGHTS


def _download(model: str, revision: str | None, code: bool) -> Path:
    """Fetch the files that loading needs, in one weights format (repositories often hold several, GB each)."""
    import huggingface_hub
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError

    try:
        info = huggingface_hub.HfApi().model_info(model, revision=revision, timeout=HUB_TIMEOUT)
        names = [file.rfilename for file in info.siblings or []]
        patterns = choose_weight_files(names) + [n for n in names if "/" not in n and n.endswith(_list_suffixes(code))]
        cache = Path(huggingface_hub.constants.HF_HUB_CACHE)
        with translate_write_errors(f"the model {model}", cache, "free some space and start again"):
            folder = Path(huggingface_hub.snapshot_download(model, revision=revision, allow_patterns=patterns))
    except CounterpointError:
        raise
    except GatedRepoError as error:
        raise ModelUnusable(
            f"The model {model} requires you to accept its terms: accept them on its hub page, log in with "
            f"`hf auth login`, then {_say_how_to_fetch(model)}."
        ) from error
    except RevisionNotFoundError as error:
        raise ModelUnusable(f"The model {model} has no revision {revision}; look it up on its hub page.") from error
    except RepositoryNotFoundError as error:
        raise ModelUnusable(
            f"The Hugging Face hub has no model {model} (or it is private: `hf auth login`); check the name, "
            "or give a local folder."
        ) from error
    except Exception as error:  # a network, a proxy or a mirror fails in types that change with the HTTP library
        raise ModelUnusable(
            f"The model {model} is not in the Hugging Face cache and the hub cannot be reached; {_say_how_to_fetch(model)}."
        ) from error
    if lacks := _describe_missing(folder):
        raise ModelUnusable(f"The hub's {model} lacks {lacks}; choose a model saved for transformers, in PyTorch.")
    return folder


def identify_model(folder: Path, code: bool = False) -> str:
    """The model's name, "@", and what pins its weights: the hub's commit in its cache, elsewhere a hash of the files.

    The hash covers configuration and tokenizer too, because a swapped label or word changes verdicts as a weight does, and
    the model's own Python files where they are run.
    """
    if folder.parent.name == "snapshots" and folder.parent.parent.name.startswith("models--"):
        hub_name = folder.parent.parent.name.removeprefix("models--").replace("--", "/")
        return f"{hub_name}@{folder.name[:12]}"
    names = {path.name for path in folder.iterdir() if path.is_file()}
    files = sorted({*choose_weight_files(names), *(n for n in names if n.endswith(_list_suffixes(code)))})
    whole = hashlib.sha256()
    for name in files:
        with (folder / name).open("rb") as file:
            whole.update(name.encode() + hashlib.file_digest(file, "sha256").digest())
    return f"{folder.resolve().name}@{whole.hexdigest()[:12]}"


Head = Literal["SequenceClassification", "Seq2SeqLM", "CausalLM", "Encoder"]
Pooling = Literal["cls", "mean"]
Precision = Literal["auto", "float32", "bfloat16"]

_ARCHITECTURES: dict[Head, str] = {
    "SequenceClassification": "AutoModelForSequenceClassification",
    "Seq2SeqLM": "AutoModelForSeq2SeqLM",
    "CausalLM": "AutoModelForCausalLM",
    "Encoder": "AutoModel",
}
# transformers' lazy imports and its progress bar are global: one model loads at a time.
_LOADING = threading.Lock()
# All models share the cores, or the one GPU: one batch runs at a time.
_RUNNING = threading.Lock()


def _choose_device(name: str) -> torch.device:
    """`auto` is the first CUDA device where there is one, else the CPU."""
    import torch

    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:  # torch reports a build without CUDA by AssertionError
        raise BadConfig(f"The device {name!r} cannot be used here; expected auto, cpu or cuda.") from error
    return device


def _use_bfloat16(precision: Precision, device: torch.device) -> bool:
    """Whether to compute in bfloat16: `auto` does where the hardware has instructions for it.

    The default everywhere is float32, so that results are the reference and the same on every machine. On a CPU
    with AMX bfloat16 is about three times as fast at a Spearman correlation of 0.9998 of the logits; on one
    without, slower.
    """
    import torch

    if precision not in get_args(Precision):
        raise BadConfig(f"Unknown precision {precision!r}; expected one of {', '.join(get_args(Precision))}.")
    if precision != "auto":
        return precision == "bfloat16"
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    able = torch.cpu.get_capabilities() if device.type == "cpu" else {}
    return bool(able.get("avx512_bf16") or able.get("amx_tile"))


@dataclass(frozen=True, slots=True)
class TokenRow:
    """One input of a network: token ids, and the segment (0 or 1) of each."""

    ids: list[int]
    segments: list[int]


def batch_by_length(rows: Sequence[TokenRow], batch_size: int) -> Iterator[list[int]]:
    """Indices of `rows` in batches of similar length, longest first: if memory runs out, it does so at once."""
    order = sorted(range(len(rows)), key=lambda i: -len(rows[i].ids))
    return (order[start : start + batch_size] for start in range(0, len(order), batch_size))


class Runtime:
    """A network with its tokenizer on a device. `limit` is the longest input it can read, in tokens."""

    def __init__(
        self, model: str, head: Head, device: str, precision: Precision, revision: str | None, trust_remote_code: bool = False
    ) -> None:
        self.device = _choose_device(device)
        self._autocast = _use_bfloat16(precision, self.device)
        folder = find_model(model, revision, code=trust_remote_code)
        self.name = identify_model(folder, code=trust_remote_code)
        with _LOADING:
            tokenizer, self.network = _load(model, folder, head, trust_remote_code)
        self.network.to(self.device)
        self.config = self.network.config
        # With its chat template, and with its own state.
        self.with_template = copy.deepcopy(tokenizer)
        self.tokenizer: Tokenizer = tokenizer.backend_tokenizer
        # The file may carry the truncation and padding of the training; from here on its state never changes.
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        # A "[SEP]" or "</s>" written in a paper or a claim is text: it must not end a segment.
        self.tokenizer.encode_special_tokens = True
        self.limit = min(tokenizer.model_max_length, getattr(self.config, "max_position_embeddings", None) or 1 << 30)
        self._padding = {"input_ids": tokenizer.pad_token_id or 0, "token_type_ids": tokenizer.pad_token_type_id}
        self._reads_segments = "token_type_ids" in tokenizer.model_input_names

    def make_batch(self, rows: Sequence[TokenRow]) -> dict[str, torch.Tensor]:
        """`rows` as (rows, longest) int64 tensors, padded on the right."""
        import torch

        longest = max(len(row.ids) for row in rows)

        def pad(lists: Iterable[list[int]], filler: int) -> torch.Tensor:
            return torch.tensor([one + [filler] * (longest - len(one)) for one in lists], device=self.device)

        tensors = {
            "input_ids": pad((row.ids for row in rows), self._padding["input_ids"]),
            "attention_mask": pad(([1] * len(row.ids) for row in rows), 0),
        }
        if self._reads_segments:
            tensors["token_type_ids"] = pad((row.segments for row in rows), self._padding["token_type_ids"])
        return tensors

    @contextmanager
    def run_exclusively(self) -> Iterator[None]:
        """Inside, the network may be called: one thread at a time, no gradients, in the chosen precision."""
        import torch

        with (
            _RUNNING,
            torch.inference_mode(),
            torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self._autocast),
        ):
            yield

    def check_finite(self, scores: torch.Tensor) -> torch.Tensor:
        """`scores` as float32 on the CPU. NaN would compare as anything, even as a contradiction: better to stop.

        Raises `ModelUnusable` for NaN or infinity.
        """
        scores = scores.float().cpu()
        if not bool(scores.isfinite().all()):
            raise ModelUnusable(
                f"The model {self.name} returned values that are not numbers; fetch its weights again, or set precision: float32."
            )
        return scores

    def logits(self, rows: Sequence[TokenRow], batch_size: int) -> list[list[float]]:
        """The classification logits of each row, in order: (rows, labels)."""
        logits: list[list[float]] = [[] for _ in rows]
        for indices in batch_by_length(rows, batch_size):
            with self.run_exclusively():
                scores = self.network(**self.make_batch([rows[i] for i in indices])).logits
            for i, row in zip(indices, self.check_finite(scores).tolist(), strict=True):
                logits[i] = row
        return logits

    def vectors(self, rows: Sequence[TokenRow], batch_size: int, pooling: Pooling) -> NDArray[np.float32]:
        """The last layer's vector of each row, in order, [rows, width]: its first token's, or the mean of its tokens'."""
        vectors: list[NDArray[np.float32]] = [np.zeros(0, dtype=np.float32)] * len(rows)
        for indices in batch_by_length(rows, batch_size):
            batch = self.make_batch([rows[i] for i in indices])
            with self.run_exclusively():
                tokens = self.network(**batch).last_hidden_state.float()
            mask = batch["attention_mask"].unsqueeze(-1)
            outputs = tokens[:, 0] if pooling == "cls" else (tokens * mask).sum(dim=1) / mask.sum(dim=1)
            for i, vector in zip(indices, self.check_finite(outputs).numpy(), strict=True):
                vectors[i] = vector
        return np.stack(vectors)

    def tokenize_singles(self, texts: Sequence[str], max_tokens: int) -> list[TokenRow]:
        """Each text alone, shortened at its end to at most `max_tokens` tokens, specials included."""
        room = min(max_tokens, self.limit) - self.tokenizer.num_special_tokens_to_add(False)
        rows = []
        for text in self.tokenizer.encode_batch([unify_characters(text) for text in texts], add_special_tokens=False):
            text.truncate(room)
            rows.append(_make_row(self.tokenizer.post_process(text)))
        return rows

    def pairs(self, kept: str, cut: Sequence[str], max_tokens: int, *, kept_first: bool) -> list[TokenRow]:
        """`kept` paired with each text of `cut`, in at most `max_tokens` tokens, specials included.

        Only `cut` is shortened, at its end; a `kept` of more than half the room, which nobody intends, is capped there.
        """
        room = min(max_tokens, self.limit)
        encoding = self.tokenizer.encode(unify_characters(kept), add_special_tokens=False)
        encoding.truncate(room // 2)
        space = room - len(encoding) - self.tokenizer.num_special_tokens_to_add(True)
        rows = []
        for text in self.tokenizer.encode_batch([unify_characters(text) for text in cut], add_special_tokens=False):
            text.truncate(space)
            first, second = (encoding, text) if kept_first else (text, encoding)
            rows.append(_make_row(self.tokenizer.post_process(first, second)))
        return rows


def _make_row(encoding: Encoding) -> TokenRow:
    return TokenRow(encoding.ids, encoding.type_ids)


def _load(model: str, folder: Path, head: Head, trust_remote_code: bool) -> tuple[Any, Any]:
    """Tokenizer and network (float32, for inference) from `folder` alone, or one sentence about why they do not fit.

    Both are Any: which classes they are is known only from the folder's configuration.
    """
    import torch
    import transformers

    architecture: Any = getattr(transformers, _ARCHITECTURES[head])
    # Loading is not the user's long job, so transformers' progress bar is not shown.
    with _silence(transformers.utils.logging):
        try:
            # Code that a repository brings along is run only where a profile says so. Weights kept in half precision are
            # computed in float32.
            options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": trust_remote_code}
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **options)
            options["dtype"] = torch.float32
            network, report = architecture.from_pretrained(folder, output_loading_info=True, **options)
        except Exception as error:  # transformers reports bad files with a dozen exception types
            if not trust_remote_code and "trust_remote_code" in str(error):
                raise ModelUnusable(
                    f"The model {model} needs its own Python code to run; choose another, or read that code in {folder} "
                    "and, where its kind has the option, allow it with trust_remote_code: true."
                ) from error
            reason = str(error).strip().partition("\n")[0][:200].rstrip(".")
            raise ModelUnusable(
                f"The files of the model {model} do not load as a {head} model ({reason or type(error).__name__}); "
                "choose a model of that kind, or fetch its files again."
            ) from error
    # transformers fills missing weights with random numbers and carries on: a model that was never fine-tuned for
    # the task would give verdicts, all of them noise.
    # Encoders are often saved without the pooler, a layer that nothing here asks.
    if absent := sorted(key for key in report["missing_keys"] if head != "Encoder" or not key.startswith("pooler.")):
        raise ModelUnusable(
            f"The model {model} has no trained {', '.join(absent[:3])}{', …' if absent[3:] else ''}, "
            f"which a {head} model needs; choose one that is fine-tuned for the task."
        )
    if not tokenizer.is_fast:
        raise ModelUnusable(f"The model {model} has no fast tokenizer; convert its tokenizer to a tokenizer.json.")
    if len(tokenizer) > network.get_input_embeddings().weight.shape[0]:
        raise ModelUnusable(
            f"The tokenizer of {model} has {len(tokenizer)} tokens, more than its weights; fetch both from the same source."
        )
    return tokenizer, network


@contextmanager
def _silence(logging: Any) -> Iterator[None]:
    is_enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if is_enabled:
            logging.enable_progress_bar()


def refuse_below(least: int, **sizes: int) -> None:
    """Refuse sizes that cannot work ("batch_size must be at least 1")."""
    for name, value in sizes.items():
        if value < least:
            raise BadConfig(f"{name} must be at least {least}, not {value}.")

"""A Hugging Face model, found on this machine or fetched once, loaded once, and run safely by many threads.

Everything that the hub's three kinds of model here share: where the files are, what to say when they are not, which
device and precision, how pairs of texts become batches of tokens. torch and transformers cost seconds to import, so
they are imported inside the functions that need them and never when this module is.

Thread-safety. transformers sets truncation and padding as state on the tokenizer at every call, and fails with
"Already borrowed" when threads share one (huggingface/transformers#47085). Here the Rust tokenizer underneath is
used directly, never reconfigured after loading, and truncation and padding are done on its results; so tokenising
needs no lock. Running a network holds one lock a batch, the same for all models: they share the cores, two batches at
once only slow each other down (torch's threads up to ten times), and between two batches another request gets its
turn. Batches never mix requests, so no thread can change another's scores.
"""

from __future__ import annotations

import fnmatch
import hashlib
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from retrieval.errors import BadConfig, CounterpointError, ModelUnusable, writing

if TYPE_CHECKING:
    import torch
    from tokenizers import Encoding, Tokenizer

Head = Literal["SequenceClassification", "Seq2SeqLM"]
Precision = Literal["auto", "float32", "bfloat16"]

# Seconds until the hub must have answered the first question about a model; without a network we want to say so soon.
# (transformers' own loading asks five times with growing pauses: half a minute before it gives up.)
HUB_TIMEOUT = 5.0

# Order is preference: of the two formats safetensors is read faster, and runs no code.
WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "spm.model", "sentencepiece.bpe.model")
BESIDE_WEIGHTS = (".json", ".txt", ".model")

# transformers' lazy imports and its progress bar are global: one model loads at a time.
_LOADING = threading.Lock()
# All models share the cores, or the one GPU: one batch runs at a time.
_RUNNING = threading.Lock()


# ---- where the files are


def weight_files(names: Iterable[str]) -> list[str]:
    """The files among `names` that hold the weights, in one format; empty where there are none or shards are
    missing."""
    held = list(names)
    for pattern in WEIGHTS:
        found = sorted(fnmatch.filter(held, pattern))
        if found:
            shards = re.search(r"-of-(\d+)\.", found[0])
            return found if shards is None or len(found) == int(shards[1]) else []
    return []


def _missing(folder: Path) -> str:
    """What `folder` lacks to be a model, in words; "" where nothing is missing."""
    names = {path.name for path in folder.iterdir()}
    if "config.json" not in names:
        return "config.json"
    if not weight_files(names):
        return f"complete weights ({' or '.join(WEIGHTS)})"
    return "" if names.intersection(TOKENIZERS) else f"a tokenizer ({', '.join(TOKENIZERS)})"


def _fetch_once(model: str) -> str:
    return (
        f"download it once where there is a network with `hf download {model}` and set HF_HOME to that cache, "
        "or give a local folder"
    )


def find(model: str, revision: str | None = None) -> Path:
    """The folder with the files of `model`: a local folder, else the Hugging Face cache, else downloaded into that
    cache.

    Nothing is asked of the network when the files are here already, nor ever where HF_HUB_OFFLINE is set.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        if revision:
            raise BadConfig(f"The model {model} is a local folder, which has no revisions; leave `revision` out.")
        if lacks := _missing(folder):
            raise ModelUnusable(f"The model folder {model} lacks {lacks}; give a folder as `hf download` makes it.")
        return folder
    if model.startswith(("/", "./", "../", "~")):
        raise ModelUnusable(f"There is no model folder {model}; give an existing folder or a hub name (OWNER/NAME).")

    import huggingface_hub
    from huggingface_hub.errors import HFValidationError

    try:
        cached = huggingface_hub.try_to_load_from_cache(model, "config.json", revision=revision)
    except HFValidationError as error:
        raise ModelUnusable(f"{model!r} is neither a local folder nor a Hugging Face name (OWNER/NAME).") from error
    if isinstance(cached, str) and not _missing(Path(cached).parent):
        return Path(cached).parent
    if huggingface_hub.is_offline_mode():
        raise ModelUnusable(
            f"The model {model} is not in the cache and HF_HUB_OFFLINE forbids fetching it; {_fetch_once(model)}."
        )
    return _download(model, revision)


def _download(model: str, revision: str | None) -> Path:
    """Fetch the files that loading needs, in one weights format (repositories often hold several, GB each)."""
    import huggingface_hub
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError

    try:
        info = huggingface_hub.HfApi().model_info(model, revision=revision, timeout=HUB_TIMEOUT)
        names = [file.rfilename for file in info.siblings or []]
        wanted = weight_files(names) + [n for n in names if "/" not in n and n.endswith(BESIDE_WEIGHTS)]
        cache = Path(huggingface_hub.constants.HF_HUB_CACHE)
        with writing(f"the model {model}", cache, "free some space and start again"):
            folder = Path(huggingface_hub.snapshot_download(model, revision=revision, allow_patterns=wanted))
    except CounterpointError:
        raise
    except GatedRepoError as error:
        raise ModelUnusable(
            f"The model {model} asks for its terms to be accepted: accept them on its hub page, log in with "
            f"`hf auth login`, then {_fetch_once(model)}."
        ) from error
    except RevisionNotFoundError as error:
        raise ModelUnusable(f"The model {model} has no revision {revision}; look it up on its hub page.") from error
    except RepositoryNotFoundError as error:
        raise ModelUnusable(
            f"The Hugging Face hub knows no model {model} (or it is private: `hf auth login`); check the name, "
            "or give a local folder."
        ) from error
    except Exception as error:  # a network, a proxy or a mirror fails in types that change with the HTTP library
        raise ModelUnusable(
            f"The model {model} is not in the Hugging Face cache and the hub cannot be reached; {_fetch_once(model)}."
        ) from error
    if lacks := _missing(folder):
        raise ModelUnusable(f"The hub's {model} lacks {lacks}; choose a model saved for transformers, in PyTorch.")
    return folder


def identify(model: str, folder: Path) -> str:
    """The model's name, "@", and what pins its weights: the hub's commit in its cache, elsewhere a hash of the files.

    The hash covers configuration and tokenizer too, because a swapped label or word changes verdicts as a weight does.
    """
    if folder.parent.name == "snapshots" and folder.parent.parent.name.startswith("models--"):
        hub_name = folder.parent.parent.name.removeprefix("models--").replace("--", "/")
        return f"{hub_name}@{folder.name[:12]}"
    names = {path.name for path in folder.iterdir() if path.is_file()}
    counted = sorted({*weight_files(names), *(n for n in names if n.endswith(BESIDE_WEIGHTS))})
    whole = hashlib.sha256()
    for name in counted:
        with (folder / name).open("rb") as file:
            whole.update(name.encode() + hashlib.file_digest(file, "sha256").digest())
    return f"{folder.resolve().name}@{whole.hexdigest()[:12]}"


# ---- what it runs on


def _device(wanted: str) -> torch.device:
    """`auto` is the first CUDA device where there is one, else the CPU."""
    import torch

    if wanted == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(wanted)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:  # torch tells of a build without CUDA by AssertionError
        raise BadConfig(f"The device {wanted!r} cannot be used here; expected auto, cpu or cuda.") from error
    return device


def _bfloat16(wanted: Precision, device: torch.device) -> bool:
    """Whether to compute in bfloat16: `auto` does where the hardware has instructions for it.

    The default everywhere is float32, so that results are the reference and the same on every machine. On a CPU
    with AMX bfloat16 is about three times as fast at a Spearman correlation of 0.9998 of the logits; on one
    without, slower.
    """
    import torch

    if wanted not in get_args(Precision):
        raise BadConfig(f"Unknown precision {wanted!r}; expected one of {', '.join(get_args(Precision))}.")
    if wanted != "auto":
        return wanted == "bfloat16"
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    able = torch.cpu.get_capabilities() if device.type == "cpu" else {}
    return bool(able.get("avx512_bf16") or able.get("amx_tile"))


# ---- a loaded model


@dataclass(frozen=True, slots=True)
class Row:
    """One input of a network: token ids, and the segment (0 or 1) of each."""

    ids: list[int]
    segments: list[int]


def by_length(rows: Sequence[Row], batch_size: int) -> Iterator[list[int]]:
    """Indices of `rows` in batches of like length, longest first: where memory fails, it fails at once."""
    order = sorted(range(len(rows)), key=lambda i: -len(rows[i].ids))
    return (order[start : start + batch_size] for start in range(0, len(order), batch_size))


class Runtime:
    """A network with its tokenizer on a device. `limit` is the longest input it can read, in tokens."""

    def __init__(self, model: str, head: Head, device: str, precision: Precision, revision: str | None) -> None:
        self.device = _device(device)
        self._autocast = _bfloat16(precision, self.device)
        folder = find(model, revision)
        self.name = identify(model, folder)
        with _LOADING:
            tokenizer, self.network = _load(model, folder, head)
        self.network.to(self.device)
        self.config = self.network.config
        self.tokenizer: Tokenizer = tokenizer.backend_tokenizer
        # The file may carry the truncation and padding of the training; from here on its state never changes.
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        # A "[SEP]" or "</s>" written in a paper or a claim is text: it must not end a segment.
        self.tokenizer.encode_special_tokens = True
        self.limit = min(tokenizer.model_max_length, getattr(self.config, "max_position_embeddings", None) or 1 << 30)
        self._padding = {"input_ids": tokenizer.pad_token_id or 0, "token_type_ids": tokenizer.pad_token_type_id}
        self._reads_segments = "token_type_ids" in tokenizer.model_input_names

    def batch(self, rows: Sequence[Row]) -> dict[str, torch.Tensor]:
        """`rows` as (rows, longest) int64 tensors, padded on the right."""
        import torch

        longest = max(len(row.ids) for row in rows)

        def padded(lists: Iterable[list[int]], filler: int) -> torch.Tensor:
            return torch.tensor([one + [filler] * (longest - len(one)) for one in lists], device=self.device)

        tensors = {
            "input_ids": padded((row.ids for row in rows), self._padding["input_ids"]),
            "attention_mask": padded(([1] * len(row.ids) for row in rows), 0),
        }
        if self._reads_segments:
            tensors["token_type_ids"] = padded((row.segments for row in rows), self._padding["token_type_ids"])
        return tensors

    @contextmanager
    def running(self) -> Iterator[None]:
        """Inside, the network may be called: one thread at a time, no gradients, in the chosen precision."""
        import torch

        with (
            _RUNNING,
            torch.inference_mode(),
            torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self._autocast),
        ):
            yield

    def finite(self, scores: torch.Tensor) -> torch.Tensor:
        """`scores` as float32 on the CPU. NaN would compare as anything, even as an accusation: better to stop."""
        scores = scores.float().cpu()
        if not bool(scores.isfinite().all()):
            raise ModelUnusable(f"The model {self.name} computed no number; fetch its weights again, or set precision: float32.")
        return scores

    def logits(self, rows: Sequence[Row], batch_size: int) -> list[list[float]]:
        """The classification logits of each row, in order: (rows, labels)."""
        logits: list[list[float]] = [[] for _ in rows]
        for indices in by_length(rows, batch_size):
            with self.running():
                scores = self.network(**self.batch([rows[i] for i in indices])).logits
            for i, row in zip(indices, self.finite(scores).tolist(), strict=True):
                logits[i] = row
        return logits

    def pairs(self, kept: str, cut: Sequence[str], max_tokens: int, *, kept_first: bool) -> list[Row]:
        """`kept` paired with each text of `cut`, in at most `max_tokens` tokens, specials included.

        Only `cut` is shortened, at its end; a `kept` of more than half the room, which nobody means, is capped there.
        """
        room = min(max_tokens, self.limit)
        fixed = self.tokenizer.encode(kept, add_special_tokens=False)
        fixed.truncate(room // 2)
        left = room - len(fixed) - self.tokenizer.num_special_tokens_to_add(True)
        rows = []
        for text in self.tokenizer.encode_batch(list(cut), add_special_tokens=False):
            text.truncate(left)
            first, second = (fixed, text) if kept_first else (text, fixed)
            rows.append(_row(self.tokenizer.post_process(first, second)))
        return rows


def _row(encoding: Encoding) -> Row:
    return Row(encoding.ids, encoding.type_ids)


def _load(model: str, folder: Path, head: Head) -> tuple[Any, Any]:
    """Tokenizer and network (float32, for inference) from `folder` alone, or one sentence about why they do not fit.

    Both are Any: which classes they are is known only from the folder's configuration.
    """
    import torch
    import transformers

    architecture: Any = getattr(transformers, f"AutoModelFor{head}")
    # Loading is not the user's long work, so no bar of transformers' own.
    with _quiet(transformers.utils.logging):
        try:
            # Code that a repository brings along is never run. Weights kept in half precision are computed in float32.
            options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **options)
            options["dtype"] = torch.float32
            network, report = architecture.from_pretrained(folder, output_loading_info=True, **options)
        except Exception as error:  # transformers tells of bad files in a dozen exception types
            reason = str(error).strip().partition("\n")[0][:200].rstrip(".")
            raise ModelUnusable(
                f"The files of the model {model} do not load as a {head} model ({reason or type(error).__name__}); "
                "choose a model of that kind, or fetch its files again."
            ) from error
    # transformers fills missing weights with random numbers and carries on: a model that was never fine-tuned for
    # the task would give verdicts, all of them noise.
    if absent := sorted(report["missing_keys"]):
        raise ModelUnusable(
            f"The model {model} has no trained {', '.join(absent[:3])}{', …' if absent[3:] else ''}, "
            f"which a {head} model needs; choose one that is fine-tuned for the task."
        )
    if not tokenizer.is_fast:
        raise ModelUnusable(f"The model {model} has no fast tokenizer; convert its tokenizer to a tokenizer.json.")
    if len(tokenizer) > network.get_input_embeddings().weight.shape[0]:
        raise ModelUnusable(
            f"The tokenizer of {model} knows {len(tokenizer)} tokens, its weights fewer; fetch both from one place."
        )
    return tokenizer, network


@contextmanager
def _quiet(logging: Any) -> Iterator[None]:
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def refuse_below(least: int, **given: int) -> None:
    """Refuse sizes that cannot work ("batch_size must be at least 1")."""
    for name, value in given.items():
        if value < least:
            raise BadConfig(f"{name} must be at least {least}, not {value}.")

"""Finding the files of a Hugging Face model (a local folder, the cache, else one download), and identifying its weights."""

from __future__ import annotations

import fnmatch
import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path

from retrieval.core.errors import BadConfig, CounterpointError, ModelUnusable, translate_write_errors

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
    folder = Path(model).expanduser()
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


def identify_model(model: str, folder: Path, code: bool = False) -> str:
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

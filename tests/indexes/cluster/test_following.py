"""Following a folder of update files: each once, in order, whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from counterpoint.indexes.build import build
from counterpoint.indexes.cluster.places import apply_new, find_new_files, follow, read_interval
from counterpoint.retrieval.core.errors import BadInput, Unfinished
from counterpoint.retrieval.store.manifest import IndexSource, read_manifest
from counterpoint.service.cli.commands import app
from tests.conftest import WriteCorpus
from tests.helpers.pubmed_files import article, deletion, write_update


@pytest.fixture
def index(tmp_path: Path, write_corpus: WriteCorpus) -> Path:
    build([write_corpus("Aspirin helps.", "Statins help.", "Zinc does not help.")], tmp_path / "index")
    return tmp_path / "index"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "updatefiles"
    folder.mkdir()
    return folder


def test_new_files_are_applied_in_order_and_once(index: Path, source: Path) -> None:
    write_update(source, 1301, article("9", "A new one."), article("1", "Aspirin helps much."))
    write_update(
        source, 1302, article("9", "A newer one."), article("10", "It is retracted.", notice=("RetractionOf", "2")), deletion("3")
    )
    told: list[str] = []
    assert follow(index, source, 1, told.append, once=True) == 2
    assert told[0].startswith("pubmed26n1301.xml.gz: 1 added, 1 revised, 0 deleted, 0 newly retracted; version 2")
    assert told[1].startswith("pubmed26n1302.xml.gz: 1 added, 1 revised, 1 deleted, 1 newly retracted; version 3")
    assert apply_new(index, source, told.append) == 0
    assert read_manifest(index).counts.documents == 4


def test_a_damaged_file_stops_with_the_reason_and_what_came_before_stays(index: Path, source: Path) -> None:
    write_update(source, 1301, article("9", "A new one."))
    write_update(source, 1302, article("10", "Another."), whole=False)
    told: list[str] = []
    with pytest.raises(BadInput, match=r"1302\.xml\.gz is damaged: its MD5 is"):
        apply_new(index, source, told.append)
    assert len(told) == 1 and read_manifest(index).version == 2


def test_a_file_without_its_checksum_is_waited_for(index: Path, source: Path) -> None:
    path = write_update(source, 1301, article("9", "A new one."))
    path.with_name(f"{path.name}.md5").unlink()
    with pytest.raises(Unfinished, match="has no checksum"):
        follow(index, source, 1, lambda _: None, once=True)


@pytest.mark.parametrize(
    ("there", "says"),
    [
        (["pubmed26n1303.xml.gz"], "number 1302 before it is missing"),
        (["pubmed26n1300.xml.gz"], "comes before number 1301"),
        (["pubmed27n1400.xml.gz"], "another year"),
    ],
)
def test_a_file_out_of_order_is_refused(source: Path, there: list[str], says: str) -> None:
    for name in there:
        (source / name).touch()
    applied = [IndexSource("elsewhere/pubmed26n1301.xml.gz", "pubmed", 1, 1)]
    with pytest.raises(BadInput, match=says):
        find_new_files(source, applied)


def test_other_files_in_the_folder_are_left_alone(source: Path) -> None:
    for name in ("README.txt", "pubmed26n1301.xml.gz.md5", ".pubmed26n1302.xml.gz.part", "pubmed26n1301_stats.html"):
        (source / name).touch()
    assert find_new_files(source, []) == []
    with pytest.raises(BadInput, match="is not a folder"):
        find_new_files(source / "README.txt", [])


@pytest.mark.parametrize(("text", "seconds"), [("30s", 30), ("10m", 600), ("1h", 3600), ("1.5d", 129600)])
def test_intervals_are_read(text: str, seconds: float) -> None:
    assert read_interval(text) == seconds


@pytest.mark.parametrize("text", ["", "h", "1", "1w", "0s", "-1h", "nanh", "infs"])
def test_a_wrong_interval_is_one_sentence(text: str) -> None:
    with pytest.raises(BadInput, match="--every"):
        read_interval(text)


def test_a_follower_brings_vectors_up_to_date_even_if_it_was_killed_before_it_could(index: Path, source: Path) -> None:
    """The command with --dense: vectors fit after each look, and an update that an earlier run left without them is completed."""
    write_update(source, 1301, article("9", "A new one."))
    arguments = ["index", "follow", str(index), str(source), "--once"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert read_manifest(index).dense is None
    for _ in range(2):
        assert CliRunner().invoke(app, [*arguments, "--dense"]).exit_code == 0
        assert read_manifest(index).vectors_fit
    write_update(source, 1302, article("10", "Another."))
    assert apply_new(index, source, lambda _: None) == 1 and not read_manifest(index).vectors_fit
    assert CliRunner().invoke(app, [*arguments, "--dense"]).exit_code == 0
    assert read_manifest(index).vectors_fit

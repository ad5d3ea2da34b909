"""Long runs: stopped and resumed, and in parts that are merged to the bytes of one run."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from retrieval.core.errors import BadInput, Interrupted
from retrieval.index import Index
from service.runs.journal import Job, RunJournal, journal, work
from service.runs.shards import Shard, merge, parse_shard
from service.trec.task_a import read_items
from service.trec.task_a import run as run_task_a
from service.trec.task_b import answers_path, read_topics
from service.trec.task_b import run as run_task_b
from tests.helpers.fakes import make_grounder, make_index
from tests.helpers.trec_fakes import DOCUMENTS, TOPICS, ScriptedAnswerer


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(tmp_path_factory.mktemp("shards"), [*DOCUMENTS, {"pmid": "x14", "title": "", "abstract": "Omega sleeps."}])


@pytest.fixture(scope="module")
def items_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    items = [
        {"meta_data": {"qa_id": str(n), "question": "Zeta?"}, "answer": [{"text": f"Zeta\u2028lowers {n}."}] * (n % 4)}
        for n in range(7)
    ]
    path = tmp_path_factory.mktemp("items") / "items.json"
    path.write_text(json.dumps(items))
    return path


@pytest.fixture(scope="module")
def three(index: Index, items_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of three shards, to be copied before it is changed."""
    folder = tmp_path_factory.mktemp("three") / "parts"
    shards_of(index, items_file, folder, 3)
    return folder


def task_a(index: Index, items: Path, out: Path, shard: Shard | None = None, config: str = "v5") -> Path:
    run_task_a(read_items(items), items, make_grounder(index, config)[0], out, "team", "run", shard)
    return out


def shards_of(index: Index, items: Path, folder: Path, of: int) -> list[Path]:
    folder.mkdir()
    return [task_a(index, items, folder / f"{n}.jsonl", Shard(n, of)) for n in range(1, of + 1)]


def files_of(out: Path) -> list[bytes]:
    """The run, its manifest, and for Task B the answers."""
    return [path.read_bytes() for path in sorted(out.parent.glob(f"{out.name}*"))]


@pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b", "1.0/2", "1/9999999"])
def test_a_shard_that_is_none_is_told(text: str) -> None:
    with pytest.raises(BadInput, match="should be i/n"):
        parse_shard(text)


@pytest.mark.parametrize("of", [1, 3, 9])
def test_merged_shards_of_task_a_are_the_bytes_of_one_run(index: Index, items_file: Path, tmp_path: Path, of: int) -> None:
    shards = shards_of(index, items_file, tmp_path / "parts", of)
    whole = task_a(index, items_file, tmp_path / "whole.jsonl")
    assert merge(list(reversed(shards)), tmp_path / "merged.jsonl") == 7
    assert files_of(tmp_path / "merged.jsonl") == files_of(whole)
    assert len(files_of(whole)) == 2


def test_merged_shards_of_task_b_are_the_bytes_of_one_run(index: Index, tmp_path: Path) -> None:
    topics = tmp_path / "topics.json"
    topics.write_text(json.dumps(TOPICS))

    def made(out: Path, shard: Shard | None = None) -> Path:
        run_task_b(read_topics(topics), topics, ScriptedAnswerer(index), out, "team", "run", shard)  # type: ignore[arg-type]
        return out

    shards = [made(tmp_path / f"part-{n}", Shard(n, 2)) for n in (1, 2)]
    whole, merged = made(tmp_path / "whole"), tmp_path / "merged"
    merge(shards, merged)
    assert files_of(merged) == files_of(whole)
    assert len(files_of(whole)) == 3
    answers_path(shards[0]).unlink()
    with pytest.raises(BadInput, match=r"part-1 lacks part-1\.answers\.jsonl"):
        merge(shards, merged)


Spoil = Callable[[list[Path]], list[Path]]


def unlinked(path: Path, shards: list[Path]) -> list[Path]:
    path.unlink()
    return shards


def edited(path: Path, old: str, new: str, shards: list[Path]) -> list[Path]:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return shards


def copied(source: Path, shards: list[Path]) -> list[Path]:
    for path in source.parent.glob(f"{source.name}*"):
        shutil.copy(path, path.with_name(path.name.replace(source.name, "copy.jsonl")))
    return [*shards, source.with_name("copy.jsonl")]


def manifest(path: Path) -> Path:
    return path.with_name(f"{path.name}.manifest.json")


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda s: s[1:], "1 of the 3 shards are missing (1)"),
        (lambda s: [s[0], s[0], s[1]], "are both shard 1"),
        (lambda s: unlinked(s[1], s), "There is no shard at"),
        (lambda s: unlinked(manifest(s[1]), s), "has no manifest beside it"),
        (lambda s: edited(s[1], "lowers", "raises", s), "is not what its run wrote"),
        (lambda s: edited(manifest(s[1]), "{", "[", s), "cannot be read as the manifest"),
        (lambda s: edited(manifest(s[1]), '"run":', '"../run":', s), "lists the wrong files"),
        (lambda s: edited(manifest(s[1]), '"team_id": "team"', '"team_id": "ours"', s), "(team_id differ)"),
    ],
)
def test_what_is_no_whole_set_of_shards_is_refused(three: Path, tmp_path: Path, spoil: Spoil, told: str) -> None:
    parts = shutil.copytree(three, tmp_path / "parts")
    shards = spoil([parts / f"{n}.jsonl" for n in (1, 2, 3)])
    with pytest.raises(BadInput) as error:
        merge(shards, tmp_path / "merged.jsonl")
    assert told in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "merged.jsonl").exists()


def test_shards_made_otherwise_a_whole_run_and_the_output_are_refused(index: Index, items_file: Path, tmp_path: Path) -> None:
    [first, _] = shards_of(index, items_file, tmp_path / "parts", 2)
    other = task_a(index, items_file, tmp_path / "other.jsonl", Shard(2, 2), config="bm25")
    with pytest.raises(BadInput, match=r"not part of the same run as .* \(config, provenance differ\)"):
        merge([first, other], tmp_path / "merged.jsonl")
    whole = task_a(index, items_file, tmp_path / "whole.jsonl")
    with pytest.raises(BadInput, match="is a whole run, not a shard"):
        merge([whole], tmp_path / "merged.jsonl")
    with pytest.raises(BadInput, match="is one of the shards"):
        merge([first, other], first)


def test_an_unfinished_shard_is_told_and_goes_on_as_itself_alone(index: Index, items_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    RunJournal(out, {"shard": {"number": 2, "of": 2}})
    with pytest.raises(BadInput, match="is not finished"):
        merge([out], tmp_path / "merged.jsonl")
    with pytest.raises(BadInput, match="shard"):
        task_a(index, items_file, out, Shard(1, 2))


def test_what_was_under_way_when_the_user_stopped_is_kept(tmp_path: Path) -> None:
    begun, stopped = threading.Event(), threading.Event()

    def slow() -> str:
        begun.set()
        assert stopped.wait(20)
        return "slow"

    def stop() -> str:
        assert begun.wait(20)
        # Once the main thread has left its wait, the slow job may end.
        threading.Timer(0.2, stopped.set).start()
        raise KeyboardInterrupt

    with journal(tmp_path / "out", {"task": "test"}) as kept:
        with pytest.raises(Interrupted, match="Stopped after 1 of 2 items; they are saved"):
            work(kept, [Job("slow", 1, slow), Job("stop", 1, stop)], "testing", "items")
        assert kept.records == {"slow": "slow"}
    with journal(tmp_path / "out", {"task": "test"}) as again:
        assert again.resumed == 1

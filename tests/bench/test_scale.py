"""Corpora made for measuring, and what the measures are taken to say of all of PubMed."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from bench import scale
from bench.generate import documents, generate, likeness, likeness_of
from bench.growth import CorpusMeasurement, growth, projection, table
from bench.scale import TABLE
from nli.text.sentences import sentence_spans
from retrieval.bm25.java import HEAP_VARIABLE, get_heap_size
from retrieval.core.code_hash import hash_code
from retrieval.core.errors import BadConfig, BadInput, IndexUnusable
from tests.conftest import DEMO

TEXTS = [("Zeta", "Zeta lowers it. Not always."), ("", "Omega was seen twice in DNA."), ("Only a title", "")]


def test_a_corpus_is_the_same_for_the_same_seed_and_begins_like_a_longer_one() -> None:
    like = likeness(TEXTS)
    short, long = list(documents(like, 10, seed=3)), list(documents(like, 1100, seed=3))
    assert short == long[:10]
    assert short != list(documents(like, 10, seed=4))
    assert len({one["pmid"] for one in long}) == 1100


def test_documents_have_the_lengths_and_the_words_of_the_source() -> None:
    shapes = {(len(title.split()), *(len(s.split()) for s in abstract.split(".") if s)) for title, abstract in TEXTS}
    made = list(documents(likeness(TEXTS), 200))
    found = {
        (len(one["title"].split()), *(end - start and len(one["abstract"][start:end].split()) for start, end in spans))
        for one in made
        for spans in [sentence_spans(one["abstract"])]
    }
    assert found == shapes
    words = {word.strip(".").lower() for one in made for word in f"{one['title']} {one['abstract']}".split()}
    known = {"zeta", "lowers", "it", "not", "always", "omega", "was", "seen", "twice", "in", "dna", "only", "a", "title"}
    assert known < words
    # All but one of the source's fourteen words stand there once, so nearly each drawn word is one that it has not.
    assert len(words - known) > 200
    assert all(word.startswith("xq") for word in words - known)


def test_the_vocabulary_goes_on_growing() -> None:
    like = likeness_of(DEMO)
    assert 0.05 < like.unseen < 0.5
    seen: set[str] = set()
    sizes = []
    made = documents(like, 3000)
    for _ in range(3):
        seen.update(word for one in islice(made, 1000) for word in one["abstract"].split())
        sizes.append(len(seen))
    assert sizes[2] > sizes[1] * 1.2 > sizes[0] * 1.2


def test_a_corpus_is_written_whole_or_not_at_all(demo_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, packed = tmp_path / "a.jsonl", tmp_path / "a.jsonl.gz"
    generate(30, plain, demo_folder)
    generate(30, packed, demo_folder)
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert len([json.loads(line) for line in plain.read_text().splitlines()]) == 30
    with monkeypatch.context() as patch:
        patch.setattr("bench.generate.json.dumps", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            generate(30, tmp_path / "b.jsonl", DEMO)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "a.jsonl.gz"]


def test_a_wrong_wish_is_one_sentence(tmp_path: Path) -> None:
    empty, out = tmp_path / "empty.jsonl", tmp_path / "out.jsonl"
    empty.write_text('{"pmid": "1", "title": "", "abstract": ""}\n')
    with pytest.raises(BadInput, match="at least 1"):
        generate(0, out)
    with pytest.raises(IndexUnusable, match="not an index"):
        generate(5, out, tmp_path)
    command = [sys.executable, "-m", "bench.generate", "5", str(out), "--like", str(empty)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "no word" in done.stderr
    assert not out.exists()


def measured(n: int, seconds: float) -> CorpusMeasurement:
    return CorpusMeasurement(
        documents=n, build_seconds=seconds, build_cpu_seconds=seconds, build_rss=n, build_private=n, corpus_bytes=n,
        store_bytes=n * 10, lucene_bytes=n, search_p50=0.2, search_p95=0.2, search_cpu_p50=0.2, entries_p50=0.2,
        entries_p95=0.2, entries_cpu_p50=0.2, search_rss=n, search_private=n, load=1.0,
    )  # fmt: skip


def test_growth_is_found_and_carried_on() -> None:
    a, b = growth([10, 100, 1000], [3 * n**0.5 for n in (10, 100, 1000)])
    assert [a, b] == pytest.approx([3, 0.5])
    found = projection([measured(100, 10.0), measured(10_000, 100.0)], n=1_000_000)
    assert found["build_seconds"] == {
        "exponent": pytest.approx(0.5), "power": pytest.approx(1000), "line": pytest.approx(100 + 990_000 / 110),
    }  # fmt: skip
    assert found["store_bytes"]["power"] == pytest.approx(found["store_bytes"]["line"]) == pytest.approx(1e7)
    falling = projection([measured(100, 10.0), measured(10_000, 9.0)], n=1_000_000)["build_seconds"]
    assert (falling["power"], falling["line"]) == (9.0, 9.0)
    assert found["search_p50"]["exponent"] == pytest.approx(0, abs=1e-9)


def test_the_table_stands_between_its_markers_and_nowhere_else(tmp_path: Path) -> None:
    text = table([measured(25_000, 30.0), measured(100_000, 119.0)])
    assert text.splitlines()[2].startswith("| build, wall time | 30.0 s | 119.0 s |")
    path = tmp_path / "doc.md"
    path.write_text(f"before\n{TABLE.begin}\nold\n{TABLE.end}\nafter\n")
    TABLE.replace(path, text)
    TABLE.replace(path, text)
    assert path.read_text() == f"before\n{TABLE.begin}\n\n{text}\n\n{TABLE.end}\nafter\n"
    path.write_text("nothing")
    with pytest.raises(BadInput, match="lacks the lines"):
        TABLE.replace(path, text)


def test_sizes_that_were_measured_are_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def fake(n: int, folder: Path, source: Path) -> CorpusMeasurement:
        asked.append(n)
        if n == 3000 and len(asked) < 4:
            raise KeyboardInterrupt
        return measured(n, n / 100)

    monkeypatch.setattr(scale, "measure", fake)
    with pytest.raises(KeyboardInterrupt):
        scale.scale(tmp_path, [2000, 1000, 3000], DEMO)
    assert [one.documents for one in scale.scale(tmp_path, [1000, 2000, 3000], DEMO)] == [1000, 2000, 3000]
    assert asked == [1000, 2000, 3000, 3000]
    report = json.loads((tmp_path / "scale.json").read_text())
    assert [one["documents"] for one in report["measured"]] == [1000, 2000, 3000]


def test_a_size_is_measured_again_where_the_source_the_heap_or_the_code_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def fake(n: int, folder: Path, source: Path) -> CorpusMeasurement:
        asked.append(n)
        return measured(n, 1.0)

    monkeypatch.setattr(scale, "measure", fake)
    source = tmp_path / "corpus.jsonl"
    source.write_text("one")

    def ask() -> int:
        scale.scale(tmp_path / "out", [1000], source)
        return len(asked)

    assert (ask(), ask()) == (1, 1)
    source.write_text("two")
    assert (ask(), ask()) == (2, 2)
    monkeypatch.setenv(HEAP_VARIABLE, "1234m")
    assert (ask(), ask()) == (3, 3)
    monkeypatch.setattr("bench.scale.hash_code", lambda _: "edited")
    assert (ask(), ask()) == (4, 4)


def test_a_generated_corpus_is_not_taken_for_one_of_another_source_or_generator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "corpus.jsonl"
    source.write_text("one")
    first = scale.find_corpus(1000, tmp_path, source)
    assert scale.find_corpus(1000, tmp_path, source) == first
    source.write_text("two")
    second = scale.find_corpus(1000, tmp_path, source)
    monkeypatch.setattr("bench.scale.hash_code", lambda _: "edited")
    assert len({first, second, scale.find_corpus(1000, tmp_path, source)}) == 3


def test_the_hash_of_the_benchmarks_code_is_not_the_hash_of_nothing() -> None:
    assert len({hash_code([]), hash_code(["bench.growth"]), hash_code(["bench.generate"]), hash_code(["bench.scale"])}) == 4


@pytest.mark.slow
def test_a_size_is_measured_end_to_end(tmp_path: Path) -> None:
    [one] = scale.scale(tmp_path, [1500], DEMO)
    assert one.build_seconds > 0.1
    assert one.store_bytes > one.corpus_bytes / 2 > one.lucene_bytes / 2 > 10_000
    assert 0 < one.search_p50 <= one.search_p95 < 10
    assert 10_000_000 < one.search_private <= one.search_rss


@pytest.mark.parametrize("heap", ["x", "512", "0m", "-1g", "1.5g", "512mb", "99999999999g", "", "63m", "1k", "9999999g"])
def test_a_heap_that_java_would_not_start_with_is_one_sentence(heap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HEAP_VARIABLE, heap)
    with pytest.raises(BadConfig, match=f"COUNTERPOINT_JVM_HEAP should be .*, not '{heap}'"):
        get_heap_size()


@pytest.mark.parametrize("heap", ["64m", "65536K", "1g"])
def test_a_sound_heap_is_taken(heap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HEAP_VARIABLE, heap)
    assert get_heap_size() == heap

"""Corpora made for measuring."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from bench.generate import documents, generate, likeness, likeness_of
from nli.text.sentences import sentence_spans
from retrieval.core.errors import BadInput, IndexUnusable
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

"""Cached results: found again by other processes and machines, bounded, never in the way."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

from counterpoint.nli.judge import DiskCachingJudge
from counterpoint.retrieval.core import result_cache
from counterpoint.retrieval.core.errors import BadConfig
from counterpoint.retrieval.core.result_cache import DiskCache, make_key, open_cache
from counterpoint.retrieval.core.values import Premise, Verdict
from counterpoint.retrieval.rerank.text_vectors import PackedVectors, TextVectors

PREMISES = [Premise(f"Sentence {number} of the paper.", "Title") for number in range(5)]


class CountingJudge:
    """Gives each premise a verdict of its own and notes what it was asked."""

    name = "counting-1"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        for premise in premises:
            self.asked.append((claim, premise.text))
            support = 0.1 + 0.7 / (len(self.asked) + 2)
            yield Verdict(support, 1 - support - 0.01, 0.01)


@pytest.fixture(autouse=True)
def _nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that no service has set up; another test in this one may have."""
    monkeypatch.setattr(result_cache, "_chosen", None)


def test_a_result_is_found_by_the_next_process(tmp_path: Path) -> None:
    DiskCache(tmp_path / "a.sqlite", 1).put([(make_key("one"), b"1"), (make_key("two"), b"2")])
    script = (
        "import sys; from pathlib import Path; from counterpoint.retrieval.core.result_cache import DiskCache, make_key\n"
        "print(DiskCache(Path(sys.argv[1]), 1).get([make_key('two'), make_key('three'), make_key('one')]))"
    )
    found = subprocess.run([sys.executable, "-c", script, str(tmp_path / "a.sqlite")], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[b'2', None, b'1']"
    assert len({make_key("ab", "c"), make_key("a", "bc"), make_key("abc"), make_key("abc", ""), make_key("\ud800")}) == 5


def test_a_file_never_outgrows_its_bound_and_forgets_the_oldest(tmp_path: Path) -> None:
    results, many = DiskCache(tmp_path / "a.sqlite", 0.2), 600
    for number in range(many):
        results.put([(make_key(str(number)), b"x" * 1000)])
    there = [found is not None for found in results.get([make_key(str(number)) for number in range(many)])]
    assert (tmp_path / "a.sqlite").stat().st_size <= 0.2e6
    assert there[-1] and not there[0] and there == sorted(there)


def test_a_file_that_is_none_of_ours_is_told_once_and_left_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "a.sqlite"
    path.write_text("a letter to my aunt, long enough to be read as the header of a file" * 9)
    results = DiskCache(path, 1)
    results.put([(make_key("one"), b"1")])
    assert results.get([make_key("one")]) == [None]
    assert [record.getMessage().count("cannot be used") for record in caplog.records] == [1]
    assert path.read_text().startswith("a letter")
    assert DiskCache(path / "below-a-file.sqlite", 1).get([make_key("one")]) == [None]


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from counterpoint.nli.judge import DiskCachingJudge
from counterpoint.retrieval.core.result_cache import DiskCache
from tests.retrieval.core.test_result_cache import PREMISES, CountingJudge
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))
inner = CountingJudge()
judge = DiskCachingJudge(inner, DiskCache(Path(sys.argv[1]), 100))
for number in range(400):
    assert len(list(judge(f"Claim {number}.", PREMISES))) == 5
again = len(inner.asked)
list(judge("Claim 399.", PREMISES))
print(len(inner.asked) - again)
"""


def test_a_full_disk_does_not_stop_verdicts(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path / "a.sqlite")], capture_output=True, text=True, timeout=60,
        cwd=Path(__file__).parents[3], check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout.strip()) == (0, "5"), ran.stderr
    assert ran.stderr.count("results are no longer cached") == 1


def test_a_verdict_is_asked_for_once_and_another_claim_text_model_or_code_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results, judge, second = DiskCache(tmp_path / "v.sqlite", 1), CountingJudge(), CountingJudge()

    def ask(claim: str, *premises: Premise, by: CountingJudge = judge) -> list[Verdict]:
        return list(DiskCachingJudge(by, results)(claim, premises))

    first = ask("A claim.", *PREMISES, PREMISES[0])
    assert ask("A claim.", PREMISES[0], *reversed(PREMISES), by=second) == list(reversed(first)), "to the last bit"
    assert len(judge.asked) == 5 and second.asked == []
    ask("Another claim.", PREMISES[0])
    ask("A claim.", Premise(PREMISES[0].text, "Another title"))
    judge.name = "counting-2"
    ask("A claim.", PREMISES[0])
    monkeypatch.setattr("counterpoint.nli.judge.hash_code", lambda _: "edited")
    ask("A claim.", PREMISES[0])
    assert len(judge.asked) == 9
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"claim" not in written and b"paper" not in written, "no text stands in the file"


def test_vectors_are_the_same_made_remembered_or_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from counterpoint.retrieval.rerank.embedded import RELEVANCE_MODEL

    texts = ["Aspirin prevents heart attacks. It was tried.", "Statins lower cholesterol."]
    monkeypatch.setenv(result_cache.FOLDER_VARIABLE, str(tmp_path))

    def once() -> TextVectors:
        made = TextVectors(RELEVANCE_MODEL, "auto", 1)
        made.remember(10)
        return made

    first = once()
    first.means(texts)
    assert first.kept and list(first.kept.get([make_key(*first._made_by, text) for text in texts])) == [None, None], "an index's"
    made, remembered = list(first.encode_texts(texts)), list(first.encode_texts(texts))
    second = once()
    monkeypatch.setattr(second, "_compute", lambda text: pytest.fail(f"made anew: {text}"))
    read = list(second.encode_texts([*texts, texts[0]]))
    for a, b, c in zip(made, remembered, read, strict=False):
        assert np.array_equal(a, b) and np.array_equal(a, c)
        assert np.array_equal(PackedVectors.from_bytes(PackedVectors.of(a).to_bytes()).vectors(), PackedVectors.of(a).vectors())


def test_where_and_how_much_is_kept_is_a_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_cache("verdicts") is None  # the tests' own setting
    monkeypatch.setenv(result_cache.FOLDER_VARIABLE, str(tmp_path / "c"))
    opened = open_cache("verdicts")
    assert isinstance(opened, DiskCache) and open_cache("verdicts") is opened
    assert opened.path == tmp_path / "c" / "verdicts.sqlite"
    monkeypatch.setenv(result_cache.SIZE_VARIABLE, "plenty")
    with pytest.raises(BadConfig, match=r"COUNTERPOINT_CACHE_MB .* not 'plenty'"):
        open_cache("vectors")

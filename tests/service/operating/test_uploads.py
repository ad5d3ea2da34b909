"""Files sent in parts: begun again, sent twice, too much, in two hands at once, onto a disk that fills."""

from __future__ import annotations

import errno
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from retrieval.core.errors import BadInput, CounterpointError
from service.operating import uploads
from service.operating.uploads import OutOfStep, add_chunk, list_uploads

DATA = bytes(range(256)) * 4


def send(draft: Path, start: int, end: int, name: str = "a.ris", most: int = 10_000) -> uploads.Upload:
    return add_chunk(draft, name, DATA[start:end], start, len(DATA), most)


def content(draft: Path, name: str = "a.ris") -> bytes:
    return (draft / "files" / name).read_bytes()


def test_parts_make_a_file_that_is_listed_whole_only_at_its_end(tmp_path: Path) -> None:
    assert not send(tmp_path, 0, 500).whole
    assert [(one.name, one.received, one.whole) for one in list_uploads(tmp_path)] == [("a.ris", 500, False)]
    assert not (tmp_path / "files" / "a.ris").exists()
    assert send(tmp_path, 500, 1024).whole
    assert content(tmp_path) == DATA and list_uploads(tmp_path)[0].whole


def test_a_part_sent_again_or_beyond_the_end_adds_nothing_twice(tmp_path: Path) -> None:
    send(tmp_path, 0, 500)
    assert send(tmp_path, 0, 300).received == 300  # 0 begins the file anew
    assert send(tmp_path, 200, 600).received == 600
    assert send(tmp_path, 300, 600).received == 600
    with pytest.raises(OutOfStep, match="has 600 bytes so far") as refused:
        send(tmp_path, 700, 1024)
    assert refused.value.received == 600 and refused.value.status == 409
    assert send(tmp_path, 600, 1024).whole and send(tmp_path, 600, 1024).whole
    assert content(tmp_path) == DATA


def test_a_file_of_the_same_name_replaces_the_first_when_it_is_whole(tmp_path: Path) -> None:
    add_chunk(tmp_path, "a.ris", b"old", 0, 3, 10_000)
    send(tmp_path, 0, 500)
    assert content(tmp_path) == b"old"
    send(tmp_path, 500, 1024)
    assert content(tmp_path) == DATA


def test_two_senders_of_one_name_never_mix_their_parts(tmp_path: Path) -> None:
    def both(_: int) -> bool:
        try:
            return [send(tmp_path, at, at + 128) for at in range(0, 1024, 128)][-1].whole
        except CounterpointError:
            return False

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(both, range(12)))
    send(tmp_path, 0, 1024)
    assert content(tmp_path) == DATA


@pytest.mark.parametrize("name", ["", ".hidden", "a/b", "..", "a\\b", "a\nb", "x.part", "n" * 151, "ü" * 130, "a\x00"])
def test_only_plain_names_are_taken(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="plain name"):
        add_chunk(tmp_path, name, b"x", 0, 1, 100)
    assert not (tmp_path / "files").exists()


def test_what_is_too_much_is_refused_before_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_chunk(tmp_path, "b.ris", b"12345", 0, 5, 1000)
    with pytest.raises(BadInput, match="1,000 bytes may wait to be read, and these have 1,029"):
        send(tmp_path, 0, 10, most=1000)
    with pytest.raises(BadInput, match="file of 3 bytes, got 5"):
        add_chunk(tmp_path, "c.ris", b"12345", 0, 3, 1000)
    monkeypatch.setattr(uploads, "MOST_FILES", 1)
    with pytest.raises(BadInput, match="1 file wait"):
        add_chunk(tmp_path, "c.ris", b"1", 0, 1, 1000)
    assert [one.name for one in list_uploads(tmp_path)] == ["b.ris"]


def test_a_full_disk_keeps_what_was_received_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    send(tmp_path, 0, 500)

    class Full:
        def __init__(self, *_: Any) -> None:
            self._file = open(tmp_path / "files" / "a.ris.1024.part", "ab")  # noqa: SIM115

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            self._file.close()

        def write(self, data: bytes) -> None:
            self._file.write(data[:10])
            self._file.flush()
            raise OSError(errno.ENOSPC, "No space left on device")

    real = open
    monkeypatch.setattr(uploads, "open", lambda path, mode: Full() if mode == "ab" else real(path, mode), raising=False)
    with pytest.raises(CounterpointError, match="send this part again") as refused:
        send(tmp_path, 500, 1024)
    assert refused.value.status == 507
    monkeypatch.undo()
    assert list_uploads(tmp_path)[0].received == 500
    send(tmp_path, 500, 1024)
    assert content(tmp_path) == DATA


def test_another_file_of_the_same_name_is_no_beginning_of_this_one(tmp_path: Path) -> None:
    add_chunk(tmp_path, "a.ris", b"x" * 500, 0, 500, 10_000)
    with pytest.raises(OutOfStep) as refused:
        send(tmp_path, 500, 1024)
    assert refused.value.received == 0 and content(tmp_path) == b"x" * 500


def test_two_files_of_one_name_sent_at_once_never_mix(tmp_path: Path) -> None:
    send(tmp_path, 0, 500)
    add_chunk(tmp_path, "a.ris", b"y" * 500, 0, 600, 10_000)
    assert send(tmp_path, 500, 1024).whole and content(tmp_path) == DATA
    assert [(one.name, one.whole) for one in list_uploads(tmp_path)] == [("a.ris", True)]
    with pytest.raises(OutOfStep):
        add_chunk(tmp_path, "a.ris", b"y" * 100, 500, 600, 10_000)


def test_only_the_file_of_this_name_is_removed(tmp_path: Path) -> None:
    send(tmp_path, 0, 500, "a.ris")
    send(tmp_path, 0, 500, "a.ris.ris")
    uploads.remove_upload(tmp_path, "a.ris")
    assert [one.name for one in list_uploads(tmp_path)] == ["a.ris.ris"]


def test_a_blank_name_is_none(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="plain name"):
        add_chunk(tmp_path, " ", b"x", 0, 1, 100)

"""Files sent in parts: begun again, sent twice, too much, in two hands at once, onto a disk that fills."""

from __future__ import annotations

import errno
import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from counterpoint.retrieval.core.errors import BadInput, CounterpointError
from counterpoint.service.operating import uploads
from counterpoint.service.operating.uploads import OutOfStep, add_chunk, list_uploads

DATA = bytes(range(256)) * 4


def send(draft: Path, start: int, end: int, name: str = "a.ris", most: int = 10_000, id: str = "") -> uploads.UploadOut:
    return add_chunk(draft, name, DATA[start:end], start, len(DATA), most, id)


def content(draft: Path, name: str = "a.ris") -> bytes:
    return (draft / "files" / name).read_bytes()


def test_parts_make_a_file_that_is_listed_whole_only_at_its_end(tmp_path: Path) -> None:
    assert not send(tmp_path, 0, 500).whole
    assert [(one.name, one.received, one.whole) for one in list_uploads(tmp_path)] == [("a.ris", 500, False)]
    assert not (tmp_path / "files" / "a.ris").exists()
    assert send(tmp_path, 500, 1024).whole
    assert content(tmp_path) == DATA and list_uploads(tmp_path)[0].whole


def test_a_part_sent_again_or_beyond_the_end_adds_nothing_twice(tmp_path: Path) -> None:
    id = send(tmp_path, 0, 500).upload
    assert send(tmp_path, 0, 300, id=id).received == 300  # 0 begins the file anew
    assert send(tmp_path, 200, 600, id=id).received == 600
    assert send(tmp_path, 300, 600).received == 600  # the only one of this name needs no id
    with pytest.raises(OutOfStep, match="has 600 bytes so far") as refused:
        send(tmp_path, 700, 1024, id=id)
    assert refused.value.received == 600 and refused.value.status == 409
    assert send(tmp_path, 600, 1024, id=id).whole and send(tmp_path, 600, 1024, id=id).whole
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
            self._file = open(next((tmp_path / "files").glob("a.ris.1024-*.part")), "ab")  # noqa: SIM115

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


OTHER = bytes(reversed(DATA))


@pytest.mark.parametrize("with_id", [True, False])
def test_two_files_of_one_name_and_length_sent_at_once_never_mix(tmp_path: Path, with_id: bool) -> None:
    first, second = send(tmp_path, 0, 500).upload, add_chunk(tmp_path, "a.ris", OTHER[:500], 0, 1024, 10_000).upload
    if not with_id:
        with pytest.raises(BadInput, match="2 files of this name and length are being sent"):
            send(tmp_path, 500, 1024)
    assert send(tmp_path, 500, 1024, id=first).whole and content(tmp_path) == DATA
    assert [(one.name, one.received, one.whole) for one in list_uploads(tmp_path)] == [
        ("a.ris", 1024, True),
        ("a.ris", 500, False),
    ]
    assert add_chunk(tmp_path, "a.ris", OTHER[500:], 500, 1024, 10_000, second).whole and content(tmp_path) == OTHER
    # The first was whole, and is not taken for the second.
    with pytest.raises(OutOfStep):
        send(tmp_path, 500, 1024, id=first)
    assert content(tmp_path) == OTHER


def test_an_upload_that_was_given_up_makes_room_for_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given_up = send(tmp_path, 0, 900).upload
    with pytest.raises(BadInput, match="these have 1,924"):
        send(tmp_path, 0, 900, most=1500)
    monkeypatch.setattr(uploads, "_IDLE_SECONDS", -1)
    begun = send(tmp_path, 0, 900, most=1500).upload
    with pytest.raises(OutOfStep) as refused:
        send(tmp_path, 900, 1024, id=given_up)
    assert refused.value.received == 0 and send(tmp_path, 900, 1024, id=begun).whole and content(tmp_path) == DATA


def test_a_file_that_is_not_the_one_that_was_announced_is_refused(tmp_path: Path) -> None:
    right, wrong = hashlib.sha256(DATA).hexdigest(), hashlib.sha256(OTHER).hexdigest()
    with pytest.raises(BadInput, match=f"SHA-256 {wrong}, got one with {right}"):
        add_chunk(tmp_path, "a.ris", DATA, 0, 1024, 10_000, sha256=wrong)
    assert list_uploads(tmp_path) == []
    assert add_chunk(tmp_path, "a.ris", DATA, 0, 1024, 10_000, sha256=right.upper()).whole


@pytest.mark.parametrize("id", ["../../../x", "x", "0" * 13, "ABCDEFABCDEF", "é" * 12])
def test_an_id_is_none_that_the_service_did_not_give(tmp_path: Path, id: str) -> None:
    with pytest.raises(BadInput, match="first part of the file"):
        send(tmp_path, 0, 500, id=id)
    assert list_uploads(tmp_path) == []


def test_a_ticket_opens_one_library_for_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ticket = uploads.give_ticket(tmp_path, "0a1b2c3d4e5f")
    (tmp_path / "secret").write_text("x")
    assert uploads.take_ticket(tmp_path, ticket) == uploads.take_ticket(tmp_path, ticket) == "0a1b2c3d4e5f"
    for wrong in ("", "x" * 32, "../../secret", f"{ticket}x", ticket[:-1]):
        assert uploads.take_ticket(tmp_path, wrong) == ""
    monkeypatch.setattr(uploads, "TICKET_SECONDS", 0)
    assert uploads.take_ticket(tmp_path, ticket) == ""
    uploads.give_ticket(tmp_path, "0a1b2c3d4e5f")
    assert len([*tmp_path.glob(f"{uploads.FOLDER}/tickets/*")]) == 1


def test_only_the_file_of_this_name_is_removed(tmp_path: Path) -> None:
    send(tmp_path, 0, 500, "a.ris")
    send(tmp_path, 0, 500, "a.ris.ris")
    uploads.remove_upload(tmp_path, "a.ris")
    assert [one.name for one in list_uploads(tmp_path)] == ["a.ris.ris"]


def test_a_blank_name_is_none(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="plain name"):
        add_chunk(tmp_path, " ", b"x", 0, 1, 100)

"""Results shared through Redis: found by other machines, never in the way where Redis is away or holds what is not ours."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fakeredis
import pytest
from pydantic import SecretStr

from nli.decision.document import PLAIN
from nli.judges.judge import DiskCachingJudge
from retrieval.core import disk_cache, shared_cache
from retrieval.core.disk_cache import DiskCache, make_key, open_cache
from retrieval.core.errors import BadConfig
from retrieval.core.shared_cache import CachesInTurn, SharedCache
from retrieval.core.values import Premise, Verdict
from service.operating.settings import Settings, hand_down, show_settings

ONE, TWO = make_key("one"), make_key("two")
Told = list[tuple[str, int, int]]


@pytest.fixture
def server() -> fakeredis.FakeServer:
    return fakeredis.FakeServer()


@pytest.fixture
def told() -> Told:
    return []


@pytest.fixture
def shared(server: fakeredis.FakeServer, told: Told) -> SharedCache:
    return SharedCache(fakeredis.FakeRedis(server=server), "verdicts", lambda *one: told.append(one))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    now = [1000.0]
    monkeypatch.setattr("retrieval.core.shared_cache.time.monotonic", lambda: now[0])
    yield now


def test_what_one_machine_kept_another_finds_for_a_month(shared: SharedCache, server: fakeredis.FakeServer, told: Told) -> None:
    shared.put([(ONE, b"1"), (TWO, b"")])
    other = fakeredis.FakeRedis(server=server)
    assert SharedCache(other, "verdicts", lambda *_: None).get([TWO, make_key("three"), ONE]) == [b"", None, b"1"]
    assert SharedCache(other, "vectors", lambda *one: told.append(one)).get([ONE]) == [None]
    assert told == [("shared vectors", 0, 1)]
    assert {0 < int(other.ttl(key)) <= 30 * 86_400 for key in other.keys()} == {True}  # noqa: SIM118 (Redis's own command)


def test_more_results_than_one_command_carries_keep_their_order(shared: SharedCache) -> None:
    keys = [make_key(str(number)) for number in range(257)]
    shared.put((key, b"%d" % number) for number, key in enumerate(keys) if number % 2)
    assert shared.get(keys) == [b"%d" % number if number % 2 else None for number in range(257)]


def test_a_value_that_is_damaged_or_of_another_key_is_missing(shared: SharedCache, server: fakeredis.FakeServer) -> None:
    shared.put([(ONE, b"right"), (TWO, b"other")])
    redis = fakeredis.FakeRedis(server=server)
    places = {key: b"counterpoint:verdicts:" + key for key in (ONE, TWO)}
    redis.rename(places[TWO], places[ONE])
    redis.set(places[TWO], b"x")
    assert shared.get([ONE, TWO]) == [None, None]


def test_a_redis_that_is_away_is_told_once_left_alone_and_asked_again_later(
    shared: SharedCache, server: fakeredis.FakeServer, clock: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    shared.put([(ONE, b"1")])
    server.connected = False
    with caplog.at_level(logging.WARNING, "counterpoint"):
        for _ in range(3):
            assert shared.get([ONE]) == [None]
            shared.put([(TWO, b"2")])
    assert [record.getMessage() for record in caplog.records] == [
        "the shared cache (shared verdicts) cannot be used now: ConnectionError"
    ]
    server.connected = True
    assert shared.get([ONE]) == [None], "it is not asked within ten seconds"
    clock[0] += 11
    assert shared.get([ONE, TWO]) == [b"1", None]


def test_what_the_far_cache_has_is_kept_near(tmp_path: Path, shared: SharedCache, server: fakeredis.FakeServer) -> None:
    shared.put([(ONE, b"1")])
    near = DiskCache(tmp_path / "verdicts.sqlite", 1)
    both = CachesInTurn(near, shared)
    assert both.get([TWO, ONE]) == [None, b"1"] and near.get([ONE]) == [b"1"]
    both.put([(TWO, b"2")])
    assert shared.get([TWO]) == near.get([TWO]) == [b"2"]
    server.connected = False
    assert both.get([ONE, TWO]) == [b"1", b"2"]


class CountingJudge:
    """Gives every premise the same verdict and counts them."""

    name, decision = "counting-1", PLAIN

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, claim: str, premises: Any) -> Iterator[Verdict]:
        for _ in premises:
            self.asked += 1
            yield Verdict(0.7, 0.2, 0.1)


def test_a_second_machine_judges_nothing_anew_and_an_outage_costs_only_time(tmp_path: Path, server: fakeredis.FakeServer) -> None:
    premises = [Premise(f"Sentence {number}.", "Title") for number in range(5)]
    judges = [CountingJudge(), CountingJudge(), CountingJudge()]
    made = []
    for number, judge in enumerate(judges):
        far = SharedCache(fakeredis.FakeRedis(server=server), "verdicts", lambda *_: None)
        server.connected = number < 2
        cached = DiskCachingJudge(judge, CachesInTurn(DiskCache(tmp_path / f"{number}.sqlite", 1), far))
        made.append(list(cached("A claim.", premises)))
    assert made[0] == made[1] == made[2]
    assert [judge.asked for judge in judges] == [5, 0, 5]


@pytest.fixture
def _nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that no service has set up; another test in this one may have."""
    monkeypatch.setattr(disk_cache, "_chosen_address", None)
    monkeypatch.setattr(disk_cache, "_chosen", None)


@pytest.mark.usefixtures("_nothing_chosen")
def test_it_is_a_setting_and_off_unless_named(monkeypatch: pytest.MonkeyPatch, server: fakeredis.FakeServer) -> None:
    assert open_cache("verdicts") is None  # the tests' own setting
    monkeypatch.setattr(shared_cache, "connect", lambda _: fakeredis.FakeRedis(server=server))
    monkeypatch.setenv(shared_cache.ADDRESS_VARIABLE, "redis://host-of-the-test:6379/0")
    opened = open_cache("verdicts")
    assert isinstance(opened, SharedCache) and open_cache("verdicts") is opened
    disk_cache.set_shared_cache("")
    assert open_cache("verdicts") is None


@pytest.mark.usefixtures("_nothing_chosen")
def test_a_wrong_address_is_one_sentence_without_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(cache_redis=SecretStr("http://me:secret@host/0"), cache="off")
    assert "secret" not in show_settings(settings)["cache_redis"]
    with pytest.raises(BadConfig, match="should be an address such as redis://host:6379/0") as caught:
        hand_down(settings)
    assert "secret" not in str(caught.value)
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(BadConfig, match=r"pip install counterpoint\[redis\]"):
        shared_cache.connect("redis://host:6379/0")


def test_a_real_client_that_finds_nobody_forgets_without_an_error() -> None:
    shared = SharedCache(shared_cache.connect("redis://127.0.0.1:1/0"), "verdicts", lambda *_: None)
    shared.put([(ONE, b"1")])
    assert shared.get([ONE]) == [None]

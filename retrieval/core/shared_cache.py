"""Results that several machines share in Redis, behind the cache on each machine's own disk; optional.

If Redis is unavailable, the work goes on without it, and it is not asked again for some seconds, so that a request is hardly
slower. Redis removes results by itself: each after a month, and all according to its own `maxmemory-policy`.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from retrieval.core.errors import BadConfig

if TYPE_CHECKING:
    from redis import Redis

ADDRESS_VARIABLE = "COUNTERPOINT_CACHE_REDIS"
_PREFIX = b"counterpoint:"
_KEPT_SECONDS = 30 * 86_400
_CONNECT_SECONDS, _ANSWER_SECONDS = 0.25, 1.0
_AWAY_SECONDS = 10.0
_CHUNK = 100
_SUM_BYTES = 8

Tell = Callable[[str, int, int], None]
"""Called on a look-up with its kind, the number of hits and the number of misses."""
_Result = TypeVar("_Result")
_log = logging.getLogger("counterpoint")


class Cache(Protocol):
    """Results under keys of 16 bytes; safe to use from several threads at once. It never raises: it forgets."""

    def get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The result under each key, None if there is none."""

    def put(self, results: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep each result under its key."""


class SharedCache:
    """Results of one kind in Redis. A value without the right checksum of its key and bytes is not ours and counts as missing."""

    def __init__(self, client: Redis, kind: str, tell: Tell) -> None:
        self._client, self._tell = client, tell
        self._kind, self._prefix = f"shared {kind}", _PREFIX + kind.encode() + b":"
        self._away_until = 0.0
        self._lock = threading.Lock()

    def get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The result under each key, None if there is none or Redis is unavailable."""
        values: list[bytes | None] = []
        for at in range(0, len(keys), _CHUNK):
            chunk = keys[at : at + _CHUNK]
            blobs = self._ask(partial(self._fetch, chunk)) or []
            blobs += [None] * (len(chunk) - len(blobs))
            values += [_open(key, blob) for key, blob in zip(chunk, blobs, strict=True)]
        misses = values.count(None)
        self._tell(self._kind, len(values) - misses, misses)
        return values

    def put(self, results: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep each result under its key for a month, unless Redis is unavailable or full."""
        rows = list(results)
        for at in range(0, len(rows), _CHUNK):
            self._ask(partial(self._send, rows[at : at + _CHUNK]))

    def _fetch(self, keys: Sequence[bytes]) -> list[bytes | None]:
        values: Any = self._client.mget([self._prefix + key for key in keys])
        return list(values)

    def _send(self, rows: Sequence[tuple[bytes, bytes]]) -> None:
        with self._client.pipeline(transaction=False) as pipeline:
            for key, value in rows:
                pipeline.set(self._prefix + key, _sum(key, value) + value, ex=_KEPT_SECONDS)
            pipeline.execute()

    def _ask(self, work: Callable[[], _Result]) -> _Result | None:
        from redis.exceptions import RedisError

        if time.monotonic() < self._away_until:
            return None
        try:
            return work()
        except (RedisError, OSError) as error:
            self._leave_alone(error)
            return None

    def _leave_alone(self, error: Exception) -> None:
        with self._lock:
            if time.monotonic() >= self._away_until:
                # Only the kind of error: a message may name the server's account.
                _log.warning("the shared cache (%s) cannot be used now: %s", self._kind, type(error).__name__)
                self._away_until = time.monotonic() + _AWAY_SECONDS


class CachesInTurn:
    """A near cache and a far one: what only the far one has is kept in the near one from then on."""

    def __init__(self, near: Cache, far: Cache) -> None:
        self.near, self.far = near, far

    def get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The result under each key, None if neither has it."""
        values = self.near.get(keys)
        misses = [key for key, value in zip(keys, values, strict=True) if value is None]
        if not misses:
            return values
        far_values = {key: value for key, value in zip(misses, self.far.get(misses), strict=True) if value is not None}
        if far_values:
            self.near.put(far_values.items())
        return [value if value is not None else far_values.get(key) for key, value in zip(keys, values, strict=True)]

    def put(self, results: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep each result in both."""
        rows = list(results)
        self.near.put(rows)
        self.far.put(rows)


def connect(address: str) -> Redis:
    """The client for a Redis server at redis://, rediss:// or unix://; it connects at the first look-up.

    Raises `BadConfig` for an address that cannot be read, or if the package redis is missing.
    """
    try:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry
    except ImportError:
        raise BadConfig(f"{ADDRESS_VARIABLE} needs the package redis; run `pip install counterpoint[redis]`.") from None
    try:
        return Redis.from_url(
            address,
            protocol=2,
            socket_connect_timeout=_CONNECT_SECONDS,
            socket_timeout=_ANSWER_SECONDS,
            # Retry once immediately: the other end may have closed a connection that was kept open.
            retry=Retry(NoBackoff(), 1),
        )
    except ValueError:
        # Its own message would show the address, which may hold a password.
        raise BadConfig(f"{ADDRESS_VARIABLE} should be an address such as redis://host:6379/0.") from None


def _sum(key: bytes, value: bytes) -> bytes:
    return hashlib.blake2b(value, digest_size=_SUM_BYTES, key=key).digest()


def _open(key: bytes, blob: bytes | None) -> bytes | None:
    if blob is None or blob[:_SUM_BYTES] != _sum(key, blob[_SUM_BYTES:]):
        return None
    return blob[_SUM_BYTES:]

"""Not too many requests a minute, and not more tokens than were granted."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from threading import Lock


class Pace:
    """Lets `per_minute` callers through in any sixty seconds and makes the others wait; None lets all through."""

    def __init__(
        self,
        per_minute: int | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._most, self._clock, self._sleep = per_minute, clock, sleep
        self._passed: deque[float] = deque()
        self._lock = Lock()

    def wait(self) -> None:
        """Return when one more is allowed; callers are let through in the order in which they came."""
        if self._most is None:
            return
        with self._lock:
            now = self._clock()
            while self._passed and now - self._passed[0] >= 60.0:
                self._passed.popleft()
            if len(self._passed) >= self._most:
                self._sleep(60.0 - (now - self._passed.popleft()))
            self._passed.append(self._clock())

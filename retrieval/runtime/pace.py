"""Rate limiting: at most so many requests in a period."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from threading import Lock

_MINUTE = 60.0


class Pace:
    """Lets `most` callers through in any `period` seconds and makes the others wait; None lets all through."""

    def __init__(
        self,
        most: int | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        period: float = _MINUTE,
    ) -> None:
        self._most, self._clock, self._sleep, self._period = most, clock, sleep, period
        self._turns: deque[float] = deque(maxlen=most)
        self._lock = Lock()

    def wait(self) -> None:
        """Return when one more is allowed; callers pass in the order in which they came."""
        if self._most is None:
            return
        with self._lock:
            now = self._clock()
            turn = max(now, self._turns[0] + self._period) if len(self._turns) == self._most else now
            self._turns.append(turn)
        # Outside the lock: each caller that arrives meanwhile gets its own turn.
        if turn > now:
            self._sleep(turn - now)

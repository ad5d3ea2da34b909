"""The watch inside the service: a thread beside the requests, active only while a saved claim lags behind the index."""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from retrieval.core.errors import CounterpointError
from retrieval.index import read_index_manifest
from service.memory.saved import SavedClaims, Watched
from service.memory.watching import watch_claim
from service.operating import metrics
from service.operating.live_index import CurrentService, NotReady

_log = logging.getLogger("counterpoint")
LOCK = "watch.lock"


class Watcher:
    """Grounds the claims saved on the index being served, one at a time; only one of several processes does so at once."""

    def __init__(self, claims: SavedClaims, live: CurrentService) -> None:
        self._claims, self._live = claims, live
        self._thread: threading.Thread | None = None
        self._stop_event = threading.Event()
        # A claim that cannot be grounded is skipped until the index changes again or the service is restarted.
        self._failures: set[tuple[str, int]] = set()

    def begin(self) -> None:
        """Start a thread that looks for claims to ground; if one is still running, leave it to go on."""
        if not self._stop_event.is_set() and not (self._thread and self._thread.is_alive()):
            self._thread = threading.Thread(target=self.run, name="watch", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop after the claim that is being grounded, and wait for that."""
        self._stop_event.set()
        if self._thread:
            self._thread.join()

    def run(self) -> int:
        """Ground the claims that are due, and return how many alerts resulted."""
        alerts = 0
        try:
            with suppress(Timeout, NotReady), _make_lock(self._claims.folder):
                while claims := self._find_due():
                    for one in claims:
                        if self._stop_event.is_set():
                            return alerts
                        alerts += self._ground(one)
        except CounterpointError as error:
            _log.warning("saved claims were not checked: %s", error)
        except Exception:
            _log.exception("watching saved claims failed")
        return alerts

    def _find_due(self) -> list[Watched]:
        """The claims that lag behind the index; none while the index on disk is newer than the one being served."""
        with self._live.lease() as service:
            folder, manifest = service.index.folder, service.index.manifest
        if read_index_manifest(folder) != manifest:
            return []
        return [one for one in self._claims.due(folder, manifest) if (one.id, manifest.version) not in self._failures]

    def _ground(self, one: Watched) -> int:
        """Ground a claim on the index being served, and return how many alerts are new."""
        with self._live.lease() as service:
            try:
                alerts = watch_claim(self._claims, one, service.grounder)
            except Exception as error:
                self._note_failure(one, service.index.manifest.version, error)
                return 0
        metrics.WATCHED.inc()
        metrics.ALERTS.inc(alerts)
        return alerts

    def _note_failure(self, one: Watched, version: int, error: Exception) -> None:
        self._failures.add((one.id, version))
        if isinstance(error, CounterpointError):
            _log.warning("the saved claim %s was not checked: %s", one.id, error)
        else:
            _log.error("checking the saved claim %s failed", one.id, exc_info=error)


def _make_lock(folder: Path) -> FileLock:
    """Make the lock of a watch; acquiring it raises `Timeout` if another process holds it."""
    return FileLock(folder / LOCK, blocking=False, fallback_to_soft=False)

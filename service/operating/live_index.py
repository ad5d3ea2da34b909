"""What serves requests now: an index with its models, which can be swapped while requests are in progress.

Each request takes a lease; a replaced index is closed when its last lease ends.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from retrieval.cluster.client import RETRY_SECONDS, ClusterBusy
from retrieval.core.errors import CounterpointError
from retrieval.index import Index, look_at_index, read_index_manifest
from service.answering.answer import Answerer
from service.grounding.ground import Grounder
from service.operating import metrics
from service.reading.evidence import EvidenceFinder, make_finder_beside

_log = logging.getLogger("counterpoint")
NO_ANSWERS = "This service was started without an answer variant."


class NotReady(CounterpointError):
    """No request can be answered now; the message says why."""

    status = 503
    retry_after: int | None = None


@dataclass(eq=False)
class Serving:
    """One open index and what works on it; `no_answers` and `no_evidence` say why there is no answerer or no finder."""

    grounder: Grounder
    answerer: Answerer | None
    finder: EvidenceFinder | None
    no_answers: str = NO_ANSWERS
    no_evidence: str = ""
    leases: int = 0
    retired: bool = False

    @property
    def index(self) -> Index:
        """The index that all parts work on."""
        return self.grounder.index

    def answering(self) -> Answerer:
        """The answerer; raises `NotReady`, with the reason, if there is none."""
        if self.answerer is None:
            raise NotReady(self.no_answers)
        return self.answerer

    def finding(self) -> EvidenceFinder:
        """The finder of evidence in a paper; raises `NotReady`, with the reason, if there is none."""
        if self.finder is None:
            raise NotReady(self.no_evidence)
        return self.finder


class CurrentService:
    """Holds what serves now. `load` assembles the grounder; an answerer from `load_answerer` and the evidence finder are added to
    it, and if either fails, the rest still serves. `failure` says why nothing ever will, `waiting` why the index cannot be
    opened yet."""

    def __init__(self, load: Callable[[], Grounder], load_answerer: Callable[[Grounder], Answerer] | None) -> None:
        self._load, self._load_answerer = load, load_answerer
        self._service: Serving | None = None
        self._lock = threading.Lock()
        self._looked_at: Hashable | None = None
        self.failure = self.waiting = ""

    def load(self) -> None:
        """Assemble the first service; an error is kept in `failure`, or in `waiting` if a retry may succeed soon."""
        reason = ""
        try:
            self._service = self._assemble()
            if self.waiting:
                _log.info("the index is there")
        except ClusterBusy as error:
            reason = str(error)
            if not self.waiting:
                _log.warning("waiting for the index: %s", error)
        except CounterpointError as error:
            self.failure = str(error)
        except Exception:
            self.failure = "The service could not be loaded; see its log."
            _log.exception("loading failed")
        self.waiting = reason

    def _assemble(self) -> Serving:
        grounder = self._load()
        answerer, why_not = None, NO_ANSWERS
        finder, why_none = None, ""
        if self._load_answerer:
            try:
                answerer = self._load_answerer(grounder)
            except ClusterBusy:
                raise
            except CounterpointError as error:
                why_not = str(error)
        try:
            finder = make_finder_beside(grounder.models, answerer.models if answerer else None)
        except CounterpointError as error:
            why_none = str(error)
        return Serving(grounder, answerer, finder, why_not, why_none)

    def ready(self) -> Serving:
        """What serves now; raises `NotReady`. It may be replaced at any moment, so work on it under a `lease`."""
        if self._service is None:
            error = NotReady(self.failure or self.waiting or "The service is still loading; try again in a few seconds.")
            error.retry_after = None if self.failure else RETRY_SECONDS if self.waiting else 3
            raise error
        return self._service

    @contextmanager
    def lease(self) -> Iterator[Serving]:
        """What serves now, kept open until the end of the block."""
        with self._lock:
            serving = self.ready()
            serving.leases += 1
        try:
            yield serving
        finally:
            with self._lock:
                serving.leases -= 1
            self._close_if_done(serving)

    def refresh(self) -> bool:
        """If the index changed on disk, open it and let it serve; return whether it does. A failure changes nothing."""
        old = self._service
        if old is None or (fingerprint := look_at_index(old.index.folder)) in (None, self._looked_at):
            return False
        index: Index | None = None
        try:
            if read_index_manifest(old.index.folder) == old.index.manifest:
                self._looked_at = fingerprint
                return False
            index = Index(old.index.folder)
            answerer = old.answerer and old.answerer.over(index)
            new = Serving(old.grounder.over(index), answerer, old.finder, old.no_answers, old.no_evidence)
        except Exception as error:
            metrics.RELOADS.labels(outcome="failed").inc()
            if index:
                index.close()
            if not isinstance(error, CounterpointError):
                raise  # the next check tries again: an unforeseen error may pass
            self._looked_at = fingerprint
            _log.warning("the changed index was not loaded: %s", error)
            return False
        self._looked_at = fingerprint
        with self._lock:
            self._service, old.retired = new, True
        self._close_if_done(old)
        metrics.RELOADS.labels(outcome="swapped").inc()
        _log.info("serving version %d of the index", index.manifest.version)
        return True

    def close(self) -> None:
        """Close the index; no request is in progress any more."""
        with self._lock:
            serving, self._service = self._service, None
            self.failure = "The service is stopping."
        if serving:
            serving.retired = True
            self._close_if_done(serving)

    def _close_if_done(self, serving: Serving) -> None:
        with self._lock:
            idle = serving.retired and serving.leases == 0
            if idle:
                serving.retired = False  # once only
        if idle:
            serving.index.close()

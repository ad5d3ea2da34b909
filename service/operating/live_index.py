"""What serves requests on one library: an index with the shared models, which can be swapped while requests are in progress.

Each request takes a lease; a replaced or closed index is closed when its last lease ends.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from counterpoint.retrieval.cluster.client import ClusterBusy
from counterpoint.retrieval.core.errors import CounterpointError
from counterpoint.retrieval.index import Index, look_at_index, read_index_manifest
from counterpoint.service.answering.answer import Answerer
from counterpoint.service.evidence.finder import EvidenceFinder, make_finder_beside
from counterpoint.service.grounding.ground import Grounder
from counterpoint.service.operating import metrics

_log = logging.getLogger("counterpoint")
NO_ANSWERS = "This service was started without an answer variant."


class NotReady(CounterpointError):
    """No request can be answered now; the message says why."""

    status = 503
    retry_after: int | None = None


@dataclass(eq=False)
class Serving:
    """One open index and what works on it; `no_answers` and `no_evidence` say why there is no answerer or no finder, `models`
    identifies the models in use when it was made."""

    grounder: Grounder
    answerer: Answerer | None
    finder: EvidenceFinder | None
    no_answers: str = NO_ANSWERS
    no_evidence: str = ""
    models: Hashable = None
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


class Maker:
    """Makes what serves from an index. The models are loaded with the first index and shared by all that come after it.

    `load` assembles the grounder; an answerer from `load_answerer` and the evidence finder are added to it, and if either fails,
    the rest still serves. When `look` returns another value there are other models, and all are loaded anew.
    """

    def __init__(
        self,
        load: Callable[[Index], Grounder],
        load_answerer: Callable[[Grounder], Answerer] | None,
        look: Callable[[], Hashable] = lambda: None,
    ) -> None:
        self._load, self._load_answerer, self._look = load, load_answerer, look
        self._lock = threading.Lock()
        self.first: Serving | None = None

    def make(self, index: Index) -> Serving:
        """Make what serves from this index; raises `CounterpointError` if the index or a model cannot be used."""
        with self._lock:
            if self.first is None or not self.is_current(self.first):
                models = self._look()
                self.first = self._assemble(index)
                self.first.models = models
                return self.first
            made = self.first
        answerer, why_not = made.answerer, made.no_answers
        if answerer:
            try:
                answerer = answerer.over(index)
            except CounterpointError as error:
                answerer, why_not = None, str(error)
        return Serving(made.grounder.over(index), answerer, made.finder, why_not, made.no_evidence, made.models)

    def is_current(self, serving: Serving) -> bool:
        """Whether it works with the models that are now in use."""
        return serving.models == self._look()

    def _assemble(self, index: Index) -> Serving:
        grounder = self._load(index)
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


class LiveIndex:
    """The index of one library: opened when it is first needed, and closed when others need its place."""

    def __init__(self, id: str, place: Path, maker: Maker) -> None:
        self.id, self.place, self._maker = id, place, maker
        self._service: Serving | None = None
        self._lock, self._opening = threading.Lock(), threading.Lock()
        self._looked_at: Hashable | None = None
        self.used = 0.0

    @property
    def is_open(self) -> bool:
        """Whether the index is open now."""
        return self._service is not None

    def ready(self) -> Serving:
        """What serves now, opened if it was not; raises `CounterpointError` if it cannot be. It may be replaced at any moment, so
        work on it under a `lease`."""
        with self._opening:
            self.used = time.monotonic()
            if self._service is None:
                self._service = self._open()
                self._looked_at = None
            elif not self._maker.is_current(self._service):
                self._replace(self._open())
            return self._service

    @property
    def now(self) -> Serving | None:
        """What serves, as it is; None if the index is not open."""
        return self._service

    def _open(self) -> Serving:
        index = Index(self.place)
        try:
            return self._maker.make(index)
        except BaseException:
            index.close()
            raise

    @contextmanager
    def lease(self) -> Iterator[Serving]:
        """What serves now, kept open until the end of the block."""
        while True:
            serving = self.ready()
            with self._lock:
                if serving is self._service:
                    serving.leases += 1
                    break
        try:
            yield serving
        finally:
            with self._lock:
                serving.leases -= 1
            self._close_if_done(serving)

    def refresh(self) -> bool:
        """If the open index changed on disk, or other models are in use, open it anew to serve; return whether it does. A failure
        changes nothing."""
        old = self._service
        if old and not self._maker.is_current(old):
            self.ready()
            return True
        if old is None or (fingerprint := look_at_index(self.place)) in (None, self._looked_at):
            return False
        try:
            if read_index_manifest(self.place) == old.index.manifest:
                self._looked_at = fingerprint
                return False
            new = self._open()
        except Exception as error:
            metrics.RELOADS.labels(outcome="failed").inc()
            if not isinstance(error, CounterpointError):
                raise  # the next check tries again: an unforeseen error may pass
            self._looked_at = fingerprint
            _log.warning("the changed index was not loaded: %s", error)
            return False
        self._looked_at = fingerprint
        self._replace(new)
        metrics.RELOADS.labels(outcome="swapped").inc()
        _log.info("serving version %d of the index", new.index.manifest.version)
        return True

    def close(self) -> None:
        """Close the index as soon as no request works on it; the next request opens it again."""
        self._replace(None)

    def _replace(self, new: Serving | None) -> None:
        with self._lock:
            old, self._service = self._service, new
            if old:
                old.retired = True
        if old:
            self._close_if_done(old)

    def _close_if_done(self, serving: Serving) -> None:
        with self._lock:
            idle = serving.retired and serving.leases == 0
            if idle:
                serving.retired = False  # once only
        if idle:
            serving.index.close()

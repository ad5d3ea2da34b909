"""An answer as it is made, event by event, for POST /answer/stream."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from queue import SimpleQueue

from fastapi.sse import ServerSentEvent
from pydantic import BaseModel

from retrieval.errors import CounterpointError
from retrieval.values import RemovedSentence, Topic
from service.answer import Answerer, Kept, Stage
from service.answer_schemas import AnswerResponse, event_out
from service.schemas import Problem

_log = logging.getLogger("counterpoint")


class _Gone(Exception):
    """Whoever asked has left: the work stops at its next event."""


def streamed(answerer: Answerer, topic: Topic) -> Iterator[ServerSentEvent]:
    """The stages and sentences of an answer as they come, then the whole answer; a fault is the last event, "error"."""
    queue: SimpleQueue[tuple[str, BaseModel]] = SimpleQueue()
    gone = threading.Event()

    def tell(event: Stage | Kept | RemovedSentence) -> None:
        if gone.is_set():
            raise _Gone
        queue.put(event_out(event))

    def work() -> None:
        try:
            queue.put(("answer", AnswerResponse.of(answerer.answer(topic, tell), answerer)))
        except _Gone:
            return
        except CounterpointError as error:
            queue.put(("error", Problem(error=str(error))))
        except Exception:
            _log.exception("answering failed")
            queue.put(("error", Problem(error="The answer could not be made; the service's log has the reason.")))

    threading.Thread(target=work, name="answering", daemon=True).start()
    try:
        while True:
            name, data = queue.get()
            yield ServerSentEvent(event=name, data=data)
            if name in ("answer", "error"):
                return
    finally:
        gone.set()

"""The documents of Task A's tests; topics, and an answerer by a script, for those of Task B."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from counterpoint.retrieval.core.values import Answer, Topic
from counterpoint.retrieval.index import Index
from counterpoint.retrieval.runtime.chat import ChatUnanswered
from counterpoint.service.configuration.config import load_answer_config, load_profile
from counterpoint.service.configuration.models import Models
from tests.helpers.fakes import made_answer

DOCUMENTS = [
    {"pmid": "11", "title": "Best", "abstract": "Zeta is for lower pressure."},
    {"pmid": "12", "title": "", "abstract": "Zeta is not against pressure."},
    {"pmid": "13", "title": "", "abstract": "Zeta is safe for all."},
]
TOPICS = [
    {"id": 7, "topic": "Zeta", "question": "Does zeta lower pressure?", "narrative": "Effects of zeta on pressure."},
    {"id": "8", "topic": "Omega", "question": "What does omega do?", "narrative": "Anything on omega."},
    {"id": 9, "topic": "Nothing", "question": "What of nothing?", "narrative": "Nobody knows."},
]


class ScriptedAnswerer:
    """Answers every topic from stored documents; for those of `silent` its server says nothing, `silence` times."""

    grounder = None

    def __init__(
        self, index: Index, silent: Iterable[str] = (), silence: int = 10**6, names: dict[str, str] | None = None
    ) -> None:
        self.index, self.config = index, load_answer_config("counterpoint")
        self.models = Models(load_profile("embedded"), {}, {})
        self.left = dict.fromkeys(silent, silence)
        self.asked: list[str] = []
        self._lock = threading.Lock()

    def extractive(self, generator: str) -> bool:
        return True

    def answer(self, topic: Topic, on_event: object = None, fill: bool = False) -> Answer:
        with self._lock:
            self.asked.append(topic.id)
            if self.left.get(topic.id, 0):
                self.left[topic.id] -= 1
                raise ChatUnanswered("The model m at http://x gave an empty answer.")
        if "nothing" in topic.question:
            return made_answer(topic, [], self.index, note="The index has too little on this.")
        pmid = "x14" if "omega" in topic.question else "11"
        return made_answer(topic, [("Zeta lowers it.", [pmid, "13"]), ("So it is.", ["12"])], self.index)

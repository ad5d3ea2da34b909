"""Asking a chat model for an answer in a form (a pydantic model) that must hold: checked, asked for once more, kept on disk."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Protocol, runtime_checkable

from pydantic import ValidationError

from counterpoint.retrieval.core.result_cache import Cache, make_key
from counterpoint.retrieval.core.values import Usage
from counterpoint.retrieval.runtime.chat import Chat, ChatUnanswered
from counterpoint.retrieval.runtime.replies import Answer
from counterpoint.retrieval.runtime.usage import record


@runtime_checkable
class AsksInForm(Protocol):
    """A model that can be asked for an answer in a form."""

    def ask_in_form(
        self, system: str, user: str, schema: type[Answer], find_fault: Callable[[Answer], str], longest: int = 0
    ) -> Answer:
        """The answer, in which `find_fault` finds nothing that makes it unusable; `longest` is the most tokens that it may need.

        Raises `ChatUnanswered` where two answers are not usable.
        """


def ask_in_form(
    chat: Chat,
    system: str,
    user: str,
    schema: type[Answer],
    find_fault: Callable[[Answer], str],
    max_tokens: int,
    cache: Cache | None = None,
) -> Answer:
    """The model's answer; one that is no JSON of this form, or has a fault (a sentence), is asked for once more.

    An answer that holds is kept in `cache` under model, address and prompt. Raises `ChatUnanswered` where two do not hold.
    """
    key = make_key("chat", chat.model, chat.address, system, " ".join(schema.model_fields), user)
    if kept := cache and cache.get([key])[0]:
        with suppress(ValidationError):  # what another version kept may not hold; it is asked for anew
            if not find_fault(answer := schema.model_validate_json(kept)):
                record(Usage(cached=1))
                return answer
    fault = ""
    for _ in range(2):
        again = f"\n\nYour last answer could not be used: {fault} Answer once more." if fault else ""
        try:
            answer = chat.complete_structured(system, user + again, schema, max_tokens)
            fault = find_fault(answer)
        except ChatUnanswered as error:
            if error.http_status or error.status == 503:
                raise  # the client has tried again by now
            fault = str(error)
            continue
        if not fault:
            if cache:
                cache.put([(key, answer.model_dump_json().encode())])
            return answer
    raise ChatUnanswered(fault)

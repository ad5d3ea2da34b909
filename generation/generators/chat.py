"""Answers from a language model behind an OpenAI-compatible server (retrieval.runtime.chat)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from generation.draft import Draft, Limits, Source
from generation.prompts.filling import Prompt, fill_prompt
from generation.replies.parsing import keep_whole_sentences
from retrieval.core.errors import BadConfig
from retrieval.core.values import Topic
from retrieval.runtime.chat import Chat

NONE = re.compile(r"\W*none\W*", re.IGNORECASE)


class ChatGenerator:
    """A `Generator`: one request per answer, and one for each sentence to be rewritten.

    `max_tokens` bounds a reply, `document_words` what the prompt holds of each abstract; `temperature`, `seed`, `stop` and
    `stream` are the server's own options. The rest is the connection's (retrieval.runtime.chat.Chat).
    """

    extractive = False

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        key_env: str = "OPENAI_API_KEY",
        timeout: float = 120.0,
        retries: int = 3,
        per_minute: int | None = None,
        budget: int | None = None,
        price: Sequence[float] | None = None,
        max_tokens: int = 1000,
        temperature: float = 0.0,
        seed: int | None = None,
        stop: Sequence[str] = (),
        stream: bool = True,
        document_words: int | None = None,
    ) -> None:
        if max_tokens < 1 or temperature < 0 or (document_words is not None and document_words < 1):
            raise BadConfig(
                f"max_tokens {max_tokens}, temperature {temperature}, document_words {document_words} do not fit; "
                "expected a count of at least 1, a number of at least 0, and a count or nothing."
            )
        self._chat = Chat(model, base_url, key_env, timeout, retries, per_minute, budget, price)
        self._max_tokens, self._temperature, self._seed = max_tokens, temperature, seed
        self._stop, self._stream, self._document_words = tuple(stop), stream, document_words
        self.name = model
        self.usage = self._chat.usage

    def __call__(self, topic: Topic, sources: Sequence[Source], limits: Limits, prompt: str) -> Draft:
        """The model's answer; raises `ChatUnanswered` if there is none."""
        return self._ask(fill_prompt(prompt, topic, sources, self._document_words), self._max_tokens)

    def rewrite(self, sentence: str, topic: Topic, sources: Sequence[Source], limits: Limits) -> Draft:
        """The sentence as the model corrects it; an empty draft if it says that it cannot."""
        return self._ask(fill_prompt("rewrite", topic, sources, self._document_words, sentence), min(self._max_tokens, 200))

    def _ask(self, prompt: Prompt, max_tokens: int) -> Draft:
        reply = self._chat.complete(
            prompt.system, prompt.user, max_tokens, self._stop, self._temperature, self._seed, self._stream
        )
        text = reply.text if reply.whole else keep_whole_sentences(reply.text)
        return Draft("" if NONE.fullmatch(text) else text, usage=reply.usage)

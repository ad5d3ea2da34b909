"""Answers from a language model: behind an OpenAI-compatible server (retrieval.runtime.chat), or one of the Hugging Face hub, run
locally: any causal one with a chat template.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from generation.draft import Draft, Limits, Source
from generation.prompting import Prompt, fill_prompt
from generation.replies import keep_whole_sentences
from retrieval.core.errors import BadConfig, ModelUnusable
from retrieval.core.values import Topic, Usage
from retrieval.runtime.chat import Chat
from retrieval.runtime.replies import strip_thoughts
from retrieval.runtime.torch_runtime import Precision, Runtime, TokenRow, refuse_below
from retrieval.runtime.usage import record

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
        leave_out: Sequence[str] = (),
    ) -> None:
        if max_tokens < 1 or temperature < 0 or (document_words is not None and document_words < 1):
            raise BadConfig(
                f"max_tokens {max_tokens}, temperature {temperature}, document_words {document_words} do not fit; "
                "expected a count of at least 1, a number of at least 0, and a count or nothing."
            )
        self._chat = Chat(model, base_url, key_env, timeout, retries, per_minute, budget, price, leave_out)
        self._max_tokens, self._temperature, self._seed = max_tokens, temperature, seed
        self._stop, self._stream, self._document_words = tuple(stop), stream, document_words
        self.name = model

    def __call__(self, topic: Topic, sources: Sequence[Source], limits: Limits, prompt: str) -> Draft:
        """The model's answer; raises `ChatUnanswered` if there is none."""
        return self._ask(fill_prompt(prompt, topic, sources, self._document_words), self._max_tokens)

    def rewrite(self, sentence: str, topic: Topic, sources: Sequence[Source]) -> Draft:
        """The sentence as the model corrects it; an empty draft if it says that it cannot."""
        return self._ask(fill_prompt("rewrite", topic, sources, self._document_words, sentence), min(self._max_tokens, 200))

    def _ask(self, prompt: Prompt, max_tokens: int) -> Draft:
        reply = self._chat.complete(
            prompt.system, prompt.user, max_tokens, self._stop, self._temperature, self._seed, self._stream
        )
        text = reply.text if reply.whole else keep_whole_sentences(reply.text)
        return Draft("" if NONE.fullmatch(text) else text)


_SMALLEST = 20
"""The fewest words of each abstract with which an answer is worth asking for."""


class CausalGenerator:
    """A `Generator`: greedy decoding of at most `max_tokens` tokens, so that the same inputs give the same answer.

    The prompt holds `document_words` of each abstract, fewer if it would not fit the model's context window. The sampling that
    a model's own settings ask for is not used.
    """

    extractive = False

    def __init__(
        self,
        model: str,
        max_tokens: int = 600,
        document_words: int = 400,
        device: str = "auto",
        revision: str | None = None,
        precision: Precision = "auto",
    ) -> None:
        refuse_below(1, max_tokens=max_tokens)
        refuse_below(_SMALLEST, document_words=document_words)
        self._runtime = Runtime(model, "CausalLM", device, precision, revision)
        if not self._runtime.with_template.chat_template:
            raise ModelUnusable(f"The model {model} has no chat template; choose an instruction-tuned model.")
        self._max_tokens, self._document_words = max_tokens, document_words
        self.name = self._runtime.name

    def __call__(self, topic: Topic, sources: Sequence[Source], limits: Limits, prompt: str) -> Draft:
        """The model's answer."""
        return self._ask(lambda words: fill_prompt(prompt, topic, sources, words), self._max_tokens)

    def rewrite(self, sentence: str, topic: Topic, sources: Sequence[Source]) -> Draft:
        """The sentence as the model corrects it; an empty draft if it says that it cannot."""
        return self._ask(lambda words: fill_prompt("rewrite", topic, sources, words, sentence), min(self._max_tokens, 200))

    def _ask(self, prompt: Callable[[int], Prompt], max_tokens: int) -> Draft:
        ids = self._fit_prompt(prompt, self._runtime.limit - max_tokens)
        runtime = self._runtime
        with runtime.run_exclusively():
            output = runtime.network.generate(
                **runtime.make_batch([TokenRow(ids, [0] * len(ids))]), max_new_tokens=max_tokens, do_sample=False, num_beams=1
            )
        new = output[0].tolist()[len(ids) :]
        record(Usage(1, len(ids), len(new)))
        text = strip_thoughts(runtime.tokenizer.decode(new, skip_special_tokens=True))
        text = keep_whole_sentences(text) if len(new) >= max_tokens else text
        return Draft("" if NONE.fullmatch(text) else text)

    def _fit_prompt(self, prompt: Callable[[int], Prompt], room: int) -> list[int]:
        """The prompt's tokens, with as many words of each abstract as fit into `room`, halved until they do."""
        words, ids = self._document_words, list[int]()
        while words >= _SMALLEST:
            ids = self._apply_template(prompt(words))
            if len(ids) <= room:
                return ids
            words //= 2
        raise ModelUnusable(
            f"The prompt takes {len(ids):,} tokens and the window of {self.name} leaves {room:,}; "
            "give fewer documents or another model."
        )

    def _apply_template(self, prompt: Prompt) -> list[int]:
        """The tokens of the chat; if a template has no system message, the instructions begin the user's."""
        tokenizer = self._runtime.with_template
        system, user = {"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}
        try:
            text = tokenizer.apply_chat_template([system, user], tokenize=False, add_generation_prompt=True)
        except Exception:  # templates raise Jinja's errors for roles that they do not know
            user["content"] = f"{prompt.system}\n\n{prompt.user}"
            text = tokenizer.apply_chat_template([user], tokenize=False, add_generation_prompt=True)
        encoding = tokenizer.backend_tokenizer.encode(text, add_special_tokens=False)
        return list(encoding.ids)

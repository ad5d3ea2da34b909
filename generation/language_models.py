"""Answers from a language model: behind an OpenAI-compatible server (retrieval.runtime.chat), or one of the Hugging Face hub, run
locally: any causal one with a chat template.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Annotated

from pydantic import BaseModel, BeforeValidator

from generation.draft import CitedSource, Draft, DraftSentence, Failed, Limits, Source
from generation.prompting import Prompt, fill_prompt, write_failed
from generation.replies import drop_marks, keep_whole_sentences
from retrieval.core.errors import BadConfig, ModelUnusable
from retrieval.core.values import Topic, Usage
from retrieval.runtime.chat import Chat, ChatUnanswered, Completion
from retrieval.runtime.fences import strip_markup
from retrieval.runtime.replies import read_answer, read_answers, read_number, strip_thoughts
from retrieval.runtime.torch_runtime import Precision, Runtime, TokenRow, refuse_below
from retrieval.runtime.usage import record

JSON = "write"
"""The prompt that asks for JSON (generation/prompts)."""
NONE = re.compile(r"\W*none\W*", re.IGNORECASE)


class Written(BaseModel):
    """A sentence as a model writes it; `parts` are the words that each document is cited for, none if for the whole sentence."""

    sentence: Annotated[int, BeforeValidator(read_number)] = 0
    text: str
    documents: list[Annotated[int, BeforeValidator(read_number)]]
    parts: list[str] = []

    def read(self) -> DraftSentence:
        """The sentence without citation marks, and what it cites, each document once; a part that is not in it counts as none."""
        text, parts = drop_marks(self.text), dict.fromkeys(self.documents, "")
        if len(self.parts) == len(self.documents):
            given = zip(self.documents, map(drop_marks, self.parts), strict=True)
            parts |= {number: part for number, part in given if part.lower() in text.lower()}
        return DraftSentence(text, tuple(CitedSource(number, part) for number, part in parts.items()))


class Sentences(BaseModel):
    """An answer, or the corrections of its sentences."""

    sentences: list[Written]


class ChatGenerator:
    """A `Generator`: one request per answer, and one for all of its sentences that are to be corrected.

    The replies are JSON, but for the prompts whose replies are running text with marks. `max_tokens` bounds a reply,
    `document_words` what the prompt holds of each abstract; `temperature`, `seed`, `stop` and `stream` are the server's own
    options. The rest is the connection's (retrieval.runtime.chat.Chat).
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
        max_tokens: int = 2000,
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

    def __call__(self, topic: Topic, sources: Sequence[Source], limits: Limits, prompt: str, first: str = "") -> Draft:
        """The model's answer; raises `ChatUnanswered` if there is none."""
        begun = f"\nThe answer begins with this sentence, which you neither repeat nor contradict: “{first}”" if first else ""
        filled = fill_prompt(prompt, topic, sources, self._document_words, first=begun)
        if prompt != JSON:
            reply = self._ask(filled)
            return Draft(reply.text if reply.whole else keep_whole_sentences(reply.text))
        return Draft(sentences=tuple(one.read() for one in self._ask_for_sentences(filled) if one.text.strip()))

    def correct(self, failed: Sequence[Failed], topic: Topic, sources: Sequence[Source]) -> list[Draft]:
        """The sentences as the model corrects them, from the papers that they cite; an empty draft for each that it does not."""
        cited = {one.number for each in failed for one in each.sentence.cited}
        needed = [source for source in sources if source.number in cited] or sources
        prompt = fill_prompt("correct", topic, needed, self._document_words, sentences=write_failed(failed))
        written = [one for one in self._ask_for_sentences(prompt) if one.text.strip()]
        found = {one.sentence: Draft(sentences=(one.read(),)) for one in written}
        return [found.get(number, Draft()) for number in range(1, len(failed) + 1)]

    def _ask_for_sentences(self, prompt: Prompt) -> list[Written]:
        """The sentences of a reply, those before the cut in one that was cut off; asked for once more if it is in no such form.

        Raises `ChatUnanswered` if the second is in none either.
        """
        again = ""
        for _ in range(2):
            reply = self._ask(Prompt(prompt.system, prompt.user + again), Sentences)
            answer = read_answer(reply.text, Sentences)
            if sentences := answer.sentences if answer else read_answers(reply.text, Written):
                return sentences
            again = "\n\nYour last answer was not in the form that was asked for. Answer once more, with the JSON object alone."
        raise ChatUnanswered(f"The model {self.name} did not answer in the requested format (sentences).")

    def _ask(self, prompt: Prompt, schema: type[BaseModel] | None = None) -> Completion:
        return self._chat.complete(
            prompt.system, prompt.user, self._max_tokens, self._stop, self._temperature, self._seed, self._stream, schema
        )


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

    def __call__(self, topic: Topic, sources: Sequence[Source], limits: Limits, prompt: str, first: str = "") -> Draft:
        """The model's answer, with citation marks."""
        name = "one-shot" if prompt == JSON else prompt
        return self._ask(lambda words: fill_prompt(name, topic, sources, words), self._max_tokens)

    def correct(self, failed: Sequence[Failed], topic: Topic, sources: Sequence[Source]) -> list[Draft]:
        """The sentences as the model rewrites them, one by one; an empty draft for one that it cannot."""

        def rewrite(sentence: str) -> Draft:
            text = strip_markup(sentence)
            return self._ask(
                lambda words: fill_prompt("rewrite", topic, sources, words, sentence=text), min(self._max_tokens, 200)
            )

        return [rewrite(one.sentence.text) for one in failed]

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

"""Answers from a language model behind an OpenAI-compatible server (retrieval.runtime.chat)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from counterpoint.generation.draft import CitedSource, Draft, DraftSentence, Failed, Limits, Source
from counterpoint.generation.prompting import Prompt, fill_prompt, write_failed
from counterpoint.generation.replies import drop_marks, keep_whole_sentences
from counterpoint.retrieval.core.values import Topic
from counterpoint.retrieval.runtime.chat import Chat, ChatUnanswered, Completion, Count, Price, Retries, Seconds
from counterpoint.retrieval.runtime.chat_requests import Part
from counterpoint.retrieval.runtime.replies import read_answer, read_answers, read_number

JSON = "write"
"""The prompt that asks for JSON (generation/prompts)."""


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
        timeout: Seconds = 120.0,
        retries: Retries = 3,
        per_minute: Count | None = None,
        budget: Count | None = None,
        price: Price | None = None,
        max_tokens: Count = 2000,
        temperature: Annotated[float, Field(ge=0)] = 0.0,
        seed: int | None = None,
        stop: Sequence[str] = (),
        stream: bool = True,
        document_words: Count | None = None,
        leave_out: Sequence[Part] = (),
    ) -> None:
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

"""A language model in the reader's place: it reads claim, title and whole abstract, one paper a request.

Any OpenAI-compatible server will do (retrieval/runtime/chat.py). The model grades the paper from -2 (contradicts) to 2
(supports) and quotes the words on which it bases the grade, which must be in the sentence that it names. An answer that does not
hold is asked for once more; then, as after every other failure, the embedded reader's reading stands and says why. What is shown
is a probability: of the grade and the embedded reader's own reading together, by the weights in nli/models/chat-reader.

A paper's text is passed as data between marks, sentences that address a language model are not passed on, and nothing in the
answer but its fields is read.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from counterpoint.nli.judge import Abstract, DiskCachingReader, Reader, Reading, compute_margins
from counterpoint.nli.reader.judge import MODELS, DocumentReader
from counterpoint.nli.reader.paper import PaperRead, read_paper
from counterpoint.retrieval.core.probabilities import softmax
from counterpoint.retrieval.core.result_cache import open_cache
from counterpoint.retrieval.core.values import Aspect, Contrast, Details, Premise, Verdict
from counterpoint.retrieval.runtime.asking import ask_in_form
from counterpoint.retrieval.runtime.chat import Chat, ChatUnanswered, Count, Price, Retries, Seconds
from counterpoint.retrieval.runtime.chat_requests import Part
from counterpoint.retrieval.runtime.replies import Answer, read_number
from counterpoint.retrieval.runtime.untrusted import is_order, strip_markup

Grade = Literal[-2, -1, 0, 1, 2]
WORDS = 25
"""The longest reason."""
PARTS = ("population", "intervention", "comparison", "outcome")
"""What a paper's findings may or may not share with a claim."""
LEFT_OUT = "(left out)"
DISAGREE = "the language model and the embedded reader disagree"
DECISION = MODELS / "chat-reader" / "model.json"
_NUMBER = re.compile(r"^\W*\[\d+\]\s*")
_MARKS = " \"“”'‘’…"


Words = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, str | int | float) else "")]
"""Words that may be missing: what else stands in their place makes no reply unusable."""


class Opinion(BaseModel):
    """What the model is asked for, in the order in which it writes the fields. `sentence` counts from 1.

    What only a table shows comes last, when the grade is written, and may be missing.
    """

    model_config = ConfigDict(extra="ignore")

    sentence: Annotated[int, BeforeValidator(read_number)]
    quote: str
    population: bool
    intervention: bool
    comparison: bool
    outcome: bool
    reason: str
    grade: Annotated[Grade, BeforeValidator(read_number)]
    people: Words = ""
    number: Words = ""
    effect: Words = ""

    @property
    def others(self) -> list[str]:
        """The parts that are not the claim's."""
        return [part for part in PARTS if not getattr(self, part)]


class Difference(BaseModel):
    """What differs between two papers, each in its own words."""

    aspect: Aspect
    first: str
    second: str


class Differences(BaseModel):
    """Everything that differs."""

    differences: list[Difference] = Field(json_schema_extra={"maxItems": len(get_args(Aspect))})


class ChatReader:
    """A `Reader` of papers: a chat model grades each, and the embedded reader reads all else that a judge is asked.

    `at_once` papers are sent at a time; `max_tokens` bounds a reply, the thoughts of a model that reasons included. The rest is
    the connection's (retrieval.runtime.chat.Chat): once the budget is spent, the embedded reader reads alone. Replies are
    cached on disk under the model, its address, the prompt and the paper, unless `cached` is False.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        key_env: str = "OPENAI_API_KEY",
        timeout: Seconds = 60.0,
        retries: Retries = 3,
        per_minute: Count | None = None,
        budget: Count | None = None,
        price: Price | None = None,
        at_once: Count = 5,
        max_tokens: Count = 2000,
        cached: bool = True,
        leave_out: Sequence[Part] = (),
        embedded: Reader | None = None,
    ) -> None:
        self._cache = open_cache("verdicts") if cached else None
        shipped = embedded or DocumentReader()
        self.embedded: Reader = DiskCachingReader(shipped, self._cache) if self._cache else shipped
        self._chat = Chat(model, base_url, key_env, timeout, retries, per_minute, budget, price, leave_out)
        self._max_tokens, self.at_once, self.paper = max_tokens, at_once, self.embedded.paper
        at = f" at {urlsplit(self._chat.address).netloc}" if base_url else ""
        self.name = f"{model}{at} with {self.embedded.name}"

    @property
    def refused(self) -> tuple[str, ...]:
        """The parts of a request that the server has refused so far."""
        return tuple(sorted(self._chat.server.refused))

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        """The embedded reader's verdicts on sentences."""
        return self.embedded(claim, premises)

    def read_abstracts(self, claim: str, documents: Iterable[Abstract]) -> Iterator[Reading]:
        """The embedded reader's readings."""
        return self.embedded.read_abstracts(claim, documents)

    def read_paper(self, claim: str, paper: Abstract) -> PaperRead:
        """What a paper says on a claim: the model's grade and the embedded reading together, or the latter alone."""
        embedded = read_paper(self.embedded, claim, paper)
        try:
            return combine(self.ask(claim, paper), embedded, paper, self.name)
        except ChatUnanswered as error:
            note = f"{str(error).rstrip('.')}, so the embedded reader's reading stands"
            reason = "; ".join(filter(None, (embedded.verdict.reason, note)))
            return replace(embedded, verdict=replace(embedded.verdict, reason=reason))

    def ask(self, claim: str, paper: Abstract) -> Opinion:
        """The model's opinion of a paper; raises `ChatUnanswered` where two answers are not usable."""
        system, user = read_prompt("read-paper"), make_prompt(claim, paper)
        return self.ask_in_form(system, user, Opinion, lambda opinion: check_opinion(opinion, paper))

    def contrast(self, claim: str, first: Abstract, second: Abstract) -> list[Contrast]:
        """What differs between two papers that disagree, each in its own words; only what both papers hold word for word.

        Raises `ChatUnanswered` where the model gives no usable answer.
        """
        user = f"Claim: {strip_markup(claim)}\n{mark_paper(first)}\n{mark_paper(second)}"
        found = self.ask_in_form(read_prompt("contrast"), user, Differences, lambda _: "").differences
        pairs = [(one.aspect, find_quote(one.first, first), find_quote(one.second, second)) for one in found]
        contrasts = [Contrast(aspect, a[1], b[1]) for aspect, a, b in pairs if a and b and a[1] != b[1]]
        return list({one.aspect: one for one in reversed(contrasts)}.values())[::-1]

    def weigh(self, claim: str, paper: Abstract, grade: int) -> Verdict:
        """The verdict of a grade and the embedded reading together."""
        return ChatDecision.load()(grade, read_paper(self.embedded, claim, paper).verdict)

    def ask_in_form(
        self, system: str, user: str, schema: type[Answer], find_fault: Callable[[Answer], str], longest: int = 0
    ) -> Answer:
        """The model's answer in a form; raises `ChatUnanswered` where two answers are not usable."""
        return ask_in_form(self._chat, system, user, schema, find_fault, max(self._max_tokens, longest), self._cache)


@cache
def read_prompt(name: str) -> str:
    """The instructions of this name."""
    return files("counterpoint.nli.reader.prompts").joinpath(f"{name}.md").read_text("utf-8").strip()


def make_prompt(claim: str, paper: Abstract) -> str:
    """The claim, and the paper between marks that its own text cannot close, with its sentences numbered from 1."""
    return f"Claim: {strip_markup(claim)}\n{mark_paper(paper)}"


def mark_paper(paper: Abstract) -> str:
    """A paper between marks."""
    texts = [LEFT_OUT if is_order(text) else strip_markup(text) for text in (paper.title, *paper.sentences)]
    lines = [f"Title: {texts[0] or '(none)'}", *(f"[{number}] {text}" for number, text in enumerate(texts[1:], 1))]
    return "\n".join(("<paper>", *lines, "</paper>"))


def check_opinion(opinion: Opinion, paper: Abstract) -> str:
    """Why an opinion cannot be used, as a sentence; "" if it can. One that takes no side needs no quotation."""
    if opinion.grade and not 1 <= opinion.sentence <= len(paper.sentences):
        return f"The language model named sentence {opinion.sentence} of {len(paper.sentences)}."
    if opinion.grade and find_quote(opinion.quote, paper, opinion.sentence - 1) is None:
        return f"The language model's quotation is not in sentence {opinion.sentence}."
    letters = [letter for letter in opinion.reason if letter.isalpha()]
    if sum(unicodedata.name(letter, "").startswith("LATIN") for letter in letters) < len(letters) / 2:
        return "The language model did not give its reason in English."
    return ""


def find_quote(quote: str, paper: Abstract, place: int | None = None) -> tuple[int, str] | None:
    """The place of the first sentence, or of the one at `place`, that holds these words, and the words as they stand there.

    Whole words: "5 mg" is not in "1.5 mg", nor "effective" in "non-effective". The marks that the prompt put around the words and
    the characters that it replaced are no part of a quotation. Sentences that were not passed on hold nothing.
    """
    words = _NUMBER.sub("", strip_markup(quote)).strip(_MARKS)
    whole = re.compile(rf"(?<!\w)(?<!\w-)(?<!\d[.,]){re.escape(words)}(?!\w)(?![.,]\d)")
    for at, text in enumerate(paper.sentences):
        found = whole.search(strip_markup(text))
        if words and found and place in (None, at) and not is_order(text):
            return at, " ".join(text.split())[slice(*found.span())]
    return None


def find_details(opinion: Opinion, paper: Abstract) -> Details:
    """The details that stand in the abstract word for word."""
    found = (find_quote(words, paper) for words in (opinion.people, opinion.number, opinion.effect))
    return Details(*(words[1] if words else "" for words in found))


def combine(opinion: Opinion, embedded: PaperRead, paper: Abstract, name: str) -> PaperRead:
    """The verdict of the grade and the embedded reading together, with the model's quotation, reason and details."""
    verdict = ChatDecision.load()(opinion.grade, embedded.verdict)
    reason = "; ".join(filter(None, (verdict.reason, give_reason(opinion))))
    verdict = replace(verdict, reason=reason, details=find_details(opinion, paper))
    if opinion.grade and (opinion.grade > 0) == (verdict.leaning == "support"):
        return PaperRead(replace(verdict, quote=" ".join(opinion.quote.split())), opinion.sentence - 1, name)
    return PaperRead(verdict, embedded.sentence, name)


def give_reason(opinion: Opinion) -> str:
    """The model's reason in one line, and which parts are not the claim's."""
    words = opinion.reason.split()
    reason = " ".join(words[:WORDS]) + ("…" if len(words) > WORDS else "")
    others = f"not the claim's: {', '.join(opinion.others)}" if opinion.others and opinion.grade else ""
    return "; ".join(filter(None, (reason.rstrip("."), others)))


FEATURES = ("plain", "partial", "odds", "constant")


@dataclass(frozen=True, slots=True)
class ChatDecision:
    """A conditional logit: each side's score is the sum of its features (`measure_sides`) by `weights`; neither has the score 0.

    The same weights serve both sides. A paper is given the more probable side if the model's grade is on it; where the embedded
    reader outweighs the grade, or takes a side with at least the probability `side` where the model takes none, the paper is
    uncertain.
    """

    weights: tuple[float, ...]
    side: float

    @classmethod
    @cache
    def load(cls) -> ChatDecision:
        """The decision that ships."""
        card: Mapping[str, Any] = json.loads(DECISION.read_text("utf-8"))
        return cls(tuple(card["weights"][name] for name in FEATURES), card["side"])

    def __call__(self, grade: int, embedded: Verdict) -> Verdict:
        """The verdict on a paper that a model gave this grade."""
        shares = share_out(measure_sides(grade, embedded) @ np.array(self.weights)).tolist()
        verdict = Verdict(*shares, decided="neutral", of="document", partial=abs(grade) == 1)
        if grade and (grade > 0) == (verdict.leaning == "support"):
            return replace(verdict, decided=verdict.leaning)
        likely = verdict.probability(verdict.leaning) >= self.side
        return replace(verdict, reason=DISAGREE) if likely or grade else verdict


def share_out(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """[..., support, neither, contradict] from the scores [..., support and contradict]; neither has 0."""
    return softmax(np.insert(scores, 1, 0.0, axis=-1))


def measure_sides(grade: int, embedded: Verdict) -> NDArray[np.float64]:
    """[support and contradict, `FEATURES`]: whether the model puts the paper on this side plainly, or in part; the embedded
    reader's log odds of this side against neither; and 1."""
    rows = zip((grade, -grade), compute_margins([embedded])[0], strict=True)
    return np.array([[g == 2, g == 1, odds, 1.0] for g, odds in rows], dtype=np.float64)

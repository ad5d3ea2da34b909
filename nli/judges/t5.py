"""Stance by a T5 model that writes its answer as a word: razent/SciFive-large-Pubmed_PMC-MedNLI.

SciFive (Phan et al. 2021, https://arxiv.org/abs/2106.03598) fine-tuned on MedNLI reads "mednli: sentence1: PREMISE
sentence2: HYPOTHESIS" within 256 tokens and writes "entailment", "neutral" or "contradiction".

**From a word to probabilities.** The word decides: it is always `Verdict.label`. The probabilities are the softmax
over the logits, at the first decoding step, of the three words' first tokens: greedy decoding chose among exactly
these, so they rank sentences as reliably as the model can. Where they do not agree with the word (another spelling
won that step, or two words share their first token), they are not usable, and the word's class gets probability 1.
A word that is none of the three counts as neutral with probability 1: it is no evidence for either side.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence

from nli.judge import judge_lazily
from retrieval.core.characters import unify_characters
from retrieval.core.errors import BadConfig
from retrieval.core.probabilities import softmax
from retrieval.core.values import Label, Premise, Span, Verdict
from retrieval.runtime.torch_runtime import Precision, Runtime, TokenRow, batch_by_length, refuse_below

logger = logging.getLogger(__name__)

MEDNLI = "mednli: sentence1: {premise} sentence2: {hypothesis}"

# In the order of `Verdict`'s fields.
WORDS: dict[str, Label] = {"entailment": "support", "neutral": "neutral", "contradiction": "contradict"}
CERTAIN: dict[Label, Verdict] = {
    "support": Verdict(1.0, 0.0, 0.0),
    "neutral": Verdict(0.0, 1.0, 0.0),
    "contradict": Verdict(0.0, 0.0, 1.0),
}


def make_verdict(word: str, logits: Sequence[float] | None) -> Verdict:
    """The verdict for a decoded `word`; `logits` are those of the first tokens of `WORDS`, in order (see the
    module)."""
    label = WORDS.get(word.strip().lower())
    if label is None:
        return CERTAIN["neutral"]
    verdict = Verdict(*softmax(logits).tolist()) if logits is not None else CERTAIN[label]
    return verdict if verdict.label == label else CERTAIN[label]


def drop_tail(offsets: Sequence[Span], span: Span, excess: int) -> list[int]:
    """Positions of the tokens that remain when the last `excess` tokens inside the character span `span` are removed."""
    places = [i for i, (start, end) in enumerate(offsets) if span[0] <= start < end <= span[1]]
    tail = set(places[max(0, len(places) - excess) :])
    return [i for i in range(len(offsets)) if i not in tail]


class T5Judge:
    """A `Judge`: greedy decoding of at most `decode_tokens` tokens. The premise is truncated to fit, the prompt never,
    and the claim only where it takes more than half of `max_tokens`.

    `prefix` is the whole prompt, with {premise} and {hypothesis} (the claim) once each. Premises are consumed
    `window` at a time and run `batch_size` at a time. `unknown_words` counts answers that were none of the three
    words.
    Raises `BadConfig` for a prompt or options that do not fit.
    """

    name: str

    def __init__(
        self,
        model: str,
        prefix: str = MEDNLI,
        max_tokens: int = 256,
        decode_tokens: int = 8,
        batch_size: int = 16,
        window: int = 32,
        device: str = "auto",
        revision: str | None = None,
        precision: Precision = "float32",
    ) -> None:
        refuse_below(1, decode_tokens=decode_tokens, batch_size=batch_size, window=window)
        refuse_below(16, max_tokens=max_tokens)
        self._parts = re.split(r"(\{premise\}|\{hypothesis\})", prefix)
        if sorted(self._parts[1::2]) != ["{hypothesis}", "{premise}"]:
            raise BadConfig(f"The prefix {prefix!r} must contain {{premise}} and {{hypothesis}} once each.")
        self._runtime = Runtime(model, "Seq2SeqLM", device, precision, revision)
        self.name = self._runtime.name
        self._room = min(max_tokens, self._runtime.limit)
        # A claim may take at most half of the room and the prompt a quarter, which leaves a quarter for the premise.
        words = len(self._runtime.tokenizer.encode("".join(self._parts[::2])))
        if words > self._room // 4:
            raise BadConfig(f"The prefix {prefix!r} takes {words} of {self._room} tokens; it may take at most a quarter.")
        self._decode_tokens, self._batch_size, self._window = decode_tokens, batch_size, window
        firsts = [self._runtime.tokenizer.encode(word, add_special_tokens=False).ids[0] for word in WORDS]
        self._firsts = firsts if len(set(firsts)) == len(firsts) else None
        self.unknown_words = 0

    def __call__(self, claim: str, premises: Iterable[Premise]) -> Iterator[Verdict]:
        """One verdict per premise, in order, lazily."""
        return judge_lazily(lambda chunk: self._judge(claim, chunk), premises, self._window)

    def _judge(self, claim: str, premises: Sequence[Premise]) -> list[Verdict]:
        rows = self._tokenize(claim, premises)
        verdicts = [CERTAIN["neutral"]] * len(rows)
        for indices in batch_by_length(rows, self._batch_size):
            for i, (word, logits) in zip(indices, self._decode([rows[i] for i in indices]), strict=True):
                verdicts[i] = make_verdict(word, logits)
        return verdicts

    def _tokenize(self, claim: str, premises: Sequence[Premise]) -> list[TokenRow]:
        """Each prompt as at most `max_tokens` tokens; where there are more, the tail of the premise is cut out."""
        tokenizer = self._runtime.tokenizer
        encoding = tokenizer.encode(claim, add_special_tokens=False)
        if len(encoding) > self._room // 2:
            claim = claim[: encoding.offsets[self._room // 2 - 1][1]]
        prompts = [self._make_prompt(unify_characters(premise.text), claim) for premise in premises]
        rows = []
        for (_, span), whole in zip(prompts, tokenizer.encode_batch([text for text, _ in prompts]), strict=True):
            places = drop_tail(whole.offsets, span, max(0, len(whole) - self._room))
            rows.append(TokenRow([whole.ids[i] for i in places], [0] * len(places)))
        return rows

    def _make_prompt(self, premise: str, hypothesis: str) -> tuple[str, Span]:
        """The prompt, and where in it the premise stands. Not `str.format`: braces in a paper are text."""
        head, first, middle, second, tail = self._parts
        texts = {"{premise}": premise, "{hypothesis}": hypothesis}
        start = len(head) if first == "{premise}" else len(head + texts[first] + middle)
        return head + texts[first] + middle + texts[second] + tail, (start, start + len(premise))

    def _decode(self, rows: Sequence[TokenRow]) -> list[tuple[str, list[float] | None]]:
        """The word with which the model answers each prompt, and the logits of the three words' first tokens where usable."""
        runtime = self._runtime
        with runtime.run_exclusively():
            output = runtime.network.generate(
                **runtime.make_batch(rows),
                max_new_tokens=self._decode_tokens,
                do_sample=False,
                num_beams=1,
                return_dict_in_generate=True,
                output_logits=True,
            )
        words = runtime.tokenizer.decode_batch(output.sequences.tolist(), skip_special_tokens=True)
        self._count_unknown(words)
        if self._firsts is None:
            return [(word, None) for word in words]
        return list(zip(words, runtime.check_finite(output.logits[0][:, self._firsts]).tolist(), strict=True))

    def _count_unknown(self, words: Sequence[str]) -> None:
        odd = [word for word in words if word.strip().lower() not in WORDS]
        if odd and not self.unknown_words:
            logger.warning(
                "%s answered %r, which is not one of %s; such answers count as neutral (logged once)",
                self.name, odd[0], ", ".join(WORDS),
            )  # fmt: skip
        self.unknown_words += len(odd)
